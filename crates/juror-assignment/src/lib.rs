//! Pairs rows with columns (expected with actual steps) so that the total similarity is the largest.
//!
//! Three methods, from cheap to expensive. Most matrices are settled greedily: if every row gets a
//! column as similar as its best one, no pairing can be better. Otherwise the Hungarian method finds
//! the optimum (`optimum.rs`), and equally good pairings are told apart by a rule (`ties.rs`). If
//! that would exceed the budget, the best remaining pair is taken again and again, which need not be
//! optimal.
//!
//! ```
//! use juror_assignment::{PairingWork, assign};
//!
//! // Both rows are most like the first column, but the first row has nothing else.
//! let similarity = [vec![0.9, 0.0], vec![1.0, 0.8]];
//! let pairing = assign(&similarity, &[0, 1], &PairingWork::new(1_000));
//! assert_eq!(pairing, [Some(0), Some(1)]);
//! ```
//!
//! You will not find steps, questions or comparisons here: numbers go in, positions come out.

mod optimum;
mod ties;

use std::cell::Cell;
use std::collections::BinaryHeap;
use std::slice;

use optimum::solve;
use ties::latest;

/// Totals closer than this are equally good.
const EQUAL: f64 = 1e-9;

/// The budget for pairing the steps of a question, in all of its groups together.
#[derive(Debug)]
pub struct PairingWork {
    /// The number of pairs that may still be visited to find the largest total. Beyond that, the
    /// best pairs are taken one after another, which need not be optimal.
    solving: Cell<usize>,
    /// The number of words that may still be visited to break ties in favour of the latest step.
    ties: Cell<usize>,
    is_too_little: Cell<bool>,
}

impl PairingWork {
    /// Creates a budget, with half as much for breaking ties.
    pub fn new(most: usize) -> PairingWork {
        PairingWork {
            solving: Cell::new(most),
            ties: Cell::new(most / 2),
            is_too_little: Cell::new(false),
        }
    }

    /// Whether the budget was too small to pair everything as it should be.
    pub fn was_too_little(&self) -> bool {
        self.is_too_little.get()
    }
}

/// Returns the column of each row, so that the total is the largest possible and the similarity of
/// every pair is above zero. Among equally good pairings, the rows take, in the given order, the last
/// column that keeps the total.
pub fn assign(similarity: &[Vec<f64>], order: &[usize], work: &PairingWork) -> Vec<Option<usize>> {
    if let Some(pairing) = assign_greedily(similarity, order) {
        return pairing;
    }
    match solve(similarity, &work.solving) {
        Some(optimum) => latest(similarity, optimum, order, work),
        None => {
            work.is_too_little.set(true);
            assign_best_first(similarity)
        }
    }
}

/// Like [`assign`] for columns of few kinds, where a row is equally similar to all columns of a
/// kind: `similarity` has one value per kind, and `columns` has the columns of each, in order. If
/// there are more than `most_pairs` pairs, the best are taken one after another.
pub fn assign_kinds(
    similarity: &[Vec<f64>],
    columns: &[&[usize]],
    order: &[usize],
    most_pairs: usize,
    work: &PairingWork,
) -> Vec<Option<usize>> {
    if let Some(pairing) = assign_kinds_greedily(similarity, columns, order) {
        return pairing;
    }
    // A kind needs no more columns than there are rows, and later columns are preferred.
    let n_rows = similarity.len();
    let last = |columns: &[usize]| columns.len().saturating_sub(n_rows);
    let mut kept: Vec<(usize, usize)> = Vec::new();
    for (kind, columns) in columns.iter().enumerate() {
        kept.extend(columns[last(columns)..].iter().map(|column| (*column, kind)));
    }
    if n_rows.saturating_mul(kept.len()) > most_pairs {
        work.is_too_little.set(true);
        return assign_kinds_best_first(similarity, columns);
    }
    kept.sort_unstable();
    let wide: Vec<Vec<f64>> =
        similarity.iter().map(|row| kept.iter().map(|(_, kind)| row[*kind]).collect()).collect();
    let pairing = assign(&wide, order, work);
    pairing.into_iter().map(|at| at.map(|at| kept[at].0)).collect()
}

fn assign_kinds_greedily(
    similarity: &[Vec<f64>],
    columns: &[&[usize]],
    order: &[usize],
) -> Option<Vec<Option<usize>>> {
    let mut free: Vec<&[usize]> = columns.to_vec();
    let mut pairing = vec![None; similarity.len()];
    for &row in order {
        let kinds = (0..free.len()).filter(|&kind| similarity[row][kind] > 0.0);
        let last = kinds.filter_map(|kind| Some((*free[kind].last()?, kind))).max();
        let got = last.map_or(0.0, |(_, kind)| similarity[row][kind]);
        let best = similarity[row].iter().copied().fold(0.0, f64::max);
        if got + EQUAL < best {
            return None;
        }
        if let Some((column, kind)) = last {
            free[kind] = &free[kind][..free[kind].len() - 1];
            pairing[row] = Some(column);
        }
    }
    Some(pairing)
}

/// Takes the most similar remaining pair again and again; among equally similar ones, the pair with
/// the last column. Gives the same as [`assign_best_first`] on the expanded matrix, but visits each
/// kind only once per similarity: of a kind only its last free column can be next, so a heap of
/// those columns is enough.
fn assign_kinds_best_first(similarity: &[Vec<f64>], columns: &[&[usize]]) -> Vec<Option<usize>> {
    let mut free: Vec<&[usize]> = columns.to_vec();
    let mut pairing = vec![None; similarity.len()];
    let pairs = best_first(similarity);
    for equal in pairs.chunk_by(|one, other| one.0.total_cmp(&other.0).is_eq()) {
        let mut rows: Vec<(usize, slice::Iter<'_, _>)> =
            equal.chunk_by(|one, other| one.2 == other.2).map(|of| (of[0].2, of.iter())).collect();
        let last = |free: &[&[usize]], kind: usize| free[kind].last().copied();
        let mut latest: BinaryHeap<(usize, usize)> = rows
            .iter()
            .enumerate()
            .filter_map(|(at, (kind, _))| Some((last(&free, *kind)?, at)))
            .collect();
        while let Some((column, at)) = latest.pop() {
            let (kind, rows) = &mut rows[at];
            let Some((_, row, _)) = rows.find(|(_, row, _)| pairing[*row].is_none()) else {
                continue;
            };
            pairing[*row] = Some(column);
            free[*kind] = &free[*kind][..free[*kind].len() - 1];
            latest.extend(last(&free, *kind).map(|column| (column, at)));
        }
    }
    pairing
}

/// Gives each row the last free column above zero. Returns `None` unless every row gets one as
/// similar as its best: then no pairing has a larger total, and since every row took the last
/// column possible, this is also the one that breaks ties correctly.
fn assign_greedily(similarity: &[Vec<f64>], order: &[usize]) -> Option<Vec<Option<usize>>> {
    let mut pairing = vec![None; similarity.len()];
    let mut used = vec![false; similarity.first().map_or(0, Vec::len)];
    for &row in order {
        let last = (0..similarity[row].len())
            .rev()
            .find(|&column| similarity[row][column] > 0.0 && !used[column]);
        let got = last.map_or(0.0, |column| similarity[row][column]);
        let best = similarity[row].iter().copied().fold(0.0, f64::max);
        if got + EQUAL < best {
            return None;
        }
        pairing[row] = last;
        if let Some(column) = last {
            used[column] = true;
        }
    }
    Some(pairing)
}

/// Returns all pairs above zero as similarity, row and column, the most similar first.
fn best_first(similarity: &[Vec<f64>]) -> Vec<(f64, usize, usize)> {
    let mut pairs: Vec<(f64, usize, usize)> = Vec::new();
    for (row, columns) in similarity.iter().enumerate() {
        let found = columns.iter().enumerate().filter(|(_, similarity)| **similarity > 0.0);
        pairs.extend(found.map(|(column, similarity)| (*similarity, row, column)));
    }
    pairs.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.2.cmp(&a.2)));
    pairs
}

/// Takes the most similar remaining pair again and again.
fn assign_best_first(similarity: &[Vec<f64>]) -> Vec<Option<usize>> {
    let mut pairing = vec![None; similarity.len()];
    let mut used = vec![false; similarity.first().map_or(0, Vec::len)];
    for (_, row, column) in best_first(similarity) {
        if pairing[row].is_none() && !used[column] {
            pairing[row] = Some(column);
            used[column] = true;
        }
    }
    pairing
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn assign(similarity: &[Vec<f64>], order: &[usize]) -> Vec<Option<usize>> {
        super::assign(similarity, order, &PairingWork::new(usize::MAX))
    }

    fn total(similarity: &[Vec<f64>], pairing: &[Option<usize>]) -> f64 {
        pairing.iter().enumerate().filter_map(|(row, c)| Some(similarity[row][(*c)?])).sum()
    }

    #[test]
    fn a_greedy_choice_that_costs_more_later_is_not_taken() {
        let similarity = vec![vec![1.0, 0.5], vec![0.0, 1.0]];
        assert_eq!(assign(&similarity, &[0, 1]), [Some(0), Some(1)]);
    }

    #[test]
    fn among_equals_the_latest_step_is_taken_in_order() {
        let similarity = vec![vec![1.0, 1.0, 1.0], vec![1.0, 1.0, 1.0]];
        assert_eq!(assign(&similarity, &[0, 1]), [Some(2), Some(1)]);
        assert_eq!(assign(&similarity, &[1, 0]), [Some(1), Some(2)]);
    }

    #[test]
    fn large_groups_are_still_optimal() {
        let similarity: Vec<Vec<f64>> = (0..90)
            .map(|row| (0..90).map(|c| if c == row { 1.0 } else { 0.9 }).collect())
            .collect();
        let order: Vec<usize> = (0..90).collect();
        assert!((total(&similarity, &assign(&similarity, &order)) - 90.0).abs() < 1e-6);
    }

    #[test]
    fn more_steps_than_there_are_for_them_are_paired_quickly() {
        let few = vec![vec![1.0]; 100_000];
        let order: Vec<usize> = (0..few.len()).collect();
        // Enough for a few visits of each step, not of each pair of steps of a side.
        let work = PairingWork::new(10 * few.len());
        let pairing = super::assign(&few, &order, &work);
        assert!(!work.was_too_little());
        assert_eq!((pairing[0], pairing.iter().flatten().count()), (Some(0), 1));
        let most = vec![vec![1.0; 1_000]; 1_001];
        let pairing = assign(&most, &(0..1_001).rev().collect::<Vec<_>>());
        assert_eq!((pairing[0], pairing[1], pairing[1_000]), (None, Some(0), Some(999)));
    }

    #[test]
    fn what_takes_too_much_work_has_no_optimum() {
        // Each row displaces all rows before it.
        let cell = |row: usize, column: usize| ((row + 1) * (column + 1)) as f64 / 1e5;
        let similarity: Vec<Vec<f64>> =
            (0..200).map(|row| (0..200).map(|column| cell(row, column)).collect()).collect();
        let solved = |most: usize| solve(&similarity, &Cell::new(most)).is_some();
        assert!(!solved(200 * 200 * 20));
        assert!(solved(200 * 200 * 202));
        let (order, little) = ((0..200).collect::<Vec<_>>(), PairingWork::new(200 * 200 * 20));
        let pairing = super::assign(&similarity, &order, &little);
        assert!(little.was_too_little());
        assert_eq!(pairing, assign_best_first(&similarity));
        assert_eq!(pairing.iter().flatten().count(), 200);
    }

    #[test]
    fn groups_share_the_work_that_there_is() {
        let similarity = vec![vec![1.0, 0.5], vec![1.0, 0.0]];
        let work = PairingWork::new(40);
        let n_solved = (0..100).take_while(|_| {
            super::assign(&similarity, &[0, 1], &work);
            !work.was_too_little()
        });
        assert!((1..20).contains(&n_solved.count()));
    }

    /// Breaks ties the slow way: each row tries its columns, and the rest is solved anew.
    fn assign_with_ties(similarity: &[Vec<f64>], order: &[usize]) -> Vec<Option<usize>> {
        let mut left = similarity.to_vec();
        let mut pairing = vec![None; similarity.len()];
        let optimum = |left: &[Vec<f64>]| {
            total(left, &solve(left, &Cell::new(usize::MAX)).expect("an optimum").column_of)
        };
        for &row in order {
            let before = optimum(&left);
            for column in (0..left[row].len()).rev().filter(|at| similarity[row][*at] > 0.0) {
                let gain = left[row][column];
                let mut rest = left.clone();
                rest[row].fill(0.0);
                for row in &mut rest {
                    row[column] = 0.0;
                }
                if gain > 0.0 && gain + optimum(&rest) + EQUAL >= before {
                    pairing[row] = Some(column);
                    left = rest;
                    break;
                }
            }
            left[row].fill(0.0);
        }
        pairing
    }

    /// Tries every pairing.
    fn brute_force(similarity: &[Vec<f64>], row: usize, used: &mut Vec<usize>) -> f64 {
        if row == similarity.len() {
            return 0.0;
        }
        let mut best = brute_force(similarity, row + 1, used);
        for column in 0..similarity[row].len() {
            if !used.contains(&column) {
                used.push(column);
                let total = similarity[row][column] + brute_force(similarity, row + 1, used);
                used.pop();
                best = best.max(total);
            }
        }
        best
    }

    proptest! {
        #[test]
        fn columns_of_a_kind_are_paired_as_if_they_were_not(
            rows in 1_usize..5,
            cells in prop::collection::vec(prop::sample::select(vec![0.0, 0.25, 0.5, 1.0]), 15),
            kind_of in prop::collection::vec(0_usize..3, 0..8),
            reversed: bool,
        ) {
            let similarity: Vec<Vec<f64>> =
                (0..rows).map(|row| cells[row * 3..row * 3 + 3].to_vec()).collect();
            let mut columns = vec![Vec::new(); 3];
            for (column, kind) in kind_of.iter().enumerate() {
                columns[*kind].push(column);
            }
            let wide: Vec<Vec<f64>> = similarity
                .iter()
                .map(|row| kind_of.iter().map(|kind| row[*kind]).collect())
                .collect();
            let mut order: Vec<usize> = (0..rows).collect();
            if reversed { order.reverse(); }
            let columns: Vec<&[usize]> = columns.iter().map(Vec::as_slice).collect();
            let work = PairingWork::new(usize::MAX);
            let pairing = assign_kinds(&similarity, &columns, &order, usize::MAX, &work);
            prop_assert_eq!(pairing, assign(&wide, &order));
            let quick = assign_kinds_best_first(&similarity, &columns);
            prop_assert_eq!(quick, assign_best_first(&wide));
        }

        #[test]
        fn ties_are_broken_as_if_every_column_was_tried(
            rows in 1_usize..8,
            columns in 0_usize..8,
            grades in prop::sample::select(vec![
                vec![0.0, 1.0], vec![0.0, 0.0, 1.0], vec![0.0, 0.25, 0.5, 1.0], vec![0.5, 1.0],
                vec![0.0, 1.0 / 3.0, 2.0 / 3.0, 1.0, 0.2, 0.4],
            ]),
            picks in prop::collection::vec(0_usize..6, 64),
            order in Just((0..8).collect::<Vec<usize>>()).prop_shuffle(),
        ) {
            let cell = |row: usize, column: usize| grades[picks[row * 8 + column] % grades.len()];
            let similarity: Vec<Vec<f64>> =
                (0..rows).map(|row| (0..columns).map(|at| cell(row, at)).collect()).collect();
            let order: Vec<usize> = order.into_iter().filter(|row| *row < rows).collect();
            let optimum = solve(&similarity, &Cell::new(usize::MAX)).expect("an optimum");
            let pairing = latest(&similarity, optimum, &order, &PairingWork::new(usize::MAX));
            prop_assert_eq!(pairing, assign_with_ties(&similarity, &order));
        }

        #[test]
        fn the_total_is_the_largest_there_is(
            rows in 1_usize..5,
            columns in 0_usize..5,
            cells in prop::collection::vec(prop::sample::select(vec![0.0, 0.25, 0.5, 1.0]), 25),
            reversed: bool,
        ) {
            let similarity: Vec<Vec<f64>> =
                (0..rows).map(|row| cells[row * 5..row * 5 + columns].to_vec()).collect();
            let mut order: Vec<usize> = (0..rows).collect();
            if reversed { order.reverse(); }
            let pairing = assign(&similarity, &order);
            let mut used: Vec<usize> = pairing.iter().flatten().copied().collect();
            used.sort_unstable();
            let n_used = used.len();
            used.dedup();
            prop_assert_eq!(used.len(), n_used);
            let best = brute_force(&similarity, 0, &mut Vec::new());
            prop_assert!((total(&similarity, &pairing) - best).abs() < 1e-9);
        }
    }
}
