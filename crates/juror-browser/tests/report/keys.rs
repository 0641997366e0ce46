//! The keyboard does everything.

use juror_browser::{Browser, Key};

use crate::reports::{BROKEN, COMPARE, EVAL, open};

fn focused(browser: &Browser) -> String {
    browser
        .value("document.activeElement.textContent.trim()")
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

fn wait_for_question(browser: &Browser, id: &str) {
    browser.wait(&format!("document.querySelector('#question-title')?.textContent === '{id}'"));
    browser.wait("document.querySelector('.question .answers')");
}

#[test]
fn j_and_k_move_and_enter_opens() {
    let Some(browser) = open(&EVAL, "") else { return };
    browser.press("jjj");
    assert_eq!(focused(&browser), "taxa-alpine-shelf");
    browser.press("k");
    assert_eq!(focused(&browser), "taxa-fern-vault");
    browser.press_key(Key::Enter);
    wait_for_question(&browser, "taxa-fern-vault");
    browser.press("j");
    wait_for_question(&browser, "taxa-alpine-shelf");
    browser.wait("location.hash.includes('q=taxa-alpine-shelf')");
    browser.press("k");
    wait_for_question(&browser, "taxa-fern-vault");
}

#[test]
fn arrows_move_in_the_table() {
    let Some(browser) = open(&EVAL, "") else { return };
    browser.press("j");
    browser.press_key(Key::Down);
    assert_eq!(focused(&browser), "taxa-fern-vault");
    browser.press_key(Key::Up);
    assert_eq!(focused(&browser), "taxa-palm-court");
}

#[test]
fn escape_closes_and_gives_the_focus_back() {
    let Some(browser) = open(&EVAL, "#/?q=advice-mosses") else { return };
    browser.wait("document.activeElement.id === 'question-title'");
    browser.press_key(Key::Escape);
    browser.wait("!document.querySelector('.question')");
    assert_eq!(focused(&browser), "advice-mosses");
    assert!(!browser.fragment().contains("q="), "{}", browser.fragment());
}

#[test]
fn n_and_p_move_among_broken_questions_of_a_comparison() {
    let Some(browser) = open(&COMPARE, "") else { return };
    browser.press("n");
    assert_eq!(focused(&browser), BROKEN[0]);
    browser.press("n");
    assert_eq!(focused(&browser), BROKEN[1]);
    browser.press("n");
    assert_eq!(focused(&browser), BROKEN[1], "there is no further one");
    browser.press("p\u{e007}");
    wait_for_question(&browser, BROKEN[0]);
    browser.press("n");
    wait_for_question(&browser, BROKEN[1]);
}

#[test]
fn n_and_p_move_among_wrong_questions_of_one_run() {
    let Some(browser) = open(&EVAL, "#/?show=wrong") else { return };
    let wrong = browser.texts(".questions tbody:not(.space) th");
    crate::reports::show(&browser, &EVAL, "");
    browser.press("n");
    assert_eq!(focused(&browser), wrong[0]);
    browser.press("n");
    assert_eq!(focused(&browser), wrong[1]);
    browser.press("p");
    assert_eq!(focused(&browser), wrong[0]);
}

#[test]
fn the_slash_leads_to_the_text_filter_where_keys_are_letters() {
    let Some(browser) = open(&EVAL, "") else { return };
    browser.press("/njk?");
    assert_eq!(browser.value("document.querySelector('input[type=search]').value"), "njk?");
    assert_eq!(browser.value("document.querySelector('dialog').open"), false);
    browser.press_key(Key::Escape);
    assert_eq!(browser.value("document.activeElement === document.body"), true);
}

#[test]
fn the_question_mark_lists_the_keys() {
    let Some(browser) = open(&EVAL, "") else { return };
    browser.press("?");
    assert_eq!(browser.value("document.querySelector('dialog').open"), true);
    assert!(browser.texts("dialog kbd").contains(&"n".to_owned()));
    browser.press_key(Key::Escape);
    browser.wait("!document.querySelector('dialog').open");
}

#[test]
fn single_letters_can_be_switched_off() {
    let Some(browser) = open(&EVAL, "") else { return };
    browser.press("?");
    browser.click("dialog input[type=checkbox]");
    browser.press_key(Key::Escape);
    browser.wait("!document.querySelector('dialog').open");
    browser.press("jj");
    assert_eq!(browser.count(".questions tr.current"), 0);
}
