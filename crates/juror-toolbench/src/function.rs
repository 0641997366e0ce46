//! APIs as functions that a model can call, in the form of `OpenAI`.

use hashbrown::HashSet;
use indexmap::IndexMap;
use juror_json::{self as json, python};
use serde::{Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

use super::names::standard_name;
use super::tool_file::{Api, Parameter};

/// The length in characters that descriptions are cut to.
const LONGEST_DESCRIPTION: usize = 256;

/// How to describe a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// As the public agents do: lists optional parameters, gives default values as `example_value`,
    /// and calls every number an integer.
    Official,
    /// In plain JSON Schema: the default value is the `default` of an optional parameter and an
    /// example of a required one.
    Schema,
}

/// A function in a list of tools.
#[derive(Clone, Debug, Serialize)]
pub struct Function {
    r#type: &'static str,
    /// Its name, description and parameters.
    pub function: Signature,
}

/// The description of a function that a model sees.
#[derive(Clone, Debug, Serialize)]
pub struct Signature {
    /// The name to call.
    pub name: String,
    /// What it does.
    pub description: String,
    /// Its parameters.
    pub parameters: ParametersSchema,
}

/// The parameters of a function.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum ParametersSchema {
    /// Made from the list of a tool file.
    Listed(Schema),
    /// As a document has it.
    Own(Box<RawValue>),
}

/// Parameters that a tool file lists.
#[derive(Clone, Debug, Serialize)]
pub struct Schema {
    r#type: &'static str,
    /// Parameters by name, in order.
    #[serde(serialize_with = "as_map")]
    pub properties: IndexMap<String, Property>,
    /// Required parameters.
    pub required: Vec<String>,
    /// Optional parameters; JSON Schema has no such list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub optional: Option<Vec<String>>,
}

/// The description of a parameter.
#[derive(Clone, Debug, Serialize)]
pub struct Property {
    /// The JSON Schema type.
    pub r#type: &'static str,
    /// What it means.
    pub description: String,
    /// The type of a list's items, which providers require.
    #[serde(skip_serializing_if = "Option::is_none")]
    items: Option<Items>,
    #[serde(skip_serializing_if = "Option::is_none")]
    example_value: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    default: Option<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    examples: Vec<Value>,
}

/// The type of a list's items.
#[derive(Clone, Copy, Debug, Serialize)]
struct Items {
    r#type: &'static str,
}

fn as_map<S: Serializer>(
    properties: &IndexMap<String, Property>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(properties)
}

/// Describes an API as a function with the given name, for a tool with the given standard name.
///
/// Parameters go by their standard names; if two share one, the last counts. A parameter whose
/// standard name is empty cannot be passed: it is never listed, and only the official form
/// describes it.
///
/// An API with a schema of its own is described by that, and by its own words.
pub fn function(name: &str, standard_tool: &str, api: &Api, form: Form) -> Function {
    if let Some(described) = &api.described {
        let parameters = ParametersSchema::Own(described.schema.clone());
        let (name, description) = (name.to_owned(), api.description.clone());
        return Function {
            r#type: "function",
            function: Signature { name, description, parameters },
        };
    }
    let mut properties = IndexMap::new();
    let mut add = |list: &[Parameter], is_required: bool| -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        let mut listed: HashSet<String> = HashSet::new();
        for parameter in list {
            let name = standard_name(&parameter.name);
            if form == Form::Official || !name.is_empty() {
                properties.insert(name.clone(), property(parameter, is_required, form));
            }
            let is_repeated = form == Form::Schema && !listed.insert(name.clone());
            if !name.is_empty() && !is_repeated {
                names.push(name);
            }
        }
        names
    };
    let required = add(&api.required.list, true);
    let optional = add(&api.optional.list, false);
    let optional = (form == Form::Official).then_some(optional);
    let parameters =
        ParametersSchema::Listed(Schema { r#type: "object", properties, required, optional });
    let description = describe(name, standard_tool, api);
    let function = Signature { name: name.to_owned(), description, parameters };
    Function { r#type: "function", function }
}

fn describe(name: &str, standard_tool: &str, api: &Api) -> String {
    let tool =
        format!("This is the subfunction for tool \"{standard_tool}\", you can use this tool.");
    let text = python::trim(&api.description);
    if text.is_empty() {
        return tool;
    }
    // The model knows the function only by this name.
    let text = if api.name.is_empty() { text.to_owned() } else { text.replace(&api.name, name) };
    format!("{tool}The description of this function is: \"{}\"", cut(&text))
}

fn cut(text: &str) -> String {
    text.chars().take(LONGEST_DESCRIPTION).collect()
}

fn property(parameter: &Parameter, is_required: bool, form: Form) -> Property {
    let mut property = Property {
        r#type: json_type(&parameter.kind, form),
        description: cut(&parameter.description),
        items: None,
        example_value: None,
        default: None,
        examples: Vec::new(),
    };
    let says_something =
        |value: &&RawValue| python::str_of_json(value.get()).is_ok_and(|text| !text.is_empty());
    let value = parameter.default.as_deref().filter(says_something);
    match (form, value) {
        (Form::Official, value) => property.example_value = value.map(ToOwned::to_owned),
        (Form::Schema, Some(value)) => {
            let value = typed_value(value, property.r#type);
            property.items = value.as_ref().and_then(items_of);
            if is_required {
                property.examples.extend(value);
            } else {
                property.default = value;
            }
        }
        (Form::Schema, None) => {}
    }
    if property.r#type == "array" {
        // Tool files do not give the type of list items; most are strings.
        property.items.get_or_insert(Items { r#type: "string" });
    }
    property
}

/// Returns the type of a list's items, if they all have the same.
fn items_of(list: &Value) -> Option<Items> {
    let kind = |value: &Value| match value {
        Value::Bool(_) => Some("boolean"),
        Value::Number(number) if number.is_f64() => Some("number"),
        Value::Number(_) => Some("integer"),
        Value::Object(_) => Some("object"),
        Value::String(_) => Some("string"),
        Value::Array(_) | Value::Null => None,
    };
    let mut kinds = list.as_array()?.iter().map(kind);
    let first = kinds.next()??;
    kinds.all(|kind| kind == Some(first)).then_some(Items { r#type: first })
}

fn json_type(kind: &str, form: Form) -> &'static str {
    if form == Form::Official {
        return match kind {
            "NUMBER" => "integer",
            "BOOLEAN" => "boolean",
            _ => "string",
        };
    }
    match kind.to_ascii_lowercase().as_str() {
        "number" | "float" | "double" => "number",
        "integer" | "int" => "integer",
        "boolean" | "bool" => "boolean",
        "array" => "array",
        "object" => "object",
        _ => "string",
    }
}

/// Converts a value to the wanted type, since files write most numbers as strings. Returns `None`
/// if it has another type, as such an example would mislead.
fn typed_value(value: &RawValue, wanted: &str) -> Option<Value> {
    let parsed = |text: &str| serde_json::from_str::<Value>(text).ok();
    let text = json::text_of(value);
    let value = match (&text, wanted) {
        (Some(text), "string") => Value::String(text.clone().into_owned()),
        (None, "string") => Value::String(json::scalar_text(value)?.into_owned()),
        (Some(text), _) => parsed(&text.trim().to_ascii_lowercase())?,
        (None, _) => parsed(value.get())?,
    };
    let fits = match wanted {
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => true,
    };
    fits.then_some(value)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tool_file::Parameters;

    fn parameter(name: &str, kind: &str, default: &str) -> Parameter {
        let default = serde_json::from_str(default).ok();
        Parameter { name: name.into(), kind: kind.into(), description: "d".into(), default }
    }

    fn api() -> Api {
        let list = |list: Vec<Parameter>| Parameters { list, json: None };
        Api {
            name: "Get X".into(),
            description: " Get X of Y\n".into(),
            method: "GET".into(),
            url: String::new(),
            required: list(vec![parameter("ID", "NUMBER", "\"4\""), parameter("é", "STRING", "")]),
            optional: list(vec![
                parameter("full", "boolean", "\"True\""),
                parameter("n", "NUMBER", "\"many\""),
                parameter("city", "STRING", "5"),
            ]),
            schema: None,
            described: None,
        }
    }

    #[test]
    fn the_official_form_lists_what_is_optional() {
        let function = json!(function("get_x_for_t", "t", &api(), Form::Official));
        let parameters = &function["function"]["parameters"];
        assert_eq!(parameters["required"], json!(["is_id"]));
        assert_eq!(parameters["optional"], json!(["full", "n", "city"]));
        let id = json!({"type": "integer", "description": "d", "example_value": "4"});
        assert_eq!(parameters["properties"]["is_id"], id);
        let description = function["function"]["description"].as_str().expect("a text");
        assert!(description.ends_with(": \"get_x_for_t of Y\""), "{description}");
    }

    #[test]
    fn lists_say_what_they_hold() {
        let items = |default: &str| {
            let list = vec![parameter("p", "ARRAY", default)];
            let parameters = Parameters { list, json: None };
            let api = Api { required: parameters, ..api() };
            let function = json!(function("f", "t", &api, Form::Schema));
            let parameter = &function["function"]["parameters"]["properties"]["p"];
            assert_eq!(parameter["type"], "array");
            parameter["items"]["type"].as_str().map(str::to_owned)
        };
        for (default, kind) in [
            ("", "string"),
            ("\"[1, 2]\"", "integer"),
            ("[1, 2.5]", "string"),
            ("[2.5]", "number"),
            ("[[1]]", "string"),
            ("[\"a\"]", "string"),
        ] {
            assert_eq!(items(default).as_deref(), Some(kind), "{default}");
        }
    }

    #[test]
    fn the_schema_has_values_of_its_types() {
        let function = json!(function("get_x_for_t", "t", &api(), Form::Schema));
        let properties = json!({
            "is_id": {"type": "number", "description": "d", "examples": [4]},
            "full": {"type": "boolean", "description": "d", "default": true},
            "n": {"type": "number", "description": "d"},
            "city": {"type": "string", "description": "d", "default": "5"},
        });
        let wanted = json!({"type": "object", "properties": properties, "required": ["is_id"]});
        assert_eq!(function["function"]["parameters"], wanted);
    }
}
