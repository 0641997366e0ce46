//! Servers that fail while they answer: what a client has received is kept.

use std::fs;

use juror_testing::{Fault, Serving};
use serde_json::{Value, json};

use crate::eval::check_end;
use crate::http::{Reply, ask};
use crate::points::Points;
use crate::stage::Stage;

const N_CALLS: usize = 4;

const SKY: &str = r#"{"tool_name": "Sky", "tool_description": "Weather of all places",
    "api_list": [{"name": "Now", "description": "The weather now", "method": "GET",
        "required_parameters": [], "optional_parameters": []}]}"#;

/// A folder with a tool that a model simulates.
pub(crate) fn stage() -> Stage {
    let stage = Stage::new();
    fs::create_dir_all(stage.path("tools/Weather")).expect("a folder");
    stage.write("tools/Weather/sky.json", SKY);
    stage
}

/// The command that serves it.
pub(crate) fn command_line(model: &str, store: &str) -> String {
    format!(
        "serve --port 0 --tools tools --store {store} --log off --simulator chat --model m \
         --model-url {model}"
    )
}

fn own_line(stage: &Stage) -> String {
    command_line(&format!("{}/v1", stage.model.address()), "store")
}

/// A call of the tool with arguments of its own.
pub(crate) fn body(number: usize) -> String {
    let body = json!({"category": "Weather", "tool_name": "Sky", "api_name": "Now",
        "tool_input": {"n": number}, "strip": "", "toolbench_key": ""});
    body.to_string()
}

/// Makes the call.
pub(crate) fn call(address: &str, number: usize) -> Option<Reply> {
    ask(address, "POST", "/virtual", &body(number))
}

/// Makes all calls; returns those that were answered, with their replies.
fn call_all(serving: &Serving) -> Vec<(usize, String)> {
    let mut answered = Vec::new();
    for number in 0..N_CALLS {
        match call(&serving.address, number) {
            Some(Reply { status: 200, body }) => answered.push((number, body)),
            Some(Reply { status: 507, body }) => {
                let told: Value = serde_json::from_str(&body).expect("JSON");
                assert!(told["error"].as_str().is_some_and(|why| why.contains("cannot be kept")));
            }
            Some(other) => panic!("{other:?}"),
            None => {}
        }
    }
    answered
}

#[test]
fn what_a_client_received_is_kept_whatever_fails() {
    let stage = stage();
    let Some(watch) = stage.watch() else { return };
    let watch = watch.with_connections();
    let serving = stage.serve(stage.failing(&watch, (Fault::None, 0), &own_line(&stage)));
    let serving = serving.expect("it serves");
    assert_eq!(call_all(&serving).len(), N_CALLS);
    assert_eq!(serving.stop(), 0);
    let points = Points::of("serve", watch.calls(), &Fault::ALL);
    points.check(16, fail_at);
}

fn fail_at(fault: Fault, number: usize) {
    let stage = stage();
    let watch = stage.watch().expect("as before").with_connections();
    let answered = match stage.serve(stage.failing(&watch, (fault, number), &own_line(&stage))) {
        Ok(serving) => {
            let answered = call_all(&serving);
            let code = serving.stop();
            assert!(code == 0 || (fault.kills() && code == 137), "{code}: {}", stage.said());
            let is_hurt = fault.kills() || fault.is_told();
            assert!(is_hurt || answered.len() == N_CALLS, "{}", stage.said());
            answered
        }
        Err(ended) => {
            check_end(fault, number, &ended, &watch);
            Vec::new()
        }
    };
    stage.check_files();
    let n_asked = stage.model.seen().len();
    let again = stage.serve(stage.command(&own_line(&stage))).expect("it serves again");
    for (number, body) in &answered {
        let reply = call(&again.address, *number).expect("a reply");
        assert_eq!((reply.status, &reply.body), (200, body), "another answer than before");
    }
    assert_eq!(stage.model.seen().len(), n_asked, "kept replies are not asked for again");
    assert_eq!(call_all(&again).len(), N_CALLS, "the others are answered now");
    assert_eq!(again.stop(), 0);
}
