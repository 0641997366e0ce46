//! The protocol of `OpenAI`. Azure's differs only in paths, keys and some errors.

use serde_json::{Value, json};

use crate::answer::{Call, ModelOutput, Turn};
use crate::ask::{Ask, Parts, add_texts, only};
use crate::embedding::base64;
use crate::pieces;
use crate::seen::RequestKind;

/// The creation time of every reply: constant, so that replies can be compared.
const CREATED: u64 = 1_700_000_000;

pub(crate) fn read(kind: RequestKind, body: &Value) -> Parts<'_> {
    let mut texts = Vec::new();
    match kind {
        RequestKind::Embeddings => add_texts(&body["input"], &mut texts),
        RequestKind::Chat => {
            let messages = body["messages"].as_array().into_iter().flatten();
            messages.for_each(|message| add_texts(&message["content"], &mut texts));
        }
    }
    let schema_name = body["response_format"]["json_schema"]["name"].as_str();
    let tools = body["tools"].as_array().into_iter().flatten();
    let functions = tools.filter_map(|tool| tool["function"]["name"].as_str()).collect();
    let mut messages = body["messages"].as_array().into_iter().flatten();
    let has_results = messages.any(|message| message["role"] == "tool");
    Parts { texts, tool: forced_tool(body), functions, has_results, schema_name, uses: uses(body) }
}

fn forced_tool(body: &Value) -> Option<&str> {
    let choice = &body["tool_choice"];
    if choice == "required" {
        return only(&body["tools"])?["function"]["name"].as_str();
    }
    choice["function"]["name"].as_str()
}

fn uses(body: &Value) -> Vec<&'static str> {
    let format = &body["response_format"]["type"];
    [
        ("json_schema", format == "json_schema"),
        ("json_object", format == "json_object"),
        ("tools", body["tools"].is_array()),
        ("tool_choice", !body["tool_choice"].is_null()),
        ("parallel_tool_calls", !body["parallel_tool_calls"].is_null()),
        ("temperature", !body["temperature"].is_null()),
        ("max_tokens", !body["max_tokens"].is_null()),
        ("max_completion_tokens", !body["max_completion_tokens"].is_null()),
        ("stream", body["stream"] == true),
        ("encoding_format", !body["encoding_format"].is_null()),
    ]
    .into_iter()
    .filter_map(|(feature, is_used)| is_used.then_some(feature))
    .collect()
}

pub(crate) fn schema<'a>(body: &'a Value, tool: Option<&str>) -> Option<&'a Value> {
    let of_format = body["response_format"]["json_schema"].get("schema");
    of_format.or_else(|| {
        let mut functions = body["tools"].as_array()?.iter().map(|tool| &tool["function"]);
        functions.find(|function| function["name"].as_str() == tool)?.get("parameters")
    })
}

/// The reply as one object.
pub(crate) fn whole(turn: &Turn<'_>) -> Value {
    let mut message = json!({"role": "assistant", "content": null, "refusal": null});
    match turn.said {
        ModelOutput::Text(text) => message["content"] = json!(text),
        ModelOutput::Nothing => message["content"] = json!(""),
        ModelOutput::Refusal(text) => message["refusal"] = json!(text),
        ModelOutput::Arguments { tool, json } => {
            message["tool_calls"] = json!([{
                "id": call_id(turn),
                "type": "function",
                "function": {"name": tool, "arguments": json.to_string()},
            }]);
        }
        ModelOutput::Calls { content, calls } => {
            message["content"] = json!(content);
            let call = |(index, call): (usize, &Call)| {
                let function = json!({"name": call.name, "arguments": call.arguments});
                json!({"id": id_of(turn, index, call), "type": "function", "function": function})
            };
            message["tool_calls"] = calls.iter().enumerate().map(call).collect();
        }
    }
    let mut reply = envelope(turn, "chat.completion");
    // If a tool was forced, the reason is `stop`, not `tool_calls`.
    reply["choices"] =
        json!([{"index": 0, "message": message, "logprobs": null, "finish_reason": end(turn)}]);
    reply["usage"] = usage(turn);
    reply
}

/// The reply as a stream of events.
pub(crate) fn events(turn: &Turn<'_>) -> Vec<String> {
    let with_usage = turn.body["stream_options"]["include_usage"] == true;
    let event = |choices: Value, usage: Value| {
        let mut chunk = envelope(turn, "chat.completion.chunk");
        chunk["choices"] = choices;
        if with_usage {
            chunk["usage"] = usage;
        }
        format!("data: {chunk}\n\n")
    };
    let delta = |delta: Value, end: Value| {
        let choice = json!({"index": 0, "delta": delta, "logprobs": null, "finish_reason": end});
        event(json!([choice]), Value::Null)
    };
    let mut events: Vec<String> =
        deltas(turn).into_iter().map(|part| delta(part, Value::Null)).collect();
    events.push(delta(json!({}), json!(end(turn))));
    if with_usage {
        events.push(event(json!([]), usage(turn)));
    }
    events.push("data: [DONE]\n\n".to_owned());
    events
}

fn deltas(turn: &Turn<'_>) -> Vec<Value> {
    let spoken = |field: &str, text: &str| {
        let mut deltas = vec![json!({"role": "assistant", "content": "", "refusal": null})];
        deltas.extend(pieces::of_text(text).into_iter().map(|piece| json!({field: piece})));
        deltas
    };
    match turn.said {
        ModelOutput::Text(text) => spoken("content", text),
        ModelOutput::Refusal(text) => spoken("refusal", text),
        ModelOutput::Nothing => spoken("content", ""),
        ModelOutput::Calls { content, calls } => {
            let mut deltas = spoken("content", content.as_deref().unwrap_or_default());
            deltas.extend(call_deltas(turn, calls));
            deltas
        }
        ModelOutput::Arguments { tool, json } => {
            let call = json!([{
                "index": 0,
                "id": call_id(turn),
                "type": "function",
                "function": {"name": tool, "arguments": ""},
            }]);
            let mut deltas =
                vec![json!({"role": "assistant", "content": null, "tool_calls": call})];
            deltas.extend(pieces::of_text(&json.to_string()).into_iter().map(
                |piece| json!({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]}),
            ));
            deltas
        }
    }
}

/// Calls start together and continue in turns; clients have to keep them apart.
fn call_deltas(turn: &Turn<'_>, calls: &[Call]) -> Vec<Value> {
    let begin = |(index, call): (usize, &Call)| {
        let function = json!({"name": call.name, "arguments": ""});
        let id = id_of(turn, index, call);
        json!({"tool_calls": [{"index": index, "id": id, "type": "function", "function": function}]})
    };
    let mut deltas: Vec<Value> = calls.iter().enumerate().map(begin).collect();
    let pieces: Vec<Vec<&str>> =
        calls.iter().map(|call| pieces::of_text(&call.arguments)).collect();
    for round in 0..pieces.iter().map(Vec::len).max().unwrap_or_default() {
        for (index, pieces) in pieces.iter().enumerate() {
            deltas.extend(pieces.get(round).map(
                |piece| json!({"tool_calls": [{"index": index, "function": {"arguments": piece}}]}),
            ));
        }
    }
    deltas
}

fn id_of(turn: &Turn<'_>, index: usize, call: &Call) -> String {
    call.id.clone().unwrap_or_else(|| format!("{}_{index}", call_id(turn)))
}

fn end(turn: &Turn<'_>) -> &'static str {
    if matches!(turn.said, ModelOutput::Calls { .. }) { "tool_calls" } else { "stop" }
}

fn envelope(turn: &Turn<'_>, object: &str) -> Value {
    json!({
        "id": format!("chatcmpl-{}", turn.number),
        "object": object,
        "created": CREATED,
        "model": turn.ask.model,
        "system_fingerprint": null,
    })
}

fn call_id(turn: &Turn<'_>) -> String {
    format!("call_{}", turn.number)
}

fn usage(turn: &Turn<'_>) -> Value {
    let (prompt, completion) = (turn.usage.prompt_tokens, turn.usage.completion_tokens);
    json!({
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
    })
}

/// The response with embeddings.
pub(crate) fn embeddings(ask: &Ask, body: &Value, vectors: &[Vec<f64>], tokens: u64) -> Value {
    let is_base64 = body["encoding_format"] == "base64";
    let data: Vec<Value> = vectors
        .iter()
        .enumerate()
        .map(|(index, vector)| {
            let embedding = if is_base64 { json!(base64(vector)) } else { json!(vector) };
            json!({"object": "embedding", "index": index, "embedding": embedding})
        })
        .collect();
    json!({
        "object": "list",
        "data": data,
        "model": ask.model,
        "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
    })
}
