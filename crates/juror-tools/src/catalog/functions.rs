//! Lists of APIs as JSON functions, in the form that agents receive.

use juror_json::Object;
use juror_toolbench::names::standardize;
use juror_toolbench::{
    Form, Function, Offer, ParametersSchema, Signature, function, function_names,
};
use serde::Serialize;
use serde_json::value::RawValue;

use super::Catalog;

/// A function, and the names by which `/virtual` is called for it.
#[derive(Serialize)]
struct ListedFunction<'l> {
    #[serde(flatten)]
    function: Function,
    category: &'l str,
    tool_name: &'l str,
    api_name: &'l str,
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f32>,
}

/// A tool of an MCP server.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct McpTool {
    name: String,
    description: String,
    input_schema: ParametersSchema,
}

/// Says of a schema that it is of an object, which clients of MCP insist on.
fn of_object(schema: ParametersSchema) -> ParametersSchema {
    let ParametersSchema::Own(json) = &schema else { return schema };
    let fields: Object<'_> = juror_json::from_str(json.get()).unwrap_or_default();
    if fields.get("type").is_some() {
        return schema;
    }
    let rest = json.get().trim_start().trim_start_matches('{').trim_start();
    let separator = if rest.starts_with('}') { "" } else { "," };
    let json = RawValue::from_string(format!("{{\"type\":\"object\"{separator}{rest}"));
    json.map_or(schema, ParametersSchema::Own)
}

impl Catalog {
    /// Lists the APIs with these numbers.
    pub fn list(&self, numbers: impl IntoIterator<Item = usize>) -> String {
        to_json(numbers.into_iter().filter_map(|number| self.listed(number, None)))
    }

    /// Lists the APIs that match a text best, best first, with their scores.
    pub fn list_found(&self, text: &str, most: usize) -> String {
        let found = self.find(text, most).into_iter();
        to_json(found.filter_map(|found| self.listed(found.number, Some(found.score))))
    }

    /// Lists the APIs with these numbers as tools of an MCP server.
    pub fn list_tools(&self, numbers: impl IntoIterator<Item = usize>) -> String {
        let tool = |number: usize| {
            let (offer, name) = (self.offer(number)?, self.names().get(number)?);
            let own = function(name, &standardize(offer.tool), offer.api, Form::Schema).function;
            let Signature { name, description, parameters } = own;
            Some(McpTool { name, description, input_schema: of_object(parameters) })
        };
        let tools: Vec<McpTool> = numbers.into_iter().filter_map(tool).collect();
        // Serializing strings and JSON does not fail.
        serde_json::to_string(&tools).unwrap_or_default()
    }

    fn listed(&self, number: usize, score: Option<f32>) -> Option<ListedFunction<'_>> {
        Some(listed(&self.offer(number)?, self.names().get(number)?, score))
    }
}

/// Lists what an agent is offered, in the same form.
pub fn list_offers(offers: &[Offer<'_>]) -> String {
    let names = function_names(offers);
    to_json(offers.iter().zip(&names).map(|(offer, name)| listed(offer, name, None)))
}

fn listed<'l>(offer: &Offer<'l>, name: &str, score: Option<f32>) -> ListedFunction<'l> {
    ListedFunction {
        function: function(name, &standardize(offer.tool), offer.api, Form::Schema),
        category: offer.category,
        tool_name: offer.tool,
        api_name: &offer.api.name,
        score,
    }
}

fn to_json<'l>(listed: impl Iterator<Item = ListedFunction<'l>>) -> String {
    // Serializing strings and numbers does not fail.
    serde_json::to_string(&listed.collect::<Vec<_>>()).unwrap_or_default()
}
