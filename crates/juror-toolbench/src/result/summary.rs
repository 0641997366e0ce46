//! What is summed up of evaluated answers.

use hashbrown::HashSet;
use juror_score::compensated_sum;
use serde::Serialize;

use crate::judged::Status;

/// What is summed up of an evaluated answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evaluated {
    /// The id of the query, as ids are compared.
    pub query_id: String,
    /// How far the query is solved: 1, 0.5 or 0, or the mean of several judge runs; nothing where
    /// nobody judged.
    pub sopr_score: Option<f64>,
    /// Which of the right APIs were called; nothing where none is right.
    pub api_call_score: Option<f64>,
    /// The status, where one was found.
    pub status: Option<Status>,
    /// Whether the evaluation failed.
    pub is_error: bool,
    /// Whether the agent called `Finish`.
    pub has_finish: bool,
    /// How long evaluating took.
    pub evaluation_seconds: f64,
    /// How long the agent took, where that is known.
    pub answer_seconds: Option<f64>,
}

impl Evaluated {
    /// What it counts as: by its score, and where judge runs differ, by what most came to.
    fn counts_as(&self) -> Option<Status> {
        Some(match self.sopr_score? {
            score if score >= 1.0 => Status::Solved,
            0.5 => Status::Unsure,
            score if score > 0.0 => self.status.unwrap_or(Status::Unsolved),
            _ => Status::Unsolved,
        })
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
pub(super) fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// A summary, its fields named as in result files.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Summary {
    /// How many different queries were evaluated.
    pub total_queries: usize,
    /// How many answers were evaluated.
    pub total_evaluations: usize,
    /// Answers with a score of 1; of several judge runs, where most say so.
    pub solved_count: usize,
    /// Their share of the judged answers, in percent; nothing where none of the answers was judged.
    pub solved_percentage: Option<f64>,
    /// Answers with a score of a half; of several judge runs, where they come to it.
    pub unsure_count: usize,
    /// Their share of the judged answers, in percent.
    pub unsure_percentage: Option<f64>,
    /// All other judged answers, those with errors of agents among them.
    pub unsolved_count: usize,
    /// Their share of the judged answers, in percent.
    pub unsolved_percentage: Option<f64>,
    /// Answers that nobody judged.
    #[serde(skip_serializing_if = "is_zero")]
    pub unjudged_count: usize,
    /// Answers whose evaluation failed.
    pub error_count: usize,
    /// Answers where the agent called `Finish`.
    pub finish_count: usize,
    /// Their share of all answers, in percent.
    pub finish_percentage: f64,
    /// The mean score of the judged answers.
    pub average_sopr_score: Option<f64>,
    /// The mean API Call Score, over the answers that have one.
    pub average_api_call_score: f64,
    /// Answers without one, since no API is right for their query.
    pub api_call_not_applicable_count: usize,
    /// How long evaluating took, in seconds.
    pub total_evaluation_time: f64,
    /// The mean of these times.
    pub average_evaluation_time: f64,
    /// The mean time that the agent took, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub average_system_answer_time: Option<f64>,
}

impl Summary {
    /// Sums up evaluated answers.
    pub fn of(results: &[Evaluated]) -> Summary {
        let n = results.len();
        let count = |is_counted: &dyn Fn(&Evaluated) -> bool| {
            results.iter().filter(|result| is_counted(result)).count()
        };
        let values = |value: fn(&Evaluated) -> Option<f64>| -> Vec<f64> {
            results.iter().filter_map(value).collect()
        };
        let queries: HashSet<&str> = results.iter().map(|result| &*result.query_id).collect();
        let unjudged_count = count(&|result| result.sopr_score.is_none());
        let solved_count = count(&|result| result.counts_as() == Some(Status::Solved));
        let unsure_count = count(&|result| result.counts_as() == Some(Status::Unsure));
        let unsolved_count = n - unjudged_count - solved_count - unsure_count;
        let n_judged = n - unjudged_count;
        // Of answers that nobody judged nothing is known; without any answer all is 0.
        let of_judged = |count| (n == 0 || n_judged > 0).then(|| percent(count, n_judged));
        let sopr = mean(&values(|result| result.sopr_score)).or((n == 0).then_some(0.0));
        let finish_count = count(&|result| result.has_finish);
        let calls = values(|result| result.api_call_score);
        let times = values(|result| Some(result.evaluation_seconds));
        let answer_times = values(|result| result.answer_seconds);
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
            error_count: count(&|result| result.is_error),
            finish_count,
            finish_percentage: percent(finish_count, n),
            average_sopr_score: sopr,
            average_api_call_score: mean(&calls).unwrap_or(0.0),
            api_call_not_applicable_count: n - calls.len(),
            total_evaluation_time: compensated_sum(&times),
            average_evaluation_time: mean(&times).unwrap_or(0.0),
            average_system_answer_time: mean(&answer_times),
        }
    }
}

fn percent(count: usize, n: usize) -> f64 {
    if n == 0 { 0.0 } else { count as f64 / n as f64 * 100.0 }
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| compensated_sum(values) / values.len() as f64)
}
