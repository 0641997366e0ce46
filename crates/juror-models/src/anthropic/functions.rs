//! Conversations with functions in Anthropic's protocol.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::{Anthropic, MOST_TOKENS, count};
use crate::adapt::Habits;
use crate::callable::Callable;
use crate::conversation::{Conversation, Turn, TurnReply, arguments_object};
use crate::http::{read_event, read_json};
use crate::message::{Call, Message, Said};
use crate::model::{ModelError, Usage};
use crate::protocol::{PostTarget, TurnReader, post_conversation};

/// Asks for the next turn of a conversation.
pub(super) async fn ask(
    model: &Anthropic,
    talk: &Conversation,
    habits: &Habits,
) -> Result<TurnReply, ModelError> {
    let body = body(model, talk, habits);
    let target = PostTarget { url: &model.url, is_streamed: body.stream.is_some() };
    post_conversation::<AnthropicTurn>(&model.endpoint, target, &body, talk).await
}

#[derive(Serialize)]
struct AnthropicBody<'a> {
    #[serde(flatten)]
    parameters: Map<String, Value>,
    model: &'a str,
    #[serde(skip_serializing_if = "String::is_empty")]
    system: String,
    messages: Vec<AnthropicMessage<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<SentTool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream: Option<bool>,
}

#[derive(Serialize)]
struct SentTool<'a> {
    name: &'a str,
    description: &'a str,
    input_schema: &'a RawValue,
}

#[derive(Serialize)]
struct AnthropicMessage<'a> {
    role: &'static str,
    content: Vec<Block<'a>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Block<'a> {
    Plain(PlainBlock<'a>),
    /// A block of the provider's own, verbatim.
    Kept(&'a Value),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum PlainBlock<'a> {
    Text { text: &'a str },
    ToolUse { id: &'a str, name: &'a str, input: Cow<'a, RawValue> },
    ToolResult { tool_use_id: &'a str, content: &'a str },
}

fn body<'a>(model: &'a Anthropic, talk: &'a Conversation, habits: &Habits) -> AnthropicBody<'a> {
    let mut parameters = habits.apply(&model.parameters);
    parameters.entry("max_tokens").or_insert(MOST_TOKENS.into());
    let system: Vec<&str> = talk
        .valid()
        .filter_map(|message| match message {
            Message::System(text) => Some(&**text),
            _ => None,
        })
        .collect();
    let tool = |function: &'a Callable| SentTool {
        name: &function.name,
        description: &function.description,
        input_schema: &function.parameters,
    };
    AnthropicBody {
        parameters,
        model: &model.model,
        system: system.join("\n\n"),
        messages: messages(talk),
        tools: talk.functions.iter().map(tool).collect(),
        stream: (model.stream && habits.takes("stream")).then_some(true),
    }
}

/// Converts the messages. Results of calls are messages of the user here, and consecutive messages
/// of one side are merged.
fn messages(talk: &Conversation) -> Vec<AnthropicMessage<'_>> {
    let mut messages: Vec<AnthropicMessage<'_>> = Vec::new();
    for message in talk.valid() {
        let (role, blocks) = match message {
            Message::System(_) => continue,
            Message::Assistant(said) => ("assistant", blocks_of(said)),
            Message::User { content, .. } => {
                ("user", vec![Block::Plain(PlainBlock::Text { text: content })])
            }
            Message::Tool { content, call_id, .. } => {
                let result = PlainBlock::ToolResult { tool_use_id: call_id, content };
                ("user", vec![Block::Plain(result)])
            }
        };
        match messages.last_mut() {
            Some(last) if last.role == role => last.content.extend(blocks),
            _ if blocks.is_empty() => {}
            _ => messages.push(AnthropicMessage { role, content: blocks }),
        }
    }
    messages
}

fn blocks_of(said: &Said) -> Vec<Block<'_>> {
    let kept = said.provider.iter().map(Block::Kept);
    let text = said.content.as_deref().filter(|text| !text.trim().is_empty());
    let text = text.map(|text| Block::Plain(PlainBlock::Text { text }));
    kept.chain(text).chain(said.calls.iter().map(block_of)).collect()
}

fn block_of(call: &Call) -> Block<'_> {
    let Call { id, name, arguments } = call;
    Block::Plain(PlainBlock::ToolUse { id, name, input: arguments_object(arguments) })
}

/// A turn, read whole or from a stream.
#[derive(Default)]
struct AnthropicTurn {
    content: String,
    /// Calls, with the indices of their blocks.
    calls: Vec<(u64, Call)>,
    /// Blocks to be sent back in the next request, with their indices.
    kept: Vec<(u64, Value)>,
    stop: Option<String>,
    finished: bool,
    usage: Option<Usage>,
}

/// The input of a block, verbatim, so that its keys keep their order.
#[derive(Deserialize)]
struct RawBlock<'t> {
    #[serde(borrow, default)]
    input: Option<&'t RawValue>,
}

#[derive(Deserialize)]
struct RawMessage<'t> {
    #[serde(borrow)]
    content: Vec<RawBlock<'t>>,
}

impl TurnReader for AnthropicTurn {
    fn take_whole(&mut self, message: &str) -> Result<(), ModelError> {
        let body: Value = read_json(message)?;
        let missing = || ModelError::Garbled("it has no `content`".into());
        let blocks = body.get("content").and_then(Value::as_array).ok_or_else(missing)?;
        let raw: RawMessage<'_> = read_json(message)?;
        for ((index, block), raw) in (0..).zip(blocks).zip(raw.content) {
            self.begin(index, block);
            self.content.push_str(text(block, "/text"));
            let call = self.calls.last_mut().filter(|(of, _)| *of == index);
            if let (Some((_, call)), Some(input)) = (call, raw.input) {
                input.get().clone_into(&mut call.arguments);
            }
        }
        count(&body, &mut self.usage);
        self.stop = Some(text(&body, "/stop_reason").to_owned());
        self.finished = true;
        Ok(())
    }

    fn take_event(&mut self, data: &str) -> Result<(), ModelError> {
        self.add_event(&read_event(data)?)
    }

    fn finish(self, talk: &Conversation) -> Result<TurnReply, ModelError> {
        let stop = self.stop.unwrap_or_default();
        if stop == "refusal" {
            let why = "it stopped with a refusal".to_owned();
            return Ok(TurnReply { turn: Err(why), usage: self.usage });
        }
        if !self.finished {
            return Err(ModelError::Garbled("the stream ended too early".into()));
        }
        let mut calls: Vec<Call> = self.calls.into_iter().map(|(_, call)| call).collect();
        for call in calls.iter_mut().filter(|call| call.arguments.is_empty()) {
            call.arguments.push_str("{}");
        }
        talk.name_calls(&mut calls);
        let content = Some(self.content).filter(|content| !content.is_empty());
        let provider = self.kept.into_iter().map(|(_, block)| block).collect();
        let said = Said { content, calls, provider };
        Ok(TurnReply { turn: Ok(Turn { said, finish: stop }), usage: self.usage })
    }
}

impl AnthropicTurn {
    fn add_event(&mut self, event: &Value) -> Result<(), ModelError> {
        let index = event.get("index").and_then(Value::as_u64).unwrap_or_default();
        match text(event, "/type") {
            "error" => {
                return Err(ModelError::Unavailable(text(event, "/error/message").to_owned()));
            }
            "message_start" => count(&event["message"], &mut self.usage),
            "content_block_start" => {
                self.begin(index, &event["content_block"]);
                self.content.push_str(text(event, "/content_block/text"));
            }
            "content_block_delta" => self.add_delta(index, &event["delta"]),
            "message_delta" => {
                count(event, &mut self.usage);
                self.stop = Some(text(event, "/delta/stop_reason").to_owned());
            }
            "message_stop" => self.finished = true,
            _ => {}
        }
        Ok(())
    }

    fn begin(&mut self, index: u64, block: &Value) {
        match text(block, "/type") {
            "tool_use" => {
                let (id, name) = (text(block, "/id").to_owned(), text(block, "/name").to_owned());
                self.calls.push((index, Call { id, name, arguments: String::new() }));
            }
            // Signed thoughts; a conversation with calls is refused without them.
            "thinking" | "redacted_thinking" => self.kept.push((index, block.clone())),
            _ => {}
        }
    }

    fn add_delta(&mut self, index: u64, delta: &Value) {
        self.content.push_str(text(delta, "/text"));
        if let Some((_, call)) = self.calls.iter_mut().find(|(of, _)| *of == index) {
            call.arguments.push_str(text(delta, "/partial_json"));
        }
        if let Some((_, block)) = self.kept.iter_mut().find(|(of, _)| *of == index) {
            for name in ["thinking", "signature"] {
                if let Some(piece) = delta.get(name).and_then(Value::as_str) {
                    let before = block[name].as_str().unwrap_or_default();
                    block[name] = Value::from(format!("{before}{piece}"));
                }
            }
        }
    }
}

fn text<'v>(value: &'v Value, path: &str) -> &'v str {
    value.pointer(path).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;

    fn talk(messages: Vec<Message>) -> Conversation {
        let messages = messages.into_iter().map(Arc::new).collect();
        Conversation { purpose: "agent".into(), messages, functions: Vec::new(), repeat: 0 }
    }

    const SAID: &str = r#"{"content": [
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "text", "text": "Look."},
        {"type": "tool_use", "id": "t1", "name": "f", "input": {"b": 1, "a": "\u00e9"}},
        {"type": "server_tool_use", "id": "t2", "name": "g", "input": {"c": 3}}],
        "stop_reason": "tool_use", "usage": {"input_tokens": 5, "output_tokens": 7}}"#;

    fn said() -> TurnReply {
        let mut reply = AnthropicTurn::default();
        reply.take_whole(SAID).expect("a message");
        reply.finish(&talk(Vec::new())).expect("a reply")
    }

    #[test]
    fn arguments_keep_the_order_they_were_written_in() {
        let TurnReply { turn, usage } = said();
        let turn = turn.expect("a turn");
        assert_eq!(turn.said.content.as_deref(), Some("Look."));
        assert_eq!(turn.said.calls.len(), 1);
        assert_eq!(turn.said.calls[0].arguments, r#"{"b": 1, "a": "\u00e9"}"#);
        assert_eq!(
            (turn.finish.as_str(), usage.map(|usage| usage.output_tokens)),
            ("tool_use", Some(7))
        );
    }

    #[test]
    fn what_is_said_is_shown_again_with_its_thoughts() {
        let said = said().turn.expect("a turn").said;
        let result =
            |id: &str| Message::Tool { name: "f".into(), content: "r".into(), call_id: id.into() };
        let conversation = talk(vec![
            Message::System("be".into()),
            Message::user("q"),
            Message::Assistant(Said::default()),
            Message::Assistant(said),
            result("t1"),
            Message::user("again"),
        ]);
        let sent = json!(messages(&conversation));
        let thought = json!({"type": "thinking", "thinking": "hm", "signature": "s"});
        assert_eq!(sent[1]["content"][0], thought);
        assert_eq!(sent[1]["content"][2]["input"], json!({"a": "é", "b": 1}));
        let last = json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "t1", "content": "r"},
            {"type": "text", "text": "again"}]});
        assert_eq!(sent[2], last);
        assert_eq!(sent.as_array().map(Vec::len), Some(3));
        let written = serde_json::to_string(&messages(&conversation)).expect("JSON");
        assert!(written.contains(r#""input":{"b": 1, "a": "\u00e9"}"#), "{written}");
    }

    #[test]
    fn streamed_thoughts_and_calls_are_put_together() {
        let mut reply = AnthropicTurn::default();
        let delta = |index: u64, delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
        let block = |index: u64, block: Value| json!({"type": "content_block_start", "index": index, "content_block": block});
        for event in [
            block(0, json!({"type": "thinking", "thinking": "", "signature": ""})),
            delta(0, json!({"type": "thinking_delta", "thinking": "h"})),
            delta(0, json!({"type": "thinking_delta", "thinking": "m"})),
            delta(0, json!({"type": "signature_delta", "signature": "s"})),
            block(1, json!({"type": "tool_use", "id": "t", "name": "f", "input": {}})),
            delta(1, json!({"type": "input_json_delta", "partial_json": "{\"q"})),
            block(2, json!({"type": "tool_use", "id": "u", "name": "g", "input": {}})),
            json!({"type": "message_delta", "delta": {"stop_reason": "max_tokens"}}),
            json!({"type": "message_stop"}),
        ] {
            reply.add_event(&event).expect("an event");
        }
        let turn = reply.finish(&talk(Vec::new())).expect("a reply").turn.expect("a turn");
        let thought = json!({"type": "thinking", "thinking": "hm", "signature": "s"});
        assert_eq!(turn.said.provider, [thought]);
        let arguments: Vec<&str> = turn.said.calls.iter().map(|call| &*call.arguments).collect();
        assert_eq!(arguments, ["{\"q", "{}"], "cut off, and none");
    }

    #[test]
    fn arguments_that_are_no_object_are_wrapped() {
        let call = Call { id: "t".into(), name: "f".into(), arguments: "{bro".into() };
        let sent = json!(block_of(&call));
        assert_eq!(sent["input"], json!({"arguments": "{bro"}));
    }
}
