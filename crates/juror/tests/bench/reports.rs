//! Reports of benchmarks for people and pipelines.

use std::fs;
use std::process::Command;

use crate::stage::{Stage, agent};

/// Solves the first query, gives up on the second, and fails on the others.
const MIXED: &str = "\
if task['query_id'] == '1': say(task, final_answer='It is sunny, 21 degrees.')
elif task['query_id'] == '2': say(task, final_answer='Sorry, I cannot help.')
else: say(task, error='it <broke>')";

#[test]
fn a_benchmark_is_a_report_beside_its_results() {
    let stage = Stage::new();
    let options = "--judge heuristic --fail-over agent_usd=1 -o report.md -o report.junit.xml";
    let ended = stage.bench(&agent(&stage, MIXED), options);
    assert_eq!(ended.code, 3, "the agent failed: {}", ended.stderr);
    assert_eq!(stage.results()["results"].as_array().map(Vec::len), Some(4));
    let read = |name: &str| fs::read_to_string(stage.path(name)).expect("a report");
    let markdown = read("report.md");
    let first = "<!-- juror bench: agent -->\n### Verdict: ";
    assert!(markdown.starts_with(first), "{markdown}");
    assert!(markdown.contains("| error | `3` | `queries` | `it <broke>` |"), "{markdown}");
    let junit = read("report.junit.xml");
    assert!(junit.contains(r#"<testsuite name="queries" tests="4""#), "{junit}");
    assert!(junit.contains(r#"<error message="it &lt;broke&gt;" type="error"/>"#), "{junit}");
    assert!(junit.contains(r#"<property name="sopr_score" value="#), "{junit}");
}

#[test]
fn a_report_alone_leaves_the_results_where_they_always_are() {
    let stage = Stage::new();
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    let ended = Command::new(env!("CARGO_BIN_EXE_juror"))
        .args(["bench", "--no-keep", "--judge", "none", "-o", "report.md"])
        .args(["--queries", &format!("{examples}/queries.json")])
        .args(["--tools", &format!("{examples}/tools"), "--agent", &agent(&stage, MIXED)])
        .current_dir(stage.folder.path())
        .env("JUROR_RUN", "run")
        .output()
        .expect("juror runs");
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(said.contains("results are in results/tools/"), "{said}");
    assert!(stage.path("report.md").is_file());
    assert_eq!(fs::read_dir(stage.path("results/tools")).expect("a folder").count(), 1);
}
