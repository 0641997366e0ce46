//! Steps that compare by what they were called with.

use serde_json::{Map, Value};

use super::View;
use crate::json::same_value;

/// Whether both were called with the same arguments: no more and no fewer, equal as JSON.
pub(super) fn matches(expected: &View<'_>, actual: &View<'_>) -> bool {
    same_value(&expected.args(), &actual.args())
}

/// An argument that differs: its name, and what was wanted and given.
pub(crate) type Differing = (String, Option<Value>, Option<Value>);

/// The arguments that differ.
pub(crate) fn differing(expected: &View<'_>, actual: &View<'_>) -> Vec<Differing> {
    let (Value::Object(expected), Value::Object(mut actual)) = (expected.args(), actual.args())
    else {
        return Vec::new();
    };
    let mut differing = Vec::new();
    for (name, wanted) in expected {
        let given = actual.remove(&name);
        if !given.as_ref().is_some_and(|given| same_value(&wanted, given)) {
            differing.push((name, Some(wanted), given));
        }
    }
    differing.extend(actual.into_iter().map(|(name, given)| (name, None, Some(given))));
    differing
}

impl View<'_> {
    /// The arguments, none where they are left out. Those written as a text of JSON, as some
    /// recordings have them, count as that JSON.
    fn args(&self) -> Value {
        let none = Value::Object(Map::new());
        let Some(raw) = self.fields.get_set("args") else { return none };
        match serde_json::from_str(raw.get()) {
            Ok(Value::String(text)) => match serde_json::from_str(&text) {
                Ok(object @ Value::Object(_)) => object,
                _ => Value::String(text),
            },
            Ok(value) => value,
            Err(_) => none,
        }
    }
}
