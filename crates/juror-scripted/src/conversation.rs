//! Checks the rules of providers for conversations with calls: each call needs its result, in the
//! right place.

use serde_json::Value;

use crate::seen::Protocol;

/// Returns why a provider would refuse the messages of a request.
pub(crate) fn problem(protocol: Protocol, body: &Value) -> Option<String> {
    match protocol {
        Protocol::OpenAi | Protocol::Azure => openai(list(&body["messages"])),
        Protocol::Anthropic => anthropic(list(&body["messages"])),
        Protocol::Gemini => gemini(list(&body["contents"])),
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn openai(messages: &[Value]) -> Option<String> {
    let mut open: Vec<&Value> = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        if message["role"] == "tool" {
            let at = open.iter().position(|id| **id == message["tool_call_id"]);
            let Some(at) = at else {
                return Some(format!("messages.[{index}]: a tool message without its tool_calls"));
            };
            open.remove(at);
            continue;
        }
        if !open.is_empty() {
            return Some(format!("tool_call_ids did not have response messages: {open:?}"));
        }
        let calls = list(&message["tool_calls"]);
        if message["role"] == "assistant" && calls.is_empty() && message["content"].is_null() {
            return Some(format!("Invalid value for 'content' of messages.[{index}]: got null"));
        }
        open.extend(calls.iter().map(|call| &call["id"]));
    }
    (!open.is_empty()).then(|| "tool_calls at the end have no response messages".to_owned())
}

fn anthropic(messages: &[Value]) -> Option<String> {
    let ids = |message: Option<&Value>, kind: &str, name: &str| -> Vec<Value> {
        let blocks = message.map_or(&[][..], |message| list(&message["content"]));
        blocks
            .iter()
            .filter(|block| block["type"] == kind)
            .map(|block| block[name].clone())
            .collect()
    };
    if messages.last().is_some_and(|last| last["role"] == "assistant") {
        return Some("messages: the conversation must end with a user message".to_owned());
    }
    if messages.first().is_some_and(|first| first["role"] != "user") {
        return Some("messages: first message must use the \"user\" role".to_owned());
    }
    for (index, message) in messages.iter().enumerate() {
        let is_empty =
            message["content"] == "" || message["content"].as_array().is_some_and(Vec::is_empty);
        if is_empty {
            return Some(format!("messages.{index}: all messages must have non-empty content"));
        }
        let mut uses = ids(Some(message), "tool_use", "id");
        let results = ids(messages.get(index + 1), "tool_result", "tool_use_id");
        uses.retain(|id| !results.contains(id));
        if !uses.is_empty() {
            return Some(format!(
                "messages.{index}: `tool_use` ids without `tool_result`: {uses:?}"
            ));
        }
    }
    None
}

fn gemini(contents: &[Value]) -> Option<String> {
    let count = |content: Option<&Value>, kind: &str| {
        let parts = content.map_or(&[][..], |content| list(&content["parts"]));
        parts.iter().filter(|part| part.get(kind).is_some()).count()
    };
    if contents.last().is_some_and(|last| last["role"] == "model") {
        return Some("Please ensure that multiturn requests end with a user role.".to_owned());
    }
    for (index, content) in contents.iter().enumerate() {
        let n_calls = count(Some(content), "functionCall");
        if n_calls > 0 && n_calls != count(contents.get(index + 1), "functionResponse") {
            return Some(
                "Please ensure that the number of function response parts is equal to the number \
                 of function call parts of the function call turn."
                    .to_owned(),
            );
        }
        let parts = list(&content["parts"]);
        let first = parts.iter().find(|part| part.get("functionCall").is_some());
        if first.is_some_and(|part| part.get("thoughtSignature").is_none()) {
            return Some("Function call is missing a thought_signature.".to_owned());
        }
        if parts.is_empty() {
            return Some(format!("contents[{index}].parts must not be empty."));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn calls_need_their_results() {
        let check = |protocol, body: Value, is_fine: bool| {
            assert_eq!(problem(protocol, &body).is_none(), is_fine, "{body}");
        };
        let call = json!({"role": "assistant", "content": null, "tool_calls": [{"id": "a"}]});
        let result = json!({"role": "tool", "tool_call_id": "a", "content": "x"});
        check(Protocol::OpenAi, json!({"messages": [call, result]}), true);
        check(Protocol::OpenAi, json!({"messages": [call]}), false);
        check(Protocol::OpenAi, json!({"messages": [result]}), false);
        let silent = json!({"role": "assistant", "content": null});
        check(Protocol::OpenAi, json!({"messages": [silent]}), false);

        let ask = json!({"role": "user", "content": "q"});
        let call = json!({"role": "assistant", "content": [{"type": "tool_use", "id": "a"}]});
        let result =
            json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a"}]});
        check(Protocol::Anthropic, json!({"messages": [ask, call, result]}), true);
        check(Protocol::Anthropic, json!({"messages": [ask, call, ask]}), false);
        check(Protocol::Anthropic, json!({"messages": [call, result]}), false);
        check(
            Protocol::Anthropic,
            json!({"messages": [ask, {"role": "assistant", "content": []}]}),
            false,
        );

        let words = json!({"role": "assistant", "content": [{"type": "text", "text": "a"}]});
        check(Protocol::Anthropic, json!({"messages": [ask, words, ask]}), true);
        check(Protocol::Anthropic, json!({"messages": [ask, words]}), false);

        let call = json!({"parts": [{"functionCall": {}, "thoughtSignature": "s"}]});
        let words = json!({"role": "model", "parts": [{"text": "a"}]});
        check(Protocol::Gemini, json!({"contents": [words]}), false);
        let result = json!({"parts": [{"functionResponse": {}}]});
        check(Protocol::Gemini, json!({"contents": [call, result]}), true);
        check(Protocol::Gemini, json!({"contents": [call, call]}), false);
        check(
            Protocol::Gemini,
            json!({"contents": [{"parts": [{"functionCall": {}}]}, result]}),
            false,
        );
    }
}
