//! Finds the end of an object or list without parsing it, 64 bytes at a time.
//!
//! Each block is turned into bit masks with one bit per byte: unescaped quotes, and derived from
//! them the bytes inside strings. Brackets outside strings are then counted with `count_ones`. The
//! exact position matters only in the block where the outermost bracket closes: that can only be a
//! block with at least as many closing brackets as are open when it starts, and only in such a
//! block are brackets visited one by one. Nothing else is checked, so the skipped text need not be
//! valid JSON.

/// How many bytes are examined at once: one per bit of a mask.
const BLOCK: usize = 64;

/// Returns the length of the object or list at the start of `bytes`, or `None` if it does not end.
pub(crate) fn length_of_nested(bytes: &[u8]) -> Option<usize> {
    let mut scan = Scan::default();
    let mut blocks = bytes.chunks_exact(BLOCK);
    let mut start = 0;
    for block in &mut blocks {
        let block = block.first_chunk()?;
        if let Some(end) = scan.end_in(block) {
            return Some(start + end);
        }
        start += BLOCK;
    }
    let mut last = [b' '; BLOCK];
    last[..blocks.remainder().len()].copy_from_slice(blocks.remainder());
    scan.end_in(&last).map(|end| start + end)
}

/// The state carried from one block to the next.
#[derive(Default)]
struct Scan {
    /// How many brackets are open.
    depth: u32,
    /// All ones if the next block starts inside a string, zero otherwise.
    is_inside: u64,
    /// Whether the first byte of the next block is escaped.
    is_escaped: bool,
}

impl Scan {
    /// Returns the offset just past the outermost closing bracket if it is in this block.
    fn end_in(&mut self, block: &[u8; BLOCK]) -> Option<usize> {
        let inside = self.strings_of(block);
        // `[` and `{` differ in one bit, and so do `]` and `}`.
        let is_open = |byte: u8| byte | 0x20 == b'{';
        let is_close = |byte: u8| byte | 0x20 == b'}';
        if inside == u64::MAX || !any(block, |byte| is_open(byte) | is_close(byte)) {
            return None;
        }
        let open = bits(block, is_open) & !inside;
        let close = bits(block, is_close) & !inside;
        // With fewer closing brackets than open ones, the depth cannot reach zero in this block.
        if close.count_ones() < self.depth {
            self.depth = self.depth + open.count_ones() - close.count_ones();
            return None;
        }
        self.count_down(open, close)
    }

    /// Visits the brackets of a block in order.
    fn count_down(&mut self, open: u64, close: u64) -> Option<usize> {
        let mut left = open | close;
        while left != 0 {
            let at = left.trailing_zeros();
            left &= left - 1;
            if open >> at & 1 == 1 {
                self.depth += 1;
            } else if self.depth <= 1 {
                return Some(at as usize + 1);
            } else {
                self.depth -= 1;
            }
        }
        None
    }

    /// Returns the mask of bytes inside strings, including opening but not closing quotes.
    fn strings_of(&mut self, block: &[u8; BLOCK]) -> u64 {
        let is_quote = |byte: u8| byte == b'"';
        let mut quotes = if any(block, is_quote) { bits(block, is_quote) } else { 0 };
        if self.is_escaped || any(block, |byte| byte == b'\\') {
            quotes &= !self.escaped(bits(block, |byte| byte == b'\\'));
        }
        // A byte is inside a string if the number of quotes up to it is odd: a prefix XOR.
        let mut inside = quotes;
        for shift in [1, 2, 4, 8, 16, 32] {
            inside ^= inside << shift;
        }
        inside ^= self.is_inside;
        self.is_inside = if inside >> (BLOCK - 1) == 1 { u64::MAX } else { 0 };
        inside
    }

    /// Returns the mask of bytes escaped by a backslash that is not itself escaped.
    fn escaped(&mut self, backslashes: u64) -> u64 {
        let mut escaped = u64::from(self.is_escaped);
        let mut escaping = backslashes & !escaped;
        self.is_escaped = false;
        while escaping != 0 {
            let at = escaping.trailing_zeros();
            if at as usize == BLOCK - 1 {
                self.is_escaped = true;
                break;
            }
            // An escaped backslash does not escape the next byte.
            escaped |= 2 << at;
            escaping &= !(3 << at);
        }
        escaped
    }
}

/// Returns the mask of bytes for which `is_wanted` holds. Written so that the compiler compares
/// many bytes at once; the multiplication gathers the lowest bits of eight bytes into one byte.
fn bits(block: &[u8; BLOCK], is_wanted: impl Fn(u8) -> bool) -> u64 {
    let flags = block.map(|byte| u8::from(is_wanted(byte)));
    let (eights, _) = flags.as_chunks::<8>();
    let byte =
        |eight: &[u8; 8]| u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
    eights.iter().rev().fold(0, |bits, eight| bits << 8 | byte(eight))
}

fn any(block: &[u8; BLOCK], is_wanted: impl Fn(u8) -> bool) -> bool {
    block.iter().fold(0, |any, byte| any | u8::from(is_wanted(*byte))) != 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The same as `length_of_nested`, byte by byte.
    fn slowly(bytes: &[u8]) -> Option<usize> {
        let (mut depth, mut is_inside, mut is_escaped) = (0, false, false);
        for (at, byte) in bytes.iter().enumerate() {
            match byte {
                b'"' if !is_escaped => is_inside = !is_inside,
                b'{' | b'[' if !is_inside => depth += 1,
                b'}' | b']' if !is_inside && depth <= 1 => return Some(at + 1),
                b'}' | b']' if !is_inside => depth -= 1,
                _ => {}
            }
            is_escaped = *byte == b'\\' && !is_escaped;
        }
        None
    }

    #[test]
    fn ends_are_found_wherever_they_stand() {
        for length in 0..200 {
            let text = "x".repeat(length);
            for inner in [text.clone(), format!("\"{text}]\""), format!("\"{text}\\\"]\\\\\"")] {
                let nested = format!("[{inner}, [{inner}], {inner}]");
                let more = format!("{nested}, \"{text}\"]");
                assert_eq!(length_of_nested(more.as_bytes()), Some(nested.len()), "{more}");
                assert_eq!(length_of_nested(&nested.as_bytes()[..nested.len() - 1]), None);
            }
        }
    }

    proptest! {
        #[test]
        fn blocks_and_bytes_agree(text in r#"[\[{]([\[\]{}"\\a]|\\\\|[a-z ]{20}|"[^"\\]{0,30}"){0,60}"#) {
            prop_assert_eq!(length_of_nested(text.as_bytes()), slowly(text.as_bytes()));
        }
    }
}
