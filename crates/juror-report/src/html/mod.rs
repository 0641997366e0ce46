//! HTML: fragments for notebooks, and reports of one file that open anywhere.
//!
//! A report has two parts. Verdict, metrics, templates, costs and methods are plain HTML with SVG
//! charts, which show without scripts. The table of questions, and the page of each of them, are
//! drawn by a script from data that stands in the file, compressed. What models and agents wrote is
//! text and nothing else: templates escape it here, and the script only makes text nodes of it.

mod chart;
mod chunks;
mod detail;
mod escape;
mod fragment;
mod index;
mod judge_calls;
mod page;
mod policy;
mod rows;
mod sections;

pub use chart::{HistoryPoint, StripCell, history_chart, question_strip};
pub(crate) use fragment::Fragment;
pub use judge_calls::{JudgeCall, JudgeCalls, VerdictCalls};
pub use page::{AnswerText, Page, PageLink, PageOptions, PageRun, PageSource, render_page};
pub use policy::{VIEW_SCRIPT, VIEW_STYLE, page_policy, view_policy};
