//! Spans of agents and roots: what a system was asked, and what it returned.

use serde_json::Value;

use super::facts::SpanFacts;
use super::messages::{Exchange, read_any};
use super::model::usage;
use super::span::Span;
use crate::look;
use crate::outcome::said;
use crate::transcript::Transcript;

/// An agent or a root: its question, its result, and perhaps the whole history.
pub(super) fn read_agent(facts: &mut SpanFacts, span: &Span<'_>) {
    let attributes = &span.attributes;
    let Exchange { mut given, mut gave } = Exchange::of(attributes, &span.events, &span.place);
    given.answer = None;
    let inputs = [
        "input.value",
        "traceloop.entity.input",
        "langfuse.trace.input",
        "langfuse.observation.input",
        "lmnr.span.input",
        "mlflow.spanInputs",
    ];
    if let Some((key, value)) = attributes.first(&inputs) {
        read_root(&mut given, &value, &format!("#{key}"));
        given.answer = None;
    }
    let outputs = [
        "output.value",
        "traceloop.entity.output",
        "langfuse.trace.output",
        "langfuse.observation.output",
        "lmnr.span.output",
        "mlflow.spanOutputs",
    ];
    if let Some((key, value)) = attributes.first(&outputs).filter(|_| gave.answer.is_none()) {
        read_result(&mut gave, &value, &format!("#{key}"));
    }
    // The agent's own word for its result.
    if let Some(result) = attributes.get("final_result") {
        facts.answer = Some(result.as_str().map_or_else(|| result.to_string(), str::to_owned));
        facts.is_result = true;
    }
    facts.usage = usage(span);
    facts.take_messages(given, gave);
}

/// Reads what a system was asked: a text, messages, or an object with either.
fn read_root(transcript: &mut Transcript, value: &Value, pointer: &str) {
    let Some(parsed) = look::parsed(value) else {
        return transcript
            .ask(value.as_str().filter(|text| !looks_printed(text)).map(str::to_owned));
    };
    let parsed = look::get(&parsed, "inputs").unwrap_or(&parsed);
    let keys = [
        "task",
        "input",
        "question",
        "query",
        "prompt",
        "user_msg",
        "user_message",
        "user_input",
        "user_prompt",
        "message",
    ];
    match look::first(parsed, &keys) {
        Some(Value::String(text)) => transcript.ask(Some(text.clone())),
        Some(inner) if !parsed.is_array() && parsed.get("messages").is_none() => {
            read_any(transcript, Some(inner), pointer);
        }
        _ => read_any(transcript, Some(parsed), pointer),
    }
}

/// Reads what a system returned.
fn read_result(transcript: &mut Transcript, value: &Value, pointer: &str) {
    let Some(parsed) = look::parsed(value) else {
        return transcript
            .say(value.as_str().filter(|text| !looks_printed(text)).map(str::to_owned));
    };
    let parsed = look::get(&parsed, "outputs").unwrap_or(&parsed);
    read_any(transcript, Some(parsed), pointer);
    if transcript.answer.is_none() && transcript.calls.is_empty() {
        let keys = ["output", "answer", "response", "result", "final_answer", "text", "content"];
        transcript.say(look::first(parsed, &keys).and_then(said));
    }
}

/// Whether a text is an object as Python prints it: `AgentOutput(response=…`.
fn looks_printed(text: &str) -> bool {
    let Some((name, rest)) = text.split_once('(') else { return false };
    let is_name =
        !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.');
    is_name
        && rest
            .split_once('=')
            .is_some_and(|(key, _)| key.chars().all(|c| c.is_alphanumeric() || c == '_'))
}
