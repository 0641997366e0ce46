//! The folder of a run, also of one in a database.
//!
//! A run in a database is worked on, and read, in a temporary folder of this process: its desk. What a
//! process adds counts once the database has it, and the desk goes with the process. So results of any
//! size are written and read as those of other runs are.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use juror_postgres::{Address, SharedRuns, StoreUse, is_database, shown_place};
use juror_store::{HeldRun, RunChange, RunStore, StoreError};

use crate::folders::RunFolders;
use crate::run_file::RunFile;

/// Opens the store of runs at a place: a folder of runs, or the address of a database. `None` if
/// there is none and it is not to be made.
pub fn open_run_store(
    place: &Path,
    use_of: StoreUse,
) -> Result<Option<Arc<dyn RunStore>>, StoreError> {
    let Some(address) = address_of(place)? else {
        return Ok(Some(Arc::new(RunFolders::new(place))));
    };
    let store = match use_of {
        StoreUse::Keep => Some(SharedRuns::open(&address)?),
        StoreUse::Existing | StoreUse::Read => SharedRuns::open_existing(&address)?,
    };
    Ok(store.map(|store| Arc::new(store) as Arc<dyn RunStore>))
}

/// Returns whether a place of runs is in a database.
pub fn is_shared(place: &Path) -> bool {
    place.to_str().is_some_and(is_database)
}

/// Returns a place of runs as people may see it, without a password.
pub fn shown(place: &Path) -> PathBuf {
    place.to_str().map_or_else(|| place.to_owned(), |place| shown_place(place).into())
}

/// Returns the address that a place is meant as; `None` for a folder.
pub(crate) fn address_of(place: &Path) -> Result<Option<Address>, StoreError> {
    match place.to_str().filter(|place| is_database(place)) {
        Some(text) => Address::read(text).map(Some),
        None => Ok(None),
    }
}

/// The folder of a run; of a run in a database, the desk of this process.
#[derive(Clone, Debug)]
pub struct RunFolder {
    path: PathBuf,
    shared: Option<Arc<SharedRun>>,
}

impl From<&Path> for RunFolder {
    fn from(path: &Path) -> RunFolder {
        RunFolder { path: path.to_owned(), shared: None }
    }
}

impl RunFolder {
    /// Returns the folder of the run at a place: its folder, or an address that names it. The desk of
    /// a run in a database gets its manifest and its journals.
    pub fn at(place: &Path) -> Result<RunFolder, StoreError> {
        let Some(address) = address_of(place)? else { return Ok(place.into()) };
        let Some(name) = address.run().map(ToOwned::to_owned) else {
            return Err(names_no_run(&address));
        };
        let folder = RunFolder::shared(Arc::new(SharedRuns::open(&address)?), &name)?;
        if let Some(shared) = &folder.shared {
            shared.refresh()?;
        }
        Ok(folder)
    }

    /// Returns the desk for a run in a store.
    pub(crate) fn shared(store: Arc<dyn RunStore>, name: &str) -> Result<RunFolder, StoreError> {
        let shared = SharedRun::new(store, name)?;
        Ok(RunFolder { path: shared.folder(), shared: Some(Arc::new(shared)) })
    }

    /// Returns a temporary folder for files of a run.
    pub(crate) fn desk() -> Result<tempfile::TempDir, StoreError> {
        let cannot = |error: io::Error| StoreError::opening(&std::env::temp_dir(), &error);
        tempfile::Builder::new().prefix("juror-run").tempdir().map_err(cannot)
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the place of the run as people name it.
    pub fn shown(&self) -> PathBuf {
        match &self.shared {
            Some(shared) => shared.store.place_of(&shared.name).into(),
            None => self.path.clone(),
        }
    }

    pub(crate) fn database(&self) -> Option<&Arc<SharedRun>> {
        self.shared.as_ref()
    }

    /// Returns a path of the desk as people know it.
    pub(crate) fn shown_path(&self, path: PathBuf) -> PathBuf {
        match path.strip_prefix(&self.path) {
            Ok(rest) if self.shared.is_some() && rest.as_os_str().is_empty() => self.shown(),
            Ok(rest) if self.shared.is_some() => {
                format!("{}: {}", self.shown().display(), rest.display()).into()
            }
            _ => path,
        }
    }
}

/// The error of an address of all runs where one is meant.
pub(crate) fn names_no_run(address: &Address) -> StoreError {
    StoreError::Address {
        problem: format!("{address}: this names no run"),
        hint: Some("add the name of one: &run=NAME"),
    }
}

/// A run in a database, with the desk of this process.
pub(crate) struct SharedRun {
    store: Arc<dyn RunStore>,
    name: String,
    desk: tempfile::TempDir,
    held: OnceLock<Box<dyn HeldRun>>,
    /// The files that the desk has of the database.
    fetched: Mutex<Vec<RunFile>>,
}

impl SharedRun {
    fn new(store: Arc<dyn RunStore>, name: &str) -> Result<SharedRun, StoreError> {
        let desk = RunFolder::desk()?;
        let path = desk.path().join(name);
        let cannot = |error: io::Error| StoreError::opening(&path, &error);
        std::fs::create_dir(&path).map_err(cannot)?;
        Ok(SharedRun {
            store,
            name: name.to_owned(),
            desk,
            held: OnceLock::new(),
            fetched: Mutex::default(),
        })
    }

    fn folder(&self) -> PathBuf {
        self.desk.path().join(&self.name)
    }

    pub(crate) fn store(&self) -> &dyn RunStore {
        &*self.store
    }

    /// Returns whether a process works on the run. A database that is gone does not say.
    pub(crate) fn is_held(&self) -> bool {
        self.store.is_held(&self.name).unwrap_or_default()
    }

    /// Returns the files of the run with their sizes, in the order of [`RunFile::ALL`].
    pub(crate) fn sizes(&self) -> Result<Vec<(RunFile, u64)>, StoreError> {
        let known = self.store.files(&self.name)?;
        let size = |file: RunFile| {
            let (_, size) = known.iter().find(|(name, _)| name == file.name())?;
            Some((file, *size))
        };
        Ok(RunFile::ALL.into_iter().filter_map(size).collect())
    }

    /// Brings a file to the desk, unless it is there; returns its path if there is such a file.
    pub(crate) fn fetch(&self, file: RunFile) -> Result<Option<PathBuf>, StoreError> {
        let path = file.path_in(&self.folder());
        if !locked(&self.fetched).contains(&file) {
            if !self.store.fetch(&self.name, file.name(), &path)? {
                return Ok(None);
            }
            locked(&self.fetched).push(file);
        }
        Ok(Some(path))
    }

    /// Brings manifest and journals to the desk as they are now, and nothing else.
    pub(crate) fn refresh(&self) -> Result<(), StoreError> {
        locked(&self.fetched).clear();
        for file in RunFile::ALL {
            // What the database does not have must not be on the desk either.
            let _ = std::fs::remove_file(file.path_in(&self.folder()));
        }
        [RunFile::Manifest, RunFile::Records, RunFile::Attempts]
            .into_iter()
            .try_for_each(|file| self.fetch(file).map(drop))
    }

    /// Takes the run for this process; returns whether that was possible.
    pub(crate) fn hold(&self) -> Result<bool, StoreError> {
        if self.held.get().is_none()
            && let Some(held) = self.store.hold(&self.name)?
        {
            // Whoever else took it meanwhile is this process.
            let _ = self.held.set(held);
        }
        Ok(self.held.get().is_some())
    }

    /// Appends a line to a file in the database.
    pub(crate) async fn append(&self, file: &str, line: &[u8]) -> Result<(), StoreError> {
        self.held()?.append(file, line).await
    }

    /// Stores those of some files that the desk has, and removes others, at once.
    pub(crate) fn publish(
        &self,
        written: &[RunFile],
        removed: &[RunFile],
    ) -> Result<(), StoreError> {
        let folder = self.folder();
        let path = |file: &RunFile| (file.name(), file.path_in(&folder));
        let paths: Vec<_> = written.iter().map(path).filter(|(_, path)| path.is_file()).collect();
        let written: Vec<(&str, &Path)> =
            paths.iter().map(|(name, path)| (*name, path.as_path())).collect();
        let removed: Vec<&str> = removed.iter().map(|file| file.name()).collect();
        self.held()?.change(&RunChange { removed: &removed, written: &written })
    }

    /// Removes the run.
    pub(crate) fn remove(&self) -> Result<(), StoreError> {
        self.held()?.remove()
    }

    fn held(&self) -> Result<&dyn HeldRun, StoreError> {
        let not_held = || StoreError::Server {
            place: self.store.place_of(&self.name),
            problem: "this process does not work on the run".into(),
            hint: None,
        };
        self.held.get().map(AsRef::as_ref).ok_or_else(not_held)
    }
}

impl fmt::Debug for SharedRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SharedRun({})", self.store.place_of(&self.name))
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
