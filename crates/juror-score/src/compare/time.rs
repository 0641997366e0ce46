//! Times in the arguments of steps: absolute in ISO 8601, or relative such as `2h-ago` and `now`.

use jiff::civil::{Date, ISOWeekDate, Weekday};
use juror_json as json;
use serde_json::value::RawValue;

use juror_document::same_json;

const MICROS: i64 = 1_000_000;

/// How far an absolute time may be from the expected relative one.
const TOLERANCE: i64 = 60 * MICROS;

/// A moment, in microseconds since 1970 in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Instant(i64);

/// Whether two times mean the same. Relative times refer to when the step ran. An expected relative
/// time allows an absolute one within a minute of it; an expected absolute time allows no relative
/// one.
pub(super) fn same_time(
    expected: Option<&RawValue>,
    actual: Option<&RawValue>,
    ran_at: Option<Instant>,
) -> bool {
    let (expected, actual) = match (expected, actual) {
        (None, None) => return true,
        (Some(expected), Some(actual)) => (TimeArg::of(expected), TimeArg::of(actual)),
        _ => return false,
    };
    match (expected, actual) {
        (TimeArg::Relative(a), TimeArg::Relative(b)) => a == b,
        (TimeArg::Absolute(a), TimeArg::Absolute(b)) => a == b,
        (TimeArg::Relative(offset), TimeArg::Absolute(actual)) => ran_at.is_some_and(|ran_at| {
            let expected = i128::from(ran_at.0) + i128::from(offset);
            (expected - i128::from(actual.0)).abs() <= i128::from(TOLERANCE)
        }),
        (TimeArg::Other(a), TimeArg::Other(b)) => same_json(a.get(), b.get()),
        _ => false,
    }
}

enum TimeArg<'v> {
    /// Microseconds from when the step ran.
    Relative(i64),
    Absolute(Instant),
    /// Not a known form of time; compares by its value.
    Other(&'v RawValue),
}

impl<'v> TimeArg<'v> {
    fn of(value: &'v RawValue) -> TimeArg<'v> {
        let Some(text) = json::text_of(value) else { return TimeArg::Other(value) };
        if let Some(offset) = relative_offset(&text) {
            return TimeArg::Relative(offset);
        }
        Instant::parse(&text).map_or(TimeArg::Other(value), TimeArg::Absolute)
    }
}

/// Reads a relative time such as `90m-ago`, in microseconds.
fn relative_offset(text: &str) -> Option<i64> {
    if text == "now" {
        return Some(0);
    }
    let (amount, direction) = text.split_once('-')?;
    let sign = match direction {
        "ago" => -1,
        "ahead" => 1,
        _ => return None,
    };
    let unit = amount.chars().next_back()?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3_600,
        'd' => 86_400,
        'w' => 604_800,
        _ => return None,
    };
    let digits = &amount[..amount.len() - 1];
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    digits.parse::<i64>().ok()?.checked_mul(sign * seconds)?.checked_mul(MICROS)
}

impl Instant {
    /// Seconds since 1970.
    pub(crate) fn seconds(self) -> f64 {
        self.0 as f64 / MICROS as f64
    }

    /// Reads ISO 8601. A time without a zone is in UTC.
    pub(crate) fn parse(text: &str) -> Option<Instant> {
        let text = text.trim();
        if !text.is_ascii() {
            return None;
        }
        let (date, rest) = parse_date(text)?;
        let days = i64::from((date - jiff::civil::date(1970, 1, 1)).get_days());
        let midnight = days * 86_400 * MICROS;
        // Any single character may separate date and time.
        let Some(time) = rest.get(1..) else { return rest.is_empty().then_some(Instant(midnight)) };
        let (time, offset_minutes) = split_zone(time)?;
        Some(Instant(midnight + parse_time(time)? - offset_minutes * 60 * MICROS))
    }
}

/// Reads a date and returns it with the rest of the text: `2025`, `2025-12`, `2025-12-01`,
/// `20251201`, `2025-W49-1`, `2025-335`, and the last two without hyphens.
fn parse_date(text: &str) -> Option<(Date, &str)> {
    let year: i16 = number(text.get(..4)?)?.try_into().ok()?;
    let rest = &text[4..];
    let (hyphen, rest_of_date) = match rest.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, rest),
    };
    if let Some(week) = rest_of_date.strip_prefix('W') {
        return parse_week_date(year, week, hyphen);
    }
    let n_digits = rest_of_date.bytes().take_while(u8::is_ascii_digit).count();
    let part = |from: usize, to: usize| number(rest_of_date.get(from..to)?)?.try_into().ok();
    match (hyphen, n_digits) {
        (false, 0) => Some((Date::new(year, 1, 1).ok()?, rest)),
        (_, 3) => {
            let day: i64 = number(&rest_of_date[..3])?;
            let first = Date::new(year, 1, 1).ok()?;
            let date = first.checked_add(jiff::Span::new().try_days(day - 1).ok()?).ok()?;
            (day > 0 && date.year() == year).then_some((date, &rest_of_date[3..]))
        }
        (true, 2) => {
            let month = part(0, 2)?;
            match rest_of_date[2..].strip_prefix('-') {
                Some(_) => Some((Date::new(year, month, part(3, 5)?).ok()?, &rest_of_date[5..])),
                None => Some((Date::new(year, month, 1).ok()?, &rest_of_date[2..])),
            }
        }
        (false, 4) => Some((Date::new(year, part(0, 2)?, part(2, 4)?).ok()?, &rest_of_date[4..])),
        _ => None,
    }
}

fn parse_week_date(year: i16, text: &str, hyphen: bool) -> Option<(Date, &str)> {
    let week: i8 = number(text.get(..2)?)?.try_into().ok()?;
    let rest = &text[2..];
    let day_text = if hyphen { rest.strip_prefix('-') } else { Some(rest) };
    let day = day_text.and_then(|text| number(text.get(..1)?));
    let weekday = Weekday::from_monday_one_offset(day.unwrap_or(1).try_into().ok()?).ok()?;
    let date = ISOWeekDate::new(year, week, weekday).ok()?.date();
    let rest = match (day, day_text) {
        (Some(_), Some(text)) => &text[1..],
        _ => rest,
    };
    Some((date, rest))
}

/// Splits off the zone and returns the time of day and the minutes its zone is ahead of UTC.
fn split_zone(text: &str) -> Option<(&str, i64)> {
    if let Some(time) = text.strip_suffix(['Z', 'z']) {
        return Some((time.trim_end(), 0));
    }
    let Some(at) = text.rfind(['+', '-']) else { return Some((text, 0)) };
    let sign = if text.as_bytes()[at] == b'-' { -1 } else { 1 };
    let zone = text[at + 1..].replace(':', "");
    let (hours, minutes) = match zone.len() {
        1 | 2 => (number(&zone)?, 0),
        4 => (number(&zone[..2])?, number(&zone[2..])?),
        _ => return None,
    };
    (hours < 24 && minutes < 60).then_some((text[..at].trim_end(), sign * (hours * 60 + minutes)))
}

/// Reads `15`, `15:06`, `15:06:14`, `15:06:14.5`, or the same without colons, in microseconds.
fn parse_time(text: &str) -> Option<i64> {
    let (whole, fraction) = match text.split_once(['.', ',']) {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (text, None),
    };
    let digits = match whole.len() {
        5 | 8 if whole.as_bytes()[2] == b':' => whole.replace(':', ""),
        _ => whole.to_owned(),
    };
    let part = |at: usize| digits.get(at..at + 2).map_or(Some(0), number);
    if !matches!(digits.len(), 2 | 4 | 6) || (fraction.is_some() && digits.len() != 6) {
        return None;
    }
    let (hours, minutes, seconds) = (part(0)?, part(2)?, part(4)?);
    let micros = fraction.map_or(Some(0), |digits| number(&format!("{digits:0<6}")[..6]))?;
    let midnight_after = hours == 24 && minutes == 0 && seconds == 0 && micros == 0;
    let in_range = (hours < 24 || midnight_after) && minutes < 60 && seconds < 60;
    in_range.then_some(((hours * 60 + minutes) * 60 + seconds) * MICROS + micros)
}

fn number(digits: &str) -> Option<i64> {
    let all_digits = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    all_digits.then(|| digits.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_moment_is_written_in_many_ways() {
        let moment = Instant::parse("2025-12-15T15:06:14Z");
        assert!(moment.is_some());
        for text in [
            "2025-12-15T15:06:14",
            "2025-12-15 15:06:14.000Z",
            "2025-12-15T16:06:14+01:00",
            "2025-12-15T100614-0500",
            "20251215T150614Z",
            "2025-W51-1T15:06:14Z",
            "2025W511T15:06:14,0Z",
            "2025-349T15:06:14+00",
        ] {
            assert_eq!(Instant::parse(text), moment, "{text}");
        }
        assert_eq!(Instant::parse("2025"), Instant::parse("2025-01-01T00:00"));
        assert_eq!(Instant::parse("2025-12"), Instant::parse("2025-12-01"));
        assert_eq!(Instant::parse("2025-12-01T24:00"), Instant::parse("2025-12-02"));
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in ["", "now", "2025-13-01", "2025-02-30", "2025-12-15T25:00", "12/15/2025", "été"]
        {
            assert_eq!(Instant::parse(text), None, "{text}");
        }
    }

    fn same(expected: &str, actual: &str) -> bool {
        let ran_at = Instant::parse("2025-12-15T15:06:14Z");
        let written = |text: &str| serde_json::value::to_raw_value(text).expect("a text");
        same_time(Some(&written(expected)), Some(&written(actual)), ran_at)
    }

    #[test]
    fn relative_times_are_relative_to_the_run() {
        assert!(same("1d-ago", "24h-ago"));
        assert!(same("90m-ago", "2025-12-15T13:36:14Z"));
        assert!(same("now", "2025-12-15T15:07:14Z"));
        assert!(!same("now", "2025-12-15T15:07:15Z"));
        assert!(!same("2025-12-15T15:06:14Z", "now"));
        assert!(!same("1h-ahead", "1h-ago"));
    }

    #[test]
    fn a_time_we_do_not_know_compares_by_its_text() {
        assert!(same("yesterday", "yesterday"));
        assert!(!same("yesterday", "now"));
    }
}
