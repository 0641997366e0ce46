//! Statistics over series of numbers.

use juror_statistics::compensated_sum;

/// A number that remembers whether it was written as an integer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Number {
    /// The value, always finite.
    pub value: f64,
    /// Whether it was written without fraction or exponent.
    pub whole: bool,
}

impl Number {
    /// Creates a real number; returns `None` if it is not finite.
    pub fn real(value: f64) -> Option<Number> {
        value.is_finite().then_some(Number { value, whole: false })
    }

    /// Parses a JSON number; booleans, strings and `null` are not numbers.
    #[inline]
    pub fn from_json(text: &str) -> Option<Number> {
        let first = *text.as_bytes().first()?;
        if first != b'-' && !first.is_ascii_digit() {
            return None;
        }
        let value: f64 = text.parse().ok()?;
        let whole = !text.bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E'));
        value.is_finite().then_some(Number { value, whole })
    }
}

/// A growing series of numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Series {
    values: Vec<f64>,
    any_real: bool,
}

impl Series {
    pub(crate) fn push(&mut self, number: Number) {
        self.values.push(number.value);
        self.any_real |= !number.whole;
    }

    pub(crate) fn extend(&mut self, other: &Series) {
        self.values.extend_from_slice(&other.values);
        self.any_real |= other.any_real;
    }

    /// Computes the statistics; zeros for an empty series.
    ///
    /// Sums run over the sorted values, so that they do not depend on the order of arrival. The
    /// values stay sorted, and the sort recognises sorted runs: a series that was put together from
    /// sorted ones is merged, not sorted anew.
    pub(crate) fn spread(&mut self) -> Spread {
        self.values.sort_by(f64::total_cmp);
        let sorted = &self.values[..];
        let (Some(&min), Some(&max)) = (sorted.first(), sorted.last()) else {
            return Spread { whole: true, ..Spread::default() };
        };
        let sum = compensated_sum(sorted);
        let n = sorted.len();
        let median = if n % 2 == 1 {
            sorted[n / 2]
        } else {
            f64::midpoint(sorted[n / 2 - 1], sorted[n / 2])
        };
        Spread { n, sum, mean: sum / n as f64, median, min, max, whole: !self.any_real }
    }
}

/// Sum, mean, median, minimum and maximum of a series.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spread {
    /// The number of values.
    pub n: usize,
    /// Their compensated sum.
    pub sum: f64,
    /// Their arithmetic mean; 0 for an empty series.
    pub mean: f64,
    /// The middle value, or the mean of the two middle ones.
    pub median: f64,
    /// The smallest value.
    pub min: f64,
    /// The largest value.
    pub max: f64,
    /// Whether all values were integers.
    pub whole: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_json_numbers_are_numbers() {
        assert_eq!(Number::from_json("12"), Some(Number { value: 12.0, whole: true }));
        assert_eq!(Number::from_json("1.5e1"), Some(Number { value: 15.0, whole: false }));
        for text in ["true", "null", "\"1\"", "1e999", ""] {
            assert_eq!(Number::from_json(text), None, "{text}");
        }
    }

    #[test]
    fn an_even_series_has_the_mean_of_the_middle_as_median() {
        let mut series = Series::default();
        for value in [4.0, 1.0, 3.0, 2.0] {
            series.push(Number { value, whole: true });
        }
        let spread = series.spread();
        assert_eq!((spread.sum, spread.mean, spread.median), (10.0, 2.5, 2.5));
        assert_eq!((spread.min, spread.max, spread.whole), (1.0, 4.0, true));
    }
}
