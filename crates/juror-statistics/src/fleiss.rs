//! Fleiss' kappa: agreement of several judges who each judge everything.

/// Returns Fleiss' kappa; each row is a thing judged, and counts how many judges chose each category.
///
/// Returns `None` if rows have different lengths or different numbers of judges, if there are fewer
/// than two judges, and if only one category was ever chosen.
///
/// ```
/// use juror_statistics::fleiss_kappa;
///
/// // Three judges, two categories.
/// let kappa = fleiss_kappa(&[[3, 0], [0, 3], [2, 1], [3, 0]]).unwrap();
/// assert!((kappa - 0.625).abs() < 1e-12);
/// ```
pub fn fleiss_kappa<T: AsRef<[u64]>>(table: &[T]) -> Option<f64> {
    let n_categories = table.first()?.as_ref().len();
    let n_judges = judges(table.first()?.as_ref()).filter(|n| *n > 1)?;
    let is_even =
        |row: &T| row.as_ref().len() == n_categories && judges(row.as_ref()) == Some(n_judges);
    if !table.iter().all(is_even) {
        return None;
    }
    let (n, r) = (table.len() as f64, n_judges as f64);
    let alike: f64 = table.iter().map(|row| pairs_alike(row.as_ref())).sum();
    let observed = alike / (n * r * (r - 1.0));
    let share = |at: usize| table.iter().map(|row| row.as_ref()[at] as f64).sum::<f64>() / (n * r);
    let by_chance: f64 = (0..n_categories).map(|at| share(at) * share(at)).sum();
    (by_chance < 1.0).then(|| (observed - by_chance) / (1.0 - by_chance))
}

fn judges(row: &[u64]) -> Option<u64> {
    row.iter().copied().try_fold(0, u64::checked_add)
}

/// Returns the number of ordered pairs of judges that agree on one thing.
fn pairs_alike(row: &[u64]) -> f64 {
    row.iter().map(|count| *count as f64 * (count.saturating_sub(1)) as f64).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fourteen_judges_have_the_published_kappa() {
        let table = [
            [0, 0, 0, 0, 14],
            [0, 2, 6, 4, 2],
            [0, 0, 3, 5, 6],
            [0, 3, 9, 2, 0],
            [2, 2, 8, 1, 1],
            [7, 7, 0, 0, 0],
            [3, 2, 6, 3, 0],
            [2, 5, 3, 2, 2],
            [6, 5, 2, 1, 0],
            [0, 2, 2, 3, 7],
        ];
        assert!((fleiss_kappa(&table).expect("a kappa") - 0.209_930_704).abs() < 1e-9);
    }

    #[test]
    fn uneven_tables_have_no_kappa() {
        assert_eq!(fleiss_kappa::<Vec<u64>>(&[]), None);
        assert_eq!(fleiss_kappa(&[[3, 0], [2, 0]]), None);
        assert_eq!(fleiss_kappa(&[vec![3, 0], vec![3]]), None);
        assert_eq!(fleiss_kappa(&[[1, 0], [0, 1]]), None, "one judge");
        assert_eq!(fleiss_kappa(&[[2, 0], [2, 0]]), None, "one category");
        assert_eq!(fleiss_kappa(&[[u64::MAX, 1]]), None);
    }
}
