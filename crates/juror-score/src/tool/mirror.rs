//! Reading what a simulator wrote: replies that are JSON, and those that nearly are.

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use crate::object::Object;

/// What a tool answers.
#[derive(Clone, Debug, Serialize)]
pub struct Reply {
    /// What went wrong; commonly an empty text.
    pub error: Box<RawValue>,
    /// What the tool says.
    pub response: Box<RawValue>,
}

/// What is done with the end of a text that was no JSON: it mostly is the end of the object
/// around the response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It stays in the response, as the public servers have it.
    Kept,
    /// One `"}` is taken off.
    Trimmed,
}

impl Reply {
    /// The reply that says there is none.
    pub fn failed() -> Reply {
        Reply::of_texts("Failed to generate fake response", "")
    }

    fn of_texts(error: &str, response: &str) -> Reply {
        // Texts can always be written.
        let raw = |text: &str| to_raw_value(text).unwrap_or_default();
        Reply { error: raw(error), response: raw(response) }
    }
}

/// Reads a simulator's text. Nothing comes of a text without `error` and `response`; the public
/// servers then answer [`Reply::failed`].
pub fn read_mirror_reply(text: &str, ending: Ending) -> Option<Reply> {
    if serde_json::from_str::<&RawValue>(text).is_ok() {
        let fields: Object<'_> = serde_json::from_str(text).ok()?;
        let (error, response) = (fields.get("error")?, fields.get("response")?);
        return Some(Reply { error: error.to_owned(), response: response.to_owned() });
    }
    let (error, response) = rescue(text)?;
    let response = match ending {
        Ending::Kept => response,
        Ending::Trimmed => response.strip_suffix("\"}").unwrap_or(response),
    };
    // Of a text that was cut before anything was said, nothing can be told.
    (!error.is_empty() || !response.is_empty()).then(|| Reply::of_texts(error, response))
}

const MECHANISM: &str = "mechanism_of_the_api";

/// The error, and everything after the quote that opens the response.
fn rescue(text: &str) -> Option<(&str, &str)> {
    if text.contains(MECHANISM) {
        // What comes first may hold quotes, so the next field tells where each ends.
        let opened = starts_of(text, MECHANISM).next()?;
        let (_, rest) = up_to_field(opened, "error")?;
        return up_to_field(rest, "response");
    }
    starts_of(text, "error").find_map(|rest| {
        let (error, after) = rest.split_once('"')?;
        Some((error, field(after.strip_prefix(',')?, "response")?))
    })
}

/// What follows each `"name": "`.
fn starts_of<'a>(text: &'a str, name: &'static str) -> impl Iterator<Item = &'a str> {
    text.match_indices('"').filter_map(move |(at, _)| field(&text[at..], name))
}

/// What comes before and after the first `", "name": "`.
fn up_to_field<'a>(text: &'a str, name: &'static str) -> Option<(&'a str, &'a str)> {
    text.match_indices("\",")
        .find_map(|(at, end)| Some((&text[..at], field(&text[at + end.len()..], name)?)))
}

/// What follows `"name": "`, if the text begins with it.
fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let rest = text.trim_start().strip_prefix('"')?.strip_prefix(name)?;
    rest.strip_prefix("\":")?.trim_start().strip_prefix('"')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<(String, String)> {
        let reply = read_mirror_reply(text, Ending::Kept)?;
        Some((reply.error.get().to_owned(), reply.response.get().to_owned()))
    }

    fn check(text: &str, error: &str, response: &str) {
        assert_eq!(read(text), Some((error.to_owned(), response.to_owned())), "{text}");
    }

    #[test]
    fn json_is_taken_as_it_is() {
        check(r#"{"error": "", "response": {"a": 1.50}}"#, "\"\"", r#"{"a": 1.50}"#);
        check(r#"{"error": false, "response": []}"#, "false", "[]");
        check(r#"{"error": "a", "error": "", "response": ""}"#, "\"\"", "\"\"");
    }

    #[test]
    fn texts_that_are_nearly_json_are_rescued() {
        check(r#"{"error": "", "response": "a "b""#, "\"\"", r#""a \"b\"""#);
        check("x {\"error\" \"error\": \"e\",\n \"response\": \"r", "\"e\"", "\"r\"");
        let text = r#"{"mechanism_of_the_api": "a "b"", "error": "x "y"", "response": "r"}"#;
        check(text, r#""x \"y\"""#, r#""r\"}""#);
    }

    #[test]
    fn what_says_nothing_is_nothing() {
        for text in
            ["", "null", "[]", "{\"error\": \"\"}", "{\"error\": \"", "mechanism_of_the_api"]
        {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn an_ending_can_be_taken_off() {
        let reply = read_mirror_reply(r#"{"error": "", "response": "{"a":0}"}"#, Ending::Trimmed);
        assert_eq!(reply.expect("a reply").response.get(), r#""{\"a\":0}""#);
    }
}
