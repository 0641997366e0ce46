//! Why a run cannot be begun, or came to nothing.

use std::io;

use juror_run::bench::QueriesError;
use juror_run::{LoadError, OutputError, RunLogError};

use crate::problem::Refusal;

/// Something was asked for wrongly.
#[expect(clippy::needless_pass_by_value, reason = "this is given to `map_err`")]
pub(super) fn asked(why: impl ToString) -> Refusal {
    Refusal::settings_in_words(&in_python(&why.to_string()))
}

/// Queries cannot be had.
pub(super) fn no_queries(error: QueriesError) -> Refusal {
    match error {
        QueriesError::Load(error) => Refusal::File(error),
        QueriesError::Problems(problems) => Refusal::dataset(&problems, true),
        error => asked(error),
    }
}

/// A file cannot be written.
pub(super) fn no_output(error: OutputError) -> Refusal {
    match error {
        OutputError::Io { name, error } => {
            let error = numbered(error);
            Refusal::File(LoadError::Io { name, error })
        }
        OutputError::UnknownFormat { .. } => asked(error),
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
pub(super) fn no_log(error: RunLogError) -> Refusal {
    match error {
        RunLogError::Io { path, error } => {
            let name = path.to_string_lossy().into_owned();
            Refusal::File(LoadError::Io { name, error })
        }
        error => asked(error),
    }
}

/// Hints name options as the program has them; in Python they are arguments.
pub(super) fn in_python(words: &str) -> String {
    let word = |word: &str| match word.strip_prefix("--") {
        Some(option) => {
            let end = option.find(|c: char| !c.is_ascii_alphanumeric() && c != '-');
            let (name, rest) = option.split_at(end.unwrap_or(option.len()));
            format!("`{}=`{rest}", name.replace('-', "_"))
        }
        None => word.to_owned(),
    };
    words.split(' ').map(word).collect::<Vec<String>>().join(" ")
}
