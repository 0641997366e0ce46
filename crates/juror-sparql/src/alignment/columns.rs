//! Pairs the columns of two tables.

use crate::Solutions;
use crate::column::ReferenceColumn;
use crate::compare::PreparedTable;

/// If more cells would have to be looked up, columns are paired by name only.
const MOST_LOOKUPS: usize = 10_000_000;

/// A required column and its partner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ColumnPair {
    /// Which of the required columns it is.
    pub(super) required: usize,
    /// Its position in the reference, which may lack it.
    pub(super) expected: Option<usize>,
    /// The position of its partner.
    pub(super) actual: Option<usize>,
    /// Whether the two have values in common, rather than only a name.
    pub(super) shares_values: bool,
}

/// Returns the pairing under which the tables are the same. Where cells do not decide it, columns are
/// paired by name, and then in order.
pub(super) fn of_same(
    reference: &PreparedTable<'_>,
    actual: &Solutions<'_>,
    partners: &[usize],
) -> Vec<ColumnPair> {
    let mut pairs = all_unpaired(reference);
    if partners.is_empty() {
        pair_by_name(&mut pairs, reference, actual);
        let mut free = free_columns(&pairs, actual).into_iter();
        for pair in pairs.iter_mut().filter(|pair| pair.actual.is_none()) {
            pair.actual = free.next();
        }
    }
    for (pair, partner) in pairs.iter_mut().zip(partners) {
        pair.actual = Some(*partner);
    }
    pairs.into_iter().map(|pair| ColumnPair { shares_values: true, ..pair }).collect()
}

/// Returns the likeliest pairing of tables that differ. A required column that the reference lacks
/// has no values to look for and is left out.
pub(super) fn likeliest(reference: &PreparedTable<'_>, actual: &Solutions<'_>) -> Vec<ColumnPair> {
    let n_cells = actual.columns.len() * actual.n_rows;
    let by_name = reference.required.len().saturating_mul(n_cells) > MOST_LOOKUPS;
    let mut pairs = all_unpaired(reference);
    pairs.retain(|pair| pair.expected.is_some());
    let mut is_used = vec![false; actual.columns.len()];
    for pair in &mut pairs {
        let name = pair.expected.map_or("", |at| &reference.table.names[at]);
        let is_free = |at: usize| !is_used[at] && (!by_name || actual.names[at] == name);
        pair.actual = most_shared(&reference.columns()[pair.required], name, actual, is_free);
        pair.shares_values = pair.actual.is_some();
        pair.actual.inspect(|at| is_used[*at] = true);
    }
    pair_by_name(&mut pairs, reference, actual);
    pairs
}

/// Lists all columns of both tables: the pairs, then the columns of the reference and of the actual
/// table that are in none.
pub(super) fn all(
    reference: &Solutions<'_>,
    actual: &Solutions<'_>,
    pairs: &[ColumnPair],
) -> Vec<(Option<usize>, Option<usize>)> {
    let mut is_paired = vec![false; reference.names.len()];
    pairs.iter().filter_map(|pair| pair.expected).for_each(|at| is_paired[at] = true);
    let others = (0..reference.names.len()).filter(|at| !is_paired[*at]);
    let pairs_of = pairs.iter().map(|pair| (pair.expected, pair.actual));
    let free = free_columns(pairs, actual).into_iter().map(|at| (None, Some(at)));
    pairs_of.chain(others.map(|at| (Some(at), None))).chain(free).collect()
}

fn all_unpaired(reference: &PreparedTable<'_>) -> Vec<ColumnPair> {
    let unpaired = |(required, expected): (usize, &Option<usize>)| ColumnPair {
        required,
        expected: *expected,
        actual: None,
        shares_values: false,
    };
    reference.required.iter().enumerate().map(unpaired).collect()
}

fn free_columns(pairs: &[ColumnPair], actual: &Solutions<'_>) -> Vec<usize> {
    let mut is_used = vec![false; actual.columns.len()];
    pairs.iter().filter_map(|pair| pair.actual).for_each(|at| is_used[at] = true);
    (0..is_used.len()).filter(|at| !is_used[*at]).collect()
}

/// Puts columns without a partner beside free ones of the same name.
fn pair_by_name(pairs: &mut [ColumnPair], reference: &PreparedTable<'_>, actual: &Solutions<'_>) {
    let mut free = free_columns(pairs, actual);
    for pair in pairs.iter_mut().filter(|pair| pair.actual.is_none()) {
        let Some(expected) = pair.expected else { continue };
        let name = &reference.table.names[expected];
        if let Some(at) = free.iter().position(|at| actual.names[*at] == *name) {
            pair.actual = Some(free.remove(at));
        }
    }
}

/// Finds the actual column that shares the most values with a reference column, preferring one of
/// the same name.
fn most_shared(
    column: &ReferenceColumn<'_>,
    name: &str,
    actual: &Solutions<'_>,
    is_free: impl Fn(usize) -> bool,
) -> Option<usize> {
    let mut best: Option<(usize, usize)> = None;
    for (at, cells) in actual.columns.iter().enumerate().filter(|(at, _)| is_free(*at)) {
        let n_shared = cells.iter().filter(|cell| column.find(cell).is_some()).count();
        let weight = 2 * n_shared + usize::from(actual.names[at] == name);
        if n_shared > 0 && best.is_none_or(|(known, _)| weight > known) {
            best = Some((weight, at));
        }
    }
    best.map(|(_, at)| at)
}
