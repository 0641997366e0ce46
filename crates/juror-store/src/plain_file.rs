//! Files of folders that others may have filled.

use std::io;
use std::path::Path;

/// Reads a file that was found, not named by the user: what is no plain file is refused, for a pipe
/// or a device would be read for ever.
pub fn read_plain(path: &Path) -> io::Result<Vec<u8>> {
    let kind = std::fs::metadata(path)?.file_type();
    if kind.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if !kind.is_file() {
        return Err(io::Error::other("it is no plain file"));
    }
    std::fs::read(path)
}

/// The same for a file of text.
pub fn read_plain_text(path: &Path) -> io::Result<String> {
    let not_text = |_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8");
    String::from_utf8(read_plain(path)?).map_err(not_text)
}
