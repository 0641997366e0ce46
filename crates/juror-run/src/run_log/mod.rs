//! The log of a run: a folder with a manifest, `run.json`, and a file of lines, one for each item
//! that is done, so that a run that was cut off can be resumed.
//!
//! One process at a time works on a log: it holds a lock on the file of lines. A line is written in
//! one piece, the moment its item is done. If a process dies while it writes, the next one drops the
//! torn line. Whatever Juror cannot have written is refused and left alone.

mod choose;
mod error;
mod file;
mod look;
mod torn;

use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

pub(crate) use choose::choose_folder;
pub use error::RunLogError;
use file::LogFile;
pub use look::{RunState, look_at_run};

use crate::manifest::{self, Manifest, Resume, RunKind};

/// What a run knows about one item, such as a judged question or an attempted query.
pub trait Entry: Sized {
    /// The kind of run that logs it.
    const KIND: RunKind;
    /// An entry as its line has it.
    type Line: DeserializeOwned;
    /// What tells items apart.
    type Id: Eq + Hash;

    /// The item a line is about.
    fn id(line: &Self::Line) -> Self::Id;
}

/// The log of a run that is being worked on.
#[derive(Debug)]
pub struct RunLog<T: Entry> {
    folder: PathBuf,
    file: LogFile,
    manifest: Manifest,
    pub(crate) known: HashMap<T::Id, T>,
}

impl<T: Entry> RunLog<T> {
    /// Begins a run in a folder, or resumes the one that the folder holds. `read` makes an entry of
    /// a line that an earlier process wrote; lines of which it makes none are skipped. If an item has
    /// several lines, the last one counts.
    pub fn open(
        folder: &Path,
        mut manifest: Manifest,
        resume: Resume,
        read: impl Fn(T::Line) -> Option<T>,
    ) -> Result<RunLog<T>, RunLogError> {
        let mut file = LogFile::lock(folder, T::KIND)?;
        let mut known = HashMap::new();
        match check_run(folder, &manifest, resume)? {
            None => file.refuse_lines()?,
            Some(_) if resume.fresh => file.clear()?,
            Some(earlier) => {
                manifest.began = earlier.began;
                let lines = file.resume::<T::Line>(T::KIND)?;
                known
                    .extend(lines.into_iter().filter_map(|line| Some((T::id(&line), read(line)?))));
            }
        }
        let failed = |error| RunLogError::Io { path: manifest::path_in(folder), error };
        manifest.write(folder).map_err(failed)?;
        Ok(RunLog { folder: folder.to_owned(), file, manifest, known })
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// How many items earlier processes have done.
    pub fn n_known(&self) -> usize {
        self.known.len()
    }

    /// Appends a line. Once this returns, a crash of the process does not lose it.
    pub(crate) fn append_line(&self, line: &impl Serialize) -> Result<(), RunLogError> {
        self.file.append(line)
    }

    /// Marks the run as complete: all its results are written, and it will not be resumed.
    pub fn complete(&self) -> Result<(), RunLogError> {
        let failed = |error| RunLogError::Io { path: manifest::path_in(&self.folder), error };
        self.manifest.clone().complete(&self.folder).map_err(failed)
    }

    /// The lines in a folder, the last one of each item, in the order they were written. `None` if
    /// the folder has no log of this kind. Takes no lock, and changes nothing.
    pub fn read(folder: &Path) -> Result<Option<Vec<T::Line>>, RunLogError> {
        let Some(lines) = file::read_lines::<T::Line>(folder, T::KIND)? else { return Ok(None) };
        let mut seen = HashSet::new();
        let is_last = |line: &T::Line| seen.insert(T::id(line));
        let mut last: Vec<T::Line> = lines.into_iter().rev().filter(is_last).collect();
        last.reverse();
        Ok(Some(last))
    }
}

/// The manifest of the run that a folder holds, if that run may be resumed or replaced. `None` if the
/// folder holds no run.
pub(crate) fn check_run(
    folder: &Path,
    run: &Manifest,
    resume: Resume,
) -> Result<Option<Manifest>, RunLogError> {
    let Some(earlier) = read_manifest(folder)? else { return Ok(None) };
    if earlier.kind != run.kind {
        let why = format!("it is a {}", earlier.kind.name());
        let path = manifest::path_in(folder);
        return Err(RunLogError::Damaged { path, line: 1, column: None, why });
    }
    if resume.fresh {
        return Ok(Some(earlier));
    }
    let differences = earlier.differences(run);
    if !differences.is_empty() && !resume.even_if_changed {
        let (folder, kind) = (folder.to_owned(), run.kind);
        return Err(RunLogError::Changed { folder, kind, differences });
    }
    if earlier.is_complete && !resume.retry_errors {
        return Err(RunLogError::Finished { folder: folder.to_owned() });
    }
    Ok(Some(earlier))
}

fn read_manifest(folder: &Path) -> Result<Option<Manifest>, RunLogError> {
    let path = manifest::path_in(folder);
    match Manifest::read(folder) {
        Ok(None) => Ok(None),
        Ok(Some(Ok(run))) => Ok(Some(run)),
        Ok(Some(Err(error))) => Err(RunLogError::not_ours(path, error.line(), &error)),
        Err(error) => Err(RunLogError::Io { path, error }),
    }
}

#[cfg(test)]
mod tests;
