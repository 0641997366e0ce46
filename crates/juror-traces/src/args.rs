//! The arguments of a call: rule 2.

use serde_json::{Map, Value, json};

use crate::look;

/// The arguments of a call.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Args {
    /// The arguments; empty if they could not be read.
    pub value: Map<String, Value>,
    /// The text that could not be read as arguments.
    pub raw: Option<String>,
    /// Whether the record says nothing about arguments at all.
    pub is_missing: bool,
    /// Whether a plain text stands in for arguments, under the key `input`.
    pub is_plain: bool,
}

impl Args {
    /// Arguments that are not recorded.
    pub(crate) fn missing() -> Args {
        Args { is_missing: true, ..Args::default() }
    }

    /// Reads arguments that are an object, or a text that spells one in JSON. An empty text means no
    /// arguments; anything else is kept as it is and makes the call invalid.
    pub(crate) fn of(value: Option<&Value>) -> Args {
        match value {
            None | Some(Value::Null) => Args::missing(),
            Some(Value::Object(value)) => value.clone().into(),
            Some(Value::String(text)) => Args::of_text(text),
            Some(other) => Args { raw: Some(other.to_string()), ..Args::default() },
        }
    }

    /// Reads arguments written as a text of JSON.
    pub(crate) fn of_text(text: &str) -> Args {
        if text.trim().is_empty() {
            return Args::default();
        }
        match serde_json::from_str(text) {
            Ok(Value::Object(value)) => value.into(),
            Ok(Value::Null) => Args::default(),
            // Some frameworks encode the encoded text once more.
            Ok(Value::String(inner)) if look::structure(&inner).is_some() => Args::of_text(&inner),
            _ => Args { raw: Some(text.to_owned()), ..Args::default() },
        }
    }

    /// Reads what a span says about its input, which may be a plain text: JSON, or Python's `repr`,
    /// or else the argument `input`.
    pub(crate) fn of_input(value: &Value) -> Args {
        match value {
            Value::String(text) if text.trim().is_empty() => Args::default(),
            Value::String(text) => {
                let structure = look::structure(text).or_else(|| look::python_structure(text));
                match structure {
                    Some(Value::Object(value)) => unwrapped(value).into(),
                    Some(list) => json_object(json!({"input": list})).into(),
                    None if text.trim_start().starts_with('{') => Args::of_text(text),
                    None => Args::plain(value),
                }
            }
            Value::Object(value) => unwrapped(value.clone()).into(),
            Value::Null => Args::missing(),
            other => Args::plain(other),
        }
    }

    fn plain(value: &Value) -> Args {
        let value = json_object(json!({"input": value}));
        Args { value, is_plain: true, ..Args::default() }
    }

    /// The argument of a tool that takes a text: `{"input": …}`.
    pub(crate) fn input(value: &Value) -> Args {
        json_object(json!({"input": value})).into()
    }

    /// Whether the text of the arguments could not be read.
    pub(crate) fn is_invalid(&self) -> bool {
        self.raw.is_some()
    }

    /// Returns a text that is equal for equal arguments. Keys of objects are sorted.
    pub(crate) fn canonical(&self) -> String {
        match &self.raw {
            Some(raw) => raw.clone(),
            None => serde_json::to_string(&self.value).unwrap_or_default(),
        }
    }

    /// Returns the only argument, if there is one alone and it is no structure.
    pub(crate) fn only(&self) -> Option<String> {
        self.value.values().next().filter(|_| self.value.len() == 1).and_then(look::scalar)
    }

    /// Whether both may be the arguments of one call: they are equal, or one of them is unknown, or
    /// a plain text that the other has as its only argument.
    pub(crate) fn agree(&self, other: &Args) -> bool {
        let is_only = |plain: &Args, full: &Args| {
            plain.is_plain && full.value.len() == 1 && full.only() == plain.only()
        };
        self.is_missing
            || other.is_missing
            || (self.value == other.value && self.raw == other.raw)
            || is_only(self, other)
            || is_only(other, self)
    }

    /// Takes the arguments of another record of the same call, if they say more.
    pub(crate) fn fill_from(&mut self, other: &Args) {
        let is_better =
            self.is_missing || self.is_plain || (self.is_invalid() && !other.is_invalid());
        if is_better && !other.is_missing {
            *self = other.clone();
        }
    }
}

impl From<Map<String, Value>> for Args {
    fn from(value: Map<String, Value>) -> Args {
        Args { value, ..Args::default() }
    }
}

/// Frameworks wrap arguments in those of the function that they call: `{"args": [], "kwargs": {…}}`,
/// `{"input_str": "…", "inputs": {…}}`, `{"input": "{…}"}`.
fn unwrapped(value: Map<String, Value>) -> Map<String, Value> {
    const AROUND: [&str; 3] = ["args", "kwargs", "sanitize_inputs_outputs"];
    if let Some(Value::Object(kwargs)) = value.get("kwargs") {
        let has_args =
            value.get("args").and_then(Value::as_array).is_some_and(|args| !args.is_empty());
        if !has_args && value.keys().all(|key| AROUND.contains(&key.as_str())) {
            return kwargs.clone();
        }
    }
    if let Some(input) = value.get("input_str") {
        if let Some(Value::Object(inputs)) = value.get("inputs") {
            return inputs.clone();
        }
        return Args::of_input(input).value;
    }
    if let (1, Some(Value::String(text))) = (value.len(), value.get("input")) {
        let inner = look::structure(text).or_else(|| look::python_structure(text));
        if let Some(Value::Object(inner)) = inner {
            return inner;
        }
    }
    value
}

fn json_object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(value) => value,
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(value: Value, wanted: Value, raw: Option<&str>) {
        let args = Args::of(Some(&value));
        assert_eq!(Value::Object(args.value.clone()), wanted, "{value}");
        assert_eq!(args.raw.as_deref(), raw, "{value}");
    }

    #[test]
    fn arguments_are_objects_or_texts_of_json() {
        check(json!({"a": 1}), json!({"a": 1}), None);
        check(json!("{\"a\": 1}"), json!({"a": 1}), None);
        check(json!("\"{\\\"a\\\": 1}\""), json!({"a": 1}), None);
        check(json!(""), json!({}), None);
        check(json!("null"), json!({}), None);
        check(json!("{\"a\": "), json!({}), Some("{\"a\": "));
        check(json!("[1]"), json!({}), Some("[1]"));
        check(json!(7), json!({}), Some("7"));
        assert!(Args::of(None).is_missing);
    }

    #[test]
    fn inputs_of_spans_are_unwrapped() {
        let check = |input: Value, wanted: Value| {
            assert_eq!(Value::Object(Args::of_input(&input).value), wanted, "{input}");
        };
        check(json!("{'city': 'Oslo', 'days': 1}"), json!({"city": "Oslo", "days": 1}));
        check(json!("Norway"), json!({"input": "Norway"}));
        check(json!({"input": "{\"city\": \"Oslo\"}"}), json!({"city": "Oslo"}));
        check(json!({"input": "Oslo"}), json!({"input": "Oslo"}));
        check(json!({"kwargs": {"a": 1}}), json!({"a": 1}));
        let smol = json!({"args": [], "sanitize_inputs_outputs": true, "kwargs": {"a": 1}});
        check(smol, json!({"a": 1}));
        check(json!({"args": [1], "kwargs": {}}), json!({"args": [1], "kwargs": {}}));
        let traced = json!({"input_str": "{'a': 1}", "tags": [], "metadata": {}, "inputs": null});
        check(traced, json!({"a": 1}));
        check(json!({"input_str": "x", "inputs": {"q": "x"}}), json!({"q": "x"}));
    }

    #[test]
    fn a_plain_text_agrees_with_the_only_argument() {
        let plain = Args::of_input(&json!("Norway"));
        let full = Args::of(Some(&json!({"country": "Norway"})));
        assert!(plain.agree(&full) && full.agree(&plain));
        assert!(!plain.agree(&Args::of(Some(&json!({"country": "Peru"})))));
        let mut filled = plain;
        filled.fill_from(&full);
        assert_eq!(filled, full);
    }
}
