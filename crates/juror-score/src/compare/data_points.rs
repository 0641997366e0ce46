//! Compares steps that retrieve data points, by their arguments.

use juror_json as json;
use serde_json::value::RawValue;

use super::View;
use super::time::{self, Instant};
use super::time_series::{same_names, same_optional};

/// Whether series, granularity, aggregates, limit, start and end are the same.
pub(super) fn matches(expected: &View<'_>, actual: &View<'_>) -> bool {
    let both = |name| (expected.arg(name), actual.arg(name));
    let names = |name| {
        let (expected, actual) = both(name);
        same_names(expected, actual)
    };
    let asked_at = asked_at(actual);
    let times = |name| {
        let (expected, actual) = both(name);
        time::same_time(expected, actual, asked_at)
    };
    let (granularity, actual_granularity) = both("granularity");
    let (limit, actual_limit) = both("limit");
    names("external_id")
        && same_granularity(granularity, actual_granularity)
        && names("aggregates")
        && times("start")
        && times("end")
        && same_optional(limit, actual_limit)
}

/// Returns when the actual step ran, to which relative times refer.
fn asked_at(actual: &View<'_>) -> Option<Instant> {
    let written = actual.fields.get_set("execution_timestamp")?;
    Instant::parse(&json::text_of(written)?)
}

fn same_granularity(a: Option<&RawValue>, b: Option<&RawValue>) -> bool {
    let normal = |value: Option<&RawValue>| {
        value.and_then(json::text_of).map(|text| normalize_granularity(&text))
    };
    match (normal(a), normal(b)) {
        (Some(a), Some(b)) => a == b,
        _ => same_optional(a, b),
    }
}

/// Normalizes a granularity: `15m`, `15M` and `15minutes` are the same.
fn normalize_granularity(text: &str) -> String {
    let n_digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (digits, rest) = text.split_at(n_digits);
    let n_letters = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
    if n_digits == 0 || n_letters == 0 {
        return text.to_owned();
    }
    let unit = rest[..n_letters].to_ascii_lowercase();
    let unit = match unit.as_str() {
        "s" | "second" => "seconds",
        "m" | "minute" => "minutes",
        "h" | "hour" => "hours",
        "d" | "day" => "days",
        "w" | "week" => "weeks",
        "mo" | "month" => "months",
        "q" | "quarter" => "quarters",
        "y" | "year" => "years",
        other => other,
    };
    format!("{digits}{unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_have_long_and_short_names() {
        let same = |a: &str, b: &str| normalize_granularity(a) == normalize_granularity(b);
        assert!(same("15m", "15minutes") && same("15M", "15m") && same("1mo", "1month"));
        assert!(!same("15m", "15min") && !same("1m", "1mo"));
    }
}
