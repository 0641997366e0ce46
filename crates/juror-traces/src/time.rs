//! Times of traces: nanoseconds, seconds, ISO texts.

use jiff::Timestamp;
use serde_json::Value;

/// Returns a time in nanoseconds since 1970 as a text.
pub(crate) fn rfc3339(nanoseconds: u64) -> Option<String> {
    let time = Timestamp::from_nanosecond(i128::from(nanoseconds)).ok()?;
    Some(time.to_string())
}

/// Reads a time: an ISO text, or a number of seconds, milliseconds or nanoseconds since 1970.
pub(crate) fn nanoseconds(value: &Value) -> Option<u64> {
    match value {
        Value::String(text) => of_text(text),
        Value::Number(number) => of_number(number.as_f64()?),
        _ => None,
    }
}

fn of_text(text: &str) -> Option<u64> {
    let text = text.trim();
    if let Ok(number) = text.parse::<u64>() {
        return of_whole(number);
    }
    // Python prints a blank where ISO has a `T`, and leaves the zone out.
    let with_t = text.replacen(' ', "T", 1);
    let time: Option<Timestamp> = with_t.parse().ok();
    let time = time.or_else(|| format!("{with_t}Z").parse().ok())?;
    u64::try_from(time.as_nanosecond()).ok()
}

fn of_whole(number: u64) -> Option<u64> {
    match number {
        // Nanoseconds since 1973.
        100_000_000_000_000_000.. => Some(number),
        // Microseconds and milliseconds since 1973.
        100_000_000_000_000.. => number.checked_mul(1_000),
        100_000_000_000.. => number.checked_mul(1_000_000),
        _ => number.checked_mul(1_000_000_000),
    }
}

fn of_number(number: f64) -> Option<u64> {
    if !(0.0..1e19).contains(&number) {
        return None;
    }
    let scale = match number {
        1e17.. => 1.0,
        1e14.. => 1e3,
        1e11.. => 1e6,
        _ => 1e9,
    };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked above")]
    Some((number * scale) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn times_are_read_in_many_spellings() {
        let wanted = Some(1_785_578_401_000_000_000);
        for time in [
            json!("2026-08-01T10:00:01Z"),
            json!("2026-08-01 10:00:01+00:00"),
            json!("2026-08-01T10:00:01.000000"),
            json!("1785578401000000000"),
            json!(1_785_578_401),
            json!(1_785_578_401_000_u64),
            json!("1785578401000"),
        ] {
            assert_eq!(nanoseconds(&time), wanted, "{time}");
        }
        assert_eq!(nanoseconds(&json!("soon")), None);
        assert_eq!(rfc3339(1_785_578_401_000_000_000).as_deref(), Some("2026-08-01T10:00:01Z"));
    }
}
