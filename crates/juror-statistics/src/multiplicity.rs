//! Adjusted p of several comparisons at once.
//!
//! A p that is no number, or outside 0 to 1, is moved to the nearest one, and `NaN` to 1: what is
//! unknown is no evidence.

/// Returns p adjusted by Holm, in the order given: with all below 0.05, the risk of a single false
/// alarm is below 0.05.
///
/// ```
/// use juror_statistics::holm;
///
/// let adjusted = holm(&[0.01, 0.04, 0.03, 0.005]);
/// assert!(adjusted.iter().zip([0.03, 0.06, 0.06, 0.02]).all(|(a, b)| (a - b).abs() < 1e-12));
/// ```
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut adjusted = vec![0.0; p.len()];
    let mut least = 0.0;
    for (rank, (at, p)) in sorted(p).into_iter().enumerate() {
        least = f64::max(least, p * (adjusted.len() - rank) as f64).min(1.0);
        adjusted[at] = least;
    }
    adjusted
}

/// Returns p adjusted by Benjamini and Hochberg, in the order given: of those below 0.05, a share of
/// at most 0.05 is expected to be false alarms.
///
/// ```
/// use juror_statistics::benjamini_hochberg;
///
/// let adjusted = benjamini_hochberg(&[0.01, 0.04, 0.03, 0.005]);
/// assert!(adjusted.iter().zip([0.02, 0.04, 0.04, 0.02]).all(|(a, b)| (a - b).abs() < 1e-12));
/// ```
pub fn benjamini_hochberg(p: &[f64]) -> Vec<f64> {
    let mut adjusted = vec![0.0; p.len()];
    let mut most = 1.0;
    for (rank, (at, p)) in sorted(p).into_iter().enumerate().rev() {
        most = f64::min(most, p * adjusted.len() as f64 / (rank + 1) as f64);
        adjusted[at] = most;
    }
    adjusted
}

/// Returns positions and p, smallest first.
fn sorted(p: &[f64]) -> Vec<(usize, f64)> {
    let share = |p: &f64| if p.is_nan() { 1.0 } else { p.clamp(0.0, 1.0) };
    let mut sorted: Vec<(usize, f64)> = p.iter().map(share).enumerate().collect();
    sorted.sort_by(|(_, a), (_, b)| a.total_cmp(b));
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_adjusted_to_nothing_and_one_stays() {
        assert_eq!((holm(&[]), benjamini_hochberg(&[])), (vec![], vec![]));
        assert_eq!((holm(&[0.3]), benjamini_hochberg(&[0.3])), (vec![0.3], vec![0.3]));
    }

    #[test]
    fn a_larger_p_is_never_adjusted_below_a_smaller_one() {
        let p = [0.02, 0.021, 0.9, 0.02];
        assert_eq!(holm(&p), [0.08, 0.08, 0.9, 0.08]);
        for (got, wanted) in benjamini_hochberg(&p).iter().zip([0.028, 0.028, 0.9, 0.028]) {
            assert!((got - wanted).abs() < 1e-12);
        }
    }

    #[test]
    fn what_is_no_p_is_no_evidence() {
        assert_eq!(holm(&[f64::NAN, 0.01, -3.0, 7.0]), [1.0, 0.03, 0.0, 1.0]);
        assert_eq!(benjamini_hochberg(&[f64::NAN, 0.01]), [1.0, 0.02]);
    }
}
