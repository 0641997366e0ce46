//! The documented aggregates of a partial.

use std::borrow::Cow;
use std::collections::BTreeMap;

use juror_score::{Aggregates, Ordered, Spread, StepCounts, Summary};

use crate::exact_sum::ExactSum;
use crate::partial::{Column, Partial, SeenAt, Steps, Template};
use crate::series::{Range, Series};
use crate::tally::Tally;

/// A partial with its templates in the order in which they are written, and the sum of all of them.
pub(crate) struct Merged<'p> {
    pub(crate) partial: &'p Partial,
    pub(crate) templates: Vec<(&'p str, &'p Template)>,
    /// Over all templates, by column.
    pub(crate) all: Vec<Tally>,
}

impl<'p> Merged<'p> {
    pub(crate) fn of(partial: &'p Partial) -> Merged<'p> {
        let mut templates: Vec<(&str, &Template)> =
            partial.templates.iter().map(|(name, own)| (name.as_str(), own)).collect();
        templates.sort_by_key(|(name, template)| (template.first, *name));
        let mut all = vec![Tally::default(); partial.columns.len()];
        for (_, template) in &templates {
            for (sum, tally) in all.iter_mut().zip(&template.tallies) {
                sum.merge(tally);
            }
        }
        Merged { partial, templates, all }
    }

    pub(crate) fn aggregates(&self) -> Aggregates {
        let mut per_template: Ordered<String, Summary> = self
            .templates
            .iter()
            .map(|(name, own)| ((*name).to_owned(), self.summary(own)))
            .collect();
        let mut micro = self.micro();
        let mut macro_means = Ordered::default();
        for (at, column) in self.partial.columns.iter().enumerate() {
            let mut means = Vec::new();
            for (summary, (_, template)) in per_template.values_mut().zip(&self.templates) {
                means.extend(add(summary, column, &template.tallies[at]));
            }
            add(&mut micro, column, &self.all[at]);
            if is_always(column) || !means.is_empty() {
                macro_means.insert(Cow::Owned(column.name.clone()), mean_of(&means));
            }
        }
        Aggregates { per_template, micro, macro_means }
    }

    fn summary(&self, template: &Template) -> Summary {
        Summary {
            n_errors: size(template.n_errors),
            n_successes: size(template.n_answers - template.n_errors),
            steps: Some(step_counts([&template.steps])),
            retrieval_in_steps: self.partial.rules.retrieval_in_steps,
            ..Summary::default()
        }
    }

    fn micro(&self) -> Summary {
        let n_errors = self.templates.iter().map(|(_, own)| own.n_errors).sum();
        let steps = || step_counts(self.templates.iter().map(|(_, own)| &own.steps));
        Summary {
            n_errors: size(n_errors),
            n_successes: size(self.partial.n_answers() - n_errors),
            steps: self.partial.rules.micro_steps.then(steps),
            ..Summary::default()
        }
    }
}

/// A count as the size of something in memory, which it would be in one process.
pub(crate) fn size(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

fn is_always(column: &Column) -> bool {
    column.info.is_some_and(|info| info.always)
}

/// Adds the statistics of a metric, unless no answer has it and it need not be written; returns its
/// mean.
fn add(summary: &mut Summary, column: &Column, tally: &Tally) -> Option<f64> {
    if !is_always(column) && tally.series.n == 0 {
        return None;
    }
    let spread = tally.series.spread();
    summary.metrics.insert(Cow::Owned(column.name.clone()), spread);
    summary.coverage.push(tally.coverage);
    Some(spread.mean)
}

impl Series {
    fn spread(&self) -> Spread {
        let Some(Range { min, max }) = self.range else {
            return Spread { whole: true, ..Spread::default() };
        };
        let sum = self.sum.rounded();
        let middle = self.middle();
        let median = f64::midpoint(middle[0], middle[middle.len() - 1]);
        let mean = sum / self.n as f64;
        Spread { n: size(self.n), sum, mean, median, min, max, whole: !self.any_real }
    }
}

/// The mean of some numbers; 0 if there is none.
pub(crate) fn mean_of(values: &[f64]) -> f64 {
    let mut sum = ExactSum::default();
    for value in values {
        sum.add(*value);
    }
    sum.rounded() / values.len().max(1) as f64
}

/// The counts of steps, in the order of templates, and in each of first appearance.
fn step_counts<'s>(templates: impl IntoIterator<Item = &'s Steps>) -> StepCounts {
    let mut counts = StepCounts::default();
    for Steps { taken, once, empty_results, errors } in templates {
        count_all(&mut counts.total, taken);
        count_all(&mut counts.once_per_sample, once);
        count_all(&mut counts.empty_results, empty_results);
        count_all(&mut counts.errors, errors);
    }
    counts
}

fn count_all(counts: &mut Ordered<String, usize>, seen: &BTreeMap<String, SeenAt>) {
    let mut in_order: Vec<_> = seen.iter().collect();
    in_order.sort_by_key(|(name, seen)| (seen.first, *name));
    for (name, seen) in in_order {
        *counts.entry(name.clone()).or_default() += size(seen.count);
    }
}
