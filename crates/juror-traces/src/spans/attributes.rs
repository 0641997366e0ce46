//! The attributes of a span: flat, with dots in their keys, whether they were recorded so or nested.

use std::borrow::Cow;

use juror_json::cursor::{Cursor, Taken};
use serde_json::{Map, Number, Value};

use crate::look;

/// The value of an attribute.
#[derive(Clone, Debug)]
enum Any<'a> {
    /// OTLP's `{"stringValue": …}`, still as JSON text.
    Otlp(&'a str),
    Json(Value),
}

/// Attributes by keys with dots.
#[derive(Clone, Debug, Default)]
pub(crate) struct Attributes<'a> {
    entries: Vec<(Cow<'a, str>, Any<'a>)>,
}

impl<'a> Attributes<'a> {
    /// Reads OTLP's list of keys and values.
    pub(crate) fn of_otlp(list: &'a str) -> Attributes<'a> {
        Attributes::read(&mut Cursor::new(list)).unwrap_or_default()
    }

    /// Reads OTLP's list of keys and values where it stands.
    pub(crate) fn read(cursor: &mut Cursor<'a>) -> Taken<Attributes<'a>> {
        let mut attributes = Attributes::default();
        if !cursor.opens(b'[') {
            cursor.pass()?;
            return Ok(attributes);
        }
        while cursor.next_item()? {
            let [key, value] = cursor.fields(["key", "value"])?;
            if let (Some(key), Some(value)) = (key.and_then(unquoted), value) {
                attributes.entries.push((key, Any::Otlp(value)));
            }
        }
        Ok(attributes)
    }

    /// Takes attributes as JSON: flat, nested or both. Lists of objects become numbered keys.
    pub(crate) fn of_json(value: &Value) -> Attributes<'static> {
        let mut attributes = Attributes::default();
        if let Value::Object(object) = value {
            for (key, value) in object {
                attributes.flatten(key.clone(), value);
            }
        }
        attributes
    }

    /// Returns the JSON string of an attribute that is a text of OTLP.
    pub(crate) fn raw_text(&self, key: &str) -> Option<&'a str> {
        let (_, value) = self.entries.iter().find(|(known, _)| known == key)?;
        let Any::Otlp(text) = value else { return None };
        juror_json::cursor::first_field(text, "stringValue")
    }

    /// Replaces an attribute.
    pub(crate) fn set(&mut self, key: &str, value: Value) {
        if let Some((_, known)) = self.entries.iter_mut().find(|(known, _)| known == key) {
            *known = Any::Json(value);
        }
    }

    /// Adds an attribute.
    pub(crate) fn push(&mut self, key: String, value: Value) {
        self.entries.push((Cow::Owned(key), Any::Json(value)));
    }

    fn flatten(&mut self, key: String, value: &Value) {
        match value {
            Value::Object(object) if !object.is_empty() => {
                for (part, value) in object {
                    self.flatten(format!("{key}.{part}"), value);
                }
            }
            Value::Array(items) if items.iter().any(Value::is_object) => {
                for (at, value) in items.iter().enumerate() {
                    self.flatten(format!("{key}.{at}"), value);
                }
            }
            Value::Null => {}
            _ => self.push(key, value.clone()),
        }
    }

    /// Whether there is an attribute of this key, or one below it.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.entries.iter().any(|(known, _)| is_under(known, key).is_some())
    }

    /// Returns an attribute; if there are only attributes below it, all of them as one value.
    pub(crate) fn get(&self, key: &str) -> Option<Value> {
        let exact = self.entries.iter().find(|(known, _)| known == key);
        match exact {
            Some((_, value)) => Some(value.value()).filter(|value| !value.is_null()),
            None => self.below(key),
        }
    }

    /// Returns the first of several attributes.
    pub(crate) fn first<'k>(&self, keys: &[&'k str]) -> Option<(&'k str, Value)> {
        keys.iter().find_map(|key| Some((*key, self.get(key)?)))
    }

    /// Returns an attribute that is a text, or a number or boolean as one.
    pub(crate) fn text(&self, key: &str) -> Option<String> {
        let (_, value) = self.entries.iter().find(|(known, _)| known == key)?;
        look::scalar(&value.value())
    }

    /// Returns the first of several attributes that is a text.
    pub(crate) fn words(&self, keys: &[&str]) -> Option<String> {
        keys.iter().find_map(|key| self.text(key))
    }

    pub(crate) fn whole(&self, keys: &[&str]) -> Option<u64> {
        keys.iter().find_map(|key| look::whole(&self.get(key)?))
    }

    /// Returns the attributes below a key as one value: numbered parts become lists.
    fn below(&self, key: &str) -> Option<Value> {
        let mut tree = Value::Null;
        for (known, value) in &self.entries {
            if let Some(rest) = is_under(known, key).filter(|rest| !rest.is_empty()) {
                insert(&mut tree, rest, value.value());
            }
        }
        (!tree.is_null()).then(|| listed(tree))
    }

    /// Iterates over keys and values.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, Value)> {
        self.entries.iter().map(|(key, value)| (key.as_ref(), value.value()))
    }

    /// Iterates over keys.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|(key, _)| key.as_ref())
    }
}

impl Any<'_> {
    fn value(&self) -> Value {
        match self {
            Any::Otlp(text) => any_value(text),
            Any::Json(value) => value.clone(),
        }
    }
}

/// Returns what follows a key in a longer key; an empty text if both are equal.
fn is_under<'k>(known: &'k str, key: &str) -> Option<&'k str> {
    let rest = known.strip_prefix(key)?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix('.') }
}

fn insert(tree: &mut Value, path: &str, value: Value) {
    if !tree.is_object() {
        *tree = Value::Object(Map::new());
    }
    let Value::Object(object) = tree else { return };
    match path.split_once('.') {
        Some((part, rest)) => insert(object.entry(part).or_insert(Value::Null), rest, value),
        None => drop(object.insert(path.to_owned(), value)),
    }
}

/// Turns objects whose keys are all numbers into lists, in the order of the numbers.
fn listed(value: Value) -> Value {
    let Value::Object(object) = value else { return value };
    let is_number = |key: &String| {
        !key.is_empty() && key.len() < 10 && key.bytes().all(|byte| byte.is_ascii_digit())
    };
    if !object.is_empty() && object.keys().all(is_number) {
        let mut items: Vec<(u32, Value)> = object
            .into_iter()
            .map(|(key, value)| (key.parse().unwrap_or(u32::MAX), listed(value)))
            .collect();
        items.sort_by_key(|(number, _)| *number);
        return Value::Array(items.into_iter().map(|(_, value)| value).collect());
    }
    Value::Object(object.into_iter().map(|(key, value)| (key, listed(value))).collect())
}

/// Returns the text of a JSON string.
pub(super) fn unquoted(json: &str) -> Option<Cow<'_, str>> {
    json.strip_prefix('"')?.strip_suffix('"').map(juror_json::unescape)
}

/// Reads OTLP's `{"stringValue": …}` and its siblings.
pub(crate) fn any_value(text: &str) -> Value {
    // Nearly all values are texts.
    let mut cursor = Cursor::new(text);
    if cursor.opens(b'{')
        && let Ok(Some(key)) = cursor.next_key()
        && key == "stringValue"
        && let Ok(value) = cursor.value()
        && let Some(text) = unquoted(value)
    {
        return Value::String(text.into_owned());
    }
    serde_json::from_str(text).map(|value| decoded(&value)).unwrap_or_default()
}

/// Decodes a value of OTLP, in either spelling of its keys.
pub(crate) fn decoded(value: &Value) -> Value {
    let Value::Object(object) = value else { return value.clone() };
    let Some((kind, value)) = object.iter().next() else { return Value::Null };
    let values = || look::items(value, "values");
    match kind.as_str() {
        "intValue" | "int_value" => match value {
            Value::String(text) => text.parse::<i64>().map_or_else(|_| value.clone(), Value::from),
            _ => value.clone(),
        },
        "doubleValue" | "double_value" => match value {
            Value::String(text) => number(text).unwrap_or_else(|| value.clone()),
            _ => value.clone(),
        },
        "arrayValue" | "array_value" => Value::Array(values().iter().map(decoded).collect()),
        "kvlistValue" | "kvlist_value" => {
            let entry = |item: &Value| {
                let value = item.get("value").map(decoded).unwrap_or_default();
                Some((look::text(item, "key")?.to_owned(), value))
            };
            Value::Object(values().iter().filter_map(entry).collect())
        }
        _ => value.clone(),
    }
}

fn number(text: &str) -> Option<Value> {
    Number::from_f64(text.parse().ok()?).map(Value::Number)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_of_otlp_are_decoded() {
        let check = |text: &str, wanted: Value| assert_eq!(any_value(text), wanted, "{text}");
        check(r#"{"stringValue": "a\nb"}"#, json!("a\nb"));
        check(r#"{"intValue": "12"}"#, json!(12));
        check(r#"{"doubleValue": 1.5}"#, json!(1.5));
        check(r#"{"boolValue": true}"#, json!(true));
        check(
            r#"{"arrayValue": {"values": [{"intValue": 1}, {"stringValue": "x"}]}}"#,
            json!([1, "x"]),
        );
        check(
            r#"{"kvlistValue": {"values": [{"key": "a", "value": {"boolValue": false}}]}}"#,
            json!({"a": false}),
        );
        check("{}", Value::Null);
    }

    #[test]
    fn flat_nested_and_mixed_keys_are_the_same() {
        let flat =
            json!({"llm.messages.0.role": "user", "llm.messages.1.role": "tool", "llm.model": "m"});
        let nested =
            json!({"llm": {"messages": [{"role": "user"}, {"role": "tool"}], "model": "m"}});
        let mixed =
            json!({"llm.messages": [{"role": "user"}, {"role": "tool"}], "llm": {"model": "m"}});
        for value in [flat, nested, mixed] {
            let attributes = Attributes::of_json(&value);
            assert_eq!(
                attributes.get("llm.messages"),
                Some(json!([{"role": "user"}, {"role": "tool"}]))
            );
            assert_eq!(attributes.text("llm.model").as_deref(), Some("m"));
            assert!(attributes.has("llm.messages") && !attributes.has("llm.mess"));
        }
        let otlp = r#"[{"key": "a.b", "value": {"stringValue": "x"}}, {"value": {"intValue": "3"}, "key": "n"}]"#;
        let attributes = Attributes::of_otlp(otlp);
        assert_eq!(attributes.get("a"), Some(json!({"b": "x"})));
        assert_eq!(attributes.whole(&["n"]), Some(3));
    }
}
