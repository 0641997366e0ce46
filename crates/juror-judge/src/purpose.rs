//! Which prompts decide which metric.

use crate::{correctness, custom, final_answer, listed_claims, pass_rate, relevance, retrieval};

/// The metrics that the prompts for some purposes decide.
const DECIDED: [(&[&str], &[&str]); 7] = [
    (
        &[correctness::PURPOSE, listed_claims::PURPOSE],
        &["answer_recall", "answer_precision", "answer_f1"],
    ),
    (&[relevance::PURPOSE], &["answer_relevance"]),
    (
        &retrieval::ANSWER_PURPOSES,
        &["retrieval_answer_recall", "retrieval_answer_precision", "retrieval_answer_f1"],
    ),
    (
        &retrieval::CONTEXT_PURPOSES,
        &["retrieval_context_recall", "retrieval_context_precision", "retrieval_context_f1"],
    ),
    (&[pass_rate::STATUS, pass_rate::DETAILED], &["sopr_score", "answer_status"]),
    (&[final_answer::PURPOSE], &["final_answer_rate"]),
    (&[], &["steps_score"]),
];

/// Returns whether the prompt for a purpose decides a metric. Any other metric is an output of a
/// custom evaluation; since results do not name it, the prompts of all custom evaluations count.
pub fn decides(purpose: &str, metric: &str) -> bool {
    match DECIDED.iter().find(|(_, metrics)| metrics.contains(&metric)) {
        Some((purposes, _)) => purposes.contains(&purpose),
        None => purpose.starts_with(custom::PREFIX),
    }
}

/// Returns whether what the prompt for a purpose gives is compared by embeddings, so that their model
/// decides the metric too.
pub fn embeds(purpose: &str) -> bool {
    purpose == relevance::PURPOSE
}

#[cfg(test)]
mod tests {
    use super::*;
    use juror_score::{METRICS, Unit};

    #[test]
    fn a_metric_is_decided_by_its_own_prompts() {
        for (purpose, metric, wanted) in [
            ("answer_claims", "answer_f1", true),
            ("listed_claims", "answer_recall", true),
            ("generated_question", "answer_f1", false),
            ("generated_question", "answer_relevance", true),
            ("answer_status_detailed", "sopr_score", true),
            ("custom_politeness", "politeness", true),
            ("custom_politeness", "answer_f1", false),
            ("answer_claims", "politeness", false),
            ("answer_claims", "steps_score", false),
        ] {
            assert_eq!(decides(purpose, metric), wanted, "{purpose} {metric}");
        }
    }

    #[test]
    fn every_judged_metric_has_its_prompts() {
        let is_score = |unit: Unit| matches!(unit, Unit::Fraction | Unit::Cosine);
        for info in METRICS.iter().filter(|info| info.is_judged && is_score(info.unit)) {
            let is_known = |(purposes, metrics): &(&[&str], &[&str])| {
                !purposes.is_empty() && metrics.contains(&info.name)
            };
            assert!(DECIDED.iter().any(is_known), "{}", info.name);
        }
    }
}
