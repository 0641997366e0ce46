//! What our own agent did about a query.

use std::sync::Arc;

use crate::environment::{Code, Target};
use crate::tree::{RawAnswer, Search, Spent};

/// What our own agent did about a query. `Answer::from(&transcript.search)` is the answer that is
/// judged.
#[derive(Clone, Debug)]
pub struct Transcript {
    /// The query.
    pub query: String,
    /// Everything that was tried.
    pub search: Search,
    /// How it ended.
    pub ending: Ending,
    /// Which tools were called, in order.
    pub calls: Vec<MadeCall>,
    /// How often the model was asked.
    pub n_queries: usize,
    /// The tokens it took.
    pub n_tokens: u64,
    /// How many calls were read from the text of replies.
    pub n_written_calls: usize,
    /// Whether it was stopped because the model no longer called anything.
    pub is_idle: bool,
    /// Each failure of the model to reply.
    pub failures: Vec<String>,
}

impl Transcript {
    /// The answer file of the public benchmark.
    pub fn raw(&self) -> RawAnswer {
        let Transcript { query, n_queries, n_tokens, .. } = self;
        let spent = Spent { query: query.clone(), n_queries: *n_queries, n_tokens: *n_tokens };
        RawAnswer::of(&self.search, spent)
    }
}

/// A call that was made.
#[derive(Clone, Debug)]
pub struct MadeCall {
    /// What was called.
    pub target: Arc<Target>,
    /// With what.
    pub arguments: String,
    /// What came of it.
    pub code: Code,
}

/// How work on a query ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With an answer.
    Answered(String),
    /// The agent gave up.
    GaveUp,
    /// It came to the end of its steps or questions.
    RanOut,
    /// The model did not reply.
    Failed(String),
}
