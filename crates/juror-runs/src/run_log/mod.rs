//! The log of a run: a folder with a manifest, `run.json`, and a file with one line per finished
//! item, so that a run that was cut off can be resumed.
//!
//! Only one process at a time works on a log: it locks the file. Each line is written in a single
//! write as soon as its item is finished. If a process dies while writing, the next one drops the
//! torn line. A run in a database is locked there, and each line is stored there too before it
//! counts. Anything that Juror cannot have written is refused and left alone.

mod choose;
mod error;
mod journal;
mod torn;

use std::borrow::Borrow;
use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use juror_files::WholeFile;
use serde::Serialize;
use serde::de::DeserializeOwned;

pub use choose::plain;
pub(crate) use choose::{Chosen, choose_folder, choose_shared};
pub use error::RunLogError;
pub use journal::Journal;

use crate::manifest::{self, BadManifest, Manifest, Resume, RunKind, Unjudged};
use crate::run_file::RunFile;
use crate::run_folder::{RunFolder, SharedRun};

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
    folder: RunFolder,
    journal: Journal,
    manifest: Manifest,
    known: HashMap<T::Id, T>,
}

impl<T: Entry> RunLog<T> {
    /// Starts a run in a folder, or resumes the one that the folder holds. `read` converts a line
    /// from an earlier process into an entry; lines for which it returns `None` are skipped. If an
    /// item has several lines, the last one counts.
    pub fn open(
        folder: impl Into<RunFolder>,
        manifest: Manifest,
        resume: Resume,
        read: impl Fn(T::Line) -> Option<T>,
    ) -> Result<RunLog<T>, RunLogError> {
        let folder = folder.into();
        if let Some(shared) = folder.database() {
            if !shared.hold().map_err(RunLogError::Store)? {
                return Err(RunLogError::Busy { folder: folder.shown() });
            }
            // Another process may have gone on with the run since it was looked at.
            shared.refresh().map_err(RunLogError::Store)?;
        }
        let opened = RunLog::open_in(&folder, manifest, resume, read);
        opened.map_err(|error| error.shown_in(&folder))
    }

    fn open_in(
        run_folder: &RunFolder,
        mut manifest: Manifest,
        resume: Resume,
        read: impl Fn(T::Line) -> Option<T>,
    ) -> Result<RunLog<T>, RunLogError> {
        let folder = run_folder.path();
        // A folder that is refused is left as it is.
        if check_run(folder, &manifest, resume)?.is_none() {
            refuse_results(folder)?;
        }
        let mut journal = Journal::of_run(run_folder, T::KIND.log_file(), T::KIND.line_start())?;
        let mut known = HashMap::new();
        match check_run(folder, &manifest, resume)? {
            None => journal.refuse_lines()?,
            Some(_) if resume.fresh => journal.clear()?,
            Some(earlier) => {
                (manifest.began, manifest.id) = (earlier.began, earlier.id);
                let lines = journal.resume::<T::Line>()?;
                known
                    .extend(lines.into_iter().filter_map(|line| Some((T::id(&line), read(line)?))));
            }
        }
        let failed = |error| RunLogError::Io { path: manifest::path_in(folder), error };
        manifest.write(folder).map_err(failed)?;
        // From here on the run is not complete, so what came of it earlier no longer counts.
        remove_results(folder)?;
        if let Some(shared) = run_folder.database() {
            let begun = shared.publish(&[RunFile::Manifest], &RunFile::OF_RESULTS);
            begun.map_err(RunLogError::Store)?;
        }
        Ok(RunLog { folder: run_folder.clone(), journal, manifest, known })
    }

    /// Returns the folder in which files of the run are written.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the same, with the run in a database that it may stand for.
    pub fn run_folder(&self) -> &RunFolder {
        &self.folder
    }

    /// Returns the place of the run as people name it: its folder, or its address in a database.
    pub fn place(&self) -> String {
        self.folder.shown().display().to_string()
    }

    /// Returns a message for the user, once, if something happened to the database.
    pub fn news(&self) -> Option<String> {
        self.folder.database().and_then(|shared| shared.store().news())
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
        self.journal.append(line)
    }

    /// Appends a line, and does not block while a database is waited for.
    pub async fn append_async(&self, line: &impl Serialize) -> Result<(), RunLogError> {
        self.journal.append_async(line).await
    }

    /// Writes a file of the run, completely or not at all.
    pub fn write(
        &self,
        file: RunFile,
        content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), RunLogError> {
        let path = file.path_in(self.folder());
        let write = || {
            let mut out = BufWriter::new(WholeFile::begin(&path)?);
            content(&mut out)?;
            out.into_inner().map_err(io::IntoInnerError::into_error)?.finish()
        };
        write().map_err(|error| RunLogError::Io { path: path.clone(), error })?;
        self.publish(&[file])
    }

    /// Says that the files of results were written, though the run is not complete, so that a
    /// database gets them.
    pub fn publish_results(&self) -> Result<(), RunLogError> {
        self.publish(&RunFile::OF_RESULTS)
    }

    fn publish(&self, files: &[RunFile]) -> Result<(), RunLogError> {
        let publish = |shared: &Arc<SharedRun>| shared.publish(files, &[]);
        self.folder.database().map_or(Ok(()), publish).map_err(RunLogError::Store)
    }

    /// Marks the run as complete: all results, of which there are so many, are written, and it will
    /// not be resumed. `unjudged` says which of them have no verdict.
    pub fn complete(
        &self,
        n_results: usize,
        unjudged: Option<Unjudged>,
    ) -> Result<(), RunLogError> {
        let failed = |error| RunLogError::Io { path: manifest::path_in(self.folder()), error };
        let mut manifest = self.manifest.clone();
        manifest.unjudged = unjudged;
        manifest.complete(self.folder(), n_results).map_err(failed)?;
        let [results, aggregates, statistics] = RunFile::OF_RESULTS;
        self.publish(&[results, aggregates, statistics, RunFile::Manifest])
    }

    /// Removes the run, of which nothing came.
    pub fn discard(self) -> Result<(), RunLogError> {
        if let Some(shared) = self.folder.database() {
            return shared.remove().map_err(RunLogError::Store);
        }
        let folder = self.folder().to_owned();
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |error| RunLogError::Io { path, error }
        };
        drop(self);
        for path in RunFile::ALL.map(|file| file.path_in(&folder)).iter().rev() {
            match std::fs::remove_file(path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                other => other.map_err(failed(path))?,
            }
        }
        std::fs::remove_dir(&folder).map_err(failed(&folder))
    }

    /// Reads the last line of each item in a folder, in the order written; `None` if the folder has
    /// no log of this kind. Takes no lock, and changes nothing.
    pub fn read(folder: &Path) -> Result<Option<Vec<T::Line>>, RunLogError> {
        let Some(lines) = journal::read_lines::<T::Line>(folder, T::KIND.log_file())? else {
            return Ok(None);
        };
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
        Ok(Some(Err(BadManifest::Unreadable(error)))) => {
            Err(RunLogError::not_ours(path, error.line(), &error))
        }
        Ok(Some(Err(BadManifest::OtherFormat(format)))) => {
            let why = format!("the form `{format}` is not known");
            Err(RunLogError::Damaged { path, line: 1, column: None, why })
        }
        Err(error) => Err(RunLogError::Io { path, error }),
    }
}

/// Fails if a folder without a manifest has files of the names that results get: they belong to no
/// known run.
fn refuse_results(folder: &Path) -> Result<(), RunLogError> {
    let paths = RunFile::OF_RESULTS.map(|file| file.path_in(folder));
    match paths.into_iter().find(|path| path.exists()) {
        Some(path) => Err(RunLogError::orphaned(path)),
        None => Ok(()),
    }
}

fn remove_results(folder: &Path) -> Result<(), RunLogError> {
    for path in RunFile::OF_RESULTS.map(|file| file.path_in(folder)) {
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(RunLogError::Io { path, error });
            }
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
