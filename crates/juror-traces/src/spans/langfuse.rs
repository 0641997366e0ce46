//! Traces and observations as Langfuse exports them.

use serde_json::Value;

use super::facts::{Role, SpanFacts};
use super::retrieval::{documents_of, query_of};
use crate::args::Args;
use crate::call::{Call, Kind};
use crate::dialect;
use crate::look;
use crate::outcome::Outcome;
use crate::question_key::id_in;
use crate::rules::Rules;
use crate::time::nanoseconds;
use crate::transcript::{Transcript, usage_of};

/// Whether a record is a trace with its observations, or an observation.
pub(crate) fn is_record(item: &Value) -> bool {
    item.get("observations").is_some_and(Value::is_array) || is_observation(item)
}

fn is_observation(item: &Value) -> bool {
    let is_known = |kind: &str| {
        [
            "SPAN",
            "GENERATION",
            "EVENT",
            "TOOL",
            "AGENT",
            "CHAIN",
            "RETRIEVER",
            "EMBEDDING",
            "EVALUATOR",
            "GUARDRAIL",
        ]
        .contains(&kind)
    };
    (item.get("traceId").is_some() || item.get("trace_id").is_some())
        && look::text(item, "type").is_some_and(is_known)
        && item.get("startTime").or_else(|| item.get("start_time")).is_some()
}

/// Reads a trace, or an observation.
pub(crate) fn read(item: &Value, place: &str, rules: &Rules, keep: &mut dyn FnMut(SpanFacts)) {
    let Some(observations) = item.get("observations").and_then(Value::as_array) else {
        return keep(observation(item, None, place, rules));
    };
    let trace = look::id(item, &["id"]).unwrap_or_default();
    for (at, child) in observations.iter().enumerate() {
        if child.is_object() {
            keep(observation(child, Some(&trace), &format!("{place}/observations/{at}"), rules));
        }
    }
    let mut facts = SpanFacts {
        span: format!("trace {trace}"),
        trace,
        question_id: id_in(item, rules.question_id.as_deref()),
        other_ids: look::id(item, &["sessionId", "session_id"]).into_iter().collect(),
        ..SpanFacts::default()
    };
    messages(&mut facts, item, place);
    keep(facts);
}

fn observation(item: &Value, trace: Option<&String>, place: &str, rules: &Rules) -> SpanFacts {
    let time = |keys: &[&str]| look::first(item, keys).and_then(nanoseconds).unwrap_or(0);
    let is_error = look::text(item, "level") == Some("ERROR");
    let message = look::first(item, &["statusMessage", "status_message"]).and_then(Value::as_str);
    let mut facts = SpanFacts {
        trace: look::id(item, &["traceId", "trace_id"])
            .or_else(|| trace.cloned())
            .unwrap_or_default(),
        span: look::id(item, &["id"]).unwrap_or_default(),
        parent: look::id(item, &["parentObservationId", "parent_observation_id"]),
        start: time(&["startTime", "start_time"]),
        end: time(&["endTime", "end_time"]),
        question_id: id_in(item, rules.question_id.as_deref()),
        error: is_error.then(|| message.unwrap_or_default().to_owned()),
        ..SpanFacts::default()
    };
    match look::text(item, "type") {
        Some("TOOL") => {
            facts.role = Role::Tool;
            facts.tool = Some(Box::new(tool(&facts, item, place)));
        }
        Some("RETRIEVER") => {
            facts.role = Role::Tool;
            facts.tool = Some(Box::new(retriever(&facts, item, place)));
        }
        Some("GENERATION") => {
            facts.role = Role::Model;
            facts.usage =
                look::first(item, &["usageDetails", "usage_details", "usage"]).and_then(usage_of);
            messages(&mut facts, item, place);
        }
        Some("AGENT") => {
            facts.role = Role::Agent;
            facts.agent = look::text(item, "name").map(str::to_owned);
            messages(&mut facts, item, place);
        }
        _ => {}
    }
    facts
}

fn messages(facts: &mut SpanFacts, item: &Value, place: &str) {
    let (mut given, mut gave) = (Transcript::at(place), Transcript::at(place));
    let input = look::get(item, "input");
    let output = look::get(item, "output");
    if let Some(input) = input {
        match look::parsed(input) {
            Some(value) => {
                dialect::read_value(&mut given, &value, "/input");
                given.ask(
                    look::first(&value, &["input", "question", "query", "task"])
                        .and_then(Value::as_str)
                        .map(str::to_owned),
                );
            }
            None => given.ask(input.as_str().map(str::to_owned)),
        }
    }
    given.answer = None;
    if let Some(output) = output {
        match look::parsed(output) {
            Some(value) => {
                dialect::read_value(&mut gave, &value, "/output");
                if gave.answer.is_none() && gave.calls.is_empty() {
                    gave.say(
                        look::first(&value, &["output", "answer", "content", "text"])
                            .and_then(Value::as_str)
                            .map(str::to_owned),
                    );
                }
            }
            None => gave.say(output.as_str().map(str::to_owned)),
        }
    }
    facts.take_messages(given, gave);
}

fn tool(facts: &SpanFacts, item: &Value, place: &str) -> Call {
    let mut call = facts.executed(look::text(item, "name").unwrap_or_default(), place);
    call.args = look::get(item, "input").map_or_else(Args::missing, Args::of_input);
    call.made = facts.made(item.get("output").unwrap_or(&Value::Null));
    let mut outcome = look::get(item, "output").map(Outcome::unflagged);
    call.id = outcome.as_mut().and_then(Outcome::unwrap);
    let in_metadata = look::get(item, "metadata")
        .and_then(|metadata| look::id(metadata, &["tool_call_id", "toolCallId"]));
    call.id = call.id.or(in_metadata);
    call.outcome = match &facts.error {
        Some(error) => {
            let error = Some(error.clone()).filter(|error| !error.is_empty());
            Some(Outcome { is_error: Some(true), error, ..outcome.unwrap_or_default() })
        }
        None => outcome,
    };
    call
}

fn retriever(facts: &SpanFacts, item: &Value, place: &str) -> Call {
    let mut call = facts.executed("retrieval", place);
    call.kind = Kind::Retrieval;
    let query = query_of(item.get("input").cloned().unwrap_or_default());
    call.args = serde_json::Map::from_iter([("query".to_owned(), query)]).into();
    call.outcome = Some(match &facts.error {
        Some(error) => Outcome::failure(error.clone()),
        None => Outcome::flagged(&documents_of(item.get("output").unwrap_or(&Value::Null)), false),
    });
    call
}
