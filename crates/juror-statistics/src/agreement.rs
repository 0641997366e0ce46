//! Agreement of two judges, or of a judge with people: Cohen's kappa and its relatives.

use serde::Serialize;

/// How far two judges agree.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Agreement {
    /// The number of things both judged.
    pub n: u64,
    /// The share of things they judge alike.
    pub observed: f64,
    /// Cohen's kappa: agreement beyond chance; `None` if both only ever use one category.
    pub kappa: Option<f64>,
    /// The standard error of kappa (Fleiss, Cohen and Everitt).
    pub kappa_se: Option<f64>,
    /// Kappa with disagreement weighed by the distance of categories.
    pub kappa_linear: Option<f64>,
    /// Kappa with disagreement weighed by the squared distance of categories.
    pub kappa_quadratic: Option<f64>,
    /// Kappa as if categories were equally common (prevalence- and bias-adjusted). Where one category
    /// is rare, kappa is low however well judges agree, and this is not.
    pub pabak: Option<f64>,
    /// Gwet's AC1, which stays stable where a category is rare.
    pub ac1: Option<f64>,
    /// The share of each category, in the mean of both judges.
    pub prevalence: Vec<f64>,
}

/// Returns the agreement in a table of counts: a row for each category of the first judge, a column
/// for each of the second. For weighted kappa, categories are in their order.
///
/// Returns `None` if the table is not square or counts nothing.
///
/// ```
/// use juror_statistics::agreement;
///
/// let found = agreement(&[[20, 5], [10, 15]]).unwrap();
/// assert!((found.kappa.unwrap() - 0.4).abs() < 1e-12);
/// ```
pub fn agreement<T: AsRef<[u64]>>(table: &[T]) -> Option<Agreement> {
    let shares = Shares::of(table)?;
    let nominal = |row: usize, column: usize| f64::from(row != column);
    let linear = |row: usize, column: usize| row.abs_diff(column) as f64;
    let quadratic = |row: usize, column: usize| linear(row, column) * linear(row, column);
    let kappa = shares.kappa(nominal);
    Some(Agreement {
        n: shares.n,
        observed: shares.observed(),
        kappa,
        kappa_se: kappa.map(|kappa| shares.kappa_error(kappa)),
        kappa_linear: shares.kappa(linear),
        kappa_quadratic: shares.kappa(quadratic),
        pabak: shares.pabak(),
        ac1: shares.ac1(),
        prevalence: shares.prevalence(),
    })
}

/// A table of counts as shares of all.
struct Shares {
    n: u64,
    cells: Vec<Vec<f64>>,
    rows: Vec<f64>,
    columns: Vec<f64>,
}

impl Shares {
    fn of<T: AsRef<[u64]>>(table: &[T]) -> Option<Shares> {
        let k = table.len();
        let counts = table.iter().flat_map(AsRef::as_ref);
        let n = counts.copied().try_fold(0_u64, u64::checked_add).filter(|n| *n > 0)?;
        if table.iter().any(|row| row.as_ref().len() != k) {
            return None;
        }
        let share = |count: &u64| *count as f64 / n as f64;
        let cells: Vec<Vec<f64>> =
            table.iter().map(|row| row.as_ref().iter().map(share).collect()).collect();
        let rows = cells.iter().map(|row| row.iter().sum()).collect();
        let columns = (0..k).map(|at| cells.iter().map(|row| row[at]).sum()).collect();
        Some(Shares { n, cells, rows, columns })
    }

    fn k(&self) -> f64 {
        self.rows.len() as f64
    }

    fn observed(&self) -> f64 {
        self.cells.iter().enumerate().map(|(at, row)| row[at]).sum()
    }

    /// Returns one minus the disagreement found, as a part of the disagreement by chance.
    fn kappa(&self, weight: impl Fn(usize, usize) -> f64) -> Option<f64> {
        let (mut found, mut by_chance) = (0.0, 0.0);
        for (row, cells) in self.cells.iter().enumerate() {
            for (column, cell) in cells.iter().enumerate() {
                found += weight(row, column) * cell;
                by_chance += weight(row, column) * self.rows[row] * self.columns[column];
            }
        }
        (by_chance > 0.0).then(|| 1.0 - found / by_chance)
    }

    /// The large-sample standard error of the unweighted kappa.
    fn kappa_error(&self, kappa: f64) -> f64 {
        let rest = 1.0 - kappa;
        if rest == 0.0 {
            return 0.0;
        }
        let pairs = self.rows.iter().zip(&self.columns);
        let by_chance: f64 = pairs.map(|(row, column)| row * column).sum();
        let mut sum = 0.0;
        for (row, cells) in self.cells.iter().enumerate() {
            for (column, cell) in cells.iter().enumerate() {
                let margins = (self.columns[row] + self.rows[column]) * rest;
                let term = if row == column { 1.0 - margins } else { margins };
                sum += cell * term * term;
            }
        }
        let centre = kappa - by_chance * rest;
        let variance = (sum - centre * centre).max(0.0) / self.n as f64;
        variance.sqrt() / (1.0 - by_chance)
    }

    fn pabak(&self) -> Option<f64> {
        (self.k() > 1.0).then(|| (self.k() * self.observed() - 1.0) / (self.k() - 1.0))
    }

    fn ac1(&self) -> Option<f64> {
        let spread: f64 = self.prevalence().iter().map(|share| share * (1.0 - share)).sum();
        let by_chance = spread / (self.k() - 1.0);
        (self.k() > 1.0).then(|| (self.observed() - by_chance) / (1.0 - by_chance))
    }

    fn prevalence(&self) -> Vec<f64> {
        self.rows
            .iter()
            .zip(&self.columns)
            .map(|(row, column)| f64::midpoint(*row, *column))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(got: Option<f64>, wanted: f64) {
        let got = got.expect("a number");
        assert!((got - wanted).abs() < 1e-9, "got {got}, wanted {wanted}");
    }

    #[test]
    fn a_table_of_two_has_the_published_numbers() {
        let found = agreement(&[[20, 5], [10, 15]]).expect("an agreement");
        near(found.kappa, 0.4);
        near(found.kappa_se, 0.126_996_063);
        near(found.pabak, 0.4);
        near(found.ac1, 0.405_940_594);
        assert_eq!((found.n, found.observed), (50, 0.7));
        assert_eq!(found.prevalence, [0.55, 0.45]);
    }

    #[test]
    fn other_tables_have_the_published_kappa() {
        near(agreement(&[[45, 15], [25, 15]]).and_then(|found| found.kappa), 0.130_434_783);
        near(agreement(&[[25, 35], [5, 35]]).and_then(|found| found.kappa), 0.259_259_259);
        let found = agreement(&[[11, 3, 1], [1, 9, 0], [0, 1, 10]]).expect("an agreement");
        near(found.kappa, 0.750_289_017);
        near(found.kappa_linear, 0.783_132_530);
        near(found.kappa_quadratic, 0.815_489_749);
    }

    #[test]
    fn one_category_leaves_chance_unknown() {
        let found = agreement(&[[7, 0], [0, 0]]).expect("an agreement");
        assert_eq!((found.observed, found.kappa, found.kappa_se), (1.0, None, None));
        assert_eq!((found.pabak, found.ac1), (Some(1.0), Some(1.0)));
        let alone = agreement(&[[3]]).expect("an agreement");
        assert_eq!((alone.kappa, alone.pabak, alone.ac1), (None, None, None));
    }

    #[test]
    fn full_agreement_is_one() {
        let found = agreement(&[[4, 0], [0, 6]]).expect("an agreement");
        assert_eq!((found.kappa, found.kappa_se), (Some(1.0), Some(0.0)));
    }

    #[test]
    fn tables_that_count_nothing_have_no_agreement() {
        assert_eq!(agreement::<Vec<u64>>(&[]), None);
        assert_eq!(agreement(&[[0, 0], [0, 0]]), None);
        assert_eq!(agreement(&[vec![1, 2], vec![3]]), None);
        assert_eq!(agreement(&[[1, 2]]), None);
        assert_eq!(agreement(&[[u64::MAX, 1], [0, 0]]), None);
    }
}
