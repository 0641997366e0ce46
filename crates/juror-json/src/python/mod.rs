//! Values spelled as Python spells them, where its spelling is part of a published format.
//!
//! Published reply caches are keyed by Python's `str` of a call's arguments. [`str_of_json`] makes
//! that key from the JSON of the arguments in one pass, without building a value.

mod alnum;
mod dump;
mod layout;
mod literal;
mod number;
mod printable;
mod scan;
mod text;
mod value;

use std::cmp::Ordering;

use indexmap::IndexMap;

pub use dump::{JsonStyle, dump_json, entries_of_json};
pub use layout::{Layout, push_dump_of_json};
pub use literal::{NotLiteral, json_of_literal};
pub use value::NotJson;
use value::{EntryOrder, NumberForm, Quoting, ReprForm};

/// Returns Python's `repr` of a string.
pub fn repr_text(text: &str) -> String {
    let quote = text::quote_for(text.contains('\''), text.contains('"'));
    let mut repr = String::with_capacity(text.len() + 2);
    repr.push(quote);
    for c in text.chars() {
        text::write_quoted(&mut repr, u32::from(c), quote);
    }
    repr.push(quote);
    repr
}

/// Returns the result of Python's `str(json.loads(text))`.
///
/// If the whole value is a string, it has no quotes. `NaN`, `Infinity`, numbers of any size and lone
/// surrogates are read as Python reads them. A lone surrogate comes out as `\udXXX`, because UTF-8
/// cannot express it.
pub fn str_of_json(text: &str) -> Result<String, NotJson> {
    let mut out = String::with_capacity(text.len() + 16);
    value::write(text, &mut out, Quoting::Bare, ReprForm::default())?;
    Ok(out)
}

/// How the arguments of two calls may differ and still be alike.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Alike {
    /// In the spelling of numbers: `5`, `5.0` and `5e0` are the same number.
    pub numbers: bool,
    /// In the order of object entries.
    pub order: bool,
}

/// Like [`str_of_json`], but in a normal form that is equal for all arguments that are alike:
/// numbers written by value, object entries sorted by key.
pub fn alike_str_of_json(text: &str, alike: Alike) -> Result<String, NotJson> {
    let mut out = String::with_capacity(text.len() + 16);
    let order = if alike.order { EntryOrder::Sorted } else { EntryOrder::Given };
    let numbers = if alike.numbers { NumberForm::ByValue } else { NumberForm::AsPython };
    value::write(text, &mut out, Quoting::Bare, ReprForm { order, numbers })?;
    Ok(out)
}

/// Appends the result of Python's `repr(json.loads(text))`. Leaves `out` unchanged on failure.
pub fn push_repr_of_json(text: &str, out: &mut String) -> Result<(), NotJson> {
    let length = out.len();
    value::write(text, out, Quoting::Quoted, ReprForm::default())
        .inspect_err(|_| out.truncate(length))
}

/// Returns the result of Python's `json.dumps(json.loads(text))`: ASCII, Python's numbers.
pub fn dumps_of_json(text: &str) -> Result<String, NotJson> {
    dump_json(text, JsonStyle::Spaced)
}

/// Returns a string as Python's `json.dumps` writes it.
pub fn dumps_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    text::write_json_text(&mut out, text.chars().map(u32::from));
    out
}

/// Returns the fields of a JSON object, read as Python does with control characters allowed in
/// strings, each value as [`dumps_of_json`] writes it. `None` if the JSON is not an object.
pub fn lenient_fields(text: &str) -> Result<Option<IndexMap<String, String>>, NotJson> {
    let text = escape_controls(text);
    if !text.trim_start().starts_with('{') {
        return dumps_of_json(&text).map(|_| None);
    }
    let entries = entries_of_json(&text)?;
    let field = |(name, value): (String, &str)| Ok((name, dumps_of_json(value)?));
    entries.into_iter().map(field).collect::<Result<_, NotJson>>().map(Some)
}

/// Escapes the control characters inside strings.
fn escape_controls(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    let (mut is_inside, mut is_escaped) = (false, false);
    for c in json.chars() {
        if is_inside && c < ' ' && !is_escaped {
            text::write_unit(&mut out, u32::from(c));
        } else {
            out.push(c);
        }
        if c == '"' && !is_escaped {
            is_inside = !is_inside;
        }
        is_escaped = is_inside && c == '\\' && !is_escaped;
    }
    out
}

/// Whether Python's `str.isalnum` holds for a character: a letter of any script, or a character
/// with a numeric value. Combining marks and circled letters are neither.
pub fn is_alphanumeric(c: char) -> bool {
    c.is_ascii_alphanumeric() || (!c.is_ascii() && is_in(&alnum::ALPHANUMERIC, u32::from(c)))
}

/// Trims like Python's `str.strip`, which knows four more whitespace characters than Unicode.
pub fn trim(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c))
}

/// Whether Python's `repr` writes a character unescaped.
fn is_printable(code: u32) -> bool {
    matches!(code, 0x20..0x7f) || (code >= 0x80 && !is_in(&printable::NOT_PRINTABLE, code))
}

fn is_in(runs: &[(u32, u32)], code: u32) -> bool {
    let place = |&(first, last): &(u32, u32)| match () {
        () if last < code => Ordering::Less,
        () if first > code => Ordering::Greater,
        () => Ordering::Equal,
    };
    runs.binary_search_by(place).is_ok()
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
        check("\u{a0}\u{2028}\u{200b}\u{e0001}", r"'\xa0\u2028\u200b\U000e0001'");
        check("\u{378}\u{1005f}", r"'\u0378\U0001005f'");
    }

    #[test]
    fn values_are_written_as_python_does() {
        let check = |json: &str, repr: &str| assert_eq!(str_of_json(json).as_deref(), Ok(repr));
        check(r#"{"a": [1, true, null, {}], "b": "x"}"#, "{'a': [1, True, None, {}], 'b': 'x'}");
        check(r#"{"a":1,"b":2,"\u0061":3}"#, "{'a': 3, 'b': 2}");
        check(r#" "it's" "#, "it's");
        check(r#"["\u0027\"", "\/", "\ud83d\ude00"]"#, "['\\'\"', '/', '😀']");
        check(r#"["\ud800", "\udc00'"]"#, "['\\ud800', \"\\udc00'\"]");
        check(r#""\ud800""#, r"\ud800");
        check("[NaN, Infinity, -Infinity]", "[nan, inf, -inf]");
        check("[-0, 123456789012345678901234567890]", "[0, 123456789012345678901234567890]");
    }

    #[test]
    fn json_is_written_as_python_does() {
        let check = |json: &str, dumped: &str| {
            assert_eq!(dumps_of_json(json).as_deref(), Ok(dumped), "{json}");
        };
        check(r#"{"a":[1,true,null,{}],"b":"x"}"#, r#"{"a": [1, true, null, {}], "b": "x"}"#);
        check(r#"{"b":1,"a":2,"b":3}"#, r#"{"b": 3, "a": 2}"#);
        check("\"é😀\u{7f}/\"", r#""\u00e9\ud83d\ude00\u007f/""#);
        check(r#""\ud800\/\u0041\b""#, r#""\ud800/A\b""#);
        check("[1.0, 1e5, -1e400, NaN, -Infinity]", "[1.0, 100000.0, -Infinity, NaN, -Infinity]");
        assert_eq!(dumps_text("a\"\\\n\u{1}"), r#""a\"\\\n\u0001""#);
        assert!(dumps_of_json("[1,]").is_err());
    }

    #[test]
    fn fields_are_read_with_control_characters() {
        let fields = lenient_fields("{\"a\": \"x\ny\",\n \"b\\\"\": NaN, \"a\": 5.10}");
        let fields = fields.expect("JSON").expect("an object");
        let fields: Vec<(&str, &str)> = fields.iter().map(|(k, v)| (&**k, &**v)).collect();
        assert_eq!(fields, [("a", "5.1"), ("b\"", "NaN")]);
        assert_eq!(lenient_fields(" [\"\t\"] "), Ok(None));
        assert_eq!(lenient_fields("{}"), Ok(Some(IndexMap::new())));
        for text in ["", "{", "{\"a\": \u{1}}", "{\"a\": 1,}", "{\"a\": 1} x"] {
            assert!(lenient_fields(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_repeated_key_keeps_its_place_among_many() {
        let fields: Vec<String> = (0..20).map(|n| format!("\"k{}\": {n}", n % 19)).collect();
        let key = str_of_json(&format!("{{{}}}", fields.join(", "))).expect("JSON");
        assert!(key.starts_with("{'k0': 19, 'k1': 1, "), "{key}");
        assert!(key.ends_with("'k18': 18}"), "{key}");
    }

    #[test]
    fn the_order_of_keys_can_be_left_out() {
        let alike = Alike { order: true, ..Alike::default() };
        let key = |json: &str| alike_str_of_json(json, alike).expect("JSON");
        assert_eq!(key(r#"{"b": 1, "a": {"d": 2, "c": 3}}"#), "{'a': {'c': 3, 'd': 2}, 'b': 1}");
        assert_eq!(key(r#"{"b": 0, "a": [], "b": 1}"#), "{'a': [], 'b': 1}");
    }

    #[test]
    fn what_python_refuses_is_refused() {
        let texts = [
            "",
            "{",
            "{]",
            "[1,]",
            "{\"a\":}",
            "{a: 1}",
            "01",
            "1.",
            ".5",
            "1e",
            "+1",
            "tru",
            "'a'",
            "\"",
            "\"\n\"",
            "\"\\x\"",
            "\"\\u12g4\"",
            "[1] 2",
            "- 1",
            "nan",
            "-NaN",
            "{\"a\" 1}",
        ];
        for text in texts {
            assert!(str_of_json(text).is_err(), "{text}");
        }
        let deep = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert!(str_of_json(&deep(200)).is_ok());
        assert!(str_of_json(&deep(200_000)).is_err());
    }

    #[test]
    fn a_failure_leaves_the_buffer_as_it_was() {
        let mut out = "key: ".to_owned();
        assert!(push_repr_of_json("[1, 2", &mut out).is_err());
        assert_eq!(out, "key: ");
        push_repr_of_json("\"a\"", &mut out).expect("JSON");
        assert_eq!(out, "key: 'a'");
    }

    #[test]
    fn letters_and_numbers_are_pythons() {
        for c in ['a', '0', 'é', '中', '½', '㊀', '²', '߀'] {
            assert!(is_alphanumeric(c), "{c}");
        }
        for c in ['_', '-', ' ', '\u{301}', 'Ⓐ', '👋', '\u{94d}'] {
            assert!(!is_alphanumeric(c), "{c}");
        }
    }
}
