//! Repairs JSON as programs write it, so that every reader accepts it.

use std::borrow::Cow;

/// Numbers that some writers produce and JSON does not allow.
const NO_NUMBERS: [&str; 3] = ["NaN", "-Infinity", "Infinity"];

/// Replaces half of a surrogate pair, which is not a character.
const NO_CHARACTER: &str = "\\ufffd";

/// The length of `\ud83d`.
const ESCAPE: usize = 6;

/// Turns `NaN` and the like into strings, and halves of surrogate pairs into U+FFFD. JSON that is
/// broken in other ways stays as it is.
pub(super) fn mend(json: &str) -> Cow<'_, str> {
    let has_word = NO_NUMBERS.iter().any(|word| json.contains(word));
    if !has_word && !json.contains("\\ud") && !json.contains("\\uD") {
        return Cow::Borrowed(json);
    }
    let mut mended = String::with_capacity(json.len() + 16);
    let mut rest = json;
    let mut is_inside = false;
    while let Some(c) = rest.chars().next() {
        let (taken, written) = match c {
            '\\' if is_inside => escape(rest),
            '"' => {
                is_inside = !is_inside;
                (1, None)
            }
            _ if is_inside => (c.len_utf8(), None),
            _ => match NO_NUMBERS.iter().find(|word| rest.starts_with(**word)) {
                Some(word) => (word.len(), Some(format!("\"{word}\""))),
                None => (c.len_utf8(), None),
            },
        };
        mended.push_str(written.as_deref().unwrap_or(&rest[..taken]));
        rest = &rest[taken..];
    }
    Cow::Owned(mended)
}

/// Returns the length of the escape that a text begins with, and its replacement if it needs one.
fn escape(text: &str) -> (usize, Option<String>) {
    let unit = |text: &str| {
        let digits = text.strip_prefix("\\u")?.get(..4)?;
        u16::from_str_radix(digits, 16).ok()
    };
    match unit(text) {
        None => (1 + text[1..].chars().next().map_or(0, char::len_utf8), None),
        Some(0xd800..=0xdbff) => match unit(&text[ESCAPE..]) {
            Some(0xdc00..=0xdfff) => (2 * ESCAPE, None),
            _ => (ESCAPE, Some(NO_CHARACTER.to_owned())),
        },
        Some(0xdc00..=0xdfff) => (ESCAPE, Some(NO_CHARACTER.to_owned())),
        Some(_) => (ESCAPE, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn what_other_writers_let_pass_is_read() {
        let check = |text: &str, wanted: Value| {
            let read: Value = serde_json::from_str(&mend(text)).expect("JSON");
            assert_eq!(read, wanted, "{text}");
        };
        check(
            r#"{"a": NaN, "b": [-Infinity, Infinity]}"#,
            json!({"a": "NaN", "b": ["-Infinity", "Infinity"]}),
        );
        check(r#"["NaN \" NaN", NaN]"#, json!(["NaN \" NaN", "NaN"]));
        check(
            r#"["\ud83d", "\ud83d\ude00", "\ude00x", "\ud83d\ud83d\ude00", "\u00e9"]"#,
            json!(["\u{fffd}", "😀", "\u{fffd}x", "\u{fffd}😀", "é"]),
        );
        check(r#"["\\ud83d", "\\\ud83d"]"#, json!(["\\ud83d", "\\\u{fffd}"]));
    }

    #[test]
    fn what_is_no_json_stays_none() {
        for text in ["NaN é \\ud", "{\"a\": \"\\ud8", "\"\\", "\"\\ud83d\\é\""] {
            mend(text);
        }
        assert!(matches!(mend("{\"a\": 1}"), Cow::Borrowed(_)));
    }
}
