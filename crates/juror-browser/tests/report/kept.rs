//! What a report leaves out, and that it says so.

use juror_browser::Browser;

use crate::large::LARGE;
use crate::reports::{MOODY, show};
use crate::stage::Stage;

/// Everything that the data of a report says, as text.
const DATA: &str = "
    const parts = [...document.querySelectorAll('script[type=\"text/plain\"]')].map(async ({ textContent }) => {
        const bytes = Uint8Array.from(atob(textContent.trim()), (own) => own.charCodeAt(0));
        return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).text();
    });
    return (await Promise.all(parts)).join('') + document.body.textContent;
";

#[test]
fn a_redacted_report_has_none_of_the_texts() {
    let Some(browser) = Browser::start() else { return };
    let texts = [
        "Three taxa grow in the Palm Court",
        "The Palm Court holds the lantern palm",
        "lr:growsIn",
        "bottle-cycad",
        "the answer contains a verdict",
        "the sensor service did not answer",
    ];
    let told = |report: &std::path::PathBuf| {
        show(&browser, report, "");
        browser.run_to_end(DATA, &[]).as_str().expect("text").to_owned()
    };
    let whole = told(&MOODY);
    for text in texts {
        assert!(whole.contains(text), "{text} is in the whole report");
    }
    let stage = Stage::new("redacted");
    std::fs::copy(MOODY.with_file_name("moody.jsonl"), stage.path("moody.jsonl")).expect("a copy");
    stage.juror("report moody.jsonl --profile 6 --redact -o report.html");
    let redacted = told(&stage.path("report.html"));
    for text in texts {
        assert!(!redacted.contains(text), "{text} is in the redacted report");
    }
    assert!(redacted.contains("left out (--redact)"), "the page says what is missing");
    show(&browser, &stage.path("report.html"), "#/?q=taxa-palm-court");
    assert!(browser.count(".steps li") > 0, "steps are still there");
}

#[test]
fn a_report_that_would_be_too_large_says_what_it_left_out() {
    let Some(browser) = Browser::start() else { return };
    let stage = Stage::new("small");
    let results = LARGE.with_file_name("many.jsonl");
    std::fs::copy(results, stage.path("results.jsonl")).expect("a copy");
    stage.juror("report results.jsonl --profile 6 --max-size 0.1 -o report.html");
    show(&browser, &stage.path("report.html"), "");
    assert!(browser.text("#questions .note").contains("--max-size"), "the page says so");
    show(&browser, &stage.path("report.html"), "#/?q=question-1");
    assert!(browser.texts(".question .note").iter().any(|note| note.contains("shortened")));
}
