//! Test cases and goldens of deepeval, in either spelling of their keys.

use serde_json::Value;

use crate::args::Args;
use crate::call::{Call, Kind};
use crate::look;
use crate::outcome::Outcome;
use crate::transcript::Transcript;

/// Whether a record is one of this dialect.
pub(crate) fn is_record(item: &Value) -> bool {
    let has = |key: &str| look::has(item, key);
    (has("input") && (has("actual_output") || has("actualOutput")))
        || has("tools_called")
        || has("toolsCalled")
}

/// Reads a test case.
pub(crate) fn read(transcript: &mut Transcript, case: &Value, pointer: &str) {
    transcript.ask(text(case, &["input"]));
    for (at, turn) in look::items(case, "turns").iter().enumerate() {
        read_turn(transcript, turn, &format!("{pointer}/turns/{at}"));
    }
    read_tools(transcript, case, pointer);
    let contexts = list(case, &["retrievalContext", "retrieval_context"]);
    if transcript.calls.is_empty() && !contexts.is_empty() {
        transcript.call(retrieval(transcript, case, &contexts, pointer));
    }
    transcript.say(text(case, &["actualOutput", "actual_output"]));
    let count = |keys: &[&str]| look::first(case, keys).and_then(look::whole);
    transcript.usage.input_tokens = count(&["inputTokenCount", "input_token_count"]);
    transcript.usage.output_tokens = count(&["outputTokenCount", "output_token_count"]);
    transcript.usage.cost = look::first(case, &["tokenCost", "token_cost"]).and_then(Value::as_f64);
    transcript.elapsed_sec =
        look::first(case, &["completionTime", "completion_time"]).and_then(Value::as_f64);
    if transcript.question_id.is_none() {
        transcript.other_ids.extend(look::words(case, "name").map(str::to_owned));
    }
}

fn read_turn(transcript: &mut Transcript, turn: &Value, pointer: &str) {
    let said = text(turn, &["content"]);
    match look::text(turn, "role") {
        Some("user") => transcript.ask(said),
        _ => {
            read_tools(transcript, turn, pointer);
            transcript.say(said);
        }
    }
}

fn read_tools(transcript: &mut Transcript, case: &Value, pointer: &str) {
    let tools = list(case, &["toolsCalled", "tools_called"]);
    for (at, tool) in tools.iter().enumerate() {
        let args = look::first(tool, &["inputParameters", "input_parameters"]);
        let args = args.map_or_else(Args::default, |args| Args::of(Some(args)));
        let name = look::text(tool, "name").unwrap_or_default();
        let source = transcript.place(&format!("{pointer}/tools_called/{at}"));
        let call = Call::requested(None, name, args, source);
        let outcome = look::get(tool, "output").map(Outcome::unflagged);
        transcript.call(Call { outcome, ..call });
    }
}

/// Contexts that nothing else tells of are a retrieval.
fn retrieval(transcript: &Transcript, case: &Value, contexts: &[Value], pointer: &str) -> Call {
    let documents = contexts.iter().map(|text| serde_json::json!({"text": text})).collect();
    let query = look::get(case, "input").cloned().unwrap_or_default();
    let args = serde_json::Map::from_iter([("query".to_owned(), query)]);
    let source = transcript.place(&format!("{pointer}/retrieval_context"));
    let call = Call::requested(None, "retrieval", args.into(), source);
    Call { kind: Kind::Retrieval, ..call.with(Outcome::flagged(&Value::Array(documents), false)) }
}

fn text(value: &Value, keys: &[&str]) -> Option<String> {
    look::first(value, keys)?.as_str().map(str::to_owned)
}

/// Returns a list, which tables have as a text: JSON, or parts between bars.
pub(crate) fn list(value: &Value, keys: &[&str]) -> Vec<Value> {
    match look::first(value, keys) {
        Some(Value::Array(items)) => items.clone(),
        Some(Value::String(text)) if text.trim().is_empty() => Vec::new(),
        Some(Value::String(text)) => {
            let structure = look::structure(text).or_else(|| look::python_structure(text));
            match structure {
                Some(Value::Array(items)) => items,
                Some(other) => vec![other],
                None => text.split('|').map(Into::into).collect(),
            }
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::conversation::Status;
    use crate::rules::Rules;

    #[test]
    fn both_spellings_and_texts_of_tables_are_read() {
        let tools = json!([{"name": "t", "inputParameters": {"n": 1}, "output": {"c": 4}}, {"name": "u", "input_parameters": {}, "output": null}]);
        let camel =
            json!({"input": "How warm?", "actualOutput": "4.", "toolsCalled": tools, "name": "q1"});
        let snake = json!({"input": "How warm?", "actual_output": "4.", "tools_called": tools.to_string(), "name": "q1"});
        for case in [camel, snake] {
            let mut transcript = Transcript::default();
            read(&mut transcript, &case, "");
            let conversation = transcript.settle(&Rules::default());
            assert_eq!(conversation.steps[0].output.as_deref(), Some("{\"c\":4}"));
            assert_eq!(conversation.steps[1].status, Status::Error, "no result recorded");
            assert_eq!(
                (conversation.answer.as_deref(), conversation.other_ids[0].as_str()),
                (Some("4."), "q1")
            );
        }
    }

    #[test]
    fn contexts_are_a_retrieval_if_nothing_else_is() {
        let mut transcript = Transcript::default();
        read(
            &mut transcript,
            &json!({"input": "q", "actual_output": "a", "retrieval_context": "x|y"}),
            "",
        );
        let conversation = transcript.settle(&Rules::default());
        assert_eq!(conversation.steps[0].kind, Kind::Retrieval);
        assert_eq!(
            conversation.steps[0].output.as_deref(),
            Some("[{\"text\":\"x\"},{\"text\":\"y\"}]")
        );
    }
}
