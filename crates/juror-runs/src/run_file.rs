//! The files in the folder of a run.

use std::path::{Path, PathBuf};

/// A file in the folder of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunFile {
    /// The manifest: what the run is, and whether it is complete.
    Manifest,
    /// The journal of an evaluation: a line for every judged question.
    Records,
    /// The journal of a benchmark: a line for every attempt. In the evaluation of a live agent, its
    /// responses.
    Attempts,
    /// The results, one per line.
    Results,
    /// The aggregates of an evaluation, or the summary of a benchmark.
    Aggregates,
    /// Means with their intervals.
    Statistics,
}

impl RunFile {
    /// All files that a run may have.
    pub const ALL: [RunFile; 6] = [
        RunFile::Manifest,
        RunFile::Records,
        RunFile::Attempts,
        RunFile::Results,
        RunFile::Aggregates,
        RunFile::Statistics,
    ];

    /// The files that appear when the run is done, before it is marked as complete.
    pub const OF_RESULTS: [RunFile; 3] =
        [RunFile::Results, RunFile::Aggregates, RunFile::Statistics];

    /// Returns the file's name.
    pub fn name(self) -> &'static str {
        match self {
            RunFile::Manifest => "run.json",
            RunFile::Records => "records.jsonl",
            RunFile::Attempts => "attempts.jsonl",
            RunFile::Results => "results.jsonl",
            RunFile::Aggregates => "aggregates.json",
            RunFile::Statistics => "statistics.json",
        }
    }

    /// Returns the file's path in the folder of a run.
    pub fn path_in(self, folder: &Path) -> PathBuf {
        folder.join(self.name())
    }
}
