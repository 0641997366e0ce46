//! Looking into JSON values by keys.

use std::borrow::Cow;

use serde_json::Value;

/// Returns the value at a path of keys and indices, such as `["message", "content"]`.
pub(crate) fn at<'v>(value: &'v Value, path: &[&str]) -> Option<&'v Value> {
    let found = path.iter().try_fold(value, |value, key| match value {
        Value::Array(items) => items.get(key.parse::<usize>().ok()?),
        _ => value.get(key),
    })?;
    (!found.is_null()).then_some(found)
}

/// Returns the value of a key that is not `null`.
pub(crate) fn get<'v>(value: &'v Value, key: &str) -> Option<&'v Value> {
    value.get(key).filter(|found| !found.is_null())
}

/// Returns the first of several keys that is there and not `null`.
pub(crate) fn first<'v>(value: &'v Value, keys: &[&str]) -> Option<&'v Value> {
    keys.iter().find_map(|key| get(value, key))
}

/// Whether a value has a key, even if its value is `null`.
pub(crate) fn has(value: &Value, key: &str) -> bool {
    value.get(key).is_some()
}

/// Returns a text under a key.
pub(crate) fn text<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    value.get(key)?.as_str()
}

/// Returns a text under a key that is not empty.
pub(crate) fn words<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    text(value, key).filter(|text| !text.is_empty())
}

/// Returns the items of a list under a key; none if there is no list.
pub(crate) fn items<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Returns a text, or a number or boolean as one.
pub(crate) fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(bool) => Some(bool.to_string()),
        _ => None,
    }
}

/// Returns an id: a text or a number, without blanks around it, which some examples have.
pub(crate) fn id(value: &Value, keys: &[&str]) -> Option<String> {
    keys.iter().find_map(|key| value.get(key).and_then(scalar))
}

/// Returns a whole number, which may be written as a text.
pub(crate) fn whole(value: &Value) -> Option<u64> {
    let of_text = || value.as_str()?.trim().parse().ok();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts of tokens")]
    let of_float = || value.as_f64().filter(|float| *float >= 0.0).map(|float| float as u64);
    value.as_u64().or_else(of_text).or_else(of_float)
}

/// Returns what a text says in JSON; any other value is returned as it is. `None` if the text is
/// not an object or a list.
pub(crate) fn parsed(value: &Value) -> Option<Cow<'_, Value>> {
    match value {
        Value::String(text) => structure(text).map(Cow::Owned),
        Value::Null => None,
        _ => Some(Cow::Borrowed(value)),
    }
}

/// Returns the object or list that a text spells in JSON.
pub(crate) fn structure(text: &str) -> Option<Value> {
    let text = text.trim();
    if !text.starts_with(['{', '[']) {
        return None;
    }
    serde_json::from_str(text).ok()
}

/// Returns the object or list that a text spells as Python's `repr` does.
pub(crate) fn python_structure(text: &str) -> Option<Value> {
    let text = text.trim();
    if !text.starts_with(['{', '[']) {
        return None;
    }
    let json = juror_json::python::json_of_literal(text).ok()?;
    serde_json::from_str(&json).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_are_found_by_paths() {
        let value = json!({"a": [{"b": 1}], "n": null, "t": " call_1 "});
        assert_eq!(at(&value, &["a", "0", "b"]), Some(&json!(1)));
        assert_eq!(at(&value, &["a", "1", "b"]), None);
        assert_eq!(at(&value, &["n"]), None);
        assert_eq!(first(&value, &["n", "t"]), Some(&json!(" call_1 ")));
        assert_eq!(id(&value, &["t"]).as_deref(), Some("call_1"));
        assert_eq!(whole(&json!("12")), Some(12));
        assert_eq!(python_structure("{'a': None}"), Some(json!({"a": null})));
        assert_eq!(structure("11.04"), None);
    }
}
