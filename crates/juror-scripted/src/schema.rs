//! Instances of JSON schemas.

use serde_json::{Map, Value, json};

/// How deep a schema is followed, because schemas can be recursive.
const DEPTH: usize = 16;

/// Returns a small instance of a schema: all members, no items, the first of every choice.
pub(crate) fn instance(schema: &Value) -> Value {
    build(schema, schema, DEPTH)
}

fn build(schema: &Value, root: &Value, depth: usize) -> Value {
    if depth == 0 {
        return Value::Null;
    }
    if let Some(only) = schema.get("const") {
        return only.clone();
    }
    if let Some(target) = schema["$ref"].as_str().and_then(|place| place.strip_prefix('#')) {
        return root.pointer(target).map_or(Value::Null, |schema| build(schema, root, depth - 1));
    }
    if let Some(first) = ["enum", "anyOf", "oneOf", "allOf"]
        .into_iter()
        .find_map(|choice| Some((choice, schema[choice].as_array()?.first()?)))
    {
        return match first {
            ("enum", value) => value.clone(),
            (_, schema) => build(schema, root, depth - 1),
        };
    }
    match type_of(schema).as_str() {
        "object" => Value::Object(members(schema, root, depth)),
        "array" => {
            let n_items = schema["minItems"].as_u64().unwrap_or(0);
            (0..n_items).map(|_| build(&schema["items"], root, depth - 1)).collect()
        }
        "integer" | "number" => number(schema),
        "boolean" => json!(true),
        "null" => Value::Null,
        _ => json!("automatic"),
    }
}

fn members(schema: &Value, root: &Value, depth: usize) -> Map<String, Value> {
    let properties = schema["properties"].as_object().into_iter().flatten();
    properties.map(|(name, member)| (name.clone(), build(member, root, depth - 1))).collect()
}

/// Returns 1, or the nearest number within the bounds: counts that are all 1 are consistent with
/// one another.
fn number(schema: &Value) -> Value {
    match (&schema["minimum"], &schema["maximum"]) {
        (least, _) if least.as_f64().is_some_and(|least| least > 1.0) => least.clone(),
        (_, most) if most.as_f64().is_some_and(|most| most < 1.0) => most.clone(),
        _ => json!(1),
    }
}

/// The type of a schema's instances, or the first of several. Gemini writes them in upper case.
pub(crate) fn type_of(schema: &Value) -> String {
    let name = match &schema["type"] {
        Value::Array(names) => names.iter().find(|name| *name != "null").unwrap_or(&Value::Null),
        name => name,
    };
    match name.as_str() {
        Some(name) => name.to_lowercase(),
        None if schema["properties"].is_object() => "object".to_owned(),
        None => String::new(),
    }
}

/// Finds the first object schema that is written out in a text.
pub(crate) fn find_in(text: &str) -> Option<Value> {
    text.match_indices('{').find_map(|(start, _)| {
        let mut values = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>();
        values.next()?.ok().filter(|value| value["properties"].is_object())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instance_is_small_and_takes_the_first_choice() {
        for (schema, expected) in [
            (json!({"type": "string"}), json!("automatic")),
            (json!({"enum": ["a", "b"]}), json!("a")),
            (json!({"type": "INTEGER"}), json!(1)),
            (json!({"type": "number", "maximum": 0.5}), json!(0.5)),
            (json!({"type": ["null", "boolean"]}), json!(true)),
            (json!({"type": "array", "items": {"const": 3}}), json!([])),
            (json!({"type": "array", "items": {"const": 3}, "minItems": 2}), json!([3, 3])),
            (json!({"anyOf": [{"type": "number"}, {"type": "null"}]}), json!(1)),
            (
                json!({"properties": {"a": {"$ref": "#/$defs/b"}}, "$defs": {"b": {"enum": [0]}}}),
                json!({"a": 0}),
            ),
        ] {
            assert_eq!(instance(&schema), expected, "{schema}");
        }
    }

    #[test]
    fn a_schema_is_found_in_a_text() {
        let text = r#"Reply {so}: {"type": "object", "properties": {"a": {}}}. Thanks {}"#;
        assert_eq!(find_in(text), Some(json!({"type": "object", "properties": {"a": {}}})));
        assert_eq!(find_in("none {} here"), None);
    }
}
