//! Faults, and what the server records about them.

use std::io::ErrorKind;
use std::time::{Duration, Instant};

use crate::client::*;
use serde_json::{Value, json};

fn text(response: &Response) -> Value {
    response.json()["choices"][0]["message"]["content"].clone()
}

#[test]
fn faults_strike_by_number_and_use_up_nothing() {
    let server = start(json!({
        "replies": {"text": [{"text": "first"}, {"text": "second"}]},
        "faults": [
            {"calls": [1], "purpose": "other", "reply": "hang"},
            {"calls": [2], "reply": {"status": {"status": 429, "retry_after": "3"}}},
        ],
    }));
    let mut client = Client::connect(&server);
    let mut ask = || {
        client.send(CHAT, "", &plain("hi").to_string()).unwrap();
        client.receive().unwrap()
    };
    assert_eq!(text(&ask()), "first");
    let limited = ask();
    assert_eq!((limited.status, limited.header("retry-after")), (429, Some("3")));
    assert_eq!(limited.json()["error"]["code"], "rate_limit_exceeded");
    assert_eq!(text(&ask()), "second");
    assert_eq!(text(&ask()), "2\t2\t1\tautomatic");
    let answered: Vec<bool> = server.seen().iter().map(|seen| seen.answered).collect();
    assert_eq!(answered, [true, false, true, true]);
}

#[test]
fn matching_comes_before_replies_and_stays() {
    let server = start(json!({
        "replies": {"text": [{"text": "reply"}]},
        "matching": [
            {"purpose": "other", "contains": "Oslo", "reply": "hang"},
            {"contains": "Oslo", "reply": {"text": "matched"}},
        ],
    }));
    assert_eq!(text(&post(&server, CHAT, "", &plain("in Oslo"))), "matched");
    assert_eq!(text(&post(&server, CHAT, "", &plain("in Oslo"))), "matched");
    assert_eq!(text(&post(&server, CHAT, "", &plain("in Rome"))), "reply");
}

#[test]
fn statuses_have_the_body_of_the_provider_or_of_the_script() {
    let status = |status: u16| json!({"status": {"status": status}});
    let server = start(json!({"replies": {"text": [
        status(529), status(503), {"status": {"status": 500, "body": {"mine": 1}}},
    ]}}));
    let response = post(&server, MESSAGES, VERSION, &message("hi"));
    assert_eq!(
        (response.status, &response.json()["error"]["type"]),
        (529, &json!("overloaded_error"))
    );
    let path = "/v1beta/models/m:generateContent";
    assert_eq!(post(&server, path, "", &json!({})).json()["error"]["status"], "UNAVAILABLE");
    assert_eq!(post(&server, CHAT, "", &plain("hi")).json(), json!({"mine": 1}));
}

#[test]
fn a_reset_connection_says_nothing() {
    let server = start(json!({"faults": [{"calls": [1], "reply": "reset"}]}));
    let error = try_post(&server, CHAT, "", &plain("hi")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    assert_eq!(post(&server, CHAT, "", &plain("hi")).status, 200);
    assert!(!server.seen()[0].answered);
}

#[test]
fn a_truncated_reply_has_less_than_it_promised() {
    let server = start(json!({"faults": [{"calls": [1], "reply": "truncated"}]}));
    let mut client = Client::connect(&server);
    client.send(CHAT, "", &plain("hi").to_string()).unwrap();
    let head = client.receive_head().unwrap();
    assert_eq!(head.status, 200);
    let n_promised: usize = head.header("content-length").unwrap().parse().unwrap();
    assert_eq!(client.receive_rest().unwrap().len(), n_promised / 2);
    assert!(!server.seen()[0].answered);
}

#[test]
fn garbled_and_empty_replies_are_no_answers() {
    let server = start(json!({"replies": {"text": ["garbled", "empty"]}}));
    let garbled = post(&server, CHAT, "", &plain("hi"));
    assert_eq!(garbled.status, 200);
    assert!(serde_json::from_slice::<Value>(&garbled.bytes()).is_err());
    assert_eq!(text(&post(&server, CHAT, "", &plain("hi"))), "");
    assert!(server.seen().iter().all(|seen| !seen.answered));
}

#[test]
fn a_refusal_is_an_answer() {
    let server = start(json!({"replies": {"text": [{"refusal": "no"}]}}));
    let reply = post(&server, CHAT, "", &plain("hi")).json();
    let message = &reply["choices"][0]["message"];
    assert_eq!((&message["content"], &message["refusal"]), (&Value::Null, &json!("no")));
    assert!(server.seen()[0].answered);
}

#[test]
fn vectors_can_be_short_or_missing() {
    let server = start(json!({"replies": {"embeddings": ["wrong_size", "missing_vector"]}}));
    let body = json!({"model": "e", "input": ["a", "b"]});
    let sizes = || -> Vec<usize> {
        let reply = post(&server, EMBEDDINGS, "", &body).json();
        let data = reply["data"].as_array().unwrap().iter();
        data.map(|item| item["embedding"].as_array().unwrap().len()).collect()
    };
    assert_eq!([sizes(), sizes(), sizes()], [vec![8, 7], vec![8], vec![8, 8]]);
    assert!(server.bought_twice().is_empty());
}

#[test]
fn a_hanging_reply_ends_with_the_client_or_the_server() {
    let server = start(json!({"matching": [{"contains": "hang", "reply": "hang"}]}));
    let mut waiting = Client::connect(&server);
    waiting.send(CHAT, "", &plain("hang").to_string()).unwrap();
    waiting.set_patience(Duration::from_millis(50));
    assert!(waiting.receive().is_err());
    drop(waiting);
    // The server soon notices that the client has left.
    let start = Instant::now();
    loop {
        server.clear();
        if server.max_in_flight() == 0 {
            break;
        }
        assert!(start.elapsed() < Duration::from_secs(5));
    }

    let mut waiting = Client::connect(&server);
    waiting.send(CHAT, "", &plain("hang").to_string()).unwrap();
    while server.seen().is_empty() {}
    drop(server);
    assert!(waiting.receive().is_err());
}

#[test]
fn a_refused_feature_is_named() {
    let mut streamed = plain("hi");
    streamed["stream"] = json!(true);
    let mut json_mode = plain("hi");
    json_mode["response_format"] = json!({"type": "json_object"});
    let with = |name: &str, value: Value| {
        let mut body = plain("hi");
        body[name] = value;
        body
    };
    for (feature, param, path, body) in [
        ("json_schema", "response_format", CHAT, with_schema("a", "hi", &json!({}))),
        ("json_object", "response_format", CHAT, json_mode),
        ("tools", "tools", CHAT, with_tool("a", "hi")),
        ("temperature", "temperature", CHAT, with("temperature", json!(0.0))),
        ("max_tokens", "max_tokens", CHAT, with("max_tokens", json!(5))),
        (
            "max_completion_tokens",
            "max_completion_tokens",
            CHAT,
            with("max_completion_tokens", json!(5)),
        ),
        ("stream", "stream", CHAT, streamed),
        (
            "encoding_format",
            "encoding_format",
            EMBEDDINGS,
            json!({"input": "a", "encoding_format": "float"}),
        ),
    ] {
        let server = start(json!({"refuses": [feature]}));
        let response = post(&server, path, "", &body);
        assert_eq!(response.status, 400, "{feature}");
        assert_eq!(response.json()["error"]["param"], param);
        assert_eq!(response.json()["error"]["type"], "invalid_request_error");
        assert_eq!(post(&server, CHAT, "", &plain("hi")).status, 200, "{feature}");
    }
}

#[test]
fn a_body_that_is_not_json_is_refused() {
    let server = start(json!({}));
    let mut client = Client::connect(&server);
    client.send(CHAT, "", "{oops").unwrap();
    assert_eq!(client.receive().unwrap().status, 400);
    assert_eq!(server.seen()[0].body, Value::Null);
}

#[test]
fn the_same_content_is_bought_twice_whatever_its_marker() {
    let server = start(json!({"faults": [{"calls": [1], "reply": {"status": {"status": 500}}}]}));
    for prompt in ["a <0123456789abcdef>", "a <0000000000000000>", "b", "a <1111111111111111>"] {
        post(&server, CHAT, "", &plain(prompt));
    }
    let twice: Vec<String> = server.bought_twice().into_iter().map(|seen| seen.prompt).collect();
    assert_eq!(twice, ["a <1111111111111111>"]);
    server.clear();
    assert!(server.seen().is_empty() && server.bought_twice().is_empty());
}

#[test]
fn a_question_is_generated_three_times() {
    let server = start(json!({}));
    let body = with_schema("generated_question", "a", &json!({}));
    for n_twice in [0, 0, 0, 1] {
        post(&server, CHAT, "", &body);
        assert_eq!(server.bought_twice().len(), n_twice);
    }
}

#[test]
fn further_scripts_are_apart() {
    let server = start(json!({"key": "main"}));
    server.add("b", script(json!({"replies": {"text": [{"text": "b"}]}})));
    assert_eq!(text(&post(&server, "/s/b/v1/chat/completions", "", &plain("hi"))), "b");
    assert_eq!((server.seen().len(), server.seen_by("b").len()), (0, 1));
    assert!(server.seen_by("c").is_empty());
}

#[test]
fn requests_in_flight_are_counted_and_latency_is_kept() {
    let server = start(json!({"latency_ms": 100}));
    let start = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..20 {
            scope.spawn(|| post(&server, CHAT, "", &plain("hi")));
        }
    });
    assert!(start.elapsed() >= Duration::from_millis(100));
    // One by one, it would take two seconds.
    assert!(start.elapsed() < Duration::from_millis(1500));
    assert!(server.max_in_flight() > 1);
    assert!(server.max_in_flight() <= 20);
}

#[test]
fn a_client_that_leaves_early_has_bought_nothing() {
    let server = start(json!({"latency_ms": 100}));
    let mut client = Client::connect(&server);
    client.send(CHAT, "", &plain("hi").to_string()).unwrap();
    while server.seen().is_empty() {}
    drop(client);
    post(&server, CHAT, "", &plain("hi"));
    let answered: Vec<bool> = server.seen().iter().map(|seen| seen.answered).collect();
    assert_eq!(answered, [false, true]);
    assert!(server.bought_twice().is_empty());
}

#[test]
fn a_port_that_is_taken_is_an_error() {
    let server = start(json!({}));
    let port = server.address().rsplit(':').next().unwrap().parse().unwrap();
    assert!(juror_scripted::Server::start_on(script(json!({})), port).is_err());
}
