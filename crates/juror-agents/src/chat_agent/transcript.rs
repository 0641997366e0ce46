//! What the built-in agent did for a query.

use std::sync::Arc;

use crate::environment::{Code, Target};
use crate::tree::{RawAnswer, Search, Spent};

/// What the built-in agent did for a query. `Answer::from(&transcript.search)` is the answer to
/// judge.
#[derive(Clone, Debug)]
pub struct Transcript {
    /// The query.
    pub query: String,
    /// Everything it tried.
    pub search: Search,
    /// How it ended.
    pub ending: Ending,
    /// The tool calls, in order.
    pub calls: Vec<MadeCall>,
    /// How often the model was asked.
    pub n_queries: usize,
    /// The tokens used.
    pub n_tokens: u64,
    /// How many calls were read from the text of replies.
    pub n_written_calls: usize,
    /// Whether it was stopped because the model no longer called anything.
    pub is_idle: bool,
    /// Each time the model failed to reply, and why.
    pub failures: Vec<String>,
}

impl Transcript {
    /// Makes the answer file of the public benchmark.
    pub fn raw(&self) -> RawAnswer {
        let Transcript { query, n_queries, n_tokens, .. } = self;
        let spent = Spent { query: query.clone(), n_queries: *n_queries, n_tokens: *n_tokens };
        RawAnswer::of(&self.search, spent)
    }
}

/// A tool call.
#[derive(Clone, Debug)]
pub struct MadeCall {
    /// The API called.
    pub target: Arc<Target>,
    /// Its arguments.
    pub arguments: String,
    /// What came back.
    pub code: Code,
}

/// How work on a query ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With an answer.
    Answered(String),
    /// The agent gave up.
    GaveUp,
    /// It ran out of steps or questions.
    RanOut,
    /// The model failed to reply.
    Failed(String),
}
