//! Steps that find an entity: whatever tool found it, the expected IRI must be in what it returned.

use serde_json::Value;

use super::View;

/// Whether an autocomplete search lists the expected IRI, or a query's output mentions it.
pub(super) fn matches(expected: &View<'_>, actual: &View<'_>) -> bool {
    let Some(iri) = expected.text() else { return false };
    match actual.name {
        "autocomplete_search" => actual.text().is_some_and(|output| lists(output, iri)),
        "sparql_query" => actual.contains(iri),
        _ => false,
    }
}

fn lists(output: &str, iri: &str) -> bool {
    let Ok(output) = serde_json::from_str::<Value>(output) else { return false };
    let Some(rows) = output["results"]["bindings"].as_array() else { return false };
    rows.iter()
        .filter_map(Value::as_object)
        .flat_map(|row| row.values())
        .any(|term| term["type"] == "uri" && term["value"] == iri)
}
