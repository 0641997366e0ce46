//! Reads what a simulator wrote: replies that are JSON, and those that nearly are.

use juror_json::python::{dumps_text, entries_of_json, str_of_json};

/// A tool's reply, in JSON as Python reads it, where `NaN` is a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The error; usually an empty string.
    pub error: String,
    /// The response.
    pub response: String,
}

/// What to do with the end of a text that is not JSON, which is mostly the end of the object around
/// the response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Keep it in the response, as the public servers do.
    Kept,
    /// Remove one `"}`.
    Trimmed,
}

impl Reply {
    /// The reply that says there is none.
    pub fn failed() -> Reply {
        Reply::of_texts("Failed to generate fake response", "")
    }

    fn of_texts(error: &str, response: &str) -> Reply {
        Reply { error: dumps_text(error), response: dumps_text(response) }
    }

    /// Returns the whole reply as one object.
    pub fn json(&self) -> String {
        format!(r#"{{"error":{},"response":{}}}"#, self.error, self.response)
    }
}

/// Reads a simulator's text. Returns `None` if it lacks `error` or `response`; the public servers
/// then answer [`Reply::failed`].
pub fn read_mirror_reply(text: &str, ending: Ending) -> Option<Reply> {
    // Text that Python can parse either is a reply or is not: nothing is rescued from it.
    if let Ok(fields) = entries_of_json(text) {
        let field = |name: &str| {
            let (_, value) = fields.iter().find(|(own, _)| own == name)?;
            Some(value.trim().to_owned())
        };
        return Some(Reply { error: field("error")?, response: field("response")? });
    }
    if str_of_json(text).is_ok() {
        return None;
    }
    let (error, response) = rescue(text)?;
    let response = match ending {
        Ending::Kept => response,
        Ending::Trimmed => response.strip_suffix("\"}").unwrap_or(response),
    };
    // The text was cut off before it said anything.
    (!error.is_empty() || !response.is_empty()).then(|| Reply::of_texts(error, response))
}

const MECHANISM: &str = "mechanism_of_the_api";

/// Returns the error, and everything after the quote that opens the response.
fn rescue(text: &str) -> Option<(&str, &str)> {
    if text.contains(MECHANISM) {
        // The mechanism and the error may contain quotes, so each ends where the next field begins.
        let opened = starts_of(text, MECHANISM).next()?;
        let (_, rest) = up_to_field(opened, "error")?;
        return up_to_field(rest, "response");
    }
    starts_of(text, "error").find_map(|rest| {
        let (error, after) = rest.split_once('"')?;
        Some((error, field(after.strip_prefix(',')?, "response")?))
    })
}

/// Returns the text after each `"name": "`.
fn starts_of<'a>(text: &'a str, name: &'static str) -> impl Iterator<Item = &'a str> {
    text.match_indices('"').filter_map(move |(at, _)| field(&text[at..], name))
}

/// Returns the text before and after the first `", "name": "`.
fn up_to_field<'a>(text: &'a str, name: &'static str) -> Option<(&'a str, &'a str)> {
    text.match_indices("\",")
        .find_map(|(at, end)| Some((&text[..at], field(&text[at + end.len()..], name)?)))
}

/// Returns the text after a leading `"name": "`. Allows space before the colon, which the public
/// servers do only if the text describes the mechanism.
fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let rest = text.trim_start().strip_prefix('"')?.strip_prefix(name)?.strip_prefix('"')?;
    rest.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<(String, String)> {
        let reply = read_mirror_reply(text, Ending::Kept)?;
        Some((reply.error, reply.response))
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
    fn space_may_stand_before_colons() {
        check(r#"{"error" : "e1", "response" : "r1"s"#, "\"e1\"", r#""r1\"s""#);
        let text = "{\"mechanism_of_the_api\" : \"m\",\"error\"\n:\"e\", \"response\" : \"r\"s\"}";
        check(text, "\"e\"", r#""r\"s\"}""#);
        let twice = r#"{"error" : "e1", "response" : "r1", "error": "e2", "response": "r2"s"#;
        check(twice, "\"e1\"", r#""r1\", \"error\": \"e2\", \"response\": \"r2\"s""#);
    }

    #[test]
    fn what_python_takes_for_json_is_a_reply_as_it_is() {
        check(r#"{"error": "", "response": "a", "x": NaN}"#, "\"\"", "\"a\"");
        let text = r#"{"response": {"t": [NaN, -Infinity]}, "error": "e"}"#;
        check(text, "\"e\"", r#"{"t": [NaN, -Infinity]}"#);
        for text in ["NaN", "[NaN]", r#"{"x": {"error": "e", "response": "r"}, "y": NaN}"#] {
            assert_eq!(read(text), None, "{text}");
        }
        let reply = read_mirror_reply(text, Ending::Kept).expect("a reply");
        assert_eq!(reply.json(), r#"{"error":"e","response":{"t": [NaN, -Infinity]}}"#);
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
        assert_eq!(reply.expect("a reply").response, r#""{\"a\":0}""#);
    }
}
