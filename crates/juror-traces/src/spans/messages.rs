//! Messages in the attributes and events of spans: what a model was given, and what it gave.

use serde_json::Value;

use super::attributes::Attributes;
use super::span::Event;
use crate::args::Args;
use crate::call::{Call, CallResult, Kind};
use crate::dialect::{self, gemini, openai_chat, vercel};
use crate::look;
use crate::outcome::{Outcome, said};
use crate::transcript::Transcript;

/// What a model was given, and what it gave.
#[derive(Debug, Default)]
pub(crate) struct Exchange {
    pub(crate) given: Transcript,
    pub(crate) gave: Transcript,
}

impl Exchange {
    /// Reads the messages of a span in all dialects: each span has one of them.
    pub(crate) fn of(attributes: &Attributes<'_>, events: &[Event<'_>], place: &str) -> Exchange {
        let mut exchange = Exchange { given: Transcript::at(place), gave: Transcript::at(place) };
        exchange.genai(attributes);
        exchange.openinference(attributes);
        exchange.traceloop(attributes);
        exchange.vercel(attributes);
        exchange.adk(attributes);
        for event in events {
            exchange.event(event);
        }
        exchange
    }

    /// Current conventions: messages of parts, as lists or as texts of JSON.
    fn genai(&mut self, attributes: &Attributes<'_>) {
        for key in [
            "gen_ai.input.messages",
            "pydantic_ai.all_messages",
            "all_messages_events",
            "gen_ai.output.messages",
        ] {
            if let Some(value) = attributes.get(key) {
                let is_output = key == "gen_ai.output.messages";
                read_parts(if is_output { &mut self.gave } else { &mut self.given }, &value, key);
            }
        }
    }

    fn openinference(&mut self, attributes: &Attributes<'_>) {
        let both =
            [("llm.input_messages", &mut self.given), ("llm.output_messages", &mut self.gave)];
        for (key, transcript) in both {
            let Some(Value::Array(messages)) = attributes.get(key) else { continue };
            for (at, message) in messages.iter().enumerate() {
                let message = look::get(message, "message").unwrap_or(message);
                read_openinference(transcript, message, &format!("#{key}.{at}"));
            }
        }
    }

    /// Numbered attributes of prompts and completions.
    fn traceloop(&mut self, attributes: &Attributes<'_>) {
        let both = [("gen_ai.prompt", &mut self.given), ("gen_ai.completion", &mut self.gave)];
        for (key, transcript) in both {
            let Some(Value::Array(messages)) = attributes.get(key) else { continue };
            for (at, message) in messages.into_iter().enumerate() {
                let role = if key == "gen_ai.completion" { "assistant" } else { "user" };
                let message = with_content(message, role);
                openai_chat::read_alone(transcript, &message, &format!("#{key}.{at}"));
            }
        }
    }

    fn vercel(&mut self, attributes: &Attributes<'_>) {
        if let Some(messages) = attributes.get("ai.prompt.messages").as_ref().and_then(look::parsed)
        {
            vercel::read(&mut self.given, &messages, "#ai.prompt.messages");
        }
        if let Some(prompt) = attributes.get("ai.prompt") {
            let parsed = look::parsed(&prompt);
            match &parsed {
                Some(prompt) => {
                    self.given.ask(look::words(prompt, "prompt").map(str::to_owned));
                    vercel::read(
                        &mut self.given,
                        prompt.get("messages").unwrap_or(&Value::Null),
                        "#ai.prompt",
                    );
                }
                None => self.given.ask(prompt.as_str().map(str::to_owned)),
            }
        }
        let calls = attributes
            .get("ai.response.toolCalls")
            .or_else(|| attributes.get("ai.result.toolCalls"));
        let calls = calls.as_ref().and_then(look::parsed);
        let calls = calls.as_deref().and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        for (at, call) in calls.iter().enumerate() {
            let source = self.gave.place(&format!("#ai.response.toolCalls/{at}"));
            self.gave.call(vercel::read_call(call, source));
        }
        if calls.is_empty() {
            self.gave.say(attributes.words(&[
                "ai.response.text",
                "ai.result.text",
                "ai.response.object",
            ]));
        }
    }

    fn adk(&mut self, attributes: &Attributes<'_>) {
        if let Some(request) =
            attributes.get("gcp.vertex.agent.llm_request").as_ref().and_then(look::parsed)
        {
            gemini::read_item(&mut self.given, &request, "#gcp.vertex.agent.llm_request");
        }
        if let Some(response) =
            attributes.get("gcp.vertex.agent.llm_response").as_ref().and_then(look::parsed)
        {
            let content = look::get(&response, "content").unwrap_or(&response);
            gemini::read_item(&mut self.gave, content, "#gcp.vertex.agent.llm_response");
            self.gave.add_usage(look::first(&response, &["usage_metadata", "usageMetadata"]));
        }
    }

    /// Events of older conventions, and log records: one message each.
    pub(crate) fn event(&mut self, event: &Event<'_>) {
        let body = || body_of(event);
        let pointer = format!("#{}", event.name);
        match event.name.as_ref() {
            "gen_ai.client.inference.operation.details" => self.genai(&event.attributes),
            "gen_ai.user.message" => {
                let content = body();
                self.given.ask(look::get(&content, "content").and_then(said));
            }
            "gen_ai.assistant.message" => read_old(&mut self.given, &body(), "assistant", &pointer),
            "gen_ai.tool.message" => read_old(&mut self.given, &body(), "tool", &pointer),
            "gen_ai.choice" => {
                let body = body();
                let message = look::get(&body, "message").and_then(look::parsed);
                match message {
                    Some(message) => read_old(&mut self.gave, &message, "assistant", &pointer),
                    None => match look::text(&body, "message") {
                        Some(text) if body.get("tool_calls").is_none() => {
                            self.gave.say(Some(text.to_owned()));
                        }
                        _ => read_old(&mut self.gave, &body, "assistant", &pointer),
                    },
                }
            }
            "gen_ai.content.prompt" => {
                let prompt = event.attributes.get("gen_ai.prompt");
                read_any(&mut self.given, prompt.as_ref(), &pointer);
            }
            "gen_ai.content.completion" => {
                let completion = event.attributes.get("gen_ai.completion");
                read_any(&mut self.gave, completion.as_ref(), &pointer);
            }
            _ => {}
        }
    }
}

/// Reads a value that holds messages in whatever dialect it does.
pub(crate) fn read_any(transcript: &mut Transcript, value: Option<&Value>, pointer: &str) {
    if let Some(value) = value.and_then(look::parsed) {
        dialect::read_value(transcript, &value, pointer);
    }
}

/// The body of an event: of a log record, or in its attributes.
fn body_of(event: &Event<'_>) -> Value {
    if let Some(body) = event.body.as_ref().filter(|body| body.is_object()) {
        return body.clone();
    }
    let content = event.attributes.words(&["gen_ai.event.content"]);
    if let Some(body) = content.as_deref().and_then(look::structure) {
        return body;
    }
    let attributes = event.attributes.iter().map(|(key, value)| (key.to_owned(), value));
    Value::Object(attributes.collect())
}

/// A message of older conventions: `tool_calls` as in chats, the id of a result under `id`.
fn read_old(transcript: &mut Transcript, body: &Value, role: &str, pointer: &str) {
    let mut message = with_content(body.clone(), role);
    if let Some(calls) =
        message.get("tool_calls").and_then(look::parsed).map(std::borrow::Cow::into_owned)
    {
        message["tool_calls"] = calls;
    }
    openai_chat::read_alone(transcript, &message, pointer);
}

/// Gives a message a role if it has none, and reads content that is a text of blocks.
fn with_content(mut message: Value, role: &str) -> Value {
    if !message.is_object() {
        return message;
    }
    if message.get("role").is_none() {
        message["role"] = role.into();
    }
    let blocks = message.get("content").and_then(Value::as_str).and_then(look::structure);
    let blocks = blocks
        .filter(|blocks| blocks.as_array().is_some_and(|blocks| crate::outcome::is_blocks(blocks)));
    if let Some(blocks) = blocks {
        message["content"] = blocks;
    }
    message
}

/// Reads messages of parts.
pub(crate) fn read_parts(transcript: &mut Transcript, value: &Value, key: &str) {
    let Some(messages) = look::parsed(value) else { return };
    let Some(list) = messages.as_array() else { return };
    // Some instrumentations keep chats or other forms under the same key.
    if !list.iter().any(|message| message.get("parts").is_some()) {
        return dialect::read_value(transcript, &messages, &format!("#{key}"));
    }
    for (at, message) in list.iter().enumerate() {
        let before = transcript.calls.len();
        let mut texts = Vec::new();
        for (part_at, part) in look::items(message, "parts").iter().enumerate() {
            match look::text(part, "type") {
                Some("text") => {
                    texts
                        .extend(look::words(part, "content").or_else(|| look::words(part, "text")));
                }
                _ => read_part(transcript, part, &format!("#{key}/{at}/parts/{part_at}")),
            }
        }
        let said = Some(texts.join("\n")).filter(|said| !said.is_empty());
        match look::text(message, "role") {
            Some("user") => transcript.ask(said),
            Some("assistant" | "model") if transcript.calls.len() == before => transcript.say(said),
            _ => {}
        }
    }
}

fn read_part(transcript: &mut Transcript, part: &Value, pointer: &str) {
    let id = look::id(part, &["id"]);
    match look::text(part, "type") {
        Some(kind @ ("tool_call" | "server_tool_call")) => {
            let inner = look::get(part, kind).unwrap_or(part);
            let name = look::text(part, "name").or_else(|| look::text(inner, "name"));
            let args = look::first(inner, &["arguments", "input", "args"]);
            let args = match args {
                Some(args) => Args::of(Some(args)),
                // Tools of the server have keys of their own beside their type.
                None => without_type(look::get(part, kind)).map_or_else(Args::default, Args::from),
            };
            let source = transcript.place(pointer);
            let call = Call::requested(id, name.unwrap_or_default(), args, source);
            let is_builtin =
                kind != "tool_call" || part.get("builtin").and_then(Value::as_bool) == Some(true);
            transcript
                .call(Call { kind: if is_builtin { Kind::Builtin } else { Kind::Tool }, ..call });
        }
        Some(kind @ ("tool_call_response" | "server_tool_call_response")) => {
            let inner = look::get(part, kind).unwrap_or(part);
            // The schema says `response`, the table of attributes `result`.
            let content = look::first(inner, &["response", "result", "content"]);
            let content = content.or_else(|| look::get(part, kind)).cloned().unwrap_or_default();
            let name = look::text(part, "name").map(str::to_owned).filter(|_| id.is_none());
            transcript.result(CallResult { id, name, outcome: Outcome::unflagged(&content) });
        }
        _ => {}
    }
}

/// Returns the keys of an object beside its type.
fn without_type(value: Option<&Value>) -> Option<serde_json::Map<String, Value>> {
    let mut object = value?.as_object()?.clone();
    object.remove("type");
    Some(object)
}

/// Reads a message of OpenInference.
fn read_openinference(transcript: &mut Transcript, message: &Value, pointer: &str) {
    let contents = look::items(message, "contents");
    let inner =
        |content: &'_ Value| look::get(content, "message_content").unwrap_or(content).clone();
    let texts = || {
        let texts: Vec<String> = contents
            .iter()
            .filter_map(|content| look::words(&inner(content), "text").map(str::to_owned))
            .collect();
        texts.join("\n")
    };
    let content = look::get(message, "content")
        .and_then(said)
        .or_else(|| Some(texts()).filter(|text| !text.is_empty()));
    match look::text(message, "role") {
        Some("user") => transcript.ask(content),
        Some("tool" | "function") => {
            let id = look::id(message, &["tool_call_id"]);
            let name = look::text(message, "name").map(str::to_owned).filter(|_| id.is_none());
            let content = Value::String(content.unwrap_or_default());
            transcript.result(CallResult { id, name, outcome: Outcome::unflagged(&content) });
        }
        Some("system" | "developer") => {}
        _ => {
            let before = transcript.calls.len();
            read_openinference_calls(transcript, message, contents, pointer);
            if transcript.calls.len() == before {
                transcript.say(content);
            }
        }
    }
}

fn read_openinference_calls(
    transcript: &mut Transcript,
    message: &Value,
    contents: &[Value],
    pointer: &str,
) {
    let listed: Vec<&Value> = look::items(message, "tool_calls").iter().collect();
    let uses = |content: &&Value| {
        let inner = look::get(content, "message_content").unwrap_or(content);
        look::text(inner, "type") == Some("tool_use")
    };
    // The call stands beside the content or in it.
    let call = |content: &'_ Value| -> Option<Value> {
        let inner =
            look::get(content, "message_content").filter(|inner| inner.get("tool_call").is_some());
        inner.or(Some(content)).cloned()
    };
    let in_order: Vec<Value> = contents.iter().filter(uses).filter_map(call).collect();
    let in_order: Vec<&Value> = in_order.iter().collect();
    let calls = if listed.is_empty() { in_order } else { listed };
    for (at, call) in calls.iter().enumerate() {
        let call = look::get(call, "tool_call").unwrap_or(call);
        let source = transcript.place(&format!("{pointer}.tool_calls.{at}"));
        transcript.call(openai_chat::read_call(call, source));
    }
    if let Some(name) = look::words(message, "function_call_name") {
        let args = Args::of(message.get("function_call_arguments_json"));
        let source = transcript.place(&format!("{pointer}.function_call"));
        transcript.call(Call::requested(None, name, args, source));
    }
}
