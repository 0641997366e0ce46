//! Why a run cannot be set up.

use juror_document::{Notice, Phrase};
use juror_store::StoreError;

/// Why a run cannot be set up; nothing has been asked or written yet.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct SetupError(pub Notice, Blame);

/// Whose fault an error is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Blame {
    /// The request cannot be satisfied.
    Request,
    /// Something outside failed, such as a database.
    Outside,
}

impl SetupError {
    /// Creates an error without a hint.
    pub fn new(problem: impl Into<Phrase>) -> SetupError {
        SetupError(Notice::new(problem), Blame::Request)
    }

    /// Returns whether something outside failed, as opposed to the request being wrong.
    pub fn is_outside(&self) -> bool {
        self.1 == Blame::Outside
    }

    /// Adds a hint.
    #[must_use]
    pub fn hint(self, hint: impl Into<Phrase>) -> SetupError {
        SetupError(self.0.hint(hint), self.1)
    }
}

impl From<Notice> for SetupError {
    fn from(notice: Notice) -> SetupError {
        SetupError(notice, Blame::Request)
    }
}

impl From<StoreError> for SetupError {
    fn from(error: StoreError) -> SetupError {
        let blame = if error.is_outside() { Blame::Outside } else { Blame::Request };
        let notice = Notice::new(error.problem());
        match error.hint() {
            Some(hint) => SetupError(notice.hint(hint), blame),
            None => SetupError(notice, blame),
        }
    }
}
