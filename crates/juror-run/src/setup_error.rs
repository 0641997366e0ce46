//! Why a run cannot be set up.

use juror_document::{Notice, Phrase};
use juror_store::StoreError;

/// Why a run cannot be set up; nothing has been asked or written yet.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct SetupError(pub Notice);

impl SetupError {
    /// Creates an error without a hint.
    pub fn new(problem: impl Into<Phrase>) -> SetupError {
        SetupError(Notice::new(problem))
    }

    /// Adds a hint.
    #[must_use]
    pub fn hint(self, hint: impl Into<Phrase>) -> SetupError {
        SetupError(self.0.hint(hint))
    }
}

impl From<Notice> for SetupError {
    fn from(notice: Notice) -> SetupError {
        SetupError(notice)
    }
}

impl From<StoreError> for SetupError {
    fn from(error: StoreError) -> SetupError {
        match error.hint() {
            Some(hint) => SetupError::new(error.problem()).hint(hint),
            None => SetupError::new(error.problem()),
        }
    }
}
