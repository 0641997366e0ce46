//! Logs of MCP: requests and responses of JSON-RPC.
//!
//! Ids are unique only for a session and a sender. A session is what the log says (an id, a path),
//! and starts anew with each `initialize`. Replies that name no session belong to the last request
//! with their id that waits. Where the log says which way a message went, a reply goes the other way
//! than its request.

use std::borrow::Cow;

use serde_json::Value;

use crate::args::Args;
use crate::call::{Call, CallResult};
use crate::look;
use crate::outcome::Outcome;
use crate::transcript::Transcript;

/// The keys under which logs put a message.
const AROUND: [&str; 9] =
    ["msg", "message", "body", "data", "payload", "request", "response", "content", "rpc"];

/// The keys under which logs say which way a message went.
const DIRECTIONS: [&str; 3] = ["dir", "direction", "from"];

/// The sessions of a log.
#[derive(Default)]
pub(crate) struct Sessions {
    sessions: Vec<Session>,
}

struct Session {
    key: Option<String>,
    transcript: Transcript,
    waiting: Vec<Waiting>,
}

/// A request of the client that has no final reply.
struct Waiting {
    /// The id of the request whose reply is awaited.
    id: String,
    /// The id of the call.
    call: String,
    tool: String,
    /// Which way it went.
    direction: Option<String>,
    /// Whether the server wants more before it replies, and what it calls the state of the call.
    wants_input: bool,
    state: Option<String>,
    /// The task that the server made of it.
    task: Option<String>,
}

impl Waiting {
    /// Whether a reply is its own.
    fn is_answered_by(&self, id: &str, direction: Option<&str>) -> bool {
        let is_back = match (self.direction.as_deref(), direction) {
            (Some(there), Some(back)) => there != back,
            _ => true,
        };
        self.id == id && is_back
    }
}

/// A record of a log: the session, which way it went, and where it stands.
#[derive(Clone, Copy)]
struct Record<'r> {
    session: Option<&'r str>,
    direction: Option<&'r str>,
    place: &'r str,
}

impl Sessions {
    /// Reads one record of a log.
    pub(crate) fn read(&mut self, item: &Value, place: &str) {
        let session = session_of(item);
        let direction = DIRECTIONS.iter().find_map(|key| look::words(item, key));
        let record = Record { session: session.as_deref(), direction, place };
        for message in messages(item, 0) {
            self.message(&message, record);
        }
    }

    fn message(&mut self, message: &Value, record: Record<'_>) {
        let id = look::id(message, &["id"]);
        match (look::text(message, "method"), id) {
            (Some(method), Some(id)) => self.request(method, &id, message, record),
            (Some(_), None) => {}
            (None, Some(id)) => self.reply(&id, message, record),
            (None, None) => {}
        }
    }

    fn request(&mut self, method: &str, id: &str, message: &Value, record: Record<'_>) {
        let session = self.session(record.session, method == "initialize", record.place);
        let params = message.get("params").unwrap_or(&Value::Null);
        match method {
            "tools/call" => session.call(id, params, record),
            "tasks/result" | "tasks/get" => {
                let task = look::id(params, &["taskId", "task_id"]);
                let of_task =
                    |waiting: &&mut Waiting| waiting.task.is_some() && waiting.task == task;
                if let Some(waiting) = session.waiting.iter_mut().find(of_task) {
                    id.clone_into(&mut waiting.id);
                }
            }
            other => session.transcript.leave_out(format!("`{other}`: no call")),
        }
    }

    fn session(&mut self, key: Option<&str>, is_new: bool, place: &str) -> &mut Session {
        let known = self.sessions.iter().rposition(|session| session.key.as_deref() == key);
        let has_calls = |at: usize| !self.sessions[at].transcript.calls.is_empty();
        let at = match known.filter(|at| !is_new || !has_calls(*at)) {
            Some(at) => at,
            None => {
                let mut transcript = Transcript::at(place);
                for part in key.into_iter().chain(key.into_iter().flat_map(|key| key.rsplit('/'))) {
                    if !part.is_empty() && !transcript.other_ids.iter().any(|known| known == part) {
                        transcript.other_ids.push(part.to_owned());
                    }
                }
                let key = key.map(str::to_owned);
                self.sessions.push(Session { key, transcript, waiting: Vec::new() });
                self.sessions.len() - 1
            }
        };
        &mut self.sessions[at]
    }

    fn reply(&mut self, id: &str, message: &Value, record: Record<'_>) {
        let key = record.session;
        let fits = |session: &&mut Session| key.is_none() || session.key.as_deref() == key;
        let mine = |waiting: &Waiting| waiting.is_answered_by(id, record.direction);
        let mut sessions = self.sessions.iter_mut().rev().filter(fits);
        let found = sessions.find_map(|session| {
            let at = session.waiting.iter().position(mine)?;
            Some((session, at))
        });
        if let Some((session, at)) = found {
            session.reply(at, message);
        }
    }

    /// Returns the conversations: one for each session.
    pub(crate) fn finish(self) -> Vec<Transcript> {
        self.sessions.into_iter().map(|session| session.transcript).collect()
    }
}

impl Session {
    fn call(&mut self, id: &str, params: &Value, record: Record<'_>) {
        let tool = look::text(params, "name").unwrap_or_default();
        // What the server asked for in between comes with the same call once more.
        let goes_on = look::first(params, &["inputResponses", "requestState"]).is_some();
        let state = look::id(params, &["requestState"]);
        let same = |waiting: &&mut Waiting| {
            goes_on && waiting.wants_input && waiting.tool == tool && waiting.state == state
        };
        if let Some(waiting) = self.waiting.iter_mut().rev().find(same) {
            id.clone_into(&mut waiting.id);
            return;
        }
        let args = params.get("arguments").map_or_else(Args::default, |args| Args::of(Some(args)));
        let source = format!("{}/params", record.place);
        let mut call = Call::requested(Some(id.to_owned()), tool, args, source);
        let parent = look::at(params, &["_meta", "traceparent"]).and_then(Value::as_str);
        if let Some((trace, span)) = parent.and_then(trace_and_span) {
            self.transcript.trace_id.get_or_insert_with(|| trace.to_owned());
            call.parent_id = Some(span.to_owned());
        }
        self.transcript.call(call);
        self.waiting.push(Waiting {
            id: id.to_owned(),
            call: id.to_owned(),
            tool: tool.to_owned(),
            direction: record.direction.map(str::to_owned),
            wants_input: false,
            state: None,
            task: None,
        });
    }

    fn reply(&mut self, at: usize, message: &Value) {
        if let Some(error) = look::get(message, "error") {
            let code = error.get("code").map(Value::to_string).unwrap_or_default();
            let text = look::text(error, "message").unwrap_or_default();
            return self.finish(at, Outcome::failure(format!("{code} {text}").trim().to_owned()));
        }
        let result = message.get("result").unwrap_or(&Value::Null);
        let kind = look::text(result, "resultType").unwrap_or("complete");
        let task = look::id(result, &["taskId"])
            .or_else(|| look::id(result.get("task")?, &["taskId", "id"]));
        let waiting = &mut self.waiting[at];
        if kind == "input_required" {
            waiting.wants_input = true;
            waiting.state = look::id(result, &["requestState"]);
            return;
        }
        // The first revision with tasks has no types of results.
        if kind == "task" || (result.get("task").is_some() && waiting.task.is_none()) {
            waiting.task = task;
            return;
        }
        // A task that is asked about says how far it is, and has its result in the end.
        let inner = look::get(result, "result").filter(|_| self.waiting[at].task.is_some());
        let result = inner.unwrap_or(result);
        if is_result(result) {
            self.finish(at, outcome(result));
        } else if self.waiting[at].task.is_some() && look::text(result, "status") == Some("failed")
        {
            let why = look::words(result, "statusMessage").unwrap_or("the task failed");
            self.finish(at, Outcome::failure(why.to_owned()));
        }
    }

    fn finish(&mut self, at: usize, outcome: Outcome) {
        let waiting = self.waiting.remove(at);
        self.transcript.result(CallResult::of(Some(waiting.call), outcome));
    }
}

/// Whether a result is one of a call, and not of what the server asked the client: a model's reply
/// has a role, what a user filled in has an action.
fn is_result(result: &Value) -> bool {
    ["content", "structuredContent", "isError"].iter().any(|key| result.get(key).is_some())
        && ["role", "action"].iter().all(|key| result.get(key).is_none())
}

/// Returns the ids of the trace and the span in a `traceparent`: `00-TRACE-SPAN-01`.
fn trace_and_span(parent: &str) -> Option<(&str, &str)> {
    let mut parts = parent.split('-').skip(1);
    Some((parts.next()?, parts.next()?))
}

fn outcome(result: &Value) -> Outcome {
    let is_error = result.get("isError").and_then(Value::as_bool).unwrap_or(false);
    let structured = look::get(result, "structuredContent");
    let content =
        look::get(result, "content").filter(|content| *content != &Value::Array(Vec::new()));
    let content = content.or(structured).cloned().unwrap_or_else(|| Value::String(String::new()));
    Outcome { whole: structured.cloned(), ..Outcome::flagged(&content, is_error) }
}

/// Returns the messages of a record: its own, those of a batch, or those that a log wraps.
fn messages(item: &Value, depth: usize) -> Vec<Cow<'_, Value>> {
    if depth > 4 {
        return Vec::new();
    }
    match item {
        Value::Object(_) if item.get("jsonrpc").is_some() => vec![Cow::Borrowed(item)],
        Value::Object(object) => {
            let wrapped = AROUND.iter().filter_map(|key| object.get(*key));
            wrapped.flat_map(|inner| messages(inner, depth + 1)).collect()
        }
        Value::Array(batch) => batch.iter().flat_map(|item| messages(item, depth + 1)).collect(),
        Value::String(text) => of_text(text, depth),
        _ => Vec::new(),
    }
}

/// Messages in a text: JSON, or events with `data:` before each.
fn of_text(text: &str, depth: usize) -> Vec<Cow<'static, Value>> {
    if !text.contains("jsonrpc") {
        return Vec::new();
    }
    let own = |value: Value| {
        messages(&value, depth + 1)
            .into_iter()
            .map(|found| Cow::Owned(found.into_owned()))
            .collect::<Vec<_>>()
    };
    if let Some(value) = look::structure(text) {
        return own(value);
    }
    text.lines()
        .filter_map(|line| look::structure(line.strip_prefix("data:")?))
        .flat_map(own)
        .collect()
}

/// Whether a record is one of such a log.
pub(crate) fn is_record(item: &Value) -> bool {
    !messages(item, 0).is_empty()
}

/// Returns what a record says about its session.
fn session_of(item: &Value) -> Option<String> {
    let of_headers = || {
        let headers = item.get("headers")?.as_object()?;
        let (_, id) = headers.iter().find(|(key, _)| key.eq_ignore_ascii_case("mcp-session-id"))?;
        id.as_str().map(str::to_owned)
    };
    let given = look::id(
        item,
        &["session_id", "sessionId", "session", "connection", "connection_id", "path", "url"],
    );
    of_headers().or(given)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::conversation::Conversation;
    use crate::rules::Rules;

    fn read(items: &Value) -> Vec<Conversation> {
        let mut sessions = Sessions::default();
        let items = items.as_array().expect("a list");
        items.iter().enumerate().for_each(|(at, item)| sessions.read(item, &format!("/{at}")));
        sessions
            .finish()
            .into_iter()
            .map(|transcript| transcript.settle(&Rules::default()))
            .collect()
    }

    fn shown(conversation: &Conversation) -> Vec<(&str, Option<&str>, Option<&str>)> {
        conversation
            .steps
            .iter()
            .map(|step| (step.id.as_str(), step.output.as_deref(), step.error.as_deref()))
            .collect()
    }

    #[test]
    fn calls_and_failures_are_joined_by_id() {
        let text = |text: &str| json!([{"type": "text", "text": text}]);
        let conversations = read(&json!([
            {"dir": "c2s", "msg": {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}},
            {"dir": "s2c", "msg": {"jsonrpc": "2.0", "id": 1, "result": {}}},
            {"dir": "c2s", "msg": {"jsonrpc": "2.0", "method": "notifications/initialized"}},
            {"dir": "c2s", "msg": [{"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "get_weather", "arguments": {"city": "Oslo"}}},
                {"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": {"name": "nope"}}]},
            {"dir": "s2c", "msg": {"jsonrpc": "2.0", "id": 4, "error": {"code": -32602, "message": "Unknown tool: nope"}}},
            "data: {\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"{\\\"temp_c\\\":4}\"}],\"structuredContent\":{\"temp_c\":4},\"isError\":false}}",
            {"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": "t", "arguments": {}}},
            {"jsonrpc": "2.0", "id": 5, "method": "sampling/createMessage", "params": {}},
            {"jsonrpc": "2.0", "id": 5, "result": {"role": "assistant", "content": {"type": "text", "text": "hi"}}},
            {"jsonrpc": "2.0", "id": 5, "result": {"content": text("broken"), "isError": true}},
            {"jsonrpc": "2.0", "id": 6, "method": "tools/call", "params": {"name": "t"}}]));
        let [conversation] = &conversations[..] else { panic!("one session") };
        assert_eq!(
            shown(conversation),
            [
                ("3", Some("{\"temp_c\":4}"), None),
                ("4", None, Some("-32602 Unknown tool: nope")),
                ("5", None, Some("broken")),
                ("6", None, Some("no result recorded")),
            ]
        );
        assert_eq!(conversation.steps[0].output_raw, Some(json!({"temp_c": 4})));
    }

    #[test]
    fn sessions_have_ids_of_their_own() {
        let call = |path: &str| json!({"path": path, "body": {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "t"}}});
        let reply = |text: &str| json!({"reply": 200, "body": {"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": text}]}}});
        let conversations =
            read(&json!([call("/a/q1/mcp"), reply("one"), call("/b"), reply("two")]));
        assert_eq!(shown(&conversations[0]), [("1", Some("one"), None)]);
        assert_eq!(shown(&conversations[1]), [("1", Some("two"), None)]);
        assert!(conversations[0].other_ids.contains(&"q1".to_owned()));
    }

    #[test]
    fn an_unfinished_call_stays_one_step() {
        let call = |id: u64, params: Value| json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
        let done = |id: u64| json!({"jsonrpc": "2.0", "id": id, "result": {"resultType": "complete", "content": [{"type": "text", "text": "done"}]}});
        let conversations = read(&json!([
            call(1, json!({"name": "t", "arguments": {"n": 1}})),
            {"jsonrpc": "2.0", "id": 1, "result": {"resultType": "input_required", "requestState": "x"}},
            call(2, json!({"name": "t", "arguments": {"n": 1}, "inputResponses": {}, "requestState": "x"})),
            done(2),
            call(3, json!({"name": "u"})),
            {"jsonrpc": "2.0", "id": 3, "result": {"resultType": "task", "task": {"taskId": "k"}}},
            {"jsonrpc": "2.0", "id": 4, "method": "tasks/result", "params": {"taskId": "k"}},
            done(4)]));
        assert_eq!(
            shown(&conversations[0]),
            [("1", Some("done"), None), ("3", Some("done"), None)]
        );
    }
}
