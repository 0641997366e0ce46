//! Texts as JSON strings.

/// How much is escaped before it is appended.
const BLOCK: usize = 1024;

/// Appends a text in quotes.
///
/// Outputs of steps are mostly JSON themselves, so there is a quote to escape every few bytes. Eight
/// bytes are copied together into a block on the stack, and what comes after the first that has to
/// be escaped is overwritten.
pub(crate) fn push_text(text: &str, out: &mut Vec<u8>) {
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

/// Copies up to the next byte that has to be escaped, at most eight, and returns how many.
fn copy_run(bytes: &[u8], place: &mut [u8]) -> usize {
    match (bytes.first_chunk::<8>(), place.first_chunk_mut::<8>()) {
        (Some(word), Some(place)) => {
            *place = *word;
            specials(u64::from_le_bytes(*word)).trailing_zeros() as usize / 8
        }
        _ => {
            let run = bytes.iter().take(7).take_while(|byte| !is_special(**byte)).count();
            place[..run].copy_from_slice(&bytes[..run]);
            run
        }
    }
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

/// Writes the escape of a byte, and returns how long it is.
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
