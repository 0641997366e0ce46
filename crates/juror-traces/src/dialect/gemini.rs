//! Gemini's contents: parts with `functionCall` and `functionResponse`, in either spelling. Events of
//! agents of Google's ADK have a content each.

use serde_json::Value;

use crate::args::Args;
use crate::call::{Call, CallResult};
use crate::look;
use crate::outcome::Outcome;
use crate::transcript::Transcript;

/// Whether a record is one of this dialect.
pub(crate) fn is_record(item: &Value) -> bool {
    let parts = look::items(item, "parts");
    let calls = ["functionCall", "function_call", "functionResponse", "function_response"];
    let has_calls = parts.iter().any(|part| calls.iter().any(|key| part.get(key).is_some()));
    let is_content = matches!(look::text(item, "role"), Some("user" | "model"))
        && parts.iter().all(|part| part.get("type").is_none());
    let is_reply =
        look::items(item, "candidates").iter().any(|candidate| candidate.get("content").is_some());
    let is_request =
        look::items(item, "contents").iter().any(|content| content.get("parts").is_some());
    // An event of an agent of the ADK: its content, and who says it.
    let is_event = item.get("author").is_some()
        && look::at(item, &["content", "parts"]).is_some_and(Value::is_array);
    has_calls || (is_content && !parts.is_empty()) || is_reply || is_request || is_event
}

/// Reads one content, or a whole reply with its candidates.
pub(crate) fn read_item(transcript: &mut Transcript, item: &Value, pointer: &str) {
    if let Some(contents) = item.get("contents").and_then(Value::as_array) {
        transcript.begin_history();
        for (at, content) in contents.iter().enumerate() {
            read_item(transcript, content, &format!("{pointer}/contents/{at}"));
        }
    }
    if let Some(candidate) = look::items(item, "candidates").first() {
        let pointer = format!("{pointer}/candidates/0/content");
        read_item(transcript, candidate.get("content").unwrap_or(&Value::Null), &pointer);
    }
    if let Some(content) = look::get(item, "content").filter(|content| content.is_object()) {
        let before = transcript.calls.len();
        read_item(transcript, content, &format!("{pointer}/content"));
        let author = look::words(item, "author").map(str::to_owned);
        transcript.calls.iter_mut().skip(before).for_each(|call| call.agent.clone_from(&author));
    }
    transcript.add_usage(look::first(item, &["usageMetadata", "usage_metadata"]));
    let parts = look::items(item, "parts");
    let mut n_calls = 0;
    for (at, part) in parts.iter().enumerate() {
        n_calls += usize::from(read_part(transcript, part, &format!("{pointer}/parts/{at}")));
    }
    let is_thought = |part: &&Value| part.get("thought").and_then(Value::as_bool) == Some(true);
    let texts =
        parts.iter().filter(|part| !is_thought(part)).filter_map(|part| look::words(part, "text"));
    let said = texts.collect::<Vec<_>>().join("\n");
    match look::text(item, "role") {
        Some("user") => transcript.ask(Some(said)),
        Some("model" | "assistant") if n_calls == 0 => transcript.say(Some(said)),
        _ => {}
    }
}

/// Reads a part; returns whether it is a call.
fn read_part(transcript: &mut Transcript, part: &Value, pointer: &str) -> bool {
    if let Some(call) = look::first(part, &["functionCall", "function_call"]) {
        let name = look::text(call, "name").unwrap_or_default();
        let args = look::get(call, "args").map_or_else(Args::default, |args| Args::of(Some(args)));
        let source = transcript.place(pointer);
        transcript.call(Call::requested(look::id(call, &["id"]), name, args, source));
        return true;
    }
    if let Some(response) = look::first(part, &["functionResponse", "function_response"]) {
        transcript.result(CallResult {
            id: look::id(response, &["id"]),
            name: look::text(response, "name").map(str::to_owned),
            outcome: outcome(response.get("response").unwrap_or(&Value::Null)),
        });
    }
    false
}

/// The API puts results under `output` and failures under `error`; its Python library puts results
/// under `result`.
pub(crate) fn outcome(response: &Value) -> Outcome {
    let only = response.as_object().filter(|object| object.len() == 1);
    let only = only.and_then(|object| object.iter().next());
    match only.map(|(key, value)| (key.as_str(), value)) {
        Some(("error", error)) => {
            Outcome::failure(error.as_str().map_or_else(|| error.to_string(), str::to_owned))
        }
        Some(("output" | "result", value)) => {
            Outcome { whole: Some(response.clone()), ..Outcome::unflagged(value) }
        }
        _ => Outcome::unflagged(response),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::rules::Rules;

    #[test]
    fn calls_without_ids_join_by_order() {
        let mut transcript = Transcript::default();
        let contents = json!([
            {"role": "user", "parts": [{"text": "How warm?"}]},
            {"role": "model", "parts": [{"functionCall": {"name": "t", "args": {"n": 1}}}, {"functionCall": {"name": "t", "args": {"n": 2}}}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "t", "response": {"output": "one"}}}, {"functionResponse": {"name": "t", "response": {"error": "no"}}}]},
            {"role": "model", "parts": [{"function_call": {"id": "f", "name": "u", "args": {}}}]},
            {"role": "user", "parts": [{"function_response": {"id": "f", "name": "u", "response": {"a": 1, "b": 2}}}]}]);
        for (at, content) in contents.as_array().expect("a list").iter().enumerate() {
            read_item(&mut transcript, content, &format!("/{at}"));
        }
        let reply = json!({"candidates": [{"content": {"role": "model", "parts": [{"text": "thinking", "thought": true}, {"text": "4 degrees."}]}}],
            "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 2, "totalTokenCount": 5}});
        read_item(&mut transcript, &reply, "/5");
        let conversation = transcript.settle(&Rules::default());
        let shown: Vec<_> = conversation
            .steps
            .iter()
            .map(|step| (step.id.as_str(), step.output.as_deref(), step.error.as_deref()))
            .collect();
        assert_eq!(
            shown,
            [
                ("call_1", Some("one"), None),
                ("call_2", None, Some("no")),
                ("f", Some("{\"a\":1,\"b\":2}"), None)
            ]
        );
        assert_eq!(conversation.answer.as_deref(), Some("4 degrees."));
        assert_eq!(conversation.questions, ["How warm?"]);
        assert_eq!(conversation.usage.total(), Some(5));
    }
}
