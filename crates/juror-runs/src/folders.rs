//! Runs in folders, as a store like those in databases.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use juror_files::{WholeFile, is_disk_failure, reason};
use juror_store::{HeldRun, Pending, RunChange, RunStore, StoreError};

use crate::manifest::Manifest;
use crate::run_file::RunFile;
use crate::run_log::{Journal, RunLogError};
use crate::stored::is_locked;

/// The runs in the folders below a root.
#[derive(Clone, Debug)]
pub struct RunFolders {
    root: PathBuf,
}

const JOURNALS: [RunFile; 2] = [RunFile::Records, RunFile::Attempts];

impl RunFolders {
    /// Returns the runs below a root, which is made if a run is stored.
    pub fn new(root: &Path) -> RunFolders {
        RunFolders { root: root.to_owned() }
    }
}

impl RunStore for RunFolders {
    fn place(&self) -> String {
        self.root.display().to_string()
    }

    fn place_of(&self, run: &str) -> String {
        self.root.join(run).display().to_string()
    }

    fn runs(&self) -> Result<Vec<String>, StoreError> {
        let cannot = |error: io::Error| failed(&self.root, &error);
        let entries = match std::fs::read_dir(&self.root) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            other => other.map_err(cannot)?,
        };
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry.map_err(cannot)?;
            // Links are left to those who made them.
            let is_folder = entry.file_type().map_err(cannot)?.is_dir();
            let has_files =
                || RunFile::ALL.iter().any(|file| file.path_in(&entry.path()).is_file());
            if let Ok(name) = entry.file_name().into_string()
                && is_folder
                && has_files()
            {
                names.push(name);
            }
        }
        names.sort_unstable();
        Ok(names)
    }

    fn files(&self, run: &str) -> Result<Vec<(String, u64)>, StoreError> {
        let folder = self.root.join(run);
        let size = |file: RunFile| {
            let known = std::fs::metadata(file.path_in(&folder)).ok()?;
            known.is_file().then(|| (file.name().to_owned(), known.len()))
        };
        let mut files: Vec<_> = RunFile::ALL.into_iter().filter_map(size).collect();
        files.sort_unstable();
        Ok(files)
    }

    fn fetch(&self, run: &str, file: &str, to: &Path) -> Result<bool, StoreError> {
        let path = self.root.join(run).join(file);
        match std::fs::copy(&path, to) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound && !path.exists() => Ok(false),
            Err(error) => Err(failed(&path, &error)),
        }
    }

    fn is_held(&self, run: &str) -> Result<bool, StoreError> {
        let folder = self.root.join(run);
        Ok(JOURNALS.iter().any(|file| is_locked(&file.path_in(&folder))))
    }

    fn hold(&self, run: &str) -> Result<Option<Box<dyn HeldRun>>, StoreError> {
        // A run that is refused is left as it is.
        if self.is_held(run)? {
            return Ok(None);
        }
        let folder = self.root.join(run);
        let lock = |file: RunFile| Journal::lock(&file.path_in(&folder), "");
        let journals = match (lock(RunFile::Records), lock(RunFile::Attempts)) {
            (Ok(records), Ok(attempts)) => [records, attempts],
            (Err(RunLogError::Busy { .. }), _) | (_, Err(RunLogError::Busy { .. })) => {
                return Ok(None);
            }
            (Err(error), _) | (_, Err(error)) => {
                return Err(StoreError::Open { path: folder, reason: error.problem() });
            }
        };
        Ok(Some(Box::new(HeldFolder { folder, journals })))
    }
}

/// A run in a folder whose journals are locked.
struct HeldFolder {
    folder: PathBuf,
    journals: [Journal; 2],
}

impl HeldFolder {
    fn journal(&self, file: &str) -> Option<&Journal> {
        JOURNALS.iter().position(|own| own.name() == file).map(|at| &self.journals[at])
    }

    fn write(&self, file: &str, from: &Path) -> io::Result<()> {
        let mut source = File::open(from)?;
        // Another file in place of a journal would not be locked.
        if let Some(journal) = self.journal(file) {
            return journal.replace(&mut source);
        }
        let mut out = WholeFile::begin_private(&self.folder.join(file))?;
        io::copy(&mut source, &mut out)?;
        out.finish()
    }

    fn remove_file(&self, file: &str) -> io::Result<()> {
        if let Some(journal) = self.journal(file) {
            return journal.replace(&mut io::empty());
        }
        gone(std::fs::remove_file(self.folder.join(file)))
    }
}

impl HeldRun for HeldFolder {
    fn append<'a>(&'a self, file: &'a str, line: &'a [u8]) -> Pending<'a, Result<(), StoreError>> {
        let path = || self.folder.join(file);
        let appended = match self.journal(file) {
            Some(journal) => journal.append_bytes(line).map_err(|error| failed(&path(), &error)),
            None => Err(failed(&path(), &io::Error::other("no file that grows"))),
        };
        Box::pin(std::future::ready(appended))
    }

    fn change(&self, change: &RunChange<'_>) -> Result<(), StoreError> {
        for file in change.removed {
            self.remove_file(file).map_err(|error| failed(&self.folder.join(file), &error))?;
        }
        for (file, from) in change.written {
            self.write(file, from).map_err(|error| failed(&self.folder.join(file), &error))?;
        }
        Ok(())
    }

    fn remove(&self) -> Result<(), StoreError> {
        juror_files::collect(&self.folder);
        for file in RunFile::ALL.into_iter().rev() {
            let path = file.path_in(&self.folder);
            gone(std::fs::remove_file(&path)).map_err(|error| failed(&path, &error))?;
        }
        Ok(())
    }
}

impl Drop for HeldFolder {
    fn drop(&mut self) {
        // The journal of the run's kind stays: another process may be waiting to lock it.
        let kind = Manifest::read(&self.folder).ok().flatten().and_then(Result::ok);
        let stays = kind.map(|manifest| manifest.kind.log_file());
        for file in JOURNALS.into_iter().filter(|file| Some(*file) != stays) {
            let path = file.path_in(&self.folder);
            if path.metadata().is_ok_and(|about| about.len() == 0) {
                // An empty file that stays does no harm.
                let _ = std::fs::remove_file(path);
            }
        }
        // This fails, as it should, if the folder is not empty.
        let _ = std::fs::remove_dir(&self.folder);
    }
}

/// What is gone need not be removed.
fn gone(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

fn failed(path: &Path, error: &io::Error) -> StoreError {
    let (path, reason) = (path.to_owned(), reason(error));
    if is_disk_failure(error) {
        StoreError::Disk { path, reason }
    } else {
        StoreError::Failed { path, reason }
    }
}
