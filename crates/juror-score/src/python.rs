//! Texts as Python writes them, where its spelling is part of a published format.

use std::fmt::Write;

/// A text as Python's `repr` writes it.
pub fn repr_text(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut repr = String::with_capacity(text.len() + 2);
    repr.push(quote);
    for c in text.chars() {
        // Writing to a string does not fail.
        let _ = match c {
            '\\' => repr.write_str("\\\\"),
            '\n' => repr.write_str("\\n"),
            '\r' => repr.write_str("\\r"),
            '\t' => repr.write_str("\\t"),
            c if c == quote => write!(repr, "\\{c}"),
            c if is_printable(c) => repr.write_char(c),
            c if u32::from(c) < 0x100 => write!(repr, "\\x{:02x}", u32::from(c)),
            c if u32::from(c) < 0x1_0000 => write!(repr, "\\u{:04x}", u32::from(c)),
            c => write!(repr, "\\U{:08x}", u32::from(c)),
        };
    }
    repr.push(quote);
    repr
}

/// Whether Python writes a character as it is: not controls, not spaces other than the common one,
/// not marks of format and direction.
fn is_printable(c: char) -> bool {
    let is_format = matches!(c,
        '\u{ad}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{180e}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{e000}'..='\u{f8ff}' | '\u{feff}' | '\u{fff0}'..='\u{fffb}'
        | '\u{e0000}'..='\u{10ffff}');
    c == ' ' || !(c.is_control() || c.is_whitespace() || is_format)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_written_as_python_does() {
        let check = |text: &str, repr: &str| assert_eq!(repr_text(text), repr);
        check("a", "'a'");
        check("it's", "\"it's\"");
        check("it's \"it\"", "'it\\'s \"it\"'");
        check("a\\b\n\t\u{0}\u{7f}", r"'a\\b\n\t\x00\x7f'");
        check("Осло 東京 😀", "'Осло 東京 😀'");
        check("\u{a0}\u{2028}\u{200b}", r"'\xa0\u2028\u200b'");
    }
}
