//! Joins calls and their results: rules 1, 5 and 6.
//!
//! A call may be recorded several times: a model asked for it, each later prompt repeats it, and a
//! span tells that it was carried out. All of them are one step. Execution says more than a
//! request, and what it lacks is filled from the messages with the same id.

use std::collections::BTreeMap;

use hashbrown::HashMap;

use crate::call::{Call, CallStatus, Kind, Made};
use crate::conversation::{Conversation, Status, Step};
use crate::oddity::Oddity;
use crate::outcome::{Outcome, Text};
use crate::rules::Rules;
use crate::time::rfc3339;
use crate::transcript::{Recorded, Transcript};

/// Why a call without a result failed.
const NO_RESULT: &str = "no result recorded";

/// A call, with everything that is known of it.
struct Joined {
    call: Call,
    /// Which of all recorded calls it is.
    index: usize,
    /// Whether a span of the tool is among its records.
    is_executed: bool,
    /// How many results of messages it has.
    n_results: usize,
}

pub(crate) fn settle(mut transcript: Transcript, rules: &Rules) -> Conversation {
    let calls = std::mem::take(&mut transcript.calls).into_iter().enumerate();
    let (requested, executed): (Vec<_>, Vec<_>) =
        calls.partition(|(_, call)| call.made == Made::Requested);
    let results = std::mem::take(&mut transcript.results);
    let mut join = Join { transcript, joined: Vec::new(), by_id: HashMap::new() };
    for (index, call) in requested {
        join.request(call, index);
    }
    for (index, call) in executed {
        join.execute(call, index);
    }
    for recorded in results {
        join.result(recorded);
    }
    join.finish(rules)
}

struct Join {
    transcript: Transcript,
    joined: Vec<Joined>,
    by_id: HashMap<String, Vec<usize>>,
}

impl Join {
    fn odd(&mut self, oddity: Oddity, source: &str) {
        self.transcript.oddities.add(oddity, source);
    }

    fn with_id(&self, id: Option<&String>) -> &[usize] {
        id.and_then(|id| self.by_id.get(id)).map_or(&[], Vec::as_slice)
    }

    fn push(&mut self, call: Call, index: usize) {
        let is_executed = call.made == Made::Executed;
        let at = self.joined.len();
        if let Some(id) = &call.id {
            self.by_id.entry(id.clone()).or_default().push(at);
        }
        self.joined.push(Joined { call, index, is_executed, n_results: 0 });
    }

    /// Adds a call that a model asked for, unless an earlier history has it.
    fn request(&mut self, call: Call, index: usize) {
        let is_same = |at: &&usize| {
            let known = &self.joined[**at].call;
            known.name == call.name && known.args.agree(&call.args)
        };
        let known = self.with_id(call.id.as_ref());
        let is_id_taken = !known.is_empty();
        match known.iter().find(is_same).copied() {
            Some(at) => {
                let source = call.source.clone();
                merge(&mut self.joined[at].call, &call);
                self.odd(Oddity::RepeatedHistory, &source);
            }
            None => {
                if is_id_taken {
                    let source = call.source.clone();
                    self.odd(Oddity::IdTwice, &source);
                }
                self.push(call, index);
            }
        }
    }

    /// Adds a call that was carried out: to the request with its id, or else to the first request
    /// with its name and arguments that nothing was carried out for.
    fn execute(&mut self, call: Call, index: usize) {
        let is_open = |at: &usize| !self.joined[*at].is_executed;
        let of_id = self.with_id(call.id.as_ref()).iter().copied().find(is_open);
        let found = of_id.or_else(|| self.open_request_like(&call));
        let Some(at) = found else {
            let twice = self.with_id(call.id.as_ref()).iter().copied();
            let is_repeat = |at: &usize| {
                let known = &self.joined[*at].call;
                known.stand_in == call.stand_in && known.stand_in.is_some()
            };
            if let Some(at) = twice.clone().find(is_repeat) {
                merge(&mut self.joined[at].call, &call);
                return self.odd(Oddity::RepeatedHistory, &call.source);
            }
            if twice.count() > 0 {
                let source = call.source.clone();
                self.odd(Oddity::IdTwice, &source);
            }
            return self.push(call, index);
        };
        let request = std::mem::replace(&mut self.joined[at].call, call);
        let joined = &mut self.joined[at];
        joined.is_executed = true;
        let id = request.id.clone().or_else(|| joined.call.id.clone());
        merge(&mut joined.call, &request);
        joined.call.id = id;
    }

    fn open_request_like(&self, call: &Call) -> Option<usize> {
        let is_alike = |joined: &Joined, needs_args: bool| {
            let known = &joined.call;
            let has_room = !joined.is_executed && (call.id.is_none() || known.id.is_none());
            let is_equal = known.args.value == call.args.value && !call.args.is_missing;
            has_room
                && known.name == call.name
                && (is_equal || !needs_args && known.args.agree(&call.args))
        };
        let find = |needs_args| self.joined.iter().position(|joined| is_alike(joined, needs_args));
        find(true).or_else(|| find(false))
    }

    /// Adds a result to its call: by id, or else by name and order.
    fn result(&mut self, recorded: Recorded) {
        let Recorded { result, n_calls } = recorded;
        let is_open = |joined: &Joined| joined.n_results == 0;
        let is_before = |joined: &Joined| joined.index < n_calls;
        let found = match &result.id {
            Some(id) => {
                let known = || self.with_id(Some(id)).iter().copied();
                let open_before =
                    known().find(|at| is_open(&self.joined[*at]) && is_before(&self.joined[*at]));
                let before = || known().rfind(|at| is_before(&self.joined[*at]));
                open_before.or_else(before).or_else(|| known().next())
            }
            None => {
                let fits = |joined: &Joined| {
                    let is_named =
                        result.name.as_ref().is_none_or(|name| *name == joined.call.name);
                    is_named && is_open(joined) && joined.call.outcome.is_none()
                };
                self.joined.iter().position(fits)
            }
        };
        let Some(at) = found else {
            let source = self.transcript.source.clone();
            return self.odd(Oddity::ResultWithoutCall, &source);
        };
        let joined = &mut self.joined[at];
        let is_early = joined.index >= n_calls;
        let source = joined.call.source.clone();
        joined.n_results += 1;
        if joined.n_results > 1 {
            let known = joined.call.outcome.as_ref().map(|outcome| &outcome.content);
            let is_same = known == Some(&result.outcome.content);
            let oddity = if is_same { Oddity::RepeatedHistory } else { Oddity::SecondResult };
            return self.odd(oddity, &source);
        }
        joined.call.outcome.get_or_insert_default().fill_from(&result.outcome);
        if is_early {
            self.odd(Oddity::OutOfOrder, &source);
        }
    }

    fn finish(mut self, rules: &Rules) -> Conversation {
        let mut joined = std::mem::take(&mut self.joined);
        if joined.iter().all(|joined| joined.call.at.is_some()) {
            joined.sort_by_key(|joined| joined.call.at);
        }
        let ids = final_ids(&joined);
        let spans: BTreeMap<String, String> = joined
            .iter()
            .zip(&ids)
            .filter_map(|(joined, id)| Some((joined.call.stand_in.clone()?, id.clone())))
            .collect();
        let mut steps = Vec::with_capacity(joined.len());
        for (mut joined, id) in joined.into_iter().zip(ids) {
            if rules.leaves_out(&joined.call.name) {
                let name = &joined.call.name;
                self.transcript.leave_out(format!("call of `{name}`: the map leaves it out"));
                continue;
            }
            let parent = joined.call.parent_id.take();
            joined.call.parent_id =
                parent.map(|parent| spans.get(&parent).cloned().unwrap_or(parent));
            steps.push(self.step(joined, id, rules));
        }
        conversation(self.transcript, steps)
    }

    fn step(&mut self, joined: Joined, id: String, rules: &Rules) -> Step {
        let Joined { call, is_executed, .. } = joined;
        let outcome = call.outcome.clone();
        let is_bare = outcome.as_ref().is_none_or(|outcome| outcome.content.is_none());
        let mut ended = self.ending(&call, outcome, is_executed, rules);
        if call.args.is_invalid() {
            self.odd(Oddity::InvalidArgs, &call.source);
            let error = ended.error.take().filter(|error| error != NO_RESULT);
            ended = Ending {
                call_status: CallStatus::InvalidArgs,
                error: Some(error.unwrap_or_else(|| "the arguments are not JSON".to_owned())),
                ..Ending::default()
            };
        } else if is_executed
            && is_bare
            && call.args.is_missing
            && call.kind == Kind::Tool
            && ended.error.is_none()
        {
            self.odd(Oddity::NoContent, &call.source);
        }
        let status = if ended.error.is_some() { Status::Error } else { Status::Success };
        Step {
            name: rules.name(&call.name).to_owned(),
            args: call.args.value,
            args_raw: call.args.raw,
            id,
            status,
            output: ended.output,
            output_raw: ended.output_raw,
            output_truncated: ended.is_truncated,
            error: ended.error,
            kind: call.kind,
            call_status: ended.call_status,
            server: call.server,
            agent: call.agent,
            parent_id: call.parent_id,
            started_at: call.at.and_then(rfc3339),
            ended_at: call.until.and_then(rfc3339),
            source: call.source,
        }
    }

    /// Says how a call ended.
    fn ending(
        &mut self,
        call: &Call,
        outcome: Option<Outcome>,
        is_executed: bool,
        rules: &Rules,
    ) -> Ending {
        let state = call.state.clone().map(CallStatus::Other);
        let Some(outcome) = outcome.filter(|outcome| is_executed || *outcome != Outcome::default())
        else {
            if is_executed {
                return Ending {
                    call_status: state.unwrap_or(CallStatus::Executed),
                    ..Ending::default()
                };
            }
            self.odd(Oddity::NoResult, &call.source);
            return Ending {
                call_status: state.unwrap_or(CallStatus::NoResult),
                error: Some(NO_RESULT.to_owned()),
                ..Ending::default()
            };
        };
        let call_status = state.unwrap_or(CallStatus::Executed);
        if outcome.is_error == Some(true) {
            let error = outcome.message().unwrap_or_else(|| "the tool failed".to_owned());
            return Ending { call_status, error: Some(error), ..Ending::default() };
        }
        let Some(content) = outcome.content.as_ref().filter(|content| !content.is_null()) else {
            return Ending { call_status, output_raw: outcome.whole, ..Ending::default() };
        };
        let text = Text::of(content);
        if rules.is_error(&text.text) {
            return Ending { call_status, error: Some(text.text), ..Ending::default() };
        }
        if text.is_python {
            self.odd(Oddity::PythonText, &call.source);
        }
        Ending {
            call_status,
            output: Some(text.text),
            output_raw: outcome.whole.or(text.raw),
            is_truncated: outcome.is_truncated,
            error: None,
        }
    }
}

/// How a call ended.
struct Ending {
    call_status: CallStatus,
    output: Option<String>,
    output_raw: Option<serde_json::Value>,
    is_truncated: bool,
    error: Option<String>,
}

impl Default for Ending {
    fn default() -> Ending {
        Ending {
            call_status: CallStatus::Executed,
            output: None,
            output_raw: None,
            is_truncated: false,
            error: None,
        }
    }
}

/// Adds to a call what another record of it says.
fn merge(call: &mut Call, other: &Call) {
    call.args.fill_from(&other.args);
    match (&mut call.outcome, &other.outcome) {
        (Some(outcome), Some(other)) => outcome.fill_from(other),
        (outcome @ None, Some(other)) => *outcome = Some(other.clone()),
        (_, None) => {}
    }
    let fill = |mine: &mut Option<String>, theirs: &Option<String>| {
        if mine.is_none() {
            mine.clone_from(theirs);
        }
    };
    fill(&mut call.server, &other.server);
    fill(&mut call.agent, &other.agent);
    fill(&mut call.parent_id, &other.parent_id);
    fill(&mut call.stand_in, &other.stand_in);
    if call.kind == Kind::Tool {
        call.kind = other.kind;
    }
    match (call.at, other.at) {
        (None, _) => (call.at, call.until) = (other.at, other.until),
        // Histories repeat a request later than it was made.
        (Some(mine), Some(theirs)) if call.made == other.made && theirs < mine => {
            call.at = other.at;
        }
        _ => {}
    }
}

/// Returns the id of each step: the call's, a stand-in, or its place in the order.
fn final_ids(joined: &[Joined]) -> Vec<String> {
    let id = |(at, joined): (usize, &Joined)| {
        let given = joined.call.id.clone().or_else(|| joined.call.stand_in.clone());
        given.unwrap_or_else(|| format!("call_{}", at + 1))
    };
    joined.iter().enumerate().map(id).collect()
}

fn conversation(transcript: Transcript, steps: Vec<Step>) -> Conversation {
    let took = || {
        let nanoseconds = transcript.ended?.checked_sub(transcript.started?)?;
        Some((nanoseconds as f64 / 1e6).round() / 1e3)
    };
    let elapsed_sec = transcript.elapsed_sec.or_else(took);
    // A system that answered did not fail, whatever happened on the way.
    let error = transcript.error.filter(|_| transcript.answer.is_none());
    Conversation {
        question_id: transcript.question_id,
        other_ids: transcript.other_ids,
        questions: transcript.questions,
        answer: transcript.answer,
        steps,
        usage: transcript.usage,
        error,
        elapsed_sec,
        trace_id: transcript.trace_id,
        span_id: transcript.span_id,
        oddities: transcript.oddities,
        left_out: transcript.left_out,
        source: transcript.source,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::args::Args;
    use crate::call::CallResult;

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
}
