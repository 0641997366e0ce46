//! Why a run log cannot be used.

use std::fmt;
use std::io;
use std::path::PathBuf;

use juror_document::{Notice, Phrase, option, phrase};
use juror_files::{is_disk_failure, reason};
use juror_store::StoreError;

use crate::manifest::RunKind;
use crate::run_folder::RunFolder;

/// Why a run log cannot be used.
#[derive(Debug)]
#[non_exhaustive]
pub enum RunLogError {
    /// A file or folder cannot be read or written.
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The operating system's reason.
        error: io::Error,
    },
    /// Another process is working on the run.
    Busy {
        /// The folder.
        folder: PathBuf,
    },
    /// The run is complete, and its contents must not pass for a new run.
    Finished {
        /// The folder.
        folder: PathBuf,
    },
    /// The run was started with other inputs or settings.
    Changed {
        /// The folder.
        folder: PathBuf,
        /// The kind of run.
        kind: RunKind,
        /// The differences.
        differences: Vec<String>,
    },
    /// The folder holds a run of another kind.
    OtherKind {
        /// The folder.
        folder: PathBuf,
        /// The kind of the run in it.
        kind: RunKind,
    },
    /// A file has a name that Juror uses, but Juror did not write it.
    Damaged {
        /// The file.
        path: PathBuf,
        /// The line.
        line: usize,
        /// The column, if known.
        column: Option<usize>,
        /// The problem.
        why: String,
    },
    /// The database of the run cannot be used.
    Store(StoreError),
}

impl RunLogError {
    /// Returns the error for a line that Juror cannot have written, with the parser's reason.
    pub(super) fn not_ours(path: PathBuf, line: usize, error: &serde_json::Error) -> RunLogError {
        // The parser's line number is relative to where it started.
        let why = juror_json::reason(error);
        // What is wrong with the value as a whole has no place.
        let column = (error.line() > 0).then_some(error.column());
        RunLogError::Damaged { path, line: line.max(1), column, why }
    }

    /// Returns the error for a file of a run without a manifest beside it.
    pub(super) fn orphaned(path: PathBuf) -> RunLogError {
        let why = "there is no run.json beside it".to_owned();
        RunLogError::Damaged { path, line: 1, column: None, why }
    }

    /// Returns whether something outside failed, such as a database or a disk, rather than the request
    /// being wrong.
    pub fn is_outside(&self) -> bool {
        match self {
            RunLogError::Store(error) => error.is_outside(),
            RunLogError::Io { error, .. } => is_disk_failure(error),
            _ => false,
        }
    }

    /// Names the database in place of the folder in which this process works.
    pub(crate) fn shown_in(self, run: &RunFolder) -> RunLogError {
        let shown = |path: PathBuf| run.shown_path(path);
        match self {
            RunLogError::Io { path, error } => RunLogError::Io { path: shown(path), error },
            RunLogError::Busy { folder } => RunLogError::Busy { folder: shown(folder) },
            RunLogError::Finished { folder } => RunLogError::Finished { folder: shown(folder) },
            RunLogError::Changed { folder, kind, differences } => {
                RunLogError::Changed { folder: shown(folder), kind, differences }
            }
            RunLogError::OtherKind { folder, kind } => {
                RunLogError::OtherKind { folder: shown(folder), kind }
            }
            RunLogError::Damaged { path, line, column, why } => {
                RunLogError::Damaged { path: shown(path), line, column, why }
            }
            RunLogError::Store(error) => RunLogError::Store(error),
        }
    }

    /// Returns the problem and its hint.
    pub fn notice(&self) -> Notice {
        Notice { problem: self.problem().into(), hint: self.hint() }
    }

    /// Returns the problem without the hint.
    pub fn problem(&self) -> String {
        match self {
            RunLogError::Io { path, error } => format!("{}: {}", path.display(), reason(error)),
            RunLogError::Busy { folder } => {
                format!("{}: another process is working on this run", folder.display())
            }
            RunLogError::Finished { folder } => {
                format!("{}: this run is finished", folder.display())
            }
            RunLogError::Changed { folder, kind, differences } => {
                let (folder, differences) = (folder.display(), differences.join(", "));
                match kind {
                    RunKind::Eval => {
                        format!("{folder}: this run was started with other {differences}")
                    }
                    RunKind::Bench => {
                        format!(
                            "{folder}: this run was started with different inputs or settings: {differences} changed"
                        )
                    }
                }
            }
            RunLogError::OtherKind { folder, kind } => {
                format!("{}: this is a {}", folder.display(), kind.name())
            }
            RunLogError::Damaged { path, line, column, why } => {
                let column = column.map(|column| format!("{column}:")).unwrap_or_default();
                format!("{}:{line}:{column} not written by juror: {why}", path.display())
            }
            RunLogError::Store(error) => error.problem(),
        }
    }

    fn hint(&self) -> Option<Phrase> {
        Some(match self {
            RunLogError::Io { .. } | RunLogError::Busy { .. } => return None,
            RunLogError::Store(error) => Phrase::from(error.hint()?),
            RunLogError::Finished { .. } => phrase![
                option("fresh"),
                " replaces it, ",
                option("retry-errors"),
                " tries again what ended with an error; or choose another folder with ",
                option("run")
            ],
            RunLogError::Changed { .. } => phrase![
                "start over with ",
                option("fresh"),
                ", choose another folder with ",
                option("run"),
                ", or resume anyway with ",
                option("resume-changed")
            ],
            RunLogError::OtherKind { .. } => phrase!["choose another folder with ", option("run")],
            RunLogError::Damaged { .. } => {
                phrase!["the file was left as it is; choose another folder with ", option("run")]
            }
        })
    }
}

impl fmt::Display for RunLogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.notice().fmt(f)
    }
}

impl std::error::Error for RunLogError {}
