//! Logs whose records are lines: sessions of coding agents.

use serde_json::{Value, json};

use crate::messages::records;
use crate::story::{Event, Teller, lines};

pub(crate) const TELLERS: &[Teller] =
    &[Teller::new("Claude Code session", claude_code), Teller::new("Codex session", codex)];

fn claude_code(story: &[Event]) -> String {
    let line = |role: &str, content: Value| {
        vec![
            json!({"type": role, "sessionId": "s1", "uuid": "u", "timestamp": "2026-08-01T10:00:01Z", "message": {"role": role, "content": content}}),
        ]
    };
    lines(&records(story, |event| {
        match event {
        Event::Tools => vec![json!({"type": "system", "sessionId": "s1", "uuid": "u", "content": "tools: weather"})],
        Event::Ask(text) => line("user", json!(text)),
        // Each block of a message is a line.
        Event::Calls(calls) => calls
            .iter()
            .flat_map(|call| {
                line("assistant", json!([{"type": "tool_use", "id": call.id, "name": call.name, "input": call.args}]))
            })
            .collect(),
        Event::Result(reply) => {
            let result = json!({"type": "tool_result", "tool_use_id": reply.call.id, "content": reply.text(), "is_error": reply.fails});
            line("user", json!([result]))
        }
        Event::Say(text) => line("assistant", json!([{"type": "text", "text": text}])),
    }
    }))
}

fn codex(story: &[Event]) -> String {
    let line = |payload: Value| json!({"timestamp": "2026-08-01T10:00:01Z", "type": "response_item", "payload": payload});
    let message = |role: &str, kind: &str, text: &str| {
        vec![line(
            json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]}),
        )]
    };
    lines(&records(story, |event| {
        match event {
        Event::Tools => vec![json!({"timestamp": "2026-08-01T10:00:00Z", "type": "turn_context", "payload": {"tools": ["weather"]}})],
        Event::Ask(text) => message("user", "input_text", text),
        Event::Calls(calls) => calls
            .iter()
            .map(|call| {
                line(json!({"type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.args_text()}))
            })
            .collect(),
        Event::Result(reply) => {
            let output = json!({"output": reply.text(), "metadata": {"exit_code": i32::from(reply.fails)}});
            vec![line(json!({"type": "function_call_output", "call_id": reply.call.id, "output": output.to_string()}))]
        }
        Event::Say(text) => message("assistant", "output_text", text),
    }
    }))
}
