//! OpenAI chat messages, and messages that look like them, such as Inspect's.

use serde_json::Value;

use crate::args::Args;
use crate::call::{Call, CallResult};
use crate::look;
use crate::outcome::{Outcome, said};
use crate::transcript::Transcript;

/// Whether a record is one of this dialect.
pub(crate) fn is_record(item: &Value) -> bool {
    look::has(item, "role")
        && ["content", "tool_calls", "function_call"].iter().any(|key| look::has(item, key))
}

/// Reads the messages of a chat.
pub(crate) fn read(transcript: &mut Transcript, messages: &[Value], pointer: &str) {
    for (index, message) in messages.iter().enumerate() {
        read_numbered(transcript, message, Some(index), &format!("{pointer}/{index}"));
    }
}

/// Reads one message. The last part of the pointer is its index, or its line before a colon.
pub(crate) fn read_message_at(transcript: &mut Transcript, message: &Value, pointer: &str) {
    let last = pointer.rsplit('/').next().unwrap_or_default();
    let index = match last.strip_suffix(':') {
        Some(line) => line.parse::<usize>().ok().map(|line| line.saturating_sub(1)),
        None => last.parse().ok(),
    };
    read_numbered(transcript, message, index, pointer);
}

/// Reads a message whose place among others is not known, such as one in a span.
pub(crate) fn read_alone(transcript: &mut Transcript, message: &Value, pointer: &str) {
    read_numbered(transcript, message, None, pointer);
}

/// Whether a message has calls, or the result of one.
pub(crate) fn is_about_calls(message: &Value) -> bool {
    !look::items(message, "tool_calls").is_empty()
        || look::get(message, "function_call").is_some()
        || matches!(look::text(message, "role"), Some("tool" | "function"))
}

fn read_numbered(
    transcript: &mut Transcript,
    message: &Value,
    index: Option<usize>,
    pointer: &str,
) {
    let content = look::get(message, "content");
    match look::text(message, "role") {
        Some("user") => transcript.ask(content.and_then(said)),
        Some("assistant" | "model" | "ai") => read_assistant(transcript, message, index, pointer),
        Some("tool") => transcript.result(CallResult {
            id: look::id(message, &["tool_call_id", "toolCallId", "call_id", "id"]),
            name: None,
            outcome: outcome(message),
        }),
        // Results of functions, before there were tools, have a name and no id.
        Some("function") => transcript.result(CallResult {
            id: None,
            name: look::text(message, "name").map(str::to_owned),
            outcome: outcome(message),
        }),
        _ => {}
    }
}

fn read_assistant(
    transcript: &mut Transcript,
    message: &Value,
    index: Option<usize>,
    pointer: &str,
) {
    let calls = look::items(message, "tool_calls");
    for (at, call) in calls.iter().enumerate() {
        let source = transcript.place(&format!("{pointer}/tool_calls/{at}"));
        transcript.call(read_call(call, source));
    }
    let function = look::get(message, "function_call");
    if let Some(function) = function {
        let source = transcript.place(&format!("{pointer}/function_call"));
        let args = Args::of(function.get("arguments"));
        let name = look::text(function, "name").unwrap_or_default();
        let id = index.map(|index| format!("fc_{index}"));
        transcript.call(Call::requested(id, name, args, source));
    }
    transcript.add_usage(look::get(message, "usage"));
    let n_calls = calls.len() + usize::from(function.is_some());
    let content = look::first(message, &["content", "refusal"]);
    transcript.answer_with(content, n_calls);
}

/// Reads a call: of a function, of a custom tool, or in Inspect's shape, where `function` is the name.
pub(crate) fn read_call(call: &Value, source: String) -> Call {
    let id = look::id(call, &["id", "tool_call_id"]);
    if let Some(custom) = look::get(call, "custom") {
        let name = look::text(custom, "name").unwrap_or_default();
        let input = custom.get("input").cloned().unwrap_or_default();
        return Call::requested(id, name, Args::input(&input), source);
    }
    let function = look::get(call, "function").unwrap_or(call);
    let (name, args) = match function {
        Value::String(name) => (name.as_str(), look::get(call, "arguments")),
        function => (
            look::text(function, "name").unwrap_or_default(),
            look::first(function, &["arguments", "args", "parameters", "input"]),
        ),
    };
    // A call without arguments is one with none.
    let args = args.map_or_else(Args::default, |args| Args::of(Some(args)));
    let mut requested = Call::requested(id, name, args, source);
    if let Some(error) = look::words(call, "parse_error") {
        requested.args.raw.get_or_insert_with(|| error.to_owned());
    }
    requested
}

/// Reads the result of a tool. Chats have no flag for failures, but some that look like chats do.
fn outcome(message: &Value) -> Outcome {
    let mut outcome = Outcome::unflagged(message.get("content").unwrap_or(&Value::Null));
    if outcome.content == Some(Value::Null) {
        outcome.content = Some(Value::String(String::new()));
    }
    if let Some(error) = look::get(message, "error") {
        outcome.is_error = Some(true);
        outcome.error = look::words(error, "message").or(error.as_str()).map(str::to_owned);
    }
    let is_cut = |truncated: &Value| truncated.as_bool().unwrap_or(truncated.is_array());
    outcome.is_truncated = message.get("truncated").is_some_and(is_cut);
    let is_error = message.get("is_error").and_then(Value::as_bool);
    let of_status = look::text(message, "status").map(|status| status == "error");
    outcome.is_error = outcome.is_error.or(is_error).or(of_status);
    outcome
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::call::CallStatus;
    use crate::conversation::Status;
    use crate::oddity::Oddity;
    use crate::openai::read_messages;
    use crate::{Conversation, Rules};
    use serde_json::Value;

    fn read(messages: &Value) -> Conversation {
        read_messages(messages.as_array().expect("a list"), &Rules::default())
    }

    fn call(id: &str, name: &str, arguments: &str) -> Value {
        json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}})
    }

    #[test]
    fn a_chat_becomes_steps_and_an_answer() {
        let conversation = read(&json!([
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Which transformers are in OSLO?"},
            {"role": "assistant", "content": null, "tool_calls": [call("call_1", "sparql_query", "{\"query\":\"SELECT ?t\"}")]},
            {"role": "tool", "tool_call_id": "call_1", "content": "{\"head\":{}}"},
            {"role": "assistant", "content": "None are recorded."}]));
        let step = &conversation.steps[0];
        assert_eq!(
            (step.name.as_str(), step.id.as_str(), step.status),
            ("sparql_query", "call_1", Status::Success)
        );
        assert_eq!(Value::Object(step.args.clone()), json!({"query": "SELECT ?t"}));
        assert_eq!(step.output.as_deref(), Some("{\"head\":{}}"));
        assert_eq!(step.source, "/2/tool_calls/0");
        assert_eq!(conversation.answer.as_deref(), Some("None are recorded."));
        assert_eq!(conversation.questions, ["Which transformers are in OSLO?"]);
    }

    #[test]
    fn parallel_calls_are_answered_out_of_order() {
        let conversation = read(&json!([
            {"role": "assistant", "tool_calls": [call("a", "t", "{\"n\":1}"), call("b", "t", "")]},
            {"role": "tool", "tool_call_id": "b", "content": [{"type": "text", "text": "x"}, {"type": "text", "text": "y"}]},
            {"role": "tool", "tool_call_id": "a", "content": "one"}]));
        let outputs: Vec<_> =
            conversation.steps.iter().map(|step| step.output.as_deref()).collect();
        assert_eq!(outputs, [Some("one"), Some("x\ny")]);
        assert!(conversation.steps[1].args.is_empty(), "an empty text is no arguments");
        assert!(conversation.steps[1].output_raw.is_some());
        assert_eq!(conversation.answer, None);
    }

    #[test]
    fn calls_without_results_and_with_broken_arguments_are_errors() {
        let conversation = read(&json!([
            {"role": "assistant", "content": "Looking.", "tool_calls": [call("a", "t", "{}"), call("b", "t", "{\"n\": ")]},
            {"role": "tool", "tool_call_id": "b", "content": "what?"}]));
        let [first, second] = &conversation.steps[..] else { panic!("two steps") };
        assert_eq!(
            (first.status, first.error.as_deref()),
            (Status::Error, Some("no result recorded"))
        );
        assert_eq!(first.call_status, CallStatus::NoResult);
        assert_eq!((second.status, &second.call_status), (Status::Error, &CallStatus::InvalidArgs));
        assert_eq!(second.args_raw.as_deref(), Some("{\"n\": "));
        assert_eq!(conversation.answer, None, "what is said beside calls is no answer");
        assert_eq!(conversation.oddities.count(Oddity::InvalidArgs), 1);
    }

    #[test]
    fn custom_tools_and_old_functions_are_calls() {
        let conversation = read(&json!([
            {"role": "assistant", "tool_calls": [{"id": "c", "type": "custom", "custom": {"name": "run", "input": "ls"}}]},
            {"role": "tool", "tool_call_id": "c", "content": "a.txt"},
            {"role": "assistant", "content": null, "function_call": {"name": "f", "arguments": "{\"x\": 1}"}},
            {"role": "function", "name": "f", "content": "2"},
            {"role": "assistant", "content": null, "function_call": {"name": "f", "arguments": "{\"x\": 1}"}},
            {"role": "function", "name": "f", "content": "3"}]));
        let shown: Vec<_> = conversation
            .steps
            .iter()
            .map(|step| (step.id.as_str(), step.output.as_deref()))
            .collect();
        assert_eq!(shown, [("c", Some("a.txt")), ("fc_2", Some("2")), ("fc_4", Some("3"))]);
        assert_eq!(conversation.steps[0].args["input"], "ls");
    }

    #[test]
    fn failures_are_recognized_by_patterns_alone() {
        let messages = [
            json!({"role": "assistant", "tool_calls": [call("a", "t", "{}")]}),
            json!({"role": "tool", "tool_call_id": "a", "content": "Error: no such city"}),
            json!({"role": "assistant", "tool_calls": [call("b", "t", "{}")]}),
            json!({"role": "tool", "tool_call_id": "b", "content": "Oslo"}),
        ];
        let plain = read_messages(&messages, &Rules::default());
        assert_eq!(plain.steps.len(), 2, "a retry is a step of its own");
        assert_eq!(plain.steps[0].status, Status::Success);
        let mut rules = Rules::default();
        rules.add_error_pattern("langgraph").expect("a pattern");
        let judged = read_messages(&messages, &rules);
        assert_eq!(judged.steps[0].error.as_deref(), Some("Error: no such city"));
        assert_eq!(judged.steps[0].output, None);
        assert_eq!(judged.steps[1].status, Status::Success);
    }
}
