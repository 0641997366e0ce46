//! Recognises outputs that are SPARQL results without rows.

use std::fmt;
use std::marker::PhantomData;

use juror_json::{self as json, ObjectKey};
use juror_sparql::{ResultFormat, SparqlResult};
use serde::de::{Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::output::Output;

/// Whether an output is a SPARQL result without rows. JSON and XML are recognised by their look, CSV
/// and TSV by the output's media type.
pub(super) fn is_empty_output(output: Output<'_>, format: Option<ResultFormat>) -> bool {
    let value = match output {
        Output::Json(value) => value,
        Output::Text(text) => return is_empty_text(text, format),
    };
    let Some(inside) = json::inside_of(value) else { return is_empty_json(value.get()) };
    let is_json = !clearly_has_rows(inside)
        && may_be_json_result(value.get())
        && is_empty_json(&output.text());
    is_json || (may_be_other_result(inside, format) && is_empty_other(&output.text(), format))
}

/// Whether a text is a SPARQL result without rows, as steps with empty results are counted. The
/// media type is that of the output.
///
/// ```
/// use juror_score::compare::is_empty_result_text;
/// assert!(is_empty_result_text(r#"{"head": {}, "results": {"bindings": []}}"#, None));
/// assert!(is_empty_result_text("name,weight\n", Some("text/csv")));
/// assert!(!is_empty_result_text("[]", None));
/// ```
pub fn is_empty_result_text(text: &str, media_type: Option<&str>) -> bool {
    is_empty_text(text, media_type.and_then(ResultFormat::from_media_type))
}

fn is_empty_text(text: &str, format: Option<ResultFormat>) -> bool {
    let is_json = may_be_json_result(text) && !plainly_has_rows(text) && is_empty_json(text);
    is_json || (may_be_other_result(text, format) && is_empty_other(text, format))
}

/// Whether a text, escaped or plain, can be a result in another format than JSON.
fn may_be_other_result(written: &str, format: Option<ResultFormat>) -> bool {
    let begins = skip_space(written.trim_ascii_start());
    is_delimited(format) || begins.starts_with('<') || begins.starts_with("\\u")
}

fn is_delimited(format: Option<ResultFormat>) -> bool {
    matches!(format, Some(ResultFormat::Csv | ResultFormat::Tsv))
}

/// Whether a text is a result in XML without rows, or a table of the given format with only a
/// header.
fn is_empty_other(text: &str, format: Option<ResultFormat>) -> bool {
    let text = text.trim_ascii_start();
    // Rows in TSV may start with `<` too, but its header does not.
    match format {
        _ if text.starts_with('<') => {}
        Some(format) => return SparqlResult::is_header_alone(text, format),
        None => return false,
    }
    if text.contains("<result>") {
        return false;
    }
    match SparqlResult::parse(text, ResultFormat::Xml) {
        Ok(SparqlResult::Table(table)) => table.n_rows == 0,
        Ok(SparqlResult::Truth(_)) | Err(_) => false,
    }
}

/// Whether a text contains `bindings` exactly once, followed by a list that is not empty.
fn plainly_has_rows(text: &str) -> bool {
    let key = memchr::memmem::Finder::new("\"bindings\"");
    let Some(at) = key.find(text.as_bytes()) else { return false };
    let rest = &text[at + "\"bindings\"".len()..];
    let list = rest.trim_ascii_start().strip_prefix(':').map(str::trim_ascii_start);
    let first = list.and_then(|list| list.strip_prefix('[')).map(str::trim_ascii_start);
    first.is_some_and(|first| first.starts_with('{'))
        && key.find(rest.as_bytes()).is_none()
        && !json::may_hide_letters(text)
}

/// Whether the key `bindings` can be there at all, plain or escaped.
fn may_be_json_result(written: &str) -> bool {
    memchr::memmem::find(written.as_bytes(), b"bindings").is_some() || written.contains("\\u")
}

/// Like [`plainly_has_rows`], for a text inside a JSON string. If this holds, the result is not
/// empty, and nothing needs to be unescaped.
fn clearly_has_rows(quoted: &str) -> bool {
    let bytes = quoted.as_bytes();
    let key = memchr::memmem::Finder::new("bindings");
    let Some(at) = key.find(bytes) else { return false };
    let rest = &quoted[at + "bindings".len()..];
    // A second key could be hidden by an escaped letter.
    let list = rest.strip_prefix("\\\"").map(skip_space).and_then(|rest| rest.strip_prefix(':'));
    let first = list.map(skip_space).and_then(|rest| rest.strip_prefix('[')).map(skip_space);
    first.is_some_and(|first| first.starts_with('{'))
        && key.find(rest.as_bytes()).is_none()
        && !json::may_hide_letters(quoted)
}

/// Skips spaces and escaped line breaks.
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
fn is_empty_json(text: &str) -> bool {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let found = (&mut deserializer).deserialize_map(LastField::<EmptyResults>::called("results"));
    matches!(found, Ok(Some(EmptyResults(true)))) && deserializer.end().is_ok()
}

/// Whether `results` has empty `bindings`.
struct EmptyResults(bool);

impl<'de> Deserialize<'de> for EmptyResults {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bindings = deserializer.deserialize_map(LastField::<Bindings>::called("bindings"))?;
        Ok(EmptyResults(matches!(bindings, Some(Bindings(true)))))
    }
}

/// Reads one field of an object, the last of its name, and skips the others.
struct LastField<T>(&'static str, PhantomData<T>);

impl<T> LastField<T> {
    fn called(name: &'static str) -> LastField<T> {
        LastField(name, PhantomData)
    }
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for LastField<T> {
    type Value = Option<T>;
    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "an object with `{}`", self.0)
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Option<T>, A::Error> {
        let mut last = None;
        while let Some(ObjectKey(key)) = map.next_key()? {
            if key == self.0 {
                last = Some(map.next_value()?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(last)
    }
}

/// Whether `bindings` is empty. Fails as soon as it has an item.
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
            assert_eq!(is_empty_result_text(text, None), wanted, "{text}");
            assert_eq!(is_empty_output(Output::Json(&quoted), None), wanted, "{text}");
            assert_eq!(is_empty_output(Output::Text(text), None), wanted, "{text}");
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
                assert_eq!(is_empty_output(output, None), is_empty_json(text), "{quoted}");
            }
        }
    }

    /// Returns the text as a JSON string with every letter escaped.
    fn escape_letters(text: &str) -> String {
        let escaped: Vec<String> =
            text.chars().map(|c| format!("\\u{:04x}", u32::from(c))).collect();
        format!("\"{}\"", escaped.concat())
    }

    #[test]
    fn tables_that_are_no_texts_of_json_can_be_empty_too() {
        let head = "<sparql><head><variable name='a'/></head>";
        let none = format!("\n<?xml version='1.0'?>\n{head}<results/></sparql>");
        let row = "<result><binding name='a'><uri>u</uri></binding></result>";
        let one = format!("{head}<results>{row}</results></sparql>");
        let csv = Some(ResultFormat::Csv);
        let tsv = Some(ResultFormat::Tsv);
        for (text, format, empty) in [
            (none.as_str(), None, true),
            (&none, Some(ResultFormat::Xml), true),
            (&one, None, false),
            (&one.replace("<result>", "<result >"), None, false),
            ("<sparql><head/><boolean>false</boolean></sparql>", None, false),
            ("<html><body>no rows</body></html>", None, false),
            ("name,weight\r\n", csv, true),
            ("name,weight\r\nIda,4\r\n", csv, false),
            ("", csv, false),
            ("?name\t?weight\n", tsv, true),
            ("?name\n<urn:a>\n", tsv, false),
            ("name,weight\n", None, false),
        ] {
            let quoted = serde_json::value::to_raw_value(text).expect("a text");
            assert_eq!(is_empty_output(Output::Json(&quoted), format), empty, "{text}");
            assert_eq!(is_empty_output(Output::Text(text), format), empty, "{text}");
        }
        for (object, empty) in [
            (r#"{"head": {"vars": ["a"]}, "results": {"bindings": []}}"#, true),
            (r#"{"head": {"vars": ["a"]}, "results": {"bindings": [{}]}}"#, false),
            ("[]", false),
            ("5", false),
        ] {
            let output = Output::Json(serde_json::from_str(object).expect("JSON"));
            assert_eq!(is_empty_output(output, None), empty, "{object}");
        }
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
            assert_eq!(is_empty_json(text), empty, "{text}");
        }
    }
}
