//! Links of the static parts lead into the table, and sections to their places.

use juror_browser::Browser;

use crate::reports::{BENCH, COMPARE, COMPARE_3, EVAL, MOODY, open};

/// How many questions the table lists.
fn n_shown(browser: &Browser) -> String {
    browser.text(".shown").split(' ').next().unwrap_or_default().to_owned()
}

#[test]
fn links_of_the_verdict_lead_to_as_many_questions_as_they_say() {
    for report in [&*MOODY, &*COMPARE, &*COMPARE_3] {
        let Some(browser) = open(report, "") else { return };
        let links = browser.texts("#verdict .links a");
        assert!(links.len() > 1, "{links:?}");
        for (at, text) in links.iter().enumerate() {
            browser.click(&format!("#verdict .links a:nth-of-type({})", at + 1));
            browser.wait("document.querySelector('#questions').getBoundingClientRect().top < 100");
            assert_eq!(Some(&*n_shown(&browser)), text.split(' ').next(), "{text}");
            browser.run("scrollTo(0, 0)", &[]);
        }
    }
}

#[test]
fn every_template_of_the_table_is_a_link_to_its_questions() {
    for report in [&*EVAL, &*COMPARE] {
        let Some(browser) = open(report, "") else { return };
        let names = browser.texts("#groups tbody a");
        assert_eq!(names.len(), 6, "{names:?}");
        let n = browser.texts("#groups tbody td:last-child");
        for (at, name) in names.iter().enumerate() {
            browser.click(&format!("#groups tbody tr:nth-child({}) a", at + 1));
            browser.wait(&format!("[...document.querySelectorAll('.questions tbody td.c-group')].every((cell) => cell.textContent === '{name}')"));
            assert_eq!(n_shown(&browser), n[at], "{name}");
        }
    }
}

#[test]
fn sections_are_reached_from_the_top() {
    for report in [&*EVAL, &*BENCH] {
        let Some(browser) = open(report, "#/?show=wrong") else { return };
        let listed = n_shown(&browser);
        for href in browser.texts("nav a").iter().enumerate().map(|(at, _)| {
            browser.value(&format!("document.querySelectorAll('body > nav a')[{at}].hash"))
        }) {
            let id = href.as_str().expect("an address").trim_start_matches('#');
            browser.run(
                "document.querySelector(`nav a[href='#${arguments[0]}']`).click()",
                &[id.into()],
            );
            browser.wait(&format!("location.hash === '#{id}'"));
            let title = browser.text(&format!("#{id} h2"));
            assert!(!title.is_empty());
        }
        assert_eq!(n_shown(&browser), listed, "anchors leave the table as it is");
    }
}

#[test]
fn a_link_opens_the_question_and_the_attempt_that_it_names() {
    let Some(browser) = open(&BENCH, "#/?q=1&trial=1") else { return };
    assert_eq!(browser.text("nav[aria-label=Trial] a[aria-current=true]"), "Trial 2");
    crate::reports::show(&browser, &COMPARE, "#/?q=taxa-palm-court&run=0");
    assert!(browser.text("nav[aria-label=Run] a[aria-current=true]").starts_with('A'));
    assert_eq!(browser.count(".steps .missed, .steps .partly"), 0, "run A is right");
    crate::reports::show(&browser, &COMPARE, "#/?q=taxa-palm-court&run=1");
    assert!(browser.count(".steps .missed, .steps .partly") > 0, "run B is not");
}

#[test]
fn a_question_that_is_not_there_is_said_not_to_be() {
    let Some(browser) = open(&EVAL, "") else { return };
    browser.open(&EVAL, "#/?q=nobody");
    browser.wait("document.querySelector('.question .note.bad')");
    assert_eq!(browser.text(".question .note.bad"), "This report has no such question.");
}
