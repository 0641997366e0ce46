//! What a report shows where scripts are switched off.

use std::path::Path;

use juror_browser::Browser;
use serde_json::json;

use crate::reports::{BENCH, COMPARE, EVAL};

fn check(report: &Path, charts: &[&str]) {
    let Some(browser) = Browser::start() else { return };
    browser.let_scripts_run(false);
    browser.open(report, "");
    assert_eq!(browser.count("#app *"), 0, "no script ran");
    for part in ["#verdict .cards li", "#metrics tbody tr", "#cost h2", "#method dt"] {
        assert!(browser.count(part) > 0, "{part} in {}", report.display());
    }
    for chart in charts {
        let selector = format!("{chart} svg");
        let script = "const box = document.querySelector(arguments[0])?.getBoundingClientRect(); return box ? box.width * box.height : 0;";
        let area = browser.run(script, &[selector.as_str().into()]).as_f64().unwrap_or(0.0);
        assert!(area > 100.0, "{selector} in {}", report.display());
    }
    assert!(browser.text("noscript").contains("scripts"), "the page says what is missing");
}

#[test]
fn an_evaluation_without_scripts_shows_verdict_metrics_templates_and_charts() {
    check(&EVAL, &["#metrics", "#groups"]);
}

#[test]
fn a_comparison_without_scripts_shows_verdict_metrics_templates_and_charts() {
    check(&COMPARE, &["#metrics", "#groups"]);
}

#[test]
fn a_benchmark_without_scripts_shows_verdict_and_metrics() {
    check(&BENCH, &["#metrics"]);
}

#[test]
fn a_browser_that_cannot_decompress_says_so_and_shows_the_rest() {
    let Some(browser) = Browser::start() else { return };
    let source = json!({"source": "delete window.DecompressionStream;"});
    browser.devtools("Page.addScriptToEvaluateOnNewDocument", &source);
    browser.open(&EVAL, "");
    browser.wait("document.querySelector('#app .note')");
    let told = "The list of questions cannot be shown: this browser cannot decompress data";
    assert!(browser.text("#app .note").starts_with(told));
    assert!(browser.count("#verdict .cards li") > 0);
    assert_eq!(browser.messages(), [""; 0]);
}
