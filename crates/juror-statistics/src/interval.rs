//! Confidence intervals.

use serde::Serialize;

/// The confidence of intervals, unless another is asked for.
pub const CONFIDENCE: f64 = 0.95;

/// An interval, written as `[low, high]`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(into = "[f64; 2]")]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl From<Interval> for [f64; 2] {
    fn from(Interval { low, high }: Interval) -> [f64; 2] {
        [low, high]
    }
}

impl Interval {
    /// Returns the interval around a number, or `None` if an end is not finite.
    pub(crate) fn around(centre: f64, half_width: f64) -> Option<Interval> {
        let (low, high) = (centre - half_width, centre + half_width);
        (low.is_finite() && high.is_finite()).then_some(Interval { low, high })
    }

    /// Returns half of the width: what is written after `±`.
    pub fn half_width(self) -> f64 {
        self.high / 2.0 - self.low / 2.0
    }

    /// Returns the part within the limits of a metric, to be shown. The interval of a metric from 0 to
    /// 1 may be wider; compute with that one.
    #[must_use]
    pub fn clipped(self, least: f64, most: f64) -> Interval {
        Interval { low: self.low.max(least).min(most), high: self.high.min(most).max(least) }
    }

    /// Returns the interval of the negative: of a metric where lower is better.
    #[must_use]
    pub fn negated(self) -> Interval {
        Interval { low: -self.high, high: -self.low }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_written_as_a_pair() {
        let written = serde_json::to_string(&Interval { low: -0.25, high: 1.5 });
        assert_eq!(written.expect("JSON"), "[-0.25,1.5]");
    }

    #[test]
    fn parts_of_an_interval() {
        let wide = Interval { low: -0.5, high: 1.5 };
        assert_eq!(wide.half_width(), 1.0);
        assert_eq!(wide.clipped(0.0, 1.0), Interval { low: 0.0, high: 1.0 });
        assert_eq!(wide.clipped(2.0, 3.0), Interval { low: 2.0, high: 2.0 });
        assert_eq!(wide.negated(), Interval { low: -1.5, high: 0.5 });
        assert_eq!(Interval::around(f64::MAX, f64::MAX), None);
    }
}
