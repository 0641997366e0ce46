//! Messages of pydantic-ai: requests and responses of parts.

use serde_json::Value;

use crate::args::Args;
use crate::call::{Call, CallResult, Kind};
use crate::look;
use crate::outcome::{Outcome, said};
use crate::transcript::Transcript;

/// The tools by which agents with a typed result give it.
pub(crate) fn is_final(name: &str) -> bool {
    name == "final_result" || name.starts_with("final_result_")
}

/// Whether a record is one of this dialect.
pub(crate) fn is_record(item: &Value) -> bool {
    look::items(item, "parts").iter().any(|part| look::has(part, "part_kind"))
}

/// Reads one message.
pub(crate) fn read_item(transcript: &mut Transcript, message: &Value, pointer: &str) {
    transcript.add_usage(look::get(message, "usage"));
    let before = transcript.calls.len();
    let mut texts = Vec::new();
    for (at, part) in look::items(message, "parts").iter().enumerate() {
        match look::text(part, "part_kind") {
            Some("text") => texts.extend(look::words(part, "content")),
            Some("user-prompt") => transcript.ask(look::get(part, "content").and_then(said)),
            _ => read_part(transcript, part, &format!("{pointer}/parts/{at}")),
        }
    }
    let is_response = look::text(message, "kind") == Some("response");
    if is_response && transcript.calls.len() == before && !texts.is_empty() {
        transcript.say(Some(texts.join("\n")));
    }
}

fn read_part(transcript: &mut Transcript, part: &Value, pointer: &str) {
    let kind = look::text(part, "part_kind").unwrap_or_default();
    let name = look::text(part, "tool_name").unwrap_or_default();
    let id = look::id(part, &["tool_call_id"]);
    match kind {
        "tool-call" if is_final(name) => {
            transcript.say(Some(final_text(&Args::of(part.get("args")))));
            transcript.leave_out(format!("call of `{name}`: the answer"));
        }
        "tool-return" if is_final(name) => {}
        "tool-call" | "builtin-tool-call" => {
            let source = transcript.place(pointer);
            let args = part.get("args").map_or_else(Args::default, |args| Args::of(Some(args)));
            let call = Call::requested(id, name, args, source);
            let kind = if kind == "tool-call" { Kind::Tool } else { Kind::Builtin };
            transcript.call(Call { kind, ..call });
        }
        "tool-return" | "builtin-tool-return" => {
            let is_error = look::text(part, "outcome").map(|outcome| outcome != "success");
            let outcome = Outcome::unflagged(part.get("content").unwrap_or(&Value::Null));
            transcript.result(CallResult::of(id, Outcome { is_error, ..outcome }));
        }
        // What the model is told if its call cannot be made.
        "retry-prompt" if !name.is_empty() => {
            let content = part.get("content").unwrap_or(&Value::Null);
            transcript.result(CallResult::of(id, Outcome::flagged(content, true)));
        }
        _ => {}
    }
}

/// Returns the answer that a typed result is: its only text, or JSON.
pub(crate) fn final_text(args: &Args) -> String {
    let only = args.value.values().next().and_then(Value::as_str).filter(|_| args.value.len() == 1);
    only.map_or_else(|| args.canonical(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::rules::Rules;

    #[test]
    fn parts_become_steps() {
        let mut transcript = Transcript::default();
        let messages = json!([
            {"kind": "request", "parts": [{"part_kind": "system-prompt", "content": "s"}, {"part_kind": "user-prompt", "content": "How many?"}]},
            {"kind": "response", "usage": {"input_tokens": 4, "output_tokens": 2}, "parts": [{"part_kind": "tool-call", "tool_name": "t", "args": "{\"n\": 1}", "tool_call_id": "a"}, {"part_kind": "tool-call", "tool_name": "t", "args": {"n": 2}, "tool_call_id": "b"}]},
            {"kind": "request", "parts": [{"part_kind": "tool-return", "tool_name": "t", "content": {"c": 1}, "tool_call_id": "b", "outcome": "success"}, {"part_kind": "tool-return", "tool_name": "t", "content": "unknown", "tool_call_id": "a", "outcome": "retried"}]},
            {"kind": "response", "parts": [{"part_kind": "tool-call", "tool_name": "u", "args": "x", "tool_call_id": "c"}]},
            {"kind": "request", "parts": [{"part_kind": "retry-prompt", "tool_name": "u", "content": "invalid", "tool_call_id": "c"}]},
            {"kind": "response", "parts": [{"part_kind": "text", "content": "Two."}]}]);
        for (at, message) in messages.as_array().expect("a list").iter().enumerate() {
            read_item(&mut transcript, message, &format!("/{at}"));
        }
        let conversation = transcript.settle(&Rules::default());
        let shown: Vec<_> = conversation
            .steps
            .iter()
            .map(|step| (step.output.as_deref(), step.error.as_deref()))
            .collect();
        assert_eq!(
            shown,
            [(None, Some("unknown")), (Some("{\"c\":1}"), None), (None, Some("invalid"))]
        );
        assert_eq!(conversation.answer.as_deref(), Some("Two."));
        assert_eq!(conversation.usage.total(), Some(6));
    }

    #[test]
    fn a_typed_result_is_the_answer() {
        let mut transcript = Transcript::default();
        let message = json!({"kind": "response", "parts": [{"part_kind": "tool-call", "tool_name": "final_result", "args": {"city": "Oslo", "n": 1}, "tool_call_id": "a"}]});
        read_item(&mut transcript, &message, "");
        let conversation = transcript.settle(&Rules::default());
        assert!(conversation.steps.is_empty());
        assert_eq!(conversation.answer.as_deref(), Some("{\"city\":\"Oslo\",\"n\":1}"));
    }
}
