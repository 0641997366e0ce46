//! Texts as JSON strings.

/// Appends a text in quotes.
///
/// Outputs of steps are mostly JSON themselves, so there is a quote to escape every few bytes. Eight
/// bytes are copied together, and taken back from the first that has to be escaped.
pub(crate) fn push_text(text: &str, out: &mut Vec<u8>) {
    let bytes = text.as_bytes();
    out.reserve(bytes.len() + bytes.len() / 8 + 10);
    out.push(b'"');
    let mut at = 0;
    while let Some(word) = bytes.get(at..at + 8).and_then(|word| <[u8; 8]>::try_from(word).ok()) {
        out.extend_from_slice(&word);
        let special = specials(u64::from_le_bytes(word));
        if special == 0 {
            at += 8;
        } else {
            let before = special.trailing_zeros() as usize / 8;
            out.truncate(out.len() - 8 + before);
            push_escape(bytes[at + before], out);
            at += before + 1;
        }
    }
    for &byte in &bytes[at..] {
        if byte < b' ' || byte == b'"' || byte == b'\\' {
            push_escape(byte, out);
        } else {
            out.push(byte);
        }
    }
    out.push(b'"');
}

/// A word whose lowest set bit belongs to the first byte that has to be escaped.
fn specials(word: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = ONES << 7;
    // A borrow out of a found byte can only mark bytes after it.
    let zero = |word: u64| word.wrapping_sub(ONES) & !word & HIGH;
    let quotes = zero(word ^ (ONES * u64::from(b'"')));
    let backslashes = zero(word ^ (ONES * u64::from(b'\\')));
    let controls = word.wrapping_sub(ONES * u64::from(b' ')) & !word & HIGH;
    quotes | backslashes | controls
}

fn push_escape(byte: u8, out: &mut Vec<u8>) {
    let short = match byte {
        b'"' | b'\\' => byte,
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        0x08 => b'b',
        0x0c => b'f',
        _ => {
            out.extend_from_slice(format!("\\u{byte:04x}").as_bytes());
            return;
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}
