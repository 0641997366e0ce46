//! A mean as tables show it: with half of its interval, and the number of values where that matters.

use juror_compare::{Caution, MacroStatistics, MetricStatistics, thousands};
use juror_score::Unit;
use juror_score::statistics::Interval;

/// What a cell of a table shows.
#[derive(Clone, Copy)]
pub(crate) struct ShownMean {
    mean: f64,
    half: Option<f64>,
    is_of_few: bool,
}

/// The mark of an interval from few clusters.
pub(crate) const FEW: char = '*';

impl ShownMean {
    pub(crate) fn new(mean: f64, interval: Option<Interval>, is_of_few: bool) -> ShownMean {
        ShownMean { mean, half: interval.map(Interval::half_width), is_of_few }
    }

    pub(crate) fn of(own: &MetricStatistics) -> ShownMean {
        ShownMean::new(own.mean, own.interval, own.caution == Some(Caution::FewClusters))
    }

    pub(crate) fn of_macro(own: &MacroStatistics) -> ShownMean {
        ShownMean { mean: own.mean, half: own.interval.map(Interval::half_width), is_of_few: false }
    }

    /// The same without its interval, where there is little room.
    pub(crate) fn without_interval(self) -> ShownMean {
        ShownMean { half: None, ..self }
    }

    /// The text of the cell, such as `0.434 ±0.16*`.
    pub(crate) fn text(&self, unit: Unit) -> String {
        let (mean, half) = (self.mean, self.half.unwrap_or(0.0));
        let (mean, half, end) = match unit {
            Unit::Tokens | Unit::Count => (thousands(mean), thousands(half), ""),
            // A tenth of a second is too coarse for what takes less than one.
            Unit::Seconds if mean < 1.0 => (format!("{mean:.2}"), format!("{half:.2}"), " s"),
            Unit::Seconds => (format!("{mean:.1}"), format!("{half:.1}"), " s"),
            Unit::Dollars => (format!("{mean:.4}"), format!("{half:.4}"), ""),
            Unit::Fraction | Unit::Cosine => (format!("{mean:.3}"), format!("{half:.2}"), ""),
        };
        let mark = if self.is_of_few { FEW.to_string() } else { String::new() };
        match self.half {
            Some(_) => format!("{mean} ±{half}{mark}{end}"),
            None => format!("{mean}{end}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_is_shown_with_half_of_its_interval() {
        let shown =
            |half, is_of_few, unit| ShownMean { mean: 1234.5678, half, is_of_few }.text(unit);
        assert_eq!(shown(Some(0.125), true, Unit::Fraction), "1234.568 ±0.12*");
        assert_eq!(shown(None, true, Unit::Fraction), "1234.568");
        assert_eq!(shown(Some(10.2), false, Unit::Tokens), "1,235 ±10");
        assert_eq!(shown(Some(0.26), false, Unit::Seconds), "1234.6 ±0.3 s");
        assert_eq!(shown(Some(0.5), false, Unit::Dollars), "1234.5678 ±0.5000");
        let quick = ShownMean { mean: 0.052, half: Some(0.014), is_of_few: true };
        assert_eq!(quick.text(Unit::Seconds), "0.05 ±0.01* s");
    }
}
