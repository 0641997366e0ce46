//! Checks values against JSON Schemas, as far as the project's schemas go.

use serde_json::{Map, Value};

/// Returns everything in a value that does not fit a schema, with its place. A key that the schema
/// does not describe does not fit, so that no key is written without being documented.
pub fn misfits(value: &Value, schema: &Value) -> Vec<String> {
    let mut check = Check { root: schema, found: Vec::new() };
    check.check(value, schema, "");
    check.found
}

struct Check<'c> {
    root: &'c Value,
    found: Vec<String>,
}

impl<'c> Check<'c> {
    fn check(&mut self, value: &Value, schema: &'c Value, place: &str) {
        let schema = self.resolved(schema);
        if let Some(kinds) = schema.get("anyOf").and_then(Value::as_array) {
            let fits = |kind: &'c Value| {
                let mut check = Check { root: self.root, found: Vec::new() };
                check.check(value, kind, place);
                check.found.is_empty()
            };
            if !kinds.iter().any(fits) {
                self.found.push(format!("{place}: fits none of several schemas"));
            }
            return;
        }
        if !has_type(value, schema.get("type")) {
            self.found.push(format!("{place}: is not of type {}", schema["type"]));
        }
        match value {
            Value::Object(fields) => self.fields(fields, schema, place),
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.check(item, &schema["items"], &format!("{place}/{index}"));
                }
            }
            _ => {}
        }
        let words = schema.get("enum").and_then(Value::as_array);
        if words.is_some_and(|words| !words.contains(value)) {
            self.found.push(format!("{place}: is none of the words"));
        }
    }

    fn fields(&mut self, fields: &Map<String, Value>, schema: &'c Value, place: &str) {
        let required = schema.get("required").and_then(Value::as_array);
        for key in required.into_iter().flatten().filter_map(Value::as_str) {
            if !fields.contains_key(key) {
                self.found.push(format!("{place}/{key}: is missing"));
            }
        }
        // A schema without properties is that of any object.
        let is_any = schema.get("properties").or(schema.get("additionalProperties")).is_none();
        for (key, value) in fields.iter().filter(|_| !is_any) {
            let place = format!("{place}/{key}");
            match schema["properties"].get(key).or(schema.get("additionalProperties")) {
                Some(of_key) => self.check(value, of_key, &place),
                None => self.found.push(format!("{place}: is not described")),
            }
        }
    }

    /// Follows a reference to a definition.
    fn resolved(&self, schema: &'c Value) -> &'c Value {
        let place = schema.get("$ref").and_then(Value::as_str);
        let place = place.and_then(|place| place.strip_prefix('#'));
        place.map_or(schema, |place| self.root.pointer(place).unwrap_or(&Value::Null))
    }
}

fn has_type(value: &Value, wanted: Option<&Value>) -> bool {
    let is = |name: &Value| match name.as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("number") => value.is_number(),
        Some("boolean") => value.is_boolean(),
        Some("null") => value.is_null(),
        _ => false,
    };
    match wanted {
        None => true,
        Some(Value::Array(names)) => names.iter().any(is),
        Some(name) => is(name),
    }
}

#[cfg(test)]
mod tests {
    use super::misfits;
    use serde_json::json;

    #[test]
    fn what_does_not_fit_is_told_with_its_place() {
        let schema = json!({"type": "object", "required": ["a"],
            "properties": {"a": {"type": ["integer", "null"]}, "b": {"$ref": "#/$defs/b"},
                "c": {"anyOf": [{"type": "string"}, {"enum": [1]}]}},
            "$defs": {"b": {"additionalProperties": {"items": {"type": "string"}}}}});
        for (value, told) in [
            (json!({"a": null, "b": {"x": ["y"]}, "c": 1}), &[][..]),
            (json!({"b": {"x": [1]}}), &["/a: is missing", "/b/x/0: is not of type \"string\""]),
            (json!({"a": 1.5}), &["/a: is not of type [\"integer\",\"null\"]"]),
            (json!({"a": 1, "c": 2}), &["/c: fits none of several schemas"]),
            (json!({"a": 1, "d": 2}), &["/d: is not described"]),
            (json!([]), &[": is not of type \"object\""]),
        ] {
            assert_eq!(misfits(&value, &schema), told, "{value}");
        }
    }
}
