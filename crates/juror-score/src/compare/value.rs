//! Outputs that compare by value: JSON, and anything else.

use super::View;
use crate::exact::same_json;

/// Equal when both are texts and identical, or both are other JSON of equal value.
pub(super) fn same_output(expected: &View<'_>, actual: &View<'_>) -> bool {
    let (Some(expected), Some(actual)) = (expected.output, actual.output) else { return false };
    match (expected.other_json(), actual.other_json()) {
        (None, None) => expected.is_same_text(actual),
        (Some(expected), Some(actual)) => same_json(expected, actual),
        _ => false,
    }
}

/// Equal when both read as JSON of equal value.
pub(super) fn same_json_output(expected: &View<'_>, actual: &View<'_>) -> bool {
    match (expected.text(), actual.text()) {
        (Some(a), Some(b)) => same_json(a, b),
        _ => false,
    }
}
