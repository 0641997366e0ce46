//! Files that appear complete or not at all.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// The prefix and suffix of temporary names.
const NAMED: (&str, &str) = (".juror-", ".tmp");

/// The number of random letters in between.
const N_LETTERS: usize = 6;

/// The most symbolic links that are followed, as on Linux.
const MOST_LINKS: usize = 40;

/// A file being written. Until it is finished, it has a temporary name in the same folder and is
/// locked: a temporary file without a lock was left behind by a killed process.
///
/// A symbolic link stays: the file that it points to is replaced. Devices and pipes stay, too, and
/// get the bytes as they are written.
#[derive(Debug)]
pub struct WholeFile {
    place: Place,
}

#[derive(Debug)]
enum Place {
    /// A file that is moved to its path when it is finished.
    Beside { path: PathBuf, file: NamedTempFile },
    /// Something that nothing can take the place of.
    Direct(File),
}

impl WholeFile {
    /// Starts a file with the mode of the one it will replace, or of a new file. Removes temporary
    /// files that killed processes left in the folder.
    pub fn begin(path: &Path) -> io::Result<WholeFile> {
        let (path, metadata) = match target(path)? {
            Target::Direct(file) => return Ok(WholeFile { place: Place::Direct(file) }),
            Target::File(path) => (path.clone(), path.metadata()),
        };
        let file = WholeFile::begin_with(&path, for_anybody)?;
        if let (Ok(metadata), Place::Beside { file, .. }) = (metadata, &file.place) {
            file.as_file().set_permissions(metadata.permissions())?;
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
                _ => {
                    let place = Place::Beside { path: path.to_owned(), file };
                    return Ok(WholeFile { place });
                }
            }
        }
    }

    /// Moves the file to its place.
    pub fn finish(self) -> io::Result<()> {
        match self.place {
            Place::Beside { path, file } => {
                file.persist(path).map(|_| ()).map_err(|error| error.error)
            }
            Place::Direct(mut file) => file.flush(),
        }
    }

    /// Moves the file to its place, where it survives a power cut.
    pub fn finish_for_good(self) -> io::Result<()> {
        if let Place::Beside { file, .. } = &self.place {
            file.as_file().sync_all()?;
        }
        self.finish()
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.place {
            Place::Beside { file, .. } => file.write(bytes),
            Place::Direct(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.place {
            Place::Beside { file, .. } => file.flush(),
            Place::Direct(file) => file.flush(),
        }
    }
}

/// What bytes for a path go to.
enum Target {
    /// A file that exists or not, at a path that is no link.
    File(PathBuf),
    /// A device, a pipe, or a file that a process has open.
    Direct(File),
}

fn target(path: &Path) -> io::Result<Target> {
    match path.metadata() {
        Ok(metadata) if metadata.is_file() || metadata.is_dir() => {}
        Ok(_) => return OpenOptions::new().write(true).open(path).map(Target::Direct),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let target = end_of_links(path);
    // What is behind a descriptor of a process is not what has the name that the link gives.
    if path.exists() && target.parent().is_some_and(is_of_processes) {
        return OpenOptions::new().append(true).open(path).map(Target::Direct);
    }
    Ok(Target::File(target))
}

/// Follows symbolic links, and returns the path that a file written to `path` has: that of the file
/// the links point to, which need not exist. Links to descriptors of a process are not followed.
pub fn end_of_links(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        match std::fs::read_link(&path) {
            Ok(next) if !is_of_processes(&folder) => path = folder.join(next),
            _ => break,
        }
    }
    path
}

/// Whether a folder is one in which the system lists what processes have open.
fn is_of_processes(folder: &Path) -> bool {
    !folder.as_os_str().is_empty()
        && folder.canonicalize().is_ok_and(|folder| folder.starts_with("/proc"))
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

    #[cfg(unix)]
    #[test]
    fn the_end_of_links_is_replaced_and_the_links_stay() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir(at("far")).expect("a folder");
        std::fs::write(at("far/old.json"), "old").expect("written");
        for (points_to, link) in
            [("far/old.json", "first"), ("first", "second"), ("far/new.json", "dangling")]
        {
            std::os::unix::fs::symlink(points_to, at(link)).expect("a link");
        }
        for (link, file) in [("second", "far/old.json"), ("dangling", "far/new.json")] {
            let mut whole = WholeFile::begin(&at(link)).expect("begun");
            whole.write_all(b"new").expect("written");
            assert_ne!(std::fs::read(at(file)).ok().as_deref(), Some(&b"new"[..]), "{link}");
            whole.finish().expect("finished");
            assert_eq!(std::fs::read(at(file)).expect("a file"), b"new", "{link}");
            assert!(at(link).is_symlink(), "{link}");
        }
        assert_eq!(names(folder.path()), ["dangling", "far", "first", "second"]);
        std::os::unix::fs::symlink("round", at("round")).expect("a link");
        WholeFile::begin(&at("round")).expect_err("a link to itself");
    }

    #[cfg(unix)]
    #[test]
    fn pipes_and_devices_are_written_into_and_stay() {
        use std::os::unix::fs::FileTypeExt;
        let folder = tempfile::tempdir().expect("a folder");
        let pipe = folder.path().join("pipe.json");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs");
        assert!(made.success());
        std::thread::scope(|scope| {
            let read = scope.spawn(|| std::fs::read_to_string(&pipe));
            let mut whole = WholeFile::begin(&pipe).expect("begun");
            whole.write_all(b"through").expect("written");
            whole.finish().expect("finished");
            assert_eq!(read.join().expect("no panic").expect("text"), "through");
        });
        assert!(pipe.metadata().expect("a pipe").file_type().is_fifo());
        // No bytes, and nothing is finished: a test must not endanger a device that others use.
        assert!(matches!(target(Path::new("/dev/null")), Ok(Target::Direct(_))));
        assert_eq!(names(folder.path()), ["pipe.json"]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_descriptor_of_a_process_is_appended_to() {
        use std::os::fd::AsRawFd;
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("out.txt");
        let mut open = File::create(&path).expect("a file");
        open.write_all(b"before ").expect("written");
        let descriptor = PathBuf::from(format!("/proc/self/fd/{}", open.as_raw_fd()));
        let link = folder.path().join("stdout");
        std::os::unix::fs::symlink(descriptor, &link).expect("a link");
        let mut whole = WholeFile::begin(&link).expect("begun");
        whole.write_all(b"after").expect("written");
        whole.finish().expect("finished");
        assert_eq!(std::fs::read_to_string(&path).expect("text"), "before after");
        assert!(link.is_symlink());
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
