//! Turns joined calls into steps: how each ended, and what its record says. Rules 1, 4 and 5.

use std::collections::BTreeMap;

use super::Joined;
use crate::call::{Call, CallStatus, Kind, Made};
use crate::conversation::{Conversation, Status, Step};
use crate::oddity::Oddity;
use crate::outcome::{Outcome, Text};
use crate::rules::Rules;
use crate::time::rfc3339;
use crate::transcript::Transcript;

/// Why a call without a result failed.
const NO_RESULT: &str = "no result recorded";

/// Puts calls in order, by time if all have one, and makes steps of them.
pub(super) fn finish(
    mut transcript: Transcript,
    mut joined: Vec<Joined>,
    rules: &Rules,
) -> Conversation {
    if joined.iter().all(|joined| joined.call.at.is_some()) {
        joined.sort_by_key(|joined| joined.call.at);
    } else {
        joined.sort_by_key(|joined| joined.index);
    }
    let ids = final_ids(&joined);
    let spans: BTreeMap<String, String> = joined
        .iter()
        .zip(&ids)
        .filter_map(|(joined, id)| Some((joined.call.stand_in.clone()?, id.clone())))
        .collect();
    let mut steps = Vec::with_capacity(joined.len());
    for (Joined { mut call, .. }, id) in joined.into_iter().zip(ids) {
        if rules.leaves_out(&call.name) {
            transcript.leave_out(format!("call of `{}`: the map leaves it out", call.name));
            continue;
        }
        let parent = call.parent_id.take();
        call.parent_id = parent.map(|parent| spans.get(&parent).cloned().unwrap_or(parent));
        steps.push(step(&mut transcript, call, id, rules));
    }
    conversation(transcript, steps)
}

fn step(transcript: &mut Transcript, call: Call, id: String, rules: &Rules) -> Step {
    let outcome = call.outcome.clone();
    let is_bare = outcome.as_ref().is_none_or(|outcome| outcome.content.is_none());
    let mut ended = Ending::of(transcript, &call, outcome, rules);
    if call.args.is_invalid() {
        transcript.oddities.add(Oddity::InvalidArgs, &call.source);
        let error = ended.error.take().filter(|error| error != NO_RESULT);
        ended = Ending {
            call_status: CallStatus::InvalidArgs,
            error: Some(error.unwrap_or_else(|| "the arguments are not JSON".to_owned())),
            ..Ending::default()
        };
    } else if call.made != Made::Requested
        && is_bare
        && call.args.is_missing
        && call.kind == Kind::Tool
        && ended.error.is_none()
    {
        transcript.oddities.add(Oddity::NoContent, &call.source);
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

impl Ending {
    /// Says how a call ended.
    fn of(
        transcript: &mut Transcript,
        call: &Call,
        outcome: Option<Outcome>,
        rules: &Rules,
    ) -> Ending {
        let is_executed = call.made == Made::Executed;
        let state = call.state.clone().map(CallStatus::Other);
        let Some(outcome) = outcome.filter(|outcome| is_executed || *outcome != Outcome::default())
        else {
            if is_executed {
                return Ending {
                    call_status: state.unwrap_or(CallStatus::Executed),
                    ..Ending::default()
                };
            }
            transcript.oddities.add(Oddity::NoResult, &call.source);
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
            transcript.oddities.add(Oddity::PythonText, &call.source);
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
