//! Puts a trace together: its spans become one conversation, or several if it has several agents
//! that answer questions of their own.

use std::collections::{BTreeMap, BTreeSet};

use hashbrown::HashMap;

use super::facts::{Kept, Role, SpanFacts};
use crate::call::{Call, CallResult, Made};
use crate::conversation::Usage;
use crate::dialect::{pydantic_ai, smolagents};
use crate::oddity::Oddity;
use crate::transcript::{Recorded, Transcript};

/// The most ancestors that are followed: ids that refer to each other would lead in circles.
const MOST_ANCESTORS: usize = 256;

/// Returns the conversations of a trace.
pub(crate) fn transcripts(trace: &str, kept: Vec<Kept>) -> Vec<Transcript> {
    let tree = Tree::of(kept);
    let groups = tree.groups();
    if groups.len() < 2 {
        return vec![tree.transcript(trace, None)];
    }
    groups.iter().map(|root| tree.transcript(trace, Some(root))).collect()
}

/// The spans of a trace, and what was recorded in them.
#[derive(Default)]
struct Tree {
    spans: Vec<SpanFacts>,
    by_id: HashMap<String, usize>,
    /// Calls that were carried out, with their places among all records.
    tools: Vec<(usize, Call)>,
    /// Which of them the span of an id is.
    tool_by_span: HashMap<String, usize>,
    /// Requests, with their places and the indices of their spans.
    calls: Vec<(usize, usize, Call)>,
    /// Which of them has a hash: one that is found earlier in time later on is kept twice.
    call_by_key: HashMap<u64, usize>,
    /// Results, with the indices of their spans.
    results: Vec<(usize, CallResult)>,
}

impl Tree {
    fn of(kept: Vec<Kept>) -> Tree {
        let mut tree = Tree::default();
        let mut current = 0;
        for (place, kept) in kept.into_iter().enumerate() {
            match kept {
                Kept::Span(facts) => current = tree.add(*facts),
                Kept::Tool(call) => {
                    let span = call.stand_in.clone().unwrap_or_default();
                    tree.tool_by_span.entry(span).or_insert(tree.tools.len());
                    tree.tools.push((place, *call));
                }
                Kept::Call(key, call) => tree.request(key, place, current, *call),
                Kept::Result(result) => tree.results.push((current, *result)),
            }
        }
        tree
    }

    /// Adds a request, or tells that one was made earlier than was known.
    fn request(&mut self, key: u64, place: usize, span: usize, call: Call) {
        let next = self.calls.len();
        let at = *self.call_by_key.entry(key).or_insert(next);
        if at == next {
            self.calls.push((place, span, call));
        } else if call.at < self.calls[at].2.at {
            (self.calls[at].1, self.calls[at].2) = (span, call);
        }
    }

    /// Adds a span, or what another record says about the same one.
    fn add(&mut self, facts: SpanFacts) -> usize {
        let known = self.by_id.get(&facts.span).copied().filter(|_| !facts.span.is_empty());
        let Some(at) = known else {
            let at = self.spans.len();
            self.by_id.insert(facts.span.clone(), at);
            self.spans.push(facts);
            return at;
        };
        let span = &mut self.spans[at];
        if span.role == Role::Other {
            span.role = facts.role;
        }
        span.parent = span.parent.take().or(facts.parent);
        span.agent = span.agent.take().or(facts.agent);
        span.question_id = span.question_id.take().or(facts.question_id);
        span.answer = span.answer.take().or(facts.answer);
        span.error = span.error.take().or(facts.error);
        span.usage = span.usage.or(facts.usage);
        span.other_ids.extend(facts.other_ids);
        span.questions.extend(facts.questions);
        span.start = if span.start == 0 { facts.start } else { span.start };
        span.end = span.end.max(facts.end);
        at
    }

    /// Iterates over the ancestors of a span, the nearest first.
    fn ancestors(&self, span: &str) -> impl Iterator<Item = &SpanFacts> {
        let parent =
            |facts: &&SpanFacts| Some(&self.spans[*self.by_id.get(facts.parent.as_ref()?)?]);
        let first = self.by_id.get(span).map(|at| &self.spans[*at]);
        std::iter::successors(first, parent).skip(1).take(MOST_ANCESTORS)
    }

    /// Returns the outermost agents that answer questions of their own: they have different ids.
    fn groups(&self) -> Vec<String> {
        let is_outermost = |facts: &&SpanFacts| {
            facts.role == Role::Agent
                && !self.ancestors(&facts.span).any(|above| above.role == Role::Agent)
        };
        let agents: Vec<&SpanFacts> = self.spans.iter().filter(is_outermost).collect();
        let key = |facts: &SpanFacts| {
            facts.question_id.clone().or_else(|| facts.other_ids.first().cloned())
        };
        let keys: BTreeSet<Option<String>> = agents.iter().map(|facts| key(facts)).collect();
        if agents.len() < 2 || keys.len() < agents.len() || keys.contains(&None) {
            return Vec::new();
        }
        agents.iter().map(|facts| facts.span.clone()).collect()
    }

    /// Whether a span belongs to the conversation with this root.
    fn is_in(&self, span: &str, root: Option<&String>) -> bool {
        root.is_none_or(|root| {
            span == root || self.ancestors(span).any(|above| above.span == *root)
        })
    }

    fn transcript(&self, trace: &str, root: Option<&String>) -> Transcript {
        let mine: Vec<&SpanFacts> =
            self.spans.iter().filter(|facts| self.is_in(&facts.span, root)).collect();
        let mut transcript = Transcript::at(&format!("trace {trace}"));
        transcript.trace_id = Some(trace.to_owned()).filter(|trace| !trace.is_empty());
        let mut by_time = mine.clone();
        by_time.sort_by_key(|facts| (facts.parent.is_some(), facts.start));
        let outermost = by_time.first().map(|facts| facts.span.clone());
        transcript.span_id = root.cloned().or(outermost).filter(|span| !span.is_empty());
        for facts in &by_time {
            transcript.question_id =
                transcript.question_id.take().or_else(|| facts.question_id.clone());
            for id in &facts.other_ids {
                if !transcript.other_ids.contains(id) {
                    transcript.other_ids.push(id.clone());
                }
            }
            // What nested agents are asked is not what the user asked.
            if !self.is_nested(facts) {
                facts.questions.iter().for_each(|question| transcript.ask(Some(question.clone())));
            }
            if let Some(why) = &facts.left_out {
                transcript.leave_out(why.clone());
            }
        }
        transcript.other_ids.extend(transcript.trace_id.clone());
        let times = || mine.iter().filter(|facts| facts.start > 0);
        transcript.started = times().map(|facts| facts.start).min();
        transcript.ended = times().map(|facts| facts.end.max(facts.start)).max();
        transcript.usage = self.usage(&mine);
        transcript.answer = self.answer(&mine);
        transcript.error = self.error(&mine);
        self.add_calls(&mut transcript, &mine, root);
        transcript
    }

    /// Whether a span was made within a call: by an agent that is a tool.
    fn is_nested(&self, facts: &SpanFacts) -> bool {
        self.ancestors(&facts.span).any(|above| above.role == Role::Tool)
    }

    /// The answer: a final call, the agent's own result, the last text of a model, or whatever the
    /// root returned.
    fn answer(&self, mine: &[&SpanFacts]) -> Option<String> {
        let last = |wanted: &dyn Fn(&SpanFacts) -> bool| {
            let found = mine.iter().filter(|facts| facts.answer.is_some() && wanted(facts));
            found
                .max_by_key(|facts| facts.end.max(facts.start))
                .and_then(|facts| facts.answer.clone())
        };
        last(&|facts| facts.role == Role::Final && !self.is_nested(facts))
            .or_else(|| last(&|facts| facts.is_result && !self.is_nested(facts)))
            .or_else(|| last(&|facts| facts.role == Role::Model && !self.is_nested(facts)))
            .or_else(|| {
                last(&|facts| {
                    matches!(facts.role, Role::Agent | Role::Other) && !self.is_nested(facts)
                })
            })
            .or_else(|| last(&|facts| facts.role == Role::Model))
    }

    /// Why the system failed: what its root says, or an outermost agent.
    fn error(&self, mine: &[&SpanFacts]) -> Option<String> {
        let is_outer = |facts: &&&SpanFacts| {
            facts.role != Role::Tool && !self.ancestors(&facts.span).any(|_| true)
        };
        let outer = mine.iter().filter(is_outer).find_map(|facts| facts.error.clone());
        let models = || {
            mine.iter()
                .filter(|facts| facts.role == Role::Model)
                .filter_map(|facts| facts.error.clone())
                .next_back()
        };
        let error = outer.or_else(models)?;
        Some(if error.is_empty() { "the trace ended in an error".to_owned() } else { error })
    }

    /// Tokens of models: of the innermost, where one instrumentation wraps another. Agents repeat
    /// totals, which count only if no model has any.
    fn usage(&self, mine: &[&SpanFacts]) -> Usage {
        let models =
            || mine.iter().filter(|facts| facts.role == Role::Model && facts.usage.is_some());
        let wrapping: BTreeSet<&str> = models()
            .flat_map(|facts| {
                self.ancestors(&facts.span)
                    .filter(|above| above.role == Role::Model)
                    .map(|above| above.span.as_str())
            })
            .collect();
        let mut total = Usage::default();
        for facts in models().filter(|facts| !wrapping.contains(facts.span.as_str())) {
            total.add(facts.usage.unwrap_or_default());
        }
        if total.is_empty() {
            let outermost = mine.iter().filter(|facts| facts.usage.is_some());
            total = outermost
                .min_by_key(|facts| self.ancestors(&facts.span).count())
                .and_then(|facts| facts.usage)
                .unwrap_or_default();
        }
        total
    }

    fn add_calls(&self, transcript: &mut Transcript, mine: &[&SpanFacts], root: Option<&String>) {
        let has_final = mine.iter().any(|facts| facts.role == Role::Final);
        let has_result = mine.iter().any(|facts| facts.is_result);
        let is_answer = |call: &Call| {
            has_final && call.name == smolagents::FINAL
                || has_result && pydantic_ai::is_final(&call.name)
        };
        let mut calls: Vec<(usize, Call)> = Vec::new();
        for (place, at, call) in &self.calls {
            let facts = &self.spans[*at];
            if !self.is_in(&facts.span, root) || is_answer(call) {
                continue;
            }
            let mut call = call.clone();
            call.parent_id = self.caller(&facts.span).map(|caller| caller.span.clone());
            call.agent = call.agent.or_else(|| self.agent(facts));
            calls.push((*place, call));
        }
        calls.extend(self.executed(transcript, root));
        // Without times, calls are in the order of their records.
        if calls.iter().any(|(_, call)| call.at.is_none()) {
            calls.sort_by_key(|(place, _)| *place);
        }
        for (_, call) in calls {
            transcript.call(call);
        }
        let results = self.results.iter().filter(|(at, _)| self.is_in(&self.spans[*at].span, root));
        transcript.results.extend(
            results.map(|(_, result)| Recorded { result: result.clone(), n_calls: usize::MAX }),
        );
    }

    /// Returns the calls that were carried out, each once, with their places.
    fn executed(&self, transcript: &mut Transcript, root: Option<&String>) -> Vec<(usize, Call)> {
        let mut merged: BTreeMap<String, usize> = BTreeMap::new();
        let mut tools: Vec<(usize, Call)> = Vec::new();
        let mut spans: Vec<&(usize, Call)> = self
            .tools
            .iter()
            .filter(|(_, call)| self.is_in(call.stand_in.as_deref().unwrap_or_default(), root))
            .collect();
        spans.sort_by_cached_key(|(_, call)| (call.at, self.depth(call)));
        for (place, call) in spans {
            let span = call.stand_in.clone().unwrap_or_default();
            let same = self.same_call_above(call).and_then(|above| merged.get(&above).copied());
            let again = merged.get(&span).copied();
            if let Some(at) = same.or(again) {
                if again.is_none() {
                    transcript.odd(Oddity::MergedSpans, "");
                }
                merged.insert(span, at);
                fill(&mut tools[at].1, call);
                continue;
            }
            merged.insert(span.clone(), tools.len());
            let mut call = call.clone();
            call.parent_id = self.caller(&span).map(|caller| caller.span.clone());
            call.agent = call
                .agent
                .or_else(|| self.by_id.get(&span).and_then(|at| self.agent(&self.spans[*at])));
            tools.push((*place, call));
        }
        tools
    }

    fn depth(&self, call: &Call) -> usize {
        call.stand_in.as_deref().map_or(0, |span| self.ancestors(span).count())
    }

    /// Returns the call within which a span was made.
    fn caller(&self, span: &str) -> Option<&SpanFacts> {
        self.ancestors(span).find(|above| above.role == Role::Tool)
    }

    fn agent(&self, facts: &SpanFacts) -> Option<String> {
        let above = || self.ancestors(&facts.span).find_map(|above| above.agent.clone());
        facts.agent.clone().or_else(above)
    }

    /// Returns the span of the same call around this one: of the same tool with the same arguments,
    /// with no model or agent between.
    fn same_call_above(&self, call: &Call) -> Option<String> {
        let is_between =
            |above: &&SpanFacts| matches!(above.role, Role::Tool | Role::Model | Role::Agent);
        let above = self.ancestors(call.stand_in.as_deref()?).find(is_between)?;
        let (_, outer) = &self.tools[*self.tool_by_span.get(&above.span)?];
        (outer.name == call.name && outer.args.agree(&call.args)).then(|| above.span.clone())
    }
}

/// Adds to a call what an inner or repeated span of it says.
fn fill(call: &mut Call, other: &Call) {
    call.args.fill_from(&other.args);
    if call.id.is_none() {
        call.id.clone_from(&other.id);
    }
    if call.server.is_none() {
        call.server.clone_from(&other.server);
    }
    if other.made == Made::Executed {
        call.made = Made::Executed;
    }
    if let Some(outcome) = &other.outcome {
        call.outcome.get_or_insert_default().fill_from(outcome);
    }
    call.until = call.until.max(other.until);
}
