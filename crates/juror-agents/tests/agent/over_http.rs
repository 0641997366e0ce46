//! The agent and a model server: protocols, refusals, failures, limits, kept replies.

use juror_agents::chat_agent::{Ending, PURPOSE, QueuedModel};
use juror_models::CacheMode;
use serde_json::{Value, json};

use crate::stage::{Stage, answer, call, give_up, run_with, shelf};

const METHODS: [&str; 2] = ["CoT@1", "DFS_woFilter_w2"];
const PROVIDERS: [&str; 4] = ["openai", "azure", "anthropic", "gemini"];

fn answered() -> Ending {
    Ending::Answered("Oslo".into())
}

/// How many requests came, and how many of them were answered.
fn requests(stage: &Stage) -> (usize, usize) {
    let seen = stage.server.seen();
    (seen.len(), seen.iter().filter(|seen| seen.answered).count())
}

#[test]
fn every_protocol_serves_both_methods() {
    for provider in PROVIDERS {
        for stream in [false, true] {
            for method in METHODS {
                let case = format!("{provider} {method}, streamed: {stream}");
                let both = json!({"calls": {"content": "Both.", "calls": [
                    {"name": "a_for_t", "arguments": {"city": "Zürich"}},
                    {"name": "b_for_u", "arguments": {}},
                ]}});
                let mut stage = Stage::of(&[both, call(&[("a_for_t", json!({}))]), answer()]);
                stage.provider = provider;
                stage.stream = stream;
                let tools = shelf();
                let attempt = stage.run(method, &tools).expect("asking goes on");
                assert_eq!(attempt.ending, answered(), "{case}: {:?}", stage.server.seen());
                assert_eq!(requests(&stage), (3, 3), "{case}");
                let called = tools.called.lock().expect("a list").clone();
                assert_eq!(called.len(), 3, "{case}");
                assert_eq!(called[0].1, r#"{"city":"Zürich"}"#, "{case}");
                assert_eq!(attempt.calls[1].target.api, "b", "{case}");
                assert!(attempt.n_tokens > 0, "{case}");
                let raw = json!(attempt.raw()).to_string();
                assert!(raw.contains("\"description\":\"Both.\""), "{case}");
                let prompt = &stage.server.seen()[1].prompt;
                assert!(prompt.contains(r#""response": "data""#), "{case}: {prompt}");
            }
        }
    }
}

#[test]
fn functions_are_described_in_every_protocol() {
    for (provider, path) in [
        ("openai", "/tools/0/function/name"),
        ("anthropic", "/tools/0/name"),
        ("gemini", "/tools/0/functionDeclarations/0/name"),
    ] {
        let mut stage = Stage::of(&[answer()]);
        stage.provider = provider;
        stage.run("CoT@1", &shelf()).expect("asking goes on");
        let body = stage.server.seen()[0].body.clone();
        assert_eq!(body.pointer(path), Some(&json!("a_for_t")), "{provider}: {body}");
        assert!(body.to_string().contains("give_up_and_restart"), "{provider}");
        assert!(!body.to_string().contains("\"optional\""), "{provider}");
    }
}

#[test]
fn what_a_model_refuses_is_left_out_from_then_on() {
    for (provider, parameters, refused) in [
        ("openai", json!({"temperature": 0.2}), "temperature"),
        ("openai", json!({"tool_choice": "auto"}), "tool_choice"),
        ("openai", json!({"parallel_tool_calls": true}), "parallel_tool_calls"),
        ("openai", json!({"max_tokens": 100}), "max_tokens"),
        ("azure", json!({"temperature": 0.2}), "temperature"),
        ("anthropic", json!({"temperature": 0.2}), "temperature"),
        ("anthropic", json!({"tool_choice": {"type": "auto"}}), "tool_choice"),
        ("gemini", json!({"temperature": 0.2}), "temperature"),
    ] {
        let replies = [call(&[("a_for_t", json!({}))]), answer()];
        let script = json!({"replies": {"functions": replies}, "refuses": [refused]});
        let mut stage = Stage::new(script);
        stage.provider = provider;
        stage.parameters = parameters;
        let attempt = stage.run("CoT@1", &shelf()).expect("asking goes on");
        assert_eq!(attempt.ending, answered(), "{provider} {refused}");
        assert_eq!(requests(&stage), (3, 2), "{provider} {refused}: refused once");
        assert_eq!(stage.told().len(), 1, "{:?}", stage.told());
    }
}

#[test]
fn a_refused_stream_is_asked_for_whole() {
    let script = json!({"replies": {"functions": [answer()]}, "refuses": ["stream"]});
    let mut stage = Stage::new(script);
    stage.stream = true;
    assert_eq!(stage.run("CoT@1", &shelf()).expect("asking goes on").ending, answered());
}

#[test]
fn arguments_that_are_no_json_reach_the_tool_as_they_are() {
    for (provider, stream) in
        [("openai", false), ("openai", true), ("azure", true), ("anthropic", true)]
    {
        let mut stage = Stage::of(&[call(&[("a_for_t", json!("{\"q\": bro"))]), answer()]);
        stage.provider = provider;
        stage.stream = stream;
        let tools = shelf();
        let attempt = stage.run("CoT@1", &tools).expect("asking goes on");
        assert_eq!(attempt.ending, answered(), "{provider}");
        assert_eq!(tools.called.lock().expect("a list")[0].1, "{\"q\": bro", "{provider}");
    }
}

#[test]
fn a_provider_that_swallows_a_bad_call_has_said_nothing() {
    let mut stage = Stage::of(&[call(&[("a_for_t", json!("{bro"))]), answer()]);
    stage.provider = "gemini";
    let attempt = stage.run("CoT@1", &shelf()).expect("asking goes on");
    assert_eq!((attempt.ending, attempt.n_queries), (answered(), 2));
}

#[test]
fn models_that_stray_are_led_back_in_every_protocol() {
    for provider in PROVIDERS {
        for method in METHODS {
            let replies = [
                json!({"text": "Let me think."}),
                json!("empty"),
                call(&[("made_up", json!({})), ("a_for_t", json!({}))]),
                call(&[("Finish", json!({}))]),
                answer(),
            ];
            let mut stage = Stage::of(&replies);
            stage.provider = provider;
            let attempt = stage.run(method, &shelf()).expect("asking goes on");
            let case = format!("{provider} {method}");
            assert_eq!(attempt.ending, answered(), "{case}: {:?}", attempt.failures);
            assert_eq!(requests(&stage).0, 5, "{case}: nothing was refused");
        }
    }
}

#[test]
fn giving_up_begins_again_or_goes_back_in_every_protocol() {
    for provider in PROVIDERS {
        for (method, n_asked) in [("CoT@2", 4), ("DFS_woFilter_w2", 4)] {
            let first = call(&[("a_for_t", json!({}))]);
            let other = call(&[("b_for_u", json!({}))]);
            let mut stage = Stage::of(&[first, give_up(), other, answer()]);
            stage.provider = provider;
            let attempt = stage.run(method, &shelf()).expect("asking goes on");
            let case = format!("{provider} {method}");
            assert_eq!(attempt.ending, answered(), "{case}: {:?}", attempt.failures);
            assert_eq!(requests(&stage), (n_asked, n_asked), "{case}");
            let seen = stage.server.seen();
            let is_asked_again = |n: usize| seen[n].prompt.contains("led to no answer");
            assert_eq!(is_asked_again(2), method != "CoT@2", "{case}");
            assert!(!is_asked_again(3), "{case}: a question asked once");
        }
    }
}

#[test]
fn passing_failures_are_asked_again() {
    let faults = json!([{"calls": [1], "reply": {"status": {"status": 500}}},
        {"calls": [2], "reply": "truncated"}]);
    let stage = Stage::new(json!({"replies": {"functions": [answer()]}, "faults": faults}));
    let attempt = stage.run("CoT@1", &shelf()).expect("asking goes on");
    assert_eq!((attempt.ending, attempt.n_queries), (answered(), 1));
    assert_eq!(requests(&stage).0, 3);
}

#[test]
fn a_question_that_fails_for_good_ends_its_try_alone() {
    let faults = json!([{"calls": [1], "reply": {"status": {"status": 400}}}]);
    let stage = Stage::new(json!({"replies": {"functions": [answer()]}, "faults": faults}));
    let attempt = stage.run("CoT@2", &shelf()).expect("asking goes on");
    assert_eq!(attempt.ending, answered());
    assert_eq!(attempt.failures.len(), 1);
    let declined = Stage::of(&[json!({"refusal": "I will not"}), answer()]);
    let attempt = declined.run("DFS_woFilter_w2", &shelf()).expect("asking goes on");
    assert_eq!(attempt.ending, answered());
    assert!(attempt.failures[0].contains("I will not"), "{:?}", attempt.failures);
}

#[test]
fn a_wrong_key_or_a_spent_budget_stops_the_attempt() {
    let stage = Stage::new(json!({"key": "another"}));
    let stopped = stage.run("DFS_woFilter_w2", &shelf()).expect_err("nobody is let in");
    assert!(stopped.0.contains("refuses the key") && !stopped.0.contains("sk-secret"), "{stopped}");
    assert_eq!(requests(&stage).0, 1);

    let usage = json!({"prompt_tokens": 1_000_000, "completion_tokens": 0});
    let replies: Vec<Value> = (0..9).map(|_| call(&[("a_for_t", json!({}))])).collect();
    let mut stage = Stage::new(json!({"replies": {"functions": replies}, "usage": usage}));
    stage.limits.max_cost = Some(2.5);
    let stopped = stage.run("CoT@1", &shelf()).expect_err("it costs too much");
    assert!(stopped.0.contains("ceiling"), "{stopped}");
    assert_eq!(requests(&stage).0, 3);
}

#[test]
fn the_same_question_asked_twice_is_two_calls_and_both_are_kept() {
    // Both tries begin with the same words; the first gives up at once.
    let stage = Stage::of(&[give_up(), answer()]);
    let attempt = stage.run("CoT@2", &shelf()).expect("asking goes on");
    assert_eq!(attempt.ending, answered());
    assert_eq!((requests(&stage).0, stage.cache.len()), (2, 2));
    let again = stage.run("CoT@2", &shelf()).expect("asking goes on");
    assert_eq!(again.ending, answered());
    assert_eq!(json!(again.raw()), json!(attempt.raw()), "the same, from what was kept");
    assert_eq!(requests(&stage).0, 2, "nothing is bought twice");
}

#[test]
fn kept_replies_lead_through_a_whole_attempt_without_a_server() {
    for provider in PROVIDERS {
        for method in METHODS {
            let replies = [
                call(&[("a_for_t", json!({"q": 1})), ("made_up", json!({}))]),
                give_up(),
                call(&[("b_for_u", json!({}))]),
                answer(),
            ];
            let mut stage = Stage::of(&replies);
            stage.provider = provider;
            let first = stage.run(method, &shelf()).expect("asking goes on");
            let n_bought = requests(&stage).0;
            stage.mode = CacheMode::ReadOnly;
            let second = stage.run(method, &shelf()).expect("all is known");
            assert_eq!(json!(first.raw()), json!(second.raw()), "{provider} {method}");
            assert_eq!(requests(&stage).0, n_bought, "{provider} {method}");
        }
    }
    let mut stage = Stage::of(&[answer()]);
    stage.mode = CacheMode::ReadOnly;
    assert!(stage.run("CoT@1", &shelf()).is_err(), "what was not recorded leaves the query open");
}

#[test]
fn calls_are_counted_and_priced() {
    let usage = json!({"prompt_tokens": 900_000, "completion_tokens": 100_000});
    let replies = [call(&[("a_for_t", json!({}))]), answer()];
    let stage = Stage::new(json!({"replies": {"functions": replies}, "usage": usage}));
    let models = stage.models();
    let attempt = run_with(&models, "CoT@1", &shelf()).expect("asking goes on");
    assert_eq!(attempt.n_tokens, 2_000_000);
    let tally = models.tally();
    let count = tally.purposes[PURPOSE];
    assert_eq!((count.bought, count.requests, count.usd), (2, 2, 2.0));
    assert_eq!(QueuedModel::new(&models, 0).cost().usd(), None, "nothing was asked by this one");
}
