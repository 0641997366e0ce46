//! Pairs rows that are the same.

use super::cells::RowClasses;
use crate::compare::Mode;

/// The rows of two tables: pairs of the same, and the others. Everything is in the order of its
/// table, pairs in that of the reference.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PairedRows {
    pub(super) same: Vec<(usize, usize)>,
    pub(super) missing: Vec<usize>,
    pub(super) extra: Vec<usize>,
    /// The first expected row whose like is missing somewhere.
    pub(super) first_missing: Option<usize>,
}

impl PairedRows {
    pub(super) fn of(classes: &RowClasses, mode: Mode) -> PairedRows {
        let mut pairing = Rows {
            partner: vec![None; classes.expected.len()],
            is_taken: vec![false; classes.actual.len()],
            classes,
        };
        let (expected, actual) = match mode {
            // A repeated row counts once.
            Mode::Set => (firsts(&classes.expected, classes.n), firsts(&classes.actual, classes.n)),
            Mode::Multiset | Mode::Sequence => {
                ((0..classes.expected.len()).collect(), (0..classes.actual.len()).collect())
            }
        };
        if mode == Mode::Sequence {
            pairing.pair_in_place();
        }
        pairing.pair_by_class(&expected, &actual);
        pairing.finish(expected, actual)
    }
}

/// Returns the first row of each class.
fn firsts(classes: &[u32], n_classes: usize) -> Vec<usize> {
    let mut is_known = vec![false; n_classes];
    let is_new = |row: &usize| !std::mem::replace(&mut is_known[classes[*row] as usize], true);
    (0..classes.len()).filter(is_new).collect()
}

struct Rows<'c> {
    /// The actual row of each expected row that was paired.
    partner: Vec<Option<usize>>,
    is_taken: Vec<bool>,
    classes: &'c RowClasses,
}

impl Rows<'_> {
    fn pair(&mut self, expected: usize, actual: usize) {
        self.partner[expected] = Some(actual);
        self.is_taken[actual] = true;
    }

    /// Whether two rows are the same and both are free.
    fn fit(&self, expected: usize, actual: usize) -> bool {
        let is_free = self.partner[expected].is_none() && !self.is_taken[actual];
        is_free && self.classes.expected[expected] == self.classes.actual[actual]
    }

    /// Pairs rows that are in the same place, counted from the beginning; and before that, all up to
    /// the first difference, and all after the last, counted from the end. So a row that was left out
    /// of many repeated ones does not move all others.
    fn pair_in_place(&mut self) {
        let (n_expected, n_actual) = (self.partner.len(), self.is_taken.len());
        let n_both = n_expected.min(n_actual);
        let n_first = (0..n_both).take_while(|row| self.fit(*row, *row)).count();
        (0..n_first).for_each(|row| self.pair(row, row));
        for back in 1..=n_both - n_first {
            if !self.fit(n_expected - back, n_actual - back) {
                break;
            }
            self.pair(n_expected - back, n_actual - back);
        }
        for row in n_first..n_both {
            if self.fit(row, row) {
                self.pair(row, row);
            }
        }
    }

    /// Pairs the free rows of each class in order.
    fn pair_by_class(&mut self, expected: &[usize], actual: &[usize]) {
        // The free actual rows of each class, as a chain of positions in `actual`.
        let mut first: Vec<Option<usize>> = vec![None; self.classes.n];
        let mut next: Vec<Option<usize>> = vec![None; actual.len()];
        for (at, row) in actual.iter().enumerate().rev().filter(|(_, row)| !self.is_taken[**row]) {
            let head = &mut first[self.classes.actual[*row] as usize];
            next[at] = head.replace(at);
        }
        for row in expected {
            let head = &mut first[self.classes.expected[*row] as usize];
            if let (None, Some(at)) = (self.partner[*row], *head) {
                *head = next[at];
                self.pair(*row, actual[at]);
            }
        }
    }

    fn finish(self, expected: Vec<usize>, mut actual: Vec<usize>) -> PairedRows {
        let same = expected.iter().filter_map(|row| Some((*row, self.partner[*row]?))).collect();
        let missing: Vec<usize> =
            expected.into_iter().filter(|row| self.partner[*row].is_none()).collect();
        let mut is_missing = vec![false; self.classes.n];
        for row in &missing {
            is_missing[self.classes.expected[*row] as usize] = true;
        }
        let mut classes = self.classes.expected.iter();
        let first_missing = classes.position(|class| is_missing[*class as usize]);
        actual.retain(|row| !self.is_taken[*row]);
        PairedRows { same, missing, extra: actual, first_missing }
    }
}
