//! OpenInference: flat attributes of OTLP, and nested ones of Phoenix.

use serde_json::{Map, Value, json};

use crate::otlp::{Span, What, envelope, iso, otlp_span, spans};
use crate::story::{Call, Event, Reply, Teller};

pub(crate) const TELLERS: &[Teller] = &[
    Teller::new("OpenInference", flat),
    Teller::new("OpenInference", contents).shape("ordered contents"),
    Teller::new("Phoenix spans", nested).shape("nested"),
    Teller::new("Phoenix spans", rows).shape("flat"),
];

fn tool_call(call: &Call) -> Value {
    json!({"tool_call": {"id": call.id, "function": {"name": call.name, "arguments": call.args_text()}}})
}

fn message(event: &Event, is_ordered: bool) -> Option<Value> {
    let said = match event {
        Event::Tools => return None,
        Event::Ask(text) => json!({"role": "user", "content": text}),
        Event::Calls(calls) if is_ordered => {
            let uses = calls.iter().map(|call| {
                let mut content = tool_call(call);
                content["message_content"] = json!({"type": "tool_use"});
                content
            });
            let text = json!({"message_content": {"type": "text", "text": "Let me see."}});
            let contents: Vec<Value> = std::iter::once(text).chain(uses).collect();
            json!({"role": "assistant", "contents": contents})
        }
        Event::Calls(calls) => {
            json!({"role": "assistant", "tool_calls": calls.iter().map(tool_call).collect::<Vec<_>>()})
        }
        Event::Result(reply) => {
            json!({"role": "tool", "tool_call_id": reply.call.id, "content": reply.text()})
        }
        Event::Say(text) => json!({"role": "assistant", "content": text}),
    };
    Some(json!({"message": said}))
}

/// The attributes of a span, nested.
fn attributes(span: &Span, is_ordered: bool) -> Value {
    match &span.what {
        What::Model { given, gave } => {
            let given: Vec<Value> =
                given.iter().filter_map(|event| message(event, is_ordered)).collect();
            let tools = json!([{"tool": {"json_schema": "{\"type\": \"function\", \"name\": \"weather\"}"}}]);
            json!({"openinference": {"span": {"kind": "LLM"}}, "llm": {"input_messages": given, "output_messages": [message(gave, is_ordered)], "tools": tools}})
        }
        What::Tool(reply) => tool(reply),
    }
}

fn tool(reply: &Reply) -> Value {
    let mime = if reply.content.is_string() { "text/plain" } else { "application/json" };
    // By the convention the parameters are the tool's, not the call's.
    let parameters = "{\"type\": \"object\", \"properties\": {\"n\": {\"type\": \"integer\"}}}";
    let mut attributes = json!({"openinference": {"span": {"kind": "TOOL"}},
        "tool": {"name": reply.call.name, "parameters": parameters}, "tool_call": {"id": reply.call.id},
        "input": {"value": reply.call.args_text(), "mime_type": "application/json"}});
    if !reply.fails {
        attributes["output"] = json!({"value": reply.text(), "mime_type": mime});
    }
    attributes
}

/// Joins keys by dots, and numbers the items of lists.
fn flatten(key: &str, value: &Value, flat: &mut Map<String, Value>) {
    let below = |part: &str| if key.is_empty() { part.to_owned() } else { format!("{key}.{part}") };
    match value {
        Value::Object(object) => {
            object.iter().for_each(|(part, value)| flatten(&below(part), value, flat));
        }
        Value::Array(items) => {
            items
                .iter()
                .enumerate()
                .for_each(|(at, value)| flatten(&below(&at.to_string()), value, flat));
        }
        Value::Null => {}
        _ => drop(flat.insert(key.to_owned(), value.clone())),
    }
}

fn flattened(value: &Value) -> Value {
    let mut flat = Map::new();
    flatten("", value, &mut flat);
    Value::Object(flat)
}

fn in_otlp(story: &[Event], is_ordered: bool) -> String {
    let write =
        |span: &Span| otlp_span(span, "SimpleTool", &flattened(&attributes(span, is_ordered)), &[]);
    let root = json!({"openinference.span.kind": "AGENT"});
    envelope(spans(story).iter().map(write).collect(), &root)
}

fn flat(story: &[Event]) -> String {
    in_otlp(story, false)
}

fn contents(story: &[Event]) -> String {
    in_otlp(story, true)
}

fn exported(story: &[Event], shape: fn(&Value) -> Value) -> String {
    let write = |span: &Span| {
        let (code, why) = match &span.what {
            What::Tool(reply) if reply.fails => ("ERROR", reply.text()),
            _ => ("OK", String::new()),
        };
        json!({"name": "SimpleTool", "context": {"trace_id": "t1", "span_id": span.id}, "parent_id": null, "start_time": iso(span.start),
            "end_time": iso(span.end), "status_code": code, "status_message": why, "attributes": shape(&attributes(span, false)), "events": []})
    };
    Value::Array(spans(story).iter().map(write).collect()).to_string()
}

fn nested(story: &[Event]) -> String {
    exported(story, Value::clone)
}

fn rows(story: &[Event]) -> String {
    exported(story, flattened)
}
