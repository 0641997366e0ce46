//! Runs as LangSmith exports them: flat with parents, or with children inside.

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

/// The deepest run that is followed.
const DEEPEST: usize = 200;

/// Whether a record is one of this dialect.
pub(crate) fn is_record(item: &Value) -> bool {
    let has = |key: &str| look::has(item, key);
    has("run_type") && (has("inputs") || has("outputs"))
}

/// Reads a run and its children.
pub(crate) fn read(run: &Value, place: &str, rules: &Rules, keep: &mut dyn FnMut(SpanFacts)) {
    read_within(run, None, place, rules, DEEPEST, keep);
}

fn read_within(
    run: &Value,
    above: Option<&SpanFacts>,
    place: &str,
    rules: &Rules,
    depth: usize,
    keep: &mut dyn FnMut(SpanFacts),
) {
    let id = look::id(run, &["id"]).unwrap_or_default();
    let trace = look::id(run, &["trace_id"]).or_else(|| above.map(|above| above.trace.clone()));
    let time = |key: &str| look::get(run, key).and_then(nanoseconds).unwrap_or(0);
    let order = look::words(run, "dotted_order").unwrap_or_default();
    let parent = look::id(run, &["parent_run_id"])
        .or_else(|| above.map(|above| above.span.clone()))
        .or_else(|| run_above(order));
    let mut facts = SpanFacts {
        trace: trace.or_else(|| outermost_run(order)).unwrap_or_else(|| id.clone()),
        parent,
        span: id,
        start: time_in(order).unwrap_or_else(|| time("start_time")),
        end: time("end_time"),
        question_id: id_in(run, rules.question_id.as_deref()),
        other_ids: look::id(run, &["session_id"]).into_iter().collect(),
        error: look::words(run, "error").map(str::to_owned),
        ..SpanFacts::default()
    };
    read_run(&mut facts, run, place);
    let children = look::items(run, "child_runs");
    if depth > 0 {
        for (at, child) in children.iter().enumerate() {
            read_within(
                child,
                Some(&facts),
                &format!("{place}/child_runs/{at}"),
                rules,
                depth - 1,
                keep,
            );
        }
    }
    keep(facts);
}

/// The parts of a dotted order, the outermost run first: each is its start, a `Z` and its id.
fn parts(order: &str) -> impl DoubleEndedIterator<Item = (&str, &str)> {
    order.split('.').filter_map(|part| part.split_once('Z'))
}

fn outermost_run(order: &str) -> Option<String> {
    parts(order).next().map(|(_, id)| id.to_owned())
}

fn run_above(order: &str) -> Option<String> {
    parts(order).rev().nth(1).map(|(_, id)| id.to_owned())
}

/// Returns when a run started: `20260801T100001000000` has microseconds.
fn time_in(order: &str) -> Option<u64> {
    let (start, _) = parts(order).next_back()?;
    let (day, time) = start.split_once('T')?;
    let part = |text: &str, from: usize, to: usize| text.get(from..to).map(str::to_owned);
    let day = format!("{}-{}-{}", part(day, 0, 4)?, part(day, 4, 6)?, part(day, 6, 8)?);
    let second = format!("{}:{}:{}", part(time, 0, 2)?, part(time, 2, 4)?, part(time, 4, 6)?);
    nanoseconds(&Value::String(format!("{day}T{second}.{}Z", time.get(6..)?)))
}

fn read_run(facts: &mut SpanFacts, run: &Value, place: &str) {
    let inputs = run.get("inputs").unwrap_or(&Value::Null);
    let outputs = run.get("outputs").unwrap_or(&Value::Null);
    match look::text(run, "run_type") {
        Some("tool") => {
            facts.role = Role::Tool;
            facts.tool = Some(Box::new(tool(facts, run, inputs, outputs, place)));
        }
        Some("retriever") => {
            facts.role = Role::Tool;
            facts.tool = Some(Box::new(retriever(facts, inputs, outputs, place)));
        }
        kind => {
            let is_model = kind == Some("llm");
            facts.role = if is_model { Role::Model } else { Role::Other };
            let is_root = facts.parent.is_none();
            if is_model || is_root {
                messages(facts, run, inputs, outputs, is_model, place);
            }
        }
    }
}

fn messages(
    facts: &mut SpanFacts,
    run: &Value,
    inputs: &Value,
    outputs: &Value,
    is_model: bool,
    place: &str,
) {
    let (mut given, mut gave) = (Transcript::at(place), Transcript::at(place));
    dialect::read_value(&mut given, inputs, "/inputs");
    given.ask(
        look::first(inputs, &["input", "question", "query"])
            .and_then(Value::as_str)
            .map(str::to_owned),
    );
    given.answer = None;
    dialect::read_value(&mut gave, outputs, "/outputs");
    if gave.answer.is_none() && gave.calls.is_empty() {
        gave.say(
            look::first(outputs, &["output", "answer"]).and_then(Value::as_str).map(str::to_owned),
        );
    }
    if is_model {
        let recorded = look::at(outputs, &["llm_output", "token_usage"])
            .or_else(|| look::at(run, &["extra", "metadata", "usage_metadata"]))
            .or_else(|| look::get(outputs, "usage_metadata"));
        facts.usage = recorded.and_then(usage_of);
    }
    facts.take_messages(given, gave);
}

fn tool(facts: &SpanFacts, run: &Value, inputs: &Value, outputs: &Value, place: &str) -> Call {
    let mut call = facts.executed(look::text(run, "name").unwrap_or_default(), place);
    call.args = Args::of_input(inputs);
    call.made = facts.made(outputs);
    let content =
        look::get(outputs, "output").or(Some(outputs).filter(|outputs| !outputs.is_null()));
    let mut outcome = content.map(Outcome::unflagged);
    call.id = outcome.as_mut().and_then(Outcome::unwrap);
    match &facts.error {
        Some(error) => {
            call.outcome = Some(Outcome {
                is_error: Some(true),
                error: Some(error.clone()),
                ..outcome.unwrap_or_default()
            });
        }
        None => {
            call.outcome = outcome
                .map(|outcome| Outcome { is_error: outcome.is_error.or(Some(false)), ..outcome });
        }
    }
    call
}

fn retriever(facts: &SpanFacts, inputs: &Value, outputs: &Value, place: &str) -> Call {
    let mut call = facts.executed("retrieval", place);
    call.kind = Kind::Retrieval;
    let query = query_of(inputs.clone());
    call.args = serde_json::Map::from_iter([("query".to_owned(), query)]).into();
    call.made = facts.made(outputs);
    call.outcome = match &facts.error {
        Some(error) => Some(Outcome::failure(error.clone())),
        None if outputs.is_null() => None,
        None => Some(Outcome::flagged(&documents_of(outputs), false)),
    };
    call
}
