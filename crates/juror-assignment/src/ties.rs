//! Chooses among pairings with the largest total.
//!
//! By the dual values of an [`Optimum`], a pairing has the largest total exactly if all its pairs are
//! *tight*, that is worth just their similarity, and every row or column that is worth something has
//! a partner. So any rearrangement within these limits keeps the total, and whether a row can have a
//! certain column is a question of reachability, not of sums.
//!
//! When a row takes a column, its owner has to move on: to a tight column of another row, which then
//! moves on in turn; to a free tight column; or to none, if it is worth nothing. The chain must end
//! so that nothing of worth is left over. It may end at the column that the first row gave up. If it
//! ends elsewhere, that column must either be worth nothing or be taken by a row without a column.
//! [`TieBreaker::ways_to`] searches backwards from that end for all rows that can move on, in one
//! pass for all columns that a row may want.

use crate::optimum::Optimum;
use crate::{EQUAL, PairingWork};

/// Returns the pairing in which the rows, in the given order, take the last column that keeps the
/// total. Once the budget is used up, the remaining rows keep their columns.
pub(crate) fn latest(
    similarity: &[Vec<f64>],
    optimum: Optimum,
    order: &[usize],
    work: &PairingWork,
) -> Vec<Option<usize>> {
    let mut breaker = TieBreaker::new(similarity, optimum);
    for &row in order {
        if breaker.work > work.ties.get() {
            work.is_too_little.set(true);
            break;
        }
        breaker.choose(row);
    }
    work.ties.set(work.ties.get().saturating_sub(breaker.work));
    breaker.column_of
}

/// A set of small numbers.
#[derive(Clone)]
struct Bits(Vec<u64>);

impl Bits {
    fn none(n: usize) -> Bits {
        Bits(vec![0; n.div_ceil(64)])
    }

    fn all(n: usize) -> Bits {
        let mut bits = Bits(vec![u64::MAX; n.div_ceil(64)]);
        if let (Some(last), true) = (bits.0.last_mut(), !n.is_multiple_of(64)) {
            *last >>= 64 - n % 64;
        }
        bits
    }

    fn has(&self, at: usize) -> bool {
        self.0[at / 64] >> (at % 64) & 1 == 1
    }

    fn set(&mut self, at: usize) {
        self.0[at / 64] |= 1 << (at % 64);
    }

    fn clear(&mut self, at: usize) {
        self.0[at / 64] &= !(1 << (at % 64));
    }

    /// Iterates over the numbers in both sets, in order.
    fn common<'b>(&'b self, other: &'b Bits) -> impl Iterator<Item = usize> + 'b {
        let words = self.0.iter().zip(&other.0).map(|(one, other)| one & other);
        words.enumerate().filter(|(_, word)| *word != 0).flat_map(|(at, word)| {
            (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| at * 64 + bit)
        })
    }
}

/// How a row moves on when another takes its column.
#[derive(Clone, Copy)]
enum Move {
    /// It takes the column of another row.
    Takes(usize),
    /// It takes a free column.
    Free(usize),
    /// It is worth nothing and goes without.
    Leaves,
}

/// What becomes of the column that a row gives up without anyone in the chain taking it.
#[derive(Clone, Copy)]
enum Left {
    /// The column is worth nothing and stays free.
    Free { row: usize },
    /// A row without a column takes it.
    Taken { row: usize, by: usize },
}

impl Left {
    fn row(self) -> usize {
        match self {
            Left::Free { row } | Left::Taken { row, .. } => row,
        }
    }
}

/// How rows can move on so that the chain ends as it must.
struct Ways {
    /// The next move of each row that can move on.
    of_row: Vec<Option<Move>>,
    /// How the chain goes on once no row needs a column any more.
    of_nobody: Option<Left>,
}

/// The row of a chain that needs a column, or `None` if no row does.
type Seeker = Option<usize>;

struct TieBreaker {
    column_of: Vec<Option<usize>>,
    row_of: Vec<Option<usize>>,
    /// The tight columns of each row, and the tight rows of each column.
    columns_for: Vec<Bits>,
    rows_for: Vec<Bits>,
    /// Rows and columns that are worth nothing.
    idle_rows: Bits,
    idle_columns: Bits,
    /// Rows that have not chosen yet, and columns that are not chosen yet.
    open_rows: Bits,
    open_columns: Bits,
    free_columns: Bits,
    work: usize,
}

impl TieBreaker {
    fn new(similarity: &[Vec<f64>], optimum: Optimum) -> TieBreaker {
        let Optimum { column_of, worth_of_row, worth_of_column } = optimum;
        let (n_rows, n_columns) = (worth_of_row.len(), worth_of_column.len());
        let mut columns_for = vec![Bits::none(n_columns); n_rows];
        let mut rows_for = vec![Bits::none(n_rows); n_columns];
        for (row, similarities) in similarity.iter().enumerate() {
            for (column, similarity) in similarities.iter().enumerate() {
                let worth = worth_of_row[row] + worth_of_column[column];
                if *similarity > 0.0 && worth - similarity <= EQUAL {
                    columns_for[row].set(column);
                    rows_for[column].set(row);
                }
            }
        }
        let idle = |worth: &[f64]| {
            let mut idle = Bits::none(worth.len());
            let found = worth.iter().enumerate().filter(|(_, worth)| **worth <= EQUAL);
            found.for_each(|(at, _)| idle.set(at));
            idle
        };
        let mut row_of = vec![None; n_columns];
        let mut free_columns = Bits::all(n_columns);
        for (row, column) in column_of.iter().enumerate() {
            if let Some(column) = *column {
                row_of[column] = Some(row);
                free_columns.clear(column);
            }
        }
        TieBreaker {
            column_of,
            row_of,
            columns_for,
            rows_for,
            idle_rows: idle(&worth_of_row),
            idle_columns: idle(&worth_of_column),
            open_rows: Bits::all(n_rows),
            open_columns: Bits::all(n_columns),
            free_columns,
            work: 0,
        }
    }

    /// Gives a row the last column that keeps the total, for good.
    fn choose(&mut self, row: usize) {
        let wanted: Vec<usize> = self.columns_for[row].common(&self.open_columns).collect();
        if wanted.last().copied() != self.column_of[row] {
            let goal = self.column_of[row].map(|_| row);
            let ways = self.ways_to(goal);
            let can_be_had = |column: &&usize| match self.row_of[**column] {
                owner if owner == goal => true,
                None => ways.of_nobody.is_some(),
                Some(owner) => ways.of_row[owner].is_some(),
            };
            if let Some(&column) = wanted.iter().rev().find(can_be_had) {
                self.rearrange(row, column, goal, &ways);
            }
        }
        self.open_rows.clear(row);
        if let Some(column) = self.column_of[row] {
            self.open_columns.clear(column);
        }
    }

    /// Finds the rows that can move on so that the chain ends with the column of the row `goal`, or,
    /// if `goal` is `None`, so that no row needs a column any more.
    fn ways_to(&mut self, goal: Seeker) -> Ways {
        self.work += self.column_of.len();
        let mut ways = Ways { of_row: vec![None; self.column_of.len()], of_nobody: None };
        let mut not_reached = self.open_rows.clone();
        let mut is_nobody_reached = goal.is_none();
        if let Some(row) = goal {
            not_reached.clear(row);
        }
        let mut next: Vec<Seeker> = vec![goal];
        while let Some(node) = next.pop() {
            self.work += not_reached.0.len();
            match node {
                Some(row) => {
                    let Some(column) = self.column_of[row] else { continue };
                    if !is_nobody_reached && self.idle_columns.has(column) {
                        ways.of_nobody = Some(Left::Free { row });
                    }
                    let takers: Vec<usize> = self.rows_for[column].common(&not_reached).collect();
                    for taker in takers {
                        not_reached.clear(taker);
                        if self.column_of[taker].is_some() {
                            ways.of_row[taker] = Some(Move::Takes(row));
                            next.push(Some(taker));
                        } else if !is_nobody_reached && ways.of_nobody.is_none() {
                            ways.of_nobody = Some(Left::Taken { row, by: taker });
                        }
                    }
                    if !is_nobody_reached && ways.of_nobody.is_some() {
                        is_nobody_reached = true;
                        next.push(None);
                    }
                }
                None => {
                    let left: Vec<usize> = not_reached.common(&self.open_rows).collect();
                    for row in left.into_iter().filter(|row| self.column_of[*row].is_some()) {
                        self.work += self.free_columns.0.len();
                        let free = self.columns_for[row].common(&self.free_columns).next();
                        let way = match free {
                            Some(column) => Move::Free(column),
                            None if self.idle_rows.has(row) => Move::Leaves,
                            None => continue,
                        };
                        not_reached.clear(row);
                        ways.of_row[row] = Some(way);
                        next.push(Some(row));
                    }
                }
            }
        }
        ways
    }

    /// Gives a row a column and moves the owners on along the chain.
    fn rearrange(&mut self, row: usize, column: usize, goal: Seeker, ways: &Ways) {
        let mut moves = vec![(row, Some(column))];
        let mut at = self.row_of[column];
        while at != goal {
            at = match at {
                Some(row) => match ways.of_row[row] {
                    Some(Move::Takes(other)) => {
                        moves.push((row, self.column_of[other]));
                        Some(other)
                    }
                    Some(Move::Free(column)) => {
                        moves.push((row, Some(column)));
                        None
                    }
                    Some(Move::Leaves) | None => {
                        moves.push((row, None));
                        None
                    }
                },
                None => {
                    let Some(left) = ways.of_nobody else { break };
                    if let Left::Taken { row, by } = left {
                        moves.push((by, self.column_of[row]));
                    }
                    Some(left.row())
                }
            };
        }
        for column in moves.iter().filter_map(|(row, _)| self.column_of[*row]) {
            self.row_of[column] = None;
            self.free_columns.set(column);
        }
        for (row, column) in moves {
            self.column_of[row] = column;
            if let Some(column) = column {
                self.row_of[column] = Some(row);
                self.free_columns.clear(column);
            }
        }
    }
}
