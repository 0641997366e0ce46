//! Characters of strings in JSON and in Python's `repr`.

use std::fmt::Write;

/// Chooses the quotes that Python's `repr` puts around a string.
pub(super) fn quote_for(has_single: bool, has_double: bool) -> char {
    if has_single && !has_double { '"' } else { '\'' }
}

/// Appends one character of a quoted string, given as a code point because a lone surrogate is not
/// a `char`.
pub(super) fn write_quoted(out: &mut String, code: u32, quote: char) {
    match char::from_u32(code) {
        Some(c @ ('\\' | '\'' | '"')) => {
            if c == '\\' || c == quote {
                out.push('\\');
            }
            out.push(c);
        }
        Some('\n') => out.push_str("\\n"),
        Some('\r') => out.push_str("\\r"),
        Some('\t') => out.push_str("\\t"),
        Some(c) if super::is_printable(code) => out.push(c),
        _ => write_escaped(out, code),
    }
}

/// Appends one character of an unquoted string.
pub(super) fn write_bare(out: &mut String, code: u32) {
    match char::from_u32(code) {
        Some(c) => out.push(c),
        None => write_escaped(out, code),
    }
}

/// Appends a string as ASCII JSON.
pub(super) fn write_json_text(out: &mut String, codes: impl Iterator<Item = u32>) {
    out.push('"');
    for code in codes {
        match char::from_u32(code) {
            Some(c @ ('"' | '\\')) => out.extend(['\\', c]),
            Some('\n') => out.push_str("\\n"),
            Some('\r') => out.push_str("\\r"),
            Some('\t') => out.push_str("\\t"),
            Some('\u{8}') => out.push_str("\\b"),
            Some('\u{c}') => out.push_str("\\f"),
            Some(c @ ' '..='~') => out.push(c),
            Some(c) => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    write_unit(out, u32::from(*unit));
                }
            }
            None => write_unit(out, code),
        }
    }
    out.push('"');
}

pub(super) fn write_unit(out: &mut String, unit: u32) {
    // Writing to a string does not fail.
    let _ = write!(out, "\\u{unit:04x}");
}

fn write_escaped(out: &mut String, code: u32) {
    // Writing to a string does not fail.
    let _ = match code {
        0..=0xff => write!(out, "\\x{code:02x}"),
        0x100..=0xffff => write!(out, "\\u{code:04x}"),
        _ => write!(out, "\\U{code:08x}"),
    };
}

/// Iterates over the code points of a JSON string, given what is between its quotes.
#[derive(Clone)]
pub(super) struct Codes<'a>(pub(super) &'a str);

impl Iterator for Codes<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        let mut chars = self.0.chars();
        let first = chars.next()?;
        if first != '\\' {
            self.0 = chars.as_str();
            return Some(u32::from(first));
        }
        let escape = chars.next()?;
        self.0 = chars.as_str();
        Some(match escape {
            'n' => 0x0a,
            'r' => 0x0d,
            't' => 0x09,
            'b' => 0x08,
            'f' => 0x0c,
            'u' => self.unit_and_its_partner(),
            other => u32::from(other),
        })
    }
}

impl Codes<'_> {
    /// Reads the four digits of an escape, and a second escape if the two are a surrogate pair.
    fn unit_and_its_partner(&mut self) -> u32 {
        let high = hexadecimal(self.0).unwrap_or(0xfffd);
        self.0 = self.0.get(4..).unwrap_or("");
        if !(0xd800..0xdc00).contains(&high) {
            return high;
        }
        let low = self.0.strip_prefix("\\u").and_then(hexadecimal);
        match low.filter(|low| (0xdc00..0xe000).contains(low)) {
            Some(low) => {
                self.0 = self.0.get(6..).unwrap_or("");
                0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00)
            }
            None => high,
        }
    }
}

/// Reads four hexadecimal digits.
pub(super) fn hexadecimal(text: &str) -> Option<u32> {
    let digits = text.as_bytes().get(..4)?;
    digits.iter().try_fold(0, |number, digit| Some(number * 16 + char::from(*digit).to_digit(16)?))
}
