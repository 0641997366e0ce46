//! Hashes files and folders, to detect whether data has changed.

use std::collections::HashSet;
use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use juror_document::{map_in_shares, n_cores};

/// Folders larger than this, in bytes, are compared by names, sizes and times only.
const MOST_BYTES: u64 = 512 << 20;

/// A single file larger than this, in bytes, such as a model's weights, is compared by size and
/// time only.
const MOST_FILE_BYTES: u64 = 64 << 20;

/// Returns a short hash of a text: 16 hexadecimal digits.
pub fn short_hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex()[..16].to_owned()
}

/// A file inside a folder.
struct Found {
    /// The path relative to the folder, with `/` as separator.
    name: String,
    path: PathBuf,
    size: u64,
    /// The modification time, in nanoseconds since 1970.
    changed: u128,
}

/// Returns the fingerprint of a file or folder: `contents:` and a hash of all names and bytes, or,
/// for a very large folder, `listing:` and a hash of names, sizes and modification times.
pub fn fingerprint(path: &Path) -> io::Result<String> {
    let mut files = Vec::new();
    gather(path, String::new(), &mut HashSet::new(), &mut files)?;
    files.sort_by(|one, other| one.name.cmp(&other.name));
    let n_bytes: u64 = files.iter().map(|file| file.size).sum();
    let mut hasher = blake3::Hasher::new();
    let mut add = |name: &str, rest: &[u8]| {
        hasher.update(&(name.len() as u64).to_le_bytes());
        hasher.update(name.as_bytes());
        hasher.update(rest);
    };
    let kind = if n_bytes <= MOST_BYTES {
        for (file, hash) in files.iter().zip(hashes(&files)?) {
            add(&file.name, hash.as_bytes());
        }
        "contents"
    } else {
        for file in &files {
            add(&file.name, format!("{} {}", file.size, file.changed).as_bytes());
        }
        "listing"
    };
    Ok(format!("{kind}:{}", &hasher.finalize().to_hex()[..16]))
}

/// Hashes the content of a single file or, if it is very large, its size and modification time.
pub fn file_hash(path: &Path) -> io::Result<String> {
    let known = fs::metadata(path)?;
    if known.len() > MOST_FILE_BYTES {
        return Ok(format!("size {} changed {}", known.len(), changed(&known)));
    }
    content_hash(path)
}

/// Hashes the content of a single file, however large.
pub(crate) fn content_hash(path: &Path) -> io::Result<String> {
    Ok(hash(path)?.to_hex()[..16].to_owned())
}

/// Hashes the content of a file, read piece by piece.
fn hash(path: &Path) -> io::Result<blake3::Hash> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(File::open(path)?)?;
    Ok(hasher.finalize())
}

/// Returns the modification time, in nanoseconds since 1970.
fn changed(known: &Metadata) -> u128 {
    let changed = known.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    changed.unwrap_or_default().as_nanos()
}

/// Finds all files below a folder. A folder that several links lead to is visited once, so that a
/// link to a parent folder does no harm.
fn gather(
    path: &Path,
    name: String,
    seen: &mut HashSet<PathBuf>,
    files: &mut Vec<Found>,
) -> io::Result<()> {
    let known = fs::metadata(path)?;
    if known.is_file() {
        let (size, changed) = (known.len(), changed(&known));
        files.push(Found { name, path: path.to_owned(), size, changed });
        return Ok(());
    }
    // Reading a pipe or a device might never end.
    if !known.is_dir() || !seen.insert(fs::canonicalize(path)?) {
        return Ok(());
    }
    let mut entries = fs::read_dir(path)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let own = entry.file_name().to_string_lossy().into_owned();
        // Databases create and delete these files next to their own.
        if own.starts_with('.') || own.ends_with("-wal") || own.ends_with("-shm") {
            continue;
        }
        let name = if name.is_empty() { own } else { format!("{name}/{own}") };
        match gather(&entry.path(), name, seen, files) {
            // A dangling link has no content.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            other => other?,
        }
    }
    Ok(())
}

/// Hashes files on all cores; the hashes are in the order of the files.
fn hashes(files: &[Found]) -> io::Result<Vec<blake3::Hash>> {
    map_in_shares(files, n_cores(), |file| hash(&file.path)).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_file_is_noticed_and_a_copy_is_not() {
        let [one, other] = [0; 2].map(|_| tempfile::tempdir().expect("a folder"));
        for folder in [&one, &other] {
            fs::create_dir(folder.path().join("Music")).expect("made");
            fs::write(folder.path().join("Music/a.json"), "{}").expect("written");
            fs::write(folder.path().join("b.json"), "[1]").expect("written");
        }
        let of = |folder: &tempfile::TempDir| fingerprint(folder.path()).expect("a hash");
        assert_eq!(of(&one), of(&other));
        assert!(of(&one).starts_with("contents:"));
        fs::write(other.path().join("b.json"), "[2]").expect("written");
        assert_ne!(of(&one), of(&other));
        assert!(fingerprint(Path::new("nowhere")).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn links_in_circles_and_pipes_are_passed_over() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("a.json"), "{}").expect("written");
        let plain = fingerprint(folder.path()).expect("a hash");
        for link in ["one", "other"] {
            std::os::unix::fs::symlink(folder.path(), folder.path().join(link)).expect("linked");
        }
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("run");
        assert!(made.success());
        assert_eq!(fingerprint(folder.path()).expect("a hash"), plain);
    }

    #[test]
    fn a_very_large_file_is_told_by_size_and_time() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("weights.gguf");
        File::create(&path).expect("made").set_len(MOST_FILE_BYTES + 1).expect("grown");
        let hash = file_hash(&path).expect("a hash");
        assert!(hash.starts_with(&format!("size {} ", MOST_FILE_BYTES + 1)), "{hash}");
        fs::write(&path, "small").expect("written");
        assert_eq!(file_hash(&path).expect("a hash").len(), 16);
    }
}
