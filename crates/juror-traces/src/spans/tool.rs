//! Spans of tools: the calls that they are.

use serde_json::Value;

use super::class::Class;
use super::facts::{Role, SpanFacts};
use super::span::Span;
use crate::args::Args;
use crate::call::{Call, Kind, Made};
use crate::dialect::{gemini, smolagents};
use crate::look;
use crate::outcome::Outcome;

/// Attributes with the name of a tool.
const NAMES: [&str; 4] =
    ["gen_ai.tool.name", "tool.name", "ai.toolCall.name", "traceloop.entity.name"];

/// Attributes with a call's id.
const IDS: [&str; 5] =
    ["gen_ai.tool.call.id", "tool_call.id", "tool.id", "ai.toolCall.id", "jsonrpc.request.id"];

/// Attributes with arguments: an object, or its JSON.
const ARGS: [&str; 6] = [
    "gen_ai.tool.call.arguments",
    "gcp.vertex.agent.tool_call_args",
    "ai.toolCall.args",
    "ai.toolCall.arguments",
    "ai.toolCall.input",
    "tool_arguments",
];

/// Attributes with whatever went into a tool.
const INPUTS: [&str; 5] = [
    "input.value",
    "traceloop.entity.input",
    "langfuse.observation.input",
    "lmnr.span.input",
    "mlflow.spanInputs",
];

/// Attributes with results.
const RESULTS: [&str; 10] = [
    "gen_ai.tool.call.result",
    "gcp.vertex.agent.tool_response",
    "ai.toolCall.result",
    "ai.toolCall.output",
    "tool_response",
    "output.value",
    "traceloop.entity.output",
    "langfuse.observation.output",
    "lmnr.span.output",
    "mlflow.spanOutputs",
];

/// Attributes whose texts are JSON, of texts too.
const JSON_TEXTS: [&str; 6] = [
    "ai.toolCall.result",
    "ai.toolCall.output",
    "traceloop.entity.output",
    "lmnr.span.output",
    "mlflow.spanOutputs",
    "langfuse.observation.output",
];

/// Reads a span of a tool.
pub(super) fn read_tool(facts: &mut SpanFacts, span: &Span<'_>, class: Class) {
    facts.role = Role::Tool;
    let mut call = call_of(span, class);
    if call.name == "(merged tools)" {
        facts.role = Role::Other;
        facts.left_out =
            Some("span `(merged tools)`: its calls have spans of their own".to_owned());
        return;
    }
    call.agent.clone_from(&facts.agent);
    let is_final = call.name == smolagents::FINAL
        && (span.name == "FinalAnswerTool" || span.scope.contains("smolagents"));
    if is_final {
        facts.role = Role::Final;
        let content = call.outcome.as_ref().and_then(|outcome| outcome.content.as_ref());
        let answer = call.args.value.get("answer").or(content);
        facts.answer =
            answer.map(|answer| answer.as_str().map_or_else(|| answer.to_string(), str::to_owned));
        facts.left_out = Some(format!("call of `{}`: the answer", smolagents::FINAL));
        return;
    }
    facts.tool = Some(Box::new(call));
}

/// Returns the call that a span of a tool is.
fn call_of(span: &Span<'_>, class: Class) -> Call {
    let attributes = &span.attributes;
    let name = attributes.words(&NAMES).unwrap_or_else(|| {
        let before = ["execute_tool ", "tools/call "];
        let name = before.iter().find_map(|before| span.name.strip_prefix(before));
        name.unwrap_or(&span.name).trim_end_matches(".tool").to_owned()
    });
    let ids = if class == Class::Mcp { &IDS[..] } else { &IDS[..4] };
    let mut outcome = outcome_of(span);
    let id_of_message = outcome.as_mut().and_then(Outcome::unwrap);
    let error = span.failure();
    if let Some(error) = error {
        let outcome = outcome.get_or_insert_default();
        outcome.is_error = Some(true);
        outcome.error = Some(error).filter(|error| !error.is_empty());
    } else if let Some(outcome) = &mut outcome {
        outcome.is_error = outcome.is_error.or(span.is_error);
    }
    Call {
        id: attributes.words(ids).or(id_of_message),
        name,
        args: args_of(span),
        made: Made::Executed,
        outcome,
        at: span.started(),
        until: span.ended(),
        kind: if attributes.has("gen_ai.transfer.target.name") { Kind::Agent } else { Kind::Tool },
        server: attributes.words(&["mcp.server.name", "gen_ai.tool.server", "server.name"]),
        agent: None,
        parent_id: None,
        source: span.place.clone(),
        state: None,
        stand_in: Some(span.id.to_string()),
    }
}

fn args_of(span: &Span<'_>) -> Args {
    let attributes = &span.attributes;
    if let Some((_, value)) = attributes.first(&ARGS) {
        return Args::of(Some(&value));
    }
    if let Some((_, value)) = attributes.first(&INPUTS) {
        return Args::of_input(&value);
    }
    // A message to the tool, in an event.
    let of_event = span.events.iter().find(|event| event.name == "gen_ai.tool.message");
    if let Some(content) = of_event.and_then(|event| event.attributes.get("content")) {
        return Args::of_input(&content);
    }
    // By the convention these are the tool's parameters, but some put values there.
    match attributes.get("tool.parameters") {
        Some(value) if attributes.has("openinference.span.kind") && !is_schema(&value) => {
            Args::of_input(&value)
        }
        _ => Args::missing(),
    }
}

/// Whether parameters are a definition: a schema, or types and descriptions by name.
fn is_schema(value: &Value) -> bool {
    let Some(value) = look::parsed(value) else { return false };
    let describes =
        |value: &Value| value.get("type").is_some() || value.get("description").is_some();
    value.get("properties").is_some()
        || value
            .as_object()
            .is_some_and(|object| !object.is_empty() && object.values().all(describes))
}

fn outcome_of(span: &Span<'_>) -> Option<Outcome> {
    let Some((key, mut value)) = span.attributes.first(&RESULTS) else {
        let event = span.events.iter().find(|event| event.name == "gen_ai.choice")?;
        let content = event.attributes.get("message")?;
        let blocks = look::parsed(&content)
            .filter(|value| value.is_array())
            .map(std::borrow::Cow::into_owned);
        return Some(Outcome::unflagged(&blocks.unwrap_or(content)));
    };
    let is_json = JSON_TEXTS.contains(&key)
        || key == "output.value"
            && span.attributes.text("output.mime_type").as_deref() == Some("application/json");
    if let Value::String(text) = &value
        && is_json
        && text.starts_with('"')
        && let Ok(inner) = serde_json::from_str::<String>(text)
    {
        value = Value::String(inner);
    }
    if key == "gcp.vertex.agent.tool_response" {
        let response = look::parsed(&value).map(std::borrow::Cow::into_owned);
        return Some(gemini::outcome(&response.unwrap_or(value)));
    }
    Some(Outcome::unflagged(&value))
}
