//! Reads files from folders that others may have filled.

use std::io;
use std::path::Path;

/// Reads a file that was found in a folder rather than named by the user. Refuses anything but a
/// regular file, since reading a pipe or a device might never end.
pub fn read_plain(path: &Path) -> io::Result<Vec<u8>> {
    let kind = std::fs::metadata(path)?.file_type();
    if kind.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if !kind.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    std::fs::read(path)
}

/// Like [`read_plain`], for text.
pub fn read_plain_text(path: &Path) -> io::Result<String> {
    let not_text = |_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8");
    String::from_utf8(read_plain(path)?).map_err(not_text)
}
