//! Kinds of values, and equality by value.

use serde_json::Value;
use serde_json::value::RawValue;

/// Names the kind of a value, for messages.
#[inline]
pub fn kind_of(value: &RawValue) -> &'static str {
    match value.get().as_bytes().first() {
        Some(b'n') => "null",
        Some(b't' | b'f') => "a boolean",
        Some(b'"') => "a text",
        Some(b'[') => "a list",
        Some(b'{') => "an object",
        _ => "a number",
    }
}

/// Compares by value: `1` equals `1.0`, `true` does not equal `1`, and the order of keys does not
/// matter.
pub fn same_value(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => same_number(a, b),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_value(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same_value(a, b)))
        }
        _ => a == b,
    }
}

fn same_number(a: &serde_json::Number, b: &serde_json::Number) -> bool {
    if a == b {
        return true;
    }
    let whole = |number: &serde_json::Number| {
        number.as_i64().map(i128::from).or(number.as_u64().map(i128::from))
    };
    match (whole(a), whole(b)) {
        (Some(a), Some(b)) => a == b,
        (Some(whole), None) => same_whole_and_real(whole, b.as_f64()),
        (None, Some(whole)) => same_whole_and_real(whole, a.as_f64()),
        (None, None) => a.as_f64() == b.as_f64(),
    }
}

/// Compares as integers: converting a large integer to a float would round it.
#[expect(clippy::cast_possible_truncation, reason = "a number without a fraction is exact")]
fn same_whole_and_real(whole: i128, real: Option<f64>) -> bool {
    real.is_some_and(|real| real.fract() == 0.0 && real as i128 == whole)
}

/// Parses JSON into a tree of values, or returns `None` if the text is large or not JSON.
///
/// A tree of many small values takes a hundred times the memory of its text, so callers must be
/// able to work on large texts without one.
pub fn small_value(json: &str) -> Option<Value> {
    const LARGE: usize = 1 << 18;
    if json.len() > LARGE { None } else { serde_json::from_str(json).ok() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_compare_by_value() {
        let same = |a: &str, b: &str| {
            same_value(
                &serde_json::from_str(a).expect("JSON"),
                &serde_json::from_str(b).expect("JSON"),
            )
        };
        assert!(same(r#"{"a": 1, "b": [2.0]}"#, r#"{"b": [2], "a": 1.0}"#));
        assert!(!same("true", "1"));
        assert!(!same("[1, 2]", "[2, 1]"));
        assert!(!same("9007199254740993", "9007199254740992.0"));
    }
}
