//! JSON as it was written.

use std::borrow::Cow;

use juror_json::python::Layout;
use juror_json::{self as json, python};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

/// A JSON value as it was written, or as it was made for writing. What is only copied may be no
/// JSON, if it came from a broken file: it is written as `null`.
#[derive(Clone, Debug)]
pub struct Json<'a>(Cow<'a, str>);

impl<'a> Json<'a> {
    /// No value.
    pub const NULL: Json<'static> = Json(Cow::Borrowed("null"));

    /// An empty text.
    pub const EMPTY: Json<'static> = Json(Cow::Borrowed(Json::EMPTY_TEXT));

    /// A list without items.
    pub const NO_ITEMS: Json<'static> = Json(Cow::Borrowed("[]"));

    pub(super) const EMPTY_TEXT: &'static str = "\"\"";

    /// The value of a text that is JSON, which the reader has seen to.
    pub(crate) fn read(text: &'a str) -> Json<'a> {
        Json(Cow::Borrowed(text))
    }

    /// A value that was written here.
    pub(crate) fn made(text: String) -> Json<'static> {
        Json(Cow::Owned(text))
    }

    /// A text as a value.
    pub fn of_text(text: &str) -> Json<'static> {
        // Texts can always be written.
        Json(Cow::Owned(serde_json::to_string(text).unwrap_or_default()))
    }

    /// A list of texts as a value.
    pub fn of_texts(texts: &[String]) -> Json<'static> {
        Json(Cow::Owned(serde_json::to_string(texts).unwrap_or_default()))
    }

    /// The value of a text, where that is JSON.
    pub fn parse(text: &'a str) -> Option<Json<'a>> {
        juror_json::from_str::<&RawValue>(text).ok().map(|value| Json::read(value.get()))
    }

    /// The JSON.
    pub fn get(&self) -> &str {
        &self.0
    }

    /// The text of a string, and nothing of another value. A lone surrogate, which JSON can write
    /// and UTF-8 cannot, becomes U+FFFD.
    pub fn text(&self) -> Option<Cow<'_, str>> {
        text_of(&self.0)
    }

    /// What Python's `str` makes of the value.
    pub fn python_str(&self) -> String {
        python::str_of_json(&self.0).unwrap_or_else(|_| self.0.clone().into_owned())
    }

    /// Whether Python takes the value for true: it is something and not empty.
    pub fn is_something(&self) -> bool {
        is_something(&self.0)
    }

    /// The value without what it was read from.
    pub fn into_owned(self) -> Json<'static> {
        Json(Cow::Owned(self.0.into_owned()))
    }
}

/// Values are the same where Python writes them the same, however they are spaced and escaped.
impl PartialEq for Json<'_> {
    fn eq(&self, other: &Json<'_>) -> bool {
        let repr = |json: &str| {
            let mut repr = String::new();
            python::push_repr_of_json(json, &mut repr).map(|()| repr)
        };
        self.0 == other.0 || repr(&self.0).is_ok_and(|one| repr(&other.0) == Ok(one))
    }
}

impl Serialize for Json<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match serde_json::from_str::<&RawValue>(&self.0) {
            Ok(raw) => raw.serialize(serializer),
            Err(_) => serializer.serialize_unit(),
        }
    }
}

/// Appends a value; one that is too deep to be laid out stays as it is, and what is no JSON is
/// `null`.
pub(crate) fn push_json(json: &str, layout: Layout, level: usize, out: &mut String) {
    if python::push_dump_of_json(json, layout, level, out).is_err() {
        let is_json = juror_json::from_str::<&RawValue>(json).is_ok();
        out.push_str(if is_json { json } else { "null" });
    }
}

/// The text of a JSON string, and nothing of another value.
pub(crate) fn text_of(json: &str) -> Option<Cow<'_, str>> {
    Some(json::unescape(json.strip_prefix('"')?.strip_suffix('"')?))
}

/// The text of a JSON string; empty for another value or none.
pub(crate) fn text_or_empty(json: Option<&str>) -> Cow<'_, str> {
    json.and_then(text_of).unwrap_or_default()
}

/// Whether Python takes a value for true.
pub(crate) fn is_something(json: &str) -> bool {
    match json.as_bytes().first() {
        Some(b'"') => json != "\"\"",
        Some(b'{' | b'[') => json[1..].trim_ascii_start().len() > 1,
        Some(b't') => true,
        Some(b'n' | b'f') | None => false,
        _ => json.parse::<f64>().is_ok_and(|number| number != 0.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn emptiness_is_pythons() {
        for json in ["\"\"", "{}", "[ ]", "0", "-0.0", "null", "false"] {
            assert!(!is_something(json), "{json}");
        }
        for json in ["\" \"", "{\"a\": 1}", "[0]", "0.1", "true", "[[]]"] {
            assert!(is_something(json), "{json}");
        }
    }

    #[test]
    fn what_is_no_json_is_written_as_null() {
        assert_eq!(serde_json::to_string(&Json::read("{broken")).expect("JSON"), "null");
        assert_eq!(serde_json::to_string(&Json::read("[1.0]")).expect("JSON"), "[1.0]");
    }

    #[test]
    fn values_are_the_same_however_they_are_written() {
        let json = |text| Json::parse(text).expect("JSON");
        assert_eq!(json(r#"{"a":"\u00e9"}"#), json(r#"{ "a": "é" }"#));
        assert_ne!(json("1"), json("1.0"));
        assert_ne!(json("\"1\""), json("1"));
        assert_ne!(Json::read("x"), Json::read("y"));
    }
}
