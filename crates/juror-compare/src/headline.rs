//! The metric that stands for a run when one has to be named.

use crate::statistics::Statistics;

/// The metrics that say best whether an answer is right, the first that a run has.
const HEADLINES: [&str; 5] =
    ["sopr_score", "steps_score", "answer_f1", "answer_relevance", "api_call_score"];

/// Returns the metric that says best whether answers are right.
pub fn headline(statistics: &Statistics) -> Option<&'static str> {
    headline_among(|name| statistics.metric(name).is_some())
}

/// The same among those that there are.
pub(crate) fn headline_among(has: impl Fn(&str) -> bool) -> Option<&'static str> {
    HEADLINES.into_iter().find(|name| has(name))
}
