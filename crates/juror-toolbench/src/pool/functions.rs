//! Lists of functions: those of `OpenAI` in both forms, and tools of MCP servers.

use std::sync::Arc;

use hashbrown::HashMap;
use juror_document::{Document, Look, Path, Problem, ToolsProblem};
use juror_json::{Object, text_of};
use serde_json::value::RawValue;

use super::described::{BodyForm, Described, PoolKind, no_arguments, parameters_of};
use crate::tool_file::{Api, Tool};

/// Whether a value is a function in a known form.
pub(super) fn is_function(value: &RawValue) -> bool {
    let fields: Option<Object<'_>> = juror_json::from_str(value.get()).ok();
    fields.is_some_and(|fields| Form::of(&fields).is_some())
}

/// The name that a server gives itself, if the list contains it.
pub(super) fn server_name(fields: &Object<'_>) -> Option<String> {
    let info = fields.get_set("serverInfo")?;
    let info: Object<'_> = juror_json::from_str(info.get()).ok()?;
    let name = info.get_set("name").and_then(text_of)?;
    (!name.trim().is_empty()).then(|| name.trim().to_owned())
}

/// Reads a list of functions.
pub(super) fn read<'d>(
    look: &mut Look<'d>,
    list: &'d RawValue,
    path: &Path,
    name: &str,
) -> Vec<Tool> {
    let mut tools = Tools::new(name);
    for (index, value) in look.list(list, path, "a list of tools").into_iter().flatten().enumerate()
    {
        tools.read(look, value, &path.index(index));
    }
    tools.list
}

/// Reads a file with a function, or with a list of them, on each line.
pub(super) fn read_lines<'d>(look: &mut Look<'d>, document: &'d Document, name: &str) -> Vec<Tool> {
    let mut tools = Tools::new(name);
    for line in document.lines() {
        let path = Path::default();
        let value: &RawValue = match juror_json::from_str(line) {
            Ok(value) => value,
            Err(error) => {
                look.complain(line, &error);
                continue;
            }
        };
        let fields: Object<'_> = juror_json::from_str(line).unwrap_or_default();
        match fields.get_set("tools") {
            Some(list) => {
                let page = look.list(list, &path.key("tools"), "a list of tools");
                for (index, value) in page.into_iter().flatten().enumerate() {
                    tools.read(look, value, &path.key("tools").index(index));
                }
            }
            None => tools.read(look, value, &path),
        }
    }
    tools.list
}

/// Makes the tool of a server from the tools that it lists, each as JSON. Those that are unusable
/// are left out.
pub fn tool_of_server(name: &str, listed: &[Box<RawValue>]) -> Tool {
    let mut tool = empty_tool(PoolKind::Mcp.category(), name);
    for value in listed {
        let Ok(fields) = juror_json::from_str::<Object<'_>>(value.get()) else { continue };
        let name = fields.get_set("name").and_then(text_of).unwrap_or_default();
        if !name.is_empty() {
            tool.apis.push(Form::Mcp.api(&name, &fields));
        }
    }
    tool
}

fn empty_tool(category: &str, name: &str) -> Tool {
    Tool {
        category: Some(Arc::from(category)),
        name: name.to_owned(),
        description: String::new(),
        host: String::new(),
        file: String::new(),
        apis: Vec::new(),
    }
}

/// The forms of a function.
#[derive(Clone, Copy)]
enum Form {
    /// `{"type": "function", "function": {…}}`.
    Chat,
    /// `{"type": "function", "name": …, "parameters": …}`, with or without the type.
    Plain,
    /// `{"name": …, "inputSchema": …}`.
    Mcp,
}

impl Form {
    fn of(fields: &Object<'_>) -> Option<Form> {
        let has = |key: &str| fields.get_set(key).is_some();
        if has("function") {
            return Some(Form::Chat);
        }
        match has("name") {
            false => None,
            true if has("inputSchema") || has("input_schema") => Some(Form::Mcp),
            true if has("parameters") || has("description") || has("type") => Some(Form::Plain),
            true => None,
        }
    }

    fn kind(self) -> PoolKind {
        match self {
            Form::Chat | Form::Plain => PoolKind::Functions,
            Form::Mcp => PoolKind::Mcp,
        }
    }

    /// Makes an API from the fields that have its name.
    fn api(self, name: &str, fields: &Object<'_>) -> Api {
        let schema = match self {
            Form::Chat | Form::Plain => fields.get_set("parameters"),
            Form::Mcp => fields.get_set("inputSchema").or_else(|| fields.get_set("input_schema")),
        };
        let schema = schema.filter(|schema| schema.get().starts_with('{'));
        let schema = schema.map_or_else(no_arguments, ToOwned::to_owned);
        let text = |key: &str| fields.get_set(key).and_then(text_of).unwrap_or_default();
        let description = match text("description") {
            empty if empty.is_empty() => text("title"),
            description => description,
        };
        let (required, optional) = parameters_of(&schema);
        let (request, body, path) = (Vec::new(), BodyForm::default(), String::new());
        Api {
            name: name.to_owned(),
            description: description.into_owned(),
            method: String::new(),
            url: String::new(),
            required,
            optional,
            schema: fields.get_set("outputSchema").map(ToOwned::to_owned),
            described: Some(Arc::new(Described { kind: self.kind(), schema, path, request, body })),
        }
    }
}

/// The tools of a list: one, unless the list names several.
struct Tools<'n> {
    /// What a tool is called if the list does not say.
    name: &'n str,
    list: Vec<Tool>,
    places: HashMap<(String, String), usize>,
}

impl<'n> Tools<'n> {
    fn new(name: &'n str) -> Tools<'n> {
        Tools { name, list: Vec::new(), places: HashMap::new() }
    }

    fn read<'d>(&mut self, look: &mut Look<'d>, value: &'d RawValue, path: &Path) {
        let Some(fields) = look.object(value, path, "a function or a tool") else { return };
        let Some(form) = Form::of(&fields) else {
            let why =
                "this is not a function: it has neither `function` nor a `name` with a schema";
            return look.note(value.get(), path.clone(), uncallable(why));
        };
        let (own, part, path) = match form {
            Form::Plain | Form::Mcp => (fields.clone(), value, path.clone()),
            Form::Chat => {
                let path = path.key("function");
                let Some(inner) = fields.get_set("function") else { return };
                let Some(own) = look.object(inner, &path, "a function") else { return };
                (own, inner, path)
            }
        };
        let Some(name) = look.required_text((&own, part.get()), "name", "function", &path) else {
            return;
        };
        let api = form.api(&name, &own);
        // Juror's own lists say what calls are named.
        let text =
            |key: &str| fields.get_set(key).and_then(text_of).map(std::borrow::Cow::into_owned);
        let tool = self.tool(
            text("category").as_deref().unwrap_or(form.kind().category()),
            text("tool_name").as_deref().unwrap_or(self.name),
        );
        tool.apis.push(Api { name: text("api_name").unwrap_or(name), ..api });
    }

    fn tool(&mut self, category: &str, name: &str) -> &mut Tool {
        let key = (category.to_owned(), name.to_owned());
        let at = *self.places.entry(key).or_insert(self.list.len());
        if at == self.list.len() {
            self.list.push(empty_tool(category, name));
        }
        &mut self.list[at]
    }
}

pub(super) fn uncallable(why: &'static str) -> Problem {
    Problem::Tools(ToolsProblem::Uncallable { why })
}
