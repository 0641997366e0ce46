//! Tools over HTTP, against a server of a few lines.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use juror_agents::chat_agent::{Ending, Paced, Pauses, Tools, VirtualServer, VirtualServerSetup};
use juror_agents::environment::{Code, Setup, Step, ToolCall, ToolReply};
use serde_json::{Value, json};

use crate::scripted::{Shelf, block_on, environment};
use crate::stage::{Stage, answer, call};

/// Answers every request with a status and a body, or not at all, and keeps what it was sent.
struct ToolServer {
    url: String,
    bodies: Arc<Mutex<Vec<Value>>>,
}

fn serve(answer: Option<(u16, &'static str)>) -> ToolServer {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/virtual", listener.local_addr().expect("an address"));
    let bodies = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&bodies);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            let mut request = Vec::new();
            let mut buffer = [0; 4096];
            let sent = loop {
                let n_read = stream.read(&mut buffer).unwrap_or_default();
                request.extend_from_slice(&buffer[..n_read]);
                let text = String::from_utf8_lossy(&request).into_owned();
                let body = text.split_once("\r\n\r\n").map(|(_, body)| body.to_owned());
                let json = body.and_then(|body| serde_json::from_str::<Value>(&body).ok());
                if n_read == 0 || json.is_some() {
                    break json;
                }
            };
            kept.lock().expect("a list").extend(sent);
            let Some((status, body)) = answer else {
                // Held until the other side gives up.
                let _ = stream.read(&mut buffer);
                continue;
            };
            let head = format!(
                "HTTP/1.1 {status} X\r\nconnection: close\r\ncontent-length: {}",
                body.len()
            );
            let _ = stream.write_all(format!("{head}\r\n\r\n{body}").as_bytes());
        }
    });
    ToolServer { url, bodies }
}

fn tools(server: &ToolServer, timeout: Duration) -> VirtualServer {
    let setup = VirtualServerSetup { timeout, ..VirtualServerSetup::new(&server.url) };
    VirtualServer::new(setup, juror_models::http_client().expect("a client"))
}

fn tool_call() -> ToolCall {
    match environment(&["a_for_t"], &Setup::default()).step("a_for_t", "{\"b\": 1, \"a\": 2}") {
        Step::Call(call) => call,
        other => panic!("{other:?}"),
    }
}

const PATIENCE: Duration = Duration::from_secs(10);

#[test]
fn an_agent_calls_a_virtual_server() {
    let server = serve(Some((200, r#"{"error": "", "response": "dry"}"#)));
    let stage = Stage::of(&[call(&[("a_for_t", json!("{\"b\": 1, \"a\": 2}"))]), answer()]);
    let attempt = stage.run("CoT@1", &tools(&server, PATIENCE)).expect("asking goes on");
    assert_eq!(attempt.ending, Ending::Answered("Oslo".into()));
    assert_eq!(attempt.calls[0].code, Code::Done);
    let wanted = json!({"category": "Data", "tool_name": "t", "api_name": "a",
        "tool_input": "{\"b\": 1, \"a\": 2}", "strip": "", "toolbench_key": "EMPTY"});
    assert_eq!(*server.bodies.lock().expect("a list"), [wanted]);
    assert!(stage.server.seen()[1].prompt.contains("dry"));
}

#[test]
fn statuses_silence_and_absence_are_replies_too() {
    let call = tool_call();
    let ask = |server: &ToolServer, timeout| block_on(tools(server, timeout).call(&call));
    let refused = serve(Some((422, "{}")));
    let reply = ask(&refused, PATIENCE);
    assert_eq!(reply, ToolReply::Answered { status: 422, body: "{}".into() });
    assert_eq!(reply.code(), Code::BadReply);
    let silent = serve(None);
    assert_eq!(ask(&silent, Duration::from_millis(50)), ToolReply::TimedOut);
    let gone = ToolServer { url: "http://127.0.0.1:9/virtual".into(), bodies: Arc::default() };
    assert!(matches!(ask(&gone, PATIENCE), ToolReply::Failed(_)));
}

#[test]
fn pauses_change_no_reply() {
    let limited = r#"{"error": "Rate limit per minute error...", "response": ""}"#;
    let pauses = Pauses {
        before_call: Duration::from_millis(1),
        after_rate_limit: Duration::from_millis(1),
    };
    let tools = Paced { tools: Shelf::new(&[("a", limited)]), pauses };
    assert_eq!(block_on(tools.call(&tool_call())).code(), Code::RateLimited);
}
