//! Non-inferiority: whether a run is worse than another by at most a margin.

use std::fmt;

use serde::Serialize;

use super::Interval;

/// What a run that is worse than allowed means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum GateLevel {
    /// It is worth a warning.
    Warn,
    /// It stops the change.
    Block,
}

/// What an interval says about a margin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MarginVerdict {
    /// The whole interval is inside the margin.
    Pass,
    /// The whole interval is outside the margin, which is worth a warning.
    Warn,
    /// The whole interval is outside the margin, which stops the change.
    Block,
    /// The interval has a part on either side: more questions would tell.
    Inconclusive,
}

impl fmt::Display for MarginVerdict {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            MarginVerdict::Pass => "pass",
            MarginVerdict::Warn => "warn",
            MarginVerdict::Block => "block",
            MarginVerdict::Inconclusive => "inconclusive",
        })
    }
}

/// Judges the interval of a difference, second run less first, of a metric where higher is better:
/// the second run may be lower by `max_drop`.
///
/// A drop of exactly `max_drop` is allowed, so equal runs pass with a margin of 0. Whatever is not a
/// number, or a margin below 0, is inconclusive, so that it never passes by mistake. If lower is
/// better, negate the interval first ([`Interval::negated`]).
///
/// ```
/// use juror_statistics::{GateLevel, Interval, MarginVerdict, margin_verdict};
///
/// let interval = Interval { low: -0.032, high: -0.003 };
/// assert_eq!(margin_verdict(interval, 0.02, GateLevel::Block), MarginVerdict::Inconclusive);
/// assert_eq!(margin_verdict(interval, 0.04, GateLevel::Block), MarginVerdict::Pass);
/// assert_eq!(margin_verdict(interval, 0.002, GateLevel::Warn), MarginVerdict::Warn);
/// ```
pub fn margin_verdict(interval: Interval, max_drop: f64, level: GateLevel) -> MarginVerdict {
    let Interval { low, high } = interval;
    let is_sound = low <= high && max_drop >= 0.0;
    if is_sound && low >= -max_drop {
        MarginVerdict::Pass
    } else if is_sound && high < -max_drop {
        match level {
            GateLevel::Warn => MarginVerdict::Warn,
            GateLevel::Block => MarginVerdict::Block,
        }
    } else {
        MarginVerdict::Inconclusive
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(low: f64, high: f64, max_drop: f64, wanted: &str) {
        let got = margin_verdict(Interval { low, high }, max_drop, GateLevel::Block);
        assert_eq!(got.to_string(), wanted, "{low} to {high}, {max_drop}");
    }

    #[test]
    fn the_whole_interval_decides() {
        check(-0.01, 0.02, 0.02, "pass");
        check(-0.03, 0.02, 0.02, "inconclusive");
        check(-0.03, -0.025, 0.02, "block");
        check(0.01, 0.02, 0.0, "pass");
    }

    #[test]
    fn the_margin_itself_is_allowed() {
        check(0.0, 0.0, 0.0, "pass");
        check(-0.02, 0.0, 0.02, "pass");
        check(-0.03, -0.02, 0.02, "inconclusive");
    }

    #[test]
    fn what_makes_no_sense_never_passes() {
        check(f64::NAN, 0.1, 0.02, "inconclusive");
        check(0.1, f64::NAN, 0.02, "inconclusive");
        check(0.2, 0.1, 0.02, "inconclusive");
        check(0.1, 0.2, -0.02, "inconclusive");
        check(0.1, 0.2, f64::NAN, "inconclusive");
    }

    /// A mean difference of -0.01 with a standard error of 0.012, and a margin of 0.03.
    #[test]
    fn a_one_sided_interval_passes_where_the_two_sided_one_does_not() {
        check(-0.029_738, 0.009_738, 0.03, "pass");
        check(-0.033_520, 0.013_520, 0.03, "inconclusive");
    }

    #[test]
    fn the_level_names_the_verdict() {
        let worse = Interval { low: -0.2, high: -0.1 };
        assert_eq!(margin_verdict(worse, 0.0, GateLevel::Warn), MarginVerdict::Warn);
        assert_eq!(margin_verdict(worse.negated(), 0.0, GateLevel::Warn), MarginVerdict::Pass);
    }
}
