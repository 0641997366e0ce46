//! The nodes of a conversation: messages between an agent's model and its functions, in the old
//! form with `function_call` and the new one with `tool_calls`.

use std::borrow::Cow;

use juror_json::cursor::{Cursor, Taken, fields_of};
use juror_json::same_text;

use super::details::TOOL;
use super::json::{Json, text_or_empty};
use super::message::call_json;
use super::{FINISH, Said, said};

/// Whether to keep what an agent says beside its calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Thoughts {
    /// Leave it out, as published answers do.
    #[default]
    Dropped,
    /// Put it before the calls.
    Kept,
}

/// A message. A `null` field counts as missing.
struct Message<'a> {
    role: Cow<'a, str>,
    content: Option<&'a str>,
    function_call: Option<&'a str>,
    tool_calls: Option<&'a str>,
    tool_call_id: Option<&'a str>,
}

/// The number of messages before the agent speaks: the task and the query.
const N_OPENING: usize = 2;

/// Appends what the agent says and calls. Messages of other roles answer its calls; those that
/// answer none are skipped.
pub(super) fn add_conversation<'a>(
    text: &'a str,
    thoughts: Thoughts,
    nodes: &mut Vec<Said<'a>>,
) -> Taken<()> {
    let messages = read_messages(text)?;
    for (at, message) in messages.iter().enumerate().skip(N_OPENING) {
        if message.role != "assistant" {
            continue;
        }
        let later = &messages[at + 1..];
        let has_calls = message.function_call.or(message.tool_calls).is_some();
        let content = message.content.map_or(Json::NULL, Json::read);
        if !has_calls || (thoughts == Thoughts::Kept && content.is_something()) {
            nodes.push(said("assistant", content));
        }
        match (message.function_call, message.tool_calls) {
            (Some(call), _) => nodes.extend(old_call(call, later)),
            (None, Some(calls)) => add_calls(calls, later, nodes)?,
            (None, None) => {}
        }
    }
    Ok(())
}

fn read_messages(text: &str) -> Taken<Vec<Message<'_>>> {
    const FIELDS: [&str; 5] = ["role", "content", "function_call", "tool_calls", "tool_call_id"];
    let mut cursor = Cursor::new(text);
    let mut messages = Vec::new();
    cursor.enter(b'[')?;
    while cursor.next_item()? {
        let fields = cursor.fields(FIELDS)?.map(|field| field.filter(|json| *json != "null"));
        let [role, content, function_call, tool_calls, tool_call_id] = fields;
        let role = text_or_empty(role);
        messages.push(Message { role, content, function_call, tool_calls, tool_call_id });
    }
    cursor.end()?;
    Ok(messages)
}

/// Reads a call in the old form: the next message is the response, whatever its role.
fn old_call<'a>(call: &'a str, later: &[Message<'a>]) -> Option<Said<'a>> {
    let [name, arguments] = fields_of(call, ["name", "arguments"])?;
    let is_finish = text_or_empty(name) == FINISH;
    let response = later.first().filter(|_| !is_finish).and_then(|next| next.content);
    Some(called(name, arguments, response))
}

/// Appends calls in the new form. The response to a call is the later message with its id; a call
/// without one is left out. Nothing after `Finish` counts.
fn add_calls<'a>(calls: &'a str, later: &[Message<'a>], nodes: &mut Vec<Said<'a>>) -> Taken<()> {
    let mut cursor = Cursor::new(calls);
    if !cursor.opens(b'[') {
        return Ok(());
    }
    while cursor.next_item()? {
        let Some([id, function]) = fields_of(cursor.value()?, ["id", "function"]) else { continue };
        let function = function.and_then(|function| fields_of(function, ["name", "arguments"]));
        let Some([name, arguments]) = function else { continue };
        if text_or_empty(name) == FINISH {
            nodes.push(called(name, arguments, None));
            break;
        }
        let answers =
            |message: &&Message<'_>| message.role == TOOL && same(message.tool_call_id, id);
        if let Some(reply) = later.iter().find(answers) {
            nodes.push(called(name, arguments, reply.content));
        }
    }
    Ok(())
}

fn same(one: Option<&str>, other: Option<&str>) -> bool {
    one.zip(other).is_some_and(|(one, other)| same_text(one, other))
}

/// Makes the node of a call, with an empty string for each missing part.
pub(super) fn called<'a>(
    name: Option<&str>,
    arguments: Option<&str>,
    response: Option<&str>,
) -> Said<'a> {
    let [name, arguments, response] =
        [name, arguments, response].map(|json| json.unwrap_or(Json::EMPTY_TEXT));
    said(TOOL, call_json(name, arguments, response))
}
