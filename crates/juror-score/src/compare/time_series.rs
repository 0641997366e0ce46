//! Compares steps that retrieve time series, by their arguments.

use juror_json as json;
use serde_json::Value;
use serde_json::value::RawValue;

use super::View;
use juror_document::same_json;

/// Whether the series are the same, and the limit if the reference has one.
pub(super) fn matches(expected: &View<'_>, actual: &View<'_>) -> bool {
    let same_limit = || same_optional(expected.arg("limit"), actual.arg("limit"));
    let (expected_mrid, actual_mrid) = (expected.arg("mrid"), actual.arg("mrid"));
    if expected_mrid.is_some_and(is_set) {
        let is_any_limit = !expected.arg("limit").is_some_and(is_set);
        return same_names(expected_mrid, actual_mrid) && (is_any_limit || same_limit());
    }
    actual_mrid.is_none() && same_limit()
}

/// Whether a value is neither empty nor zero.
fn is_set(value: &RawValue) -> bool {
    let text = value.get();
    match json::kind_of(value) {
        "null" => false,
        "a boolean" => text == "true",
        "a number" => text.parse() != Ok(0.0),
        "a text" => text.len() > 2,
        _ => !text[1..text.len() - 1].trim_ascii().is_empty(),
    }
}

pub(super) fn same_optional(a: Option<&RawValue>, b: Option<&RawValue>) -> bool {
    match (a, b) {
        (None, None) => true,
        (Some(a), Some(b)) => same_json(a.get(), b.get()),
        _ => false,
    }
}

/// Whether the names are the same in any order; a single name counts as a list of one.
pub(super) fn same_names(a: Option<&RawValue>, b: Option<&RawValue>) -> bool {
    match (a.and_then(names), b.and_then(names)) {
        (Some(a), Some(b)) => {
            let same = |(a, b): (&&RawValue, &&RawValue)| same_json(a.get(), b.get());
            a.len() == b.len() && a.iter().zip(&b).all(same)
        }
        (None, None) => same_optional(a, b),
        _ => false,
    }
}

/// Returns the names in an order that, as far as possible, does not depend on how they are escaped.
fn names(value: &RawValue) -> Option<Vec<&RawValue>> {
    match json::kind_of(value) {
        "a text" => (value.get().len() > 2).then(|| vec![value]),
        "a list" => {
            let mut names: Vec<&RawValue> = serde_json::from_str(value.get()).ok()?;
            let text = |name: &RawValue| {
                let value = serde_json::from_str::<Value>(name.get());
                value.map_or_else(|_| name.get().to_owned(), |value| value.to_string())
            };
            names.sort_by_cached_key(|name| (text(name), name.get()));
            Some(names)
        }
        _ => None,
    }
}
