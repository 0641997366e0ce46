//! Sessions of Codex: items of responses, a line each, in envelopes.

use serde_json::Value;

use super::responses;
use crate::look;
use crate::outcome::Outcome;
use crate::time::nanoseconds;
use crate::transcript::{Transcript, usage_of};

/// What Codex itself says in the name of the user.
const NOT_ASKED: [&str; 4] =
    ["<environment_context>", "<user_instructions>", "# AGENTS.md", "<permissions"];

/// Whether a record is one of this dialect.
pub(crate) fn is_record(item: &Value) -> bool {
    let kinds = ["session_meta", "response_item", "event_msg", "turn_context", "compacted"];
    look::has(item, "payload") && look::text(item, "type").is_some_and(|kind| kinds.contains(&kind))
}

/// Reads one line.
pub(crate) fn read_item(transcript: &mut Transcript, item: &Value, pointer: &str) {
    let payload = item.get("payload").unwrap_or(&Value::Null);
    let time = look::get(item, "timestamp").and_then(nanoseconds);
    transcript.started = transcript.started.or(time);
    transcript.ended = time.or(transcript.ended);
    match look::text(item, "type") {
        Some("session_meta") => {
            transcript.other_ids.extend(look::words(payload, "id").map(str::to_owned));
        }
        Some("response_item") => read_payload(transcript, payload, time, pointer),
        Some("event_msg") => read_event(transcript, payload),
        Some(kind) => transcript.leave_out(format!("line `{kind}`: no item")),
        None => {}
    }
}

fn read_payload(transcript: &mut Transcript, payload: &Value, time: Option<u64>, pointer: &str) {
    let (n_calls, n_results) = (transcript.calls.len(), transcript.results.len());
    let n_questions = transcript.questions.len();
    responses::read_item(transcript, payload, &format!("{pointer}/payload"));
    let is_asked = |text: &String| !NOT_ASKED.iter().any(|start| text.starts_with(start));
    if transcript.questions.len() > n_questions
        && !transcript.questions[n_questions..].iter().all(is_asked)
    {
        transcript.questions.truncate(n_questions);
    }
    for call in &mut transcript.calls[n_calls..] {
        call.at = time;
    }
    for recorded in &mut transcript.results[n_results..] {
        unwrap(&mut recorded.result.outcome);
    }
}

/// Outputs of commands are texts of JSON: `{"output": …, "metadata": {"exit_code": 0}}`.
fn unwrap(outcome: &mut Outcome) {
    let Some(content) = outcome.content.as_ref().and_then(look::parsed) else { return };
    let content = content.into_owned();
    if let Some(success) = content.get("success").and_then(Value::as_bool) {
        outcome.is_error = Some(!success);
    }
    let code = look::at(&content, &["metadata", "exit_code"]).and_then(Value::as_i64);
    let inner = look::first(&content, &["output", "content"]).cloned();
    if let Some(code) = code {
        outcome.is_error = Some(code != 0);
    }
    if let Some(inner) = inner.filter(|_| outcome.is_error.is_some()) {
        outcome.content = Some(inner);
        outcome.whole = Some(content);
    }
}

fn read_event(transcript: &mut Transcript, payload: &Value) {
    match look::text(payload, "type") {
        // Each count is of everything so far.
        Some("token_count") => {
            let total = look::at(payload, &["info", "total_token_usage"]);
            if let Some(usage) = total.and_then(usage_of) {
                transcript.usage = usage;
            }
        }
        Some(kind) => transcript.leave_out(format!("event `{kind}`: told by items")),
        None => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::rules::Rules;

    #[test]
    fn a_session_is_read_line_by_line() {
        let item = |payload: Value| json!({"timestamp": "2026-08-01T10:00:01Z", "type": "response_item", "payload": payload});
        let tokens = |n: u64| json!({"type": "event_msg", "payload": {"type": "token_count", "info": {"total_token_usage": {"input_tokens": n, "output_tokens": 1, "total_tokens": n + 1}}}});
        let lines = [
            json!({"timestamp": "2026-08-01T10:00:00Z", "type": "session_meta", "payload": {"id": "s1"}}),
            item(
                json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "<environment_context>x"}]}),
            ),
            item(
                json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "List the files."}]}),
            ),
            item(
                json!({"type": "function_call", "call_id": "c1", "name": "shell", "arguments": "{\"command\":[\"ls\"]}"}),
            ),
            tokens(5),
            item(
                json!({"type": "function_call_output", "call_id": "c1", "output": "{\"output\":\"a.txt\",\"metadata\":{\"exit_code\":0}}"}),
            ),
            item(
                json!({"type": "function_call", "call_id": "c2", "name": "shell", "arguments": "{\"command\":[\"cat\"]}"}),
            ),
            item(
                json!({"type": "function_call_output", "call_id": "c2", "output": "{\"output\":\"no such file\",\"metadata\":{\"exit_code\":1}}"}),
            ),
            item(
                json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "One file."}]}),
            ),
            tokens(9),
        ];
        let mut transcript = Transcript::default();
        for line in &lines {
            read_item(&mut transcript, line, "");
        }
        let conversation = transcript.settle(&Rules::default());
        assert_eq!(conversation.steps[0].output.as_deref(), Some("a.txt"));
        assert_eq!(conversation.steps[1].error.as_deref(), Some("no such file"));
        assert_eq!(conversation.answer.as_deref(), Some("One file."));
        assert_eq!(conversation.questions, ["List the files."]);
        assert_eq!(conversation.usage.total(), Some(10));
        assert_eq!(conversation.elapsed_sec, Some(1.0));
    }
}
