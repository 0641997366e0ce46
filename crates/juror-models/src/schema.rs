//! JSON Schemas of replies. Models write properties in the schema's order, so the order matters:
//! reasons first, the verdict last.

use std::fmt;

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Value, json};

/// A JSON Schema whose properties keep their order.
#[derive(Clone, Debug, PartialEq)]
pub struct Schema(SchemaShape);

#[derive(Clone, Debug, PartialEq)]
enum SchemaShape {
    /// A schema without properties.
    Plain(Value),
    List(Box<Schema>),
    /// An object with exactly these properties.
    Object(Vec<(String, Schema)>),
}

impl Schema {
    /// Creates a schema without properties from JSON.
    pub fn plain(schema: Value) -> Schema {
        Schema(SchemaShape::Plain(schema))
    }

    /// A text.
    pub fn text() -> Schema {
        Schema::plain(json!({"type": "string"}))
    }

    /// An integer.
    pub fn whole_number() -> Schema {
        Schema::plain(json!({"type": "integer"}))
    }

    /// 0 or 1.
    pub fn bit() -> Schema {
        Schema::plain(json!({"type": "integer", "enum": [0, 1]}))
    }

    /// One of these words.
    pub fn word(words: &[&str]) -> Schema {
        Schema::plain(json!({"type": "string", "enum": words}))
    }

    /// A list of items of a schema.
    pub fn list(items: Schema) -> Schema {
        Schema(SchemaShape::List(Box::new(items)))
    }

    /// An object with exactly these properties, in this order.
    pub fn object(properties: impl IntoIterator<Item = (impl Into<String>, Schema)>) -> Schema {
        let named = properties.into_iter().map(|(name, schema)| (name.into(), schema));
        Schema(SchemaShape::Object(named.collect()))
    }

    /// The schema in the dialect of Google's protocol: with a title instead of a name, and with the
    /// order of properties stated explicitly.
    pub(crate) fn for_google<'s>(&'s self, title: &'s str) -> impl Serialize + 's {
        WrittenSchema { schema: self, title: Some(title), says_order: true }
    }
}

/// A schema to be serialized.
struct WrittenSchema<'s> {
    schema: &'s Schema,
    title: Option<&'s str>,
    /// Whether to state the order of properties explicitly.
    says_order: bool,
}

impl WrittenSchema<'_> {
    fn part<'p>(&self, schema: &'p Schema) -> WrittenSchema<'p> {
        WrittenSchema { schema, title: None, says_order: self.says_order }
    }
}

/// Keys other than names of properties are in alphabetical order. Do not change it: the text is part
/// of the keys of kept replies.
impl Serialize for WrittenSchema<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match &self.schema.0 {
            SchemaShape::Plain(Value::Object(fields)) => {
                for (name, value) in fields {
                    map.serialize_entry(name, value)?;
                }
            }
            // A schema that is not an object allows anything.
            SchemaShape::Plain(_) => {}
            SchemaShape::List(items) => {
                map.serialize_entry("items", &self.part(items))?;
                map.serialize_entry("type", "array")?;
            }
            SchemaShape::Object(properties) => {
                let names: Vec<&String> = properties.iter().map(|(name, _)| name).collect();
                map.serialize_entry("additionalProperties", &false)?;
                map.serialize_entry("properties", &Properties { of: self, list: properties })?;
                if self.says_order {
                    map.serialize_entry("propertyOrdering", &names)?;
                }
                map.serialize_entry("required", &names)?;
                if let Some(title) = self.title {
                    map.serialize_entry("title", title)?;
                }
                map.serialize_entry("type", "object")?;
            }
        }
        map.end()
    }
}

struct Properties<'s> {
    of: &'s WrittenSchema<'s>,
    list: &'s [(String, Schema)],
}

impl Serialize for Properties<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.list.iter().map(|(name, schema)| (name, self.of.part(schema))))
    }
}

impl Serialize for Schema {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        WrittenSchema { schema: self, title: None, says_order: false }.serialize(serializer)
    }
}

/// Writes the schema as JSON, as it is sent.
impl fmt::Display for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Schema {
        let claim = Schema::object([("why", Schema::text()), ("holds", Schema::bit())]);
        Schema::object([("reason", Schema::text()), ("claims", Schema::list(claim))])
    }

    #[test]
    fn properties_are_written_in_the_order_given() {
        let text = example().to_string();
        let places = ["\"reason\":", "\"claims\":", "\"why\":", "\"holds\":"]
            .map(|name| text.find(name).expect("a property"));
        assert!(places.is_sorted(), "{text}");
        assert!(text.contains(r#""required":["why","holds"]"#), "{text}");
        let sorted: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(sorted["properties"]["claims"]["type"], "array");
        assert_eq!(sorted["additionalProperties"], false);
    }

    #[test]
    fn google_is_told_the_order_in_words_too() {
        let written = serde_json::to_value(example().for_google("verdict")).expect("JSON");
        assert_eq!(written["title"], "verdict");
        assert_eq!(written["propertyOrdering"], json!(["reason", "claims"]));
        let items = &written["properties"]["claims"]["items"];
        assert_eq!(items["propertyOrdering"], json!(["why", "holds"]));
        assert!(items.get("title").is_none());
    }
}
