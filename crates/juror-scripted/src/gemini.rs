//! The protocol of Google's Gemini.

use serde_json::{Value, json};

use crate::answer::{ModelOutput, Turn};
use crate::ask::{Parts, add_texts};
use crate::endpoint::Endpoint;
use crate::pieces;
use crate::seen::RequestKind;

pub(crate) fn read<'a>(endpoint: &Endpoint<'_>, body: &'a Value) -> Parts<'a> {
    let mut texts = Vec::new();
    match endpoint.kind {
        RequestKind::Embeddings => {
            let requests = body["requests"].as_array().into_iter().flatten();
            requests.for_each(|request| add_texts(&request["content"]["parts"], &mut texts));
        }
        RequestKind::Chat => {
            // This protocol accepts both spellings everywhere.
            add_texts(&body["systemInstruction"]["parts"], &mut texts);
            add_texts(&body["system_instruction"]["parts"], &mut texts);
            let contents = body["contents"].as_array().into_iter().flatten();
            contents.for_each(|content| add_texts(&content["parts"], &mut texts));
        }
    }
    let schema_name = schema(body).and_then(|schema| schema["title"].as_str());
    let tools = body["tools"].as_array().into_iter().flatten();
    let functions = tools
        .filter_map(|tool| tool["functionDeclarations"].as_array())
        .flatten()
        .filter_map(|function| function["name"].as_str())
        .collect();
    let mut parts = body["contents"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|content| content["parts"].as_array())
        .flatten();
    let has_results = parts.any(|part| part.get("functionResponse").is_some());
    let uses = uses(endpoint, body);
    Parts { texts, tool: None, functions, has_results, schema_name, uses }
}

fn uses(endpoint: &Endpoint<'_>, body: &Value) -> Vec<&'static str> {
    let config = &body["generationConfig"];
    let is_json = config["responseMimeType"] == "application/json";
    [
        ("json_schema", schema(body).is_some()),
        ("json_object", is_json && schema(body).is_none()),
        ("tools", body["tools"].is_array()),
        ("temperature", !config["temperature"].is_null()),
        ("max_tokens", !config["maxOutputTokens"].is_null()),
        ("stream", endpoint.stream.is_some()),
    ]
    .into_iter()
    .filter_map(|(feature, is_used)| is_used.then_some(feature))
    .collect()
}

pub(crate) fn schema(body: &Value) -> Option<&Value> {
    let config = &body["generationConfig"];
    config.get("responseSchema").or_else(|| config.get("responseJsonSchema"))
}

/// The reply as one object.
pub(crate) fn whole(turn: &Turn<'_>) -> Value {
    match turn.said {
        ModelOutput::Text(text) => chunk(turn, Some(text), Some("STOP")),
        ModelOutput::Arguments { json, .. } => chunk(turn, Some(&json.to_string()), Some("STOP")),
        ModelOutput::Nothing => chunk(turn, None, Some("STOP")),
        ModelOutput::Calls { .. } => match calls(turn) {
            Some(parts) => of_parts(turn, &parts, Some("STOP")),
            None => chunk(turn, None, Some("MALFORMED_FUNCTION_CALL")),
        },
        ModelOutput::Refusal(text) => {
            let candidate = json!({"finishReason": "SAFETY", "finishMessage": text, "index": 0});
            envelope(turn, &candidate)
        }
    }
}

/// The parts of a reply that calls functions, or `None` if arguments are not JSON, which this
/// provider would not pass on. The first call is signed, and clients have to return the signature.
fn calls(turn: &Turn<'_>) -> Option<Vec<Value>> {
    let ModelOutput::Calls { content, calls } = turn.said else { return None };
    let mut parts: Vec<Value> = content.iter().map(|text| json!({"text": text})).collect();
    for (index, call) in calls.iter().enumerate() {
        let arguments: Value = serde_json::from_str(&call.arguments).ok()?;
        let mut part = json!({"functionCall": {"name": call.name, "args": arguments}});
        if let Some(id) = &call.id {
            part["functionCall"]["id"] = json!(id);
        }
        if index == 0 {
            part["thoughtSignature"] = json!(format!("signature-{}", turn.number));
        }
        parts.push(part);
    }
    Some(parts)
}

/// The reply as a list of objects, each with part of the text.
pub(crate) fn chunks(turn: &Turn<'_>) -> Vec<Value> {
    if let Some(parts) = calls(turn) {
        let n_parts = parts.len();
        let end = |at: usize| (at + 1 == n_parts).then_some("STOP");
        let parts = parts.into_iter().enumerate();
        return parts.map(|(at, part)| of_parts(turn, &[part], end(at))).collect();
    }
    let ModelOutput::Text(text) = turn.said else {
        return vec![whole(turn)];
    };
    let pieces = pieces::of_text(text);
    let n_pieces = pieces.len();
    let is_last = |at: usize| at + 1 == n_pieces;
    pieces
        .into_iter()
        .enumerate()
        .map(|(at, piece)| chunk(turn, Some(piece), is_last(at).then_some("STOP")))
        .collect()
}

/// The reply as a stream of events.
pub(crate) fn events(turn: &Turn<'_>) -> Vec<String> {
    chunks(turn).into_iter().map(|chunk| format!("data: {chunk}\r\n\r\n")).collect()
}

fn chunk(turn: &Turn<'_>, text: Option<&str>, end: Option<&str>) -> Value {
    let part = text.map(|text| json!({"text": text}));
    of_parts(turn, part.as_slice(), end)
}

fn of_parts(turn: &Turn<'_>, parts: &[Value], end: Option<&str>) -> Value {
    let mut content = json!({"role": "model"});
    if !parts.is_empty() {
        content["parts"] = json!(parts);
    }
    let mut candidate = json!({"content": content, "index": 0});
    if let Some(end) = end {
        candidate["finishReason"] = json!(end);
    }
    envelope(turn, &candidate)
}

fn envelope(turn: &Turn<'_>, candidate: &Value) -> Value {
    let (prompt, completion) = (turn.usage.prompt_tokens, turn.usage.completion_tokens);
    json!({
        "candidates": [candidate],
        "usageMetadata": {
            "promptTokenCount": prompt,
            "candidatesTokenCount": completion,
            "totalTokenCount": prompt + completion,
        },
        "modelVersion": turn.ask.model,
        "responseId": format!("reply-{}", turn.number),
    })
}

/// The response with embeddings.
pub(crate) fn embeddings(vectors: &[Vec<f64>], tokens: u64) -> Value {
    let embeddings: Vec<Value> = vectors.iter().map(|vector| json!({"values": vector})).collect();
    let mut reply = json!({"embeddings": embeddings});
    // Most models omit the tokens.
    if tokens > 0 {
        reply["usageMetadata"] = json!({"promptTokenCount": tokens});
    }
    reply
}
