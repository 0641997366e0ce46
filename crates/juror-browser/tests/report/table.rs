//! The table of questions: filters, order, columns, and the address that remembers them.

use juror_browser::Browser;

use crate::reports::{BROKEN, COMPARE, EVAL, FIXED, MOODY, open, show};

const ROWS: &str = ".questions tbody:not(.space) tr";

/// The ids of the rows that are listed.
fn ids(browser: &Browser) -> Vec<String> {
    browser.texts(&format!("{ROWS} th"))
}

/// Waits until the table says that it lists so many questions.
fn wait_for_rows(browser: &Browser, n: usize) {
    let shown = "document.querySelector('.shown').textContent";
    browser.wait(&format!("{shown}.startsWith('{n} of ')"));
    assert_eq!(browser.count(ROWS), n);
}

/// Clicks on a choice of what is shown, by its name.
fn show_only(browser: &Browser, name: &str) {
    let names = browser.texts(".shows label");
    let at = names.iter().position(|own| own.starts_with(name));
    let at = at.unwrap_or_else(|| panic!("{name} is not among {names:?}"));
    browser.click(&format!(".shows label:nth-of-type({})", at + 1));
}

#[test]
fn every_choice_shows_as_many_questions_as_it_says() {
    let Some(browser) = open(&MOODY, "") else { return };
    for report in [&*MOODY, &*COMPARE] {
        show(&browser, report, "");
        for label in browser.texts(".shows label") {
            let (name, n) = label.rsplit_once(' ').expect("a name and a number");
            show_only(&browser, name);
            wait_for_rows(&browser, n.parse().expect("a number"));
        }
    }
}

#[test]
fn what_is_shown_is_in_the_address() {
    let Some(browser) = open(&COMPARE, "") else { return };
    show_only(&browser, "Broken");
    wait_for_rows(&browser, BROKEN.len());
    assert_eq!(browser.fragment(), "#/?show=broken");
    assert_eq!(ids(&browser), BROKEN);
    show_only(&browser, "Fixed");
    wait_for_rows(&browser, 1);
    assert_eq!(browser.fragment(), "#/?show=fixed");
    assert_eq!(ids(&browser), [FIXED]);
}

#[test]
fn the_judge_is_unsure_where_its_repeats_differ() {
    let Some(browser) = open(&MOODY, "#/?show=unsure") else { return };
    assert_eq!(ids(&browser), ["taxa-fern-vault", "advice-repotting"]);
    show_only(&browser, "Flagged");
    wait_for_rows(&browser, 1);
    assert_eq!(ids(&browser), ["advice-mosses"]);
}

#[test]
fn templates_and_texts_filter_together() {
    let Some(browser) = open(&EVAL, "") else { return };
    browser.choose(".filters select", "advice_on_TOPIC");
    wait_for_rows(&browser, 4);
    browser.click(".filters input[type=search]");
    browser.press("moss");
    wait_for_rows(&browser, 1);
    browser.wait("location.hash.includes('find=moss')");
    assert_eq!(browser.fragment(), "#/?group=advice_on_TOPIC&find=moss");
}

#[test]
fn expressions_find_and_broken_ones_are_named() {
    let Some(browser) = open(&EVAL, "#/?find=%5Eadvice-(mosses%7Cvisit)%24&regex=1") else {
        return;
    };
    wait_for_rows(&browser, 2);
    show(&browser, &EVAL, "#/?find=(&regex=1");
    assert!(browser.text("#find-problem").starts_with("Not used:"));
    wait_for_rows(&browser, 19);
}

#[test]
fn every_title_sorts_both_ways_and_then_not_at_all() {
    for report in [&*EVAL, &*COMPARE] {
        let Some(browser) = open(report, "") else { return };
        let unsorted = ids(&browser);
        for at in 0..browser.count(".questions thead button") {
            let click = || {
                browser.run(
                    "document.querySelectorAll('.questions thead button')[arguments[0]].click()",
                    &[at.into()],
                );
            };
            click();
            browser.wait("document.querySelector('th[aria-sort=ascending]')");
            let up = ids(&browser);
            assert!(browser.fragment().contains("sort="), "{}", browser.fragment());
            click();
            browser.wait("document.querySelector('th[aria-sort=descending]')");
            assert!(browser.fragment().ends_with("&dir=down"), "{}", browser.fragment());
            let mut sorted = [up, ids(&browser)];
            for ids in &mut sorted {
                ids.sort();
            }
            assert_eq!(sorted[0], sorted[1], "no question is lost");
            click();
            browser.wait("!document.querySelector('th[aria-sort]')");
            assert_eq!(ids(&browser), unsorted);
        }
    }
}

#[test]
fn a_column_of_scores_sorts_by_its_numbers() {
    let Some(browser) = open(&EVAL, "#/?sort=steps_score&dir=down") else { return };
    let at = browser
        .texts(".questions thead th")
        .iter()
        .position(|title| title.starts_with("steps_score"));
    let selector = format!("{ROWS} > :nth-child({})", at.expect("the column") + 1);
    let shown: Vec<f64> =
        browser.texts(&selector).iter().filter_map(|score| score.parse().ok()).collect();
    assert_eq!(shown.len(), 19);
    assert!(shown.is_sorted_by(|one, other| one >= other), "{shown:?}");
}

#[test]
fn columns_are_chosen_and_stay_in_the_address() {
    let Some(browser) = open(&EVAL, "") else { return };
    let n_columns = || browser.count(".questions thead th");
    let before = n_columns();
    browser.click(".column-choice summary");
    browser.click(".column-choice input:checked");
    browser.wait(&format!(
        "document.querySelectorAll('.questions thead th').length === {}",
        before - 1
    ));
    browser.wait("location.hash.includes('column=')");
    let fragment = browser.fragment();
    show(&browser, &EVAL, &fragment);
    assert_eq!(n_columns(), before - 1);
}

#[test]
fn back_and_forward_restore_every_view() {
    let Some(browser) = open(&COMPARE, "") else { return };
    show_only(&browser, "Broken");
    wait_for_rows(&browser, 2);
    browser.click(&format!("{ROWS}:nth-child(2)"));
    browser.wait("document.querySelector('.question .answers')");
    assert_eq!(browser.text("#question-title"), BROKEN[1]);
    let opened = browser.fragment();
    browser.back();
    browser.wait("!document.querySelector('.question')");
    wait_for_rows(&browser, 2);
    browser.back();
    wait_for_rows(&browser, 19);
    browser.forward();
    wait_for_rows(&browser, 2);
    browser.forward();
    browser.wait("document.querySelector('.question .answers')");
    assert_eq!(browser.text("#question-title"), BROKEN[1]);
    assert_eq!(browser.fragment(), opened);
}
