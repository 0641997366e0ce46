//! The questions of a run with their scores; several answers to a question count by their mean.

use juror_compare::item_scores;
use juror_score::{Ordered, ScoreTable};

/// Times that are longer than this are mistakes.
const MOST_SECONDS: f64 = 1e9;

/// What tells a question from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key<'t> {
    /// Its template or set.
    pub(crate) group: &'t str,
    pub(crate) id: &'t str,
    /// The row of a question without an id, which is like no other.
    nameless: Option<usize>,
}

/// A question of a run.
#[derive(Debug, Default)]
pub(crate) struct Question<'t> {
    /// Its rows: one, or one for each trial.
    pub(crate) rows: Vec<usize>,
    scores: Vec<Mean<'t>>,
}

/// The mean of a metric over the rows of a question.
#[derive(Debug)]
struct Mean<'t> {
    metric: &'t str,
    sum: f64,
    n: f64,
}

/// The questions of a table, in order.
pub(crate) fn questions(table: &ScoreTable) -> Ordered<Key<'_>, Question<'_>> {
    let mut questions: Ordered<Key<'_>, Question<'_>> = Ordered::default();
    let mut of_rows = Vec::with_capacity(table.items().len());
    for (row, item) in table.items().iter().enumerate() {
        let nameless = item.id.is_empty().then_some(row);
        let entry = questions.entry(Key { group: table.group_of(item), id: &item.id, nameless });
        of_rows.push(entry.index());
        entry.or_default().rows.push(row);
    }
    for column in table.columns() {
        for (row, score) in item_scores(column) {
            questions[of_rows[row]].add(&column.name, score);
        }
    }
    questions
}

impl<'t> Question<'t> {
    fn add(&mut self, metric: &'t str, score: f64) {
        match self.scores.last_mut().filter(|mean| mean.metric == metric) {
            Some(mean) => (mean.sum, mean.n) = (mean.sum + score, mean.n + 1.0),
            None => self.scores.push(Mean { metric, sum: score, n: 1.0 }),
        }
    }

    /// The metrics that it has, and their means.
    pub(crate) fn scores(&self) -> impl Iterator<Item = (&'t str, f64)> {
        self.scores.iter().map(|mean| (mean.metric, mean.sum / mean.n))
    }

    /// How long an answer took, if that is known.
    pub(super) fn seconds(&self) -> Option<f64> {
        let is_time = |name: &str| matches!(name, "elapsed_sec" | "system_answer_time");
        let (_, seconds) = self.scores().find(|(name, _)| is_time(name))?;
        (0.0..MOST_SECONDS).contains(&seconds).then_some(seconds)
    }
}
