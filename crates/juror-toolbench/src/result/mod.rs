//! Result files of benchmark runs: one result for each judged attempt, and a summary.
//!
//! A `Scorecard` holds the findings about an attempt. Results and summary are written from
//! scorecards, and reading a file returns scorecards.

mod findings;
mod read;
mod summary;
mod write;

pub use findings::{call_findings, status_findings, status_of};
pub use read::{ResultFile, read_each_result, read_result_file};
pub use summary::Summary;
pub use write::{Metadata, QueryResult, Report, ResultLine, file_name};
