//! What an agent made of a query.

use std::sync::Arc;

use crate::environment::{Code, Target};
use crate::tree::RawAnswer;

/// What an agent made of a query.
#[derive(Clone, Debug)]
pub struct Attempt {
    /// The answer file.
    pub raw: RawAnswer,
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
    /// Whether it was stopped since the model called nothing any more.
    pub is_idle: bool,
    /// Why the model gave no reply, where it did not.
    pub failures: Vec<String>,
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

/// How an attempt ended.
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
