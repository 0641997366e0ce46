//! Labels that people give to judged answers: the files they fill in, and the runs they are about.

mod join;
mod judged_answer;
mod judged_run;
mod label_line;
mod read_labels;
mod records;

pub(crate) use join::{Join, Joined};
pub(crate) use judged_answer::JudgedAnswer;
pub(crate) use judged_run::JudgedRun;
pub(crate) use label_line::{LabelLine, judge_hash, label_schema};
pub(crate) use read_labels::{ReadLabel, read_labels};
