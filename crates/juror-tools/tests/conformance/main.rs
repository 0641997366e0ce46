//! Checks the rules of tools against recorded cases: a small set of Juror's own, and the large
//! recorded ones if they are available (`JUROR_VECTORS`, or `shared/vectors` beside the project).
//!
//! A case's recommended result takes precedence over the recorded one.

#![expect(clippy::print_stdout, reason = "tests tell what they ran")]

mod calls;
mod data;
mod departures;
mod environment;
mod families;
mod pools;
mod search;

use std::path::Path;

use juror_testing::{Checked, project, recorded_cases, run_cases, same, text};
use pools::Pools;
use serde_json::Value;

/// The files whose cases need no server and no model.
const FAMILIES: [&str; 14] = [
    "py_repr",
    "names",
    "sanitize",
    "check_result",
    "mirror_extract",
    "strip",
    "tool_pool",
    "query_load",
    "tool_select",
    "openai_function",
    "env_build",
    "env_step",
    "api_score",
    "departures",
];

#[test]
fn our_own_cases_hold() {
    run(&project("conformance"), &["own_tools"], &Pools::default());
}

#[test]
fn the_recorded_cases_hold() {
    let Some(folder) = recorded_cases() else { return };
    run(&folder.join("toolbench"), &FAMILIES, &Pools::beside(&folder));
}

fn run(folder: &Path, files: &[&str], pools: &Pools) {
    run_cases(folder, files, |family, case, line| check(family, case, line, pools));
}

/// Returns `None` for a case that is not for this test.
fn check(family: &str, case: &Value, line: &str, pools: &Pools) -> Option<Checked> {
    if case.get("peer_value").is_some() {
        return departures::check(case, pools);
    }
    let wanted = case.get("recommended").unwrap_or(&case["expected"]);
    let input = &case["input"];
    Some(match family {
        "py_repr" => families::py_repr(input, wanted),
        "names" => families::names(input, wanted),
        "sanitize" => families::sanitized(input, wanted),
        "check_result" => families::check_result(input, wanted),
        "mirror_extract" => families::mirror_extract(input, wanted),
        "strip" => families::strip(input, wanted),
        "query_load" => families::query_load(input, wanted),
        "openai_function" => families::openai_function(line, input, wanted),
        // Juror has its own prompts.
        "tool_select" if input["fn"] == "prompt" => return None,
        "tool_select" => families::tool_select(input, wanted),
        "tool_pool" => pools.check(input, wanted)?,
        "env_build" => environment::build(input, wanted, pools)?,
        "env_step" => environment::step(input, wanted),
        "api_score" => calls::api_score(input, wanted, pools)?,
        other => Err(format!("unknown family {other}")),
    })
}
