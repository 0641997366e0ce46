//! Large files, mapped into memory instead of copied there.
//!
//! Reading hundreds of megabytes means clearing as much fresh memory and copying into it, which
//! takes longer than judging what was read. The pages of a file that was just written are in
//! memory already; mapping uses them as they are.

use std::fs::File;
use std::io;

use memmap2::Mmap;

use crate::watched::{Probe, Watch, cut_short};

/// Files below this size are read: mapping would gain nothing.
const LEAST: u64 = 1 << 20;

/// The text of a mapped file.
pub(crate) struct MappedText {
    /// Ends before the map does.
    watch: Watch,
    map: Mmap,
}

impl MappedText {
    /// Maps a file; `None` where it is small, not a plain file, compressed or not plain UTF-8, all
    /// of which are for ordinary reading. Fails where it was cut short meanwhile.
    pub(crate) fn of(file: &File, name: &str) -> io::Result<Option<MappedText>> {
        let metadata = file.metadata()?;
        if !metadata.is_file() || metadata.len() < LEAST {
            return Ok(None);
        }
        #[expect(unsafe_code, reason = "there is no safe way to map a file")]
        // SAFETY: nobody writes through the map, but it is shared: what another program writes into
        // the file is seen here. Inputs must be left alone during a run, which docs/formats.md
        // says; a file that becomes shorter is noticed.
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

    /// Tells whether the file is cut short, for as long as the text is there.
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
