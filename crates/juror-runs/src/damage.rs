//! Whether the files of a complete run are still what they were.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use crate::fingerprint::content_hash;
use crate::manifest::WrittenResults;
use crate::run_file::RunFile;
use crate::stored::StoredRun;

impl StoredRun {
    /// Returns how far the run came, in a word. A run that is marked as complete is `damaged` if its
    /// files say otherwise.
    pub fn state(&self) -> &'static str {
        match self.manifest.is_complete {
            true if self.damage().is_some() => "damaged",
            true => "complete",
            false if self.is_busy() => "running",
            false => "unfinished",
        }
    }

    /// Says what is wrong with the files of a complete run, by their sizes alone: results that are
    /// gone, cut off or changed. Reads next to nothing, so that lists of runs can tell.
    pub fn damage(&self) -> Option<String> {
        match self.written() {
            Some(written) => {
                self.lost_file().or_else(|| other_size(self.size_of(RunFile::Results)?, written))
            }
            // Earlier releases do not say what they wrote.
            None if self.manifest.is_complete => cut_off(&self.results_path()?),
            None => None,
        }
    }

    /// Like [`StoredRun::damage`], but reads the results: a change that leaves their size is found too.
    pub fn damage_within(&self) -> Option<String> {
        let is_other = || {
            let written = self.written()?.hash.as_ref()?;
            let hash = content_hash(&self.results_path()?).ok()?;
            (hash != *written).then(|| "results.jsonl was changed since the run ended".to_owned())
        };
        self.damage().or_else(is_other)
    }

    /// What a complete run says of its results.
    fn written(&self) -> Option<&WrittenResults> {
        self.manifest.results.as_ref().filter(|_| self.manifest.is_complete)
    }

    /// Names a file of results that is gone.
    fn lost_file(&self) -> Option<String> {
        let is_lost = |file: &RunFile| self.size_of(*file).is_none();
        let lost = RunFile::OF_RESULTS.into_iter().find(is_lost)?;
        Some(format!("{} is missing", lost.name()))
    }
}

fn other_size(size: u64, written: &WrittenResults) -> Option<String> {
    let WrittenResults { bytes, rows, .. } = written;
    (size != *bytes).then(|| {
        format!(
            "results.jsonl was changed or cut off: it has {size} bytes, and had {bytes} of {rows} \
             results when the run ended"
        )
    })
}

/// Says that the last line has no end, if that is so.
fn cut_off(results: &Path) -> Option<String> {
    let last = last_byte(results).ok()??;
    (last != b'\n').then(|| "results.jsonl is cut off: its last line has no end".to_owned())
}

fn last_byte(path: &Path) -> io::Result<Option<u8>> {
    let mut file = File::open(path)?;
    if file.metadata()?.len() == 0 {
        return Ok(None);
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(Some(last[0]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::{Manifest, RunKind};
    use serde_json::json;

    /// A complete run of two results.
    fn complete(folder: &Path) -> Manifest {
        for (name, text) in
            [("results.jsonl", "{}\n{}\n"), ("aggregates.json", "{}"), ("statistics.json", "{}")]
        {
            std::fs::write(folder.join(name), text).expect("written");
        }
        let mut run = Manifest::new(RunKind::Eval, "x", json!({}));
        run.complete(folder, 2).expect("written");
        run
    }

    fn told(folder: &Path) -> (&'static str, Option<String>) {
        let run = StoredRun::open(folder).expect("a run");
        (run.state(), run.damage())
    }

    #[test]
    fn results_that_are_cut_off_changed_or_gone_are_told() {
        let folder = tempfile::tempdir().expect("a folder");
        complete(folder.path());
        assert_eq!(told(folder.path()), ("complete", None));
        let results = folder.path().join("results.jsonl");
        std::fs::write(&results, "{}\n").expect("written");
        let (state, why) = told(folder.path());
        assert_eq!(state, "damaged");
        assert!(why.expect("told").contains("it has 3 bytes, and had 6 of 2 results"));
        std::fs::remove_file(&results).expect("removed");
        assert_eq!(told(folder.path()).1.as_deref(), Some("results.jsonl is missing"));
    }

    #[test]
    fn a_change_that_leaves_the_size_is_found_by_reading() {
        let folder = tempfile::tempdir().expect("a folder");
        complete(folder.path());
        let within = || StoredRun::open(folder.path()).expect("a run").damage_within();
        assert_eq!(within(), None);
        std::fs::write(folder.path().join("results.jsonl"), "{}\n[]\n").expect("written");
        assert_eq!(told(folder.path()), ("complete", None), "its size is the same");
        assert_eq!(within().as_deref(), Some("results.jsonl was changed since the run ended"));
    }

    #[test]
    fn of_an_earlier_release_a_line_without_an_end_is_told() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut run = complete(folder.path());
        run.results = None;
        run.write(folder.path()).expect("written");
        assert_eq!(told(folder.path()), ("complete", None));
        std::fs::write(folder.path().join("results.jsonl"), "{}\n{").expect("written");
        let (state, why) = told(folder.path());
        assert_eq!((state, why.is_some_and(|why| why.contains("cut off"))), ("damaged", true));
    }

    #[test]
    fn an_unfinished_run_is_not_damaged() {
        let folder = tempfile::tempdir().expect("a folder");
        let run = Manifest::new(RunKind::Eval, "x", json!({}));
        run.write(folder.path()).expect("written");
        assert_eq!(told(folder.path()), ("unfinished", None));
    }
}
