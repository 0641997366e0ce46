//! Recorded answers and how they are judged, checked against recorded cases: a small set of our
//! own, and the large recorded ones where they are at hand (`JUROR_VECTORS`, or `shared/vectors`
//! beside the project).
//!
//! Where a case says what would be right, that is wanted; else what was recorded.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "tests tell what they ran")]

mod calls;
mod departures;
mod example;
mod judging;
mod properties;
mod reading;
mod results;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use juror_score::tool::judged::read_final_verdict;
use serde_json::{Value, json};

/// The files whose cases need no server, no pool of tools and no model.
const FAMILIES: [&str; 12] = [
    "convert",
    "legacy_answers",
    "steps",
    "api_score",
    "sopr",
    "sopr_flow",
    "judge_unit",
    "sowr",
    "fac",
    "heuristic",
    "summary",
    "departures",
];

type Checked = Result<(), String>;

#[test]
fn our_own_cases_hold() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance");
    run(&folder, &["own_answers"]);
}

#[test]
fn the_recorded_cases_hold() {
    let Some(folder) = recorded_cases() else {
        eprintln!("no recorded cases here: skipped");
        return;
    };
    run(&folder.join("toolbench"), &FAMILIES);
}

fn recorded_cases() -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/vectors");
    let folder = std::env::var_os("JUROR_VECTORS").map_or_else(beside, PathBuf::from);
    folder.is_dir().then_some(folder)
}

#[derive(Default)]
struct Count {
    n_run: usize,
    n_failed: usize,
    n_skipped: usize,
}

fn run(folder: &Path, files: &[&str]) {
    let mut counts: BTreeMap<String, Count> = BTreeMap::new();
    let mut failures = Vec::new();
    for file in files {
        let path = folder.join(format!("{file}.jsonl"));
        let text = std::fs::read_to_string(&path)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        for line in text.lines().filter(|line| !line.is_empty()) {
            let case: Value = serde_json::from_str(line).expect("a case is JSON");
            let family = case["family"].as_str().expect("a family");
            let count = counts.entry(format!("{file}/{family}")).or_default();
            match check(family, &case, line) {
                None => count.n_skipped += 1,
                Some(Ok(())) => count.n_run += 1,
                Some(Err(why)) => {
                    count.n_run += 1;
                    count.n_failed += 1;
                    failures.push(format!("{}: {why}", case["id"]));
                }
            }
        }
    }
    for (family, Count { n_run, n_failed, n_skipped }) in &counts {
        println!("{family}: {n_run} run, {n_failed} failed, {n_skipped} for other tests");
    }
    assert!(!counts.is_empty(), "no case was run");
    assert!(failures.is_empty(), "{} failed:\n{}", failures.len(), failures.join("\n"));
}

/// Nothing for a case that is not for this test.
fn check(family: &str, case: &Value, line: &str) -> Option<Checked> {
    if case.get("peer_value").is_some() {
        return departures::check(case);
    }
    let input = raw_input(line);
    let wanted = case.get("recommended").unwrap_or(&case["expected"]);
    Some(match family {
        "convert" => reading::convert(&input, &case["expected"], wanted),
        "legacy_answers" => reading::legacy_answers(&input, wanted),
        "steps" => reading::steps(&input, case, wanted),
        "api_score" => calls::api_score(&input, wanted),
        "sopr" => judging::sopr(&input, &case["input"], wanted),
        "sopr_flow" => judging::sopr_flow(&input, &case["input"], &case["expected"], wanted),
        "judge_unit" => judging::judge_unit(&case["input"], wanted),
        "sowr" => judging::sowr(&input, wanted),
        "fac" => {
            same(&json!(i32::from(read_final_verdict(text(&case["input"]["evaluation"])))), wanted)
        }
        "heuristic" => judging::heuristic(&case["input"], wanted),
        "summary" => results::summary(&input, &case["input"], wanted),
        other => Err(format!("unknown family {other}")),
    })
}

/// The input as it is written: a value would have lost the order of its fields.
fn raw_input(line: &str) -> juror_score::Object<'_> {
    let fields: juror_score::Object<'_> = serde_json::from_str(line).expect("a case is JSON");
    let input = fields.get("input").map_or("{}", serde_json::value::RawValue::get);
    serde_json::from_str(input).unwrap_or_default()
}

/// The same for numbers that were computed in another order, wherever they stand.
fn near(got: &Value, wanted: &Value) -> Checked {
    fn is_near(got: &Value, wanted: &Value) -> bool {
        match (got, wanted) {
            (Value::Number(got), Value::Number(wanted)) => {
                let (got, wanted) = (got.as_f64(), wanted.as_f64());
                got.zip(wanted).is_some_and(|(got, wanted)| {
                    (got - wanted).abs() <= 1e-9 * wanted.abs().max(1.0)
                })
            }
            (Value::Array(got), Value::Array(wanted)) => {
                got.len() == wanted.len() && got.iter().zip(wanted).all(|(a, b)| is_near(a, b))
            }
            (Value::Object(got), Value::Object(wanted)) => {
                got.len() == wanted.len()
                    && wanted.iter().all(|(key, b)| got.get(key).is_some_and(|a| is_near(a, b)))
            }
            _ => got == wanted,
        }
    }
    if is_near(got, wanted) { Ok(()) } else { Err(format!("got {got}, wanted {wanted}")) }
}

/// What was wanted, in a message if it is not what came.
fn same(got: &Value, wanted: &Value) -> Checked {
    if got == wanted { Ok(()) } else { Err(format!("got {got}, wanted {wanted}")) }
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}
