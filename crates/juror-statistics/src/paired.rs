//! The difference between two runs on the same questions.

use serde::Serialize;

use super::Interval;
use super::distributions::{t_above, t_two_sided};
use super::mean::estimate;
use super::sample::{Clusters, Sample, are_clusters_of};
use super::sign_flip::{MOST_SUMS, sign_flip_within};

/// The significance and the power for which the least detectable effect is given.
const MDE_SIGNIFICANCE: f64 = 0.05;
const MDE_POWER: f64 = 0.8;

/// Two runs on the same questions, compared question by question.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Paired {
    /// The number of pairs.
    pub n: usize,
    /// The mean of the first run.
    #[serde(rename = "a")]
    pub mean_a: f64,
    /// The mean of the second run.
    #[serde(rename = "b")]
    pub mean_b: f64,
    /// The mean of the differences, second run less first.
    pub delta: f64,
    /// The standard error of `delta`, clustered if there are clusters.
    pub se: Option<f64>,
    /// The degrees of freedom of interval and p.
    pub df: Option<usize>,
    /// The t-interval of `delta`.
    pub interval: Option<Interval>,
    /// The two-sided p of the t-test, which agrees with the interval: below 0.05 where the interval
    /// at 0.95 leaves out 0.
    pub p: Option<f64>,
    /// How likely the true difference is above 0, given no opinion beforehand.
    pub probability_positive: Option<f64>,
    /// Pairs where the second run has the higher number.
    pub won: usize,
    /// Pairs where the second run has the lower number.
    pub lost: usize,
    /// Pairs of equal numbers.
    pub tied: usize,
    /// The least difference that such a comparison finds in 80 % of cases, at a significance of 5 %.
    pub mde: Option<f64>,
    /// The exact p over clusters, or over pairs if there are no clusters; `None` for fewer than 2 or
    /// more than 12 of them.
    pub p_sign_flip_exact: Option<f64>,
    /// The number of clusters, if there are any.
    pub n_clusters: Option<usize>,
    /// Whether the differences do not vary: the interval has no width, and p is 0 or 1 for no good
    /// reason.
    pub is_degenerate: bool,
}

/// Compares two runs: `a` and `b` have the numbers of the same questions in the same order.
///
/// `clusters` has the cluster of every question, as for [`mean`](super::mean()). Average the trials
/// of a question first. If differences do not vary, `p` is 1 where they are 0, and else 0, the limit
/// of the test; [`Paired::is_degenerate`] says so.
///
/// Returns `None` for no pairs, for lists of different lengths, for numbers that are not finite, and
/// if `confidence` is not between 0 and 1.
///
/// ```
/// use juror_statistics::{CONFIDENCE, paired};
///
/// let before = [1.0, 0.8, 0.6, 1.0, 0.5, 0.4, 0.9, 0.7];
/// let after = [0.9, 0.5, 0.6, 0.8, 0.5, 0.1, 0.7, 0.8];
/// let comparison = paired(&before, &after, None, CONFIDENCE).unwrap();
/// assert!((comparison.delta + 0.125).abs() < 1e-12);
/// assert!((comparison.p.unwrap() - 0.049_173_714).abs() < 1e-9);
/// assert_eq!((comparison.won, comparison.lost, comparison.tied), (1, 5, 2));
/// ```
pub fn paired(a: &[f64], b: &[f64], clusters: Option<&[u32]>, confidence: f64) -> Option<Paired> {
    let differences = Sample::differences(a, b).filter(|_| are_clusters_of(a.len(), clusters))?;
    let clusters = clusters.map(Clusters::new);
    let found = estimate(&differences, clusters.as_ref(), confidence)?;
    let p = found.se.zip(found.df).map(|(se, df)| two_sided_p(found.mean, se, df));
    let won = a.iter().zip(b).filter(|(a, b)| b > a).count();
    let lost = a.iter().zip(b).filter(|(a, b)| b < a).count();
    Some(Paired {
        n: found.n,
        mean_a: Sample::new(a)?.mean(),
        mean_b: Sample::new(b)?.mean(),
        delta: found.mean,
        se: found.se,
        df: found.df,
        interval: found.interval,
        p,
        probability_positive: p.map(|p| probability_positive(found.mean, p)),
        won,
        lost,
        tied: found.n - won - lost,
        mde: found
            .se
            .zip(found.df)
            .map(|(se, df)| detectable(se, df))
            .filter(|mde| mde.is_finite()),
        p_sign_flip_exact: sign_flip(&differences, clusters.as_ref()),
        n_clusters: found.n_clusters,
        is_degenerate: found.is_degenerate,
    })
}

fn two_sided_p(delta: f64, se: f64, df: usize) -> f64 {
    if delta == 0.0 { 1.0 } else { t_two_sided(delta / se, df as f64) }
}

fn probability_positive(delta: f64, p: f64) -> f64 {
    if delta > 0.0 { 1.0 - p / 2.0 } else { p / 2.0 }
}

fn detectable(se: f64, df: usize) -> f64 {
    let df = df as f64;
    se * (t_above(MDE_SIGNIFICANCE / 2.0, df) + t_above(1.0 - MDE_POWER, df))
}

fn sign_flip(differences: &Sample<'_>, clusters: Option<&Clusters>) -> Option<f64> {
    let rounding = differences.rounding_of_sum();
    match clusters {
        Some(clusters) if clusters.n() > MOST_SUMS => None,
        Some(clusters) => sign_flip_within(&clusters.sums(differences.values(), 0.0), rounding),
        None => sign_flip_within(differences.values(), rounding),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CONFIDENCE;

    const A: [f64; 8] = [1.0, 0.8, 0.6, 1.0, 0.5, 0.4, 0.9, 0.7];
    const B: [f64; 8] = [0.9, 0.5, 0.6, 0.8, 0.5, 0.1, 0.7, 0.8];

    fn near(got: Option<f64>, wanted: f64) {
        let got = got.expect("a number");
        assert!((got - wanted).abs() < 1e-9, "got {got}, wanted {wanted}");
    }

    /// The published table has the first run less the second.
    #[test]
    fn pairs_tell_more_than_two_means() {
        let found = paired(&B, &A, None, CONFIDENCE).expect("a comparison");
        near(Some(found.delta), 0.125);
        near(found.se, 0.052_610_428);
        near(found.p, 0.049_173_714);
        let interval = found.interval.expect("an interval");
        near(Some(interval.low), 0.000_596_106);
        near(Some(interval.high), 0.249_403_894);
        assert_eq!(found.p_sign_flip_exact, Some(24.0 / 256.0));
    }

    #[test]
    fn pairs_of_one_cluster_count_together() {
        let clusters = [1, 1, 2, 2, 3, 3, 4, 4];
        let found = paired(&B, &A, Some(&clusters), CONFIDENCE).expect("a comparison");
        near(found.se, 0.032_274_861);
        near(found.p, 0.030_466_292);
        let interval = found.interval.expect("an interval");
        near(Some(interval.low), 0.022_286_987);
        near(Some(interval.high), 0.227_713_013);
    }

    #[test]
    fn the_error_of_pairs_follows_from_both_errors_and_their_correlation() {
        let error = |values| Sample::new(values).and_then(|sample| sample.standard_error());
        let (a, b) = (error(&A).expect("an error"), error(&B).expect("an error"));
        near(Some(a), 0.080_039_053);
        near(Some(b), 0.089_517_556);
        let found = paired(&A, &B, None, CONFIDENCE).expect("a comparison");
        near(found.se, (a * a + b * b - 2.0 * a * b * 0.813_115_678).sqrt());
    }

    #[test]
    fn equal_runs_differ_by_nothing() {
        let found = paired(&A, &A, None, CONFIDENCE).expect("a comparison");
        assert_eq!((found.delta, found.p, found.probability_positive), (0.0, Some(1.0), Some(0.5)));
        assert_eq!((found.won, found.lost, found.tied), (0, 0, 8));
        assert_eq!((found.mde, found.p_sign_flip_exact), (Some(0.0), Some(1.0)));
        assert!(found.is_degenerate);
    }

    #[test]
    fn the_same_difference_everywhere_is_degenerate() {
        let found = paired(&[0.7, 0.8, 0.9], &[0.8, 0.9, 1.0], None, 0.9).expect("a comparison");
        assert!(found.is_degenerate);
        assert_eq!((found.p, found.probability_positive), (Some(0.0), Some(1.0)));
        assert_eq!(found.p_sign_flip_exact, Some(0.25));
    }

    #[test]
    fn one_cluster_has_a_difference_and_no_p() {
        let found = paired(&[1.0, 1.0], &[0.0, 1.0], Some(&[3, 3]), CONFIDENCE);
        let found = found.expect("a comparison");
        assert_eq!((found.delta, found.n_clusters), (-0.5, Some(1)));
        assert_eq!((found.se, found.p, found.mde, found.interval), (None, None, None, None));
        assert_eq!((found.probability_positive, found.p_sign_flip_exact), (None, None));
    }

    #[test]
    fn what_cannot_be_compared_is_none() {
        assert_eq!(paired(&[], &[], None, CONFIDENCE), None);
        assert_eq!(paired(&[1.0], &[1.0, 2.0], None, CONFIDENCE), None);
        assert_eq!(paired(&[1.0, 2.0], &[1.0, 2.0], Some(&[1]), CONFIDENCE), None);
        assert_eq!(paired(&[1.0, f64::NAN], &[1.0, 2.0], None, CONFIDENCE), None);
        assert_eq!(paired(&[1.0, 2.0], &[1.0, 3.0], None, 0.0), None);
    }
}
