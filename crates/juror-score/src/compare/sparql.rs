//! Steps that return SPARQL results.

use std::fmt;

use serde::de::{Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::{Expectation, View};
use crate::json;
use crate::object::Key;
use crate::output::Output;
use crate::question::Rules;
use crate::solutions::{Comparison, Prepared, ResultFormat, SparqlResult};

/// Whether an actual output agrees with the expected one. What cannot be read as a result, such as
/// the text of a DESCRIBE query, agrees only with the identical text.
pub(super) fn matches(expected: &Expectation<'_>, actual: &View<'_>, format: ResultFormat) -> bool {
    if expected.view.is_written_like(actual) {
        return true;
    }
    match (expected.prepared(format), actual.result(format)) {
        (Some(expected), Some(actual)) => expected.compare(actual) == Comparison::Same,
        _ => expected.view.text().is_some() && expected.view.text() == actual.text(),
    }
}

/// Compares two results given as JSON text; 1 if they agree by the rules, else 0.
///
/// ```
/// use juror_score::Rules;
/// use juror_score::compare::compare_sparql_results;
/// let one = r#"{"head": {"vars": ["a"]}, "results": {"bindings": [{"a": {"type": "uri", "value": "u"}}]}}"#;
/// let two = r#"{"head": {"vars": ["z"]}, "results": {"bindings": [{"z": {"type": "uri", "value": "u"}}]}}"#;
/// assert_eq!(compare_sparql_results(one, two, &Rules::default()), 1.0);
/// ```
pub fn compare_sparql_results(reference: &str, actual: &str, rules: &Rules<'_>) -> f64 {
    let read = |text| SparqlResult::parse(text, ResultFormat::Json);
    let same = match (read(reference), read(actual)) {
        (Ok(reference), Ok(actual)) => {
            Prepared::new(&reference, rules).compare(&actual) == Comparison::Same
        }
        _ => reference == actual,
    };
    f64::from(u8::from(same))
}

/// Whether an output's text is a SPARQL result in JSON whose `results.bindings` are empty.
pub(crate) fn is_empty_output(output: Output<'_>) -> bool {
    let value = match output {
        Output::Json(value) => value,
        Output::Text(text) => return is_empty_result_text(text),
    };
    let has_rows = json::inside_of(value).is_some_and(clearly_has_rows);
    !has_rows && may_be_result(value.get()) && is_empty_result(&output.text())
}

/// Whether a text is a SPARQL result in JSON without rows, as outputs of steps are counted.
///
/// ```
/// use juror_score::compare::is_empty_result_text;
/// assert!(is_empty_result_text(r#"{"head": {}, "results": {"bindings": []}}"#));
/// assert!(!is_empty_result_text("[]"));
/// ```
pub fn is_empty_result_text(text: &str) -> bool {
    may_be_result(text) && !plainly_has_rows(text) && is_empty_result(text)
}

/// Whether a text has just one `bindings`, and that is a list with something in it.
fn plainly_has_rows(text: &str) -> bool {
    let key = memchr::memmem::Finder::new("\"bindings\"");
    let Some(at) = key.find(text.as_bytes()) else { return false };
    let rest = &text[at + "\"bindings\"".len()..];
    let list = rest.trim_ascii_start().strip_prefix(':').map(str::trim_ascii_start);
    let first = list.and_then(|list| list.strip_prefix('[')).map(str::trim_ascii_start);
    first.is_some_and(|first| first.starts_with('{'))
        && key.find(rest.as_bytes()).is_none()
        && memchr::memmem::find(text.as_bytes(), b"\\u00").is_none()
}

/// Whether the key can be there at all, as it is or escaped.
fn may_be_result(written: &str) -> bool {
    memchr::memmem::find(written.as_bytes(), b"bindings").is_some() || written.contains("\\u")
}

/// Whether a text, as it stands in a JSON string, has just one `bindings` and that is a list with
/// something in it. Then it is not empty, wherever it stands, and nothing needs to be unescaped.
fn clearly_has_rows(quoted: &str) -> bool {
    let bytes = quoted.as_bytes();
    let key = memchr::memmem::Finder::new("bindings");
    let Some(at) = key.find(bytes) else { return false };
    let rest = &quoted[at + "bindings".len()..];
    // A letter of the key could itself be escaped, in a second one that is not seen.
    let is_letter = |at: usize| matches!(bytes.get(at + 4), Some(b'6' | b'7'));
    let is_plain = || !memchr::memmem::find_iter(bytes, b"\\u00").any(is_letter);
    let list = rest.strip_prefix("\\\"").map(skip_space).and_then(|rest| rest.strip_prefix(':'));
    let first = list.map(skip_space).and_then(|rest| rest.strip_prefix('[')).map(skip_space);
    first.is_some_and(|first| first.starts_with('{'))
        && key.find(rest.as_bytes()).is_none()
        && is_plain()
}

/// What follows spaces and escaped line ends.
fn skip_space(text: &str) -> &str {
    let mut rest = text;
    while let Some(after) =
        [" ", "\\n", "\\t", "\\r"].iter().find_map(|space| rest.strip_prefix(space))
    {
        rest = after;
    }
    rest
}

/// Whether a text is a SPARQL result in JSON whose `results.bindings` are empty.
fn is_empty_result(text: &str) -> bool {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let found = (&mut deserializer).deserialize_map(ResultVisitor);
    matches!(found, Ok(true)) && deserializer.end().is_ok()
}

struct ResultVisitor;

impl<'de> Visitor<'de> for ResultVisitor {
    type Value = bool;
    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an object")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<bool, A::Error> {
        let mut empty = false;
        while let Some(Key(key)) = map.next_key()? {
            if key == "results" {
                empty = map.next_value::<Results>()?.0;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(empty)
    }
}

/// Whether `results` has empty `bindings`.
struct Results(bool);

impl<'de> Deserialize<'de> for Results {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ResultsVisitor;
        impl<'de> Visitor<'de> for ResultsVisitor {
            type Value = Results;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("an object with `bindings`")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Results, A::Error> {
                let mut empty = false;
                while let Some(Key(key)) = map.next_key()? {
                    if key == "bindings" {
                        empty = map.next_value::<Bindings>()?.0;
                    } else {
                        map.next_value::<IgnoredAny>()?;
                    }
                }
                Ok(Results(empty))
            }
        }
        deserializer.deserialize_map(ResultsVisitor)
    }
}

/// Whether `bindings` holds nothing; an error as soon as it holds something.
struct Bindings(bool);

impl<'de> Deserialize<'de> for Bindings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct BindingsVisitor;
        impl<'de> Visitor<'de> for BindingsVisitor {
            type Value = Bindings;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("no rows")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut rows: A) -> Result<Bindings, A::Error> {
                match rows.next_element::<IgnoredAny>()? {
                    Some(_) => Err(A::Error::custom("there are rows")),
                    None => Ok(Bindings(true)),
                }
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Bindings, A::Error> {
                match map.next_key::<IgnoredAny>()? {
                    Some(_) => Err(A::Error::custom("there is something")),
                    None => Ok(Bindings(true)),
                }
            }
            fn visit_unit<E>(self) -> Result<Bindings, E> {
                Ok(Bindings(true))
            }
        }
        deserializer.deserialize_any(BindingsVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_empty_as_the_output_that_says_it() {
        let check = |text: &str, wanted: bool| {
            let quoted = serde_json::value::to_raw_value(text).expect("a text");
            assert_eq!(is_empty_result_text(text), wanted, "{text}");
            assert_eq!(is_empty_output(Output::Json(&quoted)), wanted, "{text}");
            assert_eq!(is_empty_output(Output::Text(text)), wanted, "{text}");
        };
        check(r#"{"head": {}, "results": {"bindings": []}}"#, true);
        check(r#"{"head": {}, "results": {"bindings" : [ {"a": 1}]}}"#, false);
        check(r#"{"x": {"bindings": [{}]}, "results": {"bindings": []}}"#, true);
        check(r#"{"x": {"bindings": [{}]}, "results": {"\u0062indings": []}}"#, true);
        check(r#"{"results": {"b\u0069ndings": []}}"#, true);
        check(r#"{"results": {"bindings": []}"#, false);
        check("bindings", false);
    }

    #[test]
    fn an_output_is_empty_when_its_text_is() {
        for text in [
            r#"{"results": {"bindings": []}}"#,
            r#"{"results": {"bindings": [{}]}}"#,
            r#"{"x": {"bindings": [{}]}, "results": {"bindings": []}}"#,
            r#"{"x": {"bindings": [{}]}, "results": {"\u0062indings": []}}"#,
            "{\n  \"results\": {\n    \"bindings\": [\n      {}]}}",
            "{\n  \"results\": {\n    \"bindings\": [\n ]}}",
            "no result",
        ] {
            for quoted in [serde_json::Value::from(text).to_string(), escape_letters(text)] {
                let output = Output::Json(serde_json::from_str(&quoted).expect("a string"));
                assert_eq!(is_empty_output(output), is_empty_result(text), "{quoted}");
            }
        }
    }

    /// The text as a JSON string with every letter escaped.
    fn escape_letters(text: &str) -> String {
        let escaped: Vec<String> =
            text.chars().map(|c| format!("\\u{:04x}", u32::from(c))).collect();
        format!("\"{}\"", escaped.concat())
    }

    #[test]
    fn only_results_without_rows_are_empty() {
        for (text, empty) in [
            (r#"{"head": {}, "results": {"bindings": []}}"#, true),
            (r#"{"results": {"bindings": null}}"#, true),
            (r#"{"results": {"bindings": {}}}"#, true),
            (r#"{"results": {"bindings": [{}]}}"#, false),
            (r#"{"results": {"bindings": []}} trailing"#, false),
            (r#"{"results": {"bindings": []}"#, false),
            (r#"{"results": {"other": 1}}"#, false),
            (r#"{"results": 5}"#, false),
            (r#"{"results": "the bindings"}"#, false),
            (r#""text with results and bindings""#, false),
            (r#"{"results": {"\u0062indings": []}}"#, true),
            ("", false),
        ] {
            assert_eq!(is_empty_result(text), empty, "{text}");
        }
    }

    #[test]
    fn identical_texts_agree_even_when_unreadable() {
        let rules = Rules::default();
        assert_eq!(compare_sparql_results("ex:a ex:b ex:c .", "ex:a ex:b ex:c .", &rules), 1.0);
        assert_eq!(compare_sparql_results("ex:a ex:b ex:c .", "ex:a ex:b ex:d .", &rules), 0.0);
    }
}
