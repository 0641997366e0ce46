//! Why an evaluation cannot begin, or does not come to its end.

use std::io;

use juror_document::Problems;

use crate::output::OutputError;
use crate::run_log::RunLogError;

/// What is wrong with inputs that cannot be read.
#[derive(Debug)]
pub struct Unreadable {
    /// With the reference.
    pub reference: Option<Problems>,
    /// With the responses.
    pub responses: Option<Problems>,
}

impl Unreadable {
    /// The problems of the reference, or else those of the responses.
    pub fn first(self) -> Problems {
        self.reference.or(self.responses).unwrap_or_default()
    }
}

/// Why an evaluation did not come to its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EvaluationError {
    /// An output could not be written.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// The log of the run could not be written.
    #[error(transparent)]
    Log(#[from] RunLogError),
    /// Models cannot be asked.
    #[error("cannot start: {0}")]
    Runtime(io::Error),
    /// The user stopped it while models were asked.
    #[error("interrupted: nothing was written")]
    InterruptedJudging {
        /// How many questions are not judged.
        n_unfinished: usize,
    },
    /// The user stopped it while questions were scored.
    #[error("interrupted: nothing was written")]
    Interrupted,
}
