//! The arguments of a call, and the key under which replies to them are stored.

use juror_json::{self as json, python};
use serde_json::value::RawValue;

/// Returns the key of arguments given as an object or as a string of JSON; an empty string means no
/// arguments. Returns `None` for anything else.
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
