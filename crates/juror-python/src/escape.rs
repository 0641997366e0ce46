//! Texts as JSON strings.

/// How much is escaped before it is appended.
const BLOCK: usize = 512;

/// What each byte becomes: two bytes of which the first one or both count, or six where the length
/// says so.
const ESCAPES: [(u8, u8, u8); 256] = escapes();

const LONG: u8 = 6;

const fn escapes() -> [(u8, u8, u8); 256] {
    let mut table = [(0, 0, 1); 256];
    let mut byte = 0;
    while byte < 256 {
        #[expect(clippy::cast_possible_truncation, reason = "it is below 256")]
        let own = byte as u8;
        table[byte] = match own {
            b'"' | b'\\' => (b'\\', own, 2),
            b'\n' => (b'\\', b'n', 2),
            b'\r' => (b'\\', b'r', 2),
            b'\t' => (b'\\', b't', 2),
            0x08 => (b'\\', b'b', 2),
            0x0c => (b'\\', b'f', 2),
            0..0x20 => (b'\\', b'u', LONG),
            _ => (own, 0, 1),
        };
        byte += 1;
    }
    table
}

/// Appends a text in quotes.
///
/// Outputs of steps are mostly JSON themselves, so there is a quote to escape every few bytes, and
/// no telling where. Two bytes are written for each, and one or both are kept: that needs no guess.
pub(crate) fn push_text(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let mut block = [0; 2 * BLOCK];
    for bytes in text.as_bytes().chunks(BLOCK) {
        let (mut to, mut longest) = (0, 0);
        for &byte in bytes {
            let (first, second, length) = ESCAPES[byte as usize];
            block[to] = first;
            block[to + 1] = second;
            longest |= length;
            to += length as usize & 3;
        }
        if longest & LONG == LONG {
            for byte in bytes {
                push_byte(*byte, out);
            }
        } else {
            out.extend_from_slice(&block[..to]);
        }
    }
    out.push(b'"');
}

fn push_byte(byte: u8, out: &mut Vec<u8>) {
    match ESCAPES[byte as usize] {
        (_, _, LONG) => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
        (first, second, 2) => out.extend_from_slice(&[first, second]),
        (first, ..) => out.push(first),
    }
}
