//! Agents of the `Agent2Agent` protocol.

use serde_json::json;

use crate::endpoint::{Endpoint, Reply, Request};
use crate::stage::{Stage, each};

fn result(result: &serde_json::Value) -> Reply {
    Reply::Json(json!({"jsonrpc": "2.0", "id": 1, "result": result}))
}

fn is_card(request: &Request) -> bool {
    request.path.ends_with("/.well-known/agent-card.json")
}

#[test]
fn an_agent_is_asked_where_its_card_says_and_polled_while_it_works() {
    let stage = Stage::new();
    let server = Endpoint::start(|request, _| {
        if is_card(request) {
            // Its own host is one that only the agent knows.
            return Reply::Json(json!({"name": "Gardener", "url": "http://localhost:1/rpc",
                "protocolVersion": "0.3.0"}));
        }
        assert_eq!(request.path, "/rpc");
        if request.body["method"] == "tasks/get" {
            let id = request.body["params"]["id"].as_str().expect("an id");
            let text = json!([{"kind": "text", "text": format!("done with {id}")}]);
            return result(&json!({"kind": "task", "id": id, "status": {"state": "completed"},
                "artifacts": [{"artifactId": "a", "parts": text}]}));
        }
        assert_eq!(request.body["method"], "message/send");
        assert_eq!(request.body["params"]["message"]["role"], "user");
        result(&json!({"kind": "task", "id": request.question(), "status": {"state": "working"}}))
    });
    let ended = stage.ask(&format!("a2a:{}", server.address), "");
    assert_eq!(ended.code, 0, "{ended}");
    let wanted = ["q1", "q2", "q3", "q4"].map(|id| format!("done with What is {id}?"));
    assert_eq!(each(&stage.responses(), "actual_answer"), wanted);
}

#[test]
fn the_later_generation_of_the_protocol_is_spoken_too() {
    let stage = Stage::new();
    let server = Endpoint::start(|request, _| {
        if is_card(request) {
            return Reply::Json(json!({"name": "Gardener", "supportedInterfaces": [
                {"url": "/v1", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}]}));
        }
        assert_eq!(
            (request.path.as_str(), &request.body["method"]),
            ("/v1", &json!("SendMessage"))
        );
        assert!(request.head.to_lowercase().contains("a2a-version: 1.0"), "{}", request.head);
        result(&json!({"message": {"role": "ROLE_AGENT", "parts": [{"text": "Hello."}]}}))
    });
    let ended = stage.ask(&format!("a2a:{}", server.address), "--limit 1");
    assert_eq!(ended.code, 0, "{ended}");
    assert_eq!(stage.responses()[0]["actual_answer"], "Hello.");
}

#[test]
fn what_an_agent_fails_at_is_that_questions_error() {
    let stage = Stage::new();
    let server = Endpoint::start(|request, _| match request.question().as_str() {
        _ if is_card(request) => Reply::Text(404, "", ""),
        "What is q1?" => result(&json!({"id": "t", "status": {"state": "failed",
            "message": {"parts": [{"kind": "text", "text": "no idea"}]}}})),
        "What is q2?" => Reply::Json(json!({"error": {"code": -32601, "message": "no method"}})),
        "What is q3?" => Reply::Text(200, "", "not JSON"),
        _ => Reply::Hang,
    });
    let ended = stage.ask(&format!("a2a:{}", server.address), "--agent-timeout 2");
    assert_eq!(ended.code, 3, "{ended}");
    let responses = stage.responses();
    let error = |at: usize| responses[at]["error"].as_str().unwrap_or("none");
    assert_eq!(error(0), "the agent failed: no idea");
    assert_eq!(error(1), "the agent answers with an error: no method");
    assert!(error(2).contains("not JSON"), "{responses:?}");
    assert!(error(3).contains("did not respond for 2 s"), "{responses:?}");
}
