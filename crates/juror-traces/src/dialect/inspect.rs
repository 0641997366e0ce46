//! Samples of Inspect's logs.

use std::collections::BTreeSet;

use serde_json::Value;

use super::openai_chat;
use crate::look;
use crate::outcome::said;
use crate::transcript::Transcript;

/// The tool by which its agents answer.
const SUBMIT: &str = "submit";

/// Where long texts are kept apart.
const ATTACHED: &str = "attachment://";

/// Whether a record is one of this dialect.
pub(crate) fn is_record(item: &Value) -> bool {
    let has = |key: &str| look::has(item, key);
    (has("samples") && has("eval")) || (has("messages") && has("target") && has("epoch"))
}

/// Reads a sample.
pub(crate) fn read(transcript: &mut Transcript, sample: &Value, pointer: &str) {
    transcript.question_id = transcript.question_id.take().or_else(|| look::id(sample, &["id"]));
    match look::get(sample, "input") {
        Some(Value::String(question)) => transcript.ask(Some(question.clone())),
        Some(Value::Array(messages)) => {
            let users =
                messages.iter().filter(|message| look::text(message, "role") == Some("user"));
            users.for_each(|message| transcript.ask(look::get(message, "content").and_then(said)));
        }
        _ => {}
    }
    let attachments = sample.get("attachments").unwrap_or(&Value::Null);
    let messages: Vec<Value> = look::items(sample, "messages")
        .iter()
        .map(|message| resolved(message, attachments))
        .collect();
    openai_chat::read(transcript, &messages, &format!("{pointer}/messages"));
    let completion = look::at(sample, &["output", "completion"]).and_then(Value::as_str);
    let submitted = transcript.calls.iter().any(|call| call.name == SUBMIT);
    if submitted || transcript.answer.is_none() {
        transcript.say(completion.map(str::to_owned));
    }
    if submitted {
        transcript.calls.retain(|call| call.name != SUBMIT);
        transcript.leave_out(format!("call of `{SUBMIT}`: the answer"));
        let ids: BTreeSet<Option<String>> =
            transcript.calls.iter().map(|call| call.id.clone()).collect();
        transcript.results.retain(|recorded| ids.contains(&recorded.result.id));
    }
    if let Some(models) = sample.get("model_usage").and_then(Value::as_object) {
        models.values().for_each(|usage| transcript.add_usage(Some(usage)));
    }
    transcript.elapsed_sec = sample.get("total_time").and_then(Value::as_f64);
    let error = look::get(sample, "error");
    transcript.error = error
        .map(|error| look::text(error, "message").map_or_else(|| error.to_string(), str::to_owned));
}

/// Returns a value with the texts that are kept apart.
fn resolved(value: &Value, attachments: &Value) -> Value {
    match value {
        Value::String(text) => {
            let attached = text.strip_prefix(ATTACHED).and_then(|name| attachments.get(name));
            attached.unwrap_or(value).clone()
        }
        Value::Array(items) => items.iter().map(|item| resolved(item, attachments)).collect(),
        Value::Object(fields) => {
            let fields =
                fields.iter().map(|(key, value)| (key.clone(), resolved(value, attachments)));
            Value::Object(fields.collect())
        }
        _ => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::rules::Rules;

    #[test]
    fn a_sample_becomes_a_conversation() {
        let sample = json!({"id": 7, "epoch": 1, "input": "How warm?", "target": "4", "total_time": 1.5,
            "messages": [
                {"role": "user", "content": "How warm?"},
                {"role": "assistant", "content": "", "tool_calls": [{"id": "a", "function": "t", "arguments": {"n": 1}, "type": "function"}, {"id": "b", "function": "t", "arguments": {}, "type": "function"}]},
                {"role": "tool", "tool_call_id": "b", "content": "", "error": {"type": "timeout", "message": "too slow"}},
                {"role": "tool", "tool_call_id": "a", "content": "attachment://x"},
                {"role": "assistant", "content": "", "tool_calls": [{"id": "c", "function": "submit", "arguments": {"answer": "4."}}]},
                {"role": "tool", "tool_call_id": "c", "content": "4."}],
            "attachments": {"x": "four"}, "output": {"completion": "4."},
            "model_usage": {"m": {"input_tokens": 3, "output_tokens": 2}, "n": {"input_tokens": 1, "output_tokens": 1}}});
        let mut transcript = Transcript::default();
        read(&mut transcript, &sample, "");
        let conversation = transcript.settle(&Rules::default());
        let shown: Vec<_> = conversation
            .steps
            .iter()
            .map(|step| (step.output.as_deref(), step.error.as_deref()))
            .collect();
        assert_eq!(shown, [(Some("four"), None), (None, Some("too slow"))]);
        assert_eq!(conversation.answer.as_deref(), Some("4."));
        assert_eq!(conversation.question_id.as_deref(), Some("7"));
        assert_eq!(conversation.usage.total(), Some(7));
        assert_eq!(conversation.elapsed_sec, Some(1.5));
    }
}
