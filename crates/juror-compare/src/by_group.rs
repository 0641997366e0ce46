//! The comparison within each template or set.

use hashbrown::DefaultHashBuilder;
use indexmap::IndexSet;
use juror_score::{Coverage, Ordered, ScoreColumn, ScoreTable};

use crate::join::{Joined, PairedScores};
use crate::metric_comparison::{Columns, Measured, MetricComparison, sum};
use crate::question_numbers::QuestionNumbers;

/// Which template or set each joined question belongs to.
pub(crate) struct Groups {
    names: IndexSet<String, DefaultHashBuilder>,
    of_pairs: Vec<usize>,
}

impl Groups {
    /// The groups of joined questions; `table` is the first run's.
    pub(crate) fn of(joined: &Joined, table: &ScoreTable) -> Groups {
        let mut names = IndexSet::default();
        let of_pairs =
            (0..joined.len()).map(|at| names.insert_full(joined.name(at, table).group).0).collect();
        Groups { names, of_pairs }
    }

    /// The names, in order of first appearance.
    pub(crate) fn names(&self) -> impl Iterator<Item = &String> {
        self.names.iter()
    }

    /// How many joined questions each has.
    pub(crate) fn sizes(&self) -> Ordered<String, usize> {
        let mut sizes: Ordered<String, usize> =
            self.names.iter().map(|name| (name.clone(), 0)).collect();
        self.of_pairs.iter().for_each(|at| sizes[*at] += 1);
        sizes
    }

    /// The scores of each group. Within a group every question stands for itself.
    fn scores(&self, all: &PairedScores) -> Vec<PairedScores> {
        let mut groups = vec![PairedScores::default(); self.names.len()];
        for (row, &at) in all.at.iter().enumerate() {
            let own = &mut groups[self.of_pairs[at]];
            own.clusters.push(u32::try_from(own.at.len()).unwrap_or(u32::MAX));
            own.at.push(at);
            own.a.push(all.a[row]);
            own.b.push(all.b[row]);
        }
        groups
    }

    /// How many answers of each group have a number in a run.
    fn coverage(
        &self,
        (table, column): (&ScoreTable, &ScoreColumn),
        questions: &QuestionNumbers,
    ) -> Vec<Coverage> {
        let places: Vec<Option<usize>> =
            table.groups().map(|name| self.names.get_index_of(name)).collect();
        let mut groups = vec![Coverage::default(); self.names.len()];
        for (own, first) in
            questions.coverage(table, column).into_iter().zip(&questions.first_items)
        {
            if let Some(at) = places[table.items()[*first].group as usize] {
                groups[at] = sum([groups[at], own]);
            }
        }
        groups
    }
}

impl Columns<'_> {
    /// Compares the metric in each group; `None` where no question has a number in both runs.
    pub(crate) fn compare_groups(
        &self,
        joined: &Joined,
        groups: &Groups,
        confidence: f64,
    ) -> Vec<Option<MetricComparison>> {
        let mut parts = vec![Measured::default(); groups.names.len()];
        for (part, scores) in
            parts.iter_mut().zip(groups.scores(&joined.scores(self.a.1, self.b.1)))
        {
            part.scores = scores;
        }
        let sides = [(self.a, &joined.a), (self.b, &joined.b)];
        for (side, (run, questions)) in sides.into_iter().enumerate() {
            for (part, coverage) in parts.iter_mut().zip(groups.coverage(run, questions)) {
                part.coverage[side] = coverage;
            }
        }
        for (at, change) in self.changes_with_errors(joined).into_iter().enumerate() {
            parts[groups.of_pairs[at]].changes_with_errors.extend(change);
        }
        for unseen in self.unseen(joined) {
            let group = unseen.group(joined, self).and_then(|name| groups.names.get_index_of(name));
            if let Some(at) = group {
                parts[at].add(&unseen);
            }
        }
        parts.iter().map(|part| self.comparison(part, confidence)).collect()
    }
}
