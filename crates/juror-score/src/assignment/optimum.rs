//! The largest total, and prices that prove it.

use std::cell::Cell;

/// A pairing whose total is the largest possible.
pub(super) struct Optimum {
    /// The column of each row; every pair is above zero.
    pub(super) column_of: Vec<Option<usize>>,
    /// What rows and columns are worth: none is below zero, a row and a column are together worth
    /// at least their similarity, and what is paired with nothing is worth nothing. A pair of any
    /// pairing with the largest total is worth just its similarity.
    pub(super) worth_of_row: Vec<f64>,
    pub(super) worth_of_column: Vec<f64>,
}

/// A pairing with the largest total, unless it takes more work than there is left.
pub(super) fn solve(similarity: &[Vec<f64>], work: &Cell<usize>) -> Option<Optimum> {
    let n_rows = similarity.len();
    let n_columns = similarity.first().map_or(0, Vec::len);
    if n_rows <= n_columns {
        let cost = Costs::new(n_rows, n_columns, |row, column| -similarity[row][column]);
        return cost.solve(work);
    }
    let cost = Costs::new(n_columns, n_rows, |column, row| -similarity[row][column]);
    let turned = cost.solve(work)?;
    let mut column_of = vec![None; n_rows];
    for (column, row) in turned.column_of.into_iter().enumerate() {
        if let Some(row) = row {
            column_of[row] = Some(column);
        }
    }
    let (worth_of_row, worth_of_column) = (turned.worth_of_column, turned.worth_of_row);
    Some(Optimum { column_of, worth_of_row, worth_of_column })
}

/// What pairs cost, with rows and columns that count from 1. A last column that costs nothing is
/// left for a row that finds no better one.
struct Costs {
    n_rows: usize,
    n_columns: usize,
    cells: Vec<f64>,
}

impl Costs {
    /// There are no more rows than columns.
    fn new(n_rows: usize, n_columns: usize, cost: impl Fn(usize, usize) -> f64) -> Costs {
        let mut cells = Vec::with_capacity(n_rows * (n_columns + 2));
        for row in 0..n_rows {
            cells.push(0.0);
            cells.extend((0..n_columns).map(|column| cost(row, column)));
            cells.push(0.0);
        }
        Costs { n_rows, n_columns: n_columns + 1, cells }
    }

    fn of_row(&self, row: usize) -> &[f64] {
        let width = self.n_columns + 1;
        &self.cells[(row - 1) * width..row * width]
    }

    /// The Hungarian method with potentials, in O(rows² · columns).
    fn solve(&self, work: &Cell<usize>) -> Option<Optimum> {
        let (n, m) = (self.n_rows, self.n_columns);
        let mut row_potential = vec![0.0; n + 1];
        let mut column_potential = vec![0.0; m + 1];
        let mut row_of = vec![0_usize; m + 1];
        for row in 1..=n {
            // Column 0 stands for the row that is being placed.
            row_of[0] = row;
            let mut slack = vec![f64::INFINITY; m + 1];
            let mut came_from = vec![0_usize; m + 1];
            let mut done = vec![false; m + 1];
            let mut column = 0;
            loop {
                let Some(left) = work.get().checked_sub(m) else {
                    work.set(0);
                    return None;
                };
                work.set(left);
                done[column] = true;
                let at = row_of[column];
                let costs = self.of_row(at);
                let mut delta = f64::INFINITY;
                let mut next = 0;
                for other in 1..=m {
                    if done[other] {
                        continue;
                    }
                    let reduced = costs[other] - row_potential[at] - column_potential[other];
                    if reduced < slack[other] {
                        slack[other] = reduced;
                        came_from[other] = column;
                    }
                    // Among equals a free column comes first: it ends the search.
                    let is_better = slack[other] < delta
                        || slack[other] <= delta && row_of[next] != 0 && row_of[other] == 0;
                    if is_better {
                        delta = slack[other];
                        next = other;
                    }
                }
                for other in 0..=m {
                    if done[other] {
                        row_potential[row_of[other]] += delta;
                        column_potential[other] -= delta;
                    } else {
                        slack[other] -= delta;
                    }
                }
                column = next;
                if row_of[column] == 0 {
                    break;
                }
            }
            while column != 0 {
                row_of[column] = row_of[came_from[column]];
                column = came_from[column];
            }
        }
        Some(self.optimum(&row_of, &row_potential, &column_potential))
    }

    fn optimum(
        &self,
        row_of: &[usize],
        row_potential: &[f64],
        column_potential: &[f64],
    ) -> Optimum {
        let mut column_of = vec![None; self.n_rows];
        for (column, row) in row_of.iter().enumerate().take(self.n_columns).skip(1) {
            if *row > 0 && self.of_row(*row)[column] < 0.0 {
                column_of[row - 1] = Some(column - 1);
            }
        }
        let worth = |potential: &[f64]| potential.iter().skip(1).map(|value| -value).collect();
        Optimum {
            column_of,
            worth_of_row: worth(row_potential),
            worth_of_column: worth(&column_potential[..self.n_columns]),
        }
    }
}
