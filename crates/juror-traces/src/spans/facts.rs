//! What is kept of a span: little, and each result once, so that long traces take little memory.

use std::hash::{DefaultHasher, Hash, Hasher};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::call::{Call, CallResult, Made};
use crate::conversation::Usage;
use crate::transcript::{Ordinals, Transcript};

/// What a span is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Role {
    /// A call of a tool, carried out.
    Tool,
    /// A call of a model.
    Model,
    /// An agent or workflow: it groups what it did.
    Agent,
    /// The call by which an agent answers.
    Final,
    #[default]
    Other,
}

/// What is kept of a span beside calls and results.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct SpanFacts {
    #[serde(skip)]
    pub(crate) trace: String,
    /// The convention by which it was recorded.
    #[serde(skip)]
    pub(crate) convention: &'static str,
    pub(crate) span: String,
    pub(crate) parent: Option<String>,
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) role: Role,
    pub(crate) agent: Option<String>,
    pub(crate) question_id: Option<String>,
    pub(crate) other_ids: Vec<String>,
    pub(crate) questions: Vec<String>,
    /// What it answered: of a model, an agent, a final call.
    pub(crate) answer: Option<String>,
    /// Whether the answer is the agent's own result.
    pub(crate) is_result: bool,
    pub(crate) usage: Option<Usage>,
    pub(crate) error: Option<String>,
    /// Why it is no step, to be told.
    pub(crate) left_out: Option<String>,
    /// The calls of its messages.
    #[serde(skip)]
    pub(crate) calls: Vec<Keyed<Call>>,
    /// The results in its messages.
    #[serde(skip)]
    pub(crate) results: Vec<Keyed<CallResult>>,
    /// The call that it is.
    #[serde(skip)]
    pub(crate) tool: Option<Box<Call>>,
}

/// Something that histories repeat, with a hash by which repetitions are found.
#[derive(Clone, Debug)]
pub(crate) struct Keyed<T> {
    pub(crate) key: u64,
    pub(crate) value: T,
}

/// A record of a trace that is kept.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Kept {
    Span(Box<SpanFacts>),
    Tool(Box<Call>),
    /// A request, and the hash by which its repetitions are found.
    Call(u64, Box<Call>),
    Result(Box<CallResult>),
}

impl SpanFacts {
    /// The call that a span of a tool carried out.
    pub(crate) fn executed(&self, name: &str, place: &str) -> Call {
        Call {
            name: name.to_owned(),
            made: Made::Executed,
            at: (self.start > 0).then_some(self.start),
            until: (self.end > 0).then_some(self.end),
            source: place.to_owned(),
            stand_in: Some(self.span.clone()),
            ..Call::default()
        }
    }

    /// How far the call came that a span is: one that neither ended nor gave anything was begun.
    pub(crate) fn made(&self, output: &Value) -> Made {
        let is_over = self.end > 0 || self.error.is_some() || !output.is_null();
        if is_over { Made::Executed } else { Made::Started }
    }

    /// Takes what messages say: those that a model was given, then those that it gave.
    pub(crate) fn take_messages(&mut self, given: Transcript, gave: Transcript) {
        let mut ordinals = Ordinals::default();
        let (start, end) = (self.start, self.end.max(self.start));
        for (calls, at) in [(given.calls, start), (gave.calls, end)] {
            for call in calls {
                let n = if call.id.is_none() { ordinals.next(&call.name, &call.args) } else { 0 };
                let key = hash(&(&call.id, &call.name, call.args.canonical(), n));
                let at = call.at.or((at > 0).then_some(at));
                self.calls.push(Keyed { key, value: Call { at, ..call } });
            }
        }
        let all = given.results.into_iter().chain(gave.results);
        for (n, recorded) in all.enumerate() {
            let result = recorded.result;
            let n = if result.id.is_none() { n } else { 0 };
            let key = match &result.outcome.content {
                Some(Value::String(text)) => hash(&(&result.id, &result.name, text, n)),
                content => {
                    hash(&(&result.id, &result.name, content.as_ref().map(ToString::to_string), n))
                }
            };
            self.results.push(Keyed { key, value: result });
        }
        for question in given.questions.into_iter().chain(gave.questions) {
            if !self.questions.contains(&question) {
                self.questions.push(question);
            }
        }
        self.answer = self.answer.take().or(gave.answer);
        self.question_id = self.question_id.take().or(given.question_id).or(gave.question_id);
        if self.usage.is_none() && !gave.usage.is_empty() {
            self.usage = Some(gave.usage);
        }
    }
}

fn hash(value: &impl Hash) -> u64 {
    // Without a seed: threads find the same repetitions.
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
