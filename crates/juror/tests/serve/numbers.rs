//! Numbers that are equal and written otherwise: found for those who ask, and said so.

use serde_json::{Value, json};

use crate::http::{Reply, StandIn};
use crate::stage::{Served, Stage, request};

const REPLIES: &str = r#"{
    "{'n': 43984}": {"error": "", "response": "whole"},
    "{'n': 0.5, 'k': 1000.0}": {"error": "", "response": "thousand"},
    "{'at': {'x': [1, 2.0, True]}}": {"error": "", "response": "nested"},
    "{'n': 7}": {"error": "", "response": "seven"},
    "{'n': 7.0}": {"error": "", "response": "seven point"},
    "{'n': '5'}": {"error": "", "response": "a text"},
    "{'yes': True}": {"error": "", "response": "truth"}
}"#;

fn stage() -> Stage {
    let stage = Stage::new();
    stage.write("numbers/Weather/sky_for_Weather/now.json", REPLIES);
    stage
}

/// Calls as juror's own tools do.
fn ask(served: &Served, path: &str, input: &str) -> Reply {
    let body = request("Sky", "Now", json!(input)).to_string();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\njuror-match: numbers\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    served.client().ask(&head, body.as_bytes()).expect("a reply")
}

fn told(reply: &Reply) -> (Option<String>, Option<&str>) {
    (reply.json()["response"].as_str().map(str::to_owned), reply.header("juror-match"))
}

fn is_found(response: &str, by: Option<&'static str>) -> (Option<String>, Option<&'static str>) {
    (Some(response.to_owned()), by)
}

#[test]
fn equal_numbers_are_found_for_those_who_ask_in_folders_and_in_stores() {
    let stage = stage();
    stage.run("tools import numbers --store kept");
    for place in ["--cache numbers", "--store kept", "--cache kept"] {
        let served = stage.serve(&format!("--tools tools {place}"));
        for (input, response) in [
            (r#"{"n": 43984.0}"#, "whole"),
            (r#"{"n": 4.3984e4}"#, "whole"),
            (r#"{"n": 5e-1, "k": 1000}"#, "thousand"),
            (r#"{"at": {"x": [1.0, 2, true]}}"#, "nested"),
        ] {
            for _ in 0..2 {
                let reply = ask(&served, "/virtual", input);
                assert_eq!(told(&reply), is_found(response, Some("numbers")), "{place} {input}");
                assert_eq!(reply.header("juror-source"), Some("cache"));
            }
            let plain = served.call(&request("Sky", "Now", json!(input)));
            assert_eq!(plain.header("juror-source"), Some("none"), "others see what they expect");
        }
        for (input, response) in [(r#"{"n": 7}"#, "seven"), (r#"{"n": 0.5, "k": 1e3}"#, "thousand")]
        {
            assert_eq!(told(&ask(&served, "/virtual", input)), is_found(response, None));
        }
        let point = ask(&served, "/virtual", r#"{"n": 7.0}"#);
        assert_eq!(told(&point), is_found("seven point", None), "the letter comes first");
        for input in [r#"{"n": 5}"#, r#"{"yes": 1}"#, r#"{"k": 1000, "n": 0.5}"#, r#"{"n": 43985}"#]
        {
            let reply = ask(&served, "/virtual", input);
            assert_eq!(reply.header("juror-source"), Some("none"), "{place} {input}");
        }
        let metrics = served.client().get("/metrics").body;
        assert!(metrics.contains("juror_equal_numbers_total 8\n"), "{metrics}");
        assert!(metrics.contains("juror_hits_total 11\n"), "{metrics}");
    }
}

#[test]
fn a_call_that_is_recorded_says_how_its_reply_was_found() {
    let stage = stage();
    let served = stage.serve("--tools tools --cache numbers --log all");
    let opened = served.open("r", "q");
    ask(&served, &opened.virtual_path, r#"{"n": 43984.0}"#);
    ask(&served, &opened.virtual_path, r#"{"n": 43984}"#);
    let calls = opened.calls(&mut served.client()).json()["calls"].clone();
    assert_eq!((&calls[0]["match"], &calls[0]["source"]), (&json!("numbers"), &json!("cache")));
    assert_eq!(calls[1].get("match"), None);
    let (_, said) = served.stop();
    assert_eq!(said.matches(r#""match":"numbers""#).count(), 1, "{said}");
}

#[test]
fn settings_say_whose_numbers_are_compared_by_value() {
    let stage = stage();
    let call = |served: &Served| served.call(&request("Sky", "Now", json!({"n": 43984.0})));
    let served = stage.serve("--tools tools --cache numbers --match-numbers equal");
    assert_eq!(told(&call(&served)), is_found("whole", Some("numbers")));
    stage.write("juror.yaml", "tools: {folder: tools, cache: numbers, numbers: exact}");
    let served = stage.serve("-c juror.yaml");
    let asked = ask(&served, "/virtual", r#"{"n": 43984.0}"#);
    assert_eq!(asked.header("juror-source"), Some("none"));
    let line = r#"tools call now_for_sky {"n":43984.0} --tools tools --cache numbers"#;
    let (code, _, said) = stage.run(line);
    assert_eq!((code, said.contains("differ in: numbers")), (0, true), "{said}");
    assert_eq!(stage.run(&format!("{line} --match-numbers exact")).0, 3);
}

#[test]
fn numbers_and_order_may_both_differ() {
    let stage = stage();
    let served = stage.serve("--tools tools --cache numbers --match any-order");
    let both = r#"{"k": 1000, "n": 0.5}"#;
    assert_eq!(told(&ask(&served, "/virtual", both)), is_found("thousand", Some("numbers, order")));
    let order = served.call(&request("Sky", "Now", json!(r#"{"k": 1000.0, "n": 0.5}"#)));
    assert_eq!(told(&order), is_found("thousand", Some("order")));
    assert_eq!(
        served.call(&request("Sky", "Now", json!(both))).header("juror-source"),
        Some("none")
    );
}

#[test]
fn a_reply_that_came_meanwhile_is_found_by_equal_numbers() {
    let stage = stage();
    let model = StandIn::model(Vec::new(), r#"{"error": "", "response": "made"}"#);
    let served = stage.serve(&format!(
        "--tools tools --cache numbers --simulator chat --model m --model-url {}",
        model.url("/v1")
    ));
    assert_eq!(told(&ask(&served, "/virtual", r#"{"n": 9}"#)), is_found("made", None));
    let other = ask(&served, "/virtual", r#"{"n": 9.0}"#);
    assert_eq!(told(&other), is_found("made", Some("numbers")));
    assert_eq!(model.asked().len(), 1);
    let plain: Value = request("Sky", "Now", json!({"n": 9.0}));
    assert_eq!(served.call(&plain).header("juror-source"), Some("simulator"));
    assert_eq!(told(&ask(&served, "/virtual", r#"{"n": 9.0}"#)), is_found("made", None));
}
