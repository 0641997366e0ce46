//! What a dialect reads of one conversation, before calls and results are joined.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use hashbrown::{HashMap, HashSet};
use serde_json::Value;

use crate::args::Args;
use crate::call::{Call, CallResult};
use crate::conversation::{Conversation, Usage};
use crate::look;
use crate::oddity::{Oddities, Oddity};
use crate::outcome::said;
use crate::rules::Rules;
use crate::settle::settle;

/// The records of one conversation, in the order in which they were found.
#[derive(Clone, Debug, Default)]
pub(crate) struct Transcript {
    pub(crate) question_id: Option<String>,
    pub(crate) other_ids: Vec<String>,
    pub(crate) questions: Vec<String>,
    pub(crate) calls: Vec<Call>,
    pub(crate) results: Vec<Recorded>,
    pub(crate) answer: Option<String>,
    /// What was just said: an answer, unless a call follows at once.
    pending: Option<String>,
    pub(crate) usage: Usage,
    pub(crate) error: Option<String>,
    /// From when until when it took, in nanoseconds.
    pub(crate) started: Option<u64>,
    pub(crate) ended: Option<u64>,
    pub(crate) elapsed_sec: Option<f64>,
    pub(crate) trace_id: Option<String>,
    /// The outermost span of the conversation, for dialects that have spans.
    pub(crate) span_id: Option<String>,
    pub(crate) oddities: Oddities,
    pub(crate) left_out: BTreeMap<String, usize>,
    /// Records that were counted already.
    pub(crate) seen: BTreeSet<String>,
    /// Calls and results without ids, which histories may repeat.
    unnamed: Unnamed,
    /// Where it stands in the input: a line, a JSON pointer.
    pub(crate) source: String,
}

/// A result, and how many calls were known when it came.
#[derive(Clone, Debug)]
pub(crate) struct Recorded {
    pub(crate) result: CallResult,
    pub(crate) n_calls: usize,
}

impl Transcript {
    /// Starts a conversation at a place of the input.
    pub(crate) fn at(source: &str) -> Transcript {
        Transcript { source: source.to_owned(), ..Transcript::default() }
    }

    /// Returns the place of a part: the conversation's place, and a pointer within it.
    pub(crate) fn place(&self, pointer: &str) -> String {
        format!("{}{pointer}", self.source)
    }

    /// The user said something.
    pub(crate) fn ask(&mut self, text: Option<String>) {
        self.commit();
        let new = text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        if let Some(text) = new.filter(|text| !self.questions.contains(text)) {
            self.questions.push(text);
        }
    }

    /// The system said something without calling anything: its answer, if nothing follows.
    pub(crate) fn say(&mut self, text: Option<String>) {
        if let Some(text) = text.filter(|text| !text.trim().is_empty()) {
            self.answer = Some(text);
        }
    }

    /// The system said something, in a format where a call of the same turn may follow.
    pub(crate) fn say_before(&mut self, text: Option<String>) {
        self.commit();
        self.pending = text;
    }

    /// Whatever was said last was not said beside a call.
    pub(crate) fn commit(&mut self) {
        let said = self.pending.take();
        self.say(said);
    }

    /// A history begins, which may repeat an earlier one: what has no id is told apart by order.
    pub(crate) fn begin_history(&mut self) {
        self.unnamed.counts.clear();
    }

    /// A call. Calls of models are in the order in which they are found.
    pub(crate) fn call(&mut self, call: Call) {
        self.pending = None;
        let is_known = call.id.is_none()
            && call.stand_in.is_none()
            && !self.unnamed.is_new(&(&call.name, call.args.canonical()));
        if is_known {
            return self.oddities.add(Oddity::RepeatedHistory, &call.source);
        }
        self.calls.push(call);
    }

    /// A result that stands apart from its call.
    pub(crate) fn result(&mut self, result: CallResult) {
        self.commit();
        let content = || result.outcome.content.as_ref().map(ToString::to_string);
        if result.id.is_none() && !self.unnamed.is_new(&(&result.name, content(), "result")) {
            let source = self.source.clone();
            return self.oddities.add(Oddity::RepeatedHistory, &source);
        }
        self.results.push(Recorded { result, n_calls: self.calls.len() });
    }

    /// Something that is no step, and why.
    pub(crate) fn leave_out(&mut self, what: impl Into<String>) {
        *self.left_out.entry(what.into()).or_default() += 1;
    }

    pub(crate) fn odd(&mut self, oddity: Oddity, pointer: &str) {
        let place = self.place(pointer);
        self.oddities.add(oddity, &place);
    }

    /// Adds the tokens of a call of a model, in any of the usual spellings.
    pub(crate) fn add_usage(&mut self, usage: Option<&Value>) {
        if let Some(usage) = usage.and_then(usage_of) {
            self.usage.add(usage);
        }
    }

    /// The message of a model: what it says and what it calls. What it says beside calls is no
    /// answer.
    pub(crate) fn answer_with(&mut self, content: Option<&Value>, n_calls: usize) {
        if n_calls == 0 {
            self.say(content.and_then(said));
        }
    }

    /// Joins calls and results.
    pub(crate) fn settle(mut self, rules: &Rules) -> Conversation {
        self.commit();
        settle(self, rules)
    }
}

/// Reads tokens in any of the usual spellings; `None` if there are none.
pub fn usage_of(usage: &Value) -> Option<Usage> {
    let count = |keys: &[&str]| look::first(usage, keys).and_then(look::whole);
    // Anthropic counts what was cached apart from other input.
    let cached = ["cache_read_input_tokens", "cache_creation_input_tokens"];
    let cached = cached.iter().filter_map(|key| count(&[key])).fold(0, u64::saturating_add);
    let own = count(&["input_tokens"]).map(|own| own.saturating_add(cached));
    let others = || {
        count(&[
            "prompt_tokens",
            "inputTokens",
            "promptTokens",
            "promptTokenCount",
            "prompt_token_count",
            "request_tokens",
            "input",
        ])
    };
    let read = Usage {
        input_tokens: own.or_else(others),
        output_tokens: count(&[
            "output_tokens",
            "completion_tokens",
            "outputTokens",
            "completionTokens",
            "candidatesTokenCount",
            "candidates_token_count",
            "response_tokens",
            "output",
        ]),
        total_tokens: count(&[
            "total_tokens",
            "totalTokens",
            "totalTokenCount",
            "total_token_count",
            "total",
        ]),
        cost: None,
    };
    (!read.is_empty()).then_some(read)
}

/// What was recorded without ids: a hash of each, and which of its kind in its history it is.
#[derive(Clone, Debug, Default)]
struct Unnamed {
    known: HashSet<(u64, usize)>,
    /// How many of each there are in the history that is read.
    counts: HashMap<u64, usize>,
}

impl Unnamed {
    /// Whether no earlier history has it.
    fn is_new(&mut self, record: &impl Hash) -> bool {
        let mut hasher = DefaultHasher::new();
        record.hash(&mut hasher);
        let hash = hasher.finish();
        let n = self.counts.entry(hash).or_default();
        *n += 1;
        self.known.insert((hash, *n))
    }
}

/// Counts calls of equal name and arguments in one history, so that they can be told apart where
/// calls have no ids.
#[derive(Default)]
pub(crate) struct Ordinals(BTreeMap<(String, String), usize>);

impl Ordinals {
    /// Returns which call of its kind this is.
    pub(crate) fn next(&mut self, name: &str, args: &Args) -> usize {
        let n = self.0.entry((name.to_owned(), args.canonical())).or_default();
        *n += 1;
        *n - 1
    }
}
