//! A report sends nothing and complains about nothing.

use std::path::Path;

use crate::reports::{BENCH, COMPARE, COMPARE_3, EVAL, MOODY, open};

/// Reads the report as people do, then looks at what the browser noticed.
fn check(report: &Path) {
    let Some(browser) = open(report, "") else { return };
    browser.press("jj\u{e007}");
    browser.wait("document.querySelector('.question .answers')");
    browser.press("jn");
    browser.run("document.querySelectorAll('details').forEach((fold) => (fold.open = true));", &[]);
    browser.press("\u{e00c}");
    browser.wait("!document.querySelector('.question')");
    let address = format!("file://{}", report.display());
    let strange: Vec<String> = browser
        .requests()
        .into_iter()
        .filter(|request| !request.starts_with(&address) && !request.starts_with("data:"))
        .collect();
    assert_eq!(strange, [""; 0], "what {} asks for", report.display());
    assert_eq!(browser.messages(), [""; 0], "what {} complains about", report.display());
}

#[test]
fn an_evaluation_sends_nothing_and_complains_about_nothing() {
    check(&EVAL);
    check(&MOODY);
}

#[test]
fn a_comparison_of_two_sends_nothing_and_complains_about_nothing() {
    check(&COMPARE);
}

#[test]
fn a_comparison_of_three_sends_nothing_and_complains_about_nothing() {
    check(&COMPARE_3);
}

#[test]
fn a_benchmark_sends_nothing_and_complains_about_nothing() {
    check(&BENCH);
}
