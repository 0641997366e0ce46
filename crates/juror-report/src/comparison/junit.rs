//! A comparison for pipelines: the questions of each candidate, and the gates.

use juror_compare::{CandidateComparison, Comparison};
use juror_score::ScoreTable;

use super::markdown::comparison_name;
use super::words::run_name;
use crate::junit::{Cases, Suite, Threshold, gate_suite, write};

/// The suite of gates.
pub(crate) const GATES: &str = "gates";

/// Renders a comparison as a `JUnit` file.
///
/// `runs` are the scores of the baseline and of all candidates, in order. A question fails if a gate
/// on it is broken, or if the candidate does not reach the threshold, if there is one. It is flaky if
/// some of its trials pass and others do not; without a threshold, the full score of the metric of
/// flips tells.
pub fn comparison_junit(
    comparison: &Comparison,
    runs: &[&ScoreTable],
    threshold: Option<&Threshold>,
) -> Vec<u8> {
    let (baseline, candidates) = runs.split_first().unzip();
    let has_several = comparison.candidates.len() > 1;
    let mut suites = Vec::new();
    for (candidate, scores) in comparison.candidates.iter().zip(candidates.unwrap_or_default()) {
        let (gates, baseline) = (&candidate.gates, baseline.copied());
        let reasons = &reasons(candidate, scores);
        let full_score = full_score(candidate);
        let is_asked = threshold.is_some();
        let threshold = threshold.or(full_score.as_ref());
        let cases = Cases { scores, baseline, gates, threshold, is_asked, reasons, moved: &[] };
        let own = gate_suite(GATES, gates).into_iter().chain(cases.suites());
        let named = |suite: Suite| Suite {
            name: format!("{}: {}", run_name(&candidate.run), suite.name),
            ..suite
        };
        suites.extend(own.map(|suite| if has_several { named(suite) } else { suite }));
    }
    write(&comparison_name(comparison), &suites)
}

/// The full score of the metric by which questions flip.
fn full_score(candidate: &CandidateComparison) -> Option<Threshold> {
    let metric = candidate.flips.first()?.metric.clone();
    Some(Threshold { metric, value: 1.0 })
}

/// Why the rows of a candidate have the scores they have, as far as it is known.
fn reasons(candidate: &CandidateComparison, scores: &ScoreTable) -> Vec<String> {
    let mut reasons = vec![String::new(); scores.items().len()];
    let flips = candidate.flips.iter().flat_map(|flips| flips.broken.iter().chain(&flips.fixed));
    for flip in flips {
        if let (Some(why), Some(reason)) = (&flip.why, reasons.get_mut(flip.row)) {
            reason.clone_from(why);
        }
    }
    reasons
}
