//! What an import makes of a trace: conversations, with steps in Juror's form.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::call::{CallStatus, Kind};
use crate::oddity::Oddities;

/// Tokens that a system used, and what they cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Usage {
    /// Tokens of prompts.
    pub input_tokens: Option<u64>,
    /// Tokens of completions.
    pub output_tokens: Option<u64>,
    /// All tokens.
    pub total_tokens: Option<u64>,
    /// In dollars, if the trace says so.
    pub cost: Option<f64>,
}

impl Usage {
    /// Adds the tokens of another call.
    pub fn add(&mut self, other: Usage) {
        let sum = |a: Option<u64>, b: Option<u64>| match (a, b) {
            (Some(a), Some(b)) => Some(a.saturating_add(b)),
            (a, b) => a.or(b),
        };
        self.total_tokens = sum(self.total(), other.total());
        self.input_tokens = sum(self.input_tokens, other.input_tokens);
        self.output_tokens = sum(self.output_tokens, other.output_tokens);
        self.cost = match (self.cost, other.cost) {
            (Some(a), Some(b)) => Some(a + b),
            (a, b) => a.or(b),
        };
    }

    /// All tokens: as recorded, or the sum of both.
    pub fn total(&self) -> Option<u64> {
        self.total_tokens.or_else(|| Some(self.input_tokens?.saturating_add(self.output_tokens?)))
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        *self == Usage::default()
    }
}

/// Whether a step succeeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It did.
    Success,
    /// It failed, or has no result.
    Error,
}

/// A step in the form of Juror's responses.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Step {
    /// The kind of step: the tool, or its name by the map.
    pub name: String,
    /// The arguments.
    pub args: Map<String, Value>,
    /// The text of arguments that are not JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub args_raw: Option<String>,
    /// The id of the call.
    pub id: String,
    /// Whether it succeeded.
    pub status: Status,
    /// What it returned, as a text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// What it returned as it was recorded, if the text does not say all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_raw: Option<Value>,
    /// Whether the record holds only a part of the output.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub output_truncated: bool,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What it is.
    pub kind: Kind,
    /// How far it came.
    pub call_status: CallStatus,
    /// The server that has the tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The agent that called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The id of the step within which this one was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<String>,
    /// When the call was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<String>,
    /// When it was over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<String>,
    /// Where it stands in the input: a JSON pointer, after the line where there are lines.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub source: String,
}

/// One question put to a system, and what it did.
#[derive(Clone, Debug, Default)]
pub struct Conversation {
    /// The question's id, if the trace says it.
    pub question_id: Option<String>,
    /// Ids that may be the question's: of the conversation, session, trace.
    pub other_ids: Vec<String>,
    /// What the user said, in the order in which it was found; the question is usually the first.
    pub questions: Vec<String>,
    /// The last text of the system without calls.
    pub answer: Option<String>,
    /// Its steps, in the order of the calls.
    pub steps: Vec<Step>,
    /// Tokens, summed over all calls of models.
    pub usage: Usage,
    /// Why it failed, if it did not answer.
    pub error: Option<String>,
    /// How long it took.
    pub elapsed_sec: Option<f64>,
    /// The id of the trace, where there is one.
    pub trace_id: Option<String>,
    /// The outermost span, if there are spans.
    pub span_id: Option<String>,
    /// What is odd about it.
    pub oddities: Oddities,
    /// What did not become a step, and why: how many of each.
    pub left_out: BTreeMap<String, usize>,
    /// Where it stands in the input.
    pub source: String,
}

impl Conversation {
    /// Whether there is anything to judge.
    pub fn is_empty(&self) -> bool {
        self.answer.is_none() && self.steps.is_empty() && self.error.is_none()
    }

    /// Returns the response to a question, in Juror's form.
    pub fn response(&self, question_id: &str, trial: Option<usize>) -> Value {
        serde_json::from_str(&self.response_line(question_id, trial)).unwrap_or_default()
    }

    /// Returns the response to a question as JSON text.
    pub fn response_line(&self, question_id: &str, trial: Option<usize>) -> String {
        let error = self.error.as_deref();
        let response = Response {
            question_id,
            trial,
            question_text: self.questions.first().map(String::as_str),
            trace_id: self.trace_id.as_deref(),
            span_id: self.span_id.as_deref(),
            actual_answer: self.answer.as_deref(),
            actual_steps: &self.steps,
            input_tokens: self.usage.input_tokens,
            output_tokens: self.usage.output_tokens,
            total_tokens: self.usage.total(),
            usd: self.usage.cost,
            elapsed_sec: self.elapsed_sec,
            status: error.map(|_| "error"),
            error,
        };
        serde_json::to_string(&response).unwrap_or_default()
    }
}

/// A response as it is written.
#[derive(Serialize)]
struct Response<'c> {
    question_id: &'c str,
    #[serde(skip_serializing_if = "Option::is_none")]
    trial: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    question_text: Option<&'c str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace_id: Option<&'c str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    span_id: Option<&'c str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    actual_answer: Option<&'c str>,
    actual_steps: &'c [Step],
    #[serde(skip_serializing_if = "Option::is_none")]
    input_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    usd: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    elapsed_sec: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'c str>,
}
