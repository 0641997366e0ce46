//! Why a run cannot be read.

use std::io;
use std::path::PathBuf;

use juror_document::{Notice, Phrase};
use juror_files::reason;
use juror_store::StoreError;

use crate::manifest::{FORMAT, RunKind};
use crate::run_file::RunFile;
use crate::run_folder::RunFolder;

/// Why a run cannot be read.
#[derive(Debug)]
#[non_exhaustive]
pub enum RunReadError {
    /// The folder has no `run.json`.
    NoRun {
        /// The folder.
        folder: PathBuf,
    },
    /// The file or folder cannot be read.
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The operating system's reason.
        error: io::Error,
    },
    /// The run was stored by another release, in a format that this one does not know.
    OtherFormat {
        /// The manifest.
        path: PathBuf,
        /// The format it names.
        format: String,
    },
    /// The manifest is cut off, or Juror did not write it.
    Damaged {
        /// The manifest.
        path: PathBuf,
        /// The parser's reason.
        error: serde_json::Error,
    },
    /// The run is not finished, so it has no results.
    Unfinished {
        /// The folder.
        folder: PathBuf,
    },
    /// The run had this file when it ended.
    Lost {
        /// The folder.
        folder: PathBuf,
        /// The file.
        file: RunFile,
    },
    /// An earlier release stored the run, without this file.
    Lacks {
        /// The folder.
        folder: PathBuf,
        /// The kind of run.
        kind: RunKind,
        /// The file.
        file: RunFile,
    },
    /// The database of the run cannot be used.
    Store(StoreError),
}

impl From<StoreError> for RunReadError {
    fn from(error: StoreError) -> RunReadError {
        RunReadError::Store(error)
    }
}

impl RunReadError {
    /// Returns whether something outside failed, rather than the request being wrong.
    pub fn is_outside(&self) -> bool {
        matches!(self, RunReadError::Store(error) if error.is_outside())
    }

    /// Names the database in place of the folder of this process.
    pub(crate) fn shown_in(self, run: &RunFolder) -> RunReadError {
        let shown = |path: PathBuf| run.shown_path(path);
        match self {
            RunReadError::NoRun { folder } => RunReadError::NoRun { folder: shown(folder) },
            RunReadError::Io { path, error } => RunReadError::Io { path: shown(path), error },
            RunReadError::OtherFormat { path, format } => {
                RunReadError::OtherFormat { path: shown(path), format }
            }
            RunReadError::Damaged { path, error } => {
                RunReadError::Damaged { path: shown(path), error }
            }
            other => other,
        }
    }

    /// Returns the problem and its hint.
    pub fn notice(&self) -> Notice {
        let notice = Notice::new(self.problem());
        match self.hint() {
            Some(hint) => notice.hint(Phrase::from(hint)),
            None => notice,
        }
    }

    fn problem(&self) -> String {
        match self {
            RunReadError::NoRun { folder } => {
                format!("{}: there is no run here", folder.display())
            }
            RunReadError::Io { path, error } => format!("{}: {}", path.display(), reason(error)),
            RunReadError::OtherFormat { path, format } => {
                format!("{}: the format `{format}` is not known", path.display())
            }
            RunReadError::Damaged { path, error } => {
                let why = juror_json::reason_and_place(error);
                format!("{}: not a manifest of a run: {why}", path.display())
            }
            RunReadError::Unfinished { folder } => {
                format!("{}: this run is not finished: it has no results", folder.display())
            }
            RunReadError::Lost { folder, file } => {
                format!("{}: this run is damaged: {} is missing", folder.display(), file.name())
            }
            RunReadError::Lacks { folder, file, .. } => {
                let (folder, file) = (folder.display(), file.name());
                format!("{folder}: an earlier release stored this run, without {file}")
            }
            RunReadError::Store(error) => error.problem(),
        }
    }

    fn hint(&self) -> Option<String> {
        Some(match self {
            RunReadError::Io { .. } => return None,
            RunReadError::Store(error) => error.hint()?.into(),
            RunReadError::NoRun { .. } => "a run is a folder with run.json".into(),
            RunReadError::OtherFormat { .. } => {
                format!("this release reads {FORMAT}; a newer one may have stored the run")
            }
            RunReadError::Damaged { .. } => "the file was left as it is".into(),
            RunReadError::Unfinished { .. } => {
                "run the same command again to resume it".into()
            }
            RunReadError::Lost { .. } => {
                "restore the file, or run the same command again with --fresh".into()
            }
            RunReadError::Lacks { kind: RunKind::Eval, .. } => {
                "evaluate the same files again into a new folder; replies of models are cached".into()
            }
            RunReadError::Lacks { kind: RunKind::Bench, .. } => {
                "its attempts can be judged again: `juror judge pass-rate`, or --agent recorded:FOLDER".into()
            }
        })
    }
}

impl std::fmt::Display for RunReadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.notice().fmt(f)
    }
}

impl std::error::Error for RunReadError {}
