//! What the server answers besides calls.

use serde_json::{Value, json};

use crate::stage::{KEY, Opened, Stage, request};

#[test]
fn calls_of_a_query_are_recorded_where_they_are_served() {
    let stage = Stage::new();
    let served = stage.serve("--tools tools --cache cache");
    let mut client = served.client();
    let call = request("Sky", "Now", json!({"city": "Oslo"})).to_string();
    let opened = served.open("r%201", "588");
    let path = opened.virtual_path.as_str();
    assert_eq!(client.post(path, &call).json()["response"], "rain");
    let miss = request("Sky", "Now", json!("{\"city\": \"Rome\"}")).to_string();
    assert_eq!(client.post(path, &miss).header("juror-source"), Some("none"));
    let other = served.open_more(&opened, "r%201", "608");
    client.post(&other.virtual_path, &call);
    client.post("/virtual", &call);
    let recorded = opened.calls(&mut client).json();
    assert_eq!((&recorded["run"], &recorded["query"]), (&json!("r 1"), &json!("588")));
    let calls = recorded["calls"].as_array().expect("calls");
    let shown: Vec<Value> = calls
        .iter()
        .map(|call| {
            json!([call["tool_name"], call["api_name"], call["tool_input"], call["source"]])
        })
        .collect();
    assert_eq!(
        json!(shown),
        json!([["Sky", "Now", {"city": "Oslo"}, "cache"], ["Sky", "Now", {"city": "Rome"}, "none"]])
    );
    assert_eq!(calls[0]["reply"], json!({"error": "", "response": "rain"}));
    assert!(!recorded.to_string().contains(KEY));
    for path in [
        "/runs//588/s/virtual",
        "/runs/a/%ff/s/virtual",
        "/runs/a/b/c/d/virtual",
        "/runs/a/b/virtual",
        "/runs/r%201/588/virtual",
    ] {
        assert!(client.post(path, &call).status >= 400, "{path}");
    }
}

#[test]
fn only_the_address_of_a_query_records_and_only_the_key_of_a_run_tells_and_forgets() {
    let stage = Stage::new();
    let served = stage.serve("--tools tools --cache cache");
    let mut client = served.client();
    let call = request("Sky", "Now", json!({"city": "Oslo"})).to_string();
    let one = served.open("r", "1");
    let two = served.open_more(&one, "r", "2");
    assert_eq!(two.key, one.key);
    client.post(&one.virtual_path, &call);
    let forged = one.virtual_path.replace("/1/", "/2/");
    assert_eq!(client.post(&forged, &call).status, 404);
    let n_calls = |opened: &Opened| {
        let calls = opened.calls(&mut served.client()).json();
        calls["calls"].as_array().expect("calls").len()
    };
    assert_eq!((n_calls(&one), n_calls(&two)), (1, 0));
    let stranger = served.open("other", "1");
    for path in ["/runs/r", "/runs/r/1"] {
        assert_eq!(stranger.ask(&mut client, "DELETE", path).status, 403, "{path}");
        let head = format!("DELETE {path} HTTP/1.1\r\nhost: localhost\r\n\r\n");
        let refused = client.ask(&head, b"").expect("a reply");
        assert_eq!(refused.status, 403, "{path}");
        let needed = "The key that the run was opened with is needed (juror-run-key)";
        assert_eq!(refused.json()["error"], needed);
    }
    assert_eq!(client.get("/runs/r/1/calls").status, 403);
    assert_eq!(client.post("/runs/r/3", b"").status, 403, "the run is another's");
    assert_eq!(stranger.ask(&mut client, "POST", "/runs/r/3").status, 403);
    let short = "POST /runs/s/1 HTTP/1.1\r\nhost: localhost\r\njuror-run-key: short\r\n\r\n";
    assert_eq!(client.ask(short, b"").expect("a reply").status, 400);
    assert_eq!((n_calls(&one), n_calls(&two)), (1, 0));
    // What is closed is closed, and opening it again gives another address.
    assert_eq!(one.ask(&mut client, "DELETE", "/runs/r/1").json()["forgotten_calls"], 1);
    assert_eq!(client.post(&one.virtual_path, &call).status, 404);
    let again = served.open_more(&one, "r", "1");
    assert_ne!(again.virtual_path, one.virtual_path);
    assert_eq!(client.post(&one.virtual_path, &call).status, 404);
    assert_eq!(n_calls(&again), 0);
    assert_eq!(one.ask(&mut client, "DELETE", "/runs/r").json()["forgotten_queries"], 2);
}

#[test]
fn recorded_calls_are_told_as_they_were() {
    let stage = Stage::new();
    stage.write("cache/Weather/sky_for_Weather/odd.json",
        r#"{"{}": {"error": "", "response": "\ud83d"}, "{'n': 1}": [1e999, {"z": 1, "b": 12345678901234567890123}]}"#);
    let served = stage.serve("--tools tools --cache cache");
    let mut client = served.client();
    let opened = served.open("r", "q");
    let mut call = |input: &str| {
        let body = format!(
            r#"{{"category": "Weather", "tool_name": "Sky", "api_name": "odd", "tool_input": {input}, "strip": "", "toolbench_key": ""}}"#
        );
        client.post(&opened.virtual_path, body).status
    };
    for input in
        ["{}", r#"{"n": 1}"#, r#""{\"n\": NaN}""#, r#"{"toolbench_key": "k", "z": 1, "a": 2}"#, "5"]
    {
        assert_eq!(call(input), 200, "{input}");
    }
    let calls = opened.calls(&mut client).body;
    for part in [
        r#""reply":{"error":"","response":"\ud83d"}"#,
        r#""reply":[1e999,{"z":1,"b":12345678901234567890123}]"#,
        r#""tool_input":{"n":null}"#,
        r#""tool_input":{"z":1,"a":2}"#,
        r#""tool_input":5,"reply":{"error":"Tool input parse error...\n""#,
    ] {
        assert!(calls.contains(part), "{part}\n{calls}");
    }
    assert_eq!(opened.ask(&mut client, "DELETE", "/runs/r").json()["forgotten_queries"], 1);
    assert_eq!(opened.calls(&mut client).status, 404);
    assert!(client.get("/metrics").body.contains("juror_connections 1\n"));
}

#[test]
fn pages_of_others_are_not_answered() {
    let stage = Stage::new();
    let served = stage.serve("--tools tools --cache cache");
    let ask = |origin: &str| {
        let head = format!(
            "GET /tools HTTP/1.1\r\nhost: {}\r\norigin: {origin}\r\n\r\n",
            served.address()
        );
        served.client().ask(&head, b"").expect("a reply").status
    };
    assert_eq!(ask("https://evil.example"), 403);
    assert_eq!(ask("null"), 403);
    assert_eq!(ask(&format!("http://{}", served.address())), 200);
}

#[test]
fn more_connections_than_allowed_wait() {
    let stage = Stage::new();
    let served = stage.serve("--tools tools --cache cache --max-connections 1");
    let mut first = served.client();
    assert_eq!(first.get("/health").status, 200);
    std::thread::scope(|scope| {
        let second = scope.spawn(|| served.client().get("/health").status);
        assert_eq!(first.get("/health").status, 200);
        drop(first);
        assert_eq!(second.join().expect("a reply"), 200);
    });
}

#[test]
fn tools_are_listed_and_found() {
    let stage = Stage::new();
    let served = stage.serve("--tools tools --cache cache");
    let mut client = served.client();
    let all = client.get("/tools").json();
    let names: Vec<&str> = all
        .as_array()
        .expect("a list")
        .iter()
        .map(|tool| tool["function"]["name"].as_str().expect("a name"))
        .collect();
    assert_eq!(names, ["scorers_for_goals", "now_for_sky", "is_id_for_sky"]);
    let now = &all[1];
    assert_eq!(now["type"], "function");
    assert_eq!(
        (&now["category"], &now["tool_name"], &now["api_name"]),
        (&json!("Weather"), &json!("Sky"), &json!("Now"))
    );
    assert_eq!(now["function"]["parameters"]["required"], json!(["city"]));
    let page = client.get("/tools?offset=1&limit=1").json();
    assert_eq!(page, json!([now]));
    assert_eq!(client.get("/tools?offset=99").json(), json!([]));
    let found = client.get("/tools/search?q=weather+of+all+places&k=1").json();
    assert_eq!(found[0]["tool_name"], "Sky");
    assert!(found[0]["score"].as_f64().expect("a score") > 0.0);
    assert_eq!(client.get("/tools/search?q=%F0%9F%91%8B%22AND(").json(), json!([]));
    for path in ["/tools?limit=x", "/tools/search", "/tools/search?q=a&k=-1"] {
        let reply = client.get(path);
        assert_eq!(reply.status, 400, "{path}");
        assert!(!reply.json()["error"].as_str().expect("an error").is_empty());
    }
}

#[test]
fn health_and_metrics_tell_what_happened() {
    let stage = Stage::new();
    let served = stage.serve("--tools tools --cache cache");
    let mut client = served.client();
    let health = client.get("/health").json();
    assert_eq!((&health["status"], &health["apis"]), (&json!("ok"), &json!(3)));
    assert_eq!(health["sources"], json!(["cache"]));
    for city in ["Oslo", "Oslo", "Rome"] {
        client.post("/virtual", request("Sky", "Now", json!({"city": city})).to_string());
    }
    client.post("/virtual", "{");
    let metrics = client.get("/metrics");
    assert!(metrics.header("content-type").expect("a type").starts_with("text/plain"));
    for line in [
        "juror_hits_total 2",
        "juror_misses_total 1",
        "juror_failed_total 1",
        "juror_refused_total 1",
        "juror_call_seconds_count{source=\"cache\"} 2",
        "juror_connections 1",
        "juror_apis 3",
    ] {
        assert!(metrics.body.lines().any(|own| own == line), "{line}\n{}", metrics.body);
    }
}

#[test]
fn a_token_is_asked_for_everywhere_but_for_health() {
    let stage = Stage::new();
    let served = stage.serve("--tools tools --cache cache --token s3cret-token");
    let mut client = served.client();
    for path in ["/tools", "/metrics", "/runs/a/b/calls"] {
        assert_eq!(client.get(path).status, 401, "{path}");
    }
    assert_eq!(client.get("/health").status, 200);
    let body = request("Sky", "Now", json!({"city": "Oslo"})).to_string();
    let mut ask = |token: &str| {
        let head = format!(
            "POST /virtual HTTP/1.1\r\nhost: localhost\r\nauthorization: {token}\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        client.ask(&head, body.as_bytes()).expect("a reply").status
    };
    assert_eq!(ask("Bearer wrong"), 401);
    assert_eq!(ask("s3cret-token"), 401);
    assert_eq!(ask("Bearer s3cret-token"), 200);
    assert_eq!(ask("bearer s3cret-token"), 200);
    let (code, said) = served.stop();
    assert_eq!(code, 0);
    assert!(!said.contains("s3cret"), "{said}");
}

#[test]
fn a_server_stops_in_good_order_and_counts_its_hits() {
    let stage = Stage::new();
    let (code, _, said) = stage.run("tools import cache");
    assert_eq!((code, said.contains("took in 2 replies of 1 API")), (0, true), "{said}");
    let served = stage.serve("--tools tools --store .juror/tools");
    for _ in 0..3 {
        let reply = served.call(&request("Sky", "Now", json!({"city": "Oslo"})));
        assert_eq!(reply.header("juror-origin"), Some("imported"));
    }
    let (code, said) = served.stop();
    assert_eq!(code, 0);
    assert!(said.contains("2 kept replies") && said.ends_with("stopped\n"), "{said}");
    let (_, stats, _) = stage.run("tools stats --json");
    let stats: Value = serde_json::from_str(&stats).expect("JSON");
    assert_eq!((&stats[0]["replies"], &stats[0]["hits"]), (&json!(2), &json!(3)));
}

#[test]
fn other_methods_and_paths_are_told_so_in_json() {
    let stage = Stage::new();
    let served = stage.serve("--tools tools --cache cache");
    let mut client = served.client();
    for (head, status) in [
        ("GET /virtual", 405),
        ("DELETE /tools", 405),
        ("POST /health", 405),
        ("GET /nothing", 404),
        ("GET /../../etc/passwd", 404),
    ] {
        let reply = client.ask(&format!("{head} HTTP/1.1\r\nhost: localhost\r\n\r\n"), b"");
        let reply = reply.expect("a reply");
        assert_eq!(reply.status, status, "{head}");
        assert_eq!(reply.json()["response"], "", "{head}");
    }
}
