//! Reads tools from documents other than tool files: `OpenAPI`, lists of functions, lists of MCP
//! tools.
//!
//! What a document is follows from its content. Nested schemas, enumerations and items of lists
//! stay as they are written, and agents are offered them so.

mod described;
mod functions;
mod openapi;
mod operation;
mod references;

use juror_document::{Document, Look, Path, Problem, Problems, ToolsProblem};
use juror_json::{Object, kind_of, text_of};
use serde_json::value::RawValue;

use crate::tool_file::{Folders, Found, Tool, read_tool_file};

pub use described::{ArgumentPlace, BodyForm, Described, ListStyle, PoolKind, RequestPart};
pub use functions::tool_of_server;

/// Reads the tools of a document. `name` is what a tool is called if the document does not say.
/// Reports what it cannot use; there are no tools if the document is of no known kind.
pub fn read_pool(document: &Document, name: &str) -> (Vec<Tool>, Problems) {
    let mut look = Look::new(document);
    if document.is_lines() {
        let tools = functions::read_lines(&mut look, document, name);
        return (tools, look.problems());
    }
    let Some(value) = look.value() else { return (Vec::new(), look.problems()) };
    let Ok(fields) = juror_json::from_str::<Object<'_>>(value.get()) else {
        let tools = read_list(&mut look, value, name);
        return (tools, look.problems());
    };
    if fields.get("tool_name").is_some() && fields.get("api_list").is_some() {
        return of_tool_file(document);
    }
    let tools = match Shape::of(&fields) {
        Shape::OpenApi => openapi::read(&mut look, &fields, name).into_iter().collect(),
        Shape::OldStandard(version) => {
            let problem = ToolsProblem::OldStandard { version };
            look.note(value.get(), Path::default(), Problem::Tools(problem));
            Vec::new()
        }
        Shape::Listed(key, list) => {
            let path = key.iter().fold(Path::default(), |path, key| path.key(key));
            let name = functions::server_name(&fields).unwrap_or_else(|| name.to_owned());
            functions::read(&mut look, list, &path, &name)
        }
        Shape::Unknown => {
            let keys: Vec<String> =
                fields.iter().take(5).map(|(key, _)| format!("`{key}`")).collect();
            let found = match keys.as_slice() {
                [] => "an object without keys".to_owned(),
                keys => format!("an object with {}", keys.join(", ")),
            };
            look.note(
                value.get(),
                Path::default(),
                Problem::Tools(ToolsProblem::Unknown { found }),
            );
            Vec::new()
        }
    };
    (tools, look.problems())
}

fn of_tool_file(document: &Document) -> (Vec<Tool>, Problems) {
    let (found, problems) = read_tool_file(document, &Folders::default());
    let tools = found.into_iter().map(|found| match found {
        Found::Tool(tool) | Found::Api(tool) => tool,
    });
    (tools.collect(), problems)
}

fn read_list<'d>(look: &mut Look<'d>, value: &'d RawValue, name: &str) -> Vec<Tool> {
    let first = juror_json::from_str::<Vec<&RawValue>>(value.get()).ok();
    if first.iter().flatten().next().is_none_or(|value| !functions::is_function(value)) {
        let found = match &first {
            Some(list) if list.is_empty() => "an empty list".to_owned(),
            Some(_) => "a list of something else".to_owned(),
            None => kind_of(value).to_owned(),
        };
        look.note(value.get(), Path::default(), Problem::Tools(ToolsProblem::Unknown { found }));
        return Vec::new();
    }
    functions::read(look, value, &Path::default(), name)
}

/// What an object is, by its keys.
enum Shape<'d> {
    OpenApi,
    OldStandard(String),
    /// A list of functions or tools, and the keys that lead to it.
    Listed(Vec<&'static str>, &'d RawValue),
    Unknown,
}

impl<'d> Shape<'d> {
    fn of(fields: &Object<'d>) -> Shape<'d> {
        let version = |key: &str| {
            fields.get_set(key).map(|value| {
                text_of(value).map_or_else(|| value.get().to_owned(), std::borrow::Cow::into_owned)
            })
        };
        if let Some(version) = version("openapi") {
            let is_known = version.starts_with("3.") && version != "3.";
            return if is_known { Shape::OpenApi } else { Shape::OldStandard(version) };
        }
        if let Some(version) = version("swagger") {
            return Shape::OldStandard(version);
        }
        for key in ["tools", "functions"] {
            if let Some(list) = fields.get_set(key) {
                return Shape::Listed(vec![key], list);
            }
        }
        // The whole reply of a server.
        let result: Option<Object<'d>> =
            fields.get_set("result").and_then(|result| juror_json::from_str(result.get()).ok());
        match result.and_then(|result| result.get_set("tools")) {
            Some(list) => Shape::Listed(vec!["result", "tools"], list),
            None => Shape::Unknown,
        }
    }
}

#[cfg(test)]
mod tests;
