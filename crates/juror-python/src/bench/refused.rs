//! Why a run cannot begin or has no result, as Python's exceptions.

use std::io;

use juror_document::Notice;
use juror_files::LoadError;
use juror_run::bench::{BenchError, QueriesError};
use juror_run::{OutputError, RunLogError, SetupError};

use crate::problem::Refusal;

/// The arguments ask for something that cannot be done.
pub(super) fn asked(why: impl Into<Notice>) -> Refusal {
    Refusal::setup(&why.into())
}

/// The run cannot begin, or did not come to its end.
pub(super) fn refused(error: BenchError) -> Refusal {
    match error {
        BenchError::Queries(QueriesError::Load(error)) => Refusal::File(error),
        BenchError::Queries(QueriesError::Problems(problems)) => Refusal::dataset(&problems, true),
        BenchError::Queries(error) => asked(error.notice()),
        BenchError::Setup(SetupError(notice)) | BenchError::Unreachable(notice) => asked(notice),
        BenchError::Folder(error) | BenchError::Keep(error) => no_log(error),
        error => Refusal::Failed(error.to_string()),
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
fn no_log(error: RunLogError) -> Refusal {
    match error {
        RunLogError::Io { path, error } => {
            let name = path.to_string_lossy().into_owned();
            Refusal::File(LoadError::Io { name, error })
        }
        error => asked(error.notice()),
    }
}
