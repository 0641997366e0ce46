//! OpenTelemetry's GenAI conventions in three generations, and what all dialects of spans share.

use serde_json::{Value, json};

use crate::messages::{chat_call, chat_record};
use crate::story::{Event, Reply, Teller};

pub(crate) const TELLERS: &[Teller] = &[
    Teller::new("GenAI", genai),
    Teller::new("GenAI", genai_bare).shape("without contents in spans of tools"),
    Teller::new("GenAI", events).shape("events before v1.37"),
    Teller::new("OTLP", records).shape("log records before v1.37").without_failures(),
    Teller::new("OTLP", details).shape("log records of details").without_failures(),
];

/// Something that took time.
pub(crate) struct Span {
    pub(crate) id: String,
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) what: What,
}

pub(crate) enum What {
    /// A model, with everything that was said before, and what it gave.
    Model {
        given: Vec<Event>,
        gave: Event,
    },
    Tool(Reply),
}

/// Returns the spans of a story as they end: the order in which exporters write them.
pub(crate) fn spans(story: &[Event]) -> Vec<Span> {
    let (mut given, mut spans, mut clock) = (Vec::new(), Vec::new(), 0);
    let mut started: Vec<(&str, u64)> = Vec::new();
    for event in story {
        clock += 10;
        match event {
            Event::Calls(_) | Event::Say(_) => {
                let what = What::Model { given: given.clone(), gave: event.clone() };
                spans.push(Span { id: format!("m{clock}"), start: clock, end: clock + 1, what });
            }
            Event::Result(reply) => {
                let start = started.iter().find(|(id, _)| *id == reply.call.id).expect("a call").1;
                let what = What::Tool(reply.clone());
                spans.push(Span { id: format!("s{}", reply.call.id), start, end: clock, what });
            }
            Event::Tools | Event::Ask(_) => {}
        }
        if let Event::Calls(calls) = event {
            started.extend(calls.iter().zip(clock + 2..).map(|(call, at)| (call.id, at)));
        }
        given.push(event.clone());
    }
    spans
}

/// The second of a span's time, as nanoseconds.
pub(crate) fn nanoseconds(second: u64) -> String {
    format!("{}", (1_785_578_400 + second) * 1_000_000_000)
}

/// The second of a span's time, as a text.
pub(crate) fn iso(second: u64) -> String {
    format!("2026-08-01T10:{:02}:{:02}Z", second / 60, second % 60)
}

fn any(value: &Value) -> Value {
    match value {
        Value::String(text) => json!({"stringValue": text}),
        Value::Bool(bool) => json!({"boolValue": bool}),
        Value::Number(number) => json!({"intValue": number.to_string()}),
        Value::Array(items) => {
            json!({"arrayValue": {"values": items.iter().map(any).collect::<Vec<_>>()}})
        }
        Value::Object(_) => json!({"kvlistValue": {"values": pairs(value)}}),
        Value::Null => json!({}),
    }
}

pub(crate) fn pairs(object: &Value) -> Value {
    let pairs = object.as_object().expect("an object").iter();
    pairs.map(|(key, value)| json!({"key": key, "value": any(value)})).collect()
}

/// A span as OTLP writes it.
pub(crate) fn otlp_span(
    span: &Span,
    name: &str,
    attributes: &Value,
    events: &[(&str, Value)],
) -> Value {
    let events: Vec<Value> = events
        .iter()
        .map(|(name, given)| json!({"name": name, "attributes": pairs(given)}))
        .collect();
    let status = match &span.what {
        What::Tool(reply) if reply.fails => json!({"code": 2, "message": reply.text()}),
        _ => json!({}),
    };
    json!({"traceId": "t1", "spanId": span.id, "parentSpanId": "root", "name": name, "startTimeUnixNano": nanoseconds(span.start),
        "endTimeUnixNano": nanoseconds(span.end), "attributes": pairs(attributes), "events": events, "status": status})
}

/// An envelope with spans below an agent's.
pub(crate) fn envelope(mut spans: Vec<Value>, root: &Value) -> String {
    spans.push(json!({"traceId": "t1", "spanId": "root", "name": "invoke_agent garden", "startTimeUnixNano": nanoseconds(0),
        "endTimeUnixNano": nanoseconds(900), "attributes": pairs(root)}));
    json!({"resourceSpans": [{"scopeSpans": [{"scope": {"name": "mine"}, "spans": spans}]}]})
        .to_string()
}

fn agent() -> Value {
    json!({"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "garden"})
}

/// A message of parts.
fn parts(event: &Event) -> Option<Value> {
    let message = |role: &str, parts: Vec<Value>| Some(json!({"role": role, "parts": parts}));
    match event {
        Event::Tools => None,
        Event::Ask(text) => message("user", vec![json!({"type": "text", "content": text})]),
        Event::Calls(calls) => {
            let call = calls.iter().map(|call| {
                json!({"type": "tool_call", "id": call.id, "name": call.name, "arguments": call.args})
            });
            message("assistant", call.collect())
        }
        Event::Result(reply) => message(
            "tool",
            vec![
                json!({"type": "tool_call_response", "id": reply.call.id, "response": reply.content}),
            ],
        ),
        Event::Say(text) => message("assistant", vec![json!({"type": "text", "content": text})]),
    }
}

fn genai_model(given: &[Event], gave: &Event) -> Value {
    let given: Vec<Value> = given.iter().filter_map(parts).collect();
    json!({"gen_ai.operation.name": "chat", "gen_ai.input.messages": Value::Array(given).to_string(),
        "gen_ai.output.messages": json!([parts(gave)]).to_string(),
        "gen_ai.tool.definitions": "[{\"type\":\"function\",\"name\":\"weather\"}]"})
}

fn genai_tool(reply: &Reply) -> Value {
    json!({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": reply.call.name, "gen_ai.tool.call.id": reply.call.id})
}

fn genai(story: &[Event]) -> String {
    let write = |span: &Span| match &span.what {
        What::Model { given, gave } => otlp_span(span, "chat m", &genai_model(given, gave), &[]),
        What::Tool(reply) => {
            let mut attributes = genai_tool(reply);
            attributes["gen_ai.tool.call.arguments"] = json!(reply.call.args_text());
            if !reply.fails {
                attributes["gen_ai.tool.call.result"] = reply.content.clone();
            }
            otlp_span(span, &format!("execute_tool {}", reply.call.name), &attributes, &[])
        }
    };
    envelope(spans(story).iter().map(write).collect(), &agent())
}

fn genai_bare(story: &[Event]) -> String {
    let write = |span: &Span| match &span.what {
        What::Model { given, gave } => otlp_span(span, "chat m", &genai_model(given, gave), &[]),
        What::Tool(reply) => otlp_span(span, "execute_tool", &genai_tool(reply), &[]),
    };
    envelope(spans(story).iter().map(write).collect(), &agent())
}

/// The events of a model before v1.37, as names and bodies.
fn old_events(given: &[Event], gave: &Event) -> Vec<(&'static str, Value)> {
    let mut events: Vec<(&'static str, Value)> = Vec::new();
    for event in given {
        match event {
            Event::Tools => {}
            Event::Ask(text) => events.push(("gen_ai.user.message", json!({"content": text}))),
            Event::Calls(calls) => {
                let calls: Vec<Value> = calls.iter().map(chat_call).collect();
                events.push(("gen_ai.assistant.message", json!({"tool_calls": calls})));
            }
            Event::Result(reply) => events.push((
                "gen_ai.tool.message",
                json!({"id": reply.call.id, "content": reply.text()}),
            )),
            Event::Say(text) => events.push(("gen_ai.assistant.message", json!({"content": text}))),
        }
    }
    let message = chat_record(gave).remove(0);
    events
        .push(("gen_ai.choice", json!({"index": 0, "finish_reason": "stop", "message": message})));
    events
}

const OLD_MODEL: &str = r#"{"gen_ai.system": "openai", "gen_ai.operation.name": "chat"}"#;

fn old_model() -> Value {
    serde_json::from_str(OLD_MODEL).expect("JSON")
}

fn events(story: &[Event]) -> String {
    // The values of a span's attributes are no objects.
    let flat = |mut body: Value| {
        for value in body.as_object_mut().expect("an object").values_mut() {
            if value.is_object() || value.is_array() {
                *value = json!(value.to_string());
            }
        }
        body
    };
    let write = |span: &Span| match &span.what {
        What::Model { given, gave } => {
            let events = old_events(given, gave);
            let events: Vec<_> =
                events.into_iter().map(|(name, body)| (name, flat(body))).collect();
            otlp_span(span, "chat m", &old_model(), &events)
        }
        What::Tool(reply) => otlp_span(span, "execute_tool", &genai_tool(reply), &[]),
    };
    envelope(spans(story).iter().map(write).collect(), &agent())
}

fn logs(records: &[Value]) -> String {
    json!({"resourceLogs": [{"scopeLogs": [{"logRecords": records}]}]}).to_string()
}

fn record(span: &Span, name: &str, body: &Value, attributes: &Value) -> Value {
    json!({"traceId": "t1", "spanId": span.id, "eventName": name, "timeUnixNano": nanoseconds(span.start), "body": any(body), "attributes": pairs(attributes)})
}

fn records(story: &[Event]) -> String {
    let mut all = Vec::new();
    for span in spans(story) {
        if let What::Model { given, gave } = &span.what {
            let events = old_events(given, gave);
            all.extend(events.iter().map(|(name, body)| record(&span, name, body, &json!({}))));
        }
    }
    logs(&all)
}

fn details(story: &[Event]) -> String {
    let mut all = Vec::new();
    for span in spans(story) {
        if let What::Model { given, gave } = &span.what {
            let given: Vec<Value> = given.iter().filter_map(parts).collect();
            let attributes =
                json!({"gen_ai.input.messages": given, "gen_ai.output.messages": [parts(gave)]});
            let name = "gen_ai.client.inference.operation.details";
            all.push(record(&span, name, &Value::Null, &attributes));
        }
    }
    logs(&all)
}
