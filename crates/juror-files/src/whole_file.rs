//! Files that appear complete or not at all.

use std::fs::{File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// The prefix and suffix of temporary names.
const NAMED: (&str, &str) = (".juror-", ".tmp");

/// The number of random letters in between.
const N_LETTERS: usize = 6;

/// A file being written. Until it is finished, it has a temporary name in the same folder and is
/// locked: a temporary file without a lock was left behind by a killed process.
#[derive(Debug)]
pub struct WholeFile {
    path: PathBuf,
    file: NamedTempFile,
}

impl WholeFile {
    /// Starts a file with the mode of the one it will replace, or of a new file. Removes temporary
    /// files that killed processes left in the folder.
    pub fn begin(path: &Path) -> io::Result<WholeFile> {
        let file = WholeFile::begin_with(path, for_anybody)?;
        if let Ok(metadata) = path.metadata() {
            file.file.as_file().set_permissions(metadata.permissions())?;
        }
        Ok(file)
    }

    /// Starts a file that nobody else may read.
    pub fn begin_private(path: &Path) -> io::Result<WholeFile> {
        WholeFile::begin_with(path, |_| ())
    }

    fn begin_with(
        path: &Path,
        prepare: impl Fn(&mut tempfile::Builder<'_, '_>),
    ) -> io::Result<WholeFile> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        collect(folder);
        loop {
            let mut builder = tempfile::Builder::new();
            builder.prefix(NAMED.0).suffix(NAMED.1).rand_bytes(N_LETTERS);
            prepare(&mut builder);
            let file = builder.tempfile_in(folder)?;
            // Another process may have collected the file before it was locked. Where files cannot
            // be locked, none are collected.
            match file.as_file().try_lock() {
                Err(TryLockError::WouldBlock) => {}
                _ if is_gone(file.as_file()) => {}
                _ => return Ok(WholeFile { path: path.to_owned(), file }),
            }
        }
    }

    /// Moves the file to its place.
    pub fn finish(self) -> io::Result<()> {
        self.file.persist(&self.path).map(|_| ()).map_err(|error| error.error)
    }

    /// Moves the file to its place, where it survives a power cut.
    pub fn finish_for_good(self) -> io::Result<()> {
        self.file.as_file().sync_all()?;
        self.finish()
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Removes temporary files that no process is writing. Files that cannot be removed stay, and do no
/// harm.
pub fn collect(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_ours = entry.file_name().to_str().is_some_and(is_temporary)
            && entry.file_type().is_ok_and(|kind| kind.is_file());
        if is_ours
            && let Ok(file) = File::open(entry.path())
            && file.try_lock().is_ok()
        {
            // Hold the lock until the file is gone, so that a process that starts a file of this
            // name notices.
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

fn is_temporary(name: &str) -> bool {
    let letters = name.strip_prefix(NAMED.0).and_then(|name| name.strip_suffix(NAMED.1));
    letters.is_some_and(|letters| {
        letters.len() == N_LETTERS && letters.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

#[cfg(unix)]
fn for_anybody(builder: &mut tempfile::Builder<'_, '_>) {
    use std::os::unix::fs::PermissionsExt;
    builder.permissions(std::fs::Permissions::from_mode(0o666));
}

#[cfg(not(unix))]
fn for_anybody(_builder: &mut tempfile::Builder<'_, '_>) {}

/// Returns whether a file was deleted.
#[cfg(unix)]
fn is_gone(file: &File) -> bool {
    use std::os::unix::fs::MetadataExt;
    file.metadata().is_ok_and(|metadata| metadata.nlink() == 0)
}

/// On other systems an open file cannot be deleted.
#[cfg(not(unix))]
fn is_gone(_file: &File) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).expect("a folder").flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn what_killed_processes_left_is_collected_and_nothing_else() {
        let folder = tempfile::tempdir().expect("a folder");
        let others = [".juror-abc123.txt", ".juror-cache.tmp", ".juror-notes", "juror-abc123.tmp"];
        for name in others.iter().chain(&[".juror-abc123.tmp", ".juror-XYZ987.tmp"]) {
            std::fs::write(folder.path().join(name), "half").expect("written");
        }
        std::fs::create_dir(folder.path().join(".juror-folder.tmp")).expect("a folder");
        let path = folder.path().join("results.json");
        let mut first = WholeFile::begin(&path).expect("begun");
        first.write_all(b"first").expect("written");
        assert_eq!(names(folder.path()).len(), others.len() + 2);
        // A file that is being written is left alone.
        WholeFile::begin(&path).expect("begun").finish().expect("finished");
        first.finish().expect("finished");
        let mut left: Vec<String> = others.map(str::to_owned).to_vec();
        left.extend([".juror-folder.tmp".to_owned(), "results.json".to_owned()]);
        left.sort();
        assert_eq!(names(folder.path()), left);
        assert_eq!(std::fs::read_to_string(&path).expect("text"), "first");
    }

    #[test]
    fn what_is_not_finished_never_was() {
        let folder = tempfile::tempdir().expect("a folder");
        drop(WholeFile::begin_private(&folder.path().join("run.json")).expect("begun"));
        assert_eq!(names(folder.path()), Vec::<String>::new());
    }

    #[test]
    fn many_may_begin_in_a_folder_at_once() {
        let folder = tempfile::tempdir().expect("a folder");
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let folder = folder.path();
                scope.spawn(move || {
                    for n in 0..50 {
                        let path = folder.join(format!("{thread}-{n}"));
                        WholeFile::begin(&path).expect("begun").finish().expect("finished");
                    }
                });
            }
        });
        assert_eq!(names(folder.path()).len(), 200);
    }
}
