//! Why a run cannot begin or has no result, as Python's exceptions.

use std::io;

use juror_run::bench::{JournalError, QueriesError};
use juror_run::{LoadError, Notice, OutputError, SetupError};

use crate::problem::Refusal;

/// The arguments ask for something that cannot be done.
pub(super) fn asked(why: impl Into<Notice>) -> Refusal {
    Refusal::setup(&why.into())
}

/// The run cannot be set up.
#[expect(clippy::needless_pass_by_value, reason = "this is given to `map_err`")]
pub(super) fn no_setup(error: SetupError) -> Refusal {
    Refusal::setup(&error.0)
}

/// Queries cannot be had.
pub(super) fn no_queries(error: QueriesError) -> Refusal {
    match error {
        QueriesError::Load(error) => Refusal::File(error),
        QueriesError::Problems(problems) => Refusal::dataset(&problems, true),
        error => asked(error.notice()),
    }
}

/// A file cannot be written.
pub(super) fn no_output(error: OutputError) -> Refusal {
    match error {
        OutputError::Io { name, error } => {
            let error = numbered(error);
            Refusal::File(LoadError::Io { name, error })
        }
        OutputError::UnknownFormat { .. } => asked(error.to_string()),
    }
}

/// Python knows errors of files by their number, which one that tells of its file has not.
fn numbered(error: io::Error) -> io::Error {
    let number = match error.kind() {
        io::ErrorKind::NotFound => 2,
        io::ErrorKind::PermissionDenied => 13,
        io::ErrorKind::NotADirectory => 20,
        io::ErrorKind::IsADirectory => 21,
        _ => return error,
    };
    io::Error::from_raw_os_error(error.raw_os_error().unwrap_or(number))
}

/// A run cannot be kept, or gone on with.
pub(super) fn no_journal(error: JournalError) -> Refusal {
    match error {
        JournalError::Io { path, error } => {
            let name = path.to_string_lossy().into_owned();
            Refusal::File(LoadError::Io { name, error })
        }
        error => asked(error.notice()),
    }
}
