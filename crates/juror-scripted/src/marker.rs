//! Markers: random words of sixteen lower-case hex digits, which clients put around judged texts.

use serde_json::Value;

const LENGTH: usize = 16;
const CONSTANT: &str = "marker";

/// Replaces every marker in a text by the same word.
pub(crate) fn without_in(text: &str) -> String {
    let mut normal = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(is_word) {
        let (before, from) = rest.split_at(start);
        let end = from.find(|letter| !is_word(letter)).unwrap_or(from.len());
        let (word, after) = from.split_at(end);
        normal.push_str(before);
        normal.push_str(if is_marker(word) { CONSTANT } else { word });
        rest = after;
    }
    normal.push_str(rest);
    normal
}

/// Replaces every marker in the strings of JSON by the same word.
pub(crate) fn without(json: &Value) -> Value {
    match json {
        Value::String(text) => Value::String(without_in(text)),
        Value::Array(items) => items.iter().map(without).collect(),
        Value::Object(members) => {
            members.iter().map(|(name, member)| (name.clone(), without(member))).collect()
        }
        other => other.clone(),
    }
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

fn is_marker(word: &str) -> bool {
    word.len() == LENGTH && word.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_is_a_word_of_sixteen_hex_digits() {
        for (text, normal) in [
            ("0123456789abcdef", "marker"),
            ("<0123456789abcdef>\n«fedcba9876543210»", "<marker>\n«marker»"),
            ("0123456789abcde", "0123456789abcde"),
            ("0123456789abcdef0", "0123456789abcdef0"),
            ("0123456789ABCDEF", "0123456789ABCDEF"),
            ("x_0123456789abcdef", "x_0123456789abcdef"),
            ("é", "é"),
            ("", ""),
        ] {
            assert_eq!(without_in(text), normal, "{text}");
        }
    }
}
