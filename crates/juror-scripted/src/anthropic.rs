//! Anthropic's protocol.

use serde_json::{Value, json};

use crate::answer::{Call, ModelOutput, Turn};
use crate::ask::{Parts, add_texts, only};
use crate::pieces;

pub(crate) fn read(body: &Value) -> Parts<'_> {
    let mut texts = Vec::new();
    add_texts(&body["system"], &mut texts);
    let messages = body["messages"].as_array().into_iter().flatten();
    messages.for_each(|message| add_texts(&message["content"], &mut texts));
    let tools = body["tools"].as_array().into_iter().flatten();
    let functions = tools.filter_map(|tool| tool["name"].as_str()).collect();
    let mut blocks = body["messages"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|message| message["content"].as_array())
        .flatten();
    let has_results = blocks.any(|block| block["type"] == "tool_result");
    let tool = forced_tool(body);
    Parts { texts, tool, functions, has_results, schema_name: None, uses: uses(body) }
}

fn forced_tool(body: &Value) -> Option<&str> {
    let choice = &body["tool_choice"];
    if choice["type"] == "any" {
        return only(&body["tools"])?["name"].as_str();
    }
    choice["name"].as_str()
}

fn uses(body: &Value) -> Vec<&'static str> {
    [
        ("tools", body["tools"].is_array()),
        ("tool_choice", !body["tool_choice"].is_null()),
        ("temperature", !body["temperature"].is_null()),
        ("max_tokens", !body["max_tokens"].is_null()),
        ("stream", body["stream"] == true),
    ]
    .into_iter()
    .filter_map(|(feature, is_used)| is_used.then_some(feature))
    .collect()
}

pub(crate) fn schema<'a>(body: &'a Value, tool: Option<&str>) -> Option<&'a Value> {
    let mut tools = body["tools"].as_array()?.iter();
    tools.find(|found| found["name"].as_str() == tool)?.get("input_schema")
}

/// The reply as one object.
pub(crate) fn whole(turn: &Turn<'_>) -> Value {
    let content = match turn.said {
        ModelOutput::Text(text) | ModelOutput::Refusal(text) => {
            json!([{"type": "text", "text": text}])
        }
        ModelOutput::Nothing => json!([]),
        ModelOutput::Arguments { tool, json } => {
            json!([{"type": "tool_use", "id": call_id(turn), "name": tool, "input": json}])
        }
        ModelOutput::Calls { content, calls } => {
            let text = content.iter().map(|text| json!({"type": "text", "text": text}));
            let uses = calls.iter().enumerate().map(|(index, call)| {
                let mut block = tool_use(turn, index, call);
                block["input"] =
                    serde_json::from_str(&call.arguments).unwrap_or_else(|_| json!(call.arguments));
                block
            });
            text.chain(uses).collect()
        }
    };
    let mut message = envelope(turn);
    message["content"] = content;
    message["stop_reason"] = json!(stop_reason(turn));
    message["usage"] = usage(turn, turn.usage.completion_tokens);
    message
}

/// The reply as a stream of events.
pub(crate) fn events(turn: &Turn<'_>) -> Vec<String> {
    let mut start = envelope(turn);
    start["usage"] = usage(turn, 1);
    let mut events =
        vec![event("message_start", json!({"message": start})), event("ping", json!({}))];
    match turn.said {
        ModelOutput::Text(text) | ModelOutput::Refusal(text) => {
            let block = json!({"type": "text", "text": ""});
            add_block(&mut events, 0, &block, text, text_delta);
        }
        ModelOutput::Arguments { tool, json } => {
            let block = json!({"type": "tool_use", "id": call_id(turn), "name": tool, "input": {}});
            add_block(&mut events, 0, &block, &json.to_string(), input_delta);
        }
        ModelOutput::Calls { content, calls } => {
            if let Some(text) = content {
                let block = json!({"type": "text", "text": ""});
                add_block(&mut events, 0, &block, text, text_delta);
            }
            let before = usize::from(content.is_some());
            for (index, call) in calls.iter().enumerate() {
                let block = tool_use(turn, index, call);
                add_block(&mut events, before + index, &block, &call.arguments, input_delta);
            }
        }
        ModelOutput::Nothing => {}
    }
    let end = json!({
        "delta": {"stop_reason": stop_reason(turn), "stop_sequence": null},
        "usage": {"output_tokens": turn.usage.completion_tokens},
    });
    events.push(event("message_delta", end));
    events.push(event("message_stop", json!({})));
    events
}

fn text_delta(text: &str) -> Value {
    json!({"type": "text_delta", "text": text})
}

fn input_delta(text: &str) -> Value {
    json!({"type": "input_json_delta", "partial_json": text})
}

/// A call without its input.
fn tool_use(turn: &Turn<'_>, index: usize, call: &Call) -> Value {
    let id = call.id.clone().unwrap_or_else(|| format!("{}_{index}", call_id(turn)));
    json!({"type": "tool_use", "id": id, "name": call.name, "input": {}})
}

fn add_block(
    events: &mut Vec<String>,
    index: usize,
    block: &Value,
    text: &str,
    delta: fn(&str) -> Value,
) {
    events.push(event("content_block_start", json!({"index": index, "content_block": block})));
    for piece in pieces::of_text(text) {
        events.push(event("content_block_delta", json!({"index": index, "delta": delta(piece)})));
    }
    events.push(event("content_block_stop", json!({"index": index})));
}

fn event(name: &str, mut data: Value) -> String {
    data["type"] = json!(name);
    format!("event: {name}\ndata: {data}\n\n")
}

fn envelope(turn: &Turn<'_>) -> Value {
    json!({
        "id": format!("msg_{}", turn.number),
        "type": "message",
        "role": "assistant",
        "model": turn.ask.model,
        "content": [],
        "stop_reason": null,
        "stop_sequence": null,
    })
}

fn call_id(turn: &Turn<'_>) -> String {
    format!("toolu_{}", turn.number)
}

fn stop_reason(turn: &Turn<'_>) -> &'static str {
    match turn.said {
        ModelOutput::Text(_) | ModelOutput::Nothing => "end_turn",
        ModelOutput::Refusal(_) => "refusal",
        ModelOutput::Arguments { .. } | ModelOutput::Calls { .. } => "tool_use",
    }
}

fn usage(turn: &Turn<'_>, output: u64) -> Value {
    json!({"input_tokens": turn.usage.prompt_tokens, "output_tokens": output})
}
