//! What is searched of an API, and how much each part counts.

use juror_toolbench::{Api, Tool};

/// A part of what is said of an API.
#[derive(Clone, Copy, Debug)]
pub(super) enum Field {
    ApiName,
    ApiDescription,
    ToolName,
    ToolDescription,
    Category,
    ParameterName,
    ParameterDescription,
}

pub(super) const N_FIELDS: usize = 7;

/// What a word counts in each field: round numbers from a plateau; `docs/search.md` says how they
/// were found.
pub(super) const WEIGHTS: [f32; N_FIELDS] = [8.0, 2.0, 4.0, 2.0, 2.0, 2.0, 1.0];

/// Hands on what a tool says of all its APIs.
pub(super) fn of_tool(tool: &Tool, mut each: impl FnMut(Field, &str)) {
    each(Field::ToolName, &tool.name);
    each(Field::ToolDescription, &tool.description);
    each(Field::Category, tool.category.as_deref().unwrap_or_default());
}

/// Hands on what an API says of itself.
pub(super) fn of_api(api: &Api, mut each: impl FnMut(Field, &str)) {
    each(Field::ApiName, &api.name);
    each(Field::ApiDescription, &api.description);
    for parameter in api.required.list.iter().chain(&api.optional.list) {
        each(Field::ParameterName, &parameter.name);
        each(Field::ParameterDescription, &parameter.description);
    }
}
