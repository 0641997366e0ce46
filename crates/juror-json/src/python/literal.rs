//! Reads what Python's `repr` writes.
//!
//! Old answers store calls as the `repr` of a Python object, and reply caches use such texts as
//! keys.

use super::layout::write_code;
use super::scan::{Scanner, Stuck};
use super::value::DEEPEST;

/// The text is not the `repr` of a value that JSON can express.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a Python literal at byte {offset}")]
pub struct NotLiteral {
    /// Where reading stopped.
    pub offset: usize,
}

/// Converts the `repr` of a dictionary, list, tuple, string, number, boolean or `None` to JSON.
///
/// A tuple becomes a list. Infinities and `nan` become the words Python's JSON uses for them, and a
/// lone surrogate becomes a JSON escape; [`str_of_json`](super::str_of_json) reads both.
pub fn json_of_literal(text: &str) -> Result<String, NotLiteral> {
    let mut reader =
        LiteralReader { scan: Scanner::new(text), json: String::with_capacity(text.len() + 16) };
    match reader.document() {
        Ok(()) => Ok(reader.json),
        Err(Stuck) => Err(NotLiteral { offset: reader.scan.at() }),
    }
}

struct LiteralReader<'a> {
    scan: Scanner<'a>,
    json: String,
}

impl<'a> LiteralReader<'a> {
    fn document(&mut self) -> Result<(), Stuck> {
        self.value(DEEPEST)?;
        self.scan.skip_space();
        if self.scan.is_done() { Ok(()) } else { Err(Stuck) }
    }

    fn value(&mut self, depth: usize) -> Result<(), Stuck> {
        self.scan.skip_space();
        match self.scan.peek().ok_or(Stuck)? {
            b'{' => self.items(*b"{}", depth, Self::entry),
            b'[' => self.items(*b"[]", depth, Self::value),
            b'(' => self.items(*b"()", depth, Self::value),
            b'\'' | b'"' => self.text(),
            b'T' => self.word("True", "true"),
            b'F' => self.word("False", "false"),
            b'N' => self.word("None", "null"),
            b'n' => self.word("nan", "NaN"),
            b'i' => self.word("inf", "Infinity"),
            b'-' if self.scan.goes_on_with("-i") => self.word("-inf", "-Infinity"),
            _ => {
                self.json.push_str(self.scan.number()?);
                Ok(())
            }
        }
    }

    fn entry(&mut self, depth: usize) -> Result<(), Stuck> {
        self.scan.skip_space();
        self.text()?;
        self.scan.take(b':')?;
        self.json.push_str(": ");
        self.value(depth)
    }

    /// Reads items between brackets. Python allows a trailing comma, and a tuple of one item
    /// requires it.
    fn items(
        &mut self,
        brackets: [u8; 2],
        depth: usize,
        item: fn(&mut LiteralReader<'a>, usize) -> Result<(), Stuck>,
    ) -> Result<(), Stuck> {
        let depth = depth.checked_sub(1).ok_or(Stuck)?;
        let [open, close] = brackets;
        let is_object = close == b'}';
        self.scan.take(open)?;
        self.json.push(if is_object { '{' } else { '[' });
        let mut n_items = 0;
        while !self.scan.next_is(close) {
            if n_items > 0 {
                self.json.push_str(", ");
            }
            item(self, depth)?;
            n_items += 1;
            if self.scan.next_is(b',') {
                continue;
            }
            self.scan.take(close)?;
            if close == b')' && n_items == 1 {
                return Err(Stuck);
            }
            break;
        }
        self.json.push(if is_object { '}' } else { ']' });
        Ok(())
    }

    fn text(&mut self) -> Result<(), Stuck> {
        let quote = self.scan.peek().filter(|byte| matches!(byte, b'\'' | b'"')).ok_or(Stuck)?;
        self.scan.pass(1);
        self.json.push('"');
        loop {
            let rest = self.scan.rest();
            let is_special = |byte: u8| byte == quote || matches!(byte, b'\\' | b'"' | 0..b' ');
            let run = rest.bytes().position(is_special).ok_or(Stuck)?;
            self.json.push_str(&rest[..run]);
            self.scan.pass(run);
            match rest.as_bytes()[run] {
                b'\\' => self.escape()?,
                b'\n' | b'\r' | 0 => return Err(Stuck),
                byte => {
                    self.scan.pass(1);
                    if byte == quote {
                        self.json.push('"');
                        return Ok(());
                    }
                    write_code(u32::from(byte), false, &mut self.json);
                }
            }
        }
    }

    /// Reads an escape. Python's named characters (`\N{…}`) are refused, since `repr` never writes
    /// them. A backslash before any other character stands for itself.
    fn escape(&mut self) -> Result<(), Stuck> {
        let rest = &self.scan.rest()[1..];
        let kind = rest.chars().next().ok_or(Stuck)?;
        let (code, length) = match kind {
            '\\' | '\'' | '"' => (u32::from(kind), 1),
            'n' => (0x0a, 1),
            'r' => (0x0d, 1),
            't' => (0x09, 1),
            'a' => (0x07, 1),
            'b' => (0x08, 1),
            'f' => (0x0c, 1),
            'v' => (0x0b, 1),
            'x' => (digits(&rest[1..], 2)?, 3),
            'u' => (digits(&rest[1..], 4)?, 5),
            'U' => (digits(&rest[1..], 8)?, 9),
            'N' => return Err(Stuck),
            '0'..='7' => octal(rest),
            '\n' => {
                self.scan.pass(2);
                return Ok(());
            }
            _ => (u32::from('\\'), 0),
        };
        self.scan.pass(1 + length);
        write_code(code, false, &mut self.json);
        Ok(())
    }

    fn word(&mut self, python: &str, json: &str) -> Result<(), Stuck> {
        self.scan.word(python)?;
        self.json.push_str(json);
        Ok(())
    }
}

/// Reads a code point of exactly `n` hexadecimal digits.
fn digits(text: &str, n: usize) -> Result<u32, Stuck> {
    let digits = text.get(..n).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let code = u32::from_str_radix(digits.ok_or(Stuck)?, 16).map_err(|_| Stuck)?;
    if code <= u32::from(char::MAX) { Ok(code) } else { Err(Stuck) }
}

/// Reads up to three octal digits and returns the code point and the number of digits.
fn octal(text: &str) -> (u32, usize) {
    let digits = text.bytes().take(3).take_while(|byte| matches!(byte, b'0'..=b'7'));
    digits.fold((0, 0), |(code, n), digit| (code * 8 + u32::from(digit - b'0'), n + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::python::{push_repr_of_json, str_of_json};
    use proptest::prelude::*;

    #[test]
    fn literals_are_read() {
        let check = |text: &str, json: &str| assert_eq!(json_of_literal(text).as_deref(), Ok(json));
        check("{'a': [1, True, None, {}], 'b': ()}", r#"{"a": [1, true, null, {}], "b": []}"#);
        check(" (1, 'x') ", r#"[1, "x"]"#);
        check("(1,)", "[1]");
        check("[1, -2.5, 1e+16, 1e-05, -0.0, False, ]", "[1, -2.5, 1e+16, 1e-05, -0.0, false]");
        check("123456789012345678901234567890", "123456789012345678901234567890");
        check("[nan, inf, -inf]", "[NaN, Infinity, -Infinity]");
        check(r#"'it\'s "it"'"#, r#""it's \"it\"""#);
        check(r#""it's""#, r#""it's""#);
        check(r"'a\\b\n\r\t\x00\xe9\u4e2d\U0001f600'", r#""a\\b\n\r\t\u0000é中😀""#);
        check(r"'\a\b\f\v\7\101\1018\d\é'", r#""\u0007\b\f\u000b\u0007AA8\\d\\é""#);
        check("'a\\\nb\t'", r#""ab\t""#);
        check(r"['\ud800', '\udc00x']", r#"["\ud800", "\udc00x"]"#);
        check("'东京 😀'", "\"东京 😀\"");
    }

    #[test]
    fn what_repr_does_not_write_is_refused() {
        let texts = "|{|[1|(1)|(,)|[,]|{1: 2}|{'a'}|{'a', 'b'}|{'a': }|true|null|NaN|'a|'a\"|'a\nb'|\
            'a' 'b'|1 2|01|1.|+1|'\\x1'|'\\xg0'|'\\u12'|'\\U00110000'|'\\x+1'|'\\N{DASH}'|'\\|b'a'|\
            set()|a|'''a'''";
        for text in texts.split('|') {
            assert!(json_of_literal(text).is_err(), "{text}");
        }
        let deep = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert!(json_of_literal(&deep(DEEPEST)).is_ok());
        assert_eq!(json_of_literal(&deep(200_000)), Err(NotLiteral { offset: DEEPEST }));
    }

    /// Any JSON, including what only Python accepts.
    fn json() -> impl Strategy<Value = String> {
        let leaf = prop_oneof![
            "null|true|false|NaN|-?Infinity|-?[1-9][0-9]{0,30}|0|-0\\.0",
            any::<f64>().prop_filter("finite", |n| n.is_finite()).prop_map(|n| format!("{n:?}")),
            any::<String>().prop_map(|text| serde_json::json!(text).to_string()),
            r"(\\ud[89a-f][0-9a-f]{2}|'|\\n|\\\\|é){0,3}"
                .prop_map(|inside| format!("\"{inside}\"")),
        ];
        leaf.prop_recursive(4, 32, 6, |inner| {
            let entry = (any::<String>(), inner.clone());
            prop_oneof![
                prop::collection::vec(inner, 0..6)
                    .prop_map(|items| format!("[{}]", items.join(","))),
                prop::collection::vec(entry, 0..6).prop_map(|entries| {
                    let entry = |(key, value)| format!("{}:{value}", serde_json::json!(key));
                    format!("{{{}}}", entries.into_iter().map(entry).collect::<Vec<_>>().join(","))
                }),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_repr_writes_is_read_back(json in json()) {
            let repr = |json: &str| {
                let mut repr = String::new();
                push_repr_of_json(json, &mut repr).map(|()| repr)
            };
            let written = repr(&json).expect("JSON");
            let read = json_of_literal(&written).expect("a literal");
            prop_assert_eq!(repr(&read), Ok(written));
            prop_assert_eq!(str_of_json(&read), str_of_json(&json));
            if let Ok(value) = serde_json::from_str::<serde_json::Value>(&json) {
                prop_assert_eq!(serde_json::from_str::<serde_json::Value>(&read).ok(), Some(value));
            }
        }

        #[test]
        fn any_text_is_a_literal_or_none(text in r#"([\[\](){}:,'"\\xuU0-9.eTN \n-]|None|inf|é){0,20}"#) {
            if let Ok(json) = json_of_literal(&text) {
                prop_assert!(str_of_json(&json).is_ok(), "{json}");
            }
        }
    }
}
