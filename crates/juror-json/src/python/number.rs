//! Numbers in Python's `repr`.

use std::fmt::Write;

/// Appends a number, given as JSON.
pub(super) fn write_number(json: &str, out: &mut String) {
    if !is_float(json) {
        out.push_str(if json == "-0" { "0" } else { json });
        return;
    }
    // `parse` accepts everything the JSON grammar does; a number too large becomes infinite.
    match json.parse::<f64>() {
        Ok(number) => write_float(number, out),
        Err(_) => out.push_str(json),
    }
}

/// Appends a number so that equal numbers are written the same: one without a fraction becomes an
/// integer with all its digits.
pub(super) fn write_by_value(json: &str, out: &mut String) {
    match json.parse::<f64>() {
        Ok(number) if is_float(json) && number.is_finite() && number.fract() == 0.0 => {
            // Adding zero turns minus zero into zero.
            let _ = write!(out, "{:.0}", number + 0.0);
        }
        _ => write_number(json, out),
    }
}

/// Whether Python reads a number as a float.
fn is_float(json: &str) -> bool {
    json.bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E'))
}

/// From this many digits on, a number may lie exactly between two shortest texts that both read
/// back as it.
const TIES_FROM: usize = 15;

/// Appends a float. Like Rust, Python writes the fewest digits that read back as the same number.
/// It differs in where it puts the decimal point, and in choosing the even digit if two shortest
/// texts are equally near.
fn write_float(number: f64, out: &mut String) {
    if number.is_infinite() {
        out.push_str(if number > 0.0 { "inf" } else { "-inf" });
        return;
    }
    let mut written = format!("{number:e}");
    let precision = n_behind_point(&written);
    if precision + 1 >= TIES_FROM {
        // With an explicit precision, Rust rounds ties to even too.
        written = format!("{number:.precision$e}");
    }
    let (mantissa, exponent) = written.split_once('e').unwrap_or((&written, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let mantissa = match mantissa.strip_prefix('-') {
        Some(rest) => {
            out.push('-');
            rest
        }
        None => mantissa,
    };
    let (first, rest) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    match usize::try_from(exponent) {
        Ok(shift @ ..16) => write_shifted_right(first, rest, shift, out),
        Err(_) if exponent >= -4 => {
            out.push_str("0.");
            out.extend((exponent + 1..0).map(|_| '0'));
            out.push_str(first);
            out.push_str(rest);
        }
        _ => {
            out.push_str(mantissa);
            let sign = if exponent < 0 { '-' } else { '+' };
            // Writing to a string does not fail.
            let _ = write!(out, "e{sign}{:02}", exponent.unsigned_abs());
        }
    }
}

fn n_behind_point(written: &str) -> usize {
    let mantissa = written.split('e').next().unwrap_or_default();
    mantissa.split_once('.').map_or(0, |(_, digits)| digits.len())
}

/// Writes a number with at least one digit before the point.
fn write_shifted_right(first: &str, rest: &str, shift: usize, out: &mut String) {
    out.push_str(first);
    let (whole, fraction) = rest.split_at(shift.min(rest.len()));
    out.push_str(whole);
    out.extend((whole.len()..shift).map(|_| '0'));
    out.push('.');
    out.push_str(if fraction.is_empty() { "0" } else { fraction });
}

#[cfg(test)]
mod tests {
    #[test]
    fn equal_numbers_are_written_alike() {
        let rows = [
            ("5", "5"),
            ("5.0", "5"),
            ("0.5e1", "5"),
            ("-0.0", "0"),
            ("-0", "0"),
            ("-7.0", "-7"),
            ("1e3", "1000"),
            ("43984.0", "43984"),
            ("1e22", "10000000000000000000000"),
            ("9007199254740993", "9007199254740993"),
            ("9007199254740992.0", "9007199254740992"),
            ("123456789012345678901", "123456789012345678901"),
            ("5.50", "5.5"),
            ("1e-400", "0"),
            ("1E400", "inf"),
        ];
        for (json, written) in rows {
            let mut out = String::new();
            super::write_by_value(json, &mut out);
            assert_eq!(out, written, "{json}");
        }
    }

    #[test]
    fn floats_are_written_as_python_does() {
        let rows = [
            ("0.0", "0.0"),
            ("-0.0", "-0.0"),
            ("1.50", "1.5"),
            ("1e3", "1000.0"),
            ("123456789.125", "123456789.125"),
            ("1e15", "1000000000000000.0"),
            ("9999999999999998.0", "9999999999999998.0"),
            ("1e16", "1e+16"),
            ("1.25e22", "1.25e+22"),
            ("1e100", "1e+100"),
            ("0.0001", "0.0001"),
            ("-0.00123", "-0.00123"),
            ("0.00001", "1e-05"),
            ("12.5e-7", "1.25e-06"),
            ("5e-324", "5e-324"),
            ("1E400", "inf"),
            ("-1E400", "-inf"),
            ("1e-400", "0.0"),
            ("92065282876346.625", "92065282876346.62"),
            ("-884397352012770.25", "-884397352012770.2"),
            ("1199562506268271.75", "1199562506268271.8"),
        ];
        for (json, repr) in rows {
            let mut out = String::new();
            super::write_number(json, &mut out);
            assert_eq!(out, repr, "{json}");
        }
    }
}
