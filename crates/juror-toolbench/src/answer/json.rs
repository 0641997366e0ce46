//! JSON kept as written.

use std::borrow::Cow;

use juror_json::python::Layout;
use juror_json::{self as json, python};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

/// A JSON value as it was read, or as it was built for writing. A value copied from a broken file
/// may not be JSON; it is written as `null`.
#[derive(Clone, Debug)]
pub struct Json<'a>(Cow<'a, str>);

impl<'a> Json<'a> {
    /// `null`.
    pub const NULL: Json<'static> = Json(Cow::Borrowed("null"));

    /// The empty string.
    pub const EMPTY: Json<'static> = Json(Cow::Borrowed(Json::EMPTY_TEXT));

    /// The empty list.
    pub const NO_ITEMS: Json<'static> = Json(Cow::Borrowed("[]"));

    pub(super) const EMPTY_TEXT: &'static str = "\"\"";

    /// Wraps text that the caller has already found to be JSON.
    pub(crate) fn read(text: &'a str) -> Json<'a> {
        Json(Cow::Borrowed(text))
    }

    /// Wraps JSON that was built here.
    pub(crate) fn made(text: String) -> Json<'static> {
        Json(Cow::Owned(text))
    }

    /// Encodes a string.
    pub fn of_text(text: &str) -> Json<'static> {
        // Strings always serialize.
        Json(Cow::Owned(serde_json::to_string(text).unwrap_or_default()))
    }

    /// Encodes a list of strings.
    pub fn of_texts(texts: &[String]) -> Json<'static> {
        Json(Cow::Owned(serde_json::to_string(texts).unwrap_or_default()))
    }

    /// Parses `text`; returns `None` if it is not JSON.
    pub fn parse(text: &'a str) -> Option<Json<'a>> {
        juror_json::from_str::<&RawValue>(text).ok().map(|value| Json::read(value.get()))
    }

    /// Returns the JSON text.
    pub fn get(&self) -> &str {
        &self.0
    }

    /// Decodes a string; returns `None` for any other value. A lone surrogate, which JSON can write
    /// and UTF-8 cannot, becomes U+FFFD.
    pub fn text(&self) -> Option<Cow<'_, str>> {
        text_of(&self.0)
    }

    /// Returns what Python's `str` makes of the value.
    pub fn python_str(&self) -> String {
        python::str_of_json(&self.0).unwrap_or_else(|_| self.0.clone().into_owned())
    }

    /// Returns whether Python treats the value as true.
    pub fn is_something(&self) -> bool {
        is_something(&self.0)
    }

    /// Copies the value if it is borrowed.
    pub fn into_owned(self) -> Json<'static> {
        Json(Cow::Owned(self.0.into_owned()))
    }
}

/// Two values are equal if Python writes them the same, whatever their spacing and escapes.
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

/// Appends a value. A value nested too deeply to lay out is appended as it is; text that is not
/// JSON becomes `null`.
pub(crate) fn push_json(json: &str, layout: Layout, level: usize, out: &mut String) {
    if python::push_dump_of_json(json, layout, level, out).is_err() {
        let is_json = juror_json::from_str::<&RawValue>(json).is_ok();
        out.push_str(if is_json { json } else { "null" });
    }
}

/// Decodes a JSON string; returns `None` for any other value.
pub(crate) fn text_of(json: &str) -> Option<Cow<'_, str>> {
    Some(json::unescape(json.strip_prefix('"')?.strip_suffix('"')?))
}

/// Decodes a JSON string; returns an empty one for any other value or none.
pub(crate) fn text_or_empty(json: Option<&str>) -> Cow<'_, str> {
    json.and_then(text_of).unwrap_or_default()
}

/// Returns whether Python treats a value as true.
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
