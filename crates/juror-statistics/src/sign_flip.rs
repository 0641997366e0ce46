//! The exact sign-flip test: how often chance alone makes so large a difference.

/// With more sums the t-test does as well, and the number of patterns doubles with each.
pub(crate) const MOST_SUMS: usize = 12;

/// Returns the exact two-sided p of differences, one per question or one sum per cluster.
///
/// If two runs are equally good, each difference is as likely to have the opposite sign. The p is the
/// share of all patterns of signs whose sum is at least as far from 0 as the one that was found.
/// Returns `None` for fewer than 2 or more than 12 differences, and for ones that are not finite.
///
/// ```
/// use juror_statistics::sign_flip_exact;
///
/// // Of eight patterns, only this one and its opposite reach so far.
/// assert_eq!(sign_flip_exact(&[0.2, 0.1, 0.4]), Some(0.25));
/// ```
pub fn sign_flip_exact(differences: &[f64]) -> Option<f64> {
    let total: f64 = differences.iter().map(|difference| difference.abs()).sum();
    sign_flip_within(differences, 16.0 * f64::EPSILON * total)
}

/// The same, where sums that differ by no more than rounding are equal.
pub(crate) fn sign_flip_within(differences: &[f64], rounding: f64) -> Option<f64> {
    let n = differences.len();
    let total: f64 = differences.iter().map(|difference| difference.abs()).sum();
    if !(2..=MOST_SUMS).contains(&n) || !total.is_finite() {
        return None;
    }
    let found = sum_of_signs(differences, 0).abs();
    let is_as_far = |signs: &u32| sum_of_signs(differences, *signs).abs() >= found - rounding;
    // Half of the patterns: the others are their opposites, just as far from 0.
    let n_patterns = 1_u32 << (n - 1);
    let n_as_far = (0..n_patterns).filter(is_as_far).count();
    Some(n_as_far as f64 / f64::from(n_patterns))
}

/// Returns the sum with the signs flipped whose bits are set.
fn sum_of_signs(differences: &[f64], flipped: u32) -> f64 {
    let is_flipped = |at: usize| flipped >> at & 1 == 1;
    let signed = differences.iter().enumerate();
    signed.map(|(at, difference)| if is_flipped(at) { -difference } else { *difference }).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_differences_are_reached_by_24_of_256_patterns() {
        let a = [1.0, 0.8, 0.6, 1.0, 0.5, 0.4, 0.9, 0.7];
        let b = [0.9, 0.5, 0.6, 0.8, 0.5, 0.1, 0.7, 0.8];
        let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| b - a).collect();
        assert_eq!(sign_flip_exact(&differences), Some(24.0 / 256.0));
    }

    #[test]
    fn no_difference_is_no_evidence() {
        assert_eq!(sign_flip_exact(&[0.0, 0.0]), Some(1.0));
        assert_eq!(sign_flip_exact(&[0.3, -0.1, -0.2]), Some(1.0));
    }

    #[test]
    fn the_least_p_is_two_of_all_patterns() {
        assert_eq!(sign_flip_exact(&[1.0; 2]), Some(0.5));
        assert_eq!(sign_flip_exact(&[1.0; 12]), Some(2.0 / 4096.0));
    }

    #[test]
    fn few_many_and_endless_differences_have_no_exact_p() {
        for differences in [&[][..], &[1.0], &[1.0; 13], &[1.0, f64::NAN], &[f64::MAX, f64::MAX]] {
            assert_eq!(sign_flip_exact(differences), None, "{differences:?}");
        }
    }
}
