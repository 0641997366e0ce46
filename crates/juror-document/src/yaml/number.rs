//! Numbers as `PyYAML`'s safe loader reads them, pattern by pattern.
//!
//! A number that is also valid JSON is kept verbatim.

use std::borrow::Cow;

use super::scalar::Scalar;

/// The most digits of a number that has to be computed; Python's own limit.
const MOST_DIGITS: usize = 4300;

/// Resolves a plain scalar, or returns `None` if it is not a number.
pub(super) fn resolve(text: &str) -> Option<Scalar<'_>> {
    whole_by_pattern(text).map(Scalar::Number).or_else(|| real_by_pattern(text))
}

/// Reads a scalar tagged as an integer.
pub(super) fn whole(text: &str) -> Option<Cow<'_, str>> {
    whole_by_pattern(text)
}

/// Reads a scalar tagged as a float, including forms that only Python's `float` accepts.
pub(super) fn real(text: &str) -> Option<Scalar<'_>> {
    if let Some(real) = real_by_pattern(text) {
        return Some(real);
    }
    let plain = text.replace('_', "");
    let is_written = plain.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    let value: f64 = plain.parse().ok().filter(|_| is_written)?;
    Some(from_f64(value))
}

fn from_f64(value: f64) -> Scalar<'static> {
    if value.is_finite() {
        Scalar::Number(Cow::Owned(serde_json::Value::from(value).to_string()))
    } else if value.is_nan() {
        Scalar::NotFinite("NaN")
    } else {
        Scalar::NotFinite(if value < 0.0 { "-Infinity" } else { "Infinity" })
    }
}

/// Splits off the sign; a plus is dropped.
fn signed(text: &str) -> (&'static str, &str) {
    match text.as_bytes().first() {
        Some(b'-') => ("-", &text[1..]),
        Some(b'+') => ("", &text[1..]),
        _ => ("", text),
    }
}

/// `[-+]?0b[0-1_]+`, `[-+]?0[0-7_]+`, `[-+]?(?:0|[1-9][0-9_]*)`, `[-+]?0x[0-9a-fA-F_]+` or
/// `[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+`.
fn whole_by_pattern(text: &str) -> Option<Cow<'_, str>> {
    let (sign, body) = signed(text);
    let digits = match body.as_bytes() {
        [b'0'] => return Some(Cow::Borrowed("0")),
        [b'0', b'b', digits @ ..] => computed(digits, 2)?,
        [b'0', b'x', digits @ ..] => computed(digits, 16)?,
        [b'0', ..] => computed(body.as_bytes(), 8)?,
        [b'1'..=b'9', ..] => {
            let (first, rest) = body.split_at(run_of_digits(body.as_bytes()));
            if !rest.is_empty() {
                sixtieths(first, rest)?
            } else if first.contains('_') {
                first.replace('_', "")
            } else if text.starts_with('+') {
                return Some(Cow::Borrowed(body));
            } else {
                return Some(Cow::Borrowed(text));
            }
        }
        _ => return None,
    };
    Some(if digits == "0" { Cow::Borrowed("0") } else { Cow::Owned(format!("{sign}{digits}")) })
}

/// Counts the leading digits and underscores.
fn run_of_digits(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'_').count()
}

/// Converts digits of another base to decimal, or returns `None` if there are other characters or
/// only underscores.
fn computed(digits: &[u8], base: u32) -> Option<String> {
    if digits.len() > MOST_DIGITS {
        return None;
    }
    let (mut number, mut any) = (Large::default(), false);
    for byte in digits.iter().filter(|byte| **byte != b'_') {
        number.times_plus(base, char::from(*byte).to_digit(base)?);
        any = true;
    }
    any.then(|| number.to_string())
}

/// Converts a sexagesimal number: each part after a colon is a sixtieth of the one before.
fn sixtieths(first: &str, rest: &str) -> Option<String> {
    if first.len() + rest.len() > MOST_DIGITS {
        return None;
    }
    let mut number = Large::default();
    for digit in first.bytes().filter(|byte| *byte != b'_') {
        number.times_plus(10, u32::from(digit - b'0'));
    }
    for part in rest.strip_prefix(':')?.split(':') {
        number.times_plus(60, sixtieth(part)?);
    }
    Some(number.to_string())
}

/// `[0-5]?[0-9]`.
fn sixtieth(part: &str) -> Option<u32> {
    match part.as_bytes() {
        [b'0'..=b'9'] | [b'0'..=b'5', b'0'..=b'9'] => part.parse().ok(),
        _ => None,
    }
}

/// `[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?`, `\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?`,
/// `[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*`, `[-+]?\.(?:inf|Inf|INF)` or
/// `\.(?:nan|NaN|NAN)`.
fn real_by_pattern(text: &str) -> Option<Scalar<'_>> {
    let (sign, body) = signed(text);
    let has_sign = body.len() < text.len();
    match body {
        ".inf" | ".Inf" | ".INF" => {
            return Some(Scalar::NotFinite(if sign.is_empty() { "Infinity" } else { "-Infinity" }));
        }
        ".nan" | ".NaN" | ".NAN" if !has_sign => return Some(Scalar::NotFinite("NaN")),
        _ => {}
    }
    let bytes = body.as_bytes();
    let whole = run_of_digits(bytes);
    if bytes.get(whole) == Some(&b':') && bytes[0].is_ascii_digit() {
        return real_sixtieths(sign, &body[..whole], &body[whole..]);
    }
    let fraction = bytes.get(whole..)?.strip_prefix(b".")?;
    let begins_well = match whole {
        0 => !has_sign && fraction.first().is_some_and(u8::is_ascii_digit),
        _ => bytes[0].is_ascii_digit(),
    };
    let exponent = &body[whole + 1 + run_of_digits(fraction)..];
    if !begins_well || !(exponent.is_empty() || is_exponent(exponent)) {
        return None;
    }
    let fraction = &body[whole + 1..body.len() - exponent.len()];
    Some(Scalar::Number(decimal(text, sign, &body[..whole], fraction, exponent)))
}

/// `[eE][-+][0-9]+`.
fn is_exponent(text: &str) -> bool {
    matches!(text.as_bytes(), [b'e' | b'E', b'-' | b'+', digits @ ..]
        if !digits.is_empty() && digits.iter().all(u8::is_ascii_digit))
}

/// Writes a decimal number as JSON requires: no plus, no leading zeros, digits on both sides of the
/// point.
fn decimal<'a>(
    text: &'a str,
    sign: &str,
    whole: &str,
    fraction: &str,
    exponent: &str,
) -> Cow<'a, str> {
    let is_plain = !text.starts_with('+') && !whole.contains('_') && !fraction.contains('_');
    let is_json =
        !whole.is_empty() && !fraction.is_empty() && (whole == "0" || !whole.starts_with('0'));
    if is_plain && is_json {
        return Cow::Borrowed(text);
    }
    let (whole, fraction) = (whole.replace('_', ""), fraction.replace('_', ""));
    let or_zero = |digits: &str| if digits.is_empty() { "0".to_owned() } else { digits.to_owned() };
    let (whole, fraction) = (or_zero(whole.trim_start_matches('0')), or_zero(&fraction));
    Cow::Owned(format!("{sign}{whole}.{fraction}{exponent}"))
}

/// Converts a sexagesimal number with a fraction. Adds the parts as Python does, from last to first
/// in floating point, so that the result is rounded the same.
fn real_sixtieths(sign: &str, first: &str, rest: &str) -> Option<Scalar<'static>> {
    let (parts, fraction) = rest.strip_prefix(':')?.split_once('.')?;
    if !fraction.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_') {
        return None;
    }
    let (before, last) = parts.rsplit_once(':').map_or((None, parts), |(a, b)| (Some(a), b));
    sixtieth(last)?;
    let real = |text: String| text.parse::<f64>().ok();
    let mut value = real(format!("{last}.{}", fraction.replace('_', "")))?;
    let mut base = 60.0;
    for part in before.into_iter().flat_map(|before| before.rsplit(':')) {
        value += f64::from(sixtieth(part)?) * base;
        base *= 60.0;
    }
    value += real(first.replace('_', ""))? * base;
    Some(from_f64(if sign.is_empty() { value } else { -value }))
}

/// An integer of any size: digits to the base 10⁹, lowest first.
#[derive(Default)]
struct Large(Vec<u32>);

impl Large {
    const BASE: u64 = 1_000_000_000;

    fn times_plus(&mut self, factor: u32, term: u32) {
        let mut carry = u64::from(term);
        for digit in &mut self.0 {
            let value = u64::from(*digit) * u64::from(factor) + carry;
            // The remainder is below the base and fits into 30 bits.
            *digit = u32::try_from(value % Self::BASE).unwrap_or_default();
            carry = value / Self::BASE;
        }
        if carry > 0 {
            self.0.push(u32::try_from(carry).unwrap_or_default());
        }
    }
}

impl std::fmt::Display for Large {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut digits = self.0.iter().rev();
        write!(f, "{}", digits.next().unwrap_or(&0))?;
        digits.try_for_each(|digit| write!(f, "{digit:09}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_pyyaml() {
        let rows = [
            ("0", "0"),
            ("-0", "0"),
            ("+12", "12"),
            ("-12", "-12"),
            ("1_000", "1000"),
            ("017", "15"),
            ("0_", "0"),
            ("00", "0"),
            ("-017", "-15"),
            ("0x1F", "31"),
            ("-0xff", "-255"),
            ("0b1_01", "5"),
            ("1:30", "90"),
            ("-1:30:05", "-5405"),
            ("123456789012345678901", "123456789012345678901"),
            ("0xFFFFFFFFFFFFFFFFFFFF", "1208925819614629174706175"),
            ("99999999999999999999:59", "5999999999999999999999"),
            ("1.5", "1.5"),
            ("+1.50", "1.50"),
            ("1.", "1.0"),
            (".5", "0.5"),
            ("01.5", "1.5"),
            ("-00.5", "-0.5"),
            ("1_0.2_5", "10.25"),
            ("6.8523015e+5", "6.8523015e+5"),
            ("1.e+5", "1.0e+5"),
            ("685.230_15e+03", "685.23015e+03"),
            ("1:30.5", "90.5"),
            ("190:20:30.15", "685230.15"),
        ];
        for (text, json) in rows {
            assert_eq!(resolve(text), Some(Scalar::Number(json.into())), "{text}");
            assert!(serde_json::from_str::<&serde_json::value::RawValue>(json).is_ok());
        }
        for (text, word) in
            [(".inf", "Infinity"), ("+.INF", "Infinity"), ("-.Inf", "-Infinity"), (".nan", "NaN")]
        {
            assert_eq!(resolve(text), Some(Scalar::NotFinite(word)), "{text}");
        }
    }

    #[test]
    fn what_pyyaml_takes_for_a_text_is_none() {
        for text in [
            "36660e59",
            "1e3",
            "1e+3",
            "0o17",
            "08",
            "-.5",
            "+.5",
            ".",
            "-",
            "+",
            "1.5e3",
            "1.5e",
            "0:30",
            "1:60",
            "1:30:",
            "1::30",
            "0x",
            "0b",
            "0b2",
            "0xg",
            "1 000",
            "1,5",
            "._5",
            "12e03",
            "-.nan",
            ".iNF",
            "1.5.2",
            "1_000_.e5",
            "_1",
            "0x_",
            "1:30.5e+3",
            "inf",
            "12:30:61",
            "١",
        ] {
            assert_eq!(resolve(text), None, "{text}");
        }
        assert_eq!(resolve(&format!("0x{}", "f".repeat(5000))), None);
    }
}
