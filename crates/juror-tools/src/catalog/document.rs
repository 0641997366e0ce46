//! What tool files say of an API, as simulators are shown it.

use juror_json::{Object, text_of};
use juror_toolbench::names::{standard_name, standardize};
use juror_toolbench::{Api, FolderNames, Parameters, Tool};
use serde_json::value::{RawValue, to_raw_value};

use super::Catalog;

/// How an API's name in a file is compared with the one in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApiNames {
    /// Words that Python reserves are written the same way on both sides.
    Settled,
    /// As the published servers do: an API called `id` is never found.
    Published,
}

/// An API with its JSON as the file has it; a field that is missing there is missing here.
#[derive(Clone, Debug, Default)]
pub struct ApiDocument {
    /// The name.
    pub name: String,
    /// What it does.
    pub description: Option<Box<RawValue>>,
    /// What a call must give.
    pub required: Option<Box<RawValue>>,
    /// What a call may give.
    pub optional: Option<Box<RawValue>>,
}

/// A tool and those of its APIs that have a name.
#[derive(Clone, Debug)]
pub struct ToolDocument {
    /// What the provider says of the tool.
    pub description: Box<RawValue>,
    /// The APIs of the name; commonly one.
    pub apis: Vec<ApiDocument>,
}

impl Catalog {
    /// The tool that a request names, as its file has it, with the APIs of the name.
    pub fn document(&self, names: &FolderNames, how: ApiNames) -> Option<ToolDocument> {
        let tool = self.requested_tool(names)?;
        let mut document = self.read(tool).unwrap_or_else(|| of_tool(tool));
        document.apis.retain(|api| match how {
            ApiNames::Settled => standard_name(&api.name) == names.api,
            ApiNames::Published => standardize(&api.name) == standardize(&names.api),
        });
        Some(document)
    }

    /// Reads a tool's file again: what was loaded is what agents need, not the file to the letter.
    fn read(&self, tool: &Tool) -> Option<ToolDocument> {
        let text = juror_store::read_plain_text(&self.root.join(&tool.file)).ok()?;
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
    // Texts can always be written.
    to_raw_value(text).unwrap_or_default()
}
