//! Krippendorff's alpha: agreement of any number of judges, some of whom left things out.

use super::sample::{Sample, ordered_sum};

/// What ratings are, and so how far apart two of them are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlphaLevel {
    /// Names: equal or not.
    Nominal,
    /// Ranks: apart by the ratings that lie between them.
    Ordinal,
    /// Numbers: apart by their difference.
    Interval,
    /// Numbers from 0 up: apart by their difference as a part of their sum. Takes time by the square
    /// of the number of different ratings.
    Ratio,
}

/// Returns alpha: 1 for full agreement, 0 for what chance gives, below 0 for systematic disagreement.
///
/// `ratings` has a list for each judge, with a rating for each thing in the same order, or `None`.
/// Things with fewer than two ratings do not count.
///
/// Returns `None` if lists have different lengths, if nothing has two ratings, if all ratings are the
/// same, and for ratings that are not finite or, with [`AlphaLevel::Ratio`], below 0.
///
/// ```
/// use juror_statistics::{AlphaLevel, alpha};
///
/// let ratings = [[Some(1.0), Some(3.0), Some(1.0)], [Some(2.0), Some(4.0), Some(1.0)]];
/// assert!((alpha(&ratings, AlphaLevel::Interval).unwrap() - 19.0 / 24.0).abs() < 1e-12);
/// ```
pub fn alpha<T: AsRef<[Option<f64>]>>(ratings: &[T], level: AlphaLevel) -> Option<f64> {
    let mut units = units_of(ratings)?;
    let mut all = sorted(units.iter().flatten().copied());
    let is_fit =
        |rating: &f64| rating.is_finite() && (level != AlphaLevel::Ratio || *rating >= 0.0);
    if !all.iter().all(is_fit) {
        return None;
    }
    if level == AlphaLevel::Ordinal {
        units.iter_mut().flatten().for_each(|rating| *rating = rank(&all, *rating));
        all = sorted(units.iter().flatten().copied());
    }
    let disagreement = |ratings: &[f64]| disagreement(ratings, level);
    let found = ordered_sum(units.iter().map(|unit| disagreement(unit)));
    let by_chance = disagreement(&all);
    Some(1.0 - found / by_chance).filter(|alpha| by_chance > 0.0 && alpha.is_finite())
}

/// Returns the ratings of each thing that has at least two, sorted, or `None` if nothing has.
fn units_of<T: AsRef<[Option<f64>]>>(ratings: &[T]) -> Option<Vec<Vec<f64>>> {
    let n_units = ratings.first()?.as_ref().len();
    if ratings.iter().any(|judge| judge.as_ref().len() != n_units) {
        return None;
    }
    let unit = |at: usize| sorted(ratings.iter().filter_map(|judge| judge.as_ref()[at]));
    let units: Vec<Vec<f64>> = (0..n_units).map(unit).filter(|unit| unit.len() > 1).collect();
    (!units.is_empty()).then_some(units)
}

fn sorted(ratings: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut sorted: Vec<f64> = ratings.collect();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted
}

/// Returns the mean rank of a rating among all, with half of those equal to it: the distance of two
/// ranks is the number of ratings between them, with half of both ends.
fn rank(all: &[f64], rating: f64) -> f64 {
    let n_below = all.partition_point(|other| *other < rating);
    let n_up_to = all.partition_point(|other| *other <= rating);
    f64::midpoint(n_below as f64, n_up_to as f64)
}

/// Returns the sum of the distances of all ordered pairs of sorted ratings, by the number of others
/// each rating is paired with.
fn disagreement(ratings: &[f64], level: AlphaLevel) -> f64 {
    let n = ratings.len() as f64;
    match level {
        AlphaLevel::Nominal => {
            let alike = ratings.chunk_by(|a, b| a == b).map(|same| same.len() * same.len());
            (n * n - alike.map(|n_pairs| n_pairs as f64).sum::<f64>()) / (n - 1.0)
        }
        AlphaLevel::Ordinal | AlphaLevel::Interval => {
            let variance = Sample::new(ratings).and_then(|sample| sample.variance());
            2.0 * n * variance.unwrap_or(f64::INFINITY)
        }
        AlphaLevel::Ratio => ratio_distances(ratings) / (n - 1.0),
    }
}

fn ratio_distances(ratings: &[f64]) -> f64 {
    let groups: Vec<&[f64]> = ratings.chunk_by(|a, b| a == b).collect();
    let mut sum = 0.0;
    for (at, low) in groups.iter().enumerate() {
        for high in &groups[at + 1..] {
            // Halves, so that the sum of large ratings is still a number.
            let (a, b) = (low[0] / 2.0, high[0] / 2.0);
            let distance = (b - a) / (a + b);
            sum += 2.0 * (low.len() * high.len()) as f64 * distance * distance;
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    type Ratings = Vec<Vec<Option<f64>>>;

    /// Reads ratings: a row per judge, a digit or `-` per thing.
    fn ratings(rows: &[&str]) -> Ratings {
        let row = |row: &&str| row.chars().map(|c| c.to_digit(10).map(f64::from)).collect();
        rows.iter().map(row).collect()
    }

    fn check(rows: &[&str], level: AlphaLevel, wanted: f64) {
        let got = alpha(&ratings(rows), level).expect("an alpha");
        assert!((got - wanted).abs() < 5e-7, "{level:?}: got {got}, wanted {wanted}");
    }

    #[test]
    fn four_judges_have_the_published_alpha() {
        let rows = ["123321412---", "1233224125--", "-33323422513", "12332441251-"];
        check(&rows, AlphaLevel::Nominal, 0.743_421);
        check(&rows, AlphaLevel::Ordinal, 0.815_388);
        check(&rows, AlphaLevel::Interval, 0.849_107);
        check(&rows, AlphaLevel::Ratio, 0.797_403);
    }

    #[test]
    fn small_tables_have_the_published_alpha() {
        check(&["0011", "1100"], AlphaLevel::Nominal, -0.75);
        check(&["1010", "1010", "1011"], AlphaLevel::Nominal, 0.685_714_286);
        check(&["10", "10", "0-"], AlphaLevel::Nominal, 1.0 / 3.0);
    }

    #[test]
    fn a_judge_who_says_nothing_changes_nothing() {
        for level in [AlphaLevel::Nominal, AlphaLevel::Ordinal, AlphaLevel::Interval] {
            let two = alpha(&ratings(&["1312", "1322"]), level);
            assert_eq!(two, alpha(&ratings(&["1312", "----", "1322"]), level), "{level:?}");
            assert_eq!(two, alpha(&ratings(&["13124", "1322-"]), level), "{level:?}");
        }
    }

    #[test]
    fn ratings_that_cannot_disagree_have_no_alpha() {
        for level in
            [AlphaLevel::Nominal, AlphaLevel::Ordinal, AlphaLevel::Interval, AlphaLevel::Ratio]
        {
            assert_eq!(alpha(&ratings(&["111", "111"]), level), None, "one value");
            assert_eq!(alpha(&ratings(&["12-", "--3"]), level), None, "no two ratings");
            assert_eq!(alpha(&ratings(&["12", "1"]), level), None, "uneven");
            assert_eq!(alpha(&ratings(&[]), level), None, "no judge");
            assert_eq!(alpha(&[[Some(f64::NAN)], [Some(1.0)]], level), None);
        }
        let negative = [[Some(-1.0), Some(2.0)], [Some(1.0), Some(2.0)]];
        assert_eq!(alpha(&negative, AlphaLevel::Ratio), None);
        let endless = [[Some(1e200), Some(2.0)], [Some(-1e200), Some(2.0)]];
        assert_eq!(alpha(&endless, AlphaLevel::Interval), None);
    }
}
