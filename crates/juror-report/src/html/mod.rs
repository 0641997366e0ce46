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
mod page;
mod rows;
mod sections;

pub(crate) use fragment::Fragment;
pub use page::{AnswerText, Page, PageOptions, PageRun, PageSource, render_page};
