//! Samples of ragas: of one turn, and of several.

use serde_json::{Map, Value, json};

use super::{deepeval, langchain};
use crate::call::{Call, Kind};
use crate::look;
use crate::outcome::Outcome;
use crate::transcript::Transcript;

/// Whether a record is one of this dialect.
pub(crate) fn is_record(item: &Value) -> bool {
    look::has(item, "user_input")
}

/// Reads a sample.
pub(crate) fn read(transcript: &mut Transcript, sample: &Value, pointer: &str) {
    match look::get(sample, "user_input") {
        Some(Value::Array(messages)) => {
            langchain::read(transcript, messages, &format!("{pointer}/user_input"));
        }
        Some(Value::String(question)) => transcript.ask(Some(question.clone())),
        _ => {}
    }
    let contexts = deepeval::list(sample, &["retrieved_contexts"]);
    if !contexts.is_empty() {
        transcript.call(retrieval(transcript, sample, &contexts, pointer));
    }
    transcript.say(look::words(sample, "response").map(str::to_owned));
}

fn retrieval(transcript: &Transcript, sample: &Value, contexts: &[Value], pointer: &str) -> Call {
    let ids = deepeval::list(sample, &["retrieved_context_ids"]);
    let document = |(at, text): (usize, &Value)| match ids.get(at) {
        Some(id) => json!({"id": id, "text": text}),
        None => json!({"text": text}),
    };
    let documents: Vec<Value> = contexts.iter().enumerate().map(document).collect();
    let query = look::get(sample, "user_input").cloned().unwrap_or_default();
    let args = Map::from_iter([("query".to_owned(), query)]);
    let source = transcript.place(&format!("{pointer}/retrieved_contexts"));
    let call = Call::requested(None, "retrieval", args.into(), source);
    Call { kind: Kind::Retrieval, ..call.with(Outcome::flagged(&Value::Array(documents), false)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::Rules;

    #[test]
    fn several_turns_are_joined_by_order() {
        let mut transcript = Transcript::default();
        let sample = json!({"user_input": [
            {"content": "How warm?", "type": "human"},
            {"content": "", "type": "ai", "tool_calls": [{"name": "t", "args": {"n": 1}}, {"name": "t", "args": {"n": 2}}]},
            {"content": "one", "type": "tool"}, {"content": "two", "type": "tool"},
            {"content": "Warm.", "type": "ai"}], "reference_tool_calls": [{"name": "x", "args": {}}]});
        read(&mut transcript, &sample, "");
        let conversation = transcript.settle(&Rules::default());
        let outputs: Vec<_> =
            conversation.steps.iter().map(|step| step.output.as_deref()).collect();
        assert_eq!(outputs, [Some("one"), Some("two")]);
        assert_eq!(conversation.answer.as_deref(), Some("Warm."));
    }

    #[test]
    fn contexts_of_one_turn_are_a_retrieval() {
        let mut transcript = Transcript::default();
        let sample = json!({"user_input": "q", "retrieved_contexts": "['x', 'y']", "retrieved_context_ids": ["1", "2"], "response": "a"});
        read(&mut transcript, &sample, "");
        let conversation = transcript.settle(&Rules::default());
        let output = conversation.steps[0].output.as_deref();
        assert_eq!(output, Some(r#"[{"id":"1","text":"x"},{"id":"2","text":"y"}]"#));
        assert_eq!(conversation.answer.as_deref(), Some("a"));
    }
}
