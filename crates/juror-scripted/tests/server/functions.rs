//! Function calls in the three protocols, whole and streamed.

use serde_json::{Value, json};

use crate::client::{CHAT, MESSAGES, VERSION, message, plain, post, start};

const GEMINI: &str = "/v1beta/models/m:generateContent";
const GEMINI_STREAM: &str = "/v1beta/models/m:streamGenerateContent?alt=sse";

fn openai() -> Value {
    let mut body = plain("hi");
    let function = |name: &str| json!({"type": "function", "function": {"name": name}});
    body["tools"] = json!([function("get_x"), function("Finish")]);
    body
}

fn anthropic() -> Value {
    let mut body = message("hi");
    body["tools"] = json!([{"name": "get_x"}, {"name": "Finish"}]);
    body
}

fn gemini() -> Value {
    let functions = json!([{"name": "get_x"}, {"name": "Finish"}]);
    json!({"contents": [{"parts": [{"text": "hi"}]}], "tools": [{"functionDeclarations": functions}]})
}

/// Two parallel calls with a text; the second call's arguments are not JSON if the protocol allows
/// that.
fn two_calls(second: &Value) -> Value {
    let calls = json!([
        {"name": "get_x", "arguments": {"city": "Zürich"}, "id": "one"},
        {"name": "get_y", "arguments": second},
    ]);
    json!({"replies": {"functions": [{"calls": {"content": "Both.", "calls": calls}}]}})
}

const FIRST: &str = r#"{"city":"Zürich"}"#;

#[test]
fn openai_calls_several_functions() {
    let server = start(two_calls(&json!("{broken")));
    let choice = post(&server, CHAT, "", &openai()).json()["choices"][0].clone();
    assert_eq!(choice["finish_reason"], "tool_calls");
    assert_eq!(choice["message"]["content"], "Both.");
    let calls = &choice["message"]["tool_calls"];
    let first = json!({"name": "get_x", "arguments": FIRST});
    assert_eq!(calls[0], json!({"id": "one", "type": "function", "function": first}));
    assert_eq!(calls[1]["function"], json!({"name": "get_y", "arguments": "{broken"}));
    assert_eq!(calls[1]["id"], "call_1_1");
    assert_eq!(server.seen()[0].purpose, "functions");
}

#[test]
fn openai_streams_calls_in_turns() {
    let server = start(two_calls(&json!("{broken")));
    let mut body = openai();
    body["stream"] = json!(true);
    let events = post(&server, CHAT, "", &body).events();
    let mut calls = [(String::new(), String::new()), (String::new(), String::new())];
    let mut order = Vec::new();
    let mut words = String::new();
    for delta in events.iter().map(|event| &event["choices"][0]["delta"]) {
        words += delta["content"].as_str().unwrap_or_default();
        for call in delta["tool_calls"].as_array().into_iter().flatten() {
            let index = usize::try_from(call["index"].as_u64().unwrap()).unwrap();
            order.push(index);
            calls[index].0 += call["function"]["name"].as_str().unwrap_or_default();
            calls[index].1 += call["function"]["arguments"].as_str().unwrap_or_default();
        }
    }
    assert_eq!(words, "Both.");
    let text = |name: &str, arguments: &str| (name.to_owned(), arguments.to_owned());
    assert_eq!(calls, [text("get_x", FIRST), text("get_y", "{broken")]);
    assert!(order.windows(3).any(|three| three == [0, 1, 0]), "{order:?}");
}

#[test]
fn anthropic_calls_several_functions() {
    let server = start(two_calls(&json!({"a": 1})));
    let reply = post(&server, MESSAGES, VERSION, &anthropic()).json();
    assert_eq!(
        reply["content"],
        json!([
            {"type": "text", "text": "Both."},
            {"type": "tool_use", "id": "one", "name": "get_x", "input": {"city": "Zürich"}},
            {"type": "tool_use", "id": "toolu_1_1", "name": "get_y", "input": {"a": 1}},
        ])
    );
    assert_eq!(reply["stop_reason"], "tool_use");
}

#[test]
fn anthropic_streams_a_block_a_call() {
    let server = start(two_calls(&json!("{broken")));
    let mut body = anthropic();
    body["stream"] = json!(true);
    let events = post(&server, MESSAGES, VERSION, &body).events();
    let input = |index: u64| -> String {
        let of_block = events.iter().filter(|event| event["index"] == index);
        of_block.filter_map(|event| event["delta"]["partial_json"].as_str()).collect()
    };
    assert_eq!((input(0), input(1), input(2)), (String::new(), FIRST.into(), "{broken".into()));
    let names: Vec<&str> =
        events.iter().filter_map(|event| event["content_block"]["name"].as_str()).collect();
    assert_eq!(names, ["get_x", "get_y"]);
}

#[test]
fn gemini_calls_several_functions_and_signs_the_first() {
    let calls = json!([
        {"text": "Both."},
        {"functionCall": {"id": "one", "name": "get_x", "args": {"city": "Zürich"}},
         "thoughtSignature": "signature-1"},
        {"functionCall": {"name": "get_y", "args": {"a": 1}}},
    ]);
    let server = start(two_calls(&json!({"a": 1})));
    let candidate = post(&server, GEMINI, "", &gemini()).json()["candidates"][0].clone();
    assert_eq!(candidate["content"]["parts"], calls);

    let server = start(two_calls(&json!({"a": 1})));
    let events = post(&server, GEMINI_STREAM, "", &gemini()).events();
    let parts: Vec<Value> = events
        .iter()
        .flat_map(|event| event["candidates"][0]["content"]["parts"].as_array().unwrap().clone())
        .collect();
    assert_eq!(json!(parts), calls);
    assert_eq!(events.last().unwrap()["candidates"][0]["finishReason"], "STOP");
}

#[test]
fn gemini_does_not_pass_on_what_is_no_json() {
    let server = start(two_calls(&json!("{broken")));
    let candidate = post(&server, GEMINI, "", &gemini()).json()["candidates"][0].clone();
    assert_eq!(candidate["finishReason"], "MALFORMED_FUNCTION_CALL");
}

#[test]
fn an_automatic_agent_calls_once_and_finishes() {
    let server = start(json!({}));
    let message =
        |body: &Value| post(&server, CHAT, "", body).json()["choices"][0]["message"].clone();
    let mut body = openai();
    let first = message(&body);
    assert_eq!(first["tool_calls"][0]["function"]["name"], "get_x");
    let id = first["tool_calls"][0]["id"].clone();
    let result = json!({"role": "tool", "tool_call_id": id, "content": "x is 3"});
    body["messages"].as_array_mut().unwrap().extend([first, result]);
    assert_eq!(message(&body)["tool_calls"][0]["function"]["name"], "Finish");
    assert!(server.seen()[1].prompt.contains("x is 3"));
}

#[test]
fn a_call_without_its_result_is_refused() {
    let server = start(json!({}));
    let mut body = openai();
    let call =
        json!({"id": "a", "type": "function", "function": {"name": "get_x", "arguments": "{}"}});
    let said = json!({"role": "assistant", "content": null, "tool_calls": [call]});
    body["messages"].as_array_mut().unwrap().push(said);
    assert_eq!(post(&server, CHAT, "", &body).status, 400);
}
