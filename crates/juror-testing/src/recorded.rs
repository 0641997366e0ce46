//! Finds and runs recorded cases.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "tests tell what they ran")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::same::Checked;

/// Returns the path of a file or folder of the project.
pub fn project(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// The folder of the large recorded cases: `JUROR_VECTORS`, or `shared/vectors` beside the project.
/// If there is none, it says so and returns `None`, and the test has nothing to do.
pub fn recorded_cases() -> Option<PathBuf> {
    let beside = || project("../shared/vectors");
    let folder = std::env::var_os("JUROR_VECTORS").map_or_else(beside, PathBuf::from);
    if !folder.is_dir() {
        eprintln!("no recorded cases here: skipped");
        return None;
    }
    Some(folder)
}

/// A recorded case.
#[derive(Clone, Debug)]
pub struct RecordedCase {
    /// The parsed case.
    pub value: Value,
    /// Its source, because a value has lost the order of its fields.
    pub line: String,
}

/// Reads the cases of a file, one per line.
pub fn read_cases(path: &Path) -> Vec<RecordedCase> {
    let text = std::fs::read_to_string(path);
    let text = text.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let case = |line: &str| RecordedCase {
        value: serde_json::from_str(line).expect("a case is JSON"),
        line: line.to_owned(),
    };
    text.lines().filter(|line| !line.is_empty()).map(case).collect()
}

#[derive(Default)]
struct FamilyCount {
    n_run: usize,
    n_failed: usize,
    n_skipped: usize,
}

/// Runs the cases of some files in a folder; names are without `.jsonl`. `check` gets the family,
/// the case and its line. It returns nothing for a case that is not for this test, or a result for
/// each way in which it was tried.
///
/// # Panics
///
/// If a case fails, or if there is none.
pub fn run_cases<C: IntoIterator<Item = Checked>>(
    folder: &Path,
    files: &[&str],
    check: impl Fn(&str, &Value, &str) -> C,
) {
    let mut counts: BTreeMap<String, FamilyCount> = BTreeMap::new();
    let mut failures = Vec::new();
    for file in files {
        for RecordedCase { value: case, line } in read_cases(&folder.join(format!("{file}.jsonl")))
        {
            let family = case["family"].as_str().expect("a family");
            let count = counts.entry(format!("{file}/{family}")).or_default();
            let n_before = count.n_run;
            for checked in check(family, &case, &line) {
                count.n_run += 1;
                if let Err(why) = checked {
                    count.n_failed += 1;
                    failures.push(format!("{}: {why}", case["id"]));
                }
            }
            count.n_skipped += usize::from(count.n_run == n_before);
        }
    }
    for (family, FamilyCount { n_run, n_failed, n_skipped }) in &counts {
        println!("{family}: {n_run} run, {n_failed} failed, {n_skipped} for other tests");
    }
    assert!(counts.values().any(|count| count.n_run > 0), "no case was run");
    assert!(failures.is_empty(), "{} failed:\n{}", failures.len(), failures.join("\n"));
}
