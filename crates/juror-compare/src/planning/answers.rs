//! The answers of a run to each question, and how far they vary.

use juror_score::{ScoreColumn, ScoreTable, compensated_sum};

use super::AtHand;
use crate::estimate::n_distinct;
use crate::join::item_scores;
use crate::statistics::{Kind, QuestionNumbers};

/// The scores of each question that has any, one for each answer.
pub(super) struct Answers {
    questions: Vec<usize>,
    scores: Vec<Vec<f64>>,
    pub(super) means: Vec<f64>,
    first_items: Vec<usize>,
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
        let mut all: Vec<Vec<f64>> = vec![Vec::new(); numbers.n_questions];
        for (item, score) in item_scores(column) {
            all[numbers.of_items[item] as usize].push(score);
        }
        let known = all.into_iter().enumerate().filter(|(_, scores)| !scores.is_empty());
        let (questions, scores): (Vec<usize>, Vec<Vec<f64>>) = known.unzip();
        let means = scores.iter().map(|scores| mean_of(scores)).collect();
        Answers { questions, scores, means, first_items: numbers.first_items }
    }

    /// The questions that have a score, and their templates or sets.
    pub(super) fn at_hand(&self, table: &ScoreTable) -> AtHand {
        let groups: Vec<u32> = self.questions.iter().map(|at| self.group(*at, table)).collect();
        AtHand { questions: self.questions.len(), groups: n_distinct(&groups) }
    }

    fn group(&self, question: usize, table: &ScoreTable) -> u32 {
        table.items()[self.first_items[question]].group
    }

    /// The cluster of each question: its template, or itself for queries.
    pub(super) fn clusters(&self, table: &ScoreTable) -> Vec<u32> {
        let kind = Kind::of(table.level());
        let cluster = |question: &usize| match kind {
            Kind::Eval => self.group(*question, table),
            Kind::Bench => u32::try_from(*question).unwrap_or(u32::MAX),
        };
        self.questions.iter().map(cluster).collect()
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
    (n_free > 0).then(|| Noise { variance, in_means: variance * mean_of(&parts) })
}

/// The mean of numbers; 0 for none.
pub(super) fn mean_of(values: &[f64]) -> f64 {
    compensated_sum(values) / values.len().max(1) as f64
}
