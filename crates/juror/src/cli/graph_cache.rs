//! Answers of graphs, kept in a folder: a file for each version of a graph.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use juror_files::{WholeFile, read_plain_text, reason};
use juror_graph::GraphVersion;
use juror_reference::KnownAnswers;

use crate::output;

/// Where answers are kept.
pub(super) const FOLDER: &str = ".juror/graph";

/// How many versions of graphs are kept; those written last stay.
const MOST_VERSIONS: usize = 16;

/// Reads what is known of a version of a graph; `None` if that is nothing.
pub(super) fn read(version: GraphVersion, quiet: bool) -> Option<KnownAnswers> {
    let path = path_of(&version.to_hex());
    let text = match read_plain_text(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        text => text.map_err(|error| reason(&error)),
    };
    let known = text.and_then(|text| {
        KnownAnswers::read(&text, version).map_err(|not_known| not_known.to_string())
    });
    if let (Err(why), false) = (&known, quiet) {
        output::warn(&format!(
            "{}: kept answers cannot be used: {why}; the graph is asked again",
            path.display()
        ));
    }
    known.ok()
}

/// Writes what is known, and forgets the versions of graphs that were written longest ago. Work does not
/// fail if that does.
pub(super) fn write(known: &KnownAnswers, quiet: bool) {
    let write = || -> io::Result<()> {
        std::fs::create_dir_all(FOLDER)?;
        let mut file = WholeFile::begin(&path_of(known.version()))?;
        file.write_all(known.write().as_bytes())?;
        file.finish()?;
        forget_old(Path::new(FOLDER), MOST_VERSIONS)
    };
    if let (Err(error), false) = (write(), quiet) {
        output::warn(&format!("{FOLDER}: answers cannot be kept: {}", reason(&error)));
    }
}

fn path_of(version: &str) -> PathBuf {
    Path::new(FOLDER).join(format!("{version}.jsonl"))
}

/// Removes all but the files of answers that were written last.
fn forget_old(folder: &Path, most: usize) -> io::Result<()> {
    let mut files: Vec<(SystemTime, PathBuf)> = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().to_str().is_some_and(is_ours) {
            files.push((entry.metadata()?.modified()?, entry.path()));
        }
    }
    files.sort();
    for (_, path) in files.iter().rev().skip(most) {
        std::fs::remove_file(path)?;
    }
    Ok(())
}

fn is_ours(name: &str) -> bool {
    let version = name.strip_suffix(".jsonl");
    version.is_some_and(|own| own.len() == 64 && own.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::time::Duration;

    use super::*;

    #[test]
    fn versions_written_last_stay_and_files_of_others_do_too() {
        let folder = tempfile::tempdir().expect("a folder");
        let version = |digit: u64| format!("{digit:064x}.jsonl");
        for digit in 0..5 {
            let file = File::create(folder.path().join(version(digit))).expect("a file");
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(100 - digit);
            file.set_modified(time).expect("a time");
        }
        std::fs::write(folder.path().join("notes.jsonl"), "mine").expect("written");
        forget_old(folder.path(), 2).expect("forgotten");
        let entries = std::fs::read_dir(folder.path()).expect("a folder").flatten();
        let mut left: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        left.sort();
        assert_eq!(left, [version(0), version(1), "notes.jsonl".to_owned()]);
    }
}
