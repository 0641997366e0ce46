//! What bad input gets: a documented reply, and nothing is touched that should not be.

use std::io::Write;
use std::net::TcpStream;

use serde_json::{Value, json};

use crate::conformance::read_files;
use crate::http::{Answer, StandIn};
use crate::stage::{Stage, request};

#[test]
fn names_never_become_paths() {
    let stage = Stage::new();
    stage.write("secret/x_for_y/z.json", "{\"{}\": \"leaked\"}");
    let model = StandIn::model(Vec::new(), r#"{"error": "", "response": "made up"}"#);
    let options = format!(
        "--cache cache --write-back --simulator chat --model m --model-url {}",
        model.url("/v1")
    );
    let before = read_files(&stage.path("secret"));
    let served = stage.serve(&options);
    let tricks = [
        "../../secret/x_for_Weather",
        "../secret",
        "..",
        "/etc",
        "a/../../secret",
        "..\\..\\x",
        "x\0y",
        ".",
        "CON",
        &"x".repeat(5000),
    ];
    for trick in tricks {
        for place in ["category", "tool_name", "api_name"] {
            let mut body = request("x_for_y", "z", json!({}));
            body[place] = json!(trick);
            let reply = served.call(&body);
            assert_eq!(reply.status, 200, "{trick}");
            assert_ne!(reply.json(), json!("leaked"), "{trick}");
        }
    }
    let (code, said) = served.stop();
    assert_eq!(code, 0, "{said}");
    assert_eq!(read_files(&stage.path("secret")), before);
    let around: Vec<String> = std::fs::read_dir(stage.folder.path())
        .expect("the folder")
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    for name in &around {
        assert!(
            [".juror", "cache", "secret", "stderr.log", "tools"].contains(&name.as_str()),
            "{around:?}"
        );
    }
    let (code, _, said) = stage.run("tools export out");
    assert_eq!(code, 3, "{said}");
    assert!(said.contains("is not a name for a folder or file"), "{said}");
    assert_eq!(read_files(&stage.path("secret")), before);
}

#[test]
fn requests_that_are_too_long_or_broken_are_told_so() {
    let stage = Stage::new();
    let served = stage.serve("--tools tools --cache cache --max-body 2000");
    let long = request("Sky", "Now", json!({"city": "x".repeat(3000)})).to_string();
    let reply = served.client().post("/virtual", &long);
    assert_eq!(reply.status, 413);
    assert_eq!(reply.json()["error"], "The request is longer than 2000 bytes (--max-body)");
    let mut client = served.client();
    for (body, status) in [
        (&b"{bad"[..], 422),
        (b"", 422),
        (b"null", 422),
        (b"\"x\"", 422),
        (b"\xff\xfe", 400),
        (b"{\"category\": \"a\xff\"}", 400),
    ] {
        let reply = client.post("/virtual", body);
        assert_eq!(reply.status, status, "{body:?}");
        assert!(reply.json().is_object());
    }
    let deep = format!("{}{}", "[".repeat(900), "]".repeat(900));
    let reply = client.post("/virtual", request("Sky", "Now", json!(deep)).to_string());
    assert_eq!(reply.status, 200);
    let head =
        format!("GET /health HTTP/1.1\r\nhost: localhost\r\nx: {}\r\n\r\n", "y".repeat(1_000_000));
    // The rest of such a head is not read, so the reply may be lost with the connection.
    let status = served.client().ask(&head, b"").map(|reply| reply.status);
    assert!(matches!(status, None | Some(431)), "{status:?}");
    // One that never ends its request keeps nobody else from being served.
    let mut halfway = TcpStream::connect(served.address()).expect("a connection");
    halfway
        .write_all(b"POST /virtual HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n{")
        .expect("sent");
    assert_eq!(client.get("/health").status, 200);
}

#[test]
fn wrong_types_and_lone_surrogates_have_their_replies() {
    let stage = Stage::new();
    let model = StandIn::model(Vec::new(), r#"{"error": "", "response": "\ud83d"}"#);
    let served = stage.serve(&format!(
        "--tools tools --cache cache --simulator chat --model m --model-url {}",
        model.url("/v1")
    ));
    for input in [json!(5), json!(true), json!(null), json!([1]), json!("{"), json!("{'a': 1}")] {
        let reply = served.call(&request("Sky", "Now", input.clone()));
        assert_eq!(reply.status, 200, "{input}");
        assert_eq!(reply.json()["error"], "Tool input parse error...\n", "{input}");
    }
    let body = r#"{"category": "Weather", "tool_name": "Sky\ud800", "api_name": "Now", "tool_input": {"a": "\ud800"}, "strip": "", "toolbench_key": ""}"#;
    let reply = served.client().post("/virtual", body);
    assert_eq!(reply.status, 200);
    assert_eq!(reply.body, r#"{"error":"","response":"\ud83d"}"#);
    assert_eq!(served.client().post("/virtual", body).header("juror-source"), Some("cache"));
    served.stop();
    assert_eq!(stage.run("tools export out").0, 0);
    let exported: String = stage.read("out/Weather/sky_for_Weather/now.json");
    assert!(exported.contains(r#""{'a': '\\ud800'}""#), "{exported}");
}

#[test]
fn unknown_tools_are_answered() {
    let stage = Stage::new();
    let served = stage.serve("--tools tools --cache cache");
    let reply = served.call(&request("No such tool", "at all", json!({})));
    assert_eq!(
        (reply.status, reply.json()),
        (200, json!({"error": "No reply to this call is known", "response": ""}))
    );
}

#[test]
fn a_server_that_cannot_start_says_why() {
    let stage = Stage::new();
    let check = |line: &str, code: i32, words: &str| {
        let (own, _, said) = stage.run(line);
        assert_eq!((own, said.contains(words)), (code, true), "{line}\n{said}");
    };
    check("serve", 2, "nothing to serve");
    check("serve --tools nowhere", 2, "the tool folder `nowhere` cannot be read");
    check("serve --cache nowhere", 2, "nowhere: ");
    check("serve --tools tools --sources cache,nothing", 2, "nothing");
    check("serve --tools tools --sources real", 2, "neither `proxy` nor `hosts` is set");
    check("serve --tools tools --simulator chat", 2, "there is no model");
    check("serve --tools tools --model-url http://x", 2, "--model-url is given without --model");
    check("serve --tools tools --simulator chat --model m", 2, "no key for openai");
    check("serve --tools tools --proxy not-an-address", 2, "is not an address");
    stage.write("bad.yaml", "tools: {folder: tools, sorces: [cache]}");
    check("serve -c bad.yaml", 2, "unknown setting `sorces`");
    stage.write("config.yml", "tools_folder: tools\nport: many\n");
    check("serve -c config.yml", 2, "config.yml:2:7");
    check("validate config.yml", 2, "");
    stage.write("config.yml", "tools_folder: tools\nport: 8080\nlog_file: logs/server.log\n");
    let (code, printed, _) = stage.run("validate config.yml");
    assert_eq!((code, printed.contains("configuration of the public tool server: ok")), (0, true));
    stage.write("store/tools.sqlite", "this is no database, and nobody may say that it is one");
    check("serve --tools tools --store store", 2, "not a store of replies, or damaged");
    check("serve --tools tools --store bad.yaml", 2, "a folder is needed, and this is a file");
    check("serve --tools tools --token= ", 2, "the token is empty");
    check("serve --tools tools --host 0.0.0.0", 2, "other machines could call these tools");
    check("serve --tools tools --cache cache --write-back --no-keep", 2, "--write-back needs");
    assert!(stage.read("store/tools.sqlite").starts_with("this is no database"));
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = taken.local_addr().expect("an address").port();
    check(&format!("serve --tools tools --port {port}"), 3, "cannot listen at 127.0.0.1");
}

#[test]
fn unreadable_files_are_reported_and_left() {
    let stage = Stage::new();
    stage.write("tools/Weather/broken.json", "{\"tool_name\": ");
    stage.write("cache/Weather/sky_for_Weather/torn.json", "{\"{}\": {\"error\"");
    stage.write("cache/Weather/sky_for_Weather/list.json", "[1, 2]");
    let served = stage.serve("--tools tools --cache cache");
    let reply = served.call(&request("Sky", "torn", json!({})));
    assert_eq!(reply.header("juror-source"), Some("none"));
    served.call(&request("Sky", "torn", json!({"again": 1})));
    let (_, said) = served.stop();
    assert!(said.contains("warning: Weather/broken.json:1:14"), "{said}");
    assert_eq!(said.matches("torn.json: not a JSON object at 1:").count(), 1, "told once: {said}");
    let (code, _, said) = stage.run("tools import cache");
    assert_eq!(code, 3, "{said}");
    assert!(said.contains("took in 2 replies") && said.contains("list.json"), "{said}");
    assert_eq!(stage.read("cache/Weather/sky_for_Weather/list.json"), "[1, 2]");
    let value: Value = serde_json::from_str(&stage.run("tools stats --json").1).expect("JSON");
    assert_eq!(value[0]["replies"], 2);
}

#[test]
fn files_that_hold_no_replies_are_not_taken_for_replies() {
    let stage = Stage::new();
    let tool = stage.read("tools/Weather/sky.json");
    stage.write("wrong/tools/Weather/sky.json", &tool);
    let (code, _, said) = stage.run("tools import wrong");
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("wrong: no replies are found here\n  hint: name the folder"), "{said}");
    assert!(!stage.path(".juror").exists());
    stage.write("cache/Weather/sky_for_Weather/tool.json", &tool);
    let (code, _, said) = stage.run("tools import cache");
    assert_eq!(code, 3, "{said}");
    assert!(said.contains("tool.json: not a file of replies"), "{said}");
    assert!(said.contains("took in 2 replies of 1 API to"), "{said}");
    let served = stage.serve("--tools tools --cache cache");
    let reply = served.call(&request("Sky", "tool", json!({})));
    assert_eq!(reply.header("juror-source"), Some("none"));
    let (_, said) = served.stop();
    assert!(said.contains("tool.json: not a file of replies"), "{said}");
}

#[test]
fn log_lines_stay_short_whatever_is_asked_or_said() {
    let stage = Stage::new();
    let long = "x".repeat(100_000);
    let text = long.clone();
    let real = StandIn::start(move |_, _| Answer::Say(500, text.clone()));
    let model = StandIn::model(vec![long.clone()], &long);
    let served = stage.serve(&format!(
        "--tools tools --cache cache --log all --simulator chat --model m --model-url {} --proxy {}",
        model.url("/v1"),
        real.url("/virtual")
    ));
    served.call(&request("Sky", "Now", json!({"city": long})));
    served.call(&request(&long, &long, json!({})));
    served.call(&request("Sky", &long, json!({})));
    let (_, said) = served.stop();
    let longest = said.lines().map(str::len).max().unwrap_or(0);
    assert!(longest < 5_000, "{longest}");
    assert!(said.contains("more bytes"), "{said}");
}

#[test]
#[cfg(unix)]
fn a_pipe_among_the_files_is_told_and_not_waited_for() {
    let stage = Stage::new();
    let pipes = ["tools/Weather/pipe.json", "cache/Weather/sky_for_Weather/Pipe.json"];
    for pipe in pipes {
        let made =
            std::process::Command::new("mkfifo").arg(stage.folder.path().join(pipe)).status();
        assert!(made.expect("mkfifo runs").success());
    }
    let served = stage.serve("--tools tools --cache cache");
    let reply = served.call(&request("Sky", "Now", json!({"city": "Oslo"})));
    assert_eq!(reply.header("juror-source"), Some("cache"));
    served.call(&request("Sky", "Pipe", json!({})));
    let (_, said) = served.stop();
    assert!(
        said.contains("Weather/pipe.json") && said.contains("it is not a regular file"),
        "{said}"
    );
}
