//! Narrow screens and paper.

use juror_browser::{Browser, Scene};

use crate::reports::{BENCH, COMPARE, COMPARE_3, EVAL, MOODY, show};

const REPORTS: [(&std::sync::LazyLock<std::path::PathBuf>, &str); 5] = [
    (&EVAL, "advice-visit"),
    (&MOODY, "taxa-fern-vault"),
    (&COMPARE, "taxa-palm-court"),
    (&COMPARE_3, "taxa-palm-court"),
    (&BENCH, "1"),
];

#[test]
fn no_page_is_wider_than_the_screen() {
    let Some(browser) = Browser::start() else { return };
    for width in [320, 360, 768, 1280] {
        browser.show_on(Scene { width, ..Scene::DESK });
        for (report, question) in REPORTS {
            for fragment in [String::new(), format!("#/?q={question}")] {
                show(&browser, report, &fragment);
                let wider =
                    "document.documentElement.scrollWidth - document.documentElement.clientWidth";
                assert_eq!(browser.value(wider), 0, "{} {fragment} at {width}", report.display());
            }
        }
    }
}

#[test]
fn paper_shows_verdict_metrics_and_templates_and_no_controls() {
    let Some(browser) = Browser::start() else { return };
    browser.show_on(Scene::PAPER);
    for (report, _) in REPORTS {
        show(&browser, report, "");
        let height = |selector: &str| {
            let script = "return document.querySelector(arguments[0])?.getBoundingClientRect().height ?? -1;";
            browser.run(script, &[selector.into()]).as_f64().unwrap_or(-1.0)
        };
        for part in ["h1", "#verdict .cards", "#metrics table", "#groups h2", "#method dl"] {
            assert!(height(part) > 5.0, "{part} of {} on paper", report.display());
        }
        let wider = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
        assert_eq!(browser.value(wider), 0, "{} is wider than paper", report.display());
        for part in [".filters .shows", ".filters select", ".filters button", "body > nav", ".skip"]
        {
            assert!(height(part) <= 0.0, "{part} of {} on paper", report.display());
        }
    }
}

#[test]
fn paper_cuts_no_table_off() {
    let Some(browser) = Browser::start() else { return };
    browser.show_on(Scene::PAPER);
    for (report, _) in REPORTS {
        show(&browser, report, "");
        let cut = "[...document.querySelectorAll('main > section table')].filter(table => \
                   table.getBoundingClientRect().right > table.closest('section').getBoundingClientRect().right + 1)\
                   .map(table => table.caption.textContent)";
        assert_eq!(browser.value(cut), serde_json::json!([]), "{}", report.display());
        let scrolls = "[...document.querySelectorAll('main > section:not(#questions), .scroll')]\
                       .filter(own => getComputedStyle(own).overflowX !== 'visible').length";
        assert_eq!(browser.value(scrolls), 0, "{}", report.display());
    }
}

#[test]
fn names_of_metrics_are_whole_on_narrow_screens() {
    let Some(browser) = Browser::start() else { return };
    browser.show_on(Scene { width: 400, ..Scene::DESK });
    for (report, _) in REPORTS {
        show(&browser, report, "");
        let broken = "[...document.querySelectorAll('table.data th.whole')].filter(own => { \
                      const range = document.createRange(); range.selectNodeContents(own); \
                      return range.getClientRects().length !== 1 }).map(own => own.textContent)";
        assert_eq!(browser.value(broken), serde_json::json!([]), "{}", report.display());
        assert!(browser.count("table.data th.whole") > 0, "{}", report.display());
    }
}

#[test]
fn paper_shows_the_open_question() {
    let Some(browser) = Browser::start() else { return };
    browser.show_on(Scene::PAPER);
    show(&browser, &COMPARE, "#/?q=taxa-palm-court");
    let shown = "document.querySelector('.question .aligned')?.getBoundingClientRect().height > 20";
    assert_eq!(browser.value(shown), true);
    let wider = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
    assert_eq!(browser.value(wider), 0, "it fits on paper");
}

#[test]
fn dark_pages_are_dark_and_light_ones_light() {
    let Some(browser) = Browser::start() else { return };
    let ground = |scene: Scene| {
        browser.show_on(scene);
        show(&browser, &EVAL, "");
        let colour = browser.value("getComputedStyle(document.documentElement).backgroundColor.match(/[0-9.]+/g).map(Number)");
        colour
            .as_array()
            .into_iter()
            .flatten()
            .take(3)
            .filter_map(serde_json::Value::as_f64)
            .sum::<f64>()
    };
    assert!(ground(Scene::DESK) > 600.0);
    assert!(ground(Scene::NIGHT) < 150.0);
}
