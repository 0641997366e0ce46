//! Events of LangChain's `astream_events`.

use serde_json::Value;

use super::facts::{Role, SpanFacts};
use super::retrieval::{documents_of, query_of};
use crate::args::Args;
use crate::call::{Call, Kind, Made};
use crate::dialect;
use crate::look;
use crate::outcome::Outcome;
use crate::question_key::id_in;
use crate::rules::Rules;
use crate::transcript::Transcript;

/// Whether a record is one of this dialect.
pub(crate) fn is_record(item: &Value) -> bool {
    look::has(item, "run_id")
        && look::text(item, "event").is_some_and(|event| event.starts_with("on_"))
}

/// Reads an event; `None` if it says nothing about calls, models or roots.
pub(crate) fn read(event: &Value, place: &str, rules: &Rules) -> Option<SpanFacts> {
    let run = look::id(event, &["run_id"])?;
    let parents = look::items(event, "parent_ids");
    let data = event.get("data").unwrap_or(&Value::Null);
    let first = parents.first().and_then(Value::as_str);
    let mut facts = SpanFacts {
        trace: first.unwrap_or(&run).to_owned(),
        parent: parents.last().and_then(Value::as_str).map(str::to_owned),
        span: run,
        question_id: id_in(event, rules.question_id.as_deref()),
        ..SpanFacts::default()
    };
    let name = look::text(event, "event").unwrap_or_default();
    match name {
        "on_tool_start" | "on_tool_end" | "on_tool_error" => {
            facts.role = Role::Tool;
            facts.tool = Some(Box::new(tool(&facts, name, event, data, place)));
        }
        "on_retriever_start" | "on_retriever_end" | "on_retriever_error" => {
            facts.role = Role::Tool;
            facts.tool = Some(Box::new(retriever(&facts, name, data, place)));
        }
        "on_chat_model_end" | "on_llm_end" => {
            facts.role = Role::Model;
            let mut gave = Transcript::at(place);
            let output = data.get("output").unwrap_or(&Value::Null);
            dialect::read_value(&mut gave, output, "/data/output");
            facts.take_messages(Transcript::default(), gave);
        }
        "on_chain_start" | "on_chain_end" if first.is_none() => {
            let (mut given, mut gave) = (Transcript::at(place), Transcript::at(place));
            let input = data.get("input").unwrap_or(&Value::Null);
            dialect::read_value(&mut given, input, "/data/input");
            given.ask(input.as_str().or_else(|| look::text(input, "input")).map(str::to_owned));
            given.answer = None;
            let output = data.get("output").unwrap_or(&Value::Null);
            dialect::read_value(&mut gave, output, "/data/output");
            gave.say(output.as_str().or_else(|| look::text(output, "output")).map(str::to_owned));
            facts.take_messages(given, gave);
        }
        _ => return None,
    }
    Some(facts)
}

fn tool(facts: &SpanFacts, name: &str, event: &Value, data: &Value, place: &str) -> Call {
    let mut outcome = match name {
        "on_tool_end" => look::get(data, "output").map(Outcome::unflagged),
        "on_tool_error" => Some(failure(data)),
        _ => None,
    };
    let id = outcome.as_mut().and_then(Outcome::unwrap);
    Call {
        id,
        name: look::text(event, "name").unwrap_or_default().to_owned(),
        args: look::get(data, "input").map_or_else(Args::missing, Args::of_input),
        made: made(name),
        outcome,
        source: place.to_owned(),
        stand_in: Some(facts.span.clone()),
        ..Call::default()
    }
}

/// What has only begun may never end.
fn made(event: &str) -> Made {
    if event.ends_with("_start") { Made::Started } else { Made::Executed }
}

fn failure(data: &Value) -> Outcome {
    let error = look::get(data, "error")
        .map(|error| error.as_str().map_or_else(|| error.to_string(), str::to_owned));
    Outcome::failure(error.unwrap_or_else(|| "the tool failed".to_owned()))
}

fn retriever(facts: &SpanFacts, event: &str, data: &Value, place: &str) -> Call {
    let query = query_of(data.get("input").cloned().unwrap_or_default());
    let outcome = match event {
        "on_retriever_start" => None,
        "on_retriever_error" => Some(failure(data)),
        _ => {
            let output = data.get("output").unwrap_or(&Value::Null);
            Some(Outcome::flagged(&documents_of(output), false))
        }
    };
    Call {
        name: "retrieval".to_owned(),
        args: serde_json::Map::from_iter([("query".to_owned(), query)]).into(),
        made: made(event),
        outcome,
        kind: Kind::Retrieval,
        source: place.to_owned(),
        stand_in: Some(facts.span.clone()),
        ..Call::default()
    }
}
