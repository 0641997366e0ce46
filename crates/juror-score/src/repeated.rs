//! Repeated steps: those written identically compare identically, and are compared once.
//!
//! Agents caught in a loop take the same step thousands of times. Comparing every expected step with
//! each of them would be wasted work: steps that differ only in their ids have the same similarity
//! to every expected step. So similarities are computed for one step of each kind, and a matrix of
//! expected steps (rows) by kinds stands for the much wider matrix of expected by actual steps
//! (columns).
//!
//! Groups of expected steps are looked for from the last to the first, each among fewer of the first
//! actual steps. Kinds are therefore computed once for all columns, in the order of the first column
//! of each: the kinds among the first `n` columns are then a prefix of all kinds, and the columns of
//! each are a prefix of its columns. [`FirstColumns`] is such a pair of prefixes, found by binary
//! search without copying.

use std::collections::HashMap;

use crate::compare::View;
use juror_assignment::{PairingWork, assign, assign_kinds};

/// Columns by kind: those of a kind have the same similarity to every row.
pub(crate) struct RepeatedSteps {
    /// The kind of each column.
    of: Vec<usize>,
    /// The columns of each kind, in order; kinds are in the order of their first columns.
    columns: Vec<Vec<usize>>,
}

impl RepeatedSteps {
    /// Groups steps that differ only in their ids.
    pub(crate) fn of<'v, 't: 'v>(views: impl Iterator<Item = &'v View<'t>>) -> RepeatedSteps {
        let mut known: HashMap<Vec<&'t str>, usize> = HashMap::new();
        let mut kinds = RepeatedSteps { of: Vec::new(), columns: Vec::new() };
        for (column, view) in views.enumerate() {
            let kind = *known.entry(view.written()).or_insert(kinds.columns.len());
            if kind == kinds.columns.len() {
                kinds.columns.push(Vec::new());
            }
            kinds.columns[kind].push(column);
            kinds.of.push(kind);
        }
        kinds
    }

    /// Returns the columns of each kind, in the order of the first column of each.
    pub(crate) fn columns(&self) -> impl Iterator<Item = &[usize]> {
        self.columns.iter().map(Vec::as_slice)
    }
}

/// The first columns and their kinds.
#[derive(Clone, Copy)]
pub(crate) struct FirstColumns<'k> {
    /// If `None`, every column is a kind of its own.
    kinds: Option<&'k RepeatedSteps>,
    n_columns: usize,
    n_kinds: usize,
}

impl<'k> FirstColumns<'k> {
    pub(crate) fn new(kinds: Option<&'k RepeatedSteps>, n_columns: usize) -> FirstColumns<'k> {
        let n_kinds = kinds.map_or(n_columns, |kinds| {
            kinds.columns.partition_point(|columns| columns[0] < n_columns)
        });
        FirstColumns { kinds, n_columns, n_kinds }
    }

    /// The number of kinds.
    pub(crate) fn n_kinds(self) -> usize {
        self.n_kinds
    }

    /// Returns the first column of each kind.
    pub(crate) fn firsts(self) -> impl Iterator<Item = usize> {
        let first = move |kind: usize| self.kinds.map_or(kind, |kinds| kinds.columns[kind][0]);
        (0..self.n_kinds).map(first)
    }

    /// Returns the kind of a column.
    pub(crate) fn of_column(self, column: usize) -> usize {
        self.kinds.map_or(column, |kinds| kinds.of[column])
    }

    /// Returns the columns of each kind among the first `n_columns`.
    pub(crate) fn columns(
        kinds: &'k RepeatedSteps,
        n_columns: usize,
    ) -> impl Iterator<Item = &'k [usize]> {
        let before = move |columns: &'k [usize]| {
            &columns[..columns.partition_point(|column| *column < n_columns)]
        };
        kinds.columns().map(before).take_while(|columns| !columns.is_empty())
    }

    /// Pairs rows with columns, given the similarity of each row to each kind.
    pub(crate) fn assign(
        self,
        similarity: &[Vec<f64>],
        order: &[usize],
        most_pairs: usize,
        work: &PairingWork,
    ) -> Vec<Option<usize>> {
        let repeated = self.kinds.filter(|_| self.n_kinds < self.n_columns);
        let Some(kinds) = repeated else { return assign(similarity, order, work) };
        let columns: Vec<&[usize]> = FirstColumns::columns(kinds, self.n_columns).collect();
        assign_kinds(similarity, &columns, order, most_pairs, work)
    }
}
