//! Large files, mapped into memory instead of copied there.
//!
//! Reading hundreds of megabytes means clearing as much fresh memory and copying into it, which
//! takes longer than judging what was read. The pages of a file that was just written are in
//! memory already; mapping uses them as they are.

use std::fs::File;

use memmap2::Mmap;

/// Files below this size are read: mapping would gain nothing.
const LEAST: u64 = 1 << 20;

/// The text of a mapped file.
pub(crate) struct MappedText(Mmap);

impl MappedText {
    /// Maps a file; `None` where it is small, not a plain file, compressed or not plain UTF-8, all
    /// of which are for ordinary reading.
    pub(crate) fn of(file: &File) -> Option<MappedText> {
        let metadata = file.metadata().ok()?;
        if !metadata.is_file() || metadata.len() < LEAST {
            return None;
        }
        #[expect(unsafe_code, reason = "there is no safe way to map a file")]
        // SAFETY: the map is private and never written to. What remains is that another program
        // may change the file while we read it: inputs must be left alone during a run, which
        // docs/formats.md says.
        let map = unsafe { Mmap::map(file) }.ok()?;
        let is_special = map.starts_with(b"\x1f\x8b")
            || map.starts_with(b"\x28\xb5\x2f\xfd")
            || map.starts_with(b"\xef\xbb\xbf");
        (!is_special && std::str::from_utf8(&map).is_ok()).then_some(MappedText(map))
    }
}

impl AsRef<str> for MappedText {
    fn as_ref(&self) -> &str {
        #[expect(unsafe_code, reason = "checking hundreds of megabytes at every look is too slow")]
        // SAFETY: `of` checked that the text is UTF-8, and nothing writes to the map.
        unsafe {
            std::str::from_utf8_unchecked(&self.0)
        }
    }
}
