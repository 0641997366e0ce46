//! Result files of benchmark runs: one result for each answer that was evaluated, and a summary.

mod read;
mod summary;
mod write;

pub use read::{ResultFile, read_result_file};
pub use summary::{Evaluated, Summary};
pub use write::{Evaluation, Metadata, Report, file_name};
