//! Values of metrics, and how much they changed, as people read them.

use juror_compare::{MetricComparison, thousands};
use juror_score::statistics::Interval;
use juror_score::{Unit, metric};

/// Below this, amounts such as tokens have a decimal.
const FEW: f64 = 100.0;

/// A number that cannot be had.
pub(crate) const NONE: &str = "–";

/// How the values of a metric are written.
#[derive(Clone, Copy)]
pub(crate) struct Amounts {
    /// `None` for a metric of the user's own.
    unit: Option<Unit>,
    /// What changes are a percentage of; `None` if they stand for themselves.
    base: Option<f64>,
}

impl Amounts {
    /// Those of a metric of one run.
    pub(crate) fn of_metric(name: &str) -> Amounts {
        Amounts { unit: metric(name).map(|info| info.unit), base: None }
    }

    /// Those of a metric that is compared.
    pub(crate) fn of(name: &str, own: &MetricComparison) -> Amounts {
        let base = (own.is_relative && own.a != 0.0).then_some(own.a.abs());
        Amounts { base, ..Amounts::of_metric(name) }
    }

    /// A value or a mean, such as `0.682` or `13,208`.
    pub(crate) fn value(self, value: f64) -> String {
        format!("{}{}", self.number(value), self.ending())
    }

    /// A change, such as `−0.017` or `+16.4 %`.
    pub(crate) fn change(self, change: f64) -> String {
        format!("{}{}", self.signed(change), self.ending_of_changes())
    }

    /// The interval of a change, such as `+13.8 … +19.0 %`.
    pub(crate) fn interval(self, interval: Interval) -> String {
        // A difference of fractions is at most 1: more is not worth reading.
        let Interval { low, high } = match self.unit {
            Some(Unit::Fraction) => interval.clipped(-1.0, 1.0),
            _ => interval,
        };
        format!("{} … {}{}", self.signed(low), self.signed(high), self.ending_of_changes())
    }

    /// The interval of a mean, such as `0.604 … 0.744`, within the limits of the metric.
    pub(crate) fn range(self, interval: Interval) -> String {
        let Interval { low, high } = self.within(interval);
        format!("{} … {}{}", self.number(low), self.number(high), self.ending())
    }

    /// The part of an interval that is within the limits of the metric.
    pub(crate) fn within(self, interval: Interval) -> Interval {
        match self.unit {
            Some(Unit::Fraction) => interval.clipped(0.0, 1.0),
            Some(Unit::Cosine) => interval.clipped(-1.0, 1.0),
            Some(_) => interval.clipped(0.0, f64::MAX),
            None => interval,
        }
    }

    /// The size of a change, such as `3.7 %`.
    pub(crate) fn size(self, size: f64) -> String {
        format!("{}{}", self.unsigned_change(size.abs()), self.ending_of_changes())
    }

    fn number(self, value: f64) -> String {
        let text = self.unsigned(value.abs());
        if value < 0.0 { negative(&text) } else { text }
    }

    fn signed(self, change: f64) -> String {
        let text = self.unsigned_change(change.abs());
        if change < 0.0 {
            negative(&text)
        } else if is_zero(&text) {
            text
        } else {
            format!("+{text}")
        }
    }

    fn unsigned_change(self, size: f64) -> String {
        match self.base {
            Some(base) => format!("{:.1}", size / base * 100.0),
            None => self.unsigned(size),
        }
    }

    fn unsigned(self, value: f64) -> String {
        match self.unit {
            Some(Unit::Tokens | Unit::Count) if value >= FEW => thousands(value),
            Some(Unit::Seconds) if value < 1.0 => format!("{value:.3}"),
            Some(Unit::Tokens | Unit::Count | Unit::Seconds) => format!("{value:.1}"),
            Some(Unit::Dollars) => format!("{value:.4}"),
            Some(Unit::Fraction | Unit::Cosine) | None => format!("{value:.3}"),
        }
    }

    fn ending(self) -> &'static str {
        if self.unit == Some(Unit::Seconds) { " s" } else { "" }
    }

    fn ending_of_changes(self) -> &'static str {
        if self.base.is_some() { " %" } else { self.ending() }
    }
}

/// Writes a value of a metric, such as `0.682`, `13,208` or `6.6 s`.
pub fn metric_value(metric: &str, value: f64) -> String {
    Amounts::of_metric(metric).value(value)
}

/// Writes the interval of a mean, such as `0.604 … 0.744`, within the limits of the metric.
pub fn metric_range(metric: &str, [low, high]: [f64; 2]) -> String {
    Amounts::of_metric(metric).range(Interval { low, high })
}

/// The score of a single question, in short.
pub(crate) fn score(metric: &str, score: Option<f64>) -> String {
    let amounts = Amounts::of_metric(metric);
    match (score, amounts.unit) {
        (None, _) => "error".into(),
        (Some(score), Some(Unit::Fraction)) => format!("{score:.2}"),
        (Some(score), _) => amounts.value(score),
    }
}

/// A probability of the table: of no change (p), or of being better.
pub(crate) fn p_value(p: f64) -> String {
    if p < 0.001 { "<.001".into() } else { probability(p) }
}

pub(crate) fn probability(probability: f64) -> String {
    format!("{probability:.3}")
}

/// A share in percent, which is 100 % only if it is all.
pub(crate) fn percent(share: f64) -> String {
    let percent = (share * 1000.0).round() / 10.0;
    let percent = if share < 1.0 { percent.min(99.9) } else { percent };
    format!("{percent} %")
}

/// The confidence of intervals in percent: `95 %`.
pub(crate) fn confidence(confidence: f64) -> String {
    format!("{} %", (confidence * 1e8).round() / 1e6)
}

/// A number with a minus sign, unless it was rounded to zero.
pub(crate) fn negative(unsigned: &str) -> String {
    if is_zero(unsigned) { unsigned.to_owned() } else { format!("−{unsigned}") }
}

fn is_zero(unsigned: &str) -> bool {
    !unsigned.contains(|c: char| c.is_ascii_digit() && c != '0')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_by_the_unit_of_their_metric() {
        for (name, value, text) in [
            ("steps_score", 0.68151, "0.682"),
            ("answer_relevance", -0.25, "−0.250"),
            ("total_tokens", 13_207.6, "13,208"),
            ("other_calls", 2.34, "2.3"),
            ("elapsed_sec", 6.64, "6.6 s"),
            ("elapsed_sec", 0.0031, "0.003 s"),
            ("agent_usd", 0.01234, "0.0123"),
            ("taste", 3.0, "3.000"),
        ] {
            assert_eq!(Amounts::of_metric(name).value(value), text, "{name}");
        }
    }

    #[test]
    fn changes_have_a_sign_unless_they_round_to_nothing() {
        let amounts = Amounts::of_metric("steps_score");
        for (change, text) in
            [(0.0141, "+0.014"), (-0.017, "−0.017"), (-0.0001, "0.000"), (0.0, "0.000")]
        {
            assert_eq!(amounts.change(change), text);
        }
        let wide = Interval { low: -1.5, high: 0.25 };
        assert_eq!(amounts.interval(wide), "−1.000 … +0.250");
        assert_eq!(amounts.range(wide), "0.000 … 0.250");
    }

    #[test]
    fn changes_of_amounts_are_percentages() {
        let amounts = Amounts { unit: Some(Unit::Tokens), base: Some(13_208.0) };
        assert_eq!(amounts.change(2166.0), "+16.4 %");
        assert_eq!(amounts.interval(Interval { low: 1823.0, high: 2510.0 }), "+13.8 … +19.0 %");
        assert_eq!(amounts.size(489.0), "3.7 %");
    }

    #[test]
    fn less_than_all_is_never_shown_as_all() {
        assert_eq!((percent(0.9999), percent(1.0)), ("99.9 %".into(), "100 %".into()));
        assert_eq!(percent(17.0 / 19.0), "89.5 %");
        assert_eq!((confidence(0.95), confidence(0.999)), ("95 %".into(), "99.9 %".into()));
        assert_eq!((p_value(0.00099), p_value(0.0011)), ("<.001".into(), "0.001".into()));
    }
}
