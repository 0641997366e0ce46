//! Where a run is stored.

use std::path::{Path, PathBuf};

use juror_document::Notice;
use juror_postgres::StoreUse;
use juror_store::StoreError;

use crate::manifest::{Manifest, Resume};
use crate::run_folder::{RunFolder, address_of, open_run_store};
use crate::run_log::{Chosen, RunLogError, check_run, choose_folder, choose_shared};

/// The folder of all runs, if nobody names another.
pub const DEFAULT_RUNS: &str = ".juror/runs";

/// Where a run is to be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunPlace {
    /// Nowhere.
    Nowhere,
    /// In this folder, or at the address of a run in a database.
    Named(PathBuf),
    /// In a folder of its own below this one, or under a name of its own in the database of this
    /// address: that of an unfinished run with the same identity, or a new one.
    Within(PathBuf),
}

/// The folder of a run. A folder created for the run is removed again if it stays empty.
#[derive(Debug)]
pub struct Home {
    folder: Option<RunFolder>,
    is_new: bool,
    notice: Option<Notice>,
}

impl Home {
    /// Chooses the folder of a run, and checks that it may be used. Only opening its log replaces
    /// an earlier run.
    pub fn choose(place: &RunPlace, run: &Manifest, resume: Resume) -> Result<Home, RunLogError> {
        match place {
            RunPlace::Nowhere => Ok(Home::nowhere()),
            RunPlace::Named(place) => {
                let folder = RunFolder::at(place).map_err(RunLogError::Store)?;
                let checked = check_run(folder.path(), run, resume);
                checked.map_err(|error| error.shown_in(&folder))?;
                Ok(Home { folder: Some(folder), is_new: false, notice: None })
            }
            RunPlace::Within(root) => Home::within(root, run, resume),
        }
    }

    /// Stores the run nowhere.
    pub fn nowhere() -> Home {
        Home { folder: None, is_new: false, notice: None }
    }

    fn within(root: &Path, run: &Manifest, resume: Resume) -> Result<Home, RunLogError> {
        let chosen = choose(root, run, resume)?;
        let goes_on = resume.retry_errors || resume.even_if_changed;
        let notice = match &chosen.passed_over {
            Some(passed_over) => Some(passed_over.notice()),
            None => (chosen.is_new && goes_on).then(|| {
                "starting a new run: there is no earlier run of this name to resume".into()
            }),
        };
        Ok(Home { folder: Some(chosen.folder), is_new: chosen.is_new, notice })
    }

    /// Returns the folder in which files of the run are written; `None` if the run is not stored.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_ref().map(RunFolder::path)
    }

    /// Returns the same, with the run in a database that it may stand for.
    pub fn run_folder(&self) -> Option<&RunFolder> {
        self.folder.as_ref()
    }

    /// Returns what the user should know about the choice, such as an unfinished run that was started
    /// with different inputs or settings.
    pub fn notice(&self) -> Option<&Notice> {
        self.notice.as_ref()
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        if let Some(folder) = self.folder.as_ref().filter(|_| self.is_new) {
            // This fails, as it should, if the folder is not empty.
            let _ = std::fs::remove_dir(folder.path());
        }
    }
}

/// Chooses where to store a run below a root.
fn choose(root: &Path, run: &Manifest, resume: Resume) -> Result<Chosen, RunLogError> {
    let Some(address) = address_of(root).map_err(RunLogError::Store)? else {
        return Ok(choose_folder(root, run, resume));
    };
    if address.run().is_some() {
        let problem = format!("{address}: this names one run, and a place for runs is meant");
        let hint = Some("leave `run` out of the address");
        return Err(RunLogError::Store(StoreError::Address { problem, hint }));
    }
    let store = open_run_store(root, StoreUse::Keep).map_err(RunLogError::Store)?;
    match store {
        Some(store) => choose_shared(&store, run, resume).map_err(RunLogError::Store),
        None => Ok(choose_folder(root, run, resume)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::RunKind;
    use serde_json::json;

    #[test]
    fn a_new_folder_that_stays_empty_is_removed() {
        let root = tempfile::tempdir().expect("a folder");
        let run = Manifest::new(RunKind::Eval, "a", json!({}));
        let place = RunPlace::Within(root.path().to_owned());
        let choose = || Home::choose(&place, &run, Resume::default()).expect("a home");
        let home = choose();
        let folder = home.folder().expect("a folder").to_owned();
        assert!(folder.is_dir() && home.notice().is_none());
        drop(home);
        assert!(!folder.exists());
        let home = choose();
        let folder = home.folder().expect("a folder").to_owned();
        std::fs::write(folder.join("run.json"), "{}").expect("written");
        drop(home);
        assert!(folder.is_dir());
    }
}
