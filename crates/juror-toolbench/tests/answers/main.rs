//! Recorded answers and how they are judged, checked against recorded cases: a small set of our
//! own, and the large recorded ones where they are at hand (`JUROR_VECTORS`, or `shared/vectors`
//! beside the project).
//!
//! Where a case says what would be right, that is wanted; else what was recorded.

#![expect(clippy::print_stdout, reason = "tests tell what they ran")]

mod calls;
mod departures;
mod example;
mod judging;
mod properties;
mod reading;
mod results;

use juror_testing::{Checked, near, project, recorded_cases, run_cases, same, text};
use juror_toolbench::judged::read_final_verdict;
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

#[test]
fn our_own_cases_hold() {
    run_cases(&project("conformance"), &["own_answers"], check);
}

#[test]
fn the_recorded_cases_hold() {
    let Some(folder) = recorded_cases() else { return };
    run_cases(&folder.join("toolbench"), &FAMILIES, check);
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
fn raw_input(line: &str) -> juror_json::Object<'_> {
    let fields: juror_json::Object<'_> = serde_json::from_str(line).expect("a case is JSON");
    let input = fields.get("input").map_or("{}", serde_json::value::RawValue::get);
    serde_json::from_str(input).unwrap_or_default()
}
