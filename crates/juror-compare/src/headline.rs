//! The metric that stands for a run when one has to be named.

use juror_score::ScoreTable;

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

/// Returns the metric by which a baseline's questions are looked at: the first that it has numbers for,
/// if possible one whose verdicts are not those of another judge.
pub(crate) fn baseline_headline(
    baseline: &ScoreTable,
    is_judged_apart: impl Fn(&str) -> bool,
) -> Option<&'static str> {
    let has = |name: &str| baseline.column(name).is_some_and(|own| !own.values().is_empty());
    headline_among(|name| has(name) && !is_judged_apart(name)).or_else(|| headline_among(has))
}
