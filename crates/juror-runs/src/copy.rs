//! Copies runs from one store to another, such as from folders to a database and back.

use juror_store::{RunChange, RunStore, StoreError};

use crate::manifest::Manifest;
use crate::run_file::RunFile;
use crate::run_folder::RunFolder;

/// What became of a run that was to be copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copied {
    /// It is there now.
    New,
    /// It is there now in place of what was there of it before it was complete.
    Completed,
    /// It was there already.
    Known,
    /// Another run of its name is there, and stays.
    OtherRun,
    /// A process is working on it, here or there.
    InUse,
    /// It has no manifest that this release can read.
    Unreadable,
}

/// The order in which files are copied: a run without a manifest is none, so that a copy that is cut
/// off does not pass for a whole one.
const ORDER: [RunFile; 6] = [
    RunFile::Records,
    RunFile::Attempts,
    RunFile::Results,
    RunFile::Aggregates,
    RunFile::Statistics,
    RunFile::Manifest,
];

/// Copies a run with all its files. What is there of another run, or complete, stays.
pub fn copy_run(from: &dyn RunStore, to: &dyn RunStore, name: &str) -> Result<Copied, StoreError> {
    let Some(manifest) = manifest_of(from, name)? else { return Ok(Copied::Unreadable) };
    let there = manifest_of(to, name)?;
    let copied = match &there {
        None => Copied::New,
        Some(there) if there.id != manifest.id => return Ok(Copied::OtherRun),
        Some(there) if there.is_complete || !manifest.is_complete => return Ok(Copied::Known),
        Some(_) => Copied::Completed,
    };
    if from.is_held(name)? {
        return Ok(Copied::InUse);
    }
    let Some(target) = to.hold(name)? else { return Ok(Copied::InUse) };
    let desk = RunFolder::desk()?;
    let mut written = Vec::new();
    for file in ORDER {
        let path = file.path_in(desk.path());
        if from.fetch(name, file.name(), &path)? {
            written.push((file.name(), path));
        }
    }
    let written: Vec<_> = written.iter().map(|(file, path)| (*file, path.as_path())).collect();
    let is_written = |file: &str| written.iter().any(|(own, _)| *own == file);
    let there = to.files(name)?;
    let removed: Vec<&str> =
        there.iter().map(|(file, _)| file.as_str()).filter(|file| !is_written(file)).collect();
    target.change(&RunChange { removed: &removed, written: &written })?;
    Ok(copied)
}

/// Reads the manifest of a run; `None` if it has none of this release.
pub(crate) fn manifest_of(
    store: &dyn RunStore,
    name: &str,
) -> Result<Option<Manifest>, StoreError> {
    let desk = RunFolder::desk()?;
    let path = RunFile::Manifest.path_in(desk.path());
    let is_there = store.fetch(name, RunFile::Manifest.name(), &path)?;
    let read = || Manifest::read(desk.path()).ok()??.ok();
    Ok(is_there.then(read).flatten())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RunFolders;
    use crate::manifest::RunKind;
    use serde_json::json;
    use std::path::Path;

    fn store(root: &Path, name: &str, is_complete: bool) -> Manifest {
        let folder = root.join(name);
        std::fs::create_dir_all(&folder).expect("made");
        let mut run = Manifest::new(RunKind::Eval, name, json!({"of": name}));
        run.is_complete = is_complete;
        run.write(&folder).expect("written");
        std::fs::write(folder.join("records.jsonl"), "{}\n").expect("written");
        run
    }

    #[test]
    fn a_run_is_copied_once_and_again_when_it_is_complete() {
        let root = tempfile::tempdir().expect("a folder");
        let [one, two] = ["one", "two"].map(|name| root.path().join(name));
        let (from, to) = (RunFolders::new(&one), RunFolders::new(&two));
        let mut run = store(&one, "a", false);
        let copy = || copy_run(&from, &to, "a").expect("copied");
        assert_eq!((copy(), copy()), (Copied::New, Copied::Known));
        let records = std::fs::read_to_string(two.join("a/records.jsonl")).expect("copied");
        assert_eq!(records, "{}\n");
        assert!(!two.join("a/attempts.jsonl").exists());
        std::fs::write(one.join("a/results.jsonl"), "{}\n").expect("written");
        run.complete(&one.join("a"), 1).expect("written");
        assert_eq!((copy(), copy()), (Copied::Completed, Copied::Known));
        assert!(two.join("a/results.jsonl").exists());
    }

    #[test]
    fn another_run_of_the_name_stays_and_what_is_no_run_is_not_copied() {
        let root = tempfile::tempdir().expect("a folder");
        let [one, two] = ["one", "two"].map(|name| root.path().join(name));
        store(&one, "a", true);
        let there = store(&two, "a", true);
        let (from, to) = (RunFolders::new(&one), RunFolders::new(&two));
        let copy = |name: &str| copy_run(&from, &to, name).expect("asked");
        assert_eq!(copy("a"), Copied::OtherRun);
        assert_eq!(manifest_of(&to, "a").expect("read").map(|run| run.id), Some(there.id));
        assert_eq!(copy("nothing"), Copied::Unreadable);
    }

    #[test]
    fn a_run_that_somebody_works_on_is_not_copied() {
        let root = tempfile::tempdir().expect("a folder");
        let [one, two] = ["one", "two"].map(|name| root.path().join(name));
        store(&one, "a", false);
        let (from, to) = (RunFolders::new(&one), RunFolders::new(&two));
        let held = from.hold("a").expect("reached").expect("free");
        assert_eq!(copy_run(&from, &to, "a").expect("asked"), Copied::InUse);
        drop(held);
        assert_eq!(copy_run(&from, &to, "a").expect("asked"), Copied::New);
    }
}
