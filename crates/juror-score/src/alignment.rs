//! How the steps of an answer stand to the expected ones, as data to show: which were paired, and how
//! their tables, documents and arguments are aligned.
//!
//! [`explain`](fn@crate::explain) says in words what is here, and both come from the same comparison.
//!
//! An output may be too long to show whole, so tables are cut to their first rows and those that an
//! alignment names. Positions of rows in an alignment are positions in what is shown:
//! [`Alignment::of`] shows the outputs of an answer, and [`show_expected`] those of the reference,
//! for all answers to the question together.

mod documents;
use std::collections::BTreeSet;

pub use documents::{AlignedDocument, DocumentAlignment};
use juror_sparql::{AlignedRow, TableAlignment};
use serde::Serialize;

use crate::compare::View;
use crate::explain::MatchedSteps;
use crate::profile::Profile;
use crate::question::{ExpectedStep, Question};
use crate::record::Record;
use crate::shown_output::{ShownLimits, ShownOutput, ShownRows};

/// How an answer stands to the reference.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Alignment {
    /// Every expected step, by group and position; none if steps were not scored.
    pub pairs: Vec<StepPair>,
    /// What each actual step returned, if it did.
    pub outputs: Vec<Option<ShownOutput>>,
}

/// What became of an expected step.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StepPair {
    /// The group of the step, counted from 0.
    pub group: usize,
    /// The position of the step in its group.
    pub expected: usize,
    /// Whether it was found.
    pub state: StepState,
    /// The actual step that was found for it.
    pub actual: Option<usize>,
    /// The actual step that a missed one is explained against.
    pub nearest: Option<usize>,
    /// How alike the two are, if one was found.
    pub similarity: Option<f64>,
    /// Why it was missed, or how the one that was found differs.
    pub why: Option<String>,
    /// How the two stand to each other.
    #[serde(flatten)]
    pub details: StepDetails,
}

/// How an expected step and an actual one stand to each other, as far as they are compared by it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StepDetails {
    /// Their tables.
    pub table: Option<TableAlignment>,
    /// Their documents.
    pub documents: Option<DocumentAlignment>,
    /// The arguments that differ.
    pub args: Option<Vec<ArgumentDifference>>,
}

/// Whether an expected step was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StepState {
    /// Completely.
    Found,
    /// In part, such as a retrieval that lacks a document.
    Partly,
    /// Not at all.
    Missed,
    /// By the profile, its group does not count.
    NotScored,
}

/// An argument that differs: its name, and the expected and actual values as JSON.
pub type ArgumentDifference = (String, Option<String>, Option<String>);

impl Alignment {
    /// Aligns the steps of a record. Rows of the reference keep the positions that they have there
    /// until [`show_expected`] shows it.
    pub fn of(record: &Record<'_>, profile: &Profile, limits: &ShownLimits) -> Alignment {
        let (mut pairs, views) = match MatchedSteps::of(record, profile) {
            Some(matched) => {
                let views = matched.views();
                (matched.examine(&views, Some(limits)), views)
            }
            None => {
                let steps = record.case.trajectory.steps.as_deref().unwrap_or_default();
                (Vec::new(), View::of_answer(steps, profile))
            }
        };
        let mut named: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); views.len()];
        for (step, table) in pairs.iter_mut().filter_map(StepPair::table_of_actual) {
            named[step].extend(table.rows.iter().filter_map(|row| row.actual));
        }
        let rows: Vec<ShownRows> =
            named.into_iter().map(|named| ShownRows::new(named, limits)).collect();
        for (step, table) in pairs.iter_mut().filter_map(StepPair::table_of_actual) {
            renumber(table, |row| &mut row.actual, &rows[step]);
        }
        let show = |(view, rows)| ShownOutput::of_view(view, limits, rows);
        let outputs = views.iter().zip(&rows).map(show).collect();
        Alignment { pairs, outputs }
    }
}

/// Shows the expected outputs of a question, by group and position, and makes the alignments of all
/// answers to it point into what is shown. Call it once, with all of them.
pub fn show_expected(
    question: &Question<'_>,
    profile: &Profile,
    limits: &ShownLimits,
    alignments: &mut [Alignment],
) -> Vec<Vec<Option<ShownOutput>>> {
    let groups = question.groups.as_deref().unwrap_or_default();
    let mut named: Vec<Vec<BTreeSet<usize>>> =
        groups.iter().map(|steps| vec![BTreeSet::new(); steps.len()]).collect();
    for (group, step, table) in tables_of_expected(alignments) {
        named[group][step].extend(table.rows.iter().filter_map(|row| row.expected));
    }
    let all = |named: Vec<BTreeSet<usize>>| -> Vec<ShownRows> {
        named.into_iter().map(|named| ShownRows::new(named, limits)).collect()
    };
    let rows: Vec<Vec<ShownRows>> = named.into_iter().map(all).collect();
    for (group, step, table) in tables_of_expected(alignments) {
        renumber(table, |row| &mut row.expected, &rows[group][step]);
    }
    let show = |(step, rows): (&ExpectedStep<'_>, &ShownRows)| {
        ShownOutput::of_view(&View::of_expected(step).under(profile), limits, rows)
    };
    let groups = groups.iter().zip(&rows);
    groups.map(|(steps, rows)| steps.iter().zip(rows).map(show).collect()).collect()
}

fn tables_of_expected(
    alignments: &mut [Alignment],
) -> impl Iterator<Item = (usize, usize, &mut TableAlignment)> {
    let pairs = alignments.iter_mut().flat_map(|alignment| &mut alignment.pairs);
    pairs.filter_map(|pair| Some((pair.group, pair.expected, pair.details.table.as_mut()?)))
}

/// Replaces the positions of rows on one side by those in what is shown.
fn renumber(
    table: &mut TableAlignment,
    side: impl Fn(&mut AlignedRow) -> &mut Option<usize>,
    rows: &ShownRows,
) {
    for row in &mut table.rows {
        let position = side(row);
        *position = position.and_then(|at| rows.position_of(at));
    }
}

impl StepPair {
    /// Returns the alignment of tables, if there is one, and the actual step that it is with.
    fn table_of_actual(&mut self) -> Option<(usize, &mut TableAlignment)> {
        Some((self.actual.or(self.nearest)?, self.details.table.as_mut()?))
    }
}
