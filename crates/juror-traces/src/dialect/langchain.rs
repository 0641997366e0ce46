//! Messages of LangChain and LangGraph in four shapes: fields, fields in `data`, fields in
//! `kwargs`, and updates of a state.

use serde_json::Value;

use super::{anthropic, openai_chat};
use crate::args::Args;
use crate::call::{Call, CallResult};
use crate::look;
use crate::outcome::{Outcome, said};
use crate::transcript::Transcript;

/// Whether a record is one of this dialect.
pub(crate) fn is_record(item: &Value) -> bool {
    message(item).is_some() || is_update(item)
}

/// An update of a state: nodes with the messages they add.
fn is_update(item: &Value) -> bool {
    let Value::Object(nodes) = item else { return false };
    let is_reply = |item: &Value| message(item).is_some_and(|(_, sender)| sender != Sender::Human);
    let is_node = |node: &Value| {
        let messages = look::items(node, "messages");
        node.is_null() || (!messages.is_empty() && messages.iter().all(is_reply))
    };
    !nodes.is_empty() && nodes.values().all(is_node) && !nodes.values().all(Value::is_null)
}

/// Reads a message, a state, or an update of one.
pub(crate) fn read_item(transcript: &mut Transcript, item: &Value, pointer: &str) {
    if is_escaped(item, DEEPEST) {
        return read_item(transcript, &unescaped(item, DEEPEST), pointer);
    }
    if let Some((fields, kind)) = message(item) {
        return read_message(transcript, fields, kind, pointer);
    }
    // Streams of several modes are pairs: a mode or a namespace, and what came.
    if let Some(pair) = item.as_array() {
        for (at, part) in pair.iter().enumerate() {
            read_item(transcript, part, &format!("{pointer}/{at}"));
        }
        return;
    }
    let Value::Object(state) = item else { return };
    for (key, part) in state {
        let pointer = format!("{pointer}/{key}");
        match part {
            Value::Array(messages) if key == "messages" => read(transcript, messages, &pointer),
            Value::Object(_) if key == "messages" => read_item(transcript, part, &pointer),
            Value::Object(update) if update.contains_key("messages") => {
                read_item(transcript, part, &pointer);
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
            _ => transcript.leave_out(format!("key `{key}` of a state: no messages")),
        }
    }
}

/// Reads messages in their order.
pub(crate) fn read(transcript: &mut Transcript, messages: &[Value], pointer: &str) {
    for (at, message) in messages.iter().enumerate() {
        read_item(transcript, message, &format!("{pointer}/{at}"));
    }
}

/// What a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sender {
    Human,
    Ai,
    Tool,
    Function,
    Other,
}

/// Returns the fields of a message and who sent it, whatever its shape.
pub(crate) fn message(item: &Value) -> Option<(&Value, Sender)> {
    let item = look::get(item, ESCAPED).unwrap_or(item);
    let kind = look::text(item, "type");
    if kind == Some("constructor") {
        let class = look::items(item, "id").last()?.as_str()?;
        let fields = look::get(item, "kwargs")?;
        return Some((fields, sender_of_class(class)?));
    }
    let sender = match kind? {
        "human" | "HumanMessageChunk" => Sender::Human,
        "ai" | "AIMessageChunk" => Sender::Ai,
        "tool" | "ToolMessageChunk" => Sender::Tool,
        "function" | "FunctionMessageChunk" => Sender::Function,
        "system" | "chat" | "developer" | "remove" => Sender::Other,
        _ => return None,
    };
    let fields = look::get(item, "data").filter(|data| data.is_object()).unwrap_or(item);
    fields.get("content").map(|_| (fields, sender))
}

fn sender_of_class(class: &str) -> Option<Sender> {
    Some(match class.trim_end_matches("Chunk") {
        "HumanMessage" => Sender::Human,
        "AIMessage" => Sender::Ai,
        "ToolMessage" => Sender::Tool,
        "FunctionMessage" => Sender::Function,
        "SystemMessage" | "ChatMessage" => Sender::Other,
        _ => return None,
    })
}

/// `dumpd` wraps what looks like its own objects.
const ESCAPED: &str = "__lc_escaped__";

/// The deepest value that is unwrapped.
const DEEPEST: usize = 128;

fn is_escaped(value: &Value, depth: usize) -> bool {
    let inside = |value: &Value| depth > 0 && is_escaped(value, depth - 1);
    match value {
        Value::Object(object) => object.contains_key(ESCAPED) || object.values().any(inside),
        Value::Array(items) => items.iter().any(inside),
        _ => false,
    }
}

/// Returns a value without such wrappers.
fn unescaped(value: &Value, depth: usize) -> Value {
    let inside = |value: &Value| match depth {
        0 => Value::Null,
        _ => unescaped(value, depth - 1),
    };
    match value {
        Value::Object(object) => match object.get(ESCAPED) {
            Some(inner) => inside(inner),
            None => object.iter().map(|(key, value)| (key.clone(), inside(value))).collect(),
        },
        Value::Array(items) => items.iter().map(inside).collect(),
        _ => value.clone(),
    }
}

fn read_message(transcript: &mut Transcript, fields: &Value, sender: Sender, pointer: &str) {
    match sender {
        Sender::Human => transcript.ask(look::get(fields, "content").and_then(said)),
        Sender::Ai => read_ai(transcript, fields, pointer),
        Sender::Tool => transcript.result(tool_result(fields)),
        // Results of functions, before there were tools, have a name and no id.
        Sender::Function => {
            let name = look::words(fields, "name").map(str::to_owned);
            transcript.result(CallResult { name, ..tool_result(fields) });
        }
        Sender::Other => {}
    }
}

fn read_ai(transcript: &mut Transcript, fields: &Value, pointer: &str) {
    let before = transcript.calls.len();
    let calls = look::items(fields, "tool_calls");
    for (at, call) in calls.iter().enumerate() {
        let source = transcript.place(&format!("{pointer}/tool_calls/{at}"));
        transcript.call(openai_chat::read_call(call, source));
    }
    for (at, call) in look::items(fields, "invalid_tool_calls").iter().enumerate() {
        let source = transcript.place(&format!("{pointer}/invalid_tool_calls/{at}"));
        transcript.call(invalid_call(call, source));
    }
    if transcript.calls.len() == before {
        read_calls_elsewhere(transcript, fields, pointer);
    }
    // Agents that share a conversation sign what they say.
    let agent = look::words(fields, "name");
    for call in transcript.calls.iter_mut().skip(before).filter(|call| call.agent.is_none()) {
        call.agent = agent.map(str::to_owned);
    }
    let usage = look::get(fields, "usage_metadata").or_else(|| {
        look::at(fields, &["response_metadata", "token_usage"])
            .or_else(|| look::at(fields, &["response_metadata", "usage"]))
    });
    transcript.add_usage(usage);
    let n_calls = transcript.calls.len() - before;
    transcript.answer_with(look::get(fields, "content"), n_calls);
}

/// Calls of a message without `tool_calls`: in OpenAI's shape beside it, or Anthropic's blocks in it.
fn read_calls_elsewhere(transcript: &mut Transcript, fields: &Value, pointer: &str) {
    let more = fields.get("additional_kwargs").unwrap_or(&Value::Null);
    for (at, call) in look::items(more, "tool_calls").iter().enumerate() {
        let pointer = format!("{pointer}/additional_kwargs/tool_calls/{at}");
        let source = transcript.place(&pointer);
        transcript.call(openai_chat::read_call(call, source));
    }
    if let Some(function) = look::get(more, "function_call") {
        let source = transcript.place(&format!("{pointer}/additional_kwargs/function_call"));
        transcript.call(openai_chat::read_call(function, source));
    }
    for (at, block) in look::items(fields, "content").iter().enumerate() {
        anthropic::read_block(transcript, block, &format!("{pointer}/content/{at}"));
    }
}

fn invalid_call(call: &Value, source: String) -> Call {
    let name = look::text(call, "name").unwrap_or_default();
    let raw = look::get(call, "args")
        .map(|args| args.as_str().map_or_else(|| args.to_string(), str::to_owned));
    let args = Args { raw: Some(raw.unwrap_or_default()), ..Args::default() };
    let requested = Call::requested(look::id(call, &["id"]), name, args, source);
    match look::words(call, "error") {
        Some(error) => requested.with(Outcome::failure(error.to_owned())),
        None => requested,
    }
}

fn tool_result(fields: &Value) -> CallResult {
    let mut outcome = Outcome::unflagged(fields.get("content").unwrap_or(&Value::Null));
    outcome.whole = look::get(fields, "artifact").cloned();
    outcome.is_error = look::text(fields, "status").map(|status| status == "error");
    CallResult::of(look::id(fields, &["tool_call_id"]), outcome)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::call::CallStatus;
    use crate::conversation::{Conversation, Status};
    use crate::rules::Rules;

    fn check(items: &Value) -> Conversation {
        let mut transcript = Transcript::default();
        read(&mut transcript, items.as_array().expect("a list"), "");
        transcript.settle(&Rules::default())
    }

    fn fields() -> [Value; 4] {
        [
            json!({"type": "human", "content": "What is undefined?"}),
            json!({"type": "ai", "content": "", "tool_calls": [{"name": "sparql_query", "args": {"query": "SELECT *"}, "id": "call_Db", "type": "tool_call"}],
                "invalid_tool_calls": [], "usage_metadata": {"input_tokens": 5, "output_tokens": 2}}),
            json!({"type": "tool", "name": "sparql_query", "tool_call_id": "call_Db", "status": "error",
                "content": "Error: ValueError('undefined prefix')\n Please fix your mistakes."}),
            json!({"type": "ai", "content": [{"type": "text", "text": "A prefix."}], "tool_calls": []}),
        ]
    }

    fn dumped(fields: &Value) -> Value {
        let class = match fields["type"].as_str().expect("a type") {
            "human" => "HumanMessage",
            "ai" => "AIMessage",
            _ => "ToolMessage",
        };
        json!({"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", class], "kwargs": fields})
    }

    #[test]
    fn all_shapes_of_a_message_say_the_same() {
        let plain = fields().to_vec();
        let in_data: Vec<Value> =
            plain.iter().map(|fields| json!({"type": fields["type"], "data": fields})).collect();
        let dumped: Vec<Value> = plain.iter().map(dumped).collect();
        let updates = vec![
            json!({"__start__": {"messages": [plain[0]]}}),
            json!({"agent": {"messages": [plain[1]]}}),
            json!({"tools": {"messages": [plain[2]]}}),
            json!(["updates", {"agent": {"messages": [plain[3]]}}]),
        ];
        let state = vec![json!({"messages": plain, "remaining_steps": 3})];
        for shape in [plain, in_data, dumped, updates, state] {
            let conversation = check(&Value::Array(shape.clone()));
            let [step] = &conversation.steps[..] else { panic!("one step: {shape:?}") };
            assert_eq!(
                (step.name.as_str(), step.id.as_str(), step.status),
                ("sparql_query", "call_Db", Status::Error)
            );
            assert!(
                step.error.as_ref().is_some_and(|error| error.starts_with("Error: ValueError"))
            );
            assert_eq!(conversation.answer.as_deref(), Some("A prefix."));
            assert_eq!(conversation.questions, ["What is undefined?"]);
            assert_eq!(conversation.usage.total(), Some(7));
        }
    }

    #[test]
    fn calls_are_found_beside_and_in_the_content() {
        let conversation = check(&json!([
            {"type": "ai", "content": "", "additional_kwargs": {"tool_calls": [{"id": "a", "function": {"name": "t", "arguments": "{\"n\": 1}"}}]}},
            {"type": "ai", "content": [{"type": "tool_use", "id": "b", "name": "u", "input": {"n": 2}}], "tool_calls": []},
            {"type": "ai", "content": [{"type": "tool_use", "id": "c", "name": "v", "input": {}}],
                "tool_calls": [{"id": "c", "name": "v", "args": {}}], "additional_kwargs": {"tool_calls": [{"id": "c", "function": {"name": "v", "arguments": "{}"}}]}}]));
        let ids: Vec<&str> = conversation.steps.iter().map(|step| step.id.as_str()).collect();
        assert_eq!(ids, ["a", "b", "c"]);
    }

    #[test]
    fn invalid_calls_are_errors_and_artifacts_are_kept() {
        let conversation = check(&json!([
            {"type": "ai", "content": "", "tool_calls": [{"name": "r", "args": {}, "id": "x"}],
                "invalid_tool_calls": [{"name": "t", "args": "{\"n\": ", "id": "a", "error": "not JSON"}]},
            {"type": "tool", "content": "2 documents", "tool_call_id": "x", "artifact": [{"id": "d1"}], "status": "success"}]));
        assert_eq!(conversation.steps[0].output_raw, Some(json!([{"id": "d1"}])));
        let invalid = &conversation.steps[1];
        assert_eq!(
            (&invalid.call_status, invalid.error.as_deref()),
            (&CallStatus::InvalidArgs, Some("not JSON"))
        );
        assert_eq!(invalid.args_raw.as_deref(), Some("{\"n\": "));
    }
}
