//! Removes runs that are no longer wanted.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;

use crate::read_error::RunReadError;
use crate::run_file::RunFile;
use crate::run_folder::SharedRun;
use crate::stored::{SharedFiles, StoredRun};

/// Which runs are kept.
#[derive(Clone, Copy, Debug)]
pub struct Keep {
    /// How many of the newest runs.
    pub newest: usize,
    /// Whether unfinished runs may be removed too; otherwise they are kept, and do not count.
    pub unfinished_too: bool,
}

impl Keep {
    /// Returns the runs that are not kept, in the order given, which must be oldest first.
    pub fn others<'r>(&self, runs: &'r [StoredRun]) -> Vec<&'r StoredRun> {
        let counts = |run: &&StoredRun| run.manifest.is_complete || self.unfinished_too;
        let counted: Vec<&StoredRun> = runs.iter().filter(counts).collect();
        let n_others = counted.len().saturating_sub(self.newest);
        counted.into_iter().take(n_others).collect()
    }
}

/// What became of a run that was to be removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removal {
    /// The run and its folder are gone.
    Removed,
    /// The run is gone; the folder stays, because it has other files.
    FolderStays,
    /// A process is working on the run, or has changed it, so it stays.
    InUse,
}

impl StoredRun {
    /// Removes the files of the run, and its folder if that is all it has. The manifest goes last,
    /// so that a removal that is cut off leaves a run that can be removed.
    pub fn remove(&self) -> Result<Removal, RunReadError> {
        match self.shared.as_ref().and_then(SharedFiles::run) {
            Some(shared) => self.remove_shared(shared),
            None => self
                .remove_folder()
                .map_err(|error| RunReadError::Io { path: self.folder.clone(), error }),
        }
    }

    fn remove_shared(&self, shared: &SharedRun) -> Result<Removal, RunReadError> {
        if !shared.hold()? {
            return Ok(Removal::InUse);
        }
        shared.refresh()?;
        if self.has_changed() {
            return Ok(Removal::InUse);
        }
        shared.remove()?;
        Ok(Removal::Removed)
    }

    fn remove_folder(&self) -> io::Result<Removal> {
        // Held until the end, so that no process resumes the run meanwhile.
        let log = match File::open(self.log_path()) {
            Ok(log) => Some(log),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        match log.as_ref().map_or(Ok(()), File::try_lock) {
            Err(TryLockError::WouldBlock) => return Ok(Removal::InUse),
            Err(TryLockError::Error(error)) => return Err(error),
            Ok(()) if self.has_changed() => return Ok(Removal::InUse),
            Ok(()) => {}
        }
        juror_files::collect(&self.folder);
        for file in RunFile::ALL.into_iter().rev() {
            remove_file(&file.path_in(&self.folder))?;
        }
        drop(log);
        match std::fs::remove_dir(&self.folder) {
            Ok(()) => Ok(Removal::Removed),
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {
                Ok(Removal::FolderStays)
            }
            Err(error) => Err(error),
        }
    }

    /// Returns whether the folder no longer has the run that was read.
    fn has_changed(&self) -> bool {
        let now = StoredRun::open(&self.folder).map(|run| run.manifest);
        !now.is_ok_and(|now| {
            now.began == self.manifest.began && now.is_complete == self.manifest.is_complete
        })
    }
}

fn remove_file(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::{Manifest, RunKind};
    use crate::stored::stored_runs;
    use serde_json::json;

    fn store(root: &Path, name: &str, is_complete: bool) {
        let folder = root.join(name);
        std::fs::create_dir(&folder).expect("made");
        let mut run = Manifest::new(RunKind::Bench, name, json!({}));
        run.began = name.into();
        run.is_complete = is_complete;
        run.write(&folder).expect("written");
        std::fs::write(folder.join("attempts.jsonl"), "").expect("written");
        std::fs::write(folder.join("results.jsonl"), "").expect("written");
    }

    fn runs(root: &Path) -> Vec<StoredRun> {
        stored_runs(root).expect("runs").into_iter().flatten().collect()
    }

    #[test]
    fn the_newest_runs_are_kept_and_unfinished_ones_unless_told() {
        let root = tempfile::tempdir().expect("a folder");
        for (name, is_complete) in [("1", true), ("2", false), ("3", true), ("4", true)] {
            store(root.path(), name, is_complete);
        }
        let runs = runs(root.path());
        let others = |newest, unfinished_too| -> Vec<&str> {
            let others = Keep { newest, unfinished_too }.others(&runs);
            others.iter().map(|run| run.manifest.name.as_str()).collect()
        };
        assert_eq!(others(1, false), ["1", "3"]);
        assert_eq!(others(1, true), ["1", "2", "3"]);
        assert_eq!(others(3, false), [""; 0]);
        assert_eq!(others(0, false), ["1", "3", "4"]);
    }

    #[test]
    fn only_files_of_the_run_are_removed() {
        let root = tempfile::tempdir().expect("a folder");
        store(root.path(), "1", true);
        store(root.path(), "2", true);
        std::fs::write(root.path().join("2/notes.md"), "precious").expect("written");
        let removed: Vec<Removal> =
            runs(root.path()).iter().map(|run| run.remove().expect("removed")).collect();
        assert_eq!(removed, [Removal::Removed, Removal::FolderStays]);
        assert!(!root.path().join("1").exists());
        let left = std::fs::read_dir(root.path().join("2")).expect("a folder").count();
        assert_eq!(left, 1, "what is not the run's stays");
    }

    #[test]
    fn a_run_that_somebody_works_on_or_has_resumed_stays() {
        let root = tempfile::tempdir().expect("a folder");
        store(root.path(), "1", true);
        let run = runs(root.path()).remove(0);
        let log = File::open(run.log_path()).expect("a log");
        log.lock().expect("locked");
        assert!(run.is_busy());
        assert_eq!(run.remove().expect("asked"), Removal::InUse);
        drop(log);
        let mut resumed = run.manifest.clone();
        resumed.is_complete = false;
        resumed.write(&run.folder).expect("written");
        assert_eq!(run.remove().expect("asked"), Removal::InUse);
        assert_eq!(runs(root.path()).len(), 1);
    }
}
