//! What is told of a graph that expected results are taken from.

use std::fmt;

use serde::Serialize;

/// The graph that expected results are taken from.
#[derive(Clone, Serialize)]
pub(in crate::cli) struct FreshGraph {
    /// The graph in words.
    pub(super) about: String,
    /// How many expected results there are.
    pub(super) results: usize,
    /// The answers to questions whose expected result has moved.
    pub(super) moved: Vec<MovedResult>,
    /// The questions whose results have moved, and whose answers may be out of date.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) answers_in_doubt: Vec<String>,
}

/// An answer to a question whose expected result has moved.
#[derive(Clone, Serialize)]
pub(super) struct MovedResult {
    /// The position of its step among those with queries.
    #[serde(skip)]
    #[cfg_attr(
        not(feature = "graph"),
        expect(dead_code, reason = "no graph, no result that moved")
    )]
    pub(super) step: usize,
    pub(super) question_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) trial: Option<u32>,
    /// How the result has moved.
    pub(super) how: String,
    /// Whose fault a wrong answer is.
    pub(super) blame: &'static str,
}

impl fmt::Display for MovedResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let trial = self.trial.map(|trial| format!(", trial {trial}")).unwrap_or_default();
        write!(f, "  {}{trial}: {}\n    {}", self.question_id, self.how, self.blame)
    }
}
