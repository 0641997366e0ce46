//! Maps the reasons why a run cannot start or has no result to Python's exceptions.

use std::io;

use juror_bench::{BenchError, QueriesError};
use juror_document::Notice;
use juror_files::LoadError;
use juror_run::{OutputError, SetupError};
use juror_runs::RunLogError;

use crate::problem::Refusal;

/// Refuses arguments that cannot be satisfied.
pub(super) fn asked(why: impl Into<Notice>) -> Refusal {
    Refusal::setup(&why.into())
}

/// Explains why a run cannot start, or did not finish.
pub(super) fn refused(error: BenchError) -> Refusal {
    match error {
        BenchError::Queries(QueriesError::Load(error)) => Refusal::File(error),
        BenchError::Queries(QueriesError::Problems(problems)) => Refusal::dataset(&problems, true),
        BenchError::Queries(error) => asked(error.notice()),
        BenchError::Setup(SetupError { 0: notice, .. }) | BenchError::Unreachable(notice) => {
            asked(notice)
        }
        BenchError::Folder(error) | BenchError::Keep(error) => no_log(error),
        error => Refusal::Failed(error.to_string()),
    }
}

/// Explains why a file cannot be written.
pub(super) fn no_output(error: OutputError) -> Refusal {
    match error {
        OutputError::Io { name, error } => {
            let error = numbered(error);
            Refusal::File(LoadError::Io { name, error })
        }
        OutputError::UnknownFormat { .. } | OutputError::InRun(_) => asked(error.to_string()),
    }
}

/// Gives an error its OS number, by which Python chooses the exception; an error that describes its
/// file has lost the number.
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

/// Explains why a run cannot be stored or resumed.
pub(super) fn no_log(error: RunLogError) -> Refusal {
    match error {
        RunLogError::Io { path, error } => {
            let name = path.to_string_lossy().into_owned();
            Refusal::File(LoadError::Io { name, error })
        }
        error => asked(error.notice()),
    }
}
