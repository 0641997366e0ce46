//! The log of a run: a folder with a manifest, `run.json`, and a file with one line per finished
//! item, so that a run that was cut off can be resumed.
//!
//! Only one process at a time works on a log: it locks the file. Each line is written in a single
//! write as soon as its item is finished. If a process dies while writing, the next one drops the
//! torn line. Anything that Juror cannot have written is refused and left alone.

mod choose;
mod error;
mod file;
mod torn;

use std::borrow::Borrow;
use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

pub use choose::{Chosen, PassedOver, choose_folder, plain};
pub use error::RunLogError;
use file::LogFile;

use crate::manifest::{self, Manifest, Resume, RunKind};

/// The result of one item of a run, such as a judged question or an attempted query.
pub trait Entry: Sized {
    /// The kind of run that logs this entry.
    const KIND: RunKind;
    /// The serialized form of an entry: one line.
    type Line: DeserializeOwned;
    /// Identifies an item.
    type Id: Eq + Hash;

    /// Returns the item of a line.
    fn id(line: &Self::Line) -> Self::Id;
}

/// The log of a run in progress.
#[derive(Debug)]
pub struct RunLog<T: Entry> {
    folder: PathBuf,
    file: LogFile,
    manifest: Manifest,
    known: HashMap<T::Id, T>,
}

impl<T: Entry> RunLog<T> {
    /// Starts a run in a folder, or resumes the one that the folder holds. `read` converts a line
    /// from an earlier process into an entry; lines for which it returns `None` are skipped. If an
    /// item has several lines, the last one counts.
    pub fn open(
        folder: &Path,
        mut manifest: Manifest,
        resume: Resume,
        read: impl Fn(T::Line) -> Option<T>,
    ) -> Result<RunLog<T>, RunLogError> {
        // A folder that is refused is left as it is.
        check_run(folder, &manifest, resume)?;
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

    /// Returns the run's folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns how many items earlier processes have finished.
    pub fn n_known(&self) -> usize {
        self.known.len()
    }

    /// Returns the entry that an earlier process logged for an item.
    pub fn get<Q>(&self, id: &Q) -> Option<&T>
    where
        T::Id: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        self.known.get(id)
    }

    /// Forgets some entries of earlier processes, so that their items are done again.
    pub fn forget(&mut self, is_forgotten: impl Fn(&T) -> bool) {
        self.known.retain(|_, entry| !is_forgotten(entry));
    }

    /// Appends a line. Once this returns, a crash of the process does not lose it.
    pub fn append(&self, line: &impl Serialize) -> Result<(), RunLogError> {
        self.file.append(line)
    }

    /// Marks the run as complete: all results are written, and it will not be resumed.
    pub fn complete(&self) -> Result<(), RunLogError> {
        let failed = |error| RunLogError::Io { path: manifest::path_in(&self.folder), error };
        self.manifest.clone().complete(&self.folder).map_err(failed)
    }

    /// Reads the last line of each item in a folder, in the order written; `None` if the folder has
    /// no log of this kind. Takes no lock, and changes nothing.
    pub fn read(folder: &Path) -> Result<Option<Vec<T::Line>>, RunLogError> {
        let Some(lines) = file::read_lines::<T::Line>(folder, T::KIND)? else { return Ok(None) };
        let mut seen = HashSet::new();
        let is_last = |line: &T::Line| seen.insert(T::id(line));
        let mut last: Vec<T::Line> = lines.into_iter().rev().filter(is_last).collect();
        last.reverse();
        Ok(Some(last))
    }
}

/// Returns the manifest of the run in a folder, and fails if that run may neither be resumed nor
/// replaced. `None` if the folder holds no run.
pub fn check_run(
    folder: &Path,
    run: &Manifest,
    resume: Resume,
) -> Result<Option<Manifest>, RunLogError> {
    let Some(earlier) = read_manifest(folder)? else { return Ok(None) };
    if earlier.kind != run.kind {
        let (folder, kind) = (folder.to_owned(), earlier.kind);
        return Err(RunLogError::OtherKind { folder, kind });
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

/// Returns the manifest of the run in a folder; `None` if the folder holds no run.
pub fn read_manifest(folder: &Path) -> Result<Option<Manifest>, RunLogError> {
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
