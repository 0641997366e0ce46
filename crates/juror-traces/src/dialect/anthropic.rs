//! Anthropic messages: calls and results are blocks of content.

use serde_json::Value;

use crate::args::Args;
use crate::call::{Call, CallResult, Kind};
use crate::look;
use crate::outcome::{Outcome, said};
use crate::transcript::Transcript;

/// Whether a record is one of this dialect.
pub(crate) fn is_record(item: &Value) -> bool {
    let is_block = |block: &Value| {
        look::text(block, "type").is_some_and(|kind| {
            ["tool_use", "server_tool_use", "mcp_tool_use"].contains(&kind)
                || kind.ends_with("tool_result")
        })
    };
    let is_reply = look::text(item, "type") == Some("message")
        && item.get("role").is_some()
        && item.get("stop_reason").is_some();
    is_reply || look::items(item, "content").iter().any(is_block)
}

/// Reads one message.
pub(crate) fn read_item(transcript: &mut Transcript, message: &Value, pointer: &str) {
    let content = look::get(message, "content");
    let blocks = content.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let mut n_calls = 0;
    for (at, block) in blocks.iter().enumerate() {
        n_calls += usize::from(read_block(transcript, block, &format!("{pointer}/content/{at}")));
    }
    let is_result = blocks
        .iter()
        .any(|block| look::text(block, "type").is_some_and(|kind| kind.ends_with("tool_result")));
    match look::text(message, "role") {
        Some("user") if !is_result => transcript.ask(content.and_then(said)),
        Some("assistant") => {
            transcript.add_usage(look::get(message, "usage"));
            // A turn goes on after tools of the server: only what is said after them answers.
            let last = blocks.iter().rposition(|block| look::text(block, "type") != Some("text"));
            let (is_server, after) = match last {
                Some(at) => (
                    look::text(&blocks[at], "type")
                        .is_some_and(|kind| kind.ends_with("_tool_result")),
                    Value::Array(blocks[at + 1..].to_vec()),
                ),
                None => (false, Value::Null),
            };
            if is_server {
                transcript.say(said(&after));
            } else {
                transcript.answer_with(content, n_calls);
            }
        }
        _ => {}
    }
}

/// Reads a block; returns whether it is a call.
pub(crate) fn read_block(transcript: &mut Transcript, block: &Value, pointer: &str) -> bool {
    let kind = look::text(block, "type").unwrap_or_default();
    match kind {
        "tool_use" | "server_tool_use" | "mcp_tool_use" => {
            let name = look::text(block, "name").unwrap_or_default();
            let args = block.get("input").map_or_else(Args::default, |input| Args::of(Some(input)));
            let source = transcript.place(pointer);
            let call = Call::requested(look::id(block, &["id"]), name, args, source);
            let server = look::text(block, "server_name").map(str::to_owned);
            let kind = if kind == "server_tool_use" { Kind::Builtin } else { Kind::Tool };
            transcript.call(Call { kind, server, ..call });
            true
        }
        kind if kind == "tool_result" || kind.ends_with("_tool_result") => {
            transcript.result(CallResult::of(look::id(block, &["tool_use_id"]), outcome(block)));
            false
        }
        _ => false,
    }
}

fn outcome(block: &Value) -> Outcome {
    let content = block.get("content").unwrap_or(&Value::Null);
    // Tools of the server fail with an object such as `{"type": "web_search_tool_result_error"}`.
    let is_failure = look::text(content, "type").is_some_and(|kind| kind.ends_with("_error"));
    if is_failure {
        let code = look::text(content, "error_code").or_else(|| look::text(content, "type"));
        return Outcome::failure(code.unwrap_or("failed").to_owned());
    }
    let is_error = block.get("is_error").and_then(Value::as_bool).unwrap_or(false);
    let content = if content.is_null() { Value::String(String::new()) } else { content.clone() };
    Outcome::flagged(&content, is_error)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::conversation::{Conversation, Status};
    use crate::rules::Rules;

    fn read(messages: &Value) -> Conversation {
        let mut transcript = Transcript::default();
        let messages = messages.as_array().expect("a list");
        for (at, message) in messages.iter().enumerate() {
            read_item(&mut transcript, message, &format!("/{at}"));
        }
        transcript.settle(&Rules::default())
    }

    #[test]
    fn blocks_become_steps() {
        let conversation = read(&json!([
            {"role": "user", "content": "What is in OSLO?"},
            {"role": "assistant", "content": [{"type": "text", "text": "Looking."},
                {"type": "tool_use", "id": "toolu_1", "name": "retrieval", "input": {"query": "OSLO", "k": 2}},
                {"type": "tool_use", "id": "toolu_2", "name": "clock", "input": {}}],
                "usage": {"input_tokens": 7, "output_tokens": 3}},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "toolu_2", "content": "noon"},
                {"type": "tool_result", "tool_use_id": "toolu_1", "is_error": true, "content": [{"type": "text", "text": "index offline"}]}]},
            {"role": "assistant", "content": [{"type": "text", "text": "It is offline."}], "usage": {"input_tokens": 9, "output_tokens": 4}}]));
        let [first, second] = &conversation.steps[..] else { panic!("two steps") };
        assert_eq!(
            (first.status, first.error.as_deref(), first.output.as_deref()),
            (Status::Error, Some("index offline"), None)
        );
        assert_eq!((second.id.as_str(), second.output.as_deref()), ("toolu_2", Some("noon")));
        assert_eq!(conversation.answer.as_deref(), Some("It is offline."));
        assert_eq!(conversation.questions, ["What is in OSLO?"]);
        assert_eq!(
            (conversation.usage.input_tokens, conversation.usage.output_tokens),
            (Some(16), Some(7))
        );
        assert_eq!(first.source, "/1/content/1");
    }

    #[test]
    fn tools_of_the_server_and_hosted_ones_are_calls() {
        let conversation = read(&json!([{"role": "assistant", "content": [
            {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "fern"}},
            {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [{"type": "web_search_result", "title": "Ferns"}]},
            {"type": "server_tool_use", "id": "s2", "name": "web_search", "input": {"query": "moss"}},
            {"type": "web_search_tool_result", "tool_use_id": "s2", "content": {"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"}},
            {"type": "mcp_tool_use", "id": "m1", "name": "sparql", "server_name": "graph", "input": {}},
            {"type": "mcp_tool_result", "tool_use_id": "m1", "is_error": false, "content": [{"type": "text", "text": "true"}]},
            {"type": "text", "text": "Yes."}]}]));
        let shown: Vec<_> = conversation
            .steps
            .iter()
            .map(|step| {
                (step.id.as_str(), step.kind, step.error.as_deref(), step.server.as_deref())
            })
            .collect();
        assert_eq!(
            shown,
            [
                ("s1", Kind::Builtin, None, None),
                ("s2", Kind::Builtin, Some("max_uses_exceeded"), None),
                ("m1", Kind::Tool, None, Some("graph")),
            ]
        );
        assert_eq!(conversation.answer.as_deref(), Some("Yes."));
    }

    #[test]
    fn a_call_without_a_result_is_an_error() {
        let conversation = read(
            &json!([{"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "n", "input": {}}]}]),
        );
        assert_eq!(conversation.steps[0].error.as_deref(), Some("no result recorded"));
        assert_eq!(conversation.answer, None);
    }
}
