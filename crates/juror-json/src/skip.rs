//! Where nested JSON ends, found many bytes at a time.
//!
//! A block of bytes becomes numbers with a bit for each byte: where quotes stand, and from them what
//! is inside strings. Brackets outside strings are counted; they are gone through one by one only in
//! a block where the last of them may close. Nothing else is looked at.

/// How many bytes are looked at together: as many as a number has bits.
const BLOCK: usize = 64;

/// The length of the object or list that a text begins with; nothing where it does not end.
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

/// What is known where a block begins.
#[derive(Default)]
struct Scan {
    /// How many brackets are open.
    depth: u32,
    /// All bits are set inside a string, none outside.
    is_inside: u64,
    /// Whether the first byte is escaped.
    is_escaped: bool,
}

impl Scan {
    /// Where in a block the outermost bracket closes.
    fn end_in(&mut self, block: &[u8; BLOCK]) -> Option<usize> {
        let inside = self.strings_of(block);
        // `[` and `]` differ from `{` and `}` by one bit.
        let is_open = |byte: u8| byte | 0x20 == b'{';
        let is_close = |byte: u8| byte | 0x20 == b'}';
        if inside == u64::MAX || !any(block, |byte| is_open(byte) | is_close(byte)) {
            return None;
        }
        let open = bits(block, is_open) & !inside;
        let close = bits(block, is_close) & !inside;
        if close.count_ones() < self.depth {
            self.depth = self.depth + open.count_ones() - close.count_ones();
            return None;
        }
        self.count_down(open, close)
    }

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

    /// The bytes that are inside strings, with their opening quotes and without their closing ones.
    fn strings_of(&mut self, block: &[u8; BLOCK]) -> u64 {
        let is_quote = |byte: u8| byte == b'"';
        let mut quotes = if any(block, is_quote) { bits(block, is_quote) } else { 0 };
        if self.is_escaped || any(block, |byte| byte == b'\\') {
            quotes &= !self.escaped(bits(block, |byte| byte == b'\\'));
        }
        // A byte is inside a string if an odd number of quotes stands up to it.
        let mut inside = quotes;
        for shift in [1, 2, 4, 8, 16, 32] {
            inside ^= inside << shift;
        }
        inside ^= self.is_inside;
        self.is_inside = if inside >> (BLOCK - 1) == 1 { u64::MAX } else { 0 };
        inside
    }

    /// The bytes that a backslash escapes: those at odd places after the beginning of a run of
    /// backslashes.
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
            // What is escaped does not escape.
            escaped |= 2 << at;
            escaping &= !(3 << at);
        }
        escaped
    }
}

/// A bit for each byte that is meant. Written so that compilers compare many bytes at once; the
/// multiplication brings the lowest bits of eight bytes together.
fn bits(block: &[u8; BLOCK], is_meant: impl Fn(u8) -> bool) -> u64 {
    let flags = block.map(|byte| u8::from(is_meant(byte)));
    let (eights, _) = flags.as_chunks::<8>();
    let byte =
        |eight: &[u8; 8]| u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
    eights.iter().rev().fold(0, |bits, eight| bits << 8 | byte(eight))
}

fn any(block: &[u8; BLOCK], is_meant: impl Fn(u8) -> bool) -> bool {
    block.iter().fold(0, |any, byte| any | u8::from(is_meant(*byte))) != 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The same, byte by byte.
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
