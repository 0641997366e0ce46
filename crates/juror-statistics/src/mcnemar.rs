//! The exact test of two runs on the same questions, each right or wrong.

use serde::Serialize;

use super::distributions::normal_two_sided;
use super::incomplete_beta::{beta_factor, incomplete_beta};

/// With more pairs, the normal approximation has all the digits that can be had.
const MOST_EXACT: f64 = 1e12;

/// Two p of one comparison.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct McNemar {
    /// The exact two-sided p, which is rather too large.
    pub p_exact: f64,
    /// The mid-p, recommended: nearer to what it says, for small and for large counts.
    pub p_mid: f64,
}

/// Returns the p of questions that only one of two runs got right: `lost` only the first, `won` only
/// the second. For independent questions; otherwise use [`paired`](super::paired()) with clusters.
///
/// ```
/// use juror_statistics::mcnemar;
///
/// let found = mcnemar(1, 7);
/// assert!((found.p_exact - 0.070_312_5).abs() < 1e-12);
/// assert!((found.p_mid - 0.039_062_5).abs() < 1e-12);
/// ```
pub fn mcnemar(lost: u64, won: u64) -> McNemar {
    if lost == won {
        return McNemar { p_exact: 1.0, p_mid: 1.0 };
    }
    let (less, more) = (lost.min(won) as f64, lost.max(won) as f64);
    let n = less + more;
    if n > MOST_EXACT {
        let p = |distance: f64| normal_two_sided(distance / n.sqrt());
        return McNemar { p_exact: p(more - less - 1.0), p_mid: p(more - less) };
    }
    // The lower tail of a binomial distribution of `n` fair coins, and its final term.
    let tail = incomplete_beta(more, less + 1.0, 0.5, 0.5);
    let final_term = 4.0 * beta_factor(more + 1.0, less + 1.0, 0.5, 0.5) / (n + 1.0);
    McNemar { p_exact: (2.0 * tail).min(1.0), p_mid: (2.0 * tail - final_term).min(1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(lost: u64, won: u64, exact: f64, mid: f64) {
        let got = mcnemar(lost, won);
        let is_near = |got: f64, wanted: f64| (got - wanted).abs() <= 1e-9;
        assert!(is_near(got.p_exact, exact) && is_near(got.p_mid, mid), "{lost} {won}: {got:?}");
        assert_eq!(got, mcnemar(won, lost));
    }

    #[test]
    fn p_are_as_published() {
        check(12, 2, 0.012_939_453, 0.007_385_254);
        check(25, 10, 0.016_673_848, 0.011_330_984);
        check(1, 7, 0.070_312_5, 0.039_062_5);
    }

    #[test]
    fn equal_counts_are_no_evidence() {
        check(0, 0, 1.0, 1.0);
        check(7, 7, 1.0, 1.0);
        check(u64::MAX, u64::MAX, 1.0, 1.0);
    }

    #[test]
    fn one_sided_counts_are_powers_of_one_half() {
        check(0, 1, 1.0, 0.5);
        check(0, 19, 0.5_f64.powi(18), 0.5_f64.powi(19));
        assert!((mcnemar(0, 1000).p_exact / 0.5_f64.powi(999) - 1.0).abs() < 1e-10);
    }

    /// Computed with mpmath at 40 digits.
    #[test]
    fn a_million_pairs_keep_their_digits() {
        check(499_000, 501_000, 0.045_608_299_865_382_09, 0.045_500_317_887_363_17);
        check(999_000, 1_001_000, 0.157_506_847_322_977_76, 0.157_299_293_531_027_1);
    }

    #[test]
    fn the_largest_counts_have_a_p() {
        let found = mcnemar(u64::MAX, u64::MAX / 2);
        assert_eq!((found.p_exact, found.p_mid), (0.0, 0.0));
        let exact = mcnemar(499_999_000_000, 500_001_000_000);
        let beyond = mcnemar(499_999_000_001, 500_001_000_001);
        assert!((exact.p_exact - beyond.p_exact).abs() < 1e-8, "{exact:?} {beyond:?}");
        assert!((exact.p_mid - beyond.p_mid).abs() < 1e-8, "{exact:?} {beyond:?}");
    }
}
