//! Runs that are stored: reading them for lists, reports and comparisons.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use juror_postgres::StoreUse;
use juror_store::RunStore;

use crate::manifest::{BadManifest, Manifest, RunKind};
use crate::read_error::RunReadError;
use crate::run_file::RunFile;
use crate::run_folder::{
    RunFolder, SharedRun, address_of, is_shared, names_no_run, open_run_store,
};

/// A run in a folder.
#[derive(Clone, Debug)]
pub struct StoredRun {
    /// The folder. That of a run in a database is a temporary one, which has the files that were
    /// asked for.
    pub folder: PathBuf,
    /// The description of the run.
    pub manifest: Manifest,
    /// The run in a database.
    pub(crate) shared: Option<SharedFiles>,
}

/// A run in a database, and which files it had when it was opened.
#[derive(Clone, Debug)]
pub(crate) struct SharedFiles {
    folder: RunFolder,
    sizes: Vec<(RunFile, u64)>,
}

impl SharedFiles {
    pub(crate) fn run(&self) -> Option<&Arc<SharedRun>> {
        self.folder.database()
    }
}

impl StoredRun {
    /// Reads the manifest of the run at a place: in a folder, or at an address that names it.
    pub fn at(place: &str) -> Result<StoredRun, RunReadError> {
        let Some(address) = address_of(Path::new(place))? else {
            return StoredRun::open(Path::new(place));
        };
        let name = address.run().ok_or_else(|| names_no_run(&address))?.to_owned();
        let nothing = || RunReadError::NoRun { folder: address.to_string().into() };
        let store = open_run_store(Path::new(place), StoreUse::Read)?.ok_or_else(nothing)?;
        StoredRun::in_store(store, &name)
    }

    /// Reads the manifest of a run in a database.
    fn in_store(store: Arc<dyn RunStore>, name: &str) -> Result<StoredRun, RunReadError> {
        let folder = RunFolder::shared(store, name)?;
        let Some(shared) = folder.database() else { return StoredRun::open(folder.path()) };
        shared.fetch(RunFile::Manifest)?;
        let sizes = shared.sizes()?;
        let run = StoredRun::open(folder.path()).map_err(|error| error.shown_in(&folder))?;
        Ok(StoredRun { shared: Some(SharedFiles { folder, sizes }), ..run })
    }

    /// Returns the place of the run as people name it: its folder, or its address in a database.
    pub fn place(&self) -> String {
        self.shown().display().to_string()
    }

    fn shown(&self) -> PathBuf {
        self.shared.as_ref().map_or_else(|| self.folder.clone(), |shared| shared.folder.shown())
    }

    /// Has all files of a run in a database in its folder, for those who read them there.
    pub fn fetch_all(&self) -> Result<(), RunReadError> {
        let Some(shared) = self.shared.as_ref().and_then(SharedFiles::run) else { return Ok(()) };
        RunFile::ALL.into_iter().try_for_each(|file| shared.fetch(file).map(drop))?;
        Ok(())
    }

    /// Reads the manifest of the run in a folder.
    pub fn open(folder: &Path) -> Result<StoredRun, RunReadError> {
        let path = RunFile::Manifest.path_in(folder);
        match Manifest::read(folder) {
            Ok(Some(Ok(manifest))) => {
                Ok(StoredRun { folder: folder.to_owned(), manifest, shared: None })
            }
            Ok(Some(Err(BadManifest::OtherFormat(format)))) => {
                Err(RunReadError::OtherFormat { path, format })
            }
            Ok(Some(Err(BadManifest::Unreadable(error)))) => {
                Err(RunReadError::Damaged { path, error })
            }
            Ok(None) => Err(RunReadError::NoRun { folder: folder.to_owned() }),
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
                Err(RunReadError::NoRun { folder: folder.to_owned() })
            }
            Err(error) => Err(RunReadError::Io { path, error }),
        }
    }

    /// Returns the file of results, one per line, if there is one.
    pub fn results_path(&self) -> Option<PathBuf> {
        self.path_of(RunFile::Results)
    }

    /// Returns the file of aggregates, or of the summary of a benchmark, if there is one.
    pub fn aggregates_path(&self) -> Option<PathBuf> {
        self.path_of(RunFile::Aggregates)
    }

    /// Returns the file of statistics, if there is one.
    pub fn statistics_path(&self) -> Option<PathBuf> {
        self.path_of(RunFile::Statistics)
    }

    /// Returns the file of attempts, if there is one.
    pub fn attempts_path(&self) -> Option<PathBuf> {
        self.path_of(RunFile::Attempts)
    }

    /// Returns the journal: the file that gets a line for every finished item.
    pub fn log_path(&self) -> PathBuf {
        self.manifest.kind.log_file().path_in(&self.folder)
    }

    /// Returns the path of a file, if there is one. That of a database which is gone by now cannot be
    /// had.
    pub(crate) fn path_of(&self, file: RunFile) -> Option<PathBuf> {
        self.fetched(file).ok().flatten()
    }

    fn fetched(&self, file: RunFile) -> Result<Option<PathBuf>, RunReadError> {
        match self.shared.as_ref().and_then(SharedFiles::run) {
            Some(shared) => Ok(shared.fetch(file)?),
            None => Ok(Some(file.path_in(&self.folder)).filter(|path| path.is_file())),
        }
    }

    /// Returns the size of a file, if there is one.
    pub(crate) fn size_of(&self, file: RunFile) -> Option<u64> {
        let own = self.files().into_iter().find(|(own, _)| *own == file);
        own.map(|(_, size)| size)
    }

    /// Returns a file that the run must have for what is to be done with it; fails with what is
    /// missing and what to do.
    pub fn needed(&self, file: RunFile) -> Result<PathBuf, RunReadError> {
        let folder = || self.shown();
        match self.fetched(file)? {
            Some(path) => Ok(path),
            None if !self.manifest.is_complete => {
                Err(RunReadError::Unfinished { folder: folder() })
            }
            None if self.manifest.results.is_some() => {
                Err(RunReadError::Lost { folder: folder(), file })
            }
            None => Err(RunReadError::Lacks { folder: folder(), kind: self.manifest.kind, file }),
        }
    }

    /// Lists what the run lacks because an earlier release stored it.
    pub fn lacks(&self) -> Vec<&'static str> {
        let is_eval = self.manifest.kind == RunKind::Eval;
        let is_earlier = self.manifest.is_complete && self.manifest.results.is_none();
        let lacking = [
            (is_earlier && self.results_path().is_none(), "results.jsonl"),
            (is_earlier && self.aggregates_path().is_none(), "aggregates.json"),
            (is_eval && self.manifest.question_hashes().is_empty(), "hashes of questions"),
            (is_eval && self.manifest.rules().is_none(), "rules"),
        ];
        lacking.into_iter().filter_map(|(lacks, what)| lacks.then_some(what)).collect()
    }

    /// Returns whether a process is working on the run. Several may look at the same time without
    /// taking each other for one that works.
    pub fn is_busy(&self) -> bool {
        match self.shared.as_ref().and_then(SharedFiles::run) {
            Some(shared) => shared.is_held(),
            None => is_locked(&self.log_path()),
        }
    }

    /// Returns the files of the run that there are, with their sizes in bytes.
    pub fn files(&self) -> Vec<(RunFile, u64)> {
        if let Some(shared) = &self.shared {
            return shared.sizes.clone();
        }
        let size = |file: RunFile| {
            let known = std::fs::metadata(file.path_in(&self.folder)).ok()?;
            known.is_file().then_some((file, known.len()))
        };
        RunFile::ALL.into_iter().filter_map(size).collect()
    }
}

/// Returns whether a process is working on the run with this journal.
pub fn is_locked(journal: &Path) -> bool {
    File::open(journal).is_ok_and(|file| file.try_lock_shared().is_err())
}

/// Returns the runs in the folders directly below a root, and the one in the root itself, if any:
/// first those that cannot be read, then the others by the time they began, newest last.
///
/// The root may be the address of a database.
pub fn stored_runs(root: &Path) -> Result<Vec<Result<StoredRun, RunReadError>>, RunReadError> {
    let opened = if is_shared(root) {
        shared_runs(root)?
    } else {
        let cannot = |error| RunReadError::Io { path: root.to_owned(), error };
        folders_in(root).map_err(cannot)?.iter().map(|folder| StoredRun::open(folder)).collect()
    };
    let is_run =
        |run: &Result<StoredRun, RunReadError>| !matches!(run, Err(RunReadError::NoRun { .. }));
    let mut runs: Vec<_> = opened.into_iter().filter(is_run).collect();
    let key = |run: &Result<StoredRun, RunReadError>| {
        let run = run.as_ref().ok()?;
        Some((run.manifest.began.clone(), run.place()))
    };
    runs.sort_by_cached_key(key);
    Ok(runs)
}

fn folders_in(root: &Path) -> io::Result<Vec<PathBuf>> {
    let mut folders = vec![root.to_owned()];
    for entry in std::fs::read_dir(root)? {
        let entry = entry?;
        // Links are left to those who made them: what they lead to is a run elsewhere.
        if entry.file_type()?.is_dir() {
            folders.push(entry.path());
        }
    }
    folders.sort();
    Ok(folders)
}

/// Returns the runs in a database, or the one that the address names.
fn shared_runs(root: &Path) -> Result<Vec<Result<StoredRun, RunReadError>>, RunReadError> {
    let Some(store) = open_run_store(root, StoreUse::Read)? else { return Ok(Vec::new()) };
    let one = address_of(root)?.and_then(|address| address.run().map(ToOwned::to_owned));
    let all = match one {
        Some(name) => vec![name],
        None => store.runs()?,
    };
    let mut runs = Vec::new();
    for name in all {
        match StoredRun::in_store(store.clone(), &name) {
            Err(RunReadError::Store(error)) => return Err(error.into()),
            other => runs.push(other),
        }
    }
    Ok(runs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn store(root: &Path, name: &str, began: &str) -> PathBuf {
        let folder = root.join(name);
        std::fs::create_dir_all(&folder).expect("made");
        let mut run = Manifest::new(RunKind::Eval, name, json!({}));
        run.began = began.into();
        run.write(&folder).expect("written");
        folder
    }

    #[test]
    fn runs_are_listed_by_time_and_nothing_else_is() {
        let root = tempfile::tempdir().expect("a folder");
        store(root.path(), "new", "2026-02");
        store(root.path(), "old", "2026-01");
        std::fs::create_dir(root.path().join("notes")).expect("made");
        let torn = root.path().join("torn");
        std::fs::create_dir(&torn).expect("made");
        std::fs::write(torn.join("run.json"), "{\"format\": \"juror.run/1\", \"id").expect("torn");
        let runs = stored_runs(root.path()).expect("runs");
        let names: Vec<Option<&str>> = runs
            .iter()
            .map(|run| run.as_ref().ok().map(|run| run.manifest.name.as_str()))
            .collect();
        assert_eq!(names, [None, Some("old"), Some("new")]);
        assert_eq!(stored_runs(&root.path().join("old")).expect("itself").len(), 1);
        assert!(stored_runs(Path::new("/nowhere")).is_err());
    }

    #[test]
    fn a_folder_that_is_no_run_is_told_why() {
        let root = tempfile::tempdir().expect("a folder");
        let told = || StoredRun::open(root.path()).expect_err("no run").to_string();
        assert!(told().contains("there is no run here\n  hint: a run is a folder with run.json"));
        let write = |text: &str| std::fs::write(root.path().join("run.json"), text);
        write(r#"{"format": "juror.run/2", "is": "other"}"#).expect("written");
        assert!(told().contains("the format `juror.run/2` is not known\n  hint: this release"));
        write(r#"{"format": "juror.run/1", "na"#).expect("written");
        assert!(told().contains("not a manifest of a run: EOF"), "{}", told());
        let file = root.path().join("run.json");
        assert!(matches!(StoredRun::open(&file), Err(RunReadError::NoRun { .. })));
    }

    #[test]
    fn what_a_run_lacks_is_told_with_what_to_do() {
        let root = tempfile::tempdir().expect("a folder");
        let folder = store(root.path(), "a", "2026-01");
        let needed = || {
            let run = StoredRun::open(&folder).expect("a run");
            run.needed(RunFile::Results).map_err(|error| error.to_string())
        };
        assert!(needed().expect_err("unfinished").contains("this run is not finished"));
        let mut run = StoredRun::open(&folder).expect("a run").manifest;
        run.complete(&folder, 0).expect("written");
        let told = needed().expect_err("old");
        assert!(told.contains("an earlier release stored this run, without results.jsonl"));
        assert!(told.contains("hint: evaluate the same files again"), "{told}");
        let lacks = || StoredRun::open(&folder).expect("a run").lacks();
        let of_identity = ["hashes of questions", "rules"];
        assert_eq!(lacks(), [&["results.jsonl", "aggregates.json"], &of_identity[..]].concat());
        std::fs::write(folder.join("results.jsonl"), "").expect("written");
        assert_eq!(needed().expect("there"), folder.join("results.jsonl"));
    }
}
