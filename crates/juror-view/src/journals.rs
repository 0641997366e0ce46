//! How many lines journals have, counted as they grow.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Counts of lines, so that only what was added since is read.
#[derive(Default)]
pub(crate) struct Journals(Mutex<HashMap<PathBuf, Counted>>);

#[derive(Clone, Copy, Default)]
struct Counted {
    n_bytes: u64,
    n_lines: u64,
}

/// How many bytes are read at a time.
const PIECE: usize = 64 << 10;

impl Journals {
    /// Returns how many whole lines a journal has; 0 if there is none.
    pub(crate) fn n_lines(&self, path: &Path) -> u64 {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = known.get(path).copied().unwrap_or_default();
        let Ok(counted) = count(path, before) else {
            known.remove(path);
            return 0;
        };
        known.insert(path.to_owned(), counted);
        counted.n_lines
    }
}

fn count(path: &Path, before: Counted) -> io::Result<Counted> {
    let mut file = File::open(path)?;
    let about = file.metadata()?;
    if !about.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    // A journal that became shorter was begun anew.
    let mut counted = if about.len() < before.n_bytes { Counted::default() } else { before };
    file.seek(SeekFrom::Start(counted.n_bytes))?;
    let mut piece = vec![0; PIECE];
    loop {
        let n_read = file.read(&mut piece)?;
        if n_read == 0 {
            return Ok(counted);
        }
        counted.n_bytes += n_read as u64;
        counted.n_lines += memchr::memchr_iter(b'\n', &piece[..n_read]).count() as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn whole_lines_are_counted_and_a_journal_that_begins_anew_is_counted_anew() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("records.jsonl");
        let journals = Journals::default();
        assert_eq!(journals.n_lines(&path), 0);
        let mut file = File::options().create(true).append(true).open(&path).expect("a file");
        for (text, n_lines) in [("{}\n{}\n", 2), ("{\"a", 2), ("\": 1}\n", 3), ("", 3)] {
            file.write_all(text.as_bytes()).expect("written");
            assert_eq!(journals.n_lines(&path), n_lines, "{text}");
        }
        std::fs::write(&path, "{}\n").expect("written");
        assert_eq!(journals.n_lines(&path), 1);
    }
}
