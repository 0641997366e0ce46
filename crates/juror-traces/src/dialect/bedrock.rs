//! Bedrock's Converse: blocks with `toolUse` and `toolResult`.

use serde_json::Value;

use crate::args::Args;
use crate::call::{Call, CallResult};
use crate::look;
use crate::outcome::Outcome;
use crate::transcript::Transcript;

/// Whether a record is one of this dialect.
pub(crate) fn is_record(item: &Value) -> bool {
    let is_block = |block: &Value| {
        ["toolUse", "toolResult"].iter().any(|key| block.get(key).is_some())
            || (block.get("type").is_none()
                && block.as_object().is_some_and(|block| block.len() == 1)
                && block.get("text").is_some())
    };
    let of_message = look::items(item, "content").iter().any(is_block);
    let of_reply = look::at(item, &["output", "message"])
        .is_some_and(|message| look::items(message, "content").iter().any(is_block));
    of_message || of_reply
}

/// Reads one message, or a whole reply with its `output`.
pub(crate) fn read_item(transcript: &mut Transcript, item: &Value, pointer: &str) {
    if let Some(message) = look::at(item, &["output", "message"]) {
        read_item(transcript, message, &format!("{pointer}/output/message"));
        return transcript.add_usage(look::get(item, "usage"));
    }
    let blocks = look::items(item, "content");
    let mut n_calls = 0;
    for (at, block) in blocks.iter().enumerate() {
        if let Some(call) = look::get(block, "toolUse") {
            n_calls += 1;
            let name = look::text(call, "name").unwrap_or_default();
            let args = Args::of(Some(call.get("input").unwrap_or(&Value::Null)));
            let source = transcript.place(&format!("{pointer}/content/{at}"));
            transcript.call(Call::requested(look::id(call, &["toolUseId"]), name, args, source));
        }
        if let Some(result) = look::get(block, "toolResult") {
            let is_error = look::text(result, "status").map(|status| status == "error");
            let outcome = Outcome::unflagged(&typed(look::items(result, "content")));
            let outcome = Outcome { is_error, ..outcome };
            transcript.result(CallResult::of(look::id(result, &["toolUseId"]), outcome));
        }
    }
    let said = blocks.iter().filter_map(|block| look::words(block, "text")).collect::<Vec<_>>();
    match look::text(item, "role") {
        Some("user") => transcript.ask(Some(said.join("\n"))),
        Some("assistant") if n_calls == 0 => transcript.say(Some(said.join("\n"))),
        _ => {}
    }
    transcript.add_usage(look::get(item, "usage"));
}

/// Gives blocks the types that others have: here their only key says what they are.
fn typed(blocks: &[Value]) -> Value {
    let typed = |block: &Value| {
        let mut block = block.clone();
        let kind = block.as_object().and_then(|block| block.keys().next().cloned());
        if let (Some(kind), Value::Object(fields)) = (kind, &mut block) {
            fields.insert("type".to_owned(), kind.into());
        }
        block
    };
    blocks.iter().map(typed).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::rules::Rules;

    #[test]
    fn blocks_become_steps() {
        let mut transcript = Transcript::default();
        let items = json!([
            {"role": "user", "content": [{"text": "How warm?"}]},
            {"role": "assistant", "content": [{"text": "Let me see."}, {"toolUse": {"toolUseId": "a", "name": "t", "input": {"n": 1}}}, {"toolUse": {"toolUseId": "b", "name": "t", "input": {}}}]},
            {"role": "user", "content": [{"toolResult": {"toolUseId": "b", "content": [{"text": "no"}], "status": "error"}}, {"toolResult": {"toolUseId": "a", "content": [{"json": {"c": 4}}], "status": "success"}}]},
            {"output": {"message": {"role": "assistant", "content": [{"text": "4."}]}}, "usage": {"inputTokens": 3, "outputTokens": 1, "totalTokens": 4}}]);
        for (at, item) in items.as_array().expect("a list").iter().enumerate() {
            read_item(&mut transcript, item, &format!("/{at}"));
        }
        let conversation = transcript.settle(&Rules::default());
        assert_eq!(conversation.steps[0].output.as_deref(), Some("{\"c\":4}"));
        assert_eq!(conversation.steps[1].error.as_deref(), Some("no"));
        assert_eq!(conversation.answer.as_deref(), Some("4."));
        assert_eq!(conversation.usage.total(), Some(4));
    }
}
