//! What people open a report for. Each takes at most four clicks or keys.

use juror_browser::Browser;

use crate::reports::{BROKEN, COMPARE, MOODY, open};

const MOST: usize = 4;

/// Somebody at a browser, whose clicks and keys are counted.
struct Person {
    browser: Browser,
    n_acts: usize,
}

impl Person {
    fn click(&mut self, selector: &str) {
        self.n_acts += 1;
        self.browser.click(selector);
    }

    fn press(&mut self, keys: &str) {
        self.n_acts += keys.chars().count();
        self.browser.press(keys);
    }

    /// Ends the task with what the person sees, without scrolling further.
    fn sees(&self, selector: &str) -> String {
        assert!(self.n_acts <= MOST, "{} clicks and keys", self.n_acts);
        self.browser.wait(&format!("document.querySelector('{selector}')"));
        let box_of = "return document.querySelector(arguments[0]).getBoundingClientRect().height;";
        let height = self.browser.run(box_of, &[selector.into()]).as_f64().unwrap_or(0.0);
        assert!(height > 0.0, "`{selector}` is not visible");
        self.browser.text(selector)
    }
}

#[test]
fn the_worst_template_and_why_is_found_in_four_acts() {
    let Some(browser) = open(&MOODY, "") else { return };
    let mut person = Person { browser, n_acts: 0 };
    person.click("nav a[href=\"#groups\"]");
    let worst = person.browser.text("#groups tbody tr:first-child a");
    person.click("#groups tbody tr:first-child a");
    person.browser.wait("location.hash.includes('group=')");
    person.press("n\u{e007}");
    assert!(person.sees(".question .facts").starts_with(&worst));
    assert!(!person.sees(".question .answers, .question .why").is_empty());
}

#[test]
fn what_a_change_broke_and_the_rows_that_differ_are_found_in_four_acts() {
    let Some(browser) = open(&COMPARE, "") else { return };
    let mut person = Person { browser, n_acts: 0 };
    person.press("n\u{e007}");
    assert_eq!(person.sees("#question-title"), BROKEN[0]);
    assert!(person.sees(".question .aligned tr.changed").contains("lantern plam"));
}

#[test]
fn answers_on_which_the_judge_contradicts_itself_are_found_in_four_acts() {
    let Some(browser) = open(&MOODY, "") else { return };
    let mut person = Person { browser, n_acts: 0 };
    person.click("#verdict .links a[href*=unsure]");
    person.press("j\u{e007}");
    assert_eq!(person.sees("#question-title"), "taxa-fern-vault");
    let verdicts = person.sees(".question .verdicts");
    assert!(verdicts.contains("each time"), "{verdicts}");
    assert!(verdicts.contains("0.25"), "{verdicts}");
}
