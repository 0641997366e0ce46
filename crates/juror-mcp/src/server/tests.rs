use std::sync::Arc;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

use super::*;

/// Tools that say how they were called; `never` never answers.
struct Fake;

impl ToolHost for Fake {
    fn page<'a>(&'a self, cursor: Option<&'a str>) -> Pending<'a, Result<Page, RpcError>> {
        Box::pin(async move {
            match cursor {
                None => Ok(Page { tools: "[1]".into(), next: Some("n".into()) }),
                Some("n") => Ok(Page { tools: "[2]".into(), next: None }),
                Some(_) => Err(RpcError::bad_parameters("no such page")),
            }
        })
    }

    fn call<'a>(
        &'a self,
        name: &'a str,
        arguments: &'a RawValue,
    ) -> Pending<'a, Result<CallResult, RpcError>> {
        Box::pin(async move {
            match name {
                "never" => std::future::pending().await,
                "unknown" => Err(RpcError::bad_parameters("no such tool")),
                _ => Ok(CallResult { text: arguments.get().into(), is_error: name == "bad" }),
            }
        })
    }
}

async fn over(transport: Transport<'_>, message: &Value) -> (u16, Value) {
    let reply = answer(&Fake, transport, &message.to_string()).await;
    let body = reply.body.map(|body| serde_json::from_str(&body).expect("JSON"));
    (reply.status, body.unwrap_or_default())
}

fn stateless(method: &str, more: &Value) -> Value {
    let mut params = json!({"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {}}});
    params.as_object_mut().expect("fields").extend(more.as_object().expect("fields").clone());
    json!({"jsonrpc": "2.0", "id": "a", "method": method, "params": params})
}

#[tokio::test]
async fn a_handshake_agrees_on_a_revision() {
    for (asked, agreed) in
        [("2025-06-18", "2025-06-18"), ("2025-11-25", "2025-11-25"), ("1999-01-01", "2025-11-25")]
    {
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize",
            "params": {"protocolVersion": asked, "capabilities": {}}});
        let (status, reply) = over(Transport::Http(Headers::default()), &message).await;
        assert_eq!((status, &reply["result"]["protocolVersion"]), (200, &json!(agreed)));
        assert_eq!(reply["result"]["serverInfo"]["name"], "juror");
    }
    let message = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(over(Transport::Lines, &message).await, (202, Value::Null));
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    assert_eq!(over(Transport::Lines, &message).await.1["result"], json!({}));
}

#[tokio::test]
async fn lists_come_page_by_page() {
    let list = |cursor: Option<&str>| json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"cursor": cursor}});
    let (_, first) = over(Transport::Lines, &list(None)).await;
    assert_eq!(first["result"], json!({"tools": [1], "nextCursor": "n"}));
    let (_, second) = over(Transport::Lines, &list(Some("n"))).await;
    assert_eq!(second["result"], json!({"tools": [2]}));
    assert_eq!(over(Transport::Lines, &list(Some("x"))).await.1["error"]["code"], -32602);
}

#[tokio::test]
async fn a_request_without_a_handshake_says_everything_itself() {
    let (_, reply) = over(Transport::Lines, &stateless("server/discover", &json!({}))).await;
    assert_eq!(reply["result"]["supportedVersions"][0], "2026-07-28");
    assert_eq!(reply["result"]["resultType"], "complete");
    let (_, reply) = over(Transport::Lines, &stateless("tools/list", &json!({}))).await;
    assert_eq!(reply["result"]["cacheScope"], "private");
    let call = stateless("tools/call", &json!({"name": "t", "arguments": {"b": 1, "a": 2}}));
    let (_, reply) = over(Transport::Lines, &call).await;
    assert_eq!(reply["result"]["resultType"], "complete");
    let headers = Headers { version: Some("2026-07-28"), ..Headers::default() };
    let message = stateless("ping", &json!({}));
    let headers = Headers { method: Some("ping"), ..headers };
    let (status, reply) = over(Transport::Http(headers), &message).await;
    assert_eq!((status, &reply["error"]["code"]), (404, &json!(-32601)));
}

#[tokio::test]
async fn headers_that_contradict_the_body_are_refused() {
    let call = stateless("tools/call", &json!({"name": "tä", "arguments": {}}));
    let right = Headers {
        version: Some("2026-07-28"),
        method: Some("tools/call"),
        name: Some("=?base64?dMOk?="),
    };
    assert_eq!(over(Transport::Http(right), &call).await.0, 200);
    for wrong in [
        Headers { version: Some("2025-11-25"), ..right },
        Headers { version: None, ..right },
        Headers { method: Some("tools/list"), ..right },
        Headers { name: Some("other"), ..right },
        Headers { name: None, ..right },
    ] {
        let (status, reply) = over(Transport::Http(wrong), &call).await;
        assert_eq!((status, &reply["error"]["code"]), (400, &json!(-32020)), "{wrong:?}");
        assert_eq!(reply["id"], "a");
    }
    let plain = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let unknown = Headers { version: Some("2031-01-01"), ..Headers::default() };
    let (status, reply) = over(Transport::Http(unknown), &plain).await;
    assert_eq!((status, &reply["error"]["code"]), (400, &json!(-32022)));
    assert_eq!(reply["error"]["data"]["requested"], "2031-01-01");
    let lacking = Headers { version: Some("2026-07-28"), ..Headers::default() };
    assert_eq!(over(Transport::Http(lacking), &plain).await.0, 400);
}

#[tokio::test]
async fn bad_messages_are_told_what_is_wrong() {
    for (text, code) in [
        ("{", -32700),
        ("[]", -32600),
        (r#"{"id": 1.5, "method": "ping"}"#, -32600),
        (r#"{"id": 1, "method": "nothing"}"#, -32601),
        (r#"{"id": 1, "method": "tools/call", "params": {}}"#, -32602),
        (r#"{"id": 1, "method": "tools/call", "params": {"name": "t", "arguments": []}}"#, -32602),
        (r#"{"id": 1, "method": "tools/call", "params": 5}"#, -32602),
        (r#"{"id": 1, "method": "tools/call", "params": {"name": "unknown"}}"#, -32602),
    ] {
        let reply = answer(&Fake, Transport::Lines, text).await;
        let reply: Value = serde_json::from_str(&reply.body.expect("a reply")).expect("JSON");
        assert_eq!(reply["error"]["code"], code, "{text}");
    }
}

#[tokio::test]
async fn a_slow_tool_holds_up_nobody_and_can_be_cancelled() {
    let (client, server) = tokio::io::duplex(1 << 16);
    let (input, output) = tokio::io::split(server);
    let serving = tokio::spawn(serve_lines(Arc::new(Fake), input, output));
    let (reader, mut writer) = tokio::io::split(client);
    let mut replies = BufReader::new(reader).lines();
    let call = |id: u32, name: &str| {
        json!({"id": id, "method": "tools/call", "params": {"name": name}}).to_string() + "\n"
    };
    let cancel = json!({"method": "notifications/cancelled", "params": {"requestId": 1}});
    let lines = format!("{}\n{}{cancel}\n", call(1, "never"), call(2, "bad"));
    writer.write_all(lines.as_bytes()).await.expect("written");
    let reply = replies.next_line().await.expect("a stream").expect("a reply");
    let reply: Value = serde_json::from_str(&reply).expect("JSON");
    assert_eq!((&reply["id"], &reply["result"]["isError"]), (&json!(2), &json!(true)));
    writer.shutdown().await.expect("closed");
    serving.await.expect("ended").expect("served");
    assert_eq!(replies.next_line().await.expect("a stream"), None);
}
