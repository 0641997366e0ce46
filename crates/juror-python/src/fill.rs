//! Inserts long texts into JSON that lacks them.

use crate::escape::push_text;

/// A text, and the position where it is missing.
#[derive(Clone, Copy)]
pub(crate) struct Hole<'t> {
    pub(crate) at: usize,
    pub(crate) text: &'t str,
}

/// Returns the complete JSON, and the length that each text has in it.
pub(crate) fn fill(json: &[u8], holes: &[Hole<'_>]) -> (Vec<u8>, Vec<usize>) {
    let n_bytes: usize = holes.iter().map(|hole| hole.text.len()).sum();
    // Reserved memory that stays unused costs nothing, whereas growing would copy.
    let mut whole = Vec::with_capacity(json.len() + n_bytes + n_bytes / 2 + 2 * holes.len());
    let mut lengths = Vec::with_capacity(holes.len());
    let mut from = 0;
    for hole in holes {
        whole.extend_from_slice(&json[from..hole.at]);
        let start = whole.len();
        push_text(hole.text, &mut whole);
        lengths.push(whole.len() - start);
        from = hole.at;
    }
    whole.extend_from_slice(&json[from..]);
    (whole, lengths)
}
