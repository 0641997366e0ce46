//! Limits of gates: shares of all, and counts.

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;
use serde_json::Value;

/// A count, or a share of all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// A number.
    Count(usize),
    /// A share of all.
    Share(Share),
}

/// A share of all, from 0 to 1, written `0.95` or `95%`. Stored in percent: seven of a thousand are
/// exactly 0.7 %, but as floats slightly more than 0.7 / 100.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(try_from = "Value")]
pub struct Share {
    percent: f64,
}

/// A text that is not a share.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a share from 0 to 1, found `{0}`")]
pub struct NotAShare(String);

/// A text that is neither a count nor a percentage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a count or a percentage, such as 5 or 2%")]
pub struct NotALimit;

impl Limit {
    /// Whether `n` of `n_all` is within the limit.
    pub fn allows(self, n: usize, n_all: usize) -> bool {
        match self {
            Limit::Count(most) => n <= most,
            Limit::Share(most) => most.allows(n, n_all),
        }
    }
}

impl Share {
    /// The default share of questions that must have a verdict.
    pub const COVERAGE: Share = Share { percent: 95.0 };

    /// The share of answers that must not have failed, whatever scores failed answers have.
    pub(super) const MAJORITY: Share = Share { percent: 50.0 };

    /// The smaller of two shares.
    pub(super) fn least(self, other: Share) -> Share {
        if other.percent < self.percent { other } else { self }
    }

    /// The relative error allowed for rounding; far less than one item of any count.
    const HAIR: f64 = 1e-12;

    /// Whether `n` of `n_all` is at most this share.
    pub fn allows(self, n: usize, n_all: usize) -> bool {
        n as f64 * 100.0 <= self.percent * n_all as f64 * (1.0 + Share::HAIR)
    }

    /// The share in percent.
    pub fn percent(self) -> f64 {
        self.percent
    }

    /// Whether `n` of `n_all` is at least this share. None of none counts as 0.
    pub fn is_reached_by(self, n: usize, n_all: usize) -> bool {
        self.is_reached_by_sum(n as f64, n_all)
    }

    /// The same, of a sum of shares.
    pub(super) fn is_reached_by_sum(self, sum: f64, n_all: usize) -> bool {
        sum * 100.0 >= self.percent * n_all.max(1) as f64 * (1.0 - Share::HAIR)
    }
}

impl FromStr for Share {
    type Err = NotAShare;
    fn from_str(text: &str) -> Result<Share, NotAShare> {
        let (number, of_one) = match text.trim().strip_suffix('%') {
            Some(percent) => (percent.trim_end(), 1.0),
            None => (text.trim(), 100.0),
        };
        let percent = number.parse::<f64>().ok().map(|number| number * of_one);
        let percent = percent.filter(|percent| (0.0..=100.0).contains(percent));
        percent.map(|percent| Share { percent }).ok_or_else(|| NotAShare(text.to_owned()))
    }
}

impl TryFrom<Value> for Share {
    type Error = NotAShare;
    fn try_from(value: Value) -> Result<Share, NotAShare> {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        text.parse()
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // As a float, a share such as 0.29 is slightly below 29 %.
        write!(f, "{} %", (self.percent * 1e6).round() / 1e6)
    }
}

impl FromStr for Limit {
    type Err = NotALimit;
    fn from_str(text: &str) -> Result<Limit, NotALimit> {
        match text.trim().strip_suffix('%') {
            None => text.trim().parse().map(Limit::Count).map_err(|_| NotALimit),
            Some(_) => text.parse().map(Limit::Share).map_err(|_| NotALimit),
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Limit::Count(count) => write!(f, "{count}"),
            Limit::Share(share) => write!(f, "{share}"),
        }
    }
}

/// Formats a share for people, rounded, but not so far that it would tell a lie: 94.99 % must not be
/// shown as 95 %.
pub(super) fn percent(share: f64, is_lie: impl Fn(f64) -> bool) -> String {
    let rounded = |tens: f64| (share * 100.0 * tens).round() / tens;
    let tens = [10.0, 100.0, 1e3, 1e4, 1e5, 1e6].map(rounded);
    let shown = tens.into_iter().find(|percent| !is_lie(*percent)).unwrap_or(tens[5]);
    format!("{shown} %")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_a_count_or_a_percentage() {
        assert_eq!("5".parse(), Ok(Limit::Count(5)));
        assert_eq!("2%".parse(), Ok(Limit::Share(Share { percent: 2.0 })));
        assert_eq!(" 2.5 % ".parse(), Ok(Limit::Share(Share { percent: 2.5 })));
        for text in ["", "%", "-1", "-1%", "101%", "0.5", "NaN%", "many"] {
            assert_eq!(text.parse::<Limit>(), Err(NotALimit), "{text}");
        }
        let most = Limit::Share(Share { percent: 2.0 });
        assert!(most.allows(2, 100) && !most.allows(3, 100) && most.allows(0, 0));
        assert!(Limit::Count(2).allows(2, 2) && !Limit::Count(2).allows(3, 1000));
    }

    #[test]
    fn what_is_exactly_at_a_share_is_within_it() {
        for tenths in 0..=1000_usize {
            let (whole, tenth) = (tenths / 10, tenths % 10);
            let (percent, share) = (format!("{whole}.{tenth}%"), format!("{tenths}e-3"));
            for text in [percent, share] {
                let share: Share = text.parse().expect("a share");
                for times in [1, 7, 1_000_003] {
                    let (n, n_all) = (tenths * times, 1000 * times);
                    assert!(share.allows(n, n_all) && share.is_reached_by(n, n_all), "{text}");
                    assert!(!share.allows(n + 1, n_all), "{n} + 1 of {n_all} by {text}");
                    assert!(n == 0 || !share.is_reached_by(n - 1, n_all), "{text}");
                }
            }
        }
        for (text, shown) in [("0.29", "29 %"), ("0.75%", "0.75 %"), ("0.7%", "0.7 %")] {
            assert_eq!(text.parse::<Share>().expect("a share").to_string(), shown);
        }
        assert!(!Share::COVERAGE.is_reached_by(0, 0));
    }

    #[test]
    fn percentages_are_rounded_unless_they_would_pass_then() {
        for (share, text) in [
            (0.9499, "94.99 %"),
            (0.9494, "94.9 %"),
            (3.0 / 19.0, "15.8 %"),
            (1.0 / 300.0, "0.3 %"),
            (0.07, "7 %"),
            (0.0, "0 %"),
        ] {
            assert_eq!(percent(share, |shown| shown >= 95.0), text);
        }
        assert_eq!(percent(0.0204, |shown| shown <= 2.0), "2.04 %");
        assert_eq!(percent(1.0, |_| false), "100 %");
    }
}
