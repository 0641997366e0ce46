//! Outputs that compare by value: JSON, and anything else.

use serde_json::Value;

use super::View;
use crate::json::same_value;

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

/// Whether two JSON texts have the same value: `1` = `1.0`, `true` ≠ `1`, keys in any order.
/// Texts that are not JSON are equal when identical.
fn same_json(a: &str, b: &str) -> bool {
    if a == b {
        return true;
    }
    match (serde_json::from_str::<Value>(a), serde_json::from_str::<Value>(b)) {
        (Ok(a), Ok(b)) => same_value(&a, &b),
        _ => false,
    }
}
