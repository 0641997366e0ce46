//! Numbers of JSON of any size, compared by value.
//!
//! Integers are compared digit by digit: two that differ in the thirtieth digit are different. Other
//! numbers are compared as doubles: `0.1` and `0.10000000000000001` are the same.

use std::fmt::{self, Write};

use serde_json::Value;

/// A number that compares by value, however it is written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ExactNumber(ExactForm);

/// 2⁵³: from here on, not every integer is a double.
const LARGEST: f64 = 9_007_199_254_740_992.0;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum ExactForm {
    /// Digits without zeros at either end, times a power of ten; no digits for zero.
    Decimal { is_negative: bool, digits: String, exponent: i64 },
    /// The bits of a double.
    Real(u64),
    /// The text of a number whose exponent does not fit into an integer.
    Written(String),
}

impl ExactNumber {
    /// Reads a JSON number.
    pub fn of(text: &str) -> ExactNumber {
        let Some(decimal) = decimal(text) else {
            return ExactNumber(ExactForm::Written(text.to_owned()));
        };
        let ExactForm::Decimal { exponent: ..0, .. } = decimal else { return ExactNumber(decimal) };
        match text.parse::<f64>() {
            // So near to an integer that a double cannot distinguish them.
            Ok(real) if real.fract() == 0.0 && real.abs() < LARGEST => {
                ExactNumber::of(&format!("{real:.0}"))
            }
            Ok(real) if real.is_finite() => ExactNumber(ExactForm::Real(real.to_bits())),
            _ => ExactNumber(decimal),
        }
    }

    /// Appends a normal form, which is the same for equal numbers.
    pub fn push_normal(&self, normal: &mut String) {
        let _ = match &self.0 {
            ExactForm::Decimal { is_negative, digits, exponent } => {
                let sign = if *is_negative { "-" } else { "" };
                write!(normal, "{sign}{digits}e{exponent}")
            }
            ExactForm::Real(bits) => write!(normal, "r{bits:x}"),
            ExactForm::Written(text) => write!(normal, "w{text}"),
        };
    }
}

/// Returns the digits and the exponent of a number, or `None` if the exponent is too large.
fn decimal(text: &str) -> Option<ExactForm> {
    let (is_negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let ending = digits.trim_end_matches('0');
    let n_zeros = digits.len() - ending.len();
    let shift = i64::try_from(n_zeros).ok()? - i64::try_from(fraction.len()).ok()?;
    let digits = ending.trim_start_matches('0').to_owned();
    if digits.is_empty() {
        return Some(ExactForm::Decimal { is_negative: false, digits, exponent: 0 });
    }
    let exponent = exponent.parse::<i64>().ok()?.checked_add(shift)?;
    Some(ExactForm::Decimal { is_negative, digits, exponent })
}

impl fmt::Display for ExactNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MOST_ZEROS: usize = 20;
        match &self.0 {
            ExactForm::Real(bits) => write!(f, "{}", f64::from_bits(*bits)),
            ExactForm::Written(text) => f.write_str(text),
            ExactForm::Decimal { digits, .. } if digits.is_empty() => f.write_str("0"),
            ExactForm::Decimal { is_negative, digits, exponent } => {
                f.write_str(if *is_negative { "-" } else { "" })?;
                match usize::try_from(*exponent) {
                    Ok(n_zeros @ ..=MOST_ZEROS) => write!(f, "{digits}{}", "0".repeat(n_zeros)),
                    _ => write!(f, "{digits}e{exponent}"),
                }
            }
        }
    }
}

/// Whether parsing kept all numbers of a value exactly.
pub fn is_exact(value: &Value) -> bool {
    match value {
        Value::Number(number) => {
            number.is_i64()
                || number.is_u64()
                || number.as_f64().is_some_and(|real| real.abs() < LARGEST)
        }
        Value::Array(items) => items.iter().all(is_exact),
        Value::Object(fields) => fields.values().all(is_exact),
        Value::Null | Value::Bool(_) | Value::String(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_shows_as_people_write_it() {
        let shown = |text: &str| ExactNumber::of(text).to_string();
        assert_eq!(shown("-1200.0"), "-1200");
        assert_eq!(shown("1.50"), "1.5");
        assert_eq!(shown("1e999999999"), "1e999999999");
        assert_eq!(shown("0.0"), "0");
    }
}
