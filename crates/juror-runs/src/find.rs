//! Finds a run by what people call it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::read_error::RunReadError;
use crate::run_folder::{is_shared, shown};
use crate::stored::{StoredRun, stored_runs};

/// The fewest characters of an id by which a run is found.
const FEWEST: usize = 4;

/// Why a run is not found.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FindError {
    /// It cannot be read.
    #[error(transparent)]
    Unreadable(#[from] RunReadError),
    /// There is none of this name.
    #[error("`{name}`: there is no such run\n  hint: name its folder, or one of those that `juror runs` lists in {}", root.display())]
    Nowhere {
        /// What was looked for.
        name: String,
        /// The folder of runs that was looked in.
        root: PathBuf,
    },
    /// Several runs are called so.
    #[error(
        "`{name}`: several runs are called so\n  hint: name one by its folder: {}",
        list(folders)
    )]
    Several {
        /// What was looked for.
        name: String,
        /// The folders of the runs.
        folders: Vec<PathBuf>,
    },
}

fn list(folders: &[PathBuf]) -> String {
    folders.iter().map(|folder| folder.display().to_string()).collect::<Vec<_>>().join(", ")
}

/// Finds a run: in the folder of this path, or else among the runs below a root, by the name of its
/// folder, its own name, or the first characters of its id. Both may be in a database.
pub fn find_run(name: &str, root: &Path) -> Result<StoredRun, FindError> {
    let path = Path::new(name);
    if is_shared(path) || path.exists() {
        return Ok(StoredRun::at(name)?);
    }
    let runs = match stored_runs(root) {
        Err(error @ RunReadError::Store(_)) => return Err(error.into()),
        other => other.unwrap_or_default(),
    };
    let runs: Vec<StoredRun> = runs.into_iter().flatten().collect();
    let is_folder = |run: &&StoredRun| run.folder.file_name() == Some(OsStr::new(name));
    if let Some(run) = runs.iter().find(is_folder) {
        return Ok(run.clone());
    }
    let is_called = |run: &StoredRun| {
        run.manifest.name == name || (name.len() >= FEWEST && run.manifest.id.starts_with(name))
    };
    let mut called: Vec<StoredRun> = runs.into_iter().filter(is_called).collect();
    match called.len() {
        0 => Err(FindError::Nowhere { name: name.to_owned(), root: shown(root) }),
        1 => Ok(called.remove(0)),
        _ => {
            let folders = called.into_iter().map(|run| run.place().into()).collect();
            Err(FindError::Several { name: name.to_owned(), folders })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::{Manifest, RunKind};
    use serde_json::json;

    #[test]
    fn a_run_is_found_by_folder_name_and_id() {
        let root = tempfile::tempdir().expect("a folder");
        for (folder, name) in [("one", "main"), ("two", "branch"), ("three", "branch")] {
            let folder = root.path().join(folder);
            std::fs::create_dir(&folder).expect("made");
            let run = Manifest::new(RunKind::Eval, name, json!({"of": name}));
            run.write(&folder).expect("written");
        }
        let find = |name: &str| find_run(name, root.path());
        let path = root.path().join("one");
        let main = find(&path.display().to_string()).expect("by its path");
        for name in ["one", "main", &main.manifest.id, &main.manifest.id[..4]] {
            assert_eq!(find(name).expect("found").folder, path, "{name}");
        }
        assert_eq!(find("two").expect("by its folder").folder, root.path().join("two"));
        let several = find("branch").expect_err("two are called so").to_string();
        assert!(several.contains("several runs are called so") && several.contains("three"));
        let none = find(&main.manifest.id[..3]).expect_err("too short").to_string();
        assert!(none.contains("there is no such run"), "{none}");
    }
}
