//! Why an evaluation cannot start, or does not finish.

use std::io;

use juror_document::Problems;
use juror_runs::RunLogError;

use crate::output::OutputError;

/// The problems of inputs that cannot be read.
#[derive(Debug)]
pub struct Unreadable {
    /// Problems of the reference.
    pub reference: Option<Problems>,
    /// Problems of the responses.
    pub responses: Option<Problems>,
}

impl Unreadable {
    /// Returns the problems of the reference, or else those of the responses.
    pub fn first(self) -> Problems {
        self.reference.or(self.responses).unwrap_or_default()
    }
}

/// Why an evaluation did not finish.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EvaluationError {
    /// An output cannot be written.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// The run log cannot be written.
    #[error(transparent)]
    Log(#[from] RunLogError),
    /// The runtime for calling models cannot start.
    #[error("cannot start: {0}")]
    Runtime(io::Error),
    /// The user interrupted it while models were being asked.
    #[error("interrupted: nothing was written")]
    InterruptedJudging {
        /// How many questions were not judged.
        n_unfinished: usize,
    },
    /// An input was changed while it was read.
    #[error(
        "an input was changed while it was read: nothing was written\n  hint: leave inputs alone until juror has ended"
    )]
    InputsChanged,
    /// The user interrupted it while questions were being scored.
    #[error("interrupted: nothing was written")]
    Interrupted,
}
