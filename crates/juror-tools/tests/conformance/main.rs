//! The rules of tools, checked against recorded cases: a small set of our own, and the large
//! recorded ones where they are at hand (`JUROR_VECTORS`, or `shared/vectors` beside the project).
//!
//! Where a case says what would be right, that is wanted; else what was recorded.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "tests tell what they ran")]

mod calls;
mod data;
mod departures;
mod environment;
mod families;
mod pools;
mod search;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

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

type Checked = Result<(), String>;

#[test]
fn our_own_cases_hold() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance");
    run(&folder, &["own_tools"], &Pools::default());
}

#[test]
fn the_recorded_cases_hold() {
    let Some(folder) = recorded_cases() else {
        eprintln!("no recorded cases here: skipped");
        return;
    };
    run(&folder.join("toolbench"), &FAMILIES, &Pools::beside(&folder));
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

fn run(folder: &Path, files: &[&str], pools: &Pools) {
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
            match check(family, &case, line, pools) {
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
        // The words a model is asked in are Juror's own.
        "tool_select" if input["fn"] == "prompt" => return None,
        "tool_select" => families::tool_select(input, wanted),
        "tool_pool" => pools.check(input, wanted)?,
        "env_build" => environment::build(input, wanted, pools)?,
        "env_step" => environment::step(input, wanted),
        "api_score" => calls::api_score(input, wanted, pools)?,
        other => Err(format!("unknown family {other}")),
    })
}

/// What was wanted, in a message if it is not what came.
fn same(got: &Value, wanted: &Value) -> Checked {
    if got == wanted { Ok(()) } else { Err(format!("got {got}, wanted {wanted}")) }
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}
