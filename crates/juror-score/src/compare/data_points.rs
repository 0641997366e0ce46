//! Steps that ask for data points, which compare by what was asked.

use serde_json::Value;

use super::View;
use super::time::{self, Instant};
use super::time_series::{same_names, same_optional};

/// The same series, granularity, aggregates, limit, start and end.
pub(super) fn matches(expected: &View<'_>, actual: &View<'_>) -> bool {
    let same = |name| same_optional(expected.arg(name).as_ref(), actual.arg(name).as_ref());
    let names = |name| same_names(expected.arg(name).as_ref(), actual.arg(name).as_ref());
    let granularity = |view: &View| view.arg("granularity").map(normalize_granularity);
    let asked_at = asked_at(actual);
    let times =
        |name| time::same_time(expected.arg(name).as_ref(), actual.arg(name).as_ref(), asked_at);
    names("external_id")
        && granularity(expected) == granularity(actual)
        && names("aggregates")
        && times("start")
        && times("end")
        && same("limit")
}

/// When the actual step ran, which relative times are relative to.
fn asked_at(actual: &View<'_>) -> Option<Instant> {
    let written = actual.fields.get_set("execution_timestamp")?;
    Instant::parse(&crate::json::text_of(written)?)
}

/// `15m`, `15M` and `15minutes` ask for the same.
fn normalize_granularity(value: Value) -> Value {
    let Some(text) = value.as_str() else { return value };
    let n_digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (digits, rest) = text.split_at(n_digits);
    let n_letters = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
    if n_digits == 0 || n_letters == 0 {
        return value;
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
    Value::String(format!("{digits}{unit}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_have_long_and_short_names() {
        let same = |a: &str, b: &str| {
            normalize_granularity(Value::from(a)) == normalize_granularity(Value::from(b))
        };
        assert!(same("15m", "15minutes") && same("15M", "15m") && same("1mo", "1month"));
        assert!(!same("15m", "15min") && !same("1m", "1mo"));
    }
}
