//! Conversations with functions in `OpenAI`'s protocol.

use serde::Serialize;
use serde_json::{Map, Value};

use super::{OpenAi, declined, text_of_content, usage};
use crate::adapt::Habits;
use crate::callable::Callable;
use crate::conversation::{Conversation, Turn, TurnReply};
use crate::http::{read_event, read_json};
use crate::message::{Call, Message, Said};
use crate::model::{ModelError, Usage};
use crate::protocol::{PostTarget, TurnReader, post_conversation};

/// Asks for the next turn of a conversation.
pub(super) async fn ask(
    model: &OpenAi,
    talk: &Conversation,
    habits: &Habits,
) -> Result<TurnReply, ModelError> {
    let body = body(model, talk, habits);
    let target = PostTarget { url: &model.chat_url, is_streamed: body.stream.is_some() };
    post_conversation::<OpenAiTurn>(&model.endpoint, target, &body, talk).await
}

#[derive(Serialize)]
struct OpenAiBody<'a> {
    #[serde(flatten)]
    parameters: Map<String, Value>,
    model: &'a str,
    messages: Vec<OpenAiMessage<'a>>,
    #[serde(skip_serializing_if = "<[Callable]>::is_empty")]
    tools: &'a [Callable],
    #[serde(skip_serializing_if = "Option::is_none")]
    stream: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Serialize)]
#[serde(tag = "role", rename_all = "lowercase")]
enum OpenAiMessage<'a> {
    System {
        content: &'a str,
    },
    User {
        content: &'a str,
    },
    Assistant {
        content: Option<&'a str>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<SentCall<'a>>,
    },
    Tool {
        tool_call_id: &'a str,
        content: &'a str,
    },
}

#[derive(Serialize)]
struct SentCall<'a> {
    id: &'a str,
    r#type: &'static str,
    function: SentFunction<'a>,
}

#[derive(Serialize)]
struct SentFunction<'a> {
    name: &'a str,
    arguments: &'a str,
}

fn body<'a>(model: &'a OpenAi, talk: &'a Conversation, habits: &Habits) -> OpenAiBody<'a> {
    let is_streamed = model.stream && habits.takes("stream");
    let wants_usage = is_streamed && habits.takes("stream_options");
    let mut parameters = habits.apply(&model.parameters);
    if talk.functions.is_empty() {
        parameters.retain(|name, _| !matches!(&**name, "tool_choice" | "parallel_tool_calls"));
    }
    OpenAiBody {
        parameters,
        model: &model.model,
        messages: talk.valid().map(sent).collect(),
        tools: &talk.functions,
        stream: is_streamed.then_some(true),
        stream_options: wants_usage.then_some(StreamOptions { include_usage: true }),
    }
}

fn sent(message: &Message) -> OpenAiMessage<'_> {
    match message {
        Message::System(content) => OpenAiMessage::System { content },
        Message::User { content, .. } => OpenAiMessage::User { content },
        Message::Tool { content, call_id, .. } => {
            OpenAiMessage::Tool { tool_call_id: call_id, content }
        }
        Message::Assistant(said) => OpenAiMessage::Assistant {
            // A message without content and calls is refused; empty content is not.
            content: said.content.as_deref().or(said.calls.is_empty().then_some("")),
            tool_calls: said.calls.iter().map(sent_call).collect(),
        },
    }
}

fn sent_call(call: &Call) -> SentCall<'_> {
    let function = SentFunction { name: &call.name, arguments: &call.arguments };
    SentCall { id: &call.id, r#type: "function", function }
}

/// A turn, read whole or from a stream.
#[derive(Default)]
struct OpenAiTurn {
    content: String,
    /// Calls, with the index that the pieces of a streamed call share.
    calls: Vec<(Option<u64>, Call)>,
    refusal: String,
    finish: Option<String>,
    usage: Option<Usage>,
}

impl TurnReader for OpenAiTurn {
    fn take_whole(&mut self, text: &str) -> Result<(), ModelError> {
        self.add_completion(&read_json(text)?)
    }

    fn take_event(&mut self, data: &str) -> Result<(), ModelError> {
        self.add_event(&read_event(data)?)
    }

    fn finish(self, talk: &Conversation) -> Result<TurnReply, ModelError> {
        let Some(finish) = self.finish else {
            return Err(ModelError::Garbled("the stream ended too early".into()));
        };
        if let Some(why) = declined(&self.refusal, &finish) {
            return Ok(TurnReply { turn: Err(why), usage: self.usage });
        }
        let mut calls: Vec<Call> = self.calls.into_iter().map(|(_, call)| call).collect();
        talk.name_calls(&mut calls);
        let content = Some(self.content).filter(|content| !content.is_empty());
        let said = Said { content, calls, provider: Vec::new() };
        Ok(TurnReply { turn: Ok(Turn { said, finish }), usage: self.usage })
    }
}

impl OpenAiTurn {
    fn add_completion(&mut self, body: &Value) -> Result<(), ModelError> {
        let missing = |name: &str| ModelError::Garbled(format!("it has no `{name}`"));
        let choice = body.pointer("/choices/0").ok_or_else(|| missing("choices"))?;
        let message = choice.get("message").ok_or_else(|| missing("message"))?;
        self.content = text_of_content(message.get("content"));
        self.refusal.push_str(text(message, "/refusal"));
        for call in message.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
            let mut begun = (None, Call::default());
            add_piece(&mut begun.1, call);
            self.calls.push(begun);
        }
        // Some servers omit the reason; a whole reply is finished anyway.
        self.finish = Some(text(choice, "/finish_reason").to_owned());
        self.usage = usage(body);
        Ok(())
    }

    fn add_event(&mut self, event: &Value) -> Result<(), ModelError> {
        if let Some(error) = event.get("error") {
            return Err(ModelError::Unavailable(error.to_string()));
        }
        self.usage = usage(event).or(self.usage);
        let Some(choice) = event.pointer("/choices/0") else { return Ok(()) };
        if let Some(finish) = choice.get("finish_reason").and_then(Value::as_str) {
            self.finish = Some(finish.to_owned());
        }
        self.content.push_str(text(choice, "/delta/content"));
        self.refusal.push_str(text(choice, "/delta/refusal"));
        let pieces = choice.pointer("/delta/tool_calls").and_then(Value::as_array);
        for piece in pieces.into_iter().flatten() {
            add_piece(self.call_of(piece), piece);
        }
        Ok(())
    }

    /// Returns the call that a piece belongs to: by its index or, if pieces have none, the last call
    /// that was started.
    fn call_of(&mut self, piece: &Value) -> &mut Call {
        let index = piece.get("index").and_then(Value::as_u64);
        let known = match index {
            Some(_) => self.calls.iter().position(|(known, _)| *known == index),
            None if text(piece, "/id").is_empty() => self.calls.len().checked_sub(1),
            None => None,
        };
        let at = known.unwrap_or_else(|| {
            self.calls.push((index, Call::default()));
            self.calls.len() - 1
        });
        &mut self.calls[at].1
    }
}

fn add_piece(call: &mut Call, piece: &Value) {
    if call.id.is_empty() {
        text(piece, "/id").clone_into(&mut call.id);
    }
    call.name.push_str(text(piece, "/function/name"));
    match piece.pointer("/function/arguments") {
        // Some servers send arguments as JSON rather than as a string.
        Some(arguments @ (Value::Object(_) | Value::Array(_))) => {
            call.arguments.push_str(&arguments.to_string());
        }
        _ => call.arguments.push_str(text(piece, "/function/arguments")),
    }
}

fn text<'v>(value: &'v Value, path: &str) -> &'v str {
    value.pointer(path).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn talk() -> Conversation {
        let (messages, functions) = (Vec::new(), Vec::new());
        Conversation { purpose: "agent".into(), messages, functions, repeat: 0 }
    }

    fn streamed(deltas: &[Value]) -> Result<TurnReply, ModelError> {
        let mut reply = OpenAiTurn::default();
        for delta in deltas {
            reply.add_event(&json!({"choices": [{"delta": delta}]}))?;
        }
        reply.add_event(&json!({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}))?;
        reply.finish(&talk())
    }

    fn calls(reply: Result<TurnReply, ModelError>) -> Vec<(String, String, String)> {
        let calls = reply.expect("a reply").turn.expect("a turn").said.calls;
        calls.into_iter().map(|call| (call.id, call.name, call.arguments)).collect()
    }

    fn text(id: &str, name: &str, arguments: &str) -> (String, String, String) {
        (id.to_owned(), name.to_owned(), arguments.to_owned())
    }

    #[test]
    fn pieces_of_calls_are_put_together_with_and_without_numbers() {
        let piece = |index: Value, id: &str, name: &str, arguments: &str| {
            let function = json!({"name": name, "arguments": arguments});
            json!({"tool_calls": [{"index": index, "id": id, "function": function}]})
        };
        let both = [text("x", "f", "{\"a\""), text("y", "g", "{}")];
        let numbered = [
            piece(json!(0), "x", "f", ""),
            piece(json!(1), "y", "g", "{"),
            piece(json!(0), "", "", "{\"a\""),
            piece(json!(1), "", "", "}"),
        ];
        assert_eq!(calls(streamed(&numbered)), both);
        let bare = [
            piece(Value::Null, "x", "f", "{"),
            piece(Value::Null, "", "", "\"a\""),
            piece(Value::Null, "y", "g", "{}"),
        ];
        assert_eq!(calls(streamed(&bare)), both);
    }

    #[test]
    fn calls_are_read_however_servers_write_them() {
        let whole = |message: Value| {
            let mut reply = OpenAiTurn::default();
            let body = json!({"choices": [{"message": message}]});
            reply.add_completion(&body).and_then(|()| reply.finish(&talk()))
        };
        let message = json!({"content": "", "tool_calls": [
            {"function": {"name": "f", "arguments": {"a": 1}}}, {"function": {"name": "g"}}]});
        let reply = whole(message);
        assert_eq!(reply.as_ref().map(|reply| reply.usage), Ok(None));
        assert_eq!(calls(reply), [text("call_0", "f", "{\"a\":1}"), text("call_1", "g", "")]);
        let silent = whole(json!({"content": null})).expect("a reply").turn.expect("a turn");
        assert_eq!(silent.said, Said::default());
        let refused = whole(json!({"content": null, "refusal": "no"})).expect("a reply");
        assert_eq!(refused.turn, Err("no".to_owned()));
        let mut cut = OpenAiTurn::default();
        cut.add_event(&json!({"choices": [{"delta": {"content": "a"}}]})).expect("an event");
        assert!(cut.finish(&talk()).is_err(), "a stream that ends too early");
    }
}
