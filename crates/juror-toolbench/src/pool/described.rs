//! An API as a document other than a tool file describes it.

use juror_json::{Object, text_of};
use serde_json::value::{RawValue, to_raw_value};

use crate::tool_file::{Parameter, Parameters};

/// What such a document says about an API beyond its name and description.
#[derive(Clone, Debug)]
pub struct Described {
    /// Which kind of document it is.
    pub kind: PoolKind,
    /// The JSON Schema of the arguments, as agents are offered it.
    pub schema: Box<RawValue>,
    /// The path of a request over HTTP, with placeholders; empty if the document has none.
    pub path: String,
    /// Where arguments go in a request over HTTP; empty if the document does not say.
    pub request: Vec<ArgumentPlace>,
    /// How the body of a request is written.
    pub body: BodyForm,
}

/// A kind of document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PoolKind {
    /// An `OpenAPI` document.
    OpenApi,
    /// A list of functions for models of `OpenAI`.
    Functions,
    /// The tools of an MCP server.
    Mcp,
}

impl PoolKind {
    /// The category of its tools, under which replies are kept.
    pub fn category(self) -> &'static str {
        match self {
            PoolKind::OpenApi => "OpenAPI",
            PoolKind::Functions => "Functions",
            PoolKind::Mcp => "MCP",
        }
    }
}

/// Where an argument goes in a request over HTTP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgumentPlace {
    /// The name of the argument.
    pub argument: String,
    /// Its name in the request.
    pub name: String,
    /// The part of the request.
    pub part: RequestPart,
    /// How lists and objects are written.
    pub style: ListStyle,
}

/// A part of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestPart {
    /// A placeholder in the path.
    Path,
    /// The query.
    Query,
    /// A header.
    Header,
    /// A cookie.
    Cookie,
    /// A field of the body.
    Field,
    /// The whole body.
    Body,
}

/// How lists and objects are written in paths, queries and headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListStyle {
    /// Values separated by a text, such as a comma.
    Joined(&'static str),
    /// The name repeated for each value.
    Repeated,
    /// `name[key]=value`.
    Deep,
    /// As JSON.
    Json,
}

/// How the body of a request is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BodyForm {
    /// As JSON.
    #[default]
    Json,
    /// As fields of a form.
    Form,
    /// As plain text.
    Text,
    /// In a way that Juror cannot write, such as files.
    Other,
}

/// Lists the parameters of a schema's top level, for searching and for models that play tools.
/// Returns the required and the optional ones.
pub(super) fn parameters_of(schema: &RawValue) -> (Parameters, Parameters) {
    let fields: Object<'_> = juror_json::from_str(schema.get()).unwrap_or_default();
    let required: Vec<String> = fields
        .get_set("required")
        .and_then(|list| serde_json::from_str(list.get()).ok())
        .unwrap_or_default();
    let (mut needed, mut optional) = (Listed::default(), Listed::default());
    let Some(properties) = fields.get_set("properties") else {
        return Default::default();
    };
    let properties: Object<'_> = juror_json::from_str(properties.get()).unwrap_or_default();
    for (name, value) in properties.iter() {
        let own: Object<'_> = juror_json::from_str(value.get()).unwrap_or_default();
        let text = |key| own.get_set(key).and_then(text_of).unwrap_or_default().into_owned();
        let parameter = Parameter {
            kind: text("type"),
            description: text("description"),
            default: own.get_set("default").map(ToOwned::to_owned),
            name: name.into_owned(),
        };
        let list = if required.contains(&parameter.name) { &mut needed } else { &mut optional };
        list.add(parameter, value);
    }
    (needed.parameters(), optional.parameters())
}

/// Parameters, and the same in the form of tool files.
#[derive(Default)]
struct Listed {
    list: Vec<Parameter>,
    json: Vec<String>,
}

impl Listed {
    fn add(&mut self, parameter: Parameter, schema: &RawValue) {
        let name = serde_json::json!(parameter.name);
        self.json.push(format!("{{\"name\":{name},\"schema\":{}}}", schema.get()));
        self.list.push(parameter);
    }

    fn parameters(self) -> Parameters {
        let json = format!("[{}]", self.json.join(","));
        let json = RawValue::from_string(json).ok().filter(|_| !self.list.is_empty());
        Parameters { list: self.list, json }
    }
}

/// The schema of a function without arguments.
pub(super) fn no_arguments() -> Box<RawValue> {
    // Serializing constants does not fail.
    to_raw_value(&serde_json::json!({"type": "object", "properties": {}})).unwrap_or_default()
}
