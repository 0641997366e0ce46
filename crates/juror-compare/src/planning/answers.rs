//! The answers of a run to each question, and how far they vary.

use juror_score::{ScoreColumn, ScoreTable, compensated_sum};

use super::AtHand;
use crate::estimate::n_distinct;
use crate::numbers::mean_of;
use crate::question_numbers::QuestionNumbers;
use crate::row_scores::item_scores;

/// The scores of each question that has any, one for each answer.
pub(super) struct Answers {
    questions: Vec<usize>,
    scores: Vec<Vec<f64>>,
    pub(super) means: Vec<f64>,
    numbers: QuestionNumbers,
}

/// How far answers to one question vary.
#[derive(Clone, Copy)]
pub(super) struct Noise {
    pub(super) variance: f64,
    /// What that adds to the variance of the questions' means.
    pub(super) in_means: f64,
}

impl Answers {
    pub(super) fn of(table: &ScoreTable, column: &ScoreColumn) -> Answers {
        let numbers = QuestionNumbers::of(table);
        let all = numbers.scores(item_scores(column));
        let known = all.into_iter().enumerate().filter(|(_, scores)| !scores.is_empty());
        let (questions, scores): (Vec<usize>, Vec<Vec<f64>>) = known.unzip();
        let means = scores.iter().filter_map(|scores| mean_of(scores)).collect();
        Answers { questions, scores, means, numbers }
    }

    /// The questions that have a score, and their templates or sets.
    pub(super) fn at_hand(&self, table: &ScoreTable) -> AtHand {
        let groups: Vec<u32> = self.questions.iter().map(|at| self.group(*at, table)).collect();
        AtHand { questions: self.questions.len(), groups: n_distinct(&groups) }
    }

    fn group(&self, question: usize, table: &ScoreTable) -> u32 {
        table.items()[self.numbers.first_items[question]].group
    }

    /// The cluster of each question: its template, or itself for queries.
    pub(super) fn clusters(&self, table: &ScoreTable) -> Vec<u32> {
        self.questions.iter().map(|question| self.numbers.cluster(*question, table)).collect()
    }

    pub(super) fn mean_trials(&self) -> f64 {
        let n: usize = self.scores.iter().map(Vec::len).sum();
        n as f64 / self.scores.len().max(1) as f64
    }

    /// Pools the variance of all questions with several answers; `None` if there are none.
    pub(super) fn noise(&self) -> Option<Noise> {
        pooled_noise(&self.scores, &self.means)
    }
}

/// Pools the variance of several lists of numbers around their means; `None` if none has several.
pub(super) fn pooled_noise(scores: &[Vec<f64>], means: &[f64]) -> Option<Noise> {
    let (mut squares, mut n_free, mut parts) = (Vec::new(), 0, Vec::new());
    for (scores, mean) in scores.iter().zip(means).filter(|(scores, _)| !scores.is_empty()) {
        squares.extend(scores.iter().map(|score| (score - mean).powi(2)));
        n_free += scores.len() - 1;
        parts.push(1.0 / scores.len() as f64);
    }
    squares.sort_unstable_by(f64::total_cmp);
    let variance = compensated_sum(&squares) / n_free as f64;
    let mean_part = mean_of(&parts).filter(|_| n_free > 0)?;
    Some(Noise { variance, in_means: variance * mean_part })
}
