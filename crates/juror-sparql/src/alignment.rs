//! Pairs the columns and rows of an actual table with those of the reference, for people to see.
//!
//! If the tables agree, the pairing is the one under which the comparison found them the same.
//! Otherwise it is the likeliest one: each required column with the actual column that shares the
//! most values with it. Cells compare by the same rules in both cases.

mod cells;
mod changed;
mod columns;
mod order;
mod rows;
#[cfg(test)]
mod tests;

use serde::ser::{Serialize, SerializeSeq, Serializer};

use crate::compare::{Mode, Pairing, Prepared, PreparedTable};
use crate::{Solutions, SparqlResult};
use cells::ComparedCells;
use columns::ColumnPair;
use order::{cut, in_order};
use rows::PairedRows;

/// How an actual table stands to a reference table.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct TableAlignment {
    /// Columns by their positions in the reference and in the actual table. First the required
    /// columns, then other columns of the reference, then other actual ones, which have no partner.
    /// A required column whose values are nowhere stands beside the one of its name, if there is one.
    pub columns: Vec<(Option<usize>, Option<usize>)>,
    /// Rows in the order of the reference. Extra rows come last, or if order matters, where they are
    /// in the actual table.
    ///
    /// Where repeated rows count once, only the first of them is named and counted.
    pub rows: Vec<AlignedRow>,
    /// The number of rows that are in both tables.
    pub n_same: usize,
    /// The number of expected rows of which an actual row has at least half of the cells.
    pub n_changed: usize,
    /// The number of other expected rows that the actual table lacks.
    pub n_missing: usize,
    /// The number of other actual rows that are not expected.
    pub n_extra: usize,
    /// Whether order matters and the rows that are in both tables are in another order.
    pub order_differs: bool,
    /// Whether the tables agree by the rules.
    #[serde(skip)]
    pub is_same: bool,
    /// The required columns, by position in the reference, whose values are in no actual column.
    #[serde(skip)]
    pub unpaired: Vec<usize>,
    /// The first expected row whose like the actual table lacks, or has too few of.
    #[serde(skip)]
    pub first_missing: Option<usize>,
}

/// Rows that stand beside each other. Written as a list of two, or of three for a changed row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AlignedRow {
    /// The position in the reference; `None` for an extra row.
    pub expected: Option<usize>,
    /// The position in the actual table; `None` for a missing row.
    pub actual: Option<usize>,
    /// The positions in [`TableAlignment::columns`] whose cells differ; empty if the rows are the
    /// same, or if one of them is missing.
    pub differing: Vec<usize>,
}

/// How far an alignment may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AlignmentRoom {
    /// The most rows to name. Rows that differ come before those that are the same.
    pub rows: usize,
    /// How many cells may still be compared to find changed rows. If there are too many for it, rows
    /// stay missing and extra. Each alignment uses some of it up.
    pub comparisons: usize,
}

impl AlignmentRoom {
    /// Room to count rows, but not to name them or to find changed ones.
    pub const NONE: AlignmentRoom = AlignmentRoom { rows: 0, comparisons: 0 };
}

impl<'t> Prepared<'t> {
    /// Aligns an actual result with this reference, if both are tables.
    pub fn align(
        &self,
        actual: &SparqlResult<'_>,
        room: &mut AlignmentRoom,
    ) -> Option<TableAlignment> {
        let (expected, actual) = self.tables(actual)?;
        let columns = match expected.pair_columns(actual) {
            Pairing::Same(partners) => columns::of_same(expected, actual, &partners),
            Pairing::Different | Pairing::Undecided => {
                return Some(expected.align_different(actual, room));
            }
        };
        Some(TableAlignment { is_same: true, ..expected.align_by(actual, &columns, room) })
    }

    /// Aligns an actual result that is known to differ from this reference, without comparing them
    /// again.
    pub fn align_different(
        &self,
        actual: &SparqlResult<'_>,
        room: &mut AlignmentRoom,
    ) -> Option<TableAlignment> {
        let (expected, actual) = self.tables(actual)?;
        Some(expected.align_different(actual, room))
    }

    fn tables<'p, 'a>(
        &'p self,
        actual: &'a SparqlResult<'a>,
    ) -> Option<(&'p PreparedTable<'t>, &'a Solutions<'a>)> {
        match (self, actual) {
            (Prepared::Table(expected), SparqlResult::Table(actual)) => Some((expected, actual)),
            _ => None,
        }
    }
}

impl PreparedTable<'_> {
    fn align_different(&self, actual: &Solutions<'_>, room: &mut AlignmentRoom) -> TableAlignment {
        self.align_by(actual, &columns::likeliest(self, actual), room)
    }

    fn align_by(
        &self,
        actual: &Solutions<'_>,
        columns: &[ColumnPair],
        room: &mut AlignmentRoom,
    ) -> TableAlignment {
        let cells = ComparedCells::new(self, actual, columns);
        let mode = match (columns, self.table.n_rows.min(actual.n_rows)) {
            // Without columns rows cannot be told apart, so they are all the same.
            ([], 1..) => Mode::Set,
            ([], 0) => Mode::Multiset,
            _ => self.mode,
        };
        let PairedRows { same, mut missing, mut extra, first_missing } =
            PairedRows::of(&cells.classes(), mode);
        let (n_missing, n_extra) = (missing.len(), extra.len());
        let changed = changed::pair(&cells, &mut missing, &mut extra, &mut room.comparisons);
        let order_differs = mode == Mode::Sequence && !same.is_sorted_by_key(|(_, actual)| *actual);
        let is_unpaired = |pair: &&ColumnPair| !pair.shares_values;
        let unpaired = columns.iter().filter(is_unpaired).filter_map(|pair| pair.expected);
        let mut alignment = TableAlignment {
            columns: columns::all(self.table, actual, columns),
            rows: Vec::new(),
            n_same: same.len(),
            n_changed: changed.len(),
            n_missing: n_missing - changed.len(),
            n_extra: n_extra - changed.len(),
            order_differs,
            is_same: false,
            unpaired: unpaired.collect(),
            first_missing,
        };
        if room.rows > 0 {
            let placed = cut(in_order(same, changed, missing, extra, mode), room.rows);
            alignment.rows = placed.into_iter().map(|row| row.name(&cells)).collect();
        }
        alignment
    }
}

impl AlignedRow {
    /// Whether both rows are the same.
    pub fn is_same(&self) -> bool {
        self.expected.is_some() && self.actual.is_some() && self.differing.is_empty()
    }
}

impl Serialize for AlignedRow {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        list.serialize_element(&self.expected)?;
        list.serialize_element(&self.actual)?;
        if !self.differing.is_empty() {
            list.serialize_element(&self.differing)?;
        }
        list.end()
    }
}
