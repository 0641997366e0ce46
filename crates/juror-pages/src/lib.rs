//! Runs and files of results, read back: for comparison, and as reports of one HTML file.
//!
//! A run that is stored needs nothing else to be compared or shown. [`ScoredRun`] reads its numbers and
//! what identifies it, or those of a file of results. [`RunPages`] makes pages of such runs: of one
//! ([`RunPages::of_run`]) or of a comparison ([`RunPages::of_comparison`]). `juror-report` draws them;
//! this crate collects what they are drawn from: the text of each result, the calls of agents, and
//! what the manifest says about the run. What judges were asked, and what they replied, is found among
//! kept replies ([`JudgeReplies`]); nothing is sent.
//!
//! You will not find HTML, scoring or printing here.

mod about;
mod answers;
mod damage;
mod evaluated;
mod file_kind;
mod judge_settings;
mod judged_attempt;
mod kept_calls;
mod result_judge;
mod run_pages;
mod scored_run;
mod told_results;

pub use file_kind::FileKind;
pub use judge_settings::JudgeReplies;
pub use result_judge::{JudgeForm, judge_of_attempts, one_judge};
pub use run_pages::RunPages;
pub use scored_run::{
    ScoredRun, UnreadableRun, calibrated_means, explain_result, judge_of_questions,
};
pub use told_results::{ToldResults, plan_beside, release_of};
