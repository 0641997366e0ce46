//! Items of OpenAI's Responses API, and the run items that the Agents SDK puts around them.

use serde_json::{Map, Value};

use super::openai_chat;
use crate::args::Args;
use crate::call::{Call, CallResult, Kind};
use crate::look;
use crate::outcome::{Outcome, said};
use crate::transcript::Transcript;

/// Tools that the provider runs, and the keys of their arguments and outputs.
const BUILTIN: [(&str, &[&str], &[&str]); 7] = [
    ("web_search_call", &["action", "query"], &["results"]),
    ("file_search_call", &["queries"], &["results"]),
    ("code_interpreter_call", &["code"], &["outputs", "results"]),
    ("computer_call", &["action", "actions"], &["results"]),
    ("image_generation_call", &["prompt", "action"], &["result"]),
    ("tool_search_call", &["arguments", "queries", "query"], &["results", "tools"]),
    ("apply_patch_call", &["operation"], &["results"]),
];

/// Whether a record is one of this dialect.
pub(crate) fn is_record(item: &Value) -> bool {
    let is_item = |item: &Value| match look::text(item, "type") {
        Some("message") => {
            let blocks = look::items(item, "content");
            let texts = ["output_text", "input_text", "refusal"];
            let has_texts = blocks
                .iter()
                .any(|block| look::text(block, "type").is_some_and(|kind| texts.contains(&kind)));
            has_texts || item.get("content").is_some_and(Value::is_string)
        }
        Some("reasoning") => item.get("summary").is_some(),
        Some(kind) => is_responses_type(kind),
        None => false,
    };
    let is_run_item = item.get("raw_item").is_some() && item.get("type").is_some();
    let output = look::items(item, "output");
    is_run_item
        || is_item(item)
        || (is_whole(item)
            && (output.iter().any(is_item) || look::text(item, "object") == Some("response")))
}

/// The types of items that only the Responses API has.
fn is_responses_type(kind: &str) -> bool {
    kind.ends_with("_call") && kind != "tool_call"
        || kind.ends_with("_call_output")
        || ["mcp_list_tools", "item_reference", "mcp_approval_request", "mcp_approval_response"]
            .contains(&kind)
}

/// Reads items in their order.
pub(crate) fn read(transcript: &mut Transcript, items: &[Value], pointer: &str) {
    let mut reader = ItemReader { transcript };
    for (index, item) in items.iter().enumerate() {
        reader.item(item, &format!("{pointer}/{index}"));
    }
}

/// Reads one item.
pub(crate) fn read_item(transcript: &mut Transcript, item: &Value, pointer: &str) {
    ItemReader { transcript }.item(item, pointer);
}

struct ItemReader<'t> {
    transcript: &'t mut Transcript,
}

impl ItemReader<'_> {
    fn item(&mut self, item: &Value, pointer: &str) {
        if let Some(output) =
            item.get("output").and_then(Value::as_array).filter(|_| is_whole(item))
        {
            return self.whole(item, output, pointer);
        }
        if let Some(raw) = look::get(item, "raw_item") {
            return self.run_item(item, raw, pointer);
        }
        let kind = look::text(item, "type").unwrap_or("message");
        match kind {
            "message" => self.message(item, pointer),
            kind if kind.ends_with("_call") || kind == "mcp_approval_request" => {
                self.call(kind, item, None, pointer);
            }
            kind if kind.ends_with("_call_output") => self.output(kind, item, item.get("output")),
            "reasoning" | "mcp_list_tools" | "item_reference" | "mcp_approval_response" => {
                self.transcript.leave_out(format!("item `{kind}`: not a call"));
            }
            other => self.transcript.leave_out(format!("item `{other}`: not a call")),
        }
    }

    /// A whole response: its input, its output, its tokens.
    fn whole(&mut self, item: &Value, output: &[Value], pointer: &str) {
        match look::get(item, "input") {
            Some(Value::String(text)) => self.transcript.ask(Some(text.clone())),
            Some(Value::Array(items)) => read(self.transcript, items, &format!("{pointer}/input")),
            _ => {}
        }
        read(self.transcript, output, &format!("{pointer}/output"));
        self.transcript.add_usage(look::get(item, "usage"));
    }

    fn message(&mut self, item: &Value, pointer: &str) {
        // Lists that went through other libraries have messages of chats among the items.
        if openai_chat::is_about_calls(item) {
            return openai_chat::read_message_at(self.transcript, item, pointer);
        }
        let content = look::get(item, "content").and_then(said);
        match look::text(item, "role") {
            Some("user") => self.transcript.ask(content),
            Some("assistant") => self.transcript.say_before(content),
            _ => {}
        }
    }

    /// An item of a run of the Agents SDK, which keeps outputs as they were before they became texts.
    fn run_item(&mut self, item: &Value, raw: &Value, pointer: &str) {
        let agent = look::get(item, "agent").and_then(|agent| {
            agent.as_str().or_else(|| look::text(agent, "name")).map(str::to_owned)
        });
        let kind = look::text(raw, "type").unwrap_or("message");
        let pointer = format!("{pointer}/raw_item");
        match look::text(item, "type") {
            Some("tool_call_output_item" | "handoff_output_item") => {
                let output = look::get(item, "output").or_else(|| raw.get("output"));
                self.output(kind, raw, output);
            }
            Some("tool_call_item" | "handoff_call_item") => {
                let is_handoff = look::text(item, "type") == Some("handoff_call_item");
                self.call(kind, raw, agent, &pointer);
                if let Some(call) = self.transcript.calls.last_mut().filter(|_| is_handoff) {
                    call.kind = Kind::Agent;
                }
            }
            _ => self.item(raw, &pointer),
        }
    }

    fn call(&mut self, kind: &str, item: &Value, agent: Option<String>, pointer: &str) {
        let source = self.transcript.place(pointer);
        let Some(mut call) = read_call(kind, item, source) else {
            return self.transcript.leave_out(format!("item `{kind}`: not a call"));
        };
        call.agent = agent;
        call.state = look::words(item, "status")
            .filter(|status| !["completed", "failed"].contains(status))
            .map(str::to_owned);
        self.transcript.call(call);
    }

    fn output(&mut self, kind: &str, item: &Value, output: Option<&Value>) {
        let id = look::id(item, &["call_id", "id"]);
        let mut outcome = Outcome::unflagged(output.unwrap_or(&Value::Null));
        // Only some outputs have a status that says whether they failed.
        if kind == "apply_patch_call_output" {
            outcome.is_error = look::text(item, "status").map(|status| status == "failed");
        }
        self.transcript.result(CallResult::of(id, outcome));
    }
}

/// Whether a value is a whole response, not the output of a call.
pub(crate) fn is_whole(item: &Value) -> bool {
    let has_no_call = item.get("call_id").is_none() && item.get("raw_item").is_none();
    let is_item = |item: &Value| item.get("type").is_some_and(Value::is_string);
    let is_output = |output: &Vec<Value>| output.iter().all(is_item);
    has_no_call && item.get("output").and_then(Value::as_array).is_some_and(is_output)
}

fn read_call(kind: &str, item: &Value, source: String) -> Option<Call> {
    let call_id = || look::id(item, &["call_id", "id"]);
    let name = || look::text(item, "name").unwrap_or_default();
    let call = match kind {
        "function_call" => {
            let args =
                item.get("arguments").map_or_else(Args::default, |args| Args::of(Some(args)));
            let call = Call::requested(call_id(), name(), args, source);
            let is_handoff = call.name.starts_with("transfer_to_");
            Call { kind: if is_handoff { Kind::Agent } else { Kind::Tool }, ..call }
        }
        "custom_tool_call" => {
            let input = item.get("input").cloned().unwrap_or_default();
            Call::requested(call_id(), name(), Args::input(&input), source)
        }
        "mcp_call" => {
            let args = Args::of(item.get("arguments"));
            let call = Call::requested(look::id(item, &["id"]), name(), args, source);
            let server = look::text(item, "server_label").map(str::to_owned);
            Call { server, outcome: mcp_outcome(item), ..call }
        }
        "local_shell_call" | "shell_call" => {
            Call::requested(call_id(), "shell", Args::of(item.get("action")), source)
        }
        kind => builtin(kind, item, source)?,
    };
    Some(call)
}

fn mcp_outcome(item: &Value) -> Option<Outcome> {
    if let Some(error) = look::get(item, "error") {
        let message = error.as_str().or_else(|| look::text(error, "message"));
        return Some(Outcome::failure(message.map_or_else(|| error.to_string(), str::to_owned)));
    }
    let is_done = look::text(item, "status") == Some("completed");
    let empty = || Outcome { is_error: Some(false), ..Outcome::default() };
    let output = look::get(item, "output").map(|output| Outcome::flagged(output, false));
    output.or_else(|| is_done.then(empty))
}

fn builtin(kind: &str, item: &Value, source: String) -> Option<Call> {
    let (_, args, outputs) = BUILTIN.iter().find(|(known, ..)| *known == kind)?;
    let found = args.iter().find_map(|key| Some((*key, look::get(item, key)?)));
    let value = match found {
        Some(("action" | "arguments" | "operation", Value::Object(action))) => action.clone(),
        Some((key, value)) => Map::from_iter([(key.to_owned(), value.clone())]),
        None => Map::new(),
    };
    let id = look::id(item, &["id", "call_id"]);
    let name = kind.trim_end_matches("_call");
    let is_done = matches!(look::text(item, "status"), None | Some("completed"));
    let outcome = match look::text(item, "status") {
        Some("failed") => {
            let why = look::get(item, "error").map(|error| {
                look::text(error, "message").map_or_else(|| error.to_string(), str::to_owned)
            });
            Some(Outcome::failure(why.unwrap_or_else(|| format!("{name} failed"))))
        }
        // The result of an image is the image, which nobody compares as a text.
        _ if kind == "image_generation_call" => {
            look::get(item, "result").map(|_| Outcome::flagged(&"[image]".into(), false))
        }
        _ => match look::first(item, outputs) {
            Some(output) => Some(Outcome::flagged(output, false)),
            // Calls whose output comes as an item of its own wait for it.
            None if ["computer_call", "apply_patch_call"].contains(&kind) => None,
            None => is_done.then(|| Outcome { is_error: Some(false), ..Outcome::default() }),
        },
    };
    let call = Call::requested(id, name, value.into(), source);
    let has_call_id = ["computer_call", "apply_patch_call"].contains(&kind);
    let id = if has_call_id { look::id(item, &["call_id", "id"]) } else { call.id.clone() };
    Some(Call { id, kind: Kind::Builtin, outcome, ..call })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::call::CallStatus;
    use crate::conversation::{Conversation, Status};
    use crate::openai::read_items;
    use crate::rules::Rules;

    fn read(items: &Value) -> Conversation {
        read_items(items.as_array().expect("a list"), &Rules::default())
    }

    #[test]
    fn items_become_steps() {
        let conversation = read(&json!([
            {"role": "user", "content": [{"type": "input_text", "text": "How warm is it?"}]},
            {"type": "reasoning", "summary": []},
            {"type": "function_call", "id": "fc_9", "call_id": "call_7", "name": "get_weather", "arguments": "{\"city\":\"Oslo\"}", "status": "completed"},
            {"type": "function_call_output", "call_id": "call_7", "output": "{\"temp_c\":4}"},
            {"type": "mcp_call", "id": "mcp_2", "server_label": "graphdb", "name": "sparql", "arguments": "{\"q\":\"ASK {}\"}", "output": null, "error": "timeout"},
            {"type": "mcp_call", "id": "mcp_3", "server_label": "graphdb", "name": "sparql", "arguments": "", "output": "true", "error": null},
            {"type": "mcp_list_tools", "server_label": "graphdb", "tools": []},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "4 degrees."}]}]));
        let shown: Vec<_> = conversation
            .steps
            .iter()
            .map(|step| {
                (
                    step.id.as_str(),
                    step.output.as_deref(),
                    step.error.as_deref(),
                    step.server.as_deref(),
                )
            })
            .collect();
        assert_eq!(
            shown,
            [
                ("call_7", Some("{\"temp_c\":4}"), None, None),
                ("mcp_2", None, Some("timeout"), Some("graphdb")),
                ("mcp_3", Some("true"), None, Some("graphdb")),
            ]
        );
        assert_eq!(conversation.answer.as_deref(), Some("4 degrees."));
        assert_eq!(conversation.questions, ["How warm is it?"]);
        assert_eq!(conversation.left_out.len(), 2);
    }

    #[test]
    fn every_kind_of_item_is_read() {
        let conversation = read(&json!([
            {"type": "custom_tool_call", "call_id": "c1", "name": "sql", "input": "SELECT 1"},
            {"type": "custom_tool_call_output", "call_id": "c1", "output": [{"type": "input_text", "text": "1"}]},
            {"type": "local_shell_call", "call_id": "c2", "action": {"command": ["ls"]}, "status": "completed"},
            {"type": "local_shell_call_output", "call_id": "c2", "output": "a.txt"},
            {"type": "web_search_call", "id": "ws", "action": {"type": "search", "query": "fern"}, "status": "completed"},
            {"type": "file_search_call", "id": "fs", "queries": ["fern"], "results": [{"file_id": "f", "score": 0.5}], "status": "completed"},
            {"type": "code_interpreter_call", "id": "ci", "code": "1+1", "outputs": [{"type": "logs", "logs": "2"}], "status": "completed"},
            {"type": "computer_call", "id": "cc", "call_id": "c5", "action": {"type": "click"}, "status": "completed"},
            {"type": "computer_call_output", "call_id": "c5", "output": {"type": "computer_screenshot"}},
            {"type": "image_generation_call", "id": "ig", "result": "AAAA", "status": "completed"},
            {"type": "tool_search_call", "id": "ts", "arguments": {"query": "x"}, "status": "failed"},
            {"type": "function_call", "call_id": "c9", "name": "slow", "arguments": "{}", "status": "incomplete"}]));
        let shown: Vec<_> = conversation
            .steps
            .iter()
            .map(|step| (step.name.as_str(), step.id.as_str(), step.kind, step.status))
            .collect();
        let (ok, no) = (Status::Success, Status::Error);
        assert_eq!(
            shown,
            [
                ("sql", "c1", Kind::Tool, ok),
                ("shell", "c2", Kind::Tool, ok),
                ("web_search", "ws", Kind::Builtin, ok),
                ("file_search", "fs", Kind::Builtin, ok),
                ("code_interpreter", "ci", Kind::Builtin, ok),
                ("computer", "c5", Kind::Builtin, ok),
                ("image_generation", "ig", Kind::Builtin, ok),
                ("tool_search", "ts", Kind::Builtin, no),
                ("slow", "c9", Kind::Tool, no),
            ]
        );
        let args: Vec<String> = conversation
            .steps
            .iter()
            .map(|step| Value::Object(step.args.clone()).to_string())
            .collect();
        assert_eq!(args[0], r#"{"input":"SELECT 1"}"#);
        assert_eq!(args[1], r#"{"command":["ls"]}"#);
        assert_eq!(args[2], r#"{"query":"fern","type":"search"}"#);
        assert_eq!(args[3], r#"{"queries":["fern"]}"#);
        assert_eq!(args[4], r#"{"code":"1+1"}"#);
        assert_eq!(conversation.steps[0].output.as_deref(), Some("1"));
        assert_eq!(conversation.steps[8].call_status, CallStatus::Other("incomplete".into()));
    }

    #[test]
    fn run_items_keep_outputs_as_they_were() {
        let conversation = read(&json!([
            {"type": "tool_call_item", "agent": "garden", "raw_item": {"type": "function_call", "call_id": "a", "name": "get_weather", "arguments": "{}"}},
            {"type": "handoff_call_item", "agent": {"name": "garden"}, "raw_item": {"type": "function_call", "call_id": "h", "name": "transfer_to_guide", "arguments": "{}"}},
            {"type": "tool_call_output_item", "agent": "garden", "raw_item": {"type": "function_call_output", "call_id": "a", "output": "{'sky': 'grey'}"}, "output": {"sky": "grey"}},
            {"type": "handoff_output_item", "raw_item": {"type": "function_call_output", "call_id": "h", "output": "{\"assistant\": \"guide\"}"}},
            {"type": "message_output_item", "agent": "guide", "raw_item": {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Grey."}]}}]));
        assert_eq!(conversation.steps[0].output.as_deref(), Some("{\"sky\":\"grey\"}"));
        assert_eq!(conversation.steps[0].agent.as_deref(), Some("garden"));
        assert_eq!(
            (conversation.steps[1].name.as_str(), conversation.steps[1].kind),
            ("transfer_to_guide", Kind::Agent)
        );
        assert_eq!(conversation.answer.as_deref(), Some("Grey."));
    }

    #[test]
    fn words_beside_a_call_are_no_answer() {
        let conversation = read(&json!([
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Let me look."}]},
            {"type": "function_call", "call_id": "a", "name": "t", "arguments": "not json"},
            {"type": "function_call_output", "call_id": "a", "output": "{'n': 1}"}]));
        assert_eq!(conversation.answer, None);
        assert_eq!(conversation.steps[0].call_status, CallStatus::InvalidArgs);
    }
}
