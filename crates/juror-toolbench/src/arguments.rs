//! The arguments of a call, and the key that replies to them are kept under.

use juror_json::{self as json, python};
use serde_json::value::RawValue;

/// The key of arguments: an object, or a text that is JSON; an empty text stands for no arguments.
/// Nothing for what is neither.
pub fn argument_key(input: &RawValue) -> Option<String> {
    match input.get().as_bytes().first()? {
        b'{' => python::str_of_json(input.get()).ok(),
        b'"' => {
            let text = json::text_of(input)?;
            let text = if text.is_empty() { "{}" } else { &*text };
            python::str_of_json(text).ok()
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_objects_have_the_same_key() {
        let check = |json: &str, key: Option<&str>| {
            let input: &RawValue = serde_json::from_str(json).expect("JSON");
            assert_eq!(argument_key(input).as_deref(), key, "{json}");
        };
        check(r#"{"a": "it's"}"#, Some(r#"{'a': "it's"}"#));
        check(r#""{\"a\": \"it's\"}""#, Some(r#"{'a': "it's"}"#));
        check(r#""{\"a\": \"\\ud800\"}""#, Some(r"{'a': '\ud800'}"));
        check("\"\"", Some("{}"));
        check("\"[1]\"", Some("[1]"));
        check("\" \"", None);
        check("\"{\"", None);
        check("[1]", None);
        check("5", None);
    }
}
