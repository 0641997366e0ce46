//! What a file is, by how it begins.

use juror_files::zip;
use serde_json::Value;

use crate::container::Containers;
use crate::repair::cut_off;
use crate::spans::otlp_protobuf;
use crate::table;

/// Whether a text begins as an envelope of OTLP does.
pub(crate) fn is_envelope(text: &str) -> bool {
    let start = text.trim_start();
    let head = &start[..start.floor_char_boundary(200)];
    let key = head
        .strip_prefix('{')
        .or_else(|| head.strip_prefix('[').and_then(|rest| rest.trim_start().strip_prefix('{')));
    let key = key.map(str::trim_start).unwrap_or_default();
    ["\"resourceSpans\"", "\"resourceLogs\"", "\"resource_spans\"", "\"resource_logs\""]
        .iter()
        .any(|name| key.starts_with(name))
}

/// Whether a file is records, a line each: its first line is a whole JSON value, or longer than is
/// read at first, or an event of a stream. A first line that is broken or no record is not the end
/// of the file: another line may be one.
pub(super) fn is_lines(head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(head);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let Some(line) = text.lines().next() else { return false };
    if line.starts_with("data:") || line.starts_with("event:") {
        return true;
    }
    let is_open = line.starts_with(['{', '[']);
    let is_whole = || serde_json::from_str::<serde::de::IgnoredAny>(line).is_ok();
    is_open && (!text.contains('\n') && text.len() >= 1 << 15 || is_whole())
        || is_bad_line(line) && is_text(head) && is_no_value(text) && records(text).next().is_some()
}

/// Whether a first line can be one that does not belong to the records: not the beginning of a value
/// that goes on in other lines.
fn is_bad_line(line: &str) -> bool {
    !line.trim_end().ends_with(['{', '[']) && !line.chars().any(|c| c.is_control() && c != '\t')
}

/// Whether a beginning is one of a text; its last character may be cut off.
fn is_text(head: &[u8]) -> bool {
    std::str::from_utf8(head).map_or_else(|error| error.error_len().is_none(), |_| true)
}

/// Whether a text is neither a JSON value nor the beginning of one, nor a table.
fn is_no_value(text: &str) -> bool {
    let read = serde_json::from_str::<serde::de::IgnoredAny>(text);
    read.is_err_and(|error| !error.is_eof()) && !table::is_known(text)
}

/// Returns the lines that are objects or lists with something in them.
fn records(text: &str) -> impl Iterator<Item = Value> {
    text.lines().filter(|line| line.trim_start().starts_with(['{', '['])).filter_map(|line| {
        let is_full = |value: &Value| {
            value.as_object().is_some_and(|object| !object.is_empty())
                || value.as_array().is_some_and(|items| !items.is_empty())
        };
        serde_json::from_str(line).ok().filter(is_full)
    })
}

/// Whether a file that begins like this is a trace, and not responses in Juror's own form.
pub fn is_trace(head: &[u8]) -> bool {
    if zip::is_zip(head) {
        return true;
    }
    let text = String::from_utf8_lossy(head);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    if is_envelope(text) || text.starts_with("data:") || table::is_known(text) {
        return true;
    }
    let line = text.lines().next().unwrap_or_default();
    let value = if is_lines(head) { records(text).next() } else { None };
    let value = value.or_else(|| serde_json::from_str(line).ok());
    let value = value.or_else(|| serde_json::from_str(text).ok());
    let Some(value) = value.or_else(|| cut_off(line)).or_else(|| cut_off(text)) else {
        return otlp_protobuf::is_request(head) || !delimited(head).0.is_empty();
    };
    !is_responses(&value, 3) && !Containers::default().pieces(&value, "", None).is_empty()
}

/// Whether a value holds responses in Juror's own form.
fn is_responses(value: &Value, depth: usize) -> bool {
    let inside = |value: &Value| depth > 0 && is_responses(value, depth - 1);
    match value {
        Value::Object(object) => {
            object.contains_key("actual_answer")
                || object.contains_key("actual_steps")
                || object.values().any(inside)
        }
        Value::Array(items) => items.iter().any(inside),
        _ => false,
    }
}

/// Returns the messages with their lengths before them, as collectors write files, and what follows
/// them.
pub(super) fn delimited(bytes: &[u8]) -> (Vec<&[u8]>, &[u8]) {
    let mut messages = Vec::new();
    let mut rest = bytes;
    while let Some((length, after)) = rest.split_first_chunk::<4>() {
        let length = u32::from_be_bytes(*length) as usize;
        let Some((message, after)) = after.split_at_checked(length).filter(|_| length > 0) else {
            break;
        };
        if !otlp_protobuf::is_request(message) {
            break;
        }
        messages.push(message);
        rest = after;
    }
    (messages, rest)
}

/// Says what a value is, for people who wonder why it was not recognized.
pub(super) fn describe(value: &Value) -> String {
    match value {
        Value::Object(object) => {
            let keys: Vec<&str> = object.keys().take(8).map(String::as_str).collect();
            format!("an object with the keys {}", keys.join(", "))
        }
        Value::Array(items) => match items.first() {
            Some(first) => format!("a list of {}", describe(first)),
            None => "an empty list".to_owned(),
        },
        other => kind_of(other).to_string(),
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::String(_) => "a text",
        Value::Number(_) => "a number",
        Value::Bool(_) => "a boolean",
        _ => "null",
    }
}
