//! A mean as tables show it: with half of its interval, and the number of values where that matters.

use juror_compare::{Caution, MacroStatistics, MetricStatistics, share_with_interval, thousands};
use juror_score::statistics::Interval;
use juror_score::{Unit, metric};

/// What a cell of a table shows.
#[derive(Clone, Copy)]
pub(crate) struct ShownMean {
    mean: f64,
    interval: Option<Interval>,
    is_of_few: bool,
}

/// The mark of an interval from few clusters.
pub(crate) const FEW: char = '*';

impl ShownMean {
    pub(crate) fn new(mean: f64, interval: Option<Interval>, is_of_few: bool) -> ShownMean {
        ShownMean { mean, interval, is_of_few: is_of_few && interval.is_some() }
    }

    pub(crate) fn of(own: &MetricStatistics) -> ShownMean {
        ShownMean::new(own.mean, own.interval, own.caution == Some(Caution::FewClusters))
    }

    pub(crate) fn of_macro(own: &MacroStatistics) -> ShownMean {
        ShownMean::new(own.mean, own.interval, own.caution == Some(Caution::FewClusters))
    }

    /// The same without its interval, where there is little room.
    pub(crate) fn without_interval(self) -> ShownMean {
        ShownMean { interval: None, is_of_few: false, ..self }
    }

    /// The text of the cell of a metric. One of the user's own may have any range.
    pub(crate) fn text_of(&self, name: &str) -> String {
        match metric(name) {
            Some(info) => self.text(info.unit),
            None => self.text_of_any_range(),
        }
    }

    /// An interval that is not around the mean is shown by its ends: half of it would say that other
    /// values are possible than it does.
    fn text_of_any_range(&self) -> String {
        let mean = format!("{:.3}", self.mean);
        match self.interval {
            Some(own) if !is_around(own, self.mean) => {
                format!("{mean} ({:.2}…{:.2}){}", own.low, own.high, self.mark())
            }
            _ => self.marked(&mean, |half| format!("{half:.2}"), ""),
        }
    }

    /// The text of the cell, such as `0.434 ±0.16*`.
    pub(crate) fn text(&self, unit: Unit) -> String {
        let mean = self.mean;
        match unit {
            Unit::Tokens | Unit::Count => self.amount(),
            // A tenth of a second is too coarse for what takes less than one.
            Unit::Seconds if mean < 1.0 => {
                self.marked(&format!("{mean:.3}"), |half| format!("{half:.3}"), " s")
            }
            Unit::Seconds => self.marked(&format!("{mean:.1}"), |half| format!("{half:.1}"), " s"),
            Unit::Dollars => self.marked(&format!("{mean:.4}"), |half| format!("{half:.4}"), ""),
            Unit::Cosine => self.marked(&format!("{mean:.3}"), |half| format!("{half:.2}"), ""),
            Unit::Fraction => {
                format!("{}{}", share_with_interval(mean, self.interval), self.mark())
            }
        }
    }

    /// An amount with two digits of its uncertainty where whole numbers would hide it.
    fn amount(&self) -> String {
        let n_decimals = match self.interval.map(Interval::half_width) {
            Some(half) if self.mean < MANY || half < 0.5 => decimals(half),
            None if self.mean < MANY && self.mean.fract() != 0.0 => decimals(self.mean),
            _ => 0,
        };
        let shown = |value: f64| match n_decimals {
            0 => thousands(value),
            _ => format!("{value:.n_decimals$}"),
        };
        self.marked(&shown(self.mean), shown, "")
    }

    fn marked(&self, mean: &str, half: impl Fn(f64) -> String, ending: &str) -> String {
        match self.interval.map(Interval::half_width) {
            Some(own) => format!("{mean} ±{}{}{ending}", half(own), self.mark()),
            None => format!("{mean}{ending}"),
        }
    }

    fn mark(&self) -> String {
        if self.is_of_few { FEW.to_string() } else { String::new() }
    }
}

/// From here on, amounts need no decimals.
const MANY: f64 = 100.0;

/// How many decimals show two digits of an amount.
fn decimals(amount: f64) -> usize {
    match amount {
        10.0.. => 0,
        1.0.. => 1,
        0.1.. => 2,
        _ => 3,
    }
}

/// Whether a value is in the middle of an interval, as far as tables show.
fn is_around(interval: Interval, value: f64) -> bool {
    let distance = f64::midpoint(interval.low, interval.high) - value;
    distance.abs() < 0.005 * (1.0 + value.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(mean: f64, half: Option<f64>, is_of_few: bool) -> ShownMean {
        let interval = half.map(|half| Interval { low: mean - half, high: mean + half });
        ShownMean::new(mean, interval, is_of_few)
    }

    #[test]
    fn a_mean_is_shown_with_half_of_its_interval() {
        let text = |half, unit| shown(1234.5678, half, false).text(unit);
        assert_eq!(text(Some(10.2), Unit::Tokens), "1,235 ±10");
        assert_eq!(text(Some(0.26), Unit::Seconds), "1234.6 ±0.3 s");
        assert_eq!(text(Some(0.5), Unit::Dollars), "1234.5678 ±0.5000");
        assert_eq!(shown(0.5, Some(0.125), true).text(Unit::Fraction), "0.500 ±0.12*");
        assert_eq!(shown(0.052, Some(0.014), true).text(Unit::Seconds), "0.052 ±0.014* s");
        assert_eq!(shown(0.5, None, true).text(Unit::Fraction), "0.500");
    }

    #[test]
    fn an_amount_has_the_digits_that_its_uncertainty_needs() {
        let text = |mean, half| shown(mean, half, false).text(Unit::Count);
        assert_eq!(text(0.25, Some(0.7956)), "0.25 ±0.80");
        assert_eq!(text(2.345, Some(1.24)), "2.3 ±1.2");
        assert_eq!(text(40.2, Some(12.4)), "40 ±12");
        assert_eq!(text(1234.5678, Some(3.2)), "1,235 ±3");
        assert_eq!(text(1234.5678, Some(0.26)), "1234.57 ±0.26");
        for (mean, alone) in [(0.25, "0.25"), (0.03, "0.030"), (3.0, "3"), (2.5, "2.5"), (0.0, "0")]
        {
            assert_eq!(text(mean, None), alone);
        }
    }

    #[test]
    fn only_metrics_with_a_known_range_are_shown_within_it() {
        let wide = shown(0.5, Some(1.24), true);
        assert_eq!(wide.text_of("steps_score"), "0.500 (0.00…1.00)*");
        assert_eq!(wide.text_of("taste"), "0.500 ±1.24*");
        assert_eq!(shown(4.0, Some(0.5), false).text_of("taste"), "4.000 ±0.50");
        let one_sided = ShownMean::new(1.0, Some(Interval { low: 0.72, high: 1.0 }), false);
        assert_eq!(one_sided.text_of("taste"), "1.000 (0.72…1.00)");
    }
}
