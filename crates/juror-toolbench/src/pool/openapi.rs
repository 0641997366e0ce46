//! `OpenAPI` documents: a tool with an API for each operation.

use std::borrow::Cow;
use std::sync::Arc;

use juror_document::{Look, Path};
use juror_json::{Object, text_of};
use serde_json::value::RawValue;

use super::described::PoolKind;
use super::operation::{Operation, read_operation};
use super::references::References;
use crate::tool_file::{Api, Tool};

/// The methods whose operations are read.
const METHODS: [&str; 7] = ["get", "put", "post", "delete", "options", "head", "patch"];

/// The most operations of a document.
const MOST_OPERATIONS: usize = 20_000;

/// Reads the operations of a document.
pub(super) fn read<'d>(look: &mut Look<'d>, fields: &Object<'d>, name: &str) -> Option<Tool> {
    let references = References::new(fields);
    let info = object(fields.get_set("info"));
    let title = text(&info, "title");
    let server = server_of(fields);
    let paths = fields.get_set("paths")?;
    let path = Path::default().key("paths");
    let paths = look.object(paths, &path, "an object of paths")?;
    let mut apis: Vec<Api> = Vec::new();
    for (address, value) in paths.iter().filter(|(address, _)| !address.starts_with("x-")) {
        let at = path.key(&address);
        let Some((item, target)) = references.settled(look, value, &at) else { continue };
        for method in METHODS {
            let Some(value) = item.get_set(method) else { continue };
            if apis.len() >= MOST_OPERATIONS {
                break;
            }
            let server = server_url(&item).unwrap_or_else(|| server.clone());
            let operation = Operation {
                method,
                address: &address,
                server: &server,
                shared: item.get_set("parameters"),
                shared_path: target.path.key("parameters"),
            };
            let at = target.path.key(method);
            apis.extend(read_operation(look, &references, &operation, value, &at));
        }
    }
    Some(Tool {
        category: Some(Arc::from(PoolKind::OpenApi.category())),
        name: if title.trim().is_empty() { name.to_owned() } else { title.trim().to_owned() },
        description: text(&info, "description").into_owned(),
        host: String::new(),
        file: String::new(),
        apis,
    })
}

/// The address of the document's first server, empty if there is none.
fn server_of(fields: &Object<'_>) -> String {
    server_url(fields).unwrap_or_default()
}

/// The address of the first server that an object lists, with the defaults of its variables.
pub(super) fn server_url(fields: &Object<'_>) -> Option<String> {
    let servers: Vec<&RawValue> =
        fields.get_set("servers").and_then(|list| serde_json::from_str(list.get()).ok())?;
    let server = object(Some(*servers.first()?));
    let mut url = text(&server, "url").into_owned();
    for (name, variable) in object(server.get_set("variables")).iter() {
        let default = object(Some(variable));
        url = url.replace(&format!("{{{name}}}"), &text(&default, "default"));
    }
    Some(url.trim_end_matches('/').to_owned())
}

/// The fields of a value, none if it is no object.
pub(super) fn object(value: Option<&RawValue>) -> Object<'_> {
    value.and_then(|value| juror_json::from_str(value.get()).ok()).unwrap_or_default()
}

/// A text field, empty if it is missing or no text.
pub(super) fn text<'d>(fields: &Object<'d>, name: &str) -> Cow<'d, str> {
    fields.get_set(name).and_then(text_of).unwrap_or_default()
}
