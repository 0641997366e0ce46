//! The cells of paired columns as numbers that are equal where the cells are.

use hashbrown::HashMap;

use super::columns::ColumnPair;
use crate::candidates::identity_of;
use crate::column::ReferenceColumn;
use crate::compare::PreparedTable;
use crate::{Cell, Solutions};

/// The cells of two tables, column by column.
pub(super) struct ComparedCells<'c> {
    pub(super) columns: Vec<ComparedColumn<'c>>,
    n_expected: usize,
    n_actual: usize,
}

/// The cells of a required column and of its partner.
pub(super) struct ComparedColumn<'c> {
    expected: &'c [u32],
    actual: Vec<u32>,
    /// Whether the two have values in common.
    pub(super) shares_values: bool,
}

impl<'c> ComparedCells<'c> {
    pub(super) fn new(
        reference: &'c PreparedTable<'_>,
        actual: &Solutions<'_>,
        pairs: &[ColumnPair],
    ) -> ComparedCells<'c> {
        let compared = |pair: &ColumnPair| {
            let column = &reference.columns()[pair.required];
            let actual = match pair.actual {
                Some(at) => numbers_in(column, &actual.columns[at]),
                // No cell of the reference has this number.
                None => vec![column.n_values; actual.n_rows],
            };
            let shares_values = pair.shares_values;
            ComparedColumn { expected: &column.values, actual, shares_values }
        };
        let columns = pairs.iter().map(compared).collect();
        ComparedCells { columns, n_expected: reference.table.n_rows, n_actual: actual.n_rows }
    }

    /// Numbers the rows of both tables so that rows with the same cells have the same number.
    pub(super) fn classes(&self) -> RowClasses {
        let mut classes =
            RowClasses { expected: vec![0; self.n_expected], actual: vec![0; self.n_actual], n: 1 };
        for column in &self.columns {
            classes.split(column);
        }
        classes
    }

    /// Returns the columns in which two rows differ.
    pub(super) fn differing(&self, expected: usize, actual: usize) -> Vec<usize> {
        let columns = self.columns.iter().enumerate();
        columns.filter(|(_, column)| !column.agrees(expected, actual)).map(|(at, _)| at).collect()
    }
}

impl ComparedColumn<'_> {
    pub(super) fn agrees(&self, expected: usize, actual: usize) -> bool {
        self.expected[expected] == self.actual[actual]
    }

    pub(super) fn expected(&self, row: usize) -> u32 {
        self.expected[row]
    }

    pub(super) fn actual(&self, row: usize) -> u32 {
        self.actual[row]
    }
}

/// The class of each row.
pub(super) struct RowClasses {
    pub(super) expected: Vec<u32>,
    pub(super) actual: Vec<u32>,
    /// The number of classes.
    pub(super) n: usize,
}

impl RowClasses {
    fn split(&mut self, column: &ComparedColumn<'_>) {
        let mut known: HashMap<(u32, u32), u32> = HashMap::new();
        let expected = self.expected.iter_mut().zip(column.expected);
        let actual = self.actual.iter_mut().zip(&column.actual);
        for (class, value) in expected.chain(actual) {
            let next = u32::try_from(known.len()).unwrap_or(u32::MAX);
            *class = *known.entry((*class, *value)).or_insert(next);
        }
        self.n = known.len();
    }
}

/// Returns the number of each actual cell: that of the value of the reference which it equals, or
/// one of its own.
fn numbers_in(column: &ReferenceColumn<'_>, cells: &[Cell<'_>]) -> Vec<u32> {
    let mut others = HashMap::new();
    let mut number = |cell| {
        column.find(cell).unwrap_or_else(|| {
            let next = column.n_values + u32::try_from(others.len()).unwrap_or(u32::MAX);
            *others.entry(identity_of(cell)).or_insert(next)
        })
    };
    cells.iter().map(&mut number).collect()
}
