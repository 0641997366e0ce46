//! Intervals of a proportion: Wilson's, and the one of Clopper and Pearson.

use serde::Serialize;

use super::Interval;
use super::distributions::{is_inner_share, normal_half_width};
use super::incomplete_beta::beta_quantile;

/// More trials than anyone counts; up to here every digit is computed.
const MOST_TRIALS: u64 = 1_000_000_000_000;

/// Two intervals of one proportion.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Proportion {
    /// Wilson's score interval: covers the truth about as often as it says.
    pub wilson: Interval,
    /// The interval of Clopper and Pearson: covers the truth at least as often as it says.
    pub clopper_pearson: Interval,
}

/// Returns the intervals of a proportion of independent outcomes.
///
/// Returns `None` if `n` is 0, less than `successes` or more than 10^12, and if `confidence` is not
/// between 0 and 1.
///
/// ```
/// use juror_statistics::{CONFIDENCE, proportion};
///
/// let nine_of_ten = proportion(9, 10, CONFIDENCE).unwrap();
/// assert!((nine_of_ten.wilson.low - 0.595_849_973).abs() < 1e-9);
/// assert!((nine_of_ten.clopper_pearson.low - 0.554_983_883).abs() < 1e-9);
/// ```
pub fn proportion(successes: usize, n: usize, confidence: f64) -> Option<Proportion> {
    let is_countable = n > 0 && successes <= n && n as u64 <= MOST_TRIALS;
    if !is_countable || !is_inner_share(confidence) {
        return None;
    }
    let (k, n) = (successes as f64, n as f64);
    let clopper_pearson = clopper_pearson(k, n, (1.0 - confidence) / 2.0);
    Some(Proportion { wilson: wilson(k, n, confidence), clopper_pearson })
}

/// The ends are the roots of `(n + z²) p² - (2k + z²) p + k²/n`: the upper one is a sum, and the
/// lower one follows from their product, so that neither is a small difference.
pub(crate) fn wilson(k: f64, n: f64, confidence: f64) -> Interval {
    let z = normal_half_width(confidence);
    let square = z * z;
    let root = z * (square + 4.0 * k * (n - k) / n).sqrt();
    let high = (2.0 * k + square + root) / (2.0 * (n + square));
    let low = k * (k / n) / ((n + square) * high);
    Interval { low, high: if k == n { 1.0 } else { high.min(1.0) } }
}

fn clopper_pearson(k: f64, n: f64, tail: f64) -> Interval {
    let low = if k == 0.0 { 0.0 } else { beta_quantile(tail, k, n - k + 1.0) };
    // From the other end, because the tail is small and what it leaves of 1 is rounded.
    let high = if k == n { 1.0 } else { 1.0 - beta_quantile(tail, n - k, k + 1.0) };
    Interval { low, high }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CONFIDENCE;

    fn check(got: Interval, low: f64, high: f64) {
        let is_near = (got.low - low).abs() < 1e-9 && (got.high - high).abs() < 1e-9;
        assert!(is_near, "got {got:?}, wanted {low} to {high}");
    }

    fn both(successes: usize, n: usize) -> Proportion {
        proportion(successes, n, CONFIDENCE).expect("a proportion")
    }

    #[test]
    fn wilson_is_as_published() {
        let published = [
            (9, 10, 0.595_849_973, 0.982_123_787),
            (0, 10, 0.0, 0.277_532_800),
            (10, 10, 0.722_467_200, 1.0),
            (81, 263, 0.255_288_520, 0.366_209_577),
            (15, 148, 0.062_386_400, 0.160_487_242),
            (39, 40, 0.871_186_310, 0.995_573_168),
        ];
        for (successes, n, low, high) in published {
            check(both(successes, n).wilson, low, high);
        }
    }

    #[test]
    fn clopper_and_pearson_are_as_published() {
        check(both(9, 10).clopper_pearson, 0.554_983_883, 0.997_471_421);
        check(both(0, 10).clopper_pearson, 0.0, 0.308_497_108);
        check(both(10, 10).clopper_pearson, 0.691_502_892, 1.0);
    }

    #[test]
    fn successes_and_failures_mirror_each_other() {
        for (k, n) in [(0, 1), (3, 10), (14, 5000), (499_999, 1_000_000)] {
            let (there, back) = (both(k, n), both(n - k, n));
            check(there.wilson, 1.0 - back.wilson.high, 1.0 - back.wilson.low);
            let back = back.clopper_pearson;
            check(there.clopper_pearson, 1.0 - back.high, 1.0 - back.low);
        }
    }

    #[test]
    fn one_of_a_million_keeps_its_digits() {
        // 1 - 0.975^(1/n), the closed form of one success.
        let low = both(1, 1_000_000).clopper_pearson.low;
        let wanted = -(0.975_f64.ln() / 1e6).exp_m1();
        assert!((low / wanted - 1.0).abs() < 1e-10, "{low:e} {wanted:e}");
    }

    #[test]
    fn impossible_counts_have_no_interval() {
        assert_eq!(proportion(0, 0, CONFIDENCE), None);
        assert_eq!(proportion(2, 1, CONFIDENCE), None);
        assert_eq!(proportion(1, usize::MAX, CONFIDENCE), None);
        assert_eq!(proportion(1, 2, f64::NAN), None);
        assert_eq!(proportion(1, 2, 1.0), None);
    }
}
