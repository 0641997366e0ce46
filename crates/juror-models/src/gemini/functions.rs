//! Conversations with functions in Google's protocol.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::{Gemini, GeminiReply};
use crate::adapt::Habits;
use crate::callable::Callable;
use crate::conversation::{Conversation, Turn, TurnReply, arguments_object};
use crate::http::{read_event, read_json};
use crate::message::{Call, Message, Said};
use crate::model::{ModelError, Outcome};
use crate::protocol::{PostTarget, TurnReader, post_conversation};

/// Asks for the next turn of a conversation.
pub(super) async fn ask(
    model: &Gemini,
    talk: &Conversation,
    habits: &Habits,
) -> Result<TurnReply, ModelError> {
    let body = body(model, talk, habits);
    let url = if model.stream { &model.urls.stream } else { &model.urls.generate };
    let target = PostTarget { url, is_streamed: model.stream };
    post_conversation::<GeminiTurn>(&model.endpoint, target, &body, talk).await
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GeminiBody<'a> {
    contents: Vec<GeminiContent<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system_instruction: Option<GeminiContent<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<ToolDeclarations<'a>>,
    generation_config: Map<String, Value>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ToolDeclarations<'a> {
    function_declarations: Vec<Declaration<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Declaration<'a> {
    name: &'a str,
    description: &'a str,
    parameters_json_schema: &'a RawValue,
}

#[derive(Serialize)]
struct GeminiContent<'a> {
    role: &'static str,
    parts: Vec<GeminiPart<'a>>,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct GeminiPart<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    function_call: Option<GeminiCall<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    function_response: Option<FunctionResponse<'a>>,
    /// The signature of the thoughts before a call; calls are refused without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    thought_signature: Option<&'a Value>,
}

#[derive(Serialize)]
struct GeminiCall<'a> {
    name: &'a str,
    args: Cow<'a, RawValue>,
}

#[derive(Serialize)]
struct FunctionResponse<'a> {
    name: &'a str,
    response: Value,
}

fn body<'a>(model: &'a Gemini, talk: &'a Conversation, habits: &Habits) -> GeminiBody<'a> {
    let system = talk.valid().filter_map(|message| match message {
        Message::System(text) => Some(text_part(text)),
        _ => None,
    });
    let system: Vec<GeminiPart<'a>> = system.collect();
    let declaration = |function: &'a Callable| Declaration {
        name: &function.name,
        description: &function.description,
        parameters_json_schema: &function.parameters,
    };
    let functions: Vec<Declaration<'a>> = talk.functions.iter().map(declaration).collect();
    let tools =
        (!functions.is_empty()).then_some(ToolDeclarations { function_declarations: functions });
    GeminiBody {
        contents: contents(talk),
        system_instruction: (!system.is_empty())
            .then_some(GeminiContent { role: "user", parts: system }),
        tools: tools.into_iter().collect(),
        generation_config: habits.apply(&model.parameters),
    }
}

fn text_part(text: &str) -> GeminiPart<'_> {
    GeminiPart { text: Some(text), ..GeminiPart::default() }
}

/// Converts the messages. Results of calls are messages of the user here, and consecutive messages
/// of one side are merged.
fn contents(talk: &Conversation) -> Vec<GeminiContent<'_>> {
    let mut contents: Vec<GeminiContent<'_>> = Vec::new();
    for message in talk.valid() {
        let (role, parts) = match message {
            Message::System(_) => continue,
            Message::User { content, .. } => ("user", vec![text_part(content)]),
            Message::Assistant(said) => ("model", parts_of(said)),
            Message::Tool { name, content, .. } => {
                let response = json!({"output": content});
                let function_response = Some(FunctionResponse { name, response });
                ("user", vec![GeminiPart { function_response, ..GeminiPart::default() }])
            }
        };
        match contents.last_mut() {
            Some(last) if last.role == role => last.parts.extend(parts),
            _ if parts.is_empty() => {}
            _ => contents.push(GeminiContent { role, parts }),
        }
    }
    contents
}

fn parts_of(said: &Said) -> Vec<GeminiPart<'_>> {
    let text = said.content.as_deref().map(text_part);
    let calls = said.calls.iter().enumerate().map(|(index, call)| GeminiPart {
        function_call: Some(GeminiCall {
            name: &call.name,
            args: arguments_object(&call.arguments),
        }),
        thought_signature: said.provider.get(index).filter(|signature| !signature.is_null()),
        ..GeminiPart::default()
    });
    text.into_iter().chain(calls).collect()
}

/// A turn, whole or streamed in pieces of the same form.
#[derive(Default)]
struct GeminiTurn {
    words: GeminiReply,
    calls: Vec<Call>,
    signatures: Vec<Value>,
}

/// The calls of a reply, verbatim, so that their arguments keep their order.
#[derive(Deserialize)]
struct RawReply<'t> {
    #[serde(borrow, default)]
    candidates: Vec<RawCandidate<'t>>,
}

#[derive(Deserialize)]
struct RawCandidate<'t> {
    #[serde(borrow, default)]
    content: RawContent<'t>,
}

#[derive(Default, Deserialize)]
struct RawContent<'t> {
    #[serde(borrow, default)]
    parts: Vec<RawPart<'t>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawPart<'t> {
    #[serde(borrow, default)]
    function_call: Option<RawCall<'t>>,
    #[serde(default)]
    thought_signature: Option<String>,
}

#[derive(Deserialize)]
struct RawCall<'t> {
    #[serde(default)]
    id: String,
    #[serde(default)]
    name: String,
    #[serde(borrow, default)]
    args: Option<&'t RawValue>,
}

impl TurnReader for GeminiTurn {
    fn take_whole(&mut self, text: &str) -> Result<(), ModelError> {
        self.take(&read_json(text)?, &read_json(text)?);
        Ok(())
    }

    fn take_event(&mut self, data: &str) -> Result<(), ModelError> {
        self.take(&read_event(data)?, &read_event(data)?);
        Ok(())
    }

    fn finish(self, talk: &Conversation) -> Result<TurnReply, ModelError> {
        let GeminiTurn { words, mut calls, signatures } = self;
        let finish = words.finish.clone().unwrap_or_default();
        let reply = words.finish()?;
        let content = match reply.said {
            Outcome::Text(text) => Some(text).filter(|text| !text.is_empty()),
            Outcome::Declined(why) => {
                return Ok(TurnReply { turn: Err(why), usage: reply.usage });
            }
        };
        talk.name_calls(&mut calls);
        let is_signed = signatures.iter().any(|signature| !signature.is_null());
        let provider = if is_signed { signatures } else { Vec::new() };
        let said = Said { content, calls, provider };
        Ok(TurnReply { turn: Ok(Turn { said, finish }), usage: reply.usage })
    }
}

impl GeminiTurn {
    fn take(&mut self, body: &Value, raw: &RawReply<'_>) {
        self.words.take(body);
        let parts = raw.candidates.first().map_or(&[][..], |first| &first.content.parts);
        for part in parts {
            let Some(call) = &part.function_call else { continue };
            let arguments = call.args.map_or("{}", RawValue::get).to_owned();
            let (id, name) = (call.id.clone(), call.name.clone());
            self.calls.push(Call { id, name, arguments });
            self.signatures.push(json!(part.thought_signature));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn talk(messages: Vec<Message>) -> Conversation {
        let messages = messages.into_iter().map(Arc::new).collect();
        Conversation { purpose: "agent".into(), messages, functions: Vec::new(), repeat: 0 }
    }

    fn said(bodies: &[&str]) -> Said {
        let mut reply = GeminiTurn::default();
        for body in bodies {
            let (value, raw) = (read_json(body).expect("JSON"), read_json(body).expect("JSON"));
            reply.take(&value, &raw);
        }
        reply.finish(&talk(Vec::new())).expect("a reply").turn.expect("a turn").said
    }

    const CALLS: [&str; 2] = [
        r#"{"candidates": [{"content": {"parts": [{"text": "hm", "thought": true}, {"text": "Look."},
            {"functionCall": {"name": "f", "args": {"b": 1, "a": 2}}, "thoughtSignature": "s"}]}}]}"#,
        r#"{"candidates": [{"content": {"parts": [{"functionCall": {"name": "g"}}]}, "finishReason": "STOP"}]}"#,
    ];

    #[test]
    fn calls_are_read_in_order_with_what_seals_them() {
        let said = said(&CALLS);
        assert_eq!(said.content.as_deref(), Some("Look."));
        let calls: Vec<(&str, &str)> =
            said.calls.iter().map(|call| (&*call.id, &*call.arguments)).collect();
        assert_eq!(calls, [("call_0", r#"{"b": 1, "a": 2}"#), ("call_1", "{}")]);
        assert_eq!(said.provider, [json!("s"), json!(null)]);
    }

    #[test]
    fn results_in_a_row_are_one_content() {
        let result = |name: &str| Message::Tool {
            name: name.into(),
            content: "r".into(),
            call_id: String::new(),
        };
        let conversation = talk(vec![
            Message::System("be".into()),
            Message::user("q"),
            Message::Assistant(Said::default()),
            Message::Assistant(said(&CALLS)),
            result("f"),
            result("g"),
        ]);
        let sent = json!(contents(&conversation));
        let part = json!({"functionCall": {"name": "f", "args": {"a": 2, "b": 1}}, "thoughtSignature": "s"});
        assert_eq!(sent[1]["parts"][1], part);
        assert_eq!(sent[1]["parts"][2], json!({"functionCall": {"name": "g", "args": {}}}));
        let response =
            |name: &str| json!({"functionResponse": {"name": name, "response": {"output": "r"}}});
        assert_eq!(sent[2], json!({"role": "user", "parts": [response("f"), response("g")]}));
        assert_eq!(sent.as_array().map(Vec::len), Some(3));
    }
}
