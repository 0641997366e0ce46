//! The searched fields of an API, and their weights.

use juror_toolbench::{Api, Tool};

/// A field of an API's documentation.
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

/// How much a word counts in each field. The values are round numbers on a plateau;
/// `docs/search.md` says how they were found.
pub(super) const WEIGHTS: [f32; N_FIELDS] = [8.0, 2.0, 4.0, 2.0, 2.0, 2.0, 1.0];

/// Calls `each` with the fields that all APIs of a tool share.
pub(super) fn of_tool(tool: &Tool, mut each: impl FnMut(Field, &str)) {
    each(Field::ToolName, &tool.name);
    each(Field::ToolDescription, &tool.description);
    each(Field::Category, tool.category.as_deref().unwrap_or_default());
}

/// Calls `each` with the fields of an API itself.
pub(super) fn of_api(api: &Api, mut each: impl FnMut(Field, &str)) {
    each(Field::ApiName, &api.name);
    each(Field::ApiDescription, &api.description);
    for parameter in api.required.list.iter().chain(&api.optional.list) {
        each(Field::ParameterName, &parameter.name);
        each(Field::ParameterDescription, &parameter.description);
    }
}
