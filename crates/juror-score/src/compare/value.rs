//! Compares outputs by value: as JSON, or as texts.

use super::View;

/// Whether both are the same text, or both are other JSON of equal value.
pub(super) fn same_output(expected: &View<'_>, actual: &View<'_>) -> bool {
    let (Some(wanted), Some(found)) = (expected.output, actual.output) else { return false };
    match (wanted.other_json(), found.other_json()) {
        (None, None) => wanted.is_same_text(found),
        (Some(a), Some(b)) => expected.json.same_json(a, &actual.json, b),
        _ => false,
    }
}

/// Whether both are JSON of equal value when parsed.
pub(super) fn same_json_output(expected: &View<'_>, actual: &View<'_>) -> bool {
    match (expected.text(), actual.text()) {
        (Some(a), Some(b)) => expected.json.same_json(a, &actual.json, b),
        _ => false,
    }
}
