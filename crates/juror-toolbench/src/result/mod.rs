//! Result files of benchmark runs: one result for each attempt that was judged, and a summary.
//!
//! What was found out about an attempt stands on its `Scorecard`; results and the summary are written
//! from it, and reading a file gives scorecards.

mod findings;
mod read;
mod summary;
mod write;

pub use findings::{call_findings, status_findings, status_of};
pub use read::{ResultFile, read_result_file};
pub use summary::Summary;
pub use write::{Metadata, QueryResult, Report, file_name};
