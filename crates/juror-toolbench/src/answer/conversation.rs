//! The nodes of a conversation: messages between an agent's model and its functions, in the old
//! form with `function_call` and the new one with `tool_calls`.

use std::borrow::Cow;

use juror_json::cursor::{Cursor, Taken, fields_of};
use juror_json::same_text;

use super::details::TOOL;
use super::json::{Json, text_or_empty};
use super::message::call_json;
use super::{FINISH, Said, said};

/// Whether what an agent says beside its calls is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Thoughts {
    /// It is left out, as published answers have it.
    #[default]
    Dropped,
    /// It stands before the calls.
    Kept,
}

/// A message. What is `null` is not there.
struct Message<'a> {
    role: Cow<'a, str>,
    content: Option<&'a str>,
    function_call: Option<&'a str>,
    tool_calls: Option<&'a str>,
    tool_call_id: Option<&'a str>,
}

/// How many messages come before the agent speaks: the task, and the query.
const N_OPENING: usize = 2;

/// Appends what the agent says and calls. Messages of others answer its calls; those that answer
/// none are passed over.
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

/// A call in the old form: the next message has the response, whoever it is from.
fn old_call<'a>(call: &'a str, later: &[Message<'a>]) -> Option<Said<'a>> {
    let [name, arguments] = fields_of(call, ["name", "arguments"])?;
    let is_finish = text_or_empty(name) == FINISH;
    let response = later.first().filter(|_| !is_finish).and_then(|next| next.content);
    Some(called(name, arguments, response))
}

/// Calls in the new form: each has its response in the later message of its id, and without one
/// it is left out. After `Finish` nothing is called.
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

/// The node of a call; what is missing is an empty text.
pub(super) fn called<'a>(
    name: Option<&str>,
    arguments: Option<&str>,
    response: Option<&str>,
) -> Said<'a> {
    let [name, arguments, response] =
        [name, arguments, response].map(|json| json.unwrap_or(Json::EMPTY_TEXT));
    said(TOOL, call_json(name, arguments, response))
}
