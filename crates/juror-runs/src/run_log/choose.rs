//! Chooses the folder of a run if the user names none.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use juror_document::{Notice, option, phrase};
use juror_store::{RunStore, StoreError};

use crate::copy::manifest_of;
use crate::manifest::{Manifest, Resume};
use crate::run_folder::RunFolder;

/// The folder chosen for a run.
#[derive(Debug)]
pub(crate) struct Chosen {
    /// An earlier run's folder, or a new one.
    pub folder: RunFolder,
    /// Whether it is new.
    pub is_new: bool,
    /// An earlier run of the same name that the user may have meant, but whose identity differs.
    pub passed_over: Option<PassedOver>,
}

/// A run that is not resumed because its identity differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PassedOver {
    /// Its folder.
    pub folder: PathBuf,
    /// The differences.
    pub differences: Vec<String>,
    /// Whether the run is complete.
    pub is_complete: bool,
}

impl PassedOver {
    /// Says that a new run starts next to this one, and how to resume this one instead.
    pub(crate) fn notice(&self) -> Notice {
        let (folder, changed) = (self.folder.display(), self.differences.join(", "));
        let kind = if self.is_complete { "last" } else { "unfinished" };
        let hint = if self.is_complete {
            phrase![
                option("run"),
                format!(" {folder} "),
                option("retry-errors"),
                " ",
                option("resume-changed"),
                " resumes it"
            ]
        } else {
            phrase![option("resume-changed"), " resumes it anyway"]
        };
        Notice::new(format!("starting a new run: {changed} changed since the {kind} run {folder}"))
            .hint(hint)
    }
}

/// Chooses the folder of a run below a root: that of an unfinished run with the same identity, or else a new
/// one, named after the time, the run and its id. A complete run is chosen only to retry
/// errors.
pub(crate) fn choose_folder(root: &Path, run: &Manifest, resume: Resume) -> Chosen {
    let known = if resume.fresh { Vec::new() } else { known_runs(root, run) };
    let is_idle = |folder: &PathBuf| is_idle(folder, run);
    match choose_among(known, run, resume, is_idle) {
        Ok(folder) => Chosen { folder: folder.as_path().into(), is_new: false, passed_over: None },
        Err(passed_over) => {
            let folder = new_folder(root, run);
            Chosen { folder: folder.as_path().into(), is_new: true, passed_over }
        }
    }
}

/// Chooses the run of a database in the same way.
pub(crate) fn choose_shared(
    store: &Arc<dyn RunStore>,
    run: &Manifest,
    resume: Resume,
) -> Result<Chosen, StoreError> {
    let names = store.runs()?;
    let known = if resume.fresh { Vec::new() } else { known_shared(&**store, run, &names)? };
    let name_of = |shown: &PathBuf| {
        names.iter().find(|name| shown.as_os_str() == store.place_of(name).as_str())
    };
    // If the database is gone by now, opening the log reports why.
    let is_idle = |shown: &PathBuf| {
        name_of(shown).is_some_and(|name| !store.is_held(name).unwrap_or_default())
    };
    let chosen = choose_among(known, run, resume, is_idle);
    let (name, passed_over) = match &chosen {
        Ok(shown) => (name_of(shown).cloned(), None),
        Err(passed_over) => (None, passed_over.clone()),
    };
    let is_new = name.is_none();
    let taken = |name: &String| names.contains(name);
    let new_name = || numbered(run).find(|name| !taken(name)).unwrap_or_default();
    let folder = RunFolder::shared(store.clone(), &name.unwrap_or_else(new_name))?;
    Ok(Chosen { folder, is_new, passed_over })
}

/// Returns the runs of the same kind in a database, newest first.
fn known_shared(
    store: &dyn RunStore,
    run: &Manifest,
    names: &[String],
) -> Result<Vec<(PathBuf, Manifest)>, StoreError> {
    let mut runs = Vec::new();
    for name in names {
        let known = manifest_of(store, name)?;
        runs.extend(
            known
                .filter(|known| known.kind == run.kind)
                .map(|known| (store.place_of(name).into(), known)),
        );
    }
    sort(&mut runs);
    Ok(runs)
}

/// Returns an earlier run to go on with, or else one that the user may have meant.
fn choose_among(
    known: Vec<(PathBuf, Manifest)>,
    run: &Manifest,
    resume: Resume,
    is_idle: impl Fn(&PathBuf) -> bool,
) -> Result<PathBuf, Option<PassedOver>> {
    let mut passed_over = None;
    for (folder, known) in known {
        let differences = known.differences(run);
        let is_same = differences.is_empty();
        let is_wanted = if known.is_complete {
            is_same && resume.retry_errors
        } else {
            is_same || (resume.even_if_changed && known.name == run.name)
        };
        if is_wanted && is_idle(&folder) {
            return Ok(folder);
        }
        let is_complete = known.is_complete;
        let may_be_meant = !is_complete || resume.retry_errors;
        if !is_same && may_be_meant && known.name == run.name {
            passed_over.get_or_insert(PassedOver { folder, differences, is_complete });
        }
    }
    Err(passed_over)
}

/// Returns the runs of the same kind in a folder, newest first.
fn known_runs(root: &Path, run: &Manifest) -> Vec<(PathBuf, Manifest)> {
    let entries = std::fs::read_dir(root).into_iter().flatten().flatten();
    let known = |entry: std::fs::DirEntry| {
        let folder = entry.path();
        let known = Manifest::read(&folder).ok()??.ok()?;
        (known.kind == run.kind).then_some((folder, known))
    };
    let mut runs: Vec<(PathBuf, Manifest)> = entries.filter_map(known).collect();
    sort(&mut runs);
    runs
}

fn sort(runs: &mut [(PathBuf, Manifest)]) {
    runs.sort_by(|(_, one), (_, other)| other.began.cmp(&one.began));
}

/// Returns whether no other process is working on a run.
fn is_idle(folder: &Path, run: &Manifest) -> bool {
    File::open(run.kind.log_file().path_in(folder)).is_ok_and(|file| file.try_lock().is_ok())
}

/// Creates a folder. Processes that start at the same time get one each.
fn new_folder(root: &Path, run: &Manifest) -> PathBuf {
    let is_there = |made: &io::Result<()>| {
        made.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::AlreadyExists)
    };
    // If this fails, opening the log reports why.
    let _ = std::fs::create_dir_all(root);
    let mut folders = numbered(run).map(|name| root.join(name));
    let made = folders.find(|folder| !is_there(&std::fs::create_dir(folder)));
    made.unwrap_or_else(|| root.join(&run.id))
}

/// Returns names for a new run, to be tried one after the other.
fn numbered(run: &Manifest) -> impl Iterator<Item = String> + use<> {
    // `2026-11-16T23:42:05.5Z` to `2026-11-16_23-42-05`.
    let time = run.began.split('.').next().unwrap_or_default().replace(':', "-").replace('T', "_");
    let name = format!("{time}_{}_{}", plain(&run.name), run.id);
    (1..).map(move |n: u32| if n == 1 { name.clone() } else { format!("{name}_{n}") })
}

/// Turns a name into one that can be part of a file name.
pub fn plain(name: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || "-_.@".contains(c) { c } else { '_' };
    name.chars().map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::RunKind;
    use crate::run_log::RunLog;
    use crate::run_log::tests::Item;
    use serde_json::json;

    fn open(folder: &Path, run: Manifest) -> RunLog<Item> {
        RunLog::open(folder, run, Resume::default(), Some).expect("a log")
    }

    #[test]
    fn only_an_unfinished_run_of_the_same_identity_is_resumed() {
        let root = tempfile::tempdir().expect("a folder");
        let run = |name: &str| Manifest::new(RunKind::Bench, name, json!({"agent": name}));
        let choose = |run: &Manifest, resume| choose_folder(root.path(), run, resume);
        let first = choose(&run("a"), Resume::default()).folder.path().to_owned();
        let log = open(&first, run("a"));
        let beside = choose(&run("a"), Resume::default()).folder.path().to_owned();
        assert_ne!(beside, first, "somebody works on it");
        drop(log);
        assert_eq!(choose(&run("a"), Resume::default()).folder.path(), first);
        let fresh = Resume { fresh: true, ..Resume::default() };
        assert_ne!(choose(&run("a"), fresh).folder.path(), first);
        let mut other = run("a");
        other.identity = json!({"agent": "other"});
        let chosen = choose(&other, Resume::default());
        assert_ne!(chosen.folder.path(), first);
        let passed_over = |is_complete| {
            let differences = vec!["agent".to_owned()];
            Some(PassedOver { folder: first.clone(), differences, is_complete })
        };
        assert_eq!(chosen.passed_over, passed_over(false));
        let changed = Resume { even_if_changed: true, ..Resume::default() };
        assert_eq!(choose(&other, changed).folder.path(), first);
        let log = open(&first, run("a"));
        log.complete(0, None).expect("written");
        drop(log);
        assert_ne!(choose(&run("a"), Resume::default()).folder.path(), first, "it is complete");
        let retry = Resume { retry_errors: true, ..Resume::default() };
        assert_eq!(choose(&run("a"), retry).folder.path(), first);
        assert_eq!(choose(&other, Resume::default()).passed_over, None);
        assert_eq!(choose(&other, retry).passed_over, passed_over(true));
    }

    #[test]
    fn runs_that_start_together_have_folders_of_their_own() {
        let root = tempfile::tempdir().expect("a folder");
        let run = Manifest::new(RunKind::Bench, "a", json!({}));
        let choose = || choose_folder(root.path(), &run, Resume::default());
        let (one, other) = (choose(), choose());
        assert_ne!(one.folder.path(), other.folder.path());
        assert!(one.is_new && one.folder.path().is_dir() && other.folder.path().is_dir());
    }

    #[test]
    fn names_do_no_harm() {
        assert_eq!(plain("../my agent"), ".._my_agent");
    }

    #[test]
    fn a_folder_is_called_by_time_name_and_id() {
        let root = tempfile::tempdir().expect("a folder");
        let mut run = Manifest::new(RunKind::Bench, "my/agent", json!({}));
        run.began = "2026-11-16T23:42:05.123456Z".into();
        let folder = choose_folder(root.path(), &run, Resume::default()).folder.path().to_owned();
        let wanted = format!("2026-11-16_23-42-05_my_agent_{}", run.id);
        assert_eq!(folder, root.path().join(wanted));
    }
}
