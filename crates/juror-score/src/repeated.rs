//! Steps that are repeated: what is written alike compares alike, and is compared once.

use std::collections::HashMap;

use crate::assignment::{Work, assign, assign_kinds};
use crate::compare::View;

/// The kinds of columns: those of a kind have the same similarity to every row.
pub(crate) struct Kinds {
    /// The kind of each column.
    of: Vec<usize>,
    /// The columns of each kind, in order; kinds stand in the order of their first columns.
    columns: Vec<Vec<usize>>,
}

impl Kinds {
    /// Steps that differ in nothing but their ids are of a kind.
    pub(crate) fn of<'v, 't: 'v>(views: impl Iterator<Item = &'v View<'t>>) -> Kinds {
        let mut known: HashMap<Vec<&'t str>, usize> = HashMap::new();
        let mut kinds = Kinds { of: Vec::new(), columns: Vec::new() };
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

    /// The columns of each kind, in the order of the first of each.
    pub(crate) fn columns(&self) -> impl Iterator<Item = &[usize]> {
        self.columns.iter().map(Vec::as_slice)
    }
}

/// The kinds of the first columns alone, of which nothing is copied.
#[derive(Clone, Copy)]
pub(crate) struct FirstColumns<'k> {
    /// Where there is none, every column is a kind of its own.
    kinds: Option<&'k Kinds>,
    n_columns: usize,
    n_kinds: usize,
}

impl<'k> FirstColumns<'k> {
    pub(crate) fn new(kinds: Option<&'k Kinds>, n_columns: usize) -> FirstColumns<'k> {
        let n_kinds = kinds.map_or(n_columns, |kinds| {
            kinds.columns.partition_point(|columns| columns[0] < n_columns)
        });
        FirstColumns { kinds, n_columns, n_kinds }
    }

    /// How many kinds there are.
    pub(crate) fn n_kinds(self) -> usize {
        self.n_kinds
    }

    /// The first column of each kind.
    pub(crate) fn firsts(self) -> impl Iterator<Item = usize> {
        let first = move |kind: usize| self.kinds.map_or(kind, |kinds| kinds.columns[kind][0]);
        (0..self.n_kinds).map(first)
    }

    /// The kind of a column.
    pub(crate) fn of_column(self, column: usize) -> usize {
        self.kinds.map_or(column, |kinds| kinds.of[column])
    }

    /// The columns of each kind, in the order of the first of each.
    pub(crate) fn columns(kinds: &'k Kinds, n_columns: usize) -> impl Iterator<Item = &'k [usize]> {
        let before = move |columns: &'k [usize]| {
            &columns[..columns.partition_point(|column| *column < n_columns)]
        };
        kinds.columns().map(before).take_while(|columns| !columns.is_empty())
    }

    /// For each row the column it is paired with, by its similarity to each kind.
    pub(crate) fn assign(
        self,
        similarity: &[Vec<f64>],
        order: &[usize],
        most_pairs: usize,
        work: &Work,
    ) -> Vec<Option<usize>> {
        let repeated = self.kinds.filter(|_| self.n_kinds < self.n_columns);
        let Some(kinds) = repeated else { return assign(similarity, order, work) };
        let columns: Vec<&[usize]> = FirstColumns::columns(kinds, self.n_columns).collect();
        assign_kinds(similarity, &columns, order, most_pairs, work)
    }
}
