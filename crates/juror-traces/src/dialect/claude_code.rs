//! Sessions of Claude Code: Anthropic messages, a line each, with what happened beside them.

use serde_json::Value;

use super::anthropic;
use crate::look;
use crate::outcome::said;
use crate::time::nanoseconds;
use crate::transcript::Transcript;

/// Whether a record is one of this dialect.
pub(crate) fn is_record(item: &Value) -> bool {
    let has = |key: &str| look::has(item, key);
    has("leafUuid") || (has("sessionId") && has("type") && (has("message") || has("uuid")))
}

/// Reads one line.
pub(crate) fn read_item(transcript: &mut Transcript, item: &Value, pointer: &str) {
    let kind = look::text(item, "type").unwrap_or_default();
    let Some(message) = look::get(item, "message").filter(|_| matches!(kind, "user" | "assistant"))
    else {
        return transcript.leave_out(format!("line `{kind}`: no message"));
    };
    if transcript.other_ids.is_empty() {
        transcript.other_ids.extend(look::words(item, "sessionId").map(str::to_owned));
    }
    let time = look::get(item, "timestamp").and_then(nanoseconds);
    transcript.started = transcript.started.or(time);
    transcript.ended = time.or(transcript.ended);
    let is_aside = item.get("isSidechain").and_then(Value::as_bool) == Some(true);
    let (before, n_results) = (transcript.calls.len(), transcript.results.len());
    let pointer = format!("{pointer}/message");
    let content = look::get(message, "content");
    let blocks = content.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    for (at, block) in blocks.iter().enumerate() {
        anthropic::read_block(transcript, block, &format!("{pointer}/content/{at}"));
    }
    for call in &mut transcript.calls[before..] {
        call.at = time;
        call.agent = is_aside.then(|| "sidechain".to_owned());
    }
    if let [last] = &mut transcript.results[n_results..] {
        // The whole result stands beside the message that the model saw.
        last.result.outcome.whole =
            look::get(item, "toolUseResult").filter(|whole| !whole.is_string()).cloned();
    }
    let has_blocks = transcript.calls.len() > before || transcript.results.len() > n_results;
    let said = content.and_then(said).filter(|_| !has_blocks && !is_aside);
    let is_meta = item.get("isMeta").and_then(Value::as_bool) == Some(true);
    match kind {
        "user" if !is_meta => transcript.ask(said.filter(|said| !said.starts_with("<command-"))),
        // A message comes in several lines, a block each, and calls may follow what is said.
        "assistant" if said.is_some() => transcript.say_before(said),
        _ => {}
    }
    // Each line of a message repeats its tokens.
    if look::words(message, "id").is_none_or(|id| transcript.seen.insert(id.to_owned())) {
        transcript.add_usage(look::get(message, "usage"));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::rules::Rules;

    #[test]
    fn a_session_is_read_line_by_line() {
        let line = |kind: &str, id: &str, content: Value| {
            json!({"type": kind, "sessionId": "s1", "uuid": "u", "timestamp": "2026-08-01T10:00:01Z",
            "message": {"role": kind, "id": id, "content": content, "usage": {"input_tokens": 4, "output_tokens": 1}}})
        };
        let mut aside = line("assistant", "m9", json!([{"type": "text", "text": "aside"}]));
        aside["isSidechain"] = json!(true);
        let mut result = line(
            "user",
            "",
            json!([{"type": "tool_result", "tool_use_id": "t1", "content": "a.txt"}]),
        );
        result["toolUseResult"] = json!({"stdout": "a.txt"});
        result["message"]["usage"] = Value::Null;
        let mut asked = line("user", "", json!("List the files."));
        asked["message"]["usage"] = Value::Null;
        let lines = [
            json!({"type": "summary", "summary": "x"}),
            asked,
            line("assistant", "m1", json!([{"type": "text", "text": "I will look."}])),
            line(
                "assistant",
                "m1",
                json!([{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}]),
            ),
            result,
            line("assistant", "m2", json!([{"type": "text", "text": "One file."}])),
            aside,
        ];
        let mut transcript = Transcript::default();
        for line in &lines {
            read_item(&mut transcript, line, "");
        }
        let conversation = transcript.settle(&Rules::default());
        assert_eq!(conversation.steps.len(), 1);
        assert_eq!(conversation.steps[0].output.as_deref(), Some("a.txt"));
        assert_eq!(conversation.steps[0].output_raw, Some(json!({"stdout": "a.txt"})));
        assert_eq!(conversation.answer.as_deref(), Some("One file."));
        assert_eq!(conversation.questions, ["List the files."]);
        assert_eq!(conversation.usage.input_tokens, Some(12), "a message counts once");
        assert_eq!(conversation.other_ids, ["s1"]);
    }
}
