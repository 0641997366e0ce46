//! How the dialect of a record is recognized.

use serde_json::Value;

use super::{Dialect, langchain, mcp, responses, vercel};
use crate::look;
use crate::spans::{langfuse, phoenix};

/// Returns the dialect of a record; `None` if it has none by itself.
pub(super) fn recognize(item: &Value) -> Option<Dialect> {
    let Value::Object(object) = item else {
        return matches!(item, Value::String(_))
            .then(|| mcp::is_record(item))
            .filter(|is| *is)
            .map(|_| Dialect::Mcp);
    };
    let has = |key: &str| object.contains_key(key);
    let is = |key: &str, wanted: &str| look::text(item, key) == Some(wanted);
    let envelope =
        ["resourceSpans", "resourceLogs", "resource_spans", "resource_logs", "scopeSpans"];
    if envelope.iter().any(|key| has(key)) {
        return Some(Dialect::Otlp);
    }
    let codex = ["session_meta", "response_item", "event_msg", "turn_context", "compacted"];
    if has("payload") && look::text(item, "type").is_some_and(|kind| codex.contains(&kind)) {
        return Some(Dialect::Codex);
    }
    if mcp::is_record(item) {
        return Some(Dialect::Mcp);
    }
    let is_session = (has("sessionId") && has("type")) || has("leafUuid");
    let found = if is("object", "trace.span") || (is("object", "trace") && has("workflow_name")) {
        Dialect::AgentsSdk
    } else if is_session && (has("message") || has("leafUuid") || has("uuid")) {
        Dialect::ClaudeCode
    } else if has("run_type") && (has("inputs") || has("outputs")) {
        Dialect::LangSmith
    } else if has("run_id")
        && look::text(item, "event").is_some_and(|event| event.starts_with("on_"))
    {
        Dialect::LangChainEvents
    } else if is_responses(item) {
        Dialect::Responses
    } else if look::items(item, "parts").iter().any(|part| part.get("part_kind").is_some()) {
        Dialect::PydanticAi
    } else if langchain::message(item).is_some() || is_update(item) {
        Dialect::LangChain
    } else if is_llama(item) {
        Dialect::LlamaIndex
    } else if has("step_number")
        || (has("task") && has("task_images"))
        || (has("steps") && has("state") && has("output"))
    {
        Dialect::Smolagents
    } else if (has("samples") && has("eval")) || (has("messages") && has("target") && has("epoch"))
    {
        Dialect::Inspect
    } else if has("user_input") {
        Dialect::Ragas
    } else if (has("input") && (has("actual_output") || has("actualOutput")))
        || has("tools_called")
        || has("toolsCalled")
    {
        Dialect::Deepeval
    } else if has("answer_details")
        || has("answer_generation")
        || item.get("answer").is_some_and(|answer| answer.get("answer_details").is_some())
    {
        Dialect::ToolBench
    } else if langfuse::is_record(item) {
        Dialect::Langfuse
    } else if is_gemini(item) {
        Dialect::Gemini
    } else if vercel::is_message(item) {
        Dialect::Vercel
    } else if is_bedrock(item) {
        Dialect::Bedrock
    } else if is_anthropic(item) {
        Dialect::Anthropic
    } else if has("role") && ["content", "tool_calls", "function_call"].iter().any(|key| has(key)) {
        Dialect::OpenAiChat
    } else if phoenix::is_record(item) {
        Dialect::Phoenix
    } else {
        return None;
    };
    Some(found)
}

/// The types of items that only the Responses API has.
fn is_responses_type(kind: &str) -> bool {
    kind.ends_with("_call") && kind != "tool_call"
        || kind.ends_with("_call_output")
        || ["mcp_list_tools", "item_reference", "mcp_approval_request", "mcp_approval_response"]
            .contains(&kind)
}

fn is_responses(item: &Value) -> bool {
    let is_item = |item: &Value| match look::text(item, "type") {
        Some("message") => {
            let blocks = look::items(item, "content");
            let texts = ["output_text", "input_text", "refusal"];
            let has_texts = blocks
                .iter()
                .any(|block| look::text(block, "type").is_some_and(|kind| texts.contains(&kind)));
            has_texts || item.get("content").is_some_and(Value::is_string)
        }
        Some("reasoning") => item.get("summary").is_some(),
        Some(kind) => is_responses_type(kind),
        None => false,
    };
    let is_run_item = item.get("raw_item").is_some() && item.get("type").is_some();
    let output = look::items(item, "output");
    is_run_item
        || is_item(item)
        || (responses::is_whole(item)
            && (output.iter().any(is_item) || look::text(item, "object") == Some("response")))
}

/// An update of a state: nodes with the messages they add.
fn is_update(item: &Value) -> bool {
    let Value::Object(nodes) = item else { return false };
    let is_node = |node: &Value| match node {
        Value::Null => true,
        node => {
            let messages = look::items(node, "messages");
            !messages.is_empty()
                && messages.iter().all(|message| langchain::message(message).is_some())
                && messages.iter().all(|message| {
                    langchain::message(message)
                        .is_some_and(|(_, sender)| sender != langchain::Sender::Human)
                })
        }
    };
    !nodes.is_empty() && nodes.values().all(is_node) && !nodes.values().all(Value::is_null)
}

fn is_llama(item: &Value) -> bool {
    let has_blocks = |item: &Value| {
        look::items(item, "blocks").iter().any(|block| block.get("block_type").is_some())
    };
    has_blocks(item)
        || item.get("tool_kwargs").is_some()
        || item.get("response").is_some_and(has_blocks)
}

fn is_gemini(item: &Value) -> bool {
    let parts = look::items(item, "parts");
    let calls = ["functionCall", "function_call", "functionResponse", "function_response"];
    let has_calls = parts.iter().any(|part| calls.iter().any(|key| part.get(key).is_some()));
    let is_content = matches!(look::text(item, "role"), Some("user" | "model"))
        && parts.iter().all(|part| part.get("type").is_none());
    let is_reply =
        look::items(item, "candidates").iter().any(|candidate| candidate.get("content").is_some());
    let is_request =
        look::items(item, "contents").iter().any(|content| content.get("parts").is_some());
    // An event of an agent of the ADK: its content, and who says it.
    let is_event = item.get("author").is_some()
        && look::at(item, &["content", "parts"]).is_some_and(Value::is_array);
    has_calls || (is_content && !parts.is_empty()) || is_reply || is_request || is_event
}

fn is_bedrock(item: &Value) -> bool {
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

fn is_anthropic(item: &Value) -> bool {
    let is_block = |block: &Value| {
        look::text(block, "type").is_some_and(|kind| {
            ["tool_use", "server_tool_use", "mcp_tool_use"].contains(&kind)
                || kind.ends_with("tool_result")
        })
    };
    let is_reply = look::text(item, "type") == Some("message")
        && item.get("role").is_some()
        && item.get("stop_reason").is_some();
    is_reply || look::items(item, "content").iter().any(is_block)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn records_are_recognized() {
        let check =
            |item: Value, wanted: Option<Dialect>| assert_eq!(Dialect::of(&item), wanted, "{item}");
        check(json!({"resourceSpans": []}), Some(Dialect::Otlp));
        check(json!({"dir": "->", "msg": {"jsonrpc": "2.0"}}), Some(Dialect::Mcp));
        check(json!({"type": "function_call", "call_id": "c"}), Some(Dialect::Responses));
        check(
            json!({"object": "response", "output": [{"type": "message"}]}),
            Some(Dialect::Responses),
        );
        check(json!({"object": "trace.span", "span_data": {}}), Some(Dialect::AgentsSdk));
        check(json!({"type": "ai", "content": ""}), Some(Dialect::LangChain));
        check(
            json!({"lc": 1, "type": "constructor", "id": ["x", "AIMessage"], "kwargs": {}}),
            Some(Dialect::LangChain),
        );
        check(
            json!({"agent": {"messages": [{"type": "ai", "content": ""}]}}),
            Some(Dialect::LangChain),
        );
        check(
            json!({"role": "assistant", "content": [{"type": "tool_use"}]}),
            Some(Dialect::Anthropic),
        );
        check(json!({"role": "assistant", "content": [{"toolUse": {}}]}), Some(Dialect::Bedrock));
        check(json!({"role": "model", "parts": [{"text": "x"}]}), Some(Dialect::Gemini));
        check(json!({"role": "user", "content": "x"}), Some(Dialect::OpenAiChat));
        check(json!({"context": {"span_id": "s"}, "attributes": {}}), Some(Dialect::Phoenix));
        check(json!({"messages": [{"role": "user", "content": "x"}]}), None);
        check(json!({"a": 1}), None);
    }

    #[test]
    fn a_list_is_of_the_first_dialect_that_any_record_has() {
        let list = [
            json!({"role": "user", "content": "x"}),
            json!({"type": "function_call", "call_id": "c"}),
        ];
        assert_eq!(Dialect::of_list(&list), Some(Dialect::Responses));
    }
}
