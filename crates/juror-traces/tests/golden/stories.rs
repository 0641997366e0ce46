//! The stories, and every dialect that tells them.

use juror_traces::Oddity;
use serde_json::{Value, json};

use crate::story::{Call, Event, Reply, Teller, check, import};
use crate::{messages, openinference, otlp, sessions, vendors};

fn tellers() -> Vec<Teller> {
    let all = [
        messages::TELLERS,
        sessions::TELLERS,
        otlp::TELLERS,
        openinference::TELLERS,
        vendors::TELLERS,
    ];
    all.concat()
}

fn call(id: &'static str, args: Value) -> Call {
    Call { id, name: "weather", args }
}

fn reply(call: &Call, content: &str) -> Event {
    Event::Result(Reply { call: call.clone(), content: json!(content), fails: false })
}

fn failure(call: &Call, why: &str) -> Event {
    Event::Result(Reply { call: call.clone(), content: json!(why), fails: true })
}

const QUESTION: Event = Event::Ask("How warm is it?");
const ANSWER: Event = Event::Say("4 degrees.");

#[test]
fn parallel_calls_are_in_order_whatever_the_order_of_their_results() {
    let (first, second) = (call("c1", json!({"n": 1})), call("c2", json!({"n": 2})));
    for teller in tellers() {
        let calls = Event::Calls(vec![first.clone(), second.clone()]);
        let mut results = vec![reply(&first, "one"), reply(&second, "two")];
        if teller.has_ids {
            results.reverse();
        }
        let story = [vec![QUESTION, calls], results, vec![ANSWER]].concat();
        let conversation = check(
            &teller.name(),
            &(teller.write)(&story),
            &["weather {\"n\":1} → one", "weather {\"n\":2} → two"],
            Some("4 degrees."),
            &[(Oddity::NoResult, 0), (Oddity::ResultWithoutCall, 0)],
        );
        assert_eq!(conversation.questions, ["How warm is it?"], "{}", teller.name());
        if teller.has_ids {
            let ids: Vec<&str> = conversation.steps.iter().map(|step| step.id.as_str()).collect();
            assert_eq!(ids, ["c1", "c2"], "{}", teller.name());
        }
    }
}

#[test]
fn every_dialect_is_recognized_by_its_name() {
    let first = call("c1", json!({"n": 1}));
    let story = [QUESTION, Event::Calls(vec![first.clone()]), reply(&first, "one"), ANSWER];
    for teller in tellers() {
        let trace = (teller.write)(&story);
        let (_, report) = import(&trace);
        let recognized = report.recognized();
        assert!(recognized.contains(teller.dialect), "{}: {recognized}\n{trace}", teller.name());
    }
}

#[test]
fn a_call_without_a_result_is_an_error() {
    let (first, second) = (call("c1", json!({"n": 1})), call("c2", json!({"n": 2})));
    for teller in tellers().into_iter().filter(|teller| teller.has_ids) {
        let calls = Event::Calls(vec![first.clone(), second.clone()]);
        let story = [QUESTION, calls, reply(&second, "two"), ANSWER];
        check(
            &teller.name(),
            &(teller.write)(&story),
            &["weather {\"n\":1} ✗ no result recorded (no_result)", "weather {\"n\":2} → two"],
            Some("4 degrees."),
            &[(Oddity::NoResult, 1)],
        );
    }
}

#[test]
fn arguments_that_are_not_json_are_kept() {
    let broken = call("c1", json!("{\"n\": "));
    for teller in tellers() {
        let story =
            [QUESTION, Event::Calls(vec![broken.clone()]), failure(&broken, "what?"), ANSWER];
        let (conversations, report) = import(&(teller.write)(&story));
        let told = teller.name();
        let [step] = &conversations[0].steps[..] else { panic!("{told}: one step") };
        let response = conversations[0].response("q1", None);
        let step_as_written = &response["actual_steps"][0];
        assert_eq!(step_as_written["args"], json!({}), "{told}");
        assert_eq!(step_as_written["args_raw"], "{\"n\": ", "{told}");
        assert_eq!(step_as_written["call_status"], "invalid_args", "{told}");
        assert_eq!((step.error.is_some(), step.output.is_none()), (true, true), "{told}");
        assert_eq!(report.count(Oddity::InvalidArgs), 1, "{told}");
    }
}

#[test]
fn contents_that_are_no_texts_become_json() {
    let first = call("c1", json!({"n": 1}));
    let content = json!({"celsius": 4, "sky": ["grey", null]});
    for teller in tellers() {
        let result = Reply { call: first.clone(), content: content.clone(), fails: false };
        let story = [QUESTION, Event::Calls(vec![first.clone()]), Event::Result(result), ANSWER];
        let (conversations, _) = import(&(teller.write)(&story));
        let output = conversations[0].steps[0].output.clone().unwrap_or_default();
        let read: Value = serde_json::from_str(&output).unwrap_or_default();
        assert_eq!(read, content, "{}: {output}", teller.name());
    }
}

#[test]
fn a_failed_call_that_is_tried_again_is_two_steps() {
    let (first, second) = (call("c1", json!({"n": 1})), call("c2", json!({"n": 1})));
    let story = [
        QUESTION,
        Event::Calls(vec![first.clone()]),
        failure(&first, "down"),
        Event::Calls(vec![second.clone()]),
        reply(&second, "up"),
        ANSWER,
    ];
    for teller in tellers() {
        let sign = if teller.has_failures { '✗' } else { '→' };
        check(
            &teller.name(),
            &(teller.write)(&story),
            &[&format!("weather {{\"n\":1}} {sign} down"), "weather {\"n\":1} → up"],
            Some("4 degrees."),
            &[(Oddity::NoResult, 0), (Oddity::SecondResult, 0)],
        );
    }
}

#[test]
fn an_agent_that_is_a_tool_is_one_step() {
    let asked = Call { id: "c1", name: "ask_gardener", args: json!({"question": "How warm?"}) };
    let story = [QUESTION, Event::Calls(vec![asked.clone()]), reply(&asked, "It is 4."), ANSWER];
    for teller in tellers() {
        check(
            &teller.name(),
            &(teller.write)(&story),
            &["ask_gardener {\"question\":\"How warm?\"} → It is 4."],
            Some("4 degrees."),
            &[],
        );
    }
}

#[test]
fn tools_that_are_only_defined_are_no_steps() {
    for teller in tellers() {
        let trace = (teller.write)(&[Event::Tools, QUESTION, ANSWER]);
        check(&teller.name(), &trace, &[], Some("4 degrees."), &[(Oddity::InvalidArgs, 0)]);
    }
}

#[test]
fn a_repeated_history_counts_once() {
    let (first, second) = (call("c1", json!({"n": 1})), call("c2", json!({"n": 1})));
    let story = [
        QUESTION,
        Event::Calls(vec![first.clone()]),
        reply(&first, "one"),
        Event::Calls(vec![second.clone()]),
        reply(&second, "two"),
        ANSWER,
    ];
    for teller in tellers().into_iter().filter(|teller| !teller.is_flat) {
        let again = match messages::repeated(&teller, &story) {
            Some(trace) => trace,
            // Spans repeat what came before in each prompt anyway.
            None => (teller.write)(&story),
        };
        check(
            &teller.name(),
            &again,
            &["weather {\"n\":1} → one", "weather {\"n\":1} → two"],
            Some("4 degrees."),
            &[(Oddity::NoResult, 0), (Oddity::SecondResult, 0), (Oddity::ResultWithoutCall, 0)],
        );
        let (_, report) = import(&again);
        assert!(report.count(Oddity::RepeatedHistory) > 0, "{}\n{again}", teller.name());
    }
}
