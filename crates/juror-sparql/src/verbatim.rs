//! A quick check for tables with identical cells in the required columns.
//!
//! Most results that agree differ only in the order of rows and columns and in the names of columns.
//! This check pairs columns by the sum of the hashes of their cells, which does not depend on the
//! order of rows, and pairs rows by sorting them by hash. Then it compares every cell with its
//! partner.
//!
//! Hashes only propose a pairing. A positive answer is therefore always right: the cells were
//! compared under an actual pairing of rows and columns. A negative one means nothing, since a hash
//! may have collided, or equal values may be written differently; the search decides then.

use std::hash::{BuildHasher, Hasher};

use hashbrown::DefaultHashBuilder;

use crate::compare::for_each_column;
use crate::{Cell, Solutions};

/// The required columns of a reference, prepared to be found in other tables.
pub(super) struct Verbatim<'t> {
    columns: Vec<&'t [Cell<'t>]>,
    n_rows: usize,
    state: DefaultHashBuilder,
    /// The sum of the hashes of each column.
    sums: Vec<u64>,
    /// The hash and index of each row, sorted.
    order: Vec<(u64, usize)>,
}

impl<'t> Verbatim<'t> {
    /// Prepares columns of `n_rows` rows each.
    pub(super) fn new(columns: Vec<&'t [Cell<'t>]>, n_rows: usize) -> Verbatim<'t> {
        let state = DefaultHashBuilder::default();
        let hashes = hashes_of(&columns, n_rows, &state);
        let sums = hashes.iter().map(|column| sum_of(column)).collect();
        let order = order_of(hashes.iter(), n_rows);
        Verbatim { columns, n_rows, state, sums, order }
    }

    /// Finds these columns with exactly these rows, in any order, in an actual table. Returns the
    /// partner of each column.
    pub(super) fn find_rows(&self, actual: &Solutions<'_>) -> Option<Vec<usize>> {
        self.find_in(actual, |hashes, partners| {
            let order = order_of(partners.iter().map(|at| &hashes[*at]), self.n_rows);
            let mut partner_of = vec![0; self.n_rows];
            for ((_, row), (_, found)) in self.order.iter().zip(&order) {
                partner_of[*row] = *found;
            }
            self.has_cells(partners, actual, |row| partner_of[row])
        })
    }

    /// Finds these columns with these rows in the same order.
    pub(super) fn find_in_order(&self, actual: &Solutions<'_>) -> Option<Vec<usize>> {
        self.find_in(actual, |_, partners| self.has_cells(partners, actual, |row| row))
    }

    /// Whether every cell equals its partner.
    fn has_cells(
        &self,
        partners: &[usize],
        actual: &Solutions<'_>,
        partner_of: impl Fn(usize) -> usize + Sync,
    ) -> bool {
        let pairs: Vec<_> = self.columns.iter().zip(partners).collect();
        let is_equal = |(expected, at): &(&&[Cell<'_>], &usize)| {
            let actual = &actual.columns[**at];
            expected.iter().enumerate().all(|(row, cell)| *cell == actual[partner_of(row)])
        };
        for_each_column(&pairs, self.n_rows, is_equal).into_iter().all(|is_equal| is_equal)
    }

    /// Pairs every column with a different actual one and calls `is_it` with the hashes of the
    /// actual cells, by column, and the partners of the columns. Returns the partners if this is it.
    fn find_in(
        &self,
        actual: &Solutions<'_>,
        is_it: impl FnOnce(&[Vec<u64>], &[usize]) -> bool,
    ) -> Option<Vec<usize>> {
        if self.n_rows != actual.n_rows {
            return None;
        }
        let columns: Vec<&[Cell<'_>]> = actual.columns.iter().map(Vec::as_slice).collect();
        let hashes = hashes_of(&columns, self.n_rows, &self.state);
        let sums: Vec<u64> = hashes.iter().map(|column| sum_of(column)).collect();
        let mut partners: Vec<usize> = Vec::with_capacity(self.columns.len());
        let mut is_taken = vec![false; sums.len()];
        for sum in &self.sums {
            let is_partner = |at: &usize| sums[*at] == *sum && !is_taken[*at];
            let at = (0..sums.len()).find(is_partner)?;
            is_taken[at] = true;
            partners.push(at);
        }
        is_it(&hashes, &partners).then_some(partners)
    }
}

/// Hashes every cell, by column.
fn hashes_of(columns: &[&[Cell<'_>]], n_rows: usize, state: &DefaultHashBuilder) -> Vec<Vec<u64>> {
    for_each_column(columns, n_rows, |cells| {
        cells.iter().map(|cell| hash_of(cell, state)).collect()
    })
}

fn hash_of(cell: &Cell<'_>, state: &DefaultHashBuilder) -> u64 {
    let mut hasher = state.build_hasher();
    match cell {
        Cell::Unbound => {}
        // Cells with the same text and different types are rare, so the type need not be hashed.
        Cell::Text(text) | Cell::Typed(_, text) => hasher.write(text.as_bytes()),
    }
    hasher.finish()
}

/// Sums the hashes of a column; the sum does not depend on the order of rows.
fn sum_of(column: &[u64]) -> u64 {
    column.iter().fold(0, |sum: u64, hash| sum.wrapping_add(*hash))
}

/// Sorts the rows by hash.
fn order_of<'h>(columns: impl Iterator<Item = &'h Vec<u64>>, n_rows: usize) -> Vec<(u64, usize)> {
    let mut order: Vec<(u64, usize)> = (0..n_rows).map(|row| (0, row)).collect();
    for column in columns {
        for ((row, _), cell) in order.iter_mut().zip(column) {
            *row = row.rotate_left(7) ^ cell;
        }
    }
    order.sort_unstable();
    order
}
