//! axe-core, which looks for barriers, finds none.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::sync::Once;

use juror_browser::{Browser, Scene};
use juror_testing::project;
use serde_json::{Value, json};

use crate::reports::{BENCH, COMPARE, COMPARE_3, EVAL, MOODY, show};

/// The source of axe-core, if the packages of the interface are installed. If not, says once how to
/// install them.
pub(crate) fn axe() -> Option<String> {
    static TOLD: Once = Once::new();
    if let Ok(source) = fs::read_to_string(project("web/node_modules/axe-core/axe.min.js")) {
        return Some(source);
    }
    let told = "axe-core not found; run `npm ci` in web";
    let is_required = std::env::var("JUROR_AXE").is_ok_and(|value| value == "required");
    assert!(!is_required, "{told}");
    // Written directly, because what passing tests print is not shown.
    TOLD.call_once(|| {
        let _ = writeln!(std::io::stderr(), "accessibility is not tested: {told}");
    });
    None
}

/// Looks at the page as it stands.
pub(crate) fn look(browser: &Browser, axe: &str, place: &str) {
    browser.run(&format!("{axe}; window.axe = axe;"), &[]);
    let found = browser.run_to_end(
        "const { violations } = await axe.run(document, { resultTypes: ['violations'] });
         return violations.map(({ id, nodes }) => ({ id, nodes: nodes.slice(0, 3).map((node) => `${node.html.slice(0, 200)} ${node.failureSummary}`) }));",
        &[],
    );
    assert_eq!(found, json!([]), "{place}: {found:#}");
}

/// Opens every fold of a question, again and again for folds in folds.
const UNFOLD: &str = "
    for (let closed; (closed = [...document.querySelectorAll('.question details:not([open])')]).length; )
        { closed.forEach((fold) => (fold.open = true)); await new Promise(requestAnimationFrame); }
";

/// Looks at the table, and at an open question with everything unfolded, on every screen.
fn check(report: &Path, question: &str) {
    let Some(axe) = axe() else { return };
    let Some(browser) = Browser::start() else { return };
    for (name, scene) in [("desk", Scene::DESK), ("night", Scene::NIGHT), ("phone", Scene::PHONE)] {
        browser.show_on(scene);
        show(&browser, report, "");
        look(&browser, &axe, &format!("{} on {name}", report.display()));
        show(&browser, report, &format!("#/?q={question}"));
        let _: Value = browser.run_to_end(UNFOLD, &[]);
        look(&browser, &axe, &format!("{} with a question on {name}", report.display()));
    }
}

#[test]
fn an_evaluation_has_no_barriers() {
    check(&EVAL, "advice-visit");
}

#[test]
fn verdicts_that_differ_have_no_barriers() {
    check(&MOODY, "taxa-fern-vault");
}

#[test]
fn a_comparison_has_no_barriers() {
    check(&COMPARE, "taxa-palm-court");
    check(&COMPARE_3, "taxa-palm-court");
}

#[test]
fn a_benchmark_has_no_barriers() {
    check(&BENCH, "1");
}
