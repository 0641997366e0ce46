//! A reference as a graph sees it: all steps with queries, and what was found about each.

use std::sync::Arc;
use std::time::Duration;

use juror_document::Document;
use juror_graph::LoadError;
use juror_read::Dataset;
use juror_score::KindNames;

use crate::asked_graph::AskedGraph;
use crate::asking::{AskOptions, Asked, Asking, ask_all};
use crate::check::{Checked, check};
use crate::place::places;
use crate::refresh::{RefreshError, Refreshed, refresh};
use crate::steps::{QueryStep, query_steps};

/// All steps of a reference that ask a graph, with what was found.
#[derive(Debug)]
pub struct Reviewed<'d> {
    steps: Vec<QueryStep<'d>>,
    found: Vec<(Arc<Asked>, Checked)>,
    /// The line and column of each step, or of the mistake in its query.
    places: Vec<(usize, usize)>,
}

/// A step and what was found about it.
#[derive(Clone, Copy, Debug)]
pub struct ReviewedStep<'r> {
    /// The step.
    pub step: &'r QueryStep<'r>,
    /// What was found.
    pub checked: &'r Checked,
    /// Line and column in the file.
    pub place: (usize, usize),
}

impl<'d> Reviewed<'d> {
    /// Asks a graph all queries of a reference, and compares what it gives with what is recorded. Queries
    /// that take longer than `slow` are marked. Fails if the graph has to be opened and cannot.
    pub fn ask(
        document: &Document,
        dataset: &'d Dataset<'_>,
        graph: &mut AskedGraph,
        options: &AskOptions,
        slow: Option<Duration>,
        progress: &mut dyn FnMut(Asking),
    ) -> Result<Reviewed<'d>, LoadError> {
        let steps = query_steps(dataset, &options.names);
        let asked = ask_all(graph, steps.iter().map(|step| &*step.query), options, progress)?;
        let found: Vec<_> = steps
            .iter()
            .zip(asked)
            .map(|(step, asked)| {
                let checked = check(step, &asked, slow);
                (asked, checked)
            })
            .collect();
        let places = places_of(document, &steps, &found);
        Ok(Reviewed { steps, found, places })
    }

    /// Returns all steps in the order of the file.
    pub fn steps(&self) -> impl Iterator<Item = ReviewedStep<'_>> {
        let found = self.steps.iter().zip(&self.found).zip(&self.places);
        found.map(|((step, (_, checked)), place)| ReviewedStep { step, checked, place: *place })
    }

    /// Whether there are no steps with queries.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Whether a query has no answer because something outside failed.
    pub fn has_outside_failure(&self) -> bool {
        self.found.iter().any(|(asked, _)| asked.is_outside())
    }

    /// Writes fresh results in place of those that have changed or are missing.
    pub fn refresh(
        &self,
        document: &Document,
        dataset: &Dataset<'_>,
    ) -> Result<Refreshed, RefreshError> {
        refresh(document, dataset, &self.steps, &self.found)
    }

    /// Like [`refresh`](Self::refresh), for the same reference read from another document, such as one that
    /// has all values in place of aliases.
    pub fn refresh_other(
        &self,
        document: &Document,
        dataset: &Dataset<'_>,
        names: &KindNames,
    ) -> Result<Refreshed, RefreshError> {
        refresh(document, dataset, &query_steps(dataset, names), &self.found)
    }

    /// Whether a result that the graph gives is not in a refreshed text, because of how the file is written.
    pub fn has_unwritten(&self, refreshed: &Refreshed) -> bool {
        refreshed.left.iter().any(|(at, _)| {
            let (asked, checked) = &self.found[*at];
            asked.answer().is_some() && checked.missing_columns.is_empty()
        })
    }

    /// Returns the ids of the questions whose results have moved and that have an answer, which was written
    /// for the results of before.
    pub fn answers_in_doubt(&self, dataset: &'d Dataset<'_>) -> Vec<&'d str> {
        let moved = self.steps().filter(|step| step.checked.has_moved());
        let mut ids: Vec<&'d str> = moved
            .map(|step| &dataset.questions[step.step.question])
            .filter(|question| question.answer.is_some())
            .map(|question| &*question.id)
            .collect();
        ids.dedup();
        ids
    }
}

/// Finds the place of each step; of a query with a mistake, the place of the mistake.
fn places_of(
    document: &Document,
    steps: &[QueryStep<'_>],
    found: &[(Arc<Asked>, Checked)],
) -> Vec<(usize, usize)> {
    let wanted = steps.iter().zip(found).map(|(step, (asked, _))| match &**asked {
        Asked::Refused(refusal) => step.wanted(refusal.place()),
        _ => step.wanted(None),
    });
    places(document, &wanted.collect::<Vec<_>>())
}
