//! JSON laid out like Python's `json.dump`, so that files can be compared with published ones.

use std::fmt::Write;

use super::NotJson;
use super::number::write_number;
use super::scan::{Scanner, Stuck};
use super::text::Codes;
use super::value::DEEPEST;

const SPACES: &str = "                                                                ";

/// How JSON is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Spaces per level, with one line per item; `None` puts everything on one line.
    pub indent: Option<usize>,
    /// Whether characters beyond ASCII are escaped.
    pub ascii: bool,
}

impl Layout {
    /// One line, characters unescaped.
    pub const LINE: Layout = Layout { indent: None, ascii: false };

    /// The layout of files of judgements.
    pub const FILE: Layout = Layout { indent: Some(4), ascii: false };

    /// Appends the line break and indentation of a level or, on one line, the space between items.
    pub fn push_break(self, level: usize, is_between: bool, out: &mut String) {
        match self.indent {
            Some(indent) => {
                out.push('\n');
                let mut n_spaces = indent * level;
                while n_spaces > 0 {
                    let some = &SPACES[..n_spaces.min(SPACES.len())];
                    out.push_str(some);
                    n_spaces -= some.len();
                }
            }
            None if is_between => out.push(' '),
            None => {}
        }
    }
}

/// Appends the result of Python's `json.dumps(json.loads(text))` at a level of a larger text, but
/// keeps repeated keys. Leaves `out` unchanged on failure.
pub fn push_dump_of_json(
    text: &str,
    layout: Layout,
    level: usize,
    out: &mut String,
) -> Result<(), NotJson> {
    let length = out.len();
    let mut writer = LayoutWriter { scan: Scanner::new(text), out, layout };
    let done = writer.document(level);
    done.map_err(|Stuck| {
        writer.out.truncate(length);
        NotJson { offset: writer.scan.at() }
    })
}

struct LayoutWriter<'a> {
    scan: Scanner<'a>,
    out: &'a mut String,
    layout: Layout,
}

impl LayoutWriter<'_> {
    fn document(&mut self, level: usize) -> Result<(), Stuck> {
        self.value(level, DEEPEST)?;
        self.scan.skip_space();
        if self.scan.is_done() { Ok(()) } else { Err(Stuck) }
    }

    fn value(&mut self, level: usize, depth: usize) -> Result<(), Stuck> {
        self.scan.skip_space();
        match self.scan.peek().ok_or(Stuck)? {
            b'{' => self.items(*b"{}", level, depth.checked_sub(1).ok_or(Stuck)?),
            b'[' => self.items(*b"[]", level, depth.checked_sub(1).ok_or(Stuck)?),
            b'"' => self.string(),
            b't' => self.word("true"),
            b'f' => self.word("false"),
            b'n' => self.word("null"),
            b'N' => self.word("NaN"),
            b'I' => self.word("Infinity"),
            b'-' if self.scan.goes_on_with("-I") => self.word("-Infinity"),
            _ => self.number(),
        }
    }

    fn items(&mut self, [open, close]: [u8; 2], level: usize, depth: usize) -> Result<(), Stuck> {
        self.scan.take(open)?;
        self.out.push(char::from(open));
        let mut n_items = 0;
        while !self.scan.next_is(close) {
            if n_items > 0 {
                self.scan.take(b',')?;
                self.out.push(',');
            }
            self.layout.push_break(level + 1, n_items > 0, self.out);
            n_items += 1;
            if open == b'{' {
                self.scan.skip_space();
                self.string()?;
                self.scan.take(b':')?;
                self.out.push_str(": ");
            }
            self.value(level + 1, depth)?;
        }
        if n_items > 0 {
            self.layout.push_break(level, false, self.out);
        }
        self.out.push(char::from(close));
        Ok(())
    }

    fn string(&mut self) -> Result<(), Stuck> {
        let text = self.scan.string()?;
        self.out.push('"');
        if text.is_plain {
            self.out.push_str(text.body);
        } else {
            write_body(text.body, self.layout.ascii, self.out);
        }
        self.out.push('"');
        Ok(())
    }

    fn number(&mut self) -> Result<(), Stuck> {
        let start = self.out.len();
        let written = self.scan.number()?;
        write_number(written, self.out);
        if self.out[start..].ends_with("inf") {
            // Too large for a double. Python would write `Infinity`, which is not JSON and loses
            // the value.
            self.out.truncate(start);
            self.out.push_str(written);
        }
        Ok(())
    }

    fn word(&mut self, word: &str) -> Result<(), Stuck> {
        self.scan.word(word)?;
        self.out.push_str(word);
        Ok(())
    }
}

/// Writes what is between the quotes of a string. Python keeps most escapes as they are; the others
/// are decoded and written in its way.
fn write_body(body: &str, ascii: bool, out: &mut String) {
    let bytes = body.as_bytes();
    let only_escapes = !ascii || body.is_ascii();
    let next = |at: usize| {
        let rest = &bytes[at..];
        let found = if only_escapes {
            memchr::memchr(b'\\', rest)
        } else {
            rest.iter().position(|byte| *byte == b'\\' || !byte.is_ascii())
        };
        found.map(|found| at + found)
    };
    let (mut copied, mut from) = (0, 0);
    while let Some(at) = next(from) {
        if matches!(bytes[at..], [b'\\', b'"' | b'\\' | b'b' | b'f' | b'n' | b'r' | b't', ..]) {
            from = at + 2;
            continue;
        }
        out.push_str(&body[copied..at]);
        let mut codes = Codes(&body[at..]);
        codes.next().into_iter().for_each(|code| write_code(code, ascii, out));
        from = body.len() - codes.0.len();
        copied = from;
    }
    out.push_str(&body[copied..]);
}

/// Appends one character of a JSON string, given as a code point because a lone surrogate is not a
/// `char`.
pub(super) fn write_code(code: u32, ascii: bool, out: &mut String) {
    match char::from_u32(code) {
        Some(c @ ('"' | '\\')) => out.extend(['\\', c]),
        Some('\n') => out.push_str("\\n"),
        Some('\r') => out.push_str("\\r"),
        Some('\t') => out.push_str("\\t"),
        Some('\u{8}') => out.push_str("\\b"),
        Some('\u{c}') => out.push_str("\\f"),
        Some(c) if c >= ' ' && (c.is_ascii() || !ascii) => out.push(c),
        Some(c) => c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| write_unit(*unit, out)),
        None => write_unit(u16::try_from(code).unwrap_or(0xfffd), out),
    }
}

fn write_unit(unit: u16, out: &mut String) {
    // Writing to a string does not fail.
    let _ = write!(out, "\\u{unit:04x}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn dump(json: &str, layout: Layout) -> String {
        let mut out = String::new();
        push_dump_of_json(json, layout, 0, &mut out).expect("JSON");
        out
    }

    #[test]
    fn json_is_written_as_python_does() {
        let ascii = Layout { indent: None, ascii: true };
        let check =
            |json: &str, layout: Layout, dumped: &str| assert_eq!(dump(json, layout), dumped);
        check(r#"{"a":[1,2.50],"b":{}}"#, ascii, r#"{"a": [1, 2.5], "b": {}}"#);
        check(
            "\"é\\u00e9\\/\\u0041\\n\\u000a\\u0008\\\\u😀\\ud800\\u007f\"",
            ascii,
            "\"\\u00e9\\u00e9/A\\n\\n\\b\\\\u\\ud83d\\ude00\\ud800\u{7f}\"",
        );
        check(r#""\u00e9\/\ud83d\ude00\ud800""#, Layout::LINE, r#""é/😀\ud800""#);
        let indented = Layout { indent: Some(2), ascii: true };
        check(
            r#"{"a": [1, []], "b": {}}"#,
            indented,
            "{\n  \"a\": [\n    1,\n    []\n  ],\n  \"b\": {}\n}",
        );
    }

    #[test]
    fn a_number_beyond_all_doubles_stays_a_number() {
        for number in ["1E400", "-1e400", "1.5e999"] {
            assert_eq!(dump(&format!("[{number}]"), Layout::LINE), format!("[{number}]"));
        }
        assert_eq!(dump("[NaN, -Infinity]", Layout::LINE), "[NaN, -Infinity]");
    }

    #[test]
    fn a_failure_leaves_the_buffer_as_it_was() {
        for json in ["", "[1", "{\"a\"}", "[1 2]", "{1: 2}", "1 2", "[1,,2]"] {
            let mut out = "kept".to_owned();
            assert!(push_dump_of_json(json, Layout::LINE, 0, &mut out).is_err(), "{json}");
            assert_eq!(out, "kept");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_reads_as_the_same(text in any::<String>(), number in any::<f64>()) {
            let value = serde_json::json!({"a": [text, number], "b": {text.clone(): [{}, []]}});
            for indent in [None, Some(0), Some(3)] {
                for ascii in [false, true] {
                    let dumped = dump(&value.to_string(), Layout { indent, ascii });
                    prop_assert!(!ascii || dumped.is_ascii());
                    let read: serde_json::Value = serde_json::from_str(&dumped).expect("JSON");
                    prop_assert_eq!(&read, &value);
                }
            }
        }
    }
}
