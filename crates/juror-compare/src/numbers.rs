//! Means of numbers, and numbers for people.

use juror_score::compensated_sum;
use juror_score::statistics::Interval;

/// Formats a whole number with thousands separators.
pub fn thousands(number: f64) -> String {
    let digits = format!("{number:.0}");
    let mut shown = String::new();
    for (index, digit) in digits.chars().enumerate() {
        let left = digits.len() - index;
        if index > 0 && left % 3 == 0 && !shown.ends_with('-') {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

/// Formats the mean of a metric from 0 to 1 with half of its interval, such as `0.434 ±0.16`. Where
/// that would leave the range, it has the ends that are left instead, such as `0.900 (0.62…1.00)`.
pub fn share_with_interval(mean: f64, interval: Option<Interval>) -> String {
    let Some(interval) = interval else { return format!("{mean:.3}") };
    let half = interval.half_width();
    if mean - half >= 0.0 && mean + half <= 1.0 {
        return format!("{mean:.3} ±{half:.2}");
    }
    let Interval { low, high } = interval.clipped(0.0, 1.0);
    format!("{mean:.3} ({low:.2}…{high:.2})")
}

/// The mean of numbers, the same in any order; `None` if there are none.
pub(crate) fn mean_of(values: &[f64]) -> Option<f64> {
    if let [] | [_] = values {
        return values.first().copied();
    }
    let mut values = values.to_vec();
    values.sort_unstable_by(f64::total_cmp);
    Some(compensated_sum(&values) / values.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_that_leaves_the_range_of_shares_is_shown_by_its_ends() {
        let shown = |mean, low, high| share_with_interval(mean, Some(Interval { low, high }));
        assert_eq!(shown(0.5, 0.25, 0.75), "0.500 ±0.25");
        assert_eq!(shown(0.5, -0.74, 1.74), "0.500 (0.00…1.00)");
        assert_eq!(shown(0.9, 0.62, 1.18), "0.900 (0.62…1.00)");
        assert_eq!(shown(1.0, 0.34, 1.0), "1.000 (0.34…1.00)", "it is on one side");
        assert_eq!(share_with_interval(0.5, None), "0.500");
    }
}
