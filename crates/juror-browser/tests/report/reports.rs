//! The reports that tests open. Each is made once, when a test first asks for it.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use juror_browser::Browser;
use juror_testing::project;
use serde_json::{Value, json};

use crate::stage::Stage;

/// What the reference of the example is judged with.
const JUDGED: &str = "-c examples/juror.yaml --cache examples/replies.jsonl --cache-mode read-only";

/// The report that `juror eval` writes of the judged example.
pub(crate) static EVAL: LazyLock<PathBuf> = LazyLock::new(|| {
    let stage = Stage::new("eval");
    stage.juror(&format!(
        "eval examples/reference.yaml examples/responses.jsonl {JUDGED} -o results.jsonl -o report.html"
    ));
    stage.path("report.html")
});

/// The same results, with a judge that contradicts itself on two answers, and says of another that it
/// imitates a verdict.
pub(crate) static MOODY: LazyLock<PathBuf> = LazyLock::new(|| {
    let eval = EVAL.with_file_name("results.jsonl");
    let stage = Stage::new("moody");
    std::fs::copy(eval, stage.path("results.jsonl")).expect("results");
    let mut results = stage.lines("results.jsonl");
    results.iter_mut().for_each(make_moody);
    stage.write_lines("moody.jsonl", &results);
    stage.juror("report moody.jsonl --profile 6 -o report.html");
    stage.path("report.html")
});

fn make_moody(result: &mut Value) {
    match result["question_id"].as_str() {
        Some("taxa-fern-vault" | "advice-repotting") => {
            for part in ["recall", "precision", "f1"] {
                result[format!("answer_{part}_repeats")] = json!([1.0, 0.25, 0.5]);
            }
        }
        Some("advice-mosses") => {
            result["judged_by"]["flags"] = json!(["the answer contains a verdict"]);
        }
        _ => {}
    }
}

/// Questions that the second run breaks, and one that it fixes.
pub(crate) const BROKEN: [&str; 2] = ["taxa-palm-court", "accessions-by-garden"];
pub(crate) const FIXED: &str = "grown-ladder-fern";

/// A comparison of two runs whose steps differ.
pub(crate) static COMPARE: LazyLock<PathBuf> = LazyLock::new(|| {
    let stage = compared("compare");
    stage.juror("compare main change -o report.html");
    stage.path("report.html")
});

/// A comparison of three.
pub(crate) static COMPARE_3: LazyLock<PathBuf> = LazyLock::new(|| {
    let stage = compared("compare3");
    stage.juror("report main change other -o report.html");
    stage.path("report.html")
});

/// Runs by rules alone, so that steps decide whether a question is right.
fn compared(name: &str) -> Stage {
    let stage = Stage::new(name);
    let responses = std::fs::read_to_string(project("examples/responses.jsonl")).expect("a file");
    let change = changed(
        &responses,
        &[
            (BROKEN[0], "lantern palm", "lantern plam"),
            (BROKEN[1], "12.0", "13.0"),
            (FIXED, "true", "false"),
        ],
    );
    let other = changed(&responses, &[("tallest-thornfold", "4.15E1", "1.45E1")]);
    for (run, text) in [("main", &responses), ("change", &change), ("other", &other)] {
        stage.write(&format!("{run}.jsonl"), text);
        stage.juror(&format!(
            "eval examples/reference.yaml {run}.jsonl --no-model --profile 6 --run {run} --quiet"
        ));
    }
    stage
}

/// Responses with some texts replaced in those to some questions.
fn changed(responses: &str, changes: &[(&str, &str, &str)]) -> String {
    let change = |line: &str| {
        let own = changes.iter().filter(|(id, ..)| line.contains(&format!("\"{id}\"")));
        own.fold(format!("{line}\n"), |line, (_, from, to)| line.replace(from, to))
    };
    responses.lines().map(change).collect()
}

/// A benchmark of the example agent, two attempts at each query.
pub(crate) static BENCH: LazyLock<PathBuf> = LazyLock::new(|| {
    let stage = Stage::new("bench");
    let agent = format!("command:python3 {}", project("examples/agents/baseline.py").display());
    stage.juror_with(
        "bench --queries examples/queries.json --tools examples/tools --cache examples/tool_cache \
         --no-keep --trials 2 --judge heuristic --run run -o report.html",
        &[("JUROR_AGENT", &agent)],
    );
    stage.path("report.html")
});

/// Opens a report and waits until its table is there.
pub(crate) fn open(report: &Path, fragment: &str) -> Option<Browser> {
    let browser = Browser::start()?;
    show(&browser, report, fragment);
    Some(browser)
}

/// The same in a browser that runs already.
pub(crate) fn show(browser: &Browser, report: &Path, fragment: &str) {
    browser.open(report, fragment);
    browser.wait("document.querySelector('.grid tbody')");
    if fragment.contains("q=") {
        browser.wait("document.querySelector('.question .answers')");
    }
}
