//! Putting long texts into a JSON text that lacks them.

use crate::escape::push_text;

/// A text, and where it is missing.
#[derive(Clone, Copy)]
pub(crate) struct Hole<'t> {
    pub(crate) at: usize,
    pub(crate) text: &'t str,
}

/// The whole text, and how long each text became in it.
pub(crate) fn fill(json: &[u8], holes: &[Hole<'_>]) -> (Vec<u8>, Vec<usize>) {
    let n_bytes: usize = holes.iter().map(|hole| hole.text.len()).sum();
    // What is reserved and not used costs nothing; growing would mean copying.
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
