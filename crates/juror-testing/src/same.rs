//! Compares results with expectations.

use serde_json::Value;

/// The outcome of a case, or why it failed.
pub type Checked = Result<(), String>;

/// Checks that two values are equal.
pub fn same(got: &Value, wanted: &Value) -> Checked {
    if got == wanted { Ok(()) } else { Err(format!("got {got}, wanted {wanted}")) }
}

/// Checks that two values are equal, with a tolerance for all numbers in them.
pub fn near(got: &Value, wanted: &Value) -> Checked {
    if is_near(got, wanted) { Ok(()) } else { Err(format!("got {got}, wanted {wanted}")) }
}

fn is_near(got: &Value, wanted: &Value) -> bool {
    match (got, wanted) {
        (Value::Number(got), Value::Number(wanted)) => {
            let (got, wanted) = (got.as_f64(), wanted.as_f64());
            got.zip(wanted)
                .is_some_and(|(got, wanted)| (got - wanted).abs() <= 1e-9 * wanted.abs().max(1.0))
        }
        (Value::Array(got), Value::Array(wanted)) => {
            got.len() == wanted.len() && got.iter().zip(wanted).all(|(a, b)| is_near(a, b))
        }
        (Value::Object(got), Value::Object(wanted)) => {
            got.len() == wanted.len()
                && wanted.iter().all(|(key, b)| got.get(key).is_some_and(|a| is_near(a, b)))
        }
        _ => got == wanted,
    }
}

/// Returns a string of a case.
///
/// # Panics
///
/// If it is not a string.
pub fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}
