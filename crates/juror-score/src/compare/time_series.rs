//! Steps that ask for time series, which compare by what was asked.

use serde_json::Value;

use super::View;
use crate::json::same_value;

/// The same series, and the same limit where the reference sets one.
pub(super) fn matches(expected: &View<'_>, actual: &View<'_>) -> bool {
    let args = |view: &View| (view.arg("mrid"), view.arg("limit"));
    let (expected_mrid, expected_limit) = args(expected);
    let (actual_mrid, actual_limit) = args(actual);
    if expected_mrid.as_ref().is_some_and(is_set) {
        let same_limit = !expected_limit.as_ref().is_some_and(is_set)
            || same_optional(expected_limit.as_ref(), actual_limit.as_ref());
        return same_names(expected_mrid.as_ref(), actual_mrid.as_ref()) && same_limit;
    }
    actual_mrid.is_none() && same_optional(expected_limit.as_ref(), actual_limit.as_ref())
}

/// Neither empty nor zero.
pub(super) fn is_set(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        Value::Bool(true) => true,
    }
}

pub(super) fn same_optional(a: Option<&Value>, b: Option<&Value>) -> bool {
    match (a, b) {
        (None, None) => true,
        (Some(a), Some(b)) => same_value(a, b),
        _ => false,
    }
}

/// The same names in any order; a single name stands for a list of one.
pub(super) fn same_names(a: Option<&Value>, b: Option<&Value>) -> bool {
    same_optional(a.map(names).as_ref(), b.map(names).as_ref())
}

fn names(value: &Value) -> Value {
    match value {
        Value::String(name) if !name.is_empty() => Value::Array(vec![value.clone()]),
        Value::Array(items) => {
            let mut items = items.clone();
            items.sort_by_key(ToString::to_string);
            Value::Array(items)
        }
        other => other.clone(),
    }
}
