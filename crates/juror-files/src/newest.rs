//! Folders that keep so many files of a kind.

use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::{fs, io};

/// Removes all files of a folder whose names `is_ours` selects but the `most` that were written last.
pub fn keep_newest(folder: &Path, most: usize, is_ours: impl Fn(&str) -> bool) -> io::Result<()> {
    let mut files: Vec<(SystemTime, PathBuf)> = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if !entry.file_name().to_str().is_some_and(&is_ours) {
            continue;
        }
        if let Some(written) = unless_gone(entry.metadata())? {
            files.push((written.modified()?, entry.path()));
        }
    }
    files.sort();
    for (_, path) in files.iter().rev().skip(most) {
        unless_gone(fs::remove_file(path))?;
    }
    Ok(())
}

/// Another process may remove the same files.
fn unless_gone<T>(done: io::Result<T>) -> io::Result<Option<T>> {
    match done {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        done => done.map(Some),
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::time::Duration;

    use super::*;

    #[test]
    fn files_written_last_stay_and_those_of_others_do_too() {
        let folder = tempfile::tempdir().expect("a folder");
        let version = |digit: u64| format!("{digit:064x}.jsonl");
        for digit in 0..5 {
            let file = File::create(folder.path().join(version(digit))).expect("a file");
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(100 - digit);
            file.set_modified(time).expect("a time");
        }
        std::fs::write(folder.path().join("notes.jsonl"), "mine").expect("written");
        keep_newest(folder.path(), 2, |name| name.len() > 20).expect("forgotten");
        let entries = std::fs::read_dir(folder.path()).expect("a folder").flatten();
        let mut left: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        left.sort();
        assert_eq!(left, [version(0), version(1), "notes.jsonl".to_owned()]);
    }
}
