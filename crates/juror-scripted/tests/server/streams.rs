//! Streamed replies.

use crate::client::*;
use serde_json::{Value, json};

fn joined(events: &[Value], place: &str) -> String {
    events.iter().filter_map(|event| event.pointer(place)?.as_str()).collect()
}

#[test]
fn openai_streams_chunks_usage_and_done() {
    let server = start(json!({"replies": {"text": [{"text": "Zürich, naïvely 😀"}]}}));
    let mut body = plain("hi");
    body["stream"] = json!(true);
    body["stream_options"] = json!({"include_usage": true});
    let response = post(&server, CHAT, "", &body);
    assert_eq!(response.header("content-type"), Some("text/event-stream"));
    let events = response.events();
    assert_eq!(joined(&events, "/choices/0/delta/content"), "Zürich, naïvely 😀");
    let deltas = events.iter().filter_map(|event| event.pointer("/choices/0/delta/content"));
    assert!(deltas.count() > 3);
    let [.., end, usage] = events.as_slice() else { panic!("{events:?}") };
    assert_eq!(end["choices"][0]["finish_reason"], "stop");
    assert_eq!(end["usage"], Value::Null);
    assert_eq!(usage["choices"], json!([]));
    assert_eq!(usage["usage"]["completion_tokens"], 4);
    assert_eq!(response.data().last().unwrap(), "[DONE]");
    assert!(server.seen()[0].answered);
}

#[test]
fn usage_is_streamed_only_when_asked_for() {
    let server = start(json!({}));
    let mut body = plain("hi");
    body["stream"] = json!(true);
    let events = post(&server, CHAT, "", &body).events();
    assert!(events.iter().all(|event| event.get("usage").is_none()));
}

#[test]
fn letters_are_cut_between_chunks() {
    let server = start(json!({"replies": {"text": [{"text": "éééééééé"}]}}));
    let mut body = plain("hi");
    body["stream"] = json!(true);
    let response = post(&server, CHAT, "", &body);
    assert!(response.chunks.len() > 4);
    assert!(response.chunks.iter().any(|chunk| str::from_utf8(chunk).is_err()));
    assert_eq!(joined(&response.events(), "/choices/0/delta/content"), "éééééééé");
}

#[test]
fn openai_streams_the_arguments_of_a_tool() {
    let server = start(json!({"replies": {"answer_claims": [{"json": {"reason": "abc"}}]}}));
    let mut body = with_tool("answer_claims", "hi");
    body["stream"] = json!(true);
    let events = post(&server, CHAT, "", &body).events();
    let call = "/choices/0/delta/tool_calls/0/function";
    assert_eq!(joined(&events, &format!("{call}/name")), "answer_claims");
    assert_eq!(joined(&events, &format!("{call}/arguments")), r#"{"reason":"abc"}"#);
}

#[test]
fn openai_streams_refusals() {
    let server = start(json!({"replies": {"text": [{"refusal": "I will not"}]}}));
    let mut body = plain("hi");
    body["stream"] = json!(true);
    let events = post(&server, CHAT, "", &body).events();
    assert_eq!(joined(&events, "/choices/0/delta/refusal"), "I will not");
}

#[test]
fn anthropic_streams_its_events_in_order() {
    let server = start(json!({"replies": {"text": [{"text": "Zürich"}]}}));
    let mut body = message("hi");
    body["stream"] = json!(true);
    let response = post(&server, MESSAGES, VERSION, &body);
    let events = response.events();
    let mut types: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    let names = response.text();
    let names = names.lines().filter_map(|line| line.strip_prefix("event: "));
    assert_eq!(names.collect::<Vec<_>>(), types);
    types.dedup();
    assert_eq!(
        types,
        [
            "message_start",
            "ping",
            "content_block_start",
            "content_block_delta",
            "content_block_stop",
            "message_delta",
            "message_stop"
        ]
    );
    assert_eq!(joined(&events, "/delta/text"), "Zürich");
    assert_eq!(joined(&events, "/delta/stop_reason"), "end_turn");
}

#[test]
fn anthropic_streams_the_input_of_a_tool() {
    let server = start(json!({"replies": {"answer_claims": [{"json": {"reason": "abc"}}]}}));
    let mut body = message_with_tool("answer_claims", "hi");
    body["stream"] = json!(true);
    let events = post(&server, MESSAGES, VERSION, &body).events();
    assert_eq!(joined(&events, "/content_block/name"), "answer_claims");
    assert_eq!(joined(&events, "/delta/partial_json"), r#"{"reason":"abc"}"#);
    assert_eq!(joined(&events, "/delta/stop_reason"), "tool_use");
}

#[test]
fn gemini_streams_events_or_an_array() {
    let reply = json!({"text": "Zürich"});
    let server = start(json!({"replies": {"text": [reply, reply]}}));
    let body = json!({"contents": [{"parts": [{"text": "hi"}]}]});
    let path = "/v1beta/models/m:streamGenerateContent";
    let events = post(&server, &format!("{path}?alt=sse"), "", &body).events();
    assert!(events.len() > 1);
    let text = "/candidates/0/content/parts/0/text";
    assert_eq!(joined(&events, text), "Zürich");
    assert_eq!(joined(&events, "/candidates/0/finishReason"), "STOP");
    let array = post(&server, path, "", &body).json();
    assert_eq!(joined(array.as_array().unwrap(), text), "Zürich");
}

#[test]
fn a_stream_ends_early_when_it_is_truncated() {
    let server = start(json!({"replies": {"text": ["truncated"]}}));
    let mut body = plain("hi");
    body["stream"] = json!(true);
    assert!(try_post(&server, CHAT, "", &body).is_err());
    assert!(!server.seen()[0].answered);
}
