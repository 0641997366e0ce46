//! Finds the largest total, with dual values that prove it optimal.

use std::cell::Cell;

/// A pairing whose total is the largest possible.
pub(crate) struct Optimum {
    /// The column of each row; the similarity of every pair is above zero.
    pub(crate) column_of: Vec<Option<usize>>,
    /// The dual values. None is negative, and a row and a column are together worth at least their
    /// similarity, so no pairing has a larger total than all worths together. This pairing reaches
    /// that bound: its pairs are worth exactly their similarity, and what is unpaired is worth
    /// nothing. The same therefore holds for every pairing with the largest total.
    pub(crate) worth_of_row: Vec<f64>,
    pub(crate) worth_of_column: Vec<f64>,
}

/// Returns a pairing with the largest total, or `None` if that exceeds the budget.
pub(crate) fn solve(similarity: &[Vec<f64>], work: &Cell<usize>) -> Option<Optimum> {
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

/// A matrix of costs, the negated similarities, with rows and columns counted from 1.
///
/// It has one column more, which costs nothing, so that there is always a free column. The potential
/// of a free column is zero and no cost is positive, so no row's potential ever becomes positive:
/// its worth, the negated potential, is never negative.
struct Costs {
    n_rows: usize,
    n_columns: usize,
    cells: Vec<f64>,
}

impl Costs {
    /// Requires that there are no more rows than columns.
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
    ///
    /// The invariant: the reduced cost of a pair, its cost less the potentials of its row and
    /// column, is never negative, and is zero for the pairs chosen so far. So the rows placed so
    /// far are always paired at the least cost. Placing one more row is a shortest path search by
    /// reduced costs, from the row over columns already taken, whose rows would have to move on, to
    /// the nearest free column. `slack` is the distance of each column from the visited ones.
    /// Adjusting the potentials by `delta` whenever a column is visited keeps the invariant and
    /// makes the reduced costs along the path zero; then all pairs on the path are exchanged.
    fn solve(&self, work: &Cell<usize>) -> Option<Optimum> {
        let (n, m) = (self.n_rows, self.n_columns);
        let mut row_potential = vec![0.0; n + 1];
        let mut column_potential = vec![0.0; m + 1];
        let mut row_of = vec![0_usize; m + 1];
        for row in 1..=n {
            // Column 0 stands for the row being placed.
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
                    // Among equally near columns prefer a free one, which ends the search.
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
            // Move every row along the path one column on.
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
