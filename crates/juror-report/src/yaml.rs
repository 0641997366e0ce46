//! Writes YAML that all parsers read alike: strings that an older parser would take for something
//! else (`yes`, `12:30`, `2025-04-22`) are quoted, and strings with several lines become blocks.

use std::borrow::Cow;
use std::fmt::Write;

use juror_json::{Object, end_of_string, text_of};
use serde_json::value::RawValue;

/// Deeper values are written as JSON on one line, which is YAML as well.
const DEEPEST: usize = 64;

/// Longer keys are written with `?`, because parsers look for the end of a plain key in 1,024
/// characters only.
const LONGEST_KEY: usize = 1000;

/// Appends a JSON value as one item of a YAML list.
pub(crate) fn write_item(json: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(b"- ");
    write_text_value(json, 1, Position::AfterDash, out);
}

/// Appends a JSON value as a YAML document.
pub(crate) fn write_document(json: &str, out: &mut Vec<u8>) {
    write_text_value(json, 0, Position::LineStart, out);
}

/// Returns a JSON value as a YAML document.
pub fn yaml_of_json(json: &str) -> String {
    let mut out = Vec::new();
    write_document(json, &mut out);
    // Only texts are written.
    String::from_utf8(out).unwrap_or_default()
}

/// Where a value is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Position {
    LineStart,
    AfterDash,
    AfterKey,
}

/// Writes a JSON text. It was serialized or parsed before, so it is valid; if not, it is copied.
fn write_text_value(json: &str, depth: usize, place: Position, out: &mut Vec<u8>) {
    match serde_json::from_str::<&RawValue>(json) {
        Ok(value) => write_value(value, depth, place, out),
        Err(_) => write_flow(json, out),
    }
}

fn write_value(value: &RawValue, depth: usize, place: Position, out: &mut Vec<u8>) {
    let json = value.get();
    match json.as_bytes().first() {
        Some(b'"') => write_text(&text_of(value).unwrap_or_default(), depth, out),
        Some(b'{') if depth < DEEPEST => match serde_json::from_str::<Object>(json) {
            Ok(object) => write_object(&object, depth, place, out),
            Err(_) => write_line(json, out),
        },
        Some(b'[') if depth < DEEPEST => match serde_json::from_str::<Vec<&RawValue>>(json) {
            Ok(items) => write_list(&items, depth, place, out),
            Err(_) => write_line(json, out),
        },
        _ => write_flow(json, out),
    }
}

fn write_object(object: &Object<'_>, depth: usize, place: Position, out: &mut Vec<u8>) {
    let mut fields = object.iter().peekable();
    if fields.peek().is_none() {
        return write_line("{}", out);
    }
    if place == Position::AfterKey {
        out.push(b'\n');
    }
    for (index, (key, value)) in fields.enumerate() {
        if index > 0 || place != Position::AfterDash {
            indent(depth, out);
        }
        write_key(&key, depth, out);
        out.push(b':');
        let nested = matches!(value.get().as_bytes().first(), Some(b'{' | b'['));
        if !nested || depth + 1 >= DEEPEST || is_empty(value) {
            out.push(b' ');
        }
        // Lists are not indented under their key; the dashes set them off.
        let is_list = value.get().starts_with('[');
        let deeper = if is_list { depth } else { depth + 1 };
        write_value(value, deeper, Position::AfterKey, out);
    }
}

fn write_key(key: &str, depth: usize, out: &mut Vec<u8>) {
    let key = inline(key);
    if key.len() <= LONGEST_KEY {
        return out.extend_from_slice(key.as_bytes());
    }
    out.extend_from_slice(b"? ");
    write_line(&key, out);
    indent(depth, out);
}

/// Writes JSON on one line. Long keys are written with `?`.
fn write_flow(json: &str, out: &mut Vec<u8>) {
    let mut copied = 0;
    for (start, end) in strings_of(json) {
        write_numbers(&json[copied..start], out);
        let is_key = json[end..].trim_ascii_start().starts_with(':');
        if is_key && end - start > LONGEST_KEY {
            out.extend_from_slice(b"? ");
        }
        out.extend_from_slice(&json.as_bytes()[start..end]);
        copied = end;
    }
    write_numbers(&json[copied..], out);
    out.push(b'\n');
}

/// Writes JSON without strings. Older parsers take `1e-7` for a text: a number with an exponent needs a point,
/// and the exponent a sign.
fn write_numbers(json: &str, out: &mut Vec<u8>) {
    let is_of_number = |c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.' | 'e' | 'E');
    let mut rest = json;
    while let Some(start) = rest.find(|c: char| c == '-' || c.is_ascii_digit()) {
        let (before, number) = rest.split_at(start);
        let (number, after) =
            number.split_at(number.find(|c| !is_of_number(c)).unwrap_or(number.len()));
        out.extend_from_slice(before.as_bytes());
        match number.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => {
                let point = if mantissa.contains('.') { "" } else { ".0" };
                let sign = if exponent.starts_with(['+', '-']) { "" } else { "+" };
                out.extend_from_slice(format!("{mantissa}{point}e{sign}{exponent}").as_bytes());
            }
            None => out.extend_from_slice(number.as_bytes()),
        }
        rest = after;
    }
    out.extend_from_slice(rest.as_bytes());
}

/// Finds the strings in JSON: the range of each, including quotes.
fn strings_of(json: &str) -> impl Iterator<Item = (usize, usize)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + memchr::memchr(b'"', &json.as_bytes()[at..])?;
        at = end_of_string(json, start)?;
        Some((start, at))
    })
}

fn write_list(items: &[&RawValue], depth: usize, place: Position, out: &mut Vec<u8>) {
    if items.is_empty() {
        return write_line("[]", out);
    }
    if place == Position::AfterKey {
        out.push(b'\n');
    }
    for (index, item) in items.iter().enumerate() {
        if index > 0 || place != Position::AfterDash {
            indent(depth, out);
        }
        out.extend_from_slice(b"- ");
        write_value(item, depth + 1, Position::AfterDash, out);
    }
}

fn is_empty(value: &RawValue) -> bool {
    let json = value.get();
    json[1..json.len() - 1].trim_ascii().is_empty()
}

fn write_text(text: &str, depth: usize, out: &mut Vec<u8>) {
    let Some(mark) = block_mark(text) else { return write_line(&inline(text), out) };
    write_line(mark, out);
    for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
        if !line.is_empty() {
            indent(depth.max(1), out);
            out.extend_from_slice(line.as_bytes());
        }
        out.push(b'\n');
    }
}

/// The header of a block for a string with several lines, or `None` if it cannot be a block.
fn block_mark(text: &str) -> Option<&'static str> {
    let body = text.strip_suffix('\n').unwrap_or(text);
    let is_plain = |c: char| c == '\n' || (!c.is_control() && !is_odd(c));
    let fits = body.contains('\n')
        && !body.starts_with([' ', '\n'])
        && !body.ends_with('\n')
        && text.chars().all(is_plain);
    fits.then_some(if body.len() == text.len() { "|-" } else { "|" })
}

/// Characters that some parsers take for line breaks, or reject.
fn is_odd(c: char) -> bool {
    matches!(c, '\u{85}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

/// Writes a string on one line: plain if no parser could mistake it, else quoted.
fn inline(text: &str) -> Cow<'_, str> {
    if is_safe(text) { Cow::Borrowed(text) } else { Cow::Owned(quoted(text)) }
}

fn is_safe(text: &str) -> bool {
    // Words that some version of YAML does not read as strings.
    const WORDS: [&str; 9] = ["y", "n", "yes", "no", "on", "off", "true", "false", "null"];
    let first_fits = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_' || c == '/');
    let is_plain = |c: char| {
        (c.is_alphanumeric() && !is_odd(c))
            || matches!(c, ' ' | '_' | '-' | '.' | '/' | '(' | ')' | '+')
    };
    let last_fits = !text.ends_with(' ');
    first_fits
        && last_fits
        && text.chars().all(is_plain)
        && !WORDS.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// Quotes a string as in JSON, which is valid YAML once odd characters are escaped.
fn quoted(text: &str) -> String {
    let json = serde_json::Value::from(text).to_string();
    let mut quoted = String::with_capacity(json.len());
    for c in json.chars() {
        if is_odd(c) || (c.is_control() && c != '\n') {
            // Writing to a string does not fail.
            let _ = write!(quoted, "\\u{:04x}", u32::from(c));
        } else {
            quoted.push(c);
        }
    }
    quoted
}

fn indent(depth: usize, out: &mut Vec<u8>) {
    out.resize(out.len() + 2 * depth, b' ');
}

fn write_line(text: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(text.as_bytes());
    out.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_laid_out_in_blocks() {
        let json = r#"{"a": "plain text", "b": [1, [2, {}], {"c": null, "d": "two\nlines"}], "e": {"f": []}, "g": "x\ny\n"}"#;
        let mut out = Vec::new();
        write_item(json, &mut out);
        let expected = "- a: plain text\n  b:\n  - 1\n  - - 2\n    - {}\n  - c: null\n    d: |-\n      two\n      lines\n  e:\n    f: []\n  g: |\n    x\n    y\n";
        assert_eq!(String::from_utf8(out).expect("UTF-8"), expected);
    }

    #[test]
    fn numbers_stay_numbers_for_older_parsers() {
        for (json, yaml) in [
            ("1e-7", "1.0e-7\n"),
            ("-2.5E300", "-2.5e+300\n"),
            ("1e+22", "1.0e+22\n"),
            ("[1e5, -0, \"1e5\"]", "- 1.0e+5\n- -0\n- \"1e5\"\n"),
        ] {
            assert_eq!(yaml_of_json(json), yaml);
            let read = juror_document::yaml_to_json(yaml).expect("YAML");
            assert!(juror_document::same_json(&read, json), "{read} instead of {json}");
        }
        // Beyond the deepest block, JSON stands as it is but for its numbers.
        let deep = format!("{}{{\"e\": [1e5, true, \"2e5\"]}}{}", "[".repeat(70), "]".repeat(70));
        assert!(
            yaml_of_json(&deep)
                .ends_with(&format!("[{{\"e\": [1.0e+5, true, \"2e5\"]}}{}\n", "]".repeat(6)))
        );
    }

    #[test]
    fn what_could_be_mistaken_is_quoted() {
        for text in [
            "yes",
            "No",
            "on",
            "1_000",
            "12:30:45",
            "2025-04-22",
            "=",
            "<<",
            "~",
            "null",
            "",
            " a",
            "a ",
            "a: b",
            "a #b",
            "- a",
            "5",
            "é: x",
            "\u{7f}",
        ] {
            assert!(inline(text).starts_with('"'), "{text}");
        }
        assert_eq!(inline("List all items (of 3)"), "List all items (of 3)");
    }

    #[test]
    fn keys_of_any_length_read_back() {
        for length in [999, 1000, 1001, 1024, 5000] {
            for key in ["k".repeat(length), "é: ".repeat(length)] {
                let inner = serde_json::json!({&key: [1, {&key: {"k": 1}}], "z": {&key: key}});
                let mut value = serde_json::json!([inner, {"a": inner, &key: [[inner]]}]);
                for _ in 0..70 {
                    value = serde_json::json!([value]);
                }
                for value in [inner, value] {
                    let mut out = Vec::new();
                    write_document(&value.to_string(), &mut out);
                    let yaml = String::from_utf8(out).expect("UTF-8");
                    let read = juror_document::yaml_to_json(&yaml).expect("YAML");
                    let read: serde_json::Value = serde_json::from_str(&read).expect("JSON");
                    assert_eq!(read, value);
                }
            }
        }
    }

    /// Whatever the strings, the output is parsed to the same value.
    #[test]
    fn what_is_written_reads_back() {
        let texts = [
            "",
            "yes",
            "a\nb",
            "a\n b\n",
            "\n",
            " x\ny",
            "a\n\nb",
            "tab\there",
            "a\r\nb",
            "\"q\"",
            "\\",
            "é\u{2028}",
            "😀",
            "a\n\n",
            "#",
            "key: v",
            "\u{85}",
        ];
        for a in texts {
            for b in texts {
                let value = serde_json::json!([{a: b, "list": [b, [b], {"k": b}], "deep": {"k": {"k": b}}}]);
                let mut out = Vec::new();
                write_document(&value.to_string(), &mut out);
                let yaml = String::from_utf8(out).expect("UTF-8");
                let read =
                    juror_document::yaml_to_json(&yaml).unwrap_or_else(|e| panic!("{e}: {yaml}"));
                let read: serde_json::Value = serde_json::from_str(&read).expect("JSON");
                assert_eq!(read, value, "{yaml}");
            }
        }
    }
}
