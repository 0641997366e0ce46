//! Labels that people give to judged answers.
//!
//! A [`JudgedRun`] is a run as people see it who check its judge. [`choose`] draws the answers that
//! they get, a [`LabelLine`] is such an answer in a file, with or without a label, and
//! [`append_label`] adds one to a file that others may be adding to. [`read_labels`] reads such
//! files, and [`Join`] joins labels to the verdicts that they are about.
//!
//! You will not find agreement or corrections here: those are computed by `juror-compare`.

mod append;
mod choose;
mod join;
mod judged_answer;
mod judged_run;
mod label_line;
mod read_labels;
mod records;

pub use append::append_label;
pub use choose::{Chosen, choose};
pub use join::{Join, Joined};
pub use judged_answer::JudgedAnswer;
pub use judged_run::{JudgedRun, NotJudged};
pub use label_line::{LabelLine, Said, judge_hash, label_schema};
pub use read_labels::{ReadLabel, read_labels};
