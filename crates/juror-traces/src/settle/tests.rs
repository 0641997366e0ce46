//! Calls that are recorded several times, in all ways that histories and spans do.

use serde_json::json;

use super::*;
use crate::args::Args;
use crate::call::CallResult;
use crate::conversation::Step;
use crate::outcome::Outcome;

fn request(id: &str, name: &str, args: serde_json::Value) -> Call {
    Call::requested(Some(id.to_owned()), name, Args::of(Some(&args)), "/x".to_owned())
}

fn result(id: &str, content: &str) -> CallResult {
    CallResult::unflagged(Some(id.to_owned()), &json!(content))
}

fn shown(transcript: Transcript) -> (Vec<String>, Conversation) {
    let conversation = transcript.settle(&Rules::default());
    let show = |step: &Step| {
        let end = step.output.clone().or_else(|| step.error.clone()).unwrap_or_default();
        format!("{} {} {end}", step.id, serde_json::Value::Object(step.args.clone()))
    };
    (conversation.steps.iter().map(show).collect(), conversation)
}

#[test]
fn results_find_their_calls_whatever_their_order() {
    let mut transcript = Transcript::default();
    transcript.call(request("a", "t", json!({"n": 1})));
    transcript.call(request("b", "t", json!({"n": 2})));
    transcript.result(result("b", "two"));
    transcript.result(result("a", "one"));
    transcript.result(result("c", "lost"));
    let (steps, conversation) = shown(transcript);
    assert_eq!(steps, ["a {\"n\":1} one", "b {\"n\":2} two"]);
    assert_eq!(conversation.oddities.count(Oddity::ResultWithoutCall), 1);
}

#[test]
fn a_repeated_history_counts_once() {
    let mut transcript = Transcript::default();
    for _ in 0..3 {
        transcript.call(request("a", "t", json!({"n": 1})));
        transcript.result(result("a", "one"));
    }
    transcript.call(request("a", "t", json!({"n": 2})));
    let (steps, conversation) = shown(transcript);
    assert_eq!(steps, ["a {\"n\":1} one", "a {\"n\":2} no result recorded"]);
    assert_eq!(conversation.oddities.count(Oddity::RepeatedHistory), 4);
    assert_eq!(conversation.oddities.count(Oddity::IdTwice), 1);
    assert_eq!(conversation.oddities.count(Oddity::NoResult), 1);
}

#[test]
fn execution_is_filled_from_messages() {
    let mut transcript = Transcript::default();
    transcript.call(request("a", "t", json!({"n": 1})));
    transcript.result(result("a", "one"));
    let id = Some("a".to_owned());
    let span = Call { id, made: Made::Executed, at: Some(5), ..request("a", "t", json!(null)) };
    transcript.call(span);
    let unnamed = Call {
        id: None,
        made: Made::Executed,
        at: Some(3),
        stand_in: Some("s2".into()),
        ..request("", "u", json!({"m": 1}))
    };
    transcript.call(unnamed);
    let (steps, _) = shown(transcript);
    assert_eq!(steps, ["s2 {\"m\":1} ", "a {\"n\":1} one"]);
}

#[test]
fn a_span_without_id_joins_the_request_with_its_arguments() {
    let mut transcript = Transcript::default();
    transcript.call(request("a", "t", json!({"n": 1})));
    transcript.call(request("b", "t", json!({"n": 2})));
    let span = |n: u64, at| Call {
        id: None,
        made: Made::Executed,
        at: Some(at),
        outcome: Some(Outcome::flagged(&json!(n * 10), false)),
        ..request("", "t", json!({"n": n}))
    };
    transcript.call(span(2, 1));
    transcript.call(span(1, 2));
    let (steps, _) = shown(transcript);
    assert_eq!(steps, ["b {\"n\":2} 20", "a {\"n\":1} 10"]);
}

/// As many calls as a long run makes: looking through all of them for each would take minutes.
const MANY: u64 = 20_000;

/// A call of a span that has no id.
fn unnamed_span(n: u64, args: serde_json::Value) -> Call {
    Call {
        id: None,
        made: Made::Executed,
        at: Some(n + 1),
        outcome: Some(Outcome::flagged(&json!(n), false)),
        ..request("", "t", args)
    }
}

#[test]
fn many_spans_without_ids_find_their_requests() {
    let mut transcript = Transcript::default();
    // Each argument comes up many times, and the spans come in another order than the requests.
    for n in 0..MANY {
        transcript.call(request(&format!("c{n}"), "t", json!({"n": n % 100})));
    }
    for n in (0..MANY).rev() {
        transcript.call(unnamed_span(n, json!({"n": n % 100})));
    }
    let (_, conversation) = shown(transcript);
    assert_eq!(conversation.steps.len() as u64, MANY);
    let first: Vec<_> = conversation.steps[..2]
        .iter()
        .map(|step| (step.id.as_str(), step.output.as_deref()))
        .collect();
    // The last request with an argument is that of the span that was read last, the earliest.
    assert_eq!(first, [("c19900", Some("0")), ("c19901", Some("1"))]);
    assert_eq!(conversation.oddities.count(Oddity::NoResult), 0);
}

#[test]
fn many_spans_without_contents_take_requests_in_order() {
    let mut transcript = Transcript::default();
    for n in 0..MANY {
        transcript.call(request(&format!("c{n}"), "t", json!({"n": n})));
    }
    for n in 0..MANY {
        transcript.call(unnamed_span(n, json!(null)));
    }
    let (steps, _) = shown(transcript);
    assert_eq!(steps.len() as u64, MANY);
    assert_eq!(steps[19_999], "c19999 {\"n\":19999} 19999");
}

#[test]
fn many_results_without_ids_join_by_order() {
    let mut transcript = Transcript::default();
    let unnamed = |name: &str, n: u64| Call { id: None, ..request("", name, json!({"n": n})) };
    for n in 0..MANY {
        transcript.call(unnamed(if n % 2 == 0 { "even" } else { "odd" }, n));
    }
    for name in ["odd", "even"] {
        for n in 0..MANY / 2 {
            let outcome = Outcome::unflagged(&json!(format!("{name} {n}")));
            transcript.result(CallResult { id: None, name: Some(name.to_owned()), outcome });
        }
    }
    let (steps, conversation) = shown(transcript);
    assert_eq!(steps[19_998], "call_19999 {\"n\":19998} even 9999");
    assert_eq!(steps[19_999], "call_20000 {\"n\":19999} odd 9999");
    assert_eq!(conversation.oddities.count(Oddity::ResultWithoutCall), 0);
}

#[test]
fn many_calls_of_one_id_stay_apart() {
    let mut transcript = Transcript::default();
    for n in 0..MANY {
        transcript.call(request("c", "t", json!({"n": n})));
        transcript.result(result("c", &format!("{n}")));
    }
    let (steps, conversation) = shown(transcript);
    assert_eq!(steps.len() as u64, MANY);
    assert_eq!(steps[12_345], "c {\"n\":12345} 12345");
    assert_eq!(conversation.oddities.count(Oddity::IdTwice) as u64, MANY - 1);
}

#[test]
fn a_plain_text_joins_the_only_argument_and_ids_that_differ_stay_apart() {
    let mut transcript = Transcript::default();
    transcript.call(request("a", "t", json!({"country": "Norway", "n": 1})));
    transcript.call(request("b", "t", json!({"country": "Norway"})));
    let plain = Call { args: Args::of_input(&json!("Norway")), ..unnamed_span(7, json!(null)) };
    transcript.call(plain);
    let named =
        Call { id: Some("x".to_owned()), ..unnamed_span(8, json!({"country": "Norway", "n": 1})) };
    transcript.call(named);
    let (steps, _) = shown(transcript);
    assert_eq!(
        steps,
        [
            "a {\"country\":\"Norway\",\"n\":1} no result recorded",
            "b {\"country\":\"Norway\"} 7",
            "x {\"country\":\"Norway\",\"n\":1} 8",
        ]
    );
}
