//! Puts the rows of an alignment in order, and cuts them.

use super::AlignedRow;
use super::cells::ComparedCells;
use crate::compare::Mode;

/// A row of an alignment, before it is known whether it is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PlacedRow {
    Same(usize, usize),
    Changed(usize, usize),
    Missing(usize),
    Extra(usize),
}

impl PlacedRow {
    fn expected(self) -> Option<usize> {
        match self {
            PlacedRow::Same(expected, _)
            | PlacedRow::Changed(expected, _)
            | PlacedRow::Missing(expected) => Some(expected),
            PlacedRow::Extra(_) => None,
        }
    }

    fn actual(self) -> Option<usize> {
        match self {
            PlacedRow::Same(_, actual)
            | PlacedRow::Changed(_, actual)
            | PlacedRow::Extra(actual) => Some(actual),
            PlacedRow::Missing(_) => None,
        }
    }

    pub(super) fn name(self, cells: &ComparedCells<'_>) -> AlignedRow {
        let differing = match self {
            PlacedRow::Changed(expected, actual) => cells.differing(expected, actual),
            _ => Vec::new(),
        };
        AlignedRow { expected: self.expected(), actual: self.actual(), differing }
    }
}

/// Orders rows by the reference. Extra rows come last; in a sequence, each comes before the first
/// row whose partner follows it in the actual table.
pub(super) fn in_order(
    same: Vec<(usize, usize)>,
    changed: Vec<(usize, usize)>,
    missing: Vec<usize>,
    extra: Vec<usize>,
    mode: Mode,
) -> Vec<PlacedRow> {
    let same = same.into_iter().map(|(expected, actual)| PlacedRow::Same(expected, actual));
    let changed =
        changed.into_iter().map(|(expected, actual)| PlacedRow::Changed(expected, actual));
    let of_reference = same.chain(changed).chain(missing.into_iter().map(PlacedRow::Missing));
    let mut rows: Vec<PlacedRow> = of_reference.collect();
    rows.sort_by_key(|row| row.expected());
    let mut extra = extra.into_iter().peekable();
    if mode == Mode::Sequence {
        let mut placed = Vec::with_capacity(rows.len() + extra.len());
        for row in rows {
            let is_before = |extra: &usize| row.actual().is_some_and(|actual| *extra < actual);
            while let Some(earlier) = extra.next_if(is_before) {
                placed.push(PlacedRow::Extra(earlier));
            }
            placed.push(row);
        }
        rows = placed;
    }
    rows.extend(extra.map(PlacedRow::Extra));
    rows
}

/// Leaves at most so many rows, in order: those that differ before those that are the same.
pub(super) fn cut(mut rows: Vec<PlacedRow>, most: usize) -> Vec<PlacedRow> {
    if rows.len() <= most {
        return rows;
    }
    let is_same = |row: &PlacedRow| matches!(row, PlacedRow::Same(..));
    let n_differing = rows.iter().filter(|row| !is_same(row)).count().min(most);
    let (mut differing_left, mut same_left) = (n_differing, most - n_differing);
    rows.retain(|row| {
        let left = if is_same(row) { &mut same_left } else { &mut differing_left };
        let is_kept = *left > 0;
        *left = left.saturating_sub(1);
        is_kept
    });
    rows
}
