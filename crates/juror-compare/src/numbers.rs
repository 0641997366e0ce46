//! Means of numbers, and numbers for people.

use juror_score::compensated_sum;

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

/// The mean of numbers, the same in any order; `None` if there are none.
pub(crate) fn mean_of(values: &[f64]) -> Option<f64> {
    if let [] | [_] = values {
        return values.first().copied();
    }
    let mut values = values.to_vec();
    values.sort_unstable_by(f64::total_cmp);
    Some(compensated_sum(&values) / values.len() as f64)
}
