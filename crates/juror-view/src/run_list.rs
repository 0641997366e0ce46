//! The runs of a folder, read again only when their files have changed.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use juror_document::{map_in_shares, n_cores};
use juror_runs::{RunFile, RunReadError, is_locked, short_hash};

use crate::run_summary::{FILES, RunSummary};
use crate::stamp::Stamp;

/// What is known of a run, or why it cannot be read.
type Known = Result<Arc<RunSummary>, Arc<str>>;

/// The same of a folder; `None` if it holds no run.
type Read = Option<Known>;

/// A run that was found.
#[derive(Clone, Debug)]
pub(crate) struct ListedRun {
    /// The name of its folder, which no other run of the list has.
    pub(crate) id: String,
    pub(crate) folder: PathBuf,
    /// What is known of it, or why it cannot be read.
    pub(crate) known: Known,
}

/// The runs of a folder.
pub(crate) struct RunList {
    root: PathBuf,
    cached: Mutex<HashMap<PathBuf, (Stamp, Read)>>,
}

impl RunList {
    pub(crate) fn new(root: PathBuf) -> RunList {
        RunList { root, cached: Mutex::default() }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns all runs, the newest first; those that cannot be read come last.
    pub(crate) fn read(&self) -> io::Result<Vec<ListedRun>> {
        let folders = folders(&self.root)?;
        let mut cached = self.cached.lock().unwrap_or_else(PoisonError::into_inner);
        cached.retain(|folder, _| folders.iter().any(|(_, own)| own == folder));
        let stamped: Vec<(String, PathBuf, Stamp)> = folders
            .into_iter()
            .map(|(id, folder)| {
                let stamp = Stamp::of(&folder, &FILES);
                (id, folder, stamp)
            })
            .collect();
        let is_new = |(_, folder, stamp): &&(String, PathBuf, Stamp)| {
            cached.get(folder).is_none_or(|(known, _)| known != stamp)
        };
        let new: Vec<_> = stamped.iter().filter(is_new).collect();
        for (folder, stamp, read) in read_all(&new) {
            cached.insert(folder, (stamp, read));
        }
        let known = |(id, folder, _): (String, PathBuf, Stamp)| {
            let known = cached.get(&folder)?.1.clone()?;
            Some(ListedRun { id, folder, known })
        };
        let mut runs: Vec<ListedRun> = stamped.into_iter().filter_map(known).collect();
        runs.sort_by(|a, b| newest_first(a).cmp(&newest_first(b)).reverse());
        Ok(runs)
    }

    /// Finds a run by its id.
    pub(crate) fn find(&self, id: &str) -> Option<ListedRun> {
        self.read().ok()?.into_iter().find(|run| run.id == id)
    }
}

/// Reads folders on all cores.
fn read_all(folders: &[&(String, PathBuf, Stamp)]) -> Vec<(PathBuf, Stamp, Read)> {
    map_in_shares(folders, n_cores(), |(_, folder, stamp)| {
        (folder.clone(), stamp.clone(), read_folder(folder))
    })
}

fn read_folder(folder: &Path) -> Read {
    match RunSummary::read(folder) {
        Ok(summary) => Some(Ok(Arc::new(summary))),
        Err(RunReadError::NoRun { .. }) => None,
        Err(error) => Some(Err(error.to_string().into())),
    }
}

fn newest_first(run: &ListedRun) -> Option<(&str, &str)> {
    Some((run.known.as_ref().ok()?.began.as_str(), run.id.as_str()))
}

/// The folders directly below a root, and the root itself, each with its name. Links are left to
/// those who made them: what they lead to is a run elsewhere.
fn folders(root: &Path) -> io::Result<Vec<(String, PathBuf)>> {
    let mut folders: Vec<(String, PathBuf)> = Vec::new();
    for entry in std::fs::read_dir(root)? {
        let entry = entry?;
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            folders.push((entry.file_name().to_string_lossy().into_owned(), entry.path()));
        }
    }
    let own = root.canonicalize().ok();
    let own = own.as_deref().and_then(Path::file_name).unwrap_or_default();
    let mut id = own.to_string_lossy().into_owned();
    while id.is_empty() || folders.iter().any(|(known, _)| *known == id) {
        id.push('~');
    }
    folders.push((id, root.to_owned()));
    folders.sort();
    Ok(folders)
}

impl ListedRun {
    /// How far it came, in a word.
    pub(crate) fn state(&self) -> &'static str {
        match &self.known {
            Err(_) => "unreadable",
            Ok(summary) if summary.is_damaged => "damaged",
            Ok(summary) if summary.is_complete => "complete",
            Ok(_) if self.journal().is_some_and(|journal| is_locked(&journal)) => "running",
            Ok(_) => "unfinished",
        }
    }

    /// The journal, which gets a line for every finished answer.
    pub(crate) fn journal(&self) -> Option<PathBuf> {
        Some(self.known.as_ref().ok()?.kind.log_file().path_in(&self.folder))
    }

    /// What pages of the run are made from.
    pub(crate) fn stamp(&self) -> Stamp {
        Stamp::of(&self.folder, &RunFile::ALL)
    }
}

/// A text that differs if the list has other runs, or one of them has come to its end.
pub(crate) fn fingerprint(runs: &[ListedRun]) -> String {
    let each = runs.iter().map(|run| {
        let of = |own: &Arc<RunSummary>| (own.is_complete, own.is_damaged);
        let state = run.known.as_ref().map_or((false, false), of);
        format!("{:?} {state:?}\n", run.id)
    });
    short_hash(&each.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store(root: &Path, id: &str, began: &str) {
        let folder = root.join(id);
        std::fs::create_dir_all(&folder).expect("made");
        let text = format!(
            r#"{{"format": "juror.run/1", "id": "abcdef12", "name": "n", "kind": "eval",
                "is_complete": true, "began": "{began}", "juror": "0", "identity": {{}}}}"#
        );
        std::fs::write(folder.join("run.json"), text).expect("written");
    }

    fn ids(list: &RunList) -> Vec<String> {
        list.read().expect("runs").into_iter().map(|run| run.id).collect()
    }

    #[test]
    fn the_newest_run_comes_first_and_those_that_cannot_be_read_come_last() {
        let root = tempfile::tempdir().expect("a folder");
        store(root.path(), "old", "2026-01");
        store(root.path(), "new", "2026-02");
        std::fs::create_dir(root.path().join("notes")).expect("made");
        std::fs::create_dir(root.path().join("torn")).expect("made");
        std::fs::write(root.path().join("torn/run.json"), "{\"form").expect("torn");
        let list = RunList::new(root.path().to_owned());
        assert_eq!(ids(&list), ["new", "old", "torn"]);
        store(root.path(), "newer", "2026-03-01");
        store(root.path(), "torn", "2026-01-02");
        assert_eq!(ids(&list), ["newer", "new", "torn", "old"], "changes are noticed");
    }

    #[test]
    fn no_name_leads_out_of_the_folder() {
        let root = tempfile::tempdir().expect("a folder");
        store(root.path(), "runs/own", "2026-01");
        store(root.path(), "secret", "2026-01");
        let list = RunList::new(root.path().join("runs"));
        for id in ["../secret", "secret", "..", ".", "", "own/../../secret", "/"] {
            assert!(list.find(id).is_none(), "{id}");
        }
        assert!(list.find("own").is_some());
    }

    #[test]
    fn the_folder_of_one_run_is_a_list_of_one() {
        let root = tempfile::tempdir().expect("a folder");
        store(root.path(), "one", "2026-01");
        let one = RunList::new(root.path().join("one"));
        assert_eq!(ids(&one), ["one"]);
        store(root.path(), "one/one", "2026-02");
        assert_eq!(ids(&one), ["one", "one~"]);
    }
}
