//! What terminals and notebooks show of a comparison: tables as cells of text, and sentences.

use juror_compare::{CandidateComparison, Comparison, Flip, Flips, Kind, RunFacts};

use super::ComparisonView;
use super::notes::{Notes, Quotes};
use super::rows::{cells, titles};
use super::words::{
    count, day, flips_line, group_noun, groups_of, label, metrics_by_group, relation, run_name,
    short_id, shown_metrics, unfinished,
};
use crate::amount::score;
use crate::questions_table::NAME_WIDTH;
use crate::terminal::{shorten, visible};

/// How many characters of a reason are shown.
const WHY_WIDTH: usize = 160;

/// A table: rows of cells, the first with the titles.
pub(crate) type Rows = Vec<Vec<String>>;

/// A row for each run: letter and name, id, day, and what it has in common with the baseline. What no
/// run has is left out, such as the ids of files of results.
pub(super) fn run_rows(comparison: &Comparison) -> Rows {
    let row = |at: usize, run: &RunFacts, relation: Vec<&str>| {
        let name = format!("{} {}", label(at), shorten(run_name(run), NAME_WIDTH));
        vec![name, visible(&short_id(run)), shorten(day(run), 10), relation.join(" · ")]
    };
    let baseline = &comparison.baseline;
    let mut rows = vec![row(0, baseline, unfinished(baseline).into_iter().collect())];
    let candidates = comparison.candidates.iter().enumerate();
    rows.extend(
        candidates
            .map(|(at, candidate)| row(at + 1, &candidate.run, relation(baseline, candidate))),
    );
    for column in (1..rows[0].len()).rev() {
        if rows.iter().all(|row| row[column].is_empty()) {
            for row in &mut rows {
                row.remove(column);
            }
        }
    }
    rows
}

/// One candidate against the baseline.
pub(crate) struct CandidateRows<'c> {
    pub(crate) comparison: &'c Comparison,
    pub(crate) candidate: &'c CandidateComparison,
    /// The letter of the candidate.
    pub(super) label: String,
    pub(super) view: &'c ComparisonView,
}

impl<'c> CandidateRows<'c> {
    /// All candidates, in order.
    pub(crate) fn all(comparison: &'c Comparison, view: &'c ComparisonView) -> Vec<Self> {
        let candidates = comparison.candidates.iter().enumerate();
        let own =
            |(at, candidate)| CandidateRows { comparison, candidate, label: label(at + 1), view };
        candidates.map(own).collect()
    }

    /// The title of what is told about it, if there are several.
    pub(crate) fn title(&self) -> Option<String> {
        self.has_several().then(|| format!("{} compared with A", self.label))
    }

    fn has_several(&self) -> bool {
        self.comparison.candidates.len() > 1
    }

    fn titled(&self, first: &str, is_adjusted: bool) -> Vec<String> {
        let titles = titles(&self.label, is_adjusted);
        std::iter::once(first.to_owned()).chain(titles).collect()
    }

    /// The table of metrics.
    pub(crate) fn metrics(&self) -> Rows {
        let mut rows = vec![self.titled("metric", self.has_several())];
        for (name, own) in shown_metrics(self.candidate, self.view.all_metrics) {
            let own = cells(name, own, self.has_several());
            rows.push([vec![shorten(name, NAME_WIDTH)], own].concat());
        }
        rows
    }

    /// What to keep in mind about the numbers of the metrics, and about the runs.
    pub(crate) fn notes(&self) -> Vec<String> {
        self.noted().all()
    }

    /// What to keep in mind about the numbers, for pages that tell of the runs themselves.
    pub(crate) fn notes_on_numbers(&self) -> Vec<String> {
        self.noted().about_numbers()
    }

    fn noted(&self) -> Notes<'_> {
        Notes {
            comparison: self.comparison,
            candidate: self.candidate,
            label: &self.label,
            shown: shown_metrics(self.candidate, self.view.all_metrics).collect(),
            quotes: Quotes { name: |name| shorten(name, NAME_WIDTH), sentence: visible },
        }
    }

    /// The table of gates; empty if there are none.
    pub(super) fn gates(&self) -> Rows {
        if self.candidate.gates.is_empty() {
            return Rows::new();
        }
        let mut rows = vec![["gate", "verdict", "why"].map(str::to_owned).to_vec()];
        rows.extend(self.candidate.gates.iter().map(|outcome| {
            let gate = shorten(&outcome.gate, NAME_WIDTH);
            vec![gate, outcome.verdict.word().to_owned(), shorten(&outcome.why, WHY_WIDTH)]
        }));
        rows
    }

    /// A table of templates or sets for each metric that matters, if they were asked for.
    pub(super) fn groups(&self) -> Vec<Rows> {
        if !self.view.by_group {
            return Vec::new();
        }
        let noun = group_noun(self.candidate.run.kind);
        let table = |metric: &String| {
            // Groups are not adjusted for the number of candidates: they are to be looked at.
            let title = format!("{} by {noun}", shorten(metric, NAME_WIDTH));
            let mut rows = vec![self.titled(&title, false)];
            for (group, own) in groups_of(&self.candidate.by_group, metric) {
                rows.push([vec![shorten(group, NAME_WIDTH)], cells(metric, own, false)].concat());
            }
            rows
        };
        let metrics = metrics_by_group(self.candidate, self.view.all_metrics);
        metrics.into_iter().map(table).filter(|rows| rows.len() > 1).collect()
    }

    /// How many questions flipped by a metric, and where most of them broke.
    pub(crate) fn flips_line(&self, flips: &Flips) -> String {
        let [counted, by] = flips_line(self.candidate, flips, |name| shorten(name, NAME_WIDTH));
        format!("{counted} {by}")
    }

    /// The flips of a list that are shown, as change, question and reason.
    pub(super) fn listed(&self, flips: &[Flip], metric: &str) -> Vec<[String; 3]> {
        let row = |flip: &Flip| {
            let [a, b] = [flip.a, flip.b].map(|own| score(metric, own));
            let why = flip.why.as_deref().map_or(String::new(), |why| shorten(why, WHY_WIDTH));
            [format!("{a} → {b}"), self.question(flip), why]
        };
        flips.iter().take(self.view.flips).map(row).collect()
    }

    /// Says how many flips of a list are not shown, and how to see them.
    pub(super) fn more(&self, flips: &[Flip]) -> Option<String> {
        let n_more = flips.len().saturating_sub(self.view.flips);
        (n_more > 0).then(|| format!("… {} more: {}", count(n_more), self.view.all_flips))
    }

    /// The id of a question; a query's with its set, since ids of sets may be equal.
    fn question(&self, flip: &Flip) -> String {
        let id = shorten(&flip.id, NAME_WIDTH);
        let has_sets = self.candidate.run.kind == Kind::Bench && self.candidate.groups.len() > 1;
        if has_sets { format!("{} {id}", shorten(&flip.group, NAME_WIDTH)) } else { id }
    }
}
