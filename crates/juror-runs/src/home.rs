//! Where a run is stored.

use std::path::{Path, PathBuf};

use juror_document::Notice;

use crate::manifest::{Manifest, Resume};
use crate::run_log::{RunLogError, check_run, choose_folder};

/// The folder of all runs, if nobody names another.
pub const DEFAULT_RUNS: &str = ".juror/runs";

/// Where a run is to be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunPlace {
    /// Nowhere.
    Nowhere,
    /// In this folder.
    Named(PathBuf),
    /// In a folder of its own below this one: that of an unfinished run with the same identity, or
    /// a new one.
    Within(PathBuf),
}

/// The folder of a run. A folder created for the run is removed again if it stays empty.
#[derive(Debug)]
pub struct Home {
    folder: Option<PathBuf>,
    is_new: bool,
    notice: Option<Notice>,
}

impl Home {
    /// Chooses the folder of a run, and checks that it may be used. Only opening its log replaces
    /// an earlier run.
    pub fn choose(place: &RunPlace, run: &Manifest, resume: Resume) -> Result<Home, RunLogError> {
        match place {
            RunPlace::Nowhere => Ok(Home::nowhere()),
            RunPlace::Named(folder) => {
                check_run(folder, run, resume)?;
                Ok(Home { folder: Some(folder.clone()), is_new: false, notice: None })
            }
            RunPlace::Within(root) => Ok(Home::within(root, run, resume)),
        }
    }

    /// Stores the run nowhere.
    pub fn nowhere() -> Home {
        Home { folder: None, is_new: false, notice: None }
    }

    fn within(root: &Path, run: &Manifest, resume: Resume) -> Home {
        let chosen = choose_folder(root, run, resume);
        let goes_on = resume.retry_errors || resume.even_if_changed;
        let notice = match &chosen.passed_over {
            Some(passed_over) => Some(passed_over.notice()),
            None => (chosen.is_new && goes_on).then(|| {
                "starting a new run: there is no earlier run of this name to resume".into()
            }),
        };
        Home { folder: Some(chosen.folder), is_new: chosen.is_new, notice }
    }

    /// Returns the folder; `None` if the run is not stored.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
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
            let _ = std::fs::remove_dir(folder);
        }
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
