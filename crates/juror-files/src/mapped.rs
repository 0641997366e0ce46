//! Large files, mapped into memory instead of copied.
//!
//! Reading hundreds of megabytes means clearing as much fresh memory and copying into it, which
//! takes longer than judging what was read. The pages of a file that was just written are already
//! in memory; mapping uses them as they are.

use std::fs::File;
use std::io;

use memmap2::Mmap;

use crate::watched::{Probe, Watch, cut_short};

/// Files smaller than this are read: mapping would gain nothing.
const LEAST: u64 = 1 << 20;

/// The text of a mapped file.
pub(crate) struct MappedText {
    /// Must be dropped before the map.
    watch: Watch,
    map: Mmap,
}

impl MappedText {
    /// Maps a file. Returns `None` if the file is small, not a regular file, compressed or not
    /// plain UTF-8, all of which are left to ordinary reading. Fails if the file was truncated in
    /// the meantime.
    pub(crate) fn of(file: &File, name: &str) -> io::Result<Option<MappedText>> {
        let metadata = file.metadata()?;
        if !metadata.is_file() || metadata.len() < LEAST {
            return Ok(None);
        }
        #[expect(unsafe_code, reason = "there is no safe way to map a file")]
        // SAFETY: nobody writes through the map, but it is shared: writes of other programs to the
        // file are visible here. Inputs must be left alone during a run, as docs/formats.md says; a
        // file that is truncated is noticed.
        let Ok(map) = (unsafe { Mmap::map(file) }) else { return Ok(None) };
        let Some(watch) = Watch::begin(&map, name) else { return Ok(None) };
        let is_special = map.starts_with(b"\x1f\x8b")
            || map.starts_with(b"\x28\xb5\x2f\xfd")
            || map.starts_with(b"\xef\xbb\xbf");
        let is_text = !is_special && std::str::from_utf8(&map).is_ok();
        let text = MappedText { watch, map };
        if text.probe().is_torn() {
            return Err(cut_short());
        }
        Ok(is_text.then_some(text))
    }

    /// Returns a probe that detects truncation for as long as the text exists.
    pub(crate) fn probe(&self) -> Probe {
        self.watch.probe()
    }
}

impl AsRef<str> for MappedText {
    fn as_ref(&self) -> &str {
        #[expect(unsafe_code, reason = "checking hundreds of megabytes at every look is too slow")]
        // SAFETY: `of` checked that the text is UTF-8, and nobody writes to the map.
        unsafe {
            std::str::from_utf8_unchecked(&self.map)
        }
    }
}
