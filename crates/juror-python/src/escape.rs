//! Writes texts as JSON strings.

use juror_json::{find_special, special_bits};

/// How many bytes are escaped before they are appended.
const BLOCK: usize = 1024;

/// Texts up to this length are scanned before they are copied.
const SHORT: usize = 256;

/// Appends a text in quotes.
pub(crate) fn push_text(text: &str, out: &mut Vec<u8>) {
    if text.len() > SHORT || find_special(text.as_bytes()).is_some() {
        return push_escaped(text, out);
    }
    out.push(b'"');
    out.extend_from_slice(text.as_bytes());
    out.push(b'"');
}

/// Appends a text with much to escape.
///
/// Outputs of steps are mostly JSON themselves, so there is a quote to escape every few bytes.
/// Eight bytes at a time are copied into a block on the stack, and whatever follows the first one
/// that needs escaping is overwritten.
fn push_escaped(text: &str, out: &mut Vec<u8>) {
    let bytes = text.as_bytes();
    // Room for eight bytes, and for an escape after them.
    let mut block = [0; BLOCK + 16];
    block[0] = b'"';
    let (mut at, mut to) = (0, 1);
    while at < bytes.len() {
        if to >= BLOCK {
            out.extend_from_slice(&block[..to]);
            to = 0;
        }
        let run = copy_run(&bytes[at..], &mut block[to..]);
        at += run;
        to += run;
        if let Some(&byte) = bytes.get(at).filter(|byte| is_special(**byte)) {
            to += put_escape(byte, &mut block[to..]);
            at += 1;
        }
    }
    block[to] = b'"';
    out.extend_from_slice(&block[..=to]);
}

fn is_special(byte: u8) -> bool {
    byte < b' ' || byte == b'"' || byte == b'\\'
}

/// Copies up to the next byte that needs escaping, at most eight bytes, and returns how many.
fn copy_run(bytes: &[u8], place: &mut [u8]) -> usize {
    match (bytes.first_chunk::<8>(), place.first_chunk_mut::<8>()) {
        (Some(word), Some(place)) => {
            *place = *word;
            special_bits(u64::from_le_bytes(*word)).trailing_zeros() as usize / 8
        }
        _ => {
            let run = bytes.iter().take(7).take_while(|byte| !is_special(**byte)).count();
            place[..run].copy_from_slice(&bytes[..run]);
            run
        }
    }
}

/// Writes the escape of a byte, and returns its length.
fn put_escape(byte: u8, place: &mut [u8]) -> usize {
    let short = match byte {
        b'"' | b'\\' => byte,
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        0x08 => b'b',
        0x0c => b'f',
        _ => {
            place[..6].copy_from_slice(format!("\\u{byte:04x}").as_bytes());
            return 6;
        }
    };
    place[..2].copy_from_slice(&[b'\\', short]);
    2
}
