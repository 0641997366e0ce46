//! Servers that die, hang, send garbage or too much: calls fail as replies, and others go on.

use serde_json::json;

use crate::stage::Stage;

/// A server that introduces itself, lists `weather`, and then does what a script says.
fn script(then: &str) -> String {
    let introduce = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"live"}}}"#;
    let list = r#"{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"weather","inputSchema":{"type":"object"}}]}}"#;
    format!(
        "read a; echo 'log line'; echo '{introduce}'; read b; read c; echo '{list}'; read d; {then}"
    )
}

#[test]
fn calls_of_a_bad_server_fail_as_replies() {
    for (then, why) in [
        ("exit 3", "the MCP server `sh server.sh`: it has ended with exit code 3"),
        ("sleep 600", "no reply within 1 s; it sent a line that is not a message: `log line`"),
        ("yes garbage", "it sends lines that are not messages"),
        ("echo '{\"jsonrpc\":\"2.0\",\"id\":3}'; sleep 600", "neither `result` nor `error`"),
    ] {
        let stage = Stage::new();
        stage.write("server.sh", &script(then));
        stage.write("juror.yaml", "tools: {real: {timeout_seconds: 1}}");
        let proxy = "mcp:/bin/sh server.sh";
        let output = stage.run(&[
            "tools",
            "call",
            "weather",
            "{\"city\": \"Oslo\"}",
            "-c",
            "juror.yaml",
            "--proxy",
            proxy,
        ]);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(3), "{told}");
        assert!(told.contains(why), "{then}\n{told}");
        let reply = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(reply.contains("gave no usable reply"), "{reply}");
    }
}

#[test]
fn a_server_that_dies_is_started_again_for_the_next_call() {
    let stage = Stage::new();
    let back = r#"{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"back"}]}}"#;
    let dies = script("touch died; exit 3");
    let again = dies.replace(
        "read b; read c; ",
        &format!("read b; read c; [ -e died ] && echo '{back}' && read d; "),
    );
    stage.write("server.sh", &again);
    let served = stage.serve(&["--proxy", "mcp:/bin/sh server.sh", "--no-keep"]);
    let call = || served.call("/mcp", "weather", &json!({"city": "Oslo"}));
    let (text, is_error) = call();
    assert!(is_error && text.contains("gave no usable reply"), "{text}");
    assert_eq!(call(), ("back".to_owned(), false));
}

#[test]
fn a_server_that_cannot_be_reached_is_told_before_anything_starts() {
    let stage = Stage::new();
    for (address, why) in [
        ("mcp:true", "the MCP server `true`: it has ended with exit code 0"),
        ("mcp:/no/such/program", "cannot be started"),
        ("mcp+http://127.0.0.1:9/mcp", "the MCP server http://127.0.0.1:9/mcp"),
    ] {
        let output = stage.run(&["tools", "list", "--tools", address]);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(3), "{told}");
        assert!(told.contains(why), "{told}");
    }
    let output = stage.run(&["tools", "list", "--tools", "mcp:"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn ten_thousand_tools_are_listed() {
    let stage = Stage::new();
    let tools: Vec<_> = (0..10_000)
        .map(|n| json!({"name": format!("tool_{n}"), "inputSchema": {"type": "object"}}))
        .collect();
    stage.write("many.json", &json!({"tools": tools}).to_string());
    let address = format!("mcp:{} mcp --tools many.json --mcp-tools list", crate::stage::juror());
    let listed = stage.prints(&["tools", "list", "--tools", &address]);
    assert_eq!(listed.lines().count(), 10_000);
}
