//! Several answers to a question: how often it is solved.

use juror_score::statistics::{Interval, pass_at_k, pass_hat_k};
use juror_score::{Better, MetricInfo, ScoreColumn, ScoreTable, Unit};
use schemars::JsonSchema;
use serde::Serialize;

use crate::estimate::{Caution, Estimate};
use crate::question_numbers::QuestionNumbers;
use crate::row_scores::item_scores;

/// How often questions with several answers are solved, by one metric: an answer with the full score
/// solves its question.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TrialStatistics {
    /// The most answers that a question has.
    pub trials: usize,
    /// Questions with at least one scored answer.
    pub questions: usize,
    /// The share of them that some answers solve and others do not.
    pub solved_sometimes: f64,
    /// For each k: the chance that at least one of k answers solves the question.
    pub pass_at_k: Vec<PassRate>,
    /// For each k: the chance that all of k answers solve it.
    pub pass_hat_k: Vec<PassRate>,
}

/// A mean over questions, for some number of answers.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PassRate {
    /// How many answers.
    pub k: u64,
    /// The mean over questions.
    pub mean: f64,
    /// Its interval over questions, not over answers; questions of one template are a cluster.
    #[schemars(with = "Option<[f64; 2]>")]
    pub interval: Option<Interval>,
    /// Questions with at least k scored answers.
    pub n: usize,
    /// Questions with fewer, or none, which are left out.
    pub n_left_out: usize,
    /// How many templates they belong to, if those matter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clusters: Option<usize>,
    /// What to keep in mind, or why there is no interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caution: Option<Caution>,
}

/// The answers to a question that have a score.
#[derive(Clone, Copy, Debug)]
pub struct Tries {
    /// How many.
    pub n: u64,
    /// How many of them have the full score.
    pub n_solved: u64,
    /// The template of the question, or the query itself.
    pub cluster: u32,
}

/// Returns the statistics of a metric for which the best score is 1; `None` for others, and if no
/// question has several answers.
pub(crate) fn trial_statistics(
    table: &ScoreTable,
    column: &ScoreColumn,
    questions: &QuestionNumbers,
    confidence: f64,
) -> Option<TrialStatistics> {
    if !questions.has_trials() || !column.info.is_some_and(can_solve) {
        return None;
    }
    TrialStatistics::of(&all_tries(table, column, questions), confidence)
}

/// Whether an answer with the full score of a metric solves its question.
pub fn can_solve(info: &MetricInfo) -> bool {
    info.unit == Unit::Fraction && info.better == Better::Higher
}

impl TrialStatistics {
    /// Computes how often questions are solved; `None` if none has several answers with a score.
    pub fn of(tries: &[Tries], confidence: f64) -> Option<TrialStatistics> {
        let scored = || tries.iter().filter(|tries| tries.n > 0);
        let most = scored().map(|tries| tries.n).max().filter(|most| *most > 1)?;
        let is_mixed = |tries: &&Tries| tries.n_solved > 0 && tries.n_solved < tries.n;
        let (n_scored, n_mixed) = (scored().count(), scored().filter(is_mixed).count());
        let rates = |of: Rate| -> Vec<PassRate> {
            (1..=most).filter_map(|k| pass_rate(tries, k, of, confidence)).collect()
        };
        Some(TrialStatistics {
            trials: usize::try_from(most).unwrap_or(usize::MAX),
            questions: n_scored,
            solved_sometimes: n_mixed as f64 / n_scored as f64,
            pass_at_k: rates(pass_at_k),
            pass_hat_k: rates(pass_hat_k),
        })
    }
}

/// The answers to each question to which the metric applies, even if all of them failed.
fn all_tries(table: &ScoreTable, column: &ScoreColumn, questions: &QuestionNumbers) -> Vec<Tries> {
    let mut tries: Vec<Tries> = (0..questions.n_questions)
        .map(|at| Tries { n: 0, n_solved: 0, cluster: questions.cluster(at, table) })
        .collect();
    for (item, score) in item_scores(column) {
        let tries = &mut tries[questions.of_items[item] as usize];
        tries.n += 1;
        tries.n_solved += u64::from(score >= 1.0);
    }
    let shares = questions.shares(table, column);
    let applicable = tries.into_iter().zip(shares).filter(|(_, share)| share.is_some());
    applicable.map(|(tries, _)| tries).collect()
}

/// A rate of `c` solving answers among `n`, for some `k`.
type Rate = fn(u64, u64, u64) -> Option<f64>;

fn pass_rate(tries: &[Tries], k: u64, of: Rate, confidence: f64) -> Option<PassRate> {
    let rate = |tries: &Tries| Some((of(tries.n, tries.n_solved, k)?, tries.cluster));
    let (rates, clusters): (Vec<f64>, Vec<u32>) = tries.iter().filter_map(rate).unzip();
    let Estimate { mean, interval, caution, .. } = Estimate::of(&rates, &clusters, confidence)?;
    let n_left_out = tries.len() - rates.len();
    let (clusters, mean) = (mean.n_clusters, mean.mean);
    Some(PassRate { k, mean, interval, n: rates.len(), n_left_out, clusters, caution })
}
