//! What a partial knows of a metric in one template.

use juror_score::Coverage;

use crate::exact_sum::{Exact, ExactSum};
use crate::series::Series;

/// The numbers of a metric in a template, and how many answers have one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) series: Series,
    /// Of all answers.
    pub(crate) coverage: Coverage,
    /// Of answers that are the only ones to their questions: how many the metric applies to, how many
    /// have a number, and how many of those have the full score.
    pub(crate) alone: Alone,
    /// Such answers with several numbers, because several steps have one.
    pub(crate) several: Several,
}

/// Answers that are the only ones to their questions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Alone {
    pub(crate) n_applicable: u64,
    pub(crate) n_scored: u64,
    pub(crate) n_solved: u64,
}

/// Questions with several numbers each, reduced to sums. `n_q` and `S_q` are how many numbers a
/// question has, and their sum.
#[derive(Clone, Debug, Default)]
pub(crate) struct Several {
    /// How many questions.
    pub(crate) n: u64,
    /// How many numbers they have.
    pub(crate) n_values: u64,
    /// Σ `n_q`².
    pub(crate) n_squared: u128,
    /// Σ `S_q`.
    pub(crate) sum: ExactSum,
    /// The sum of the squares of all numbers.
    pub(crate) squares: ExactSum,
    /// Σ `S_q`².
    pub(crate) sums_squared: ExactSum,
    /// Σ `n_q · S_q`.
    pub(crate) weighted: ExactSum,
    /// The sum of the questions' scores.
    pub(crate) scores: ExactSum,
    /// The sum of the squares of the questions' scores.
    pub(crate) scores_squared: ExactSum,
}

impl Several {
    /// Adds a question.
    pub(crate) fn add(&mut self, values: impl Iterator<Item = f64>, score: Option<f64>) {
        let (mut n, mut sum) = (0_u64, ExactSum::default());
        for value in values {
            n += 1;
            sum.add(value);
            self.squares.add_square(value);
        }
        let sum = sum.exact();
        self.n += 1;
        self.n_values += n;
        self.n_squared += u128::from(n) * u128::from(n);
        self.sums_squared.add_exact(&sum.times(&sum));
        self.weighted.add_exact(&sum.times(&Exact::whole(n.into())));
        self.sum.add_exact(&sum);
        if let Some(score) = score {
            self.scores.add(score);
            self.scores_squared.add_square(score);
        }
    }

    pub(crate) fn merge(&mut self, other: &Several) {
        self.n += other.n;
        self.n_values += other.n_values;
        self.n_squared += other.n_squared;
        for (mine, theirs) in self.sums_mut().into_iter().zip(other.sums()) {
            mine.add_exact(&theirs.exact());
        }
    }

    /// The sums, in the order of files.
    pub(crate) fn sums(&self) -> [&ExactSum; 6] {
        let Several { sum, squares, sums_squared, weighted, scores, scores_squared, .. } = self;
        [sum, squares, sums_squared, weighted, scores, scores_squared]
    }

    pub(crate) fn sums_mut(&mut self) -> [&mut ExactSum; 6] {
        let Several { sum, squares, sums_squared, weighted, scores, scores_squared, .. } = self;
        [sum, squares, sums_squared, weighted, scores, scores_squared]
    }
}

impl Tally {
    pub(crate) fn merge(&mut self, other: &Tally) {
        self.series.merge(&other.series);
        self.coverage.n_scored += other.coverage.n_scored;
        self.coverage.n_applicable += other.coverage.n_applicable;
        self.alone.n_applicable += other.alone.n_applicable;
        self.alone.n_scored += other.alone.n_scored;
        self.alone.n_solved += other.alone.n_solved;
        self.several.merge(&other.several);
    }

    /// Whether nothing is known: no answer needs the metric, and none has it.
    pub(crate) fn is_empty(&self) -> bool {
        self.coverage.n_applicable == 0 && self.series.n == 0
    }
}
