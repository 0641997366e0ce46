//! Finds expected rows that came back changed: missing rows that share at least half of their cells
//! with an extra one.
//!
//! The pairs with the most equal cells come first. Comparing all rows with all others takes
//! quadratic time, so rows that differ in one column, which are most, are found by hashes of the
//! rest; all others are compared as long as there is room for it.

use std::cmp::Reverse;
use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashMap};

use super::cells::{ComparedCells, ComparedColumn};

/// Pairs missing with extra rows and takes those that are paired out of both lists. Uses up
/// `comparisons` by the cells that it compares.
pub(super) fn pair(
    cells: &ComparedCells<'_>,
    missing: &mut Vec<usize>,
    extra: &mut Vec<usize>,
    comparisons: &mut usize,
) -> Vec<(usize, usize)> {
    let columns: Vec<&ComparedColumn> =
        cells.columns.iter().filter(|column| column.shares_values).collect();
    let mut changes = Changes { columns, missing, extra, comparisons, found: Vec::new() };
    if changes.columns.len() < cells.columns.len() {
        changes.pair_all_but(None);
    }
    for left_out in 0..changes.columns.len() {
        changes.pair_all_but(Some(left_out));
    }
    changes.pair_half_alike();
    changes.found
}

struct Changes<'c> {
    /// The columns that have values in common. Rows cannot agree in any other.
    columns: Vec<&'c ComparedColumn<'c>>,
    missing: &'c mut Vec<usize>,
    extra: &'c mut Vec<usize>,
    comparisons: &'c mut usize,
    found: Vec<(usize, usize)>,
}

impl Changes<'_> {
    /// Whether rows that agree in so many columns are the same row, changed.
    fn is_enough(&self, n_equal: usize) -> bool {
        n_equal > 0 && 2 * n_equal >= self.columns.len()
    }

    /// Takes a number of comparisons, if there are as many left.
    fn take(&mut self, n: usize) -> bool {
        let is_room = n <= *self.comparisons;
        if is_room {
            *self.comparisons -= n;
        }
        is_room
    }

    /// Pairs rows that agree in all columns but one, in the order of both.
    fn pair_all_but(&mut self, left_out: Option<usize>) {
        let n_columns = self.columns.len() - usize::from(left_out.is_some());
        let n_rows = self.missing.len() + self.extra.len();
        let is_any = !self.missing.is_empty() && !self.extra.is_empty();
        if !is_any || !self.is_enough(n_columns) || !self.take(n_rows.saturating_mul(n_columns)) {
            return;
        }
        let chosen: Vec<_> = (0..self.columns.len())
            .filter(|at| Some(*at) != left_out)
            .map(|at| self.columns[at])
            .collect();
        let state = DefaultHashBuilder::default();
        let mut by_hash: HashMap<u64, Vec<usize>> = HashMap::new();
        for row in self.extra.iter().rev() {
            let values = chosen.iter().map(|column| column.actual(*row));
            by_hash.entry(hash_of(values, &state)).or_default().push(*row);
        }
        let mut pairs = Vec::new();
        for expected in self.missing.iter() {
            let values = chosen.iter().map(|column| column.expected(*expected));
            let Some(alike) = by_hash.get_mut(&hash_of(values, &state)) else { continue };
            let is_it =
                |actual: &usize| chosen.iter().all(|column| column.agrees(*expected, *actual));
            pairs.extend(alike.pop_if(|actual| is_it(actual)).map(|actual| (*expected, actual)));
        }
        self.add(pairs);
    }

    /// Compares all rows that are left with each other.
    fn pair_half_alike(&mut self) {
        let n_pairs = self.missing.len().saturating_mul(self.extra.len());
        if n_pairs == 0 || !self.take(n_pairs.saturating_mul(self.columns.len())) {
            return;
        }
        let mut candidates: Vec<(Reverse<usize>, usize, usize)> = Vec::new();
        for expected in self.missing.iter() {
            for actual in self.extra.iter() {
                let agrees = |column: &&&ComparedColumn| column.agrees(*expected, *actual);
                let n_equal = self.columns.iter().filter(agrees).count();
                if self.is_enough(n_equal) {
                    candidates.push((Reverse(n_equal), *expected, *actual));
                }
            }
        }
        candidates.sort_unstable();
        let mut is_taken = [Vec::new(), Vec::new()];
        let n_rows =
            [&*self.missing, &*self.extra].map(|rows| rows.last().map_or(0, |row| row + 1));
        is_taken.iter_mut().zip(n_rows).for_each(|(taken, n)| taken.resize(n, false));
        let [expected_taken, actual_taken] = &mut is_taken;
        let mut pairs = Vec::new();
        for (_, expected, actual) in candidates {
            if !expected_taken[expected] && !actual_taken[actual] {
                (expected_taken[expected], actual_taken[actual]) = (true, true);
                pairs.push((expected, actual));
            }
        }
        self.add(pairs);
    }

    fn add(&mut self, mut pairs: Vec<(usize, usize)>) {
        pairs.sort_unstable();
        self.missing.retain(|row| pairs.binary_search_by_key(row, |pair| pair.0).is_err());
        let mut taken: Vec<usize> = pairs.iter().map(|pair| pair.1).collect();
        taken.sort_unstable();
        self.extra.retain(|row| taken.binary_search(row).is_err());
        self.found.append(&mut pairs);
    }
}

fn hash_of(values: impl Iterator<Item = u32>, state: &DefaultHashBuilder) -> u64 {
    let mut hash = 0_u64;
    for value in values {
        hash = state.hash_one((hash, value));
    }
    hash
}
