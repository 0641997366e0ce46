//! The score that a question needs to pass.

use juror_compare::{Statistics, headline, item_scores};
use juror_score::{Better, ScoreTable, Standing, metric};

/// The score that a question needs to pass.
#[derive(Clone, Debug, PartialEq)]
pub struct Threshold {
    /// The metric.
    pub metric: String,
    /// The least score, or the greatest if lower is better.
    pub value: f64,
}

/// How an answer stands to a threshold.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Reached {
    Yes,
    /// What is wrong with it.
    No(String),
    /// The metric applies, and there is no score.
    Unscored,
    /// The metric does not apply.
    NotApplicable,
}

impl Threshold {
    /// The full score of the metric that says best whether answers are right; `None` if the run has
    /// no such metric.
    pub fn of_run(statistics: &Statistics) -> Option<Threshold> {
        Some(Threshold { metric: headline(statistics)?.to_owned(), value: 1.0 })
    }

    /// How each row stands. A metric that the table does not know applies to none.
    pub(crate) fn reached(&self, table: &ScoreTable) -> Vec<Reached> {
        let Some(column) = table.column(&self.metric) else {
            return vec![Reached::NotApplicable; table.items().len()];
        };
        let without = |standing| match standing {
            Standing::Missing => Reached::Unscored,
            Standing::Scored | Standing::NotApplicable => Reached::NotApplicable,
        };
        let mut reached: Vec<Reached> = table.standings(column).map(without).collect();
        for (row, score) in item_scores(column) {
            reached[row] = self.complaint(score).map_or(Reached::Yes, Reached::No);
        }
        reached
    }

    /// Says what is wrong with a score, if it does not pass.
    fn complaint(&self, score: f64) -> Option<String> {
        let Threshold { metric: name, value } = self;
        let (passes, word) = if self.is_upper() {
            (score <= *value, "at most")
        } else {
            (score >= *value, "at least")
        };
        (!passes).then(|| format!("{name} is {score}, {word} {value} was asked"))
    }

    /// Whether lower is better.
    pub(crate) fn is_upper(&self) -> bool {
        metric(&self.metric).is_some_and(|info| info.better == Better::Lower)
    }
}
