//! LlamaIndex's own forms: chat histories of blocks, events of a workflow, an agent's output.

use serde_json::Value;

use super::openai_chat;
use crate::args::Args;
use crate::call::{Call, CallResult};
use crate::look;
use crate::outcome::{Outcome, said};
use crate::transcript::Transcript;

/// Whether a record is one of this dialect.
pub(crate) fn is_record(item: &Value) -> bool {
    let has_blocks = |item: &Value| {
        look::items(item, "blocks").iter().any(|block| block.get("block_type").is_some())
    };
    has_blocks(item)
        || item.get("tool_kwargs").is_some()
        || item.get("response").is_some_and(has_blocks)
}

/// Reads a message of a history, an event, or an agent's output.
pub(crate) fn read_item(transcript: &mut Transcript, item: &Value, pointer: &str) {
    if item.get("tool_kwargs").is_some() || item.get("tool_output").is_some() {
        return read_tool_event(transcript, item, pointer);
    }
    if let Some(response) = look::get(item, "response").filter(|response| response.is_object()) {
        return read_output(transcript, item, response, pointer);
    }
    if item.get("blocks").is_some() {
        return read_message(transcript, item, pointer);
    }
    let event = look::text(item, "event").unwrap_or("unknown");
    transcript.leave_out(format!("event `{event}`: no call"));
}

fn read_message(transcript: &mut Transcript, message: &Value, pointer: &str) {
    let blocks = look::items(message, "blocks");
    let kind = |block: &Value| look::text(block, "block_type").unwrap_or("text").to_owned();
    let texts: Vec<Value> = blocks.iter().filter(|block| kind(block) == "text").cloned().collect();
    let said = said(&Value::Array(texts));
    let more = message.get("additional_kwargs").unwrap_or(&Value::Null);
    match look::text(message, "role") {
        Some("user") => transcript.ask(said),
        Some("assistant") => {
            let before = transcript.calls.len();
            for (at, block) in
                blocks.iter().enumerate().filter(|(_, block)| kind(block) == "tool_call")
            {
                let source = transcript.place(&format!("{pointer}/blocks/{at}"));
                transcript.call(read_call(block, source));
            }
            if transcript.calls.len() == before {
                for (at, call) in look::items(more, "tool_calls").iter().enumerate() {
                    let pointer = format!("{pointer}/additional_kwargs/tool_calls/{at}");
                    let source = transcript.place(&pointer);
                    transcript.call(openai_chat::read_call(call, source));
                }
            }
            if transcript.calls.len() == before {
                transcript.say(said);
            }
        }
        Some("tool") => {
            let content = Value::String(said.unwrap_or_default());
            transcript.result(CallResult::unflagged(look::id(more, &["tool_call_id"]), &content));
        }
        _ => {}
    }
}

fn read_call(call: &Value, source: String) -> Call {
    let name = look::text(call, "tool_name").unwrap_or_default();
    let id = look::id(call, &["tool_id", "tool_call_id"]);
    Call::requested(id, name, Args::of(call.get("tool_kwargs")), source)
}

/// A call, or its result, which repeats the call.
fn read_tool_event(transcript: &mut Transcript, event: &Value, pointer: &str) {
    let source = transcript.place(pointer);
    let call = read_call(event, source);
    let id = call.id.clone();
    if id.as_ref().is_none_or(|id| transcript.seen.insert(id.clone())) {
        transcript.call(call);
    }
    if let Some(output) = look::get(event, "tool_output") {
        transcript.result(CallResult::of(id, outcome(output)));
    }
}

fn outcome(output: &Value) -> Outcome {
    let is_error = output.get("is_error").and_then(Value::as_bool);
    let blocks = look::get(output, "blocks").cloned();
    let text = look::get(output, "content").cloned().or(blocks).unwrap_or_default();
    let content = match is_error {
        // The raw output of a failure is an exception, its text says why.
        Some(true) => text,
        _ => look::get(output, "raw_output").cloned().unwrap_or(text),
    };
    Outcome { is_error, ..Outcome::unflagged(&content) }
}

/// What an agent returned: its answer, and perhaps all calls on the way.
fn read_output(transcript: &mut Transcript, item: &Value, response: &Value, pointer: &str) {
    let calls = look::items(item, "tool_calls");
    for (at, call) in calls.iter().enumerate() {
        read_tool_event(transcript, call, &format!("{pointer}/tool_calls/{at}"));
    }
    let texts = response.get("blocks").or_else(|| response.get("content"));
    let said = texts.and_then(said);
    let in_blocks = look::items(response, "blocks").iter();
    let asks =
        in_blocks.filter(|block| look::text(block, "block_type") == Some("tool_call")).count();
    let is_event = item.get("event").is_some();
    if asks == 0 && (!is_event || calls.is_empty()) {
        transcript.say(said);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::conversation::Conversation;
    use crate::rules::Rules;

    fn read(items: &Value) -> Conversation {
        let mut transcript = Transcript::default();
        for (at, item) in items.as_array().expect("a list").iter().enumerate() {
            read_item(&mut transcript, item, &format!("/{at}"));
        }
        transcript.settle(&Rules::default())
    }

    #[test]
    fn a_history_is_read_by_its_blocks() {
        let text = |role: &str, text: &str| json!({"role": role, "additional_kwargs": {}, "blocks": [{"block_type": "text", "text": text}]});
        let mut result = text("tool", "{'sky': 'grey'}");
        result["additional_kwargs"] = json!({"tool_call_id": "a"});
        let conversation = read(&json!([
            text("user", "How is it?"),
            {"role": "assistant", "additional_kwargs": {"tool_calls": [{"id": "a", "function": {"name": "t", "arguments": "{}"}}]},
                "blocks": [{"block_type": "text", "text": ""}, {"block_type": "tool_call", "tool_call_id": "a", "tool_name": "t", "tool_kwargs": "{\"n\": 1}"}]},
            result,
            text("assistant", "Grey.")]));
        assert_eq!(conversation.steps.len(), 1);
        assert_eq!(conversation.steps[0].output.as_deref(), Some("{\"sky\":\"grey\"}"));
        assert_eq!(conversation.steps[0].output_raw, Some(json!("{'sky': 'grey'}")));
        assert_eq!(conversation.answer.as_deref(), Some("Grey."));
    }

    #[test]
    fn events_say_whether_calls_failed() {
        let call = json!({"tool_name": "t", "tool_kwargs": {"n": 1}, "tool_id": "a"});
        let output = json!({"blocks": [{"block_type": "text", "text": "no"}], "raw_output": "ValueError('no')", "is_error": true});
        let conversation = read(&json!([
            {"event": "AgentOutput", "response": {"role": "assistant", "blocks": [{"block_type": "text", "text": "beside"}]}, "tool_calls": [call]},
            {"event": "ToolCall", "tool_name": "t", "tool_kwargs": {"n": 1}, "tool_id": "a"},
            {"event": "ToolCallResult", "tool_name": "t", "tool_kwargs": {"n": 1}, "tool_id": "a", "tool_output": output},
            {"event": "AgentOutput", "response": {"role": "assistant", "blocks": [{"block_type": "text", "text": "It failed."}]}, "tool_calls": []}]));
        assert_eq!(conversation.steps.len(), 1);
        assert_eq!(conversation.steps[0].error.as_deref(), Some("no"));
        assert_eq!(conversation.answer.as_deref(), Some("It failed."));
    }
}
