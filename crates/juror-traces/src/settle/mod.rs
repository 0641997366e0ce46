//! Joins calls and their results: rules 1, 5 and 6.
//!
//! A call may be recorded several times: a model asked for it, each later prompt repeats it, and a
//! span tells that it was carried out. All of them are one step. Execution says more than a
//! request, and what it lacks is filled from the messages with the same id.

mod ending;
mod open;

use hashbrown::HashMap;

use crate::call::{Call, Kind, Made};
use crate::conversation::Conversation;
use crate::oddity::Oddity;
use crate::rules::Rules;
use crate::transcript::{Recorded, Transcript};
use open::{OpenRequests, Unanswered};

/// A call, with everything that is known of it.
struct Joined {
    call: Call,
    /// Which of all recorded calls it is.
    index: usize,
    /// How many results of messages it has.
    n_results: usize,
}

impl Joined {
    /// Whether a span of the tool is among its records.
    fn is_executed(&self) -> bool {
        self.call.made != Made::Requested
    }

    /// Whether a result without an id may be its own.
    fn waits(&self) -> bool {
        self.n_results == 0 && self.call.outcome.is_none()
    }
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
    let mut open = OpenRequests::default();
    if !executed.is_empty() {
        join.joined.iter().enumerate().for_each(|(at, joined)| open.add(&joined.call, at));
    }
    for (index, call) in executed {
        join.execute(call, index, &mut open);
    }
    let mut unanswered = Unanswered::default();
    if results.iter().any(|recorded| recorded.result.id.is_none()) {
        let waiting = join.joined.iter().enumerate().filter(|(_, joined)| joined.waits());
        waiting.for_each(|(at, joined)| unanswered.add(&joined.call, at));
    }
    for recorded in results {
        join.result(recorded, &mut unanswered);
    }
    ending::finish(join.transcript, join.joined, rules)
}

/// The calls of one id, in their order. Nearly always it is one, but some systems number the calls
/// of each turn anew.
#[derive(Default)]
struct OfId {
    calls: Vec<usize>,
    /// The first call of each name with its arguments.
    by_args: HashMap<(String, String), usize>,
    /// Those whose arguments are not known, or not as they were given.
    vague: Vec<usize>,
    /// How many of the first calls were carried out, and how many have results.
    n_executed: usize,
    n_answered: usize,
}

impl OfId {
    fn first_open(&mut self, joined: &[Joined]) -> Option<usize> {
        advance(&self.calls, &mut self.n_executed, |at| joined[at].is_executed())
    }

    fn first_unanswered(&mut self, joined: &[Joined]) -> Option<usize> {
        advance(&self.calls, &mut self.n_answered, |at| joined[at].n_results > 0)
    }

    /// Returns the call that a request repeats.
    fn same(&self, call: &Call, joined: &[Joined]) -> Option<usize> {
        let exact = self.by_args.get(&(call.name.clone(), call.args.canonical())).copied();
        let is_vague = call.args.is_missing || call.args.is_plain;
        let others = if is_vague { &self.calls } else { &self.vague };
        let agrees = |at: &usize| {
            let known = &joined[*at].call;
            known.name == call.name && known.args.agree(&call.args)
        };
        exact.or_else(|| others.iter().copied().find(agrees))
    }
}

/// Moves on over what is done, and returns what comes then.
fn advance(calls: &[usize], n_done: &mut usize, is_done: impl Fn(usize) -> bool) -> Option<usize> {
    while calls.get(*n_done).is_some_and(|at| is_done(*at)) {
        *n_done += 1;
    }
    calls.get(*n_done).copied()
}

struct Join {
    transcript: Transcript,
    joined: Vec<Joined>,
    by_id: HashMap<String, OfId>,
}

impl Join {
    fn odd(&mut self, oddity: Oddity, source: &str) {
        self.transcript.oddities.add(oddity, source);
    }

    fn push(&mut self, call: Call, index: usize) {
        let at = self.joined.len();
        if let Some(id) = &call.id {
            let same = self.by_id.entry(id.clone()).or_default();
            same.calls.push(at);
            let key = (call.name.clone(), call.args.canonical());
            same.by_args.entry(key).or_insert(at);
            if call.args.is_missing || call.args.is_plain {
                same.vague.push(at);
            }
        }
        self.joined.push(Joined { call, index, n_results: 0 });
    }

    /// Adds a call that a model asked for, unless an earlier history has it.
    fn request(&mut self, call: Call, index: usize) {
        let of_id = call.id.as_ref().and_then(|id| self.by_id.get(id));
        match of_id.map(|of_id| of_id.same(&call, &self.joined)) {
            Some(Some(at)) => {
                merge(&mut self.joined[at].call, &call);
                self.odd(Oddity::RepeatedHistory, &call.source);
            }
            known => {
                if known.is_some() {
                    self.odd(Oddity::IdTwice, &call.source);
                }
                self.push(call, index);
            }
        }
    }

    /// Adds a call that was carried out: to the request with its id, or else to the first request
    /// with its name and arguments that nothing was carried out for.
    fn execute(&mut self, call: Call, index: usize, open: &mut OpenRequests) {
        let joined = &self.joined;
        let of_id = call.id.as_ref().and_then(|id| self.by_id.get_mut(id));
        let is_id_taken = of_id.is_some();
        let found = of_id
            .and_then(|of_id| of_id.first_open(joined))
            .or_else(|| open.find(&call, |at| !joined[at].is_executed()));
        let Some(at) = found else {
            if is_id_taken {
                self.odd(Oddity::IdTwice, &call.source);
            }
            return self.push(call, index);
        };
        let request = std::mem::replace(&mut self.joined[at].call, call);
        let call = &mut self.joined[at].call;
        merge(call, &request);
        call.id = request.id.or_else(|| call.id.take());
        // A handover is what the model called, however the span writes the agent's name.
        if call.kind == Kind::Agent {
            call.name = request.name;
        }
    }

    /// Adds a result to its call: by id, or else by name and order.
    fn result(&mut self, recorded: Recorded, unanswered: &mut Unanswered) {
        let Recorded { result, n_calls } = recorded;
        let joined = &self.joined;
        let is_before = |at: &usize| joined[*at].index < n_calls;
        let found = match &result.id {
            Some(id) => self.by_id.get_mut(id).and_then(|of_id| {
                let open_before = of_id.first_unanswered(joined).filter(is_before);
                let before = || of_id.calls.iter().copied().rfind(is_before);
                open_before.or_else(before).or_else(|| of_id.calls.first().copied())
            }),
            None => unanswered.find(result.name.as_ref(), |at| joined[at].waits()),
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

#[cfg(test)]
mod tests;
