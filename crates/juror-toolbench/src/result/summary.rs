//! The summary of a benchmark run.

use hashbrown::HashSet;
use juror_score::{Scorecard, compensated_sum};
use serde::Serialize;

use super::findings::{
    API_CALL_SCORE, EVALUATION_TIME, HAS_FINISH, SOPR_SCORE, SYSTEM_ANSWER_TIME, status_of,
};
use crate::judged::Status;

/// Returns what an attempt counts as: by its score, or if judge runs differ, by their majority.
/// Returns `None` if nobody judged it.
fn counts_as(card: &Scorecard<'_>) -> Option<Status> {
    Some(match card.number(SOPR_SCORE)? {
        score if score >= 1.0 => Status::Solved,
        0.5 => Status::Unsure,
        score if score > 0.0 => status_of(card).unwrap_or(Status::Unsolved),
        _ => Status::Unsolved,
    })
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
pub(super) fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// The summary of attempts, with the field names of result files.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Summary {
    /// The number of distinct queries evaluated.
    pub total_queries: usize,
    /// The number of answers evaluated.
    pub total_evaluations: usize,
    /// Answers with a score of 1, or that most judge runs call solved.
    pub solved_count: usize,
    /// Their share of the judged answers, in percent; `None` if no answer was judged.
    pub solved_percentage: Option<f64>,
    /// Answers with a score of 0.5, or that the judge runs leave open.
    pub unsure_count: usize,
    /// Their share of the judged answers, in percent.
    pub unsure_percentage: Option<f64>,
    /// All other judged answers, including those where the agent failed.
    pub unsolved_count: usize,
    /// Their share of the judged answers, in percent.
    pub unsolved_percentage: Option<f64>,
    /// Answers that nobody judged.
    #[serde(skip_serializing_if = "is_zero")]
    pub unjudged_count: usize,
    /// Answers whose evaluation failed.
    pub error_count: usize,
    /// Answers of agents that called `Finish`.
    pub finish_count: usize,
    /// Their share of all answers, in percent.
    pub finish_percentage: f64,
    /// The mean score of the judged answers.
    pub average_sopr_score: Option<f64>,
    /// The mean API Call Score of the answers that have one.
    pub average_api_call_score: f64,
    /// Answers without one, because no API is right for their query.
    pub api_call_not_applicable_count: usize,
    /// The total evaluation time, in seconds.
    pub total_evaluation_time: f64,
    /// The mean evaluation time.
    pub average_evaluation_time: f64,
    /// The mean time the agent took, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub average_system_answer_time: Option<f64>,
}

impl Summary {
    /// Summarizes attempts.
    pub fn of<'c>(cards: impl IntoIterator<Item = &'c Scorecard<'c>>) -> Summary {
        let cards: Vec<&Scorecard<'_>> = cards.into_iter().collect();
        let n = cards.len();
        let numbers = |metric: &str| -> Vec<f64> {
            cards.iter().filter_map(|card| card.number(metric)).collect()
        };
        let queries: HashSet<(&str, &str)> =
            cards.iter().map(|card| (&*card.group, &*card.id)).collect();
        let statuses: Vec<Option<Status>> = cards.iter().map(|card| counts_as(card)).collect();
        let count = |wanted| statuses.iter().filter(|status| **status == wanted).count();
        let unjudged_count = count(None);
        let [solved_count, unsure_count, unsolved_count] =
            [Status::Solved, Status::Unsure, Status::Unsolved].map(|status| count(Some(status)));
        let n_judged = n - unjudged_count;
        // Shares are unknown if nobody judged any attempt; without attempts they are 0.
        let of_judged = |count| (n == 0 || n_judged > 0).then(|| percent(count, n_judged));
        let finish_count = numbers(HAS_FINISH).iter().filter(|number| **number > 0.0).count();
        let calls = numbers(API_CALL_SCORE);
        let evaluation_time = compensated_sum(&numbers(EVALUATION_TIME));
        Summary {
            total_queries: queries.len(),
            total_evaluations: n,
            solved_count,
            solved_percentage: of_judged(solved_count),
            unsure_count,
            unsure_percentage: of_judged(unsure_count),
            unsolved_count,
            unsolved_percentage: of_judged(unsolved_count),
            unjudged_count,
            error_count: cards.iter().filter(|card| card.error().is_some()).count(),
            finish_count,
            finish_percentage: percent(finish_count, n),
            average_sopr_score: mean(&numbers(SOPR_SCORE)).or((n == 0).then_some(0.0)),
            average_api_call_score: mean(&calls).unwrap_or(0.0),
            api_call_not_applicable_count: n - calls.len(),
            total_evaluation_time: evaluation_time,
            average_evaluation_time: evaluation_time / n.max(1) as f64,
            average_system_answer_time: mean(&numbers(SYSTEM_ANSWER_TIME)),
        }
    }
}

fn percent(count: usize, n: usize) -> f64 {
    if n == 0 { 0.0 } else { count as f64 / n as f64 * 100.0 }
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| compensated_sum(values) / values.len() as f64)
}
