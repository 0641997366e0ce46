//! The documentation of an API from its tool file, as simulators see it.

use juror_json::{Object, text_of};
use juror_toolbench::names::{standard_name, standardize};
use juror_toolbench::{Api, FolderNames, Parameters, Tool};
use serde_json::value::{RawValue, to_raw_value};

use super::Catalog;

/// How an API's name in a file is compared with the name in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameMatching {
    /// Python's reserved words are renamed the same way on both sides.
    Settled,
    /// Compatible with the published servers, which never find an API called `id`.
    Published,
}

/// The raw JSON of an API. A field that is missing in the file is missing here.
#[derive(Clone, Debug, Default)]
pub(crate) struct ApiDocument {
    pub(crate) name: String,
    pub(crate) description: Option<Box<RawValue>>,
    /// Required parameters.
    pub(crate) required: Option<Box<RawValue>>,
    /// Optional parameters.
    pub(crate) optional: Option<Box<RawValue>>,
}

/// A tool, with those of its APIs that have the requested name.
#[derive(Clone, Debug)]
pub(crate) struct ToolDocument {
    /// The provider's description of the tool.
    pub(crate) description: Box<RawValue>,
    /// Usually one.
    pub(crate) apis: Vec<ApiDocument>,
}

impl Catalog {
    /// Reads the documentation that a request asks about.
    pub(crate) fn document(&self, names: &FolderNames, how: NameMatching) -> Option<ToolDocument> {
        let tool = self.requested_tool(names)?;
        let mut document = self.read(tool).unwrap_or_else(|| of_tool(tool));
        document.apis.retain(|api| match how {
            NameMatching::Settled => standard_name(&api.name) == names.api,
            NameMatching::Published => standardize(&api.name) == standardize(&names.api),
        });
        Some(document)
    }

    /// Reads a tool's file again. Loaded tools hold what agents need, not the raw text of the file.
    fn read(&self, tool: &Tool) -> Option<ToolDocument> {
        if tool.file.is_empty() {
            return None;
        }
        let text = juror_files::read_plain_text(&self.root.join(&tool.file)).ok()?;
        let fields: Object<'_> = serde_json::from_str(&text).ok()?;
        let apis: Vec<Object<'_>> = serde_json::from_str(fields.get("api_list")?.get()).ok()?;
        let description = fields.get("tool_description").map(ToOwned::to_owned);
        let description = description.unwrap_or_else(|| raw(""));
        Some(ToolDocument { description, apis: apis.iter().map(of_fields).collect() })
    }
}

fn of_fields(fields: &Object<'_>) -> ApiDocument {
    let raw = |name: &str| fields.get(name).map(ToOwned::to_owned);
    ApiDocument {
        name: fields.get("name").and_then(text_of).unwrap_or_default().into_owned(),
        description: raw("description"),
        required: raw("required_parameters"),
        optional: raw("optional_parameters"),
    }
}

fn of_tool(tool: &Tool) -> ToolDocument {
    let of_api = |api: &Api| ApiDocument {
        name: api.name.clone(),
        description: Some(raw(&api.description)),
        required: Some(of_parameters(&api.required)),
        optional: Some(of_parameters(&api.optional)),
    };
    ToolDocument {
        description: raw(&tool.description),
        apis: tool.apis.iter().map(of_api).collect(),
    }
}

fn of_parameters(parameters: &Parameters) -> Box<RawValue> {
    let empty = || to_raw_value::<[(); 0]>(&[]).unwrap_or_default();
    parameters.json.clone().unwrap_or_else(empty)
}

fn raw(text: &str) -> Box<RawValue> {
    // Serializing a string does not fail.
    to_raw_value(text).unwrap_or_default()
}
