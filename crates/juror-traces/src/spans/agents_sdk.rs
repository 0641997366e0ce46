//! What the Agents SDK's own tracing exports: traces and spans.

use serde_json::Value;

use super::facts::{Role, SpanFacts};
use crate::args::Args;
use crate::call::{Call, Kind};
use crate::dialect::{self, openai_chat};
use crate::look;
use crate::outcome::Outcome;
use crate::question_key::id_in;
use crate::rules::Rules;
use crate::time::nanoseconds;
use crate::transcript::{Transcript, usage_of};

/// Whether a record is one of this dialect.
pub(crate) fn is_record(item: &Value) -> bool {
    match look::text(item, "object") {
        Some("trace.span") => true,
        Some("trace") => look::has(item, "workflow_name"),
        _ => false,
    }
}

/// Reads a span, or the trace itself, which comes after its spans.
pub(crate) fn read(item: &Value, place: &str, rules: &Rules) -> SpanFacts {
    let id = |key: &str| look::id(item, &[key]).unwrap_or_default();
    let time = |key: &str| look::get(item, key).and_then(nanoseconds).unwrap_or(0);
    let question_id = id_in(item, rules.question_id.as_deref());
    if look::text(item, "object") == Some("trace") {
        let other_ids = look::words(item, "group_id").map(str::to_owned).into_iter().collect();
        return SpanFacts { trace: id("id"), question_id, other_ids, ..SpanFacts::default() };
    }
    let error = look::get(item, "error")
        .map(|error| look::text(error, "message").map_or_else(|| error.to_string(), str::to_owned));
    let mut facts = SpanFacts {
        trace: id("trace_id"),
        span: id("id"),
        parent: look::id(item, &["parent_id"]),
        start: time("started_at"),
        end: time("ended_at"),
        question_id,
        error,
        ..SpanFacts::default()
    };
    let data = item.get("span_data").unwrap_or(&Value::Null);
    match look::text(data, "type") {
        Some("function") => tool(&mut facts, data, place),
        Some("handoff") => handoff(&mut facts, data, place),
        Some("generation" | "response") => model(&mut facts, data, place),
        Some("agent") => {
            facts.role = Role::Agent;
            facts.agent = look::text(data, "name").map(str::to_owned);
        }
        Some("custom" | "guardrail" | "mcp_tools") | None => {}
        Some(other) => facts.left_out = Some(format!("span `{other}`: no call")),
    }
    facts
}

fn executed(facts: &SpanFacts, name: &str, args: Args, place: &str) -> Call {
    Call { args, ..facts.executed(name, &format!("{place}/span_data")) }
}

fn tool(facts: &mut SpanFacts, data: &Value, place: &str) {
    let name = look::text(data, "name").unwrap_or_default();
    let mut call = executed(facts, name, Args::of(data.get("input")), place);
    // Falsy results are exported as `null`.
    let outcome = Outcome {
        content: look::get(data, "output").cloned(),
        is_error: Some(false),
        ..Outcome::default()
    };
    call.outcome = Some(match &facts.error {
        Some(error) => Outcome { error: Some(error.clone()), is_error: Some(true), ..outcome },
        None => outcome,
    });
    let mcp = data.get("mcp_data").unwrap_or(&Value::Null);
    call.server = look::words(mcp, "server").map(str::to_owned);
    facts.role = Role::Tool;
    facts.tool = Some(Box::new(call));
}

fn handoff(facts: &mut SpanFacts, data: &Value, place: &str) {
    let to = look::words(data, "to_agent").unwrap_or("unknown");
    let mut call = executed(facts, &format!("transfer_to_{to}"), Args::missing(), place);
    call.kind = Kind::Agent;
    call.agent = look::words(data, "from_agent").map(str::to_owned);
    call.outcome = Some(match &facts.error {
        Some(error) => Outcome::failure(error.clone()),
        None => Outcome { is_error: Some(false), ..Outcome::default() },
    });
    // No other span is made within a handover.
    facts.role = Role::Other;
    facts.tool = Some(Box::new(call));
}

fn model(facts: &mut SpanFacts, data: &Value, place: &str) {
    facts.role = Role::Model;
    facts.usage = look::get(data, "usage").and_then(usage_of);
    let (mut given, mut gave) = (Transcript::at(place), Transcript::at(place));
    match look::get(data, "input") {
        Some(Value::String(text)) => given.ask(Some(text.clone())),
        Some(messages) => dialect::read_value(&mut given, messages, "/span_data/input"),
        None => {}
    }
    match look::get(data, "output") {
        Some(Value::Array(messages))
            if messages.iter().all(|message| message.get("role").is_some()) =>
        {
            openai_chat::read(&mut gave, messages, "/span_data/output");
        }
        Some(output) => dialect::read_value(&mut gave, output, "/span_data/output"),
        None => {}
    }
    if let Some(response) = look::get(data, "response") {
        dialect::read_value(&mut gave, response, "/span_data/response");
    }
    facts.take_messages(given, gave);
}
