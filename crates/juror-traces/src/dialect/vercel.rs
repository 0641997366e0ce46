//! Messages of Vercel's AI SDK: parts named `tool-call` and `tool-result`.

use serde_json::Value;

use crate::args::Args;
use crate::call::{Call, CallResult};
use crate::look;
use crate::outcome::{Outcome, said};
use crate::transcript::Transcript;

/// Reads a list of messages.
pub(crate) fn read(transcript: &mut Transcript, messages: &Value, pointer: &str) {
    for (at, message) in messages.as_array().into_iter().flatten().enumerate() {
        read_item(transcript, message, &format!("{pointer}/{at}"));
    }
}

/// Reads one message.
pub(crate) fn read_item(transcript: &mut Transcript, message: &Value, pointer: &str) {
    let content = message.get("content").unwrap_or(&Value::Null);
    let before = transcript.calls.len();
    for (at, part) in content.as_array().into_iter().flatten().enumerate() {
        match look::text(part, "type") {
            Some("tool-call") => {
                let source = transcript.place(&format!("{pointer}/content/{at}"));
                transcript.call(read_call(part, source));
            }
            Some("tool-result" | "tool-error") => transcript.result(read_result(part)),
            _ => {}
        }
    }
    match look::text(message, "role") {
        Some("user") => transcript.ask(said(content)),
        Some("assistant") if transcript.calls.len() == before => transcript.say(said(content)),
        _ => {}
    }
}

/// Whether a record is one of this dialect.
pub(crate) fn is_record(message: &Value) -> bool {
    let is_part = |part: &Value| {
        let kind = look::text(part, "type");
        matches!(kind, Some("tool-call" | "tool-result" | "tool-error"))
            && part.get("toolCallId").is_some()
    };
    look::items(message, "content").iter().any(is_part)
}

/// Reads a call.
pub(crate) fn read_call(call: &Value, source: String) -> Call {
    let name = look::text(call, "toolName").unwrap_or_default();
    let args = Args::of(look::first(call, &["args", "input", "arguments"]));
    Call::requested(look::id(call, &["toolCallId"]), name, args, source)
}

fn read_result(part: &Value) -> CallResult {
    let id = look::id(part, &["toolCallId"]);
    if let Some(error) = look::get(part, "error") {
        let why = error.as_str().or_else(|| look::text(error, "message"));
        let why = why.map_or_else(|| error.to_string(), str::to_owned);
        return CallResult::of(id, Outcome::failure(why));
    }
    let output = look::first(part, &["output", "result"]).cloned().unwrap_or_default();
    // Newer versions say what kind of output it is.
    let kind = look::text(&output, "type").filter(|_| output.get("value").is_some());
    let is_error = kind.map(|kind| kind.starts_with("error"));
    let is_error = is_error.or_else(|| part.get("isError").and_then(Value::as_bool));
    let content = if kind.is_some() { output["value"].clone() } else { output };
    CallResult::of(id, Outcome { is_error, ..Outcome::unflagged(&content) })
}
