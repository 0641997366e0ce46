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

use crate::{Cell, Solutions};

/// The most rows; for larger tables sorting takes longer than the search.
const MOST_ROWS: usize = 1024;

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
    /// Prepares columns of `n_rows` rows each. Returns `None` if there are too many rows.
    pub(super) fn new(columns: Vec<&'t [Cell<'t>]>, n_rows: usize) -> Option<Verbatim<'t>> {
        if n_rows > MOST_ROWS {
            return None;
        }
        let state = DefaultHashBuilder::default();
        let hashes = hashes_of(columns.iter().copied(), n_rows, &state);
        let sums = sums_of(&hashes, n_rows);
        let order = order_of(hashes.chunks_exact(n_rows.max(1)), n_rows);
        Some(Verbatim { columns, n_rows, state, sums, order })
    }

    /// Whether an actual table has these columns with exactly these rows, in any order.
    pub(super) fn has_rows_of(&self, actual: &Solutions<'_>) -> bool {
        self.find_in(actual, |hashes, partners| {
            let columns = partners.iter().map(|at| &hashes[at * self.n_rows..][..self.n_rows]);
            let order = order_of(columns, self.n_rows);
            self.columns.iter().zip(partners).all(|(expected, at)| {
                let rows = self.order.iter().zip(&order);
                let actual = &actual.columns[*at];
                rows.map(|((_, row), (_, found))| (&expected[*row], &actual[*found]))
                    .all(|(expected, actual)| expected == actual)
            })
        })
    }

    /// Whether an actual table has these columns with these rows in the same order.
    pub(super) fn is_in(&self, actual: &Solutions<'_>) -> bool {
        self.find_in(actual, |_, partners| {
            let mut pairs = self.columns.iter().zip(partners);
            pairs.all(|(expected, at)| *expected == actual.columns[*at])
        })
    }

    /// Pairs every column with a different actual one and calls `is_it` with the hashes of the
    /// actual cells and the partners of the columns. Returns `false` if a column has no partner.
    fn find_in(
        &self,
        actual: &Solutions<'_>,
        is_it: impl FnOnce(&[u64], &[usize]) -> bool,
    ) -> bool {
        if self.n_rows != actual.n_rows {
            return false;
        }
        let columns = actual.columns.iter().map(Vec::as_slice);
        let hashes = hashes_of(columns, self.n_rows, &self.state);
        let sums = sums_of(&hashes, self.n_rows);
        let mut partners: Vec<usize> = Vec::with_capacity(self.columns.len());
        let mut is_taken = vec![false; sums.len()];
        for sum in &self.sums {
            let is_partner = |at: &usize| sums[*at] == *sum && !is_taken[*at];
            let Some(at) = (0..sums.len()).find(is_partner) else { return false };
            is_taken[at] = true;
            partners.push(at);
        }
        is_it(&hashes, &partners)
    }
}

/// Hashes every cell, column by column.
fn hashes_of<'c>(
    columns: impl ExactSizeIterator<Item = &'c [Cell<'c>]>,
    n_rows: usize,
    state: &DefaultHashBuilder,
) -> Vec<u64> {
    let mut hashes = Vec::with_capacity(columns.len() * n_rows);
    for cells in columns {
        hashes.extend(cells.iter().map(|cell| hash_of(cell, state)));
    }
    hashes
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

/// Sums the hashes of each column; the sum does not depend on the order of rows.
fn sums_of(hashes: &[u64], n_rows: usize) -> Vec<u64> {
    let sum = |column: &[u64]| column.iter().fold(0, |sum: u64, hash| sum.wrapping_add(*hash));
    hashes.chunks_exact(n_rows.max(1)).map(sum).collect()
}

/// Sorts the rows by hash.
fn order_of<'h>(columns: impl Iterator<Item = &'h [u64]>, n_rows: usize) -> Vec<(u64, usize)> {
    let mut order: Vec<(u64, usize)> = (0..n_rows).map(|row| (0, row)).collect();
    for column in columns {
        for ((row, _), cell) in order.iter_mut().zip(column) {
            *row = row.rotate_left(7) ^ cell;
        }
    }
    order.sort_unstable();
    order
}
