//! The questions that do not reach the score they need.

use super::RunReport;
use crate::junit::{Reached, Threshold, questions};

/// A question that does not reach its score.
pub(super) struct LowQuestion<'r> {
    pub(super) id: &'r str,
    pub(super) group: &'r str,
    /// The mean over its answers; `None` if all of them failed.
    pub(super) score: Option<f64>,
    /// Why, if that is known.
    pub(super) why: &'r str,
}

impl<'r> RunReport<'r> {
    /// The questions with an answer that does not reach the threshold, the worst first.
    pub(super) fn low_questions(&self, threshold: &Threshold) -> Vec<LowQuestion<'r>> {
        let reached = threshold.reached(self.scores);
        let is_low = |row: &&usize| {
            self.scores.items()[**row].is_error
                || matches!(reached[**row], Reached::No(_) | Reached::Unscored)
        };
        let mut low = Vec::new();
        for (key, question) in questions(self.scores) {
            let Some(row) = question.rows.iter().find(is_low) else { continue };
            let is_error = question.rows.iter().all(|row| self.scores.items()[*row].is_error);
            let mut scores = question.scores().filter(|_| !is_error);
            let score = scores.find(|(metric, _)| *metric == threshold.metric);
            low.push(LowQuestion {
                id: key.id,
                group: key.group,
                score: score.map(|(_, score)| score),
                why: self.reasons.get(*row).map_or("", String::as_str),
            });
        }
        let sign = if threshold.is_upper() { -1.0 } else { 1.0 };
        let rank =
            |own: &LowQuestion<'_>| own.score.map_or(f64::NEG_INFINITY, |score| score * sign);
        low.sort_by(|one, other| rank(one).total_cmp(&rank(other)));
        low
    }
}
