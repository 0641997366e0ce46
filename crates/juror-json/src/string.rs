//! JSON strings: unescaped lazily, and searched and compared without unescaping when possible.

use std::borrow::Cow;

use serde_json::value::RawValue;

/// Returns the unescaped text of a JSON string, or `None` for any other value.
///
/// A lone surrogate, which JSON can express and UTF-8 cannot, becomes U+FFFD.
#[inline]
pub fn text_of(value: &RawValue) -> Option<Cow<'_, str>> {
    inside_of(value).map(unescape)
}

/// Returns what is between the quotes of a JSON string, still escaped, or `None` for any other
/// value.
#[inline]
pub fn inside_of(value: &RawValue) -> Option<&str> {
    value.get().strip_prefix('"')?.strip_suffix('"')
}

/// Whether a value is a string that equals `word` once unescaped.
#[inline]
pub fn is_word(value: &RawValue, word: &str) -> bool {
    inside_of(value).is_some_and(|inside| inside == word || same_text(inside, word))
}

/// Whether a JSON text may contain an ASCII letter written as an escape, so that a plain search for
/// a word could miss it.
pub fn may_hide_letters(json: &str) -> bool {
    let bytes = json.as_bytes();
    let is_letter = |at: usize| matches!(bytes.get(at + 4), Some(b'4'..=b'7'));
    memchr::memmem::find_iter(bytes, b"\\u00").any(is_letter)
}

/// Returns a string's text, or a number or boolean as text where a string is expected. `None` for
/// `null`, objects and lists.
#[inline]
pub fn scalar_text(value: &RawValue) -> Option<Cow<'_, str>> {
    match value.get().as_bytes().first()? {
        b'"' => text_of(value),
        b'{' | b'[' | b'n' => None,
        _ => Some(Cow::Borrowed(value.get())),
    }
}

/// Returns the text of a string, or the JSON of any other value.
#[inline]
pub fn text_or_json(value: &RawValue) -> Cow<'_, str> {
    text_of(value).unwrap_or(Cow::Borrowed(value.get()))
}

/// Unescapes what is between the quotes of a JSON string.
pub fn unescape(quoted: &str) -> Cow<'_, str> {
    if memchr::memchr(b'\\', quoted.as_bytes()).is_none() {
        return Cow::Borrowed(quoted);
    }
    Cow::Owned(unescaped(quoted))
}

fn unescaped(quoted: &str) -> String {
    let mut text = String::with_capacity(quoted.len());
    let mut rest = quoted;
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        let (character, length) = escape_at(rest, at);
        text.push_str(&rest[..at]);
        text.push(character);
        rest = &rest[at + length..];
    }
    text + rest
}

/// Finds the first byte that must be escaped in a JSON string: a quote, a backslash or a control
/// character.
#[inline]
pub fn find_special(bytes: &[u8]) -> Option<usize> {
    find(bytes, special_bits, |byte| byte < b' ' || byte == b'"' || byte == b'\\')
}

/// Finds the first backslash.
#[inline]
pub fn find_backslash(bytes: &[u8]) -> Option<usize> {
    find(bytes, |word| bits_of(b'\\', word), |byte| byte == b'\\')
}

/// Finds the first byte of a kind. Most texts searched here are so short that a call to a faster
/// search, such as `memchr`, would cost more than it saves.
fn find(bytes: &[u8], bits: impl Fn(u64) -> u64, is_it: impl Fn(u8) -> bool) -> Option<usize> {
    let (words, rest) = bytes.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let found = bits(u64::from_le_bytes(*word));
        if found != 0 {
            return Some(8 * index + found.trailing_zeros() as usize / 8);
        }
    }
    rest.iter().position(|byte| is_it(*byte)).map(|at| 8 * words.len() + at)
}

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = ONES << 7;

/// Returns a word whose lowest set bit lies in the first of eight bytes that must be escaped in a
/// JSON string, or zero if none must.
#[inline]
pub fn special_bits(word: u64) -> u64 {
    let controls = word.wrapping_sub(ONES * u64::from(b' ')) & !word & HIGH;
    bits_of(b'"', word) | bits_of(b'\\', word) | controls
}

/// Returns a word whose lowest set bit lies in the first of eight bytes that equals `byte`, or zero
/// if none does.
fn bits_of(byte: u8, word: u64) -> u64 {
    // Matching bytes become zero, and subtracting one from a zero byte sets its high bit. The
    // borrow it causes can only set bits in later bytes, so the lowest set bit is right.
    let differing = word ^ (ONES * u64::from(byte));
    differing.wrapping_sub(ONES) & !differing & HIGH
}

/// Returns the character of the escape at `at` and the length of the escape. Malformed escapes,
/// which readers have rejected before, become U+FFFD.
fn escape_at(quoted: &str, at: usize) -> (char, usize) {
    match quoted.as_bytes().get(at + 1) {
        Some(&plain @ (b'"' | b'\\' | b'/')) => (char::from(plain), 2),
        Some(b'n') => ('\n', 2),
        Some(b't') => ('\t', 2),
        Some(b'r') => ('\r', 2),
        Some(b'b') => ('\u{8}', 2),
        Some(b'f') => ('\u{c}', 2),
        Some(b'u') => unicode_escape_at(quoted, at),
        _ => (char::REPLACEMENT_CHARACTER, 1),
    }
}

fn unicode_escape_at(quoted: &str, at: usize) -> (char, usize) {
    let unit = |at: usize| {
        let digits = quoted.get(at..at + 6)?.strip_prefix("\\u")?;
        u32::from_str_radix(digits, 16).ok()
    };
    let Some(high) = unit(at) else { return (char::REPLACEMENT_CHARACTER, 2) };
    if let Some(character) = char::from_u32(high) {
        return (character, 6);
    }
    if (0xD800..0xDC00).contains(&high)
        && let Some(low) = unit(at + 6).filter(|low| (0xDC00..0xE000).contains(low))
        && let Some(character) = char::from_u32(0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00))
    {
        return (character, 12);
    }
    (char::REPLACEMENT_CHARACTER, 6)
}

/// Whether two strings have the same text once unescaped, given what is between their quotes.
///
/// Most different texts differ early, and the first differing bytes usually settle it. Both are
/// unescaped only if they do not.
pub fn same_text(a: &str, b: &str) -> bool {
    if a == b {
        return true;
    }
    !differ_visibly(a.as_bytes(), b.as_bytes()) && unescape(a) == unescape(b)
}

/// Whether the first difference is certainly one of characters, not just of how they are escaped.
fn differ_visibly(a: &[u8], b: &[u8]) -> bool {
    let Some(at) = a.iter().zip(b).position(|(a, b)| a != b) else { return false };
    let n_backslashes = a[..at].iter().rev().take_while(|byte| **byte == b'\\').count();
    if n_backslashes % 2 == 1 {
        // Right after the backslash of an escape: different short escapes are different characters.
        let is_short = |byte: u8| matches!(byte, b'"' | b'\\' | b'b' | b'f' | b'n' | b'r' | b't');
        return is_short(a[at]) && is_short(b[at]);
    }
    let in_long_escape = a[at.saturating_sub(5)..at].contains(&b'\\');
    !in_long_escape && a[at] != b'\\' && b[at] != b'\\'
}

/// Whether the text of a string, or the JSON of any other value, contains `piece`.
///
/// Usually a search in the escaped text settles it, because plain characters are rarely escaped.
pub fn contains_text(value: &RawValue, piece: &str) -> bool {
    let Some(quoted) = inside_of(value) else { return value.get().contains(piece) };
    let is_plain = |byte: u8| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\';
    if !piece.is_empty() && piece.bytes().all(is_plain) {
        match memchr::memmem::find(quoted.as_bytes(), piece.as_bytes()) {
            // No escape is longer than six bytes, so this match is not part of one.
            Some(at) if !quoted.as_bytes()[at.saturating_sub(6)..at].contains(&b'\\') => {
                return true;
            }
            Some(_) => {}
            None if !quoted.contains("\\u") && !quoted.contains("\\/") => return false,
            None => {}
        }
    }
    unescape(quoted).contains(piece)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(json: &str) -> String {
        let raw: &RawValue = serde_json::from_str(json).expect("valid JSON");
        text_of(raw).expect("a string").into_owned()
    }

    #[test]
    fn escapes_become_characters() {
        assert_eq!(text(r#""a\"b\\c\/d\n\t\u00e9\ud83d\ude00""#), "a\"b\\c/d\n\té😀");
        assert_eq!(text(r#""plain é""#), "plain é");
    }

    #[test]
    fn the_first_special_byte_is_found() {
        for length in 0..40 {
            let plain: String = "aé~\u{7f}".chars().cycle().take(length).collect();
            assert_eq!(find_special(plain.as_bytes()), None);
            for special in ['"', '\\', '\n', '\0', '\u{1f}'] {
                for after in ["", "\"\\", "plain text"] {
                    let text = format!("{plain}{special}{after}");
                    assert_eq!(find_special(text.as_bytes()), Some(plain.len()), "{text:?}");
                }
            }
        }
    }

    #[test]
    fn runs_of_any_length_are_copied() {
        for length in 0..40 {
            let plain: String = ('a'..='z').chain('é'..='ü').cycle().take(length).collect();
            let json = format!("\"{plain}\\\"{plain}\\n{plain}\"");
            assert_eq!(text(&json), format!("{plain}\"{plain}\n{plain}"));
        }
    }

    #[test]
    fn a_lone_surrogate_becomes_the_replacement_character() {
        assert_eq!(text(r#""x\ud800y""#), "x\u{fffd}y");
        assert_eq!(text(r#""\udc00\ud83d""#), "\u{fffd}\u{fffd}");
    }

    #[test]
    fn texts_are_the_same_however_they_are_written() {
        let escapes =
            ["a", "\\u0061", "\\n", "\\u000a", "\\\\", "\\\"", "/", "\\/", "é", "\\u00e9", "n"];
        let mut texts = vec![String::new()];
        for first in escapes {
            for second in escapes {
                texts.push(format!("{first}{second}"));
                texts.push(format!("{first}{second}n"));
            }
        }
        for a in &texts {
            for b in &texts {
                assert_eq!(same_text(a, b), unescape(a) == unescape(b), "{a} and {b}");
            }
        }
    }

    #[test]
    fn words_are_the_same_however_they_are_written() {
        let is_error = |json: &str| is_word(serde_json::from_str(json).expect("JSON"), "error");
        for json in [r#""error""#, r#""\u0065rror""#, r#""e\u0072\u0072or""#] {
            assert!(is_error(json), "{json}");
        }
        for json in [r#""errors""#, r#""\\u0065rror""#, "null", r#"["error"]"#, "5"] {
            assert!(!is_error(json), "{json}");
        }
        assert!(may_hide_letters(r#""\u0072etrieval""#) && may_hide_letters(r#""\u004e""#));
        assert!(!may_hide_letters(r#""caf\u00e9 \"x\" \u2014""#));
    }

    #[test]
    fn a_piece_is_found_however_it_is_written() {
        let contains = |json: &str, piece: &str| {
            contains_text(serde_json::from_str(json).expect("JSON"), piece)
        };
        assert!(contains(r#""see urn:x here""#, "urn:x"));
        assert!(contains(r#""\"urn:x\"""#, "urn:x"));
        assert!(contains(r#""http:\/\/a""#, "http://a"));
        assert!(contains(r#""\u0075rn:x""#, "urn:x"));
        assert!(contains(r#""caf\u00e9""#, "café"));
        assert!(!contains(r#""\nurn:x""#, "nurn:x"));
        assert!(!contains(r#""\u00e9abc""#, "e9abc"));
        assert!(!contains(r#""urn:""#, "urn:x"));
        assert!(contains(r#"{"a": "urn:x"}"#, "urn:x"));
        assert!(contains(r#""anything""#, ""));
    }
}
