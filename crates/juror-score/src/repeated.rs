//! Steps that are repeated: what is written alike compares alike, and is compared once.

use std::collections::HashMap;

use crate::assignment::{assign, assign_kinds};
use crate::compare::View;

/// The kinds of columns: those of a kind have the same similarity to every row.
pub(crate) struct Kinds {
    /// The kind of each column.
    of: Vec<usize>,
    /// The columns of each kind, in order.
    columns: Vec<Vec<usize>>,
}

impl Kinds {
    /// Every column is a kind of its own.
    pub(crate) fn all_different(n_columns: usize) -> Kinds {
        Kinds { of: Vec::new(), columns: (0..n_columns).map(|column| vec![column]).collect() }
    }

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

    /// Those of the first columns alone.
    pub(crate) fn of_first(&self, n_columns: usize) -> Kinds {
        let before = |columns: &Vec<usize>| {
            columns[..columns.partition_point(|column| *column < n_columns)].to_vec()
        };
        // Kinds stand in the order of their first columns.
        let columns = self.columns.iter().map(before).take_while(|columns| !columns.is_empty());
        Kinds { of: self.of[..n_columns].to_vec(), columns: columns.collect() }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.columns.len()
    }

    /// The first column of each kind.
    pub(crate) fn firsts(&self) -> impl Iterator<Item = usize> {
        self.columns.iter().map(|columns| columns[0])
    }

    /// The columns of each kind, in the order of the first of each.
    pub(crate) fn columns(&self) -> impl Iterator<Item = &[usize]> {
        self.columns.iter().map(Vec::as_slice)
    }

    /// The kind of a column.
    pub(crate) fn of_column(&self, column: usize) -> usize {
        self.of.get(column).copied().unwrap_or(column)
    }

    /// For each row the column it is paired with, by its similarity to each kind.
    pub(crate) fn assign(
        &self,
        similarity: &[Vec<f64>],
        order: &[usize],
        most_pairs: usize,
    ) -> Vec<Option<usize>> {
        if self.columns.iter().all(|columns| columns.len() == 1) {
            return assign(similarity, order);
        }
        assign_kinds(similarity, &self.columns, order, most_pairs)
    }
}
