//! Several answers to a question: how often it is solved.

use juror_score::statistics::{Interval, pass_at_k, pass_hat_k};
use juror_score::{Better, ScoreColumn, ScoreTable, Unit};
use schemars::JsonSchema;
use serde::Serialize;

use crate::estimate::Estimate;
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
    /// Its interval over questions, not over answers.
    #[schemars(with = "Option<[f64; 2]>")]
    pub interval: Option<Interval>,
    /// Questions with at least k scored answers.
    pub n: usize,
    /// Questions with fewer, which are left out.
    pub n_left_out: usize,
}

/// The answers to a question that have a score.
#[derive(Clone, Copy, Default)]
struct Tries {
    n: u64,
    n_solved: u64,
}

/// Returns the statistics of a metric for which the best score is 1; `None` for others, and if no
/// question has several answers.
pub(crate) fn trial_statistics(
    table: &ScoreTable,
    column: &ScoreColumn,
    questions: &QuestionNumbers,
    confidence: f64,
) -> Option<TrialStatistics> {
    let has_trials = questions.n_questions < table.items().len();
    let can_solve = column
        .info
        .is_some_and(|info| info.unit == Unit::Fraction && info.better == Better::Higher);
    if !has_trials || !can_solve {
        return None;
    }
    let mut tries = vec![Tries::default(); questions.n_questions];
    for (item, score) in item_scores(column) {
        let tries = &mut tries[questions.of_items[item] as usize];
        tries.n += 1;
        tries.n_solved += u64::from(score >= 1.0);
    }
    tries.retain(|tries| tries.n > 0);
    let most = tries.iter().map(|tries| tries.n).max().filter(|most| *most > 1)?;
    let is_mixed = |tries: &&Tries| tries.n_solved > 0 && tries.n_solved < tries.n;
    let n_mixed = tries.iter().filter(is_mixed).count();
    let rates = |of: fn(u64, u64, u64) -> Option<f64>| -> Vec<PassRate> {
        (1..=most).filter_map(|k| pass_rate(&tries, k, of, confidence)).collect()
    };
    Some(TrialStatistics {
        trials: usize::try_from(most).unwrap_or(usize::MAX),
        questions: tries.len(),
        solved_sometimes: n_mixed as f64 / tries.len() as f64,
        pass_at_k: rates(pass_at_k),
        pass_hat_k: rates(pass_hat_k),
    })
}

fn pass_rate(
    tries: &[Tries],
    k: u64,
    of: fn(u64, u64, u64) -> Option<f64>,
    confidence: f64,
) -> Option<PassRate> {
    let rates: Vec<f64> = tries.iter().filter_map(|tries| of(tries.n, tries.n_solved, k)).collect();
    let independent: Vec<u32> = (0..).take(rates.len()).collect();
    let estimate = Estimate::of(&rates, &independent, confidence)?;
    let n_left_out = tries.len() - rates.len();
    let (mean, interval) = (estimate.mean.mean, estimate.interval);
    Some(PassRate { k, mean, interval, n: rates.len(), n_left_out })
}
