//! Reports of many questions.

use std::path::PathBuf;
use std::sync::LazyLock;

use serde_json::{Value, json};

use crate::reports::{EVAL, open};
use crate::stage::Stage;

const N: usize = 2000;

/// The results of the example, over and over under other ids.
pub(crate) static LARGE: LazyLock<PathBuf> = LazyLock::new(|| {
    let stage = Stage::new("large");
    std::fs::copy(EVAL.with_file_name("results.jsonl"), stage.path("some.jsonl")).expect("results");
    let some = stage.lines("some.jsonl");
    let many = some.iter().cycle().take(N).enumerate().map(|(at, result)| {
        let mut result = result.clone();
        result["question_id"] = json!(format!("question-{}", at + 1));
        result
    });
    stage.write_lines("many.jsonl", &many.collect::<Vec<Value>>());
    stage.juror("report many.jsonl --profile 6 -o report.html");
    stage.path("report.html")
});

/// The first row that is in the document begins above the window of the table, or is the first of all.
const IS_FILLED: &str = "document.querySelector('.questions tbody:not(.space) tr').getBoundingClientRect().top \
    <= document.querySelector('.grid').getBoundingClientRect().top + 100";

#[test]
fn few_of_many_rows_are_in_the_document_and_all_can_be_reached() {
    let Some(browser) = open(&LARGE, "") else { return };
    assert_eq!(browser.text(".shown"), "2,000 of 2,000 questions");
    let is_small = || assert!(browser.count(".questions tr") < 300);
    is_small();
    for top in ["20000", "40000", "1e9"] {
        browser.run(&format!("document.querySelector('.grid').scrollTop = {top}"), &[]);
        browser.wait(IS_FILLED);
        is_small();
    }
    browser.wait("[...document.querySelectorAll('.questions tbody:not(.space) th')].at(-1).textContent === 'question-2000'");
    browser.press("k");
    browser.wait("document.activeElement.textContent.trim() === 'question-2000'");
    browser.press("\u{e007}");
    browser.wait("document.querySelector('.question .answers')");
    assert_eq!(browser.text(".place"), "2,000 of 2,000");
}

#[test]
fn a_filter_of_many_questions_finds_the_one() {
    let Some(browser) = open(&LARGE, "") else { return };
    browser.press("/question-1999");
    browser.wait("document.querySelector('.shown').textContent.startsWith('1 of')");
    assert_eq!(browser.texts(".questions tbody:not(.space) th"), ["question-1999"]);
}
