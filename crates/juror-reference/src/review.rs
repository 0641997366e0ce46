//! A reference as a graph sees it: all steps with queries, and what was found about each.

use std::sync::Arc;
use std::time::Duration;

use juror_document::{Document, Format, ValueSpan};
use juror_graph::{LoadError, Refusal};
use juror_read::Dataset;

use crate::asked_graph::AskedGraph;
use crate::asking::{AskOptions, Asked, Asking, ask_all};
use crate::check::{Checked, check};
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
}

/// Finds the place of each step; of a query with a mistake, the place of the mistake, if the query is
/// written line by line.
fn places_of(
    document: &Document,
    steps: &[QueryStep<'_>],
    found: &[(Arc<Asked>, Checked)],
) -> Vec<(usize, usize)> {
    let mistake = |at: usize| match &*found[at].0 {
        Asked::Refused(Refusal::NotSparql { place, .. }) => *place,
        _ => None,
    };
    if document.format() != Format::Yaml {
        let offsets = steps.iter().map(|step| document.offset_of(step.written.get()));
        return document.lines_and_columns(offsets);
    }
    let paths: Vec<_> = steps.iter().map(|step| step.path.key("args").key("query")).collect();
    let spans = document.yaml_spans(&paths);
    let start = |span: &Option<ValueSpan>| span.as_ref().map_or(0, |span| span.range.start);
    let starts = document.lines_and_columns(spans.iter().map(start));
    let places = spans.iter().zip(starts).enumerate();
    places
        .map(|(at, (span, (line, column)))| {
            let written = span.as_ref().map_or("", |span| &document.text()[span.range.clone()]);
            let inside = mistake(at).and_then(|place| inside_block(written, place));
            inside.map_or((line, column), |(down, column)| (line + down, column))
        })
        .collect()
}

/// Returns how many lines below the head of a block a place of its text is, and the column there.
pub(crate) fn inside_block(
    written: &str,
    (line, column): (usize, usize),
) -> Option<(usize, usize)> {
    if !written.starts_with('|') {
        return None;
    }
    let mut lines = written.lines().skip(1).filter(|line| !line.trim().is_empty());
    let indent = lines.next().map(|line| line.len() - line.trim_start().len())?;
    Some((line, column + indent))
}
