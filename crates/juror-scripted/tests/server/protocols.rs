//! Requests and responses in each protocol.

use crate::client::*;
use juror_scripted::{Protocol, RequestKind};
use serde_json::{Value, json};

fn content(response: &Response) -> Value {
    response.json()["choices"][0]["message"]["content"].clone()
}

#[test]
fn openai_answers_by_schema_name() {
    let server = start(json!({
        "key": "sk-right",
        "replies": {"answer_claims": [{"json": {"reference_claims": 2}}]},
        "usage": {"prompt_tokens": 7, "completion_tokens": 3},
    }));
    let body = with_schema("answer_claims", "judge", &json!({}));
    let response = post(&server, CHAT, "authorization: Bearer sk-right\r\n", &body);
    assert_eq!(response.status, 200);
    assert_eq!(content(&response), r#"{"reference_claims":2}"#);
    assert_eq!(response.json()["choices"][0]["finish_reason"], "stop");
    assert_eq!(
        response.json()["usage"],
        json!({"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10})
    );
    let seen = server.seen();
    let [seen] = seen.as_slice() else { panic!("{seen:?}") };
    assert_eq!((seen.protocol, seen.kind), (Protocol::OpenAi, RequestKind::Chat));
    assert_eq!((seen.purpose.as_str(), seen.model.as_str()), ("answer_claims", "m"));
    assert_eq!((seen.key.as_deref(), seen.prompt.as_str()), (Some("sk-right"), "judge"));
    assert_eq!(seen.body, body);
    assert!(seen.answered);
}

#[test]
fn openai_calls_the_tool_that_is_forced() {
    let server = start(json!({"replies": {"answer_claims": [{"json": {"a": 1}}, {"text": "b"}]}}));
    let body = with_tool("answer_claims", "judge");
    let message = post(&server, "/chat/completions", "", &body).json()["choices"][0].clone();
    let function = &message["message"]["tool_calls"][0]["function"];
    assert_eq!(*function, json!({"name": "answer_claims", "arguments": r#"{"a":1}"#}));
    assert_eq!(message["message"]["content"], Value::Null);
    assert_eq!(content(&post(&server, CHAT, "", &body)), "b");
}

#[test]
fn openai_embeds_texts_in_both_encodings() {
    let server = start(json!({"embeddings": {"a": [1.0, -2.0]}, "embedding_tokens": 5}));
    let mut body = json!({"model": "e", "input": ["a", "b"]});
    let reply = post(&server, EMBEDDINGS, "", &body).json();
    assert_eq!(reply["data"][0]["embedding"], json!([1.0, -2.0]));
    assert_eq!(reply["data"][1]["embedding"].as_array().unwrap().len(), 8);
    assert_eq!(reply["usage"], json!({"prompt_tokens": 5, "total_tokens": 5}));
    assert_eq!(reply, post(&server, "/embeddings", "", &body).json());

    body["encoding_format"] = json!("base64");
    let reply = post(&server, EMBEDDINGS, "", &body).json();
    assert_eq!(reply["data"][0]["embedding"], "AACAPwAAAMA=");
    let seen = server.seen();
    assert_eq!((seen[0].kind, seen[0].purpose.as_str()), (RequestKind::Embeddings, "embeddings"));
    assert_eq!(seen[0].prompt, "a\nb");
}

#[test]
fn azure_names_the_model_in_the_path_and_wants_a_version() {
    let server = start(json!({"key": "k", "replies": {"text": [{"text": "hello"}]}}));
    let path = "/openai/deployments/gpt/chat/completions";
    let with_version = format!("{path}?api-version=2024-10-21");
    let mut body = plain("hi");
    body.as_object_mut().unwrap().remove("model");
    assert_eq!(post(&server, path, "api-key: k\r\n", &body).status, 404);
    let response = post(&server, &with_version, "api-key: k\r\n", &body);
    assert_eq!(content(&response), "hello");
    let seen = &server.seen()[1];
    assert_eq!((seen.protocol, seen.model.as_str()), (Protocol::Azure, "gpt"));

    let path = "/openai/deployments/e/embeddings?api-version=2024-10-21";
    let response = post(&server, path, "api-key: k\r\n", &json!({"input": "a"}));
    assert_eq!(response.json()["data"].as_array().unwrap().len(), 1);
}

#[test]
fn anthropic_answers_in_blocks() {
    let server = start(json!({"replies": {
        "text": [{"text": "hello"}, {"refusal": "no"}, "empty"],
        "answer_claims": [{"json": {"a": 1}}],
    }}));
    let reply = post(&server, MESSAGES, VERSION, &message("hi")).json();
    assert_eq!(reply["content"], json!([{"type": "text", "text": "hello"}]));
    assert_eq!(reply["stop_reason"], "end_turn");
    assert_eq!(reply["usage"], json!({"input_tokens": 2, "output_tokens": 1}));
    assert_eq!(server.seen()[0].prompt, "be brief\nhi");

    let body = message_with_tool("answer_claims", "hi");
    let reply = post(&server, MESSAGES, VERSION, &body).json();
    assert_eq!(reply["content"][0]["type"], "tool_use");
    assert_eq!(reply["content"][0]["name"], "answer_claims");
    assert_eq!(reply["content"][0]["input"], json!({"a": 1}));
    assert_eq!(reply["stop_reason"], "tool_use");

    let reply = post(&server, MESSAGES, VERSION, &message("hi")).json();
    assert_eq!(reply["stop_reason"], "refusal");
    let reply = post(&server, MESSAGES, VERSION, &message("hi")).json();
    assert_eq!(reply["content"], json!([]));
}

#[test]
fn anthropic_wants_a_limit_and_a_version() {
    let server = start(json!({}));
    let mut body = message("hi");
    assert_eq!(post(&server, MESSAGES, "", &body).status, 400);
    body.as_object_mut().unwrap().remove("max_tokens");
    let response = post(&server, MESSAGES, VERSION, &body);
    assert_eq!(response.status, 400);
    assert_eq!(response.json()["type"], "error");
    assert_eq!(
        response.json()["error"],
        json!({"type": "invalid_request_error", "message": "max_tokens: Field required"})
    );
}

#[test]
fn gemini_answers_by_the_title_of_the_schema() {
    let server = start(json!({"key": "k", "replies": {
        "answer_claims": [{"json": {"a": 1}}],
        "text": ["empty", {"refusal": "no"}],
    }}));
    let path = "/v1beta/models/gemini-2.0-flash:generateContent";
    let ask = |schema: Value| {
        let body = json!({
            "systemInstruction": {"parts": [{"text": "be brief"}]},
            "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
            "generationConfig": schema,
        });
        post(&server, path, "x-goog-api-key: k\r\n", &body).json()["candidates"][0].clone()
    };
    let candidate = ask(json!({"responseSchema": {"type": "OBJECT", "title": "answer_claims"}}));
    assert_eq!(candidate["content"], json!({"role": "model", "parts": [{"text": r#"{"a":1}"#}]}));
    assert_eq!(candidate["finishReason"], "STOP");
    assert_eq!(ask(json!({}))["content"], json!({"role": "model"}));
    assert_eq!(ask(json!({}))["finishReason"], "SAFETY");
    let schema = json!({"title": "x", "properties": {"n": {"type": "INTEGER"}}});
    let candidate = ask(json!({"responseJsonSchema": schema}));
    assert_eq!(candidate["content"]["parts"][0]["text"], r#"{"n":1}"#);

    let seen = server.seen();
    assert_eq!((seen[0].protocol, seen[0].model.as_str()), (Protocol::Gemini, "gemini-2.0-flash"));
    assert_eq!(
        (seen[0].purpose.as_str(), seen[0].prompt.as_str()),
        ("answer_claims", "be brief\nhi")
    );
    assert_eq!(seen[3].purpose, "x");
}

#[test]
fn gemini_embeds_texts() {
    let server = start(json!({"embeddings": {"a": [1.0, 2.0]}}));
    let request = |text: &str| json!({"model": "models/e", "content": {"parts": [{"text": text}]}});
    let body = json!({"requests": [request("a"), request("b")]});
    let reply = post(&server, "/v1beta/models/e:batchEmbedContents", "", &body).json();
    assert_eq!(reply["embeddings"][0], json!({"values": [1.0, 2.0]}));
    assert_eq!(reply["embeddings"][1]["values"].as_array().unwrap().len(), 8);
}

#[test]
fn a_wrong_key_is_told_in_the_form_of_the_provider() {
    let server = start(json!({"key": "right"}));
    let azure = "/openai/deployments/m/chat/completions?api-version=1";
    for (path, headers, place, expected) in [
        (CHAT, "authorization: Bearer wrong\r\n", "/error/code", json!("invalid_api_key")),
        (azure, "api-key: wrong\r\n", "/error/code", json!("401")),
        (MESSAGES, "x-api-key: wrong\r\n", "/error/type", json!("authentication_error")),
        (
            "/v1beta/models/m:generateContent",
            "x-goog-api-key: wrong\r\n",
            "/error/status",
            json!("UNAUTHENTICATED"),
        ),
    ] {
        let response = post(&server, path, &format!("{VERSION}{headers}"), &plain("hi"));
        assert_eq!(response.status, 401, "{path}");
        assert_eq!(response.json().pointer(place), Some(&expected), "{path}");
        assert!(response.json()["error"]["message"].as_str().unwrap().contains("wrong"), "{path}");
    }
    assert_eq!(post(&server, CHAT, "", &plain("hi")).status, 401);
    assert!(server.seen().iter().all(|seen| !seen.answered));
    assert_eq!(server.seen().len(), 5);
}

#[test]
fn automatic_replies_follow_from_the_prompt() {
    let server = start(json!({}));
    let ask = |purpose: &str, prompt: &str| -> Value {
        let properties = json!({"s": {"type": "string"}, "e": {"enum": ["x", "y"]}});
        let response = post(&server, CHAT, "", &with_schema(purpose, prompt, &properties));
        serde_json::from_str(content(&response).as_str().unwrap()).unwrap()
    };
    assert_eq!(
        ask("answer_claims", "a 0123456789abcdef"),
        ask("answer_claims", "a fedcba9876543210")
    );
    assert_eq!(ask("generated_question", "a")["noncommittal"], 0);
    assert!(ask("context_attribution", "a")["statements"][0]["attributed"].is_u64());
    assert!(ask("answer_usefulness", "a")["useful"].is_u64());
    assert_eq!(ask("answer_status", "a")["answer_status"], "Solved");
    assert_eq!(ask("other", "a"), json!({"s": "automatic", "e": "x"}));
    assert_eq!(content(&post(&server, CHAT, "", &plain("hi"))), "2\t2\t1\tautomatic");

    let mut body = plain(r#"Reply with JSON like {"properties": {"a": {"enum": [3]}}}"#);
    body["response_format"] = json!({"type": "json_object"});
    assert_eq!(content(&post(&server, CHAT, "", &body)), r#"{"a":3}"#);

    let automatic = post(&server, CHAT, "", &with_tool("answer_status", "a")).json();
    assert!(automatic["choices"][0]["message"]["tool_calls"][0].is_object());
}

#[test]
fn what_is_not_served_is_not_found() {
    let server = start(json!({}));
    assert_eq!(post(&server, "/v1/models", "", &json!({})).status, 404);
    assert_eq!(post(&server, "/s/none/v1/messages", "", &json!({})).status, 404);
    assert!(server.seen().is_empty());
}
