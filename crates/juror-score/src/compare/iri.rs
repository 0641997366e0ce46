//! Compares steps that find an entity: whatever the tool, its output must contain the expected IRI.

use hashbrown::HashMap;
use juror_json::{self as json, Object, text_of};
use serde_json::value::RawValue;

use super::View;

/// Whether an autocomplete search lists the expected IRI, or the output of a query contains it.
pub(super) fn matches(expected: &View<'_>, actual: &View<'_>) -> bool {
    let Some(iri) = expected.text() else { return false };
    match actual.name {
        "autocomplete_search" => actual
            .served_has_iri(iri)
            .unwrap_or_else(|| actual.text().is_some_and(|output| lists(output, iri))),
        "sparql_query" => actual.contains(iri),
        _ => false,
    }
}

fn lists(output: &str, iri: &str) -> bool {
    rows_of(output).unwrap_or_default().into_iter().any(|row| {
        let Ok(row) = json::from_str::<Object>(row.get()) else { return false };
        // If a column is repeated, its last value counts; names are collected only if that matters.
        if !row.iter().any(|(_, term)| is_uri(term, iri)) {
            return false;
        }
        let last: HashMap<_, _> = row.iter().collect();
        last.into_values().any(|term| is_uri(term, iri))
    })
}

/// Returns the rows of a SPARQL result in JSON.
fn rows_of(output: &str) -> Option<Vec<&RawValue>> {
    let output: Object = json::from_str(output).ok()?;
    let results: Object = json::from_str(output.get("results")?.get()).ok()?;
    json::from_str(results.get("bindings")?.get()).ok()
}

fn is_uri(term: &RawValue, iri: &str) -> bool {
    let Ok(term) = json::from_str::<Object>(term.get()) else { return false };
    let says = |field: &str, text: &str| {
        term.get(field).and_then(text_of).is_some_and(|found| found == text)
    };
    says("type", "uri") && says("value", iri)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::Output;
    use juror_sparql::{ResultFormat, SparqlResult};

    #[test]
    fn a_row_of_many_columns_is_looked_through_once() {
        let column = |at: usize| format!(r#""c{at}": {{"type": "uri", "value": "urn:{at}"}}"#);
        let columns: Vec<String> = (0..60_000).map(column).collect();
        let output = format!(r#"{{"results": {{"bindings": [{{{}}}]}}}}"#, columns.join(","));
        assert!(lists(&output, "urn:59999"));
        assert!(!lists(&output, "urn:60000"));
        assert_eq!(Output::Text(&output).served_has_iri("urn:60000"), None);
        let result = output.replace("]}}", r#"]}, "head": {"vars": ["c1"]}}"#);
        let table = SparqlResult::parse(&result, ResultFormat::Json);
        assert!(table.is_err_and(|why| why.is_too_large()));
    }

    #[test]
    fn only_uris_of_rows_are_listed() {
        let check = |rows: &str, wanted: bool| {
            let output = format!(r#"{{"head": {{}}, "results": {{"bindings": {rows}}}}}"#);
            assert_eq!(lists(&output, "urn:x"), wanted, "{rows}");
            let quoted = serde_json::value::to_raw_value(&output).expect("a text");
            for output in [Output::Text(&output), Output::Json(&quoted)] {
                let has_iri = output.served_has_iri("urn:x");
                assert!(has_iri.is_none_or(|has_iri| has_iri == wanted), "{output:?}");
            }
        };
        check(r#"[{"a": {"type": "uri", "value": "urn:x"}}]"#, true);
        check(r#"[{}, {"b": {"value": "urn\u003ax", "type": "uri", "more": [1]}}]"#, true);
        check(r#"[{"a": {"type": "literal", "value": "urn:x"}}]"#, false);
        check(r#"[{"a": {"type": "uri", "value": "urn:xy"}}]"#, false);
        check(r#"[{"a": {"type": "uri", "value": "urn:x"}, "a": null}]"#, false);
        check(r#"[5, null, {"a": "urn:x"}, {"a": {"type": "uri"}}]"#, false);
        check(r#"{"a": {"type": "uri", "value": "urn:x"}}"#, false);
        check(r#"[{"a": null}, {"a": {"type": "uri", "value": "urn:x"}}]"#, true);
        check("[]", false);
        check("[", false);
        assert!(!lists("no JSON with urn:x", "urn:x"));
        assert!(!lists(r#"{"results": null}"#, "urn:x"));
    }
}
