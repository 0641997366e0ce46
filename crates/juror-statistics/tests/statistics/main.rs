//! Checks the statistical methods against recorded cases, which other libraries computed: a small set
//! of Juror's own, and the large recorded ones if they are available (`JUROR_VECTORS`, or
//! `shared/vectors` beside the project).
//!
//! Also checks what holds for any data (`properties.rs`).

mod families;
mod properties;

use juror_testing::{Checked, project, recorded_cases, run_cases};
use serde_json::Value;

#[test]
fn our_own_cases_hold() {
    run_cases(&project("conformance"), &["own_statistics"], check);
}

#[test]
fn the_recorded_cases_hold() {
    let Some(folder) = recorded_cases() else { return };
    let folder = folder.join("stats");
    if folder.is_dir() {
        run_cases(&folder, &["stats"], check);
    }
}

fn check(family: &str, case: &Value, _line: &str) -> [Checked; 1] {
    let compute = families::FAMILIES.iter().find(|(name, _)| *name == family);
    let Some((_, compute)) = compute else { return [Err(format!("unknown family {family}"))] };
    [agrees("", &compute(&case["input"]), &case["expected"])]
}

/// Checks that a result has all that is expected; it may have more.
fn agrees(key: &str, got: &Value, wanted: &Value) -> Checked {
    match (got, wanted) {
        (Value::Object(got), Value::Object(wanted)) => {
            wanted.iter().try_for_each(|(key, wanted)| {
                let got = got.get(key).ok_or_else(|| format!("{key} is missing"))?;
                agrees(key, got, wanted)
            })
        }
        (Value::Array(got), Value::Array(wanted)) if got.len() == wanted.len() => {
            got.iter().zip(wanted).try_for_each(|(got, wanted)| agrees(key, got, wanted))
        }
        _ if got == wanted || is_near(key, got, wanted) => Ok(()),
        _ => Err(format!("{key}: got {got}, wanted {wanted}")),
    }
}

/// Whether numbers agree relative to their size: p, probabilities and intervals to 1e-7, all others to
/// 1e-9. What is 0 but for rounding agrees with 0, except where small numbers matter.
fn is_near(key: &str, got: &Value, wanted: &Value) -> bool {
    let Some((got, wanted)) = got.as_f64().zip(wanted.as_f64()) else { return false };
    let (tolerance, floor) = match key {
        "p" | "p_exact" | "p_mid" | "p_sign_flip_exact" | "probability_positive" => (1e-7, 0.0),
        "interval" | "wilson" | "clopper_pearson" | "mde" => (1e-7, 1e-14),
        _ => (1e-9, 1e-14),
    };
    (got - wanted).abs() <= tolerance * wanted.abs() + floor
}
