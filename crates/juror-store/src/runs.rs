//! What a store of runs does, wherever it keeps them.

use std::path::Path;

use crate::database::StoreError;
use crate::store::Pending;

/// A store of runs. A run has a name and files: some are written as a whole, others grow line by line.
/// What they mean is none of the store's business. Except for [`HeldRun::append`], functions may
/// block.
pub trait RunStore: Send + Sync {
    /// The place of the store as people may see it, without passwords.
    fn place(&self) -> String;

    /// The place of one run as people may see it and name it.
    fn place_of(&self, run: &str) -> String;

    /// Returns a message for the user, once, if something happened to the store.
    fn news(&self) -> Option<String> {
        None
    }

    /// Returns the names of all runs that have files, sorted.
    fn runs(&self) -> Result<Vec<String>, StoreError>;

    /// Returns the files of a run with their sizes in bytes, sorted; none if there is no such run.
    fn files(&self, run: &str) -> Result<Vec<(String, u64)>, StoreError>;

    /// Copies a file of a run to a path, as it was at one moment. Returns whether there is one.
    fn fetch(&self, run: &str, file: &str, to: &Path) -> Result<bool, StoreError>;

    /// Returns whether a process holds a run. Takes nothing, so that several may look at once.
    fn is_held(&self, run: &str) -> Result<bool, StoreError>;

    /// Takes a run, so that no other process changes it; `None` if another one has it. The run need
    /// not be there yet. However a process ends, it lets go of its runs.
    fn hold(&self, run: &str) -> Result<Option<Box<dyn HeldRun>>, StoreError>;
}

/// A run that this process alone may change, until this is dropped. What a function has done survives
/// a crash of this process once the function returns; in a database, of the server too.
pub trait HeldRun: Send + Sync {
    /// Appends a line, with its end, to a file of the run.
    fn append<'a>(&'a self, file: &'a str, line: &'a [u8]) -> Pending<'a, Result<(), StoreError>>;

    /// Replaces and removes files of the run.
    fn change(&self, change: &RunChange<'_>) -> Result<(), StoreError>;

    /// Removes the run with all its files.
    fn remove(&self) -> Result<(), StoreError>;
}

/// What becomes of some files of a run. In a database all of it happens at once; in a folder, one
/// file after the other in the order given, each as a whole.
#[derive(Clone, Copy, Debug, Default)]
pub struct RunChange<'c> {
    /// Files that go.
    pub removed: &'c [&'c str],
    /// Files that get the content of a path.
    pub written: &'c [(&'c str, &'c Path)],
}
