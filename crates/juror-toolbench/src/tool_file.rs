//! Reads tools and their APIs from tool files.
//!
//! Three layouts are in use: `category/tool.json`, `category/tool/api.json`, and one file per tool
//! without categories. The content of a file shows which it is; its folders name the category.

use std::sync::Arc;

use indexmap::IndexMap;
use juror_document::{Document, Look, Path, Problems};
use juror_json::Object;
use serde_json::value::RawValue;

use crate::pool::Described;

/// The category of tools that name no other.
pub const LAST_RESORT_CATEGORY: &str = "Data";

/// A tool: the APIs of one provider.
#[derive(Clone, Debug)]
pub struct Tool {
    /// The category as folders write it; `None` if neither folder nor file names it.
    pub category: Option<Arc<str>>,
    /// The raw name.
    pub name: String,
    /// The provider's description; often empty.
    pub description: String,
    /// The host that answers, if the file names it.
    pub host: String,
    /// The file it came from; the first if there are several.
    pub file: String,
    /// Its APIs.
    pub apis: Vec<Api>,
}

/// One callable operation of a tool.
#[derive(Clone, Debug)]
pub struct Api {
    /// The raw name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// The HTTP method.
    pub method: String,
    /// The address; empty if the file has none.
    pub url: String,
    /// The required parameters.
    pub required: Parameters,
    /// The optional parameters.
    pub optional: Parameters,
    /// The schema of its replies, as in the file.
    pub schema: Option<Box<RawValue>>,
    /// What a document other than a tool file says about it.
    pub described: Option<Arc<Described>>,
}

/// Parameters, parsed and as written in the file: simulators see the latter.
#[derive(Clone, Debug, Default)]
pub struct Parameters {
    /// The parameters in order; a name may be empty.
    pub list: Vec<Parameter>,
    /// The JSON list; `None` stands for an empty one.
    pub json: Option<Box<RawValue>>,
}

/// A parameter of an API.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// The raw name.
    pub name: String,
    /// The type as in the file: `STRING`, `NUMBER`, `BOOLEAN` and others.
    pub kind: String,
    /// What it means.
    pub description: String,
    /// The default value.
    pub default: Option<Box<RawValue>>,
}

/// The folders around a file, inside the tool folder.
#[derive(Clone, Debug, Default)]
pub struct Folders {
    /// The folder around the file.
    pub parent: Option<Arc<str>>,
    /// The folder around that.
    pub grandparent: Option<Arc<str>>,
}

/// The content of one file.
#[derive(Clone, Debug)]
pub enum Found {
    /// A whole tool.
    Tool(Tool),
    /// One API of a tool whose other APIs are in other files.
    Api(Tool),
}

/// Reads a file. Reports and skips what it cannot use.
pub fn read_tool_file(document: &Document, folders: &Folders) -> (Option<Found>, Problems) {
    let mut look = Look::new(document);
    let fields = look.top_object("a tool or an API");
    let found = fields.and_then(|fields| read(&mut look, &fields, document, folders));
    (found, look.problems())
}

fn read<'d>(
    look: &mut Look<'d>,
    fields: &Object<'d>,
    document: &'d Document,
    folders: &Folders,
) -> Option<Found> {
    let (top, whole) = (Path::default(), document.json());
    let is_api = fields.get("api_list").is_none() && fields.get("api_name").is_some();
    let folder = if is_api { &folders.grandparent } else { &folders.parent };
    let name = match folders.parent.as_deref() {
        Some(parent) if is_api && fields.get_set("tool_name").is_none() => parent.to_owned(),
        _ => look.required_text((fields, whole), "tool_name", "tool", &top)?,
    };
    let apis = if is_api {
        vec![read_api(look, (fields, whole), "api_name", "api_description", &top)?]
    } else {
        read_apis(look, fields, &top)
    };
    let tool = Tool {
        category: folder.clone().or_else(|| named_category(look, fields, &top)),
        name,
        description: look.text(fields, "tool_description", &top).into_owned(),
        host: look.text(fields, "host", &top).into_owned(),
        file: document.name().to_owned(),
        apis,
    };
    Some(if is_api { Found::Api(tool) } else { Found::Tool(tool) })
}

fn named_category<'d>(look: &mut Look<'d>, fields: &Object<'d>, path: &Path) -> Option<Arc<str>> {
    let names = ["category_name", "tool_category", "category"];
    let mut texts = names.map(|name| look.text(fields, name, path)).into_iter();
    texts.find(|text| !text.is_empty()).map(Arc::from)
}

fn read_apis<'d>(look: &mut Look<'d>, fields: &Object<'d>, path: &Path) -> Vec<Api> {
    let mut apis = Vec::new();
    for (index, value) in look.list_field(fields, "api_list", path).into_iter().enumerate() {
        let path = path.key("api_list").index(index);
        if let Some(fields) = look.object(value, &path, "an API") {
            apis.extend(read_api(look, (&fields, value.get()), "name", "description", &path));
        }
    }
    apis
}

/// Reads an API. `name` and `description` are its keys, which differ between layouts.
pub(super) fn read_api<'d>(
    look: &mut Look<'d>,
    (fields, part): (&Object<'d>, &str),
    name: &'static str,
    description: &'static str,
    path: &Path,
) -> Option<Api> {
    let schema = fields.get_set("schema").or(fields.get_set("template_response"));
    Some(Api {
        name: look.required_text((fields, part), name, "API", path)?,
        description: look.text(fields, description, path).into_owned(),
        method: look.text(fields, "method", path).into_owned(),
        url: look.text(fields, "url", path).into_owned(),
        required: read_parameters(look, fields, "required_parameters", path),
        optional: read_parameters(look, fields, "optional_parameters", path),
        schema: schema.map(ToOwned::to_owned),
        described: None,
    })
}

fn read_parameters<'d>(
    look: &mut Look<'d>,
    fields: &Object<'d>,
    name: &str,
    path: &Path,
) -> Parameters {
    let values = look.list_field(fields, name, path);
    let mut list = Vec::with_capacity(values.len());
    for (index, value) in values.iter().enumerate() {
        let path = path.key(name).index(index);
        if let Some(fields) = look.object(value, &path, "a parameter") {
            list.push(read_parameter(look, (&fields, value.get()), &path));
        }
    }
    let json = fields.get_set(name).filter(|_| !values.is_empty()).map(ToOwned::to_owned);
    Parameters { list, json }
}

fn read_parameter<'d>(
    look: &mut Look<'d>,
    (fields, part): (&Object<'d>, &str),
    path: &Path,
) -> Parameter {
    Parameter {
        name: look.required_text((fields, part), "name", "parameter", path).unwrap_or_default(),
        kind: look.text(fields, "type", path).into_owned(),
        description: look.text(fields, "description", path).into_owned(),
        default: fields.get("default").map(ToOwned::to_owned),
    }
}

/// Assembles tools from files, grouping single APIs by category and tool name.
pub fn gather(found: impl IntoIterator<Item = Found>) -> Vec<Tool> {
    let mut tools: Vec<Tool> = Vec::new();
    let mut parts: IndexMap<(Option<Arc<str>>, String), usize> = IndexMap::new();
    for found in found {
        match found {
            Found::Tool(tool) => tools.push(tool),
            Found::Api(mut part) => {
                let at =
                    *parts.entry((part.category.clone(), part.name.clone())).or_insert(tools.len());
                match tools.get_mut(at) {
                    Some(tool) => tool.apis.append(&mut part.apis),
                    None => tools.push(part),
                }
            }
        }
    }
    tools
}
