//! The viewer's own pages, as a person uses them: list, comparison, progress, history, labels.

use std::fs::File;
use std::io::Write as _;

use juror_browser::{Browser, Scene};
use juror_testing::{Serving, project};
use serde_json::{Value, json};

use crate::accessible::{axe, look};
use crate::reports::BROKEN;
use crate::stage::Stage;

/// A folder of three runs, the last of which breaks two questions, and a viewer of it.
fn viewed(name: &str) -> (Stage, Serving) {
    let stage = Stage::new(name);
    let responses = std::fs::read_to_string(project("examples/responses.jsonl")).expect("a file");
    let worse = responses.replace("lantern palm", "lantern plam").replace("12.0", "13.0");
    for (run, text) in [("one", &responses), ("two", &responses), ("three", &worse)] {
        stage.write(&format!("{run}.jsonl"), text);
        stage.juror(&format!(
            "eval examples/reference.yaml {run}.jsonl --no-model --profile 6 --run runs/{run} --quiet"
        ));
        stage.date(&format!("runs/{run}/run.json"), run);
    }
    let serving = stage.serve("view runs --port 0 -q");
    (stage, serving)
}

impl Stage {
    /// Runs begin within the same second here; their order in time must not be left to chance.
    fn date(&self, manifest: &str, run: &str) {
        let mut own: Value = serde_json::from_str(&self.read(manifest)).expect("JSON");
        let day = ["one", "two", "three"].iter().position(|name| *name == run).expect("a run");
        own["began"] = json!(format!("2026-03-0{}T10:00:00Z", day + 1));
        self.write(manifest, &own.to_string());
    }
}

/// Looks for barriers on every screen.
fn has_no_barriers(browser: &Browser, address: &str) {
    let Some(axe) = axe() else { return };
    for (name, scene) in [("desk", Scene::DESK), ("night", Scene::NIGHT), ("phone", Scene::PHONE)] {
        browser.show_on(scene);
        browser.visit(address);
        look(browser, &axe, &format!("{address} on {name}"));
        let wider = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
        assert_eq!(browser.value(wider), 0, "{address} on {name} is wider than the window");
    }
    browser.show_on(Scene::DESK);
}

/// Nobody but the viewer was asked, and nothing was complained about.
fn is_quiet(browser: &Browser, serving: &Serving) {
    assert_eq!(browser.messages(), [""; 0], "the page complains");
    let asked = browser.requests();
    let is_strange = |address: &&String| {
        !address.starts_with(&serving.url())
            && !address.starts_with("data:")
            && *address != "about:blank"
    };
    assert_eq!(asked.iter().filter(is_strange).collect::<Vec<_>>(), [""; 0]);
}

#[test]
fn runs_are_listed_ticked_and_compared() {
    let (_stage, serving) = viewed("viewer_list");
    let Some(browser) = Browser::start() else { return };
    browser.visit(&serving.url());
    assert_eq!(browser.texts("[data-run] th"), ["three", "two", "one"], "the newest first");
    assert_eq!(browser.value("document.querySelector('.buttons button').disabled"), true);
    browser.click("input[value=one]");
    browser.click("input[value=three]");
    browser.click(".buttons button");
    browser.wait_over_pages(
        "location.pathname === '/compare' && document.querySelector('.grid tbody')",
    );
    let runs = browser.value("new URLSearchParams(location.search).getAll('run').join(' ')");
    assert_eq!(runs, "one three", "the oldest is the baseline");
    browser.press("n\u{e007}");
    browser.wait(&format!(
        "location.hash.includes('{}') || location.hash.includes('{}')",
        BROKEN[0], BROKEN[1]
    ));
    browser.visit(&format!("{}/run/two", serving.url()));
    browser.wait("document.querySelector('.grid tbody')");
    assert!(browser.texts("header a").iter().any(|text| text == "All runs"));
    is_quiet(&browser, &serving);
    has_no_barriers(&browser, &serving.url());
    is_quiet(&browser, &serving);
}

#[test]
fn progress_shows_without_loading_the_page_again() {
    let (stage, serving) = viewed("viewer_live");
    let mut begun: Value = serde_json::from_str(&stage.read("runs/one/run.json")).expect("JSON");
    begun["is_complete"] = json!(false);
    stage.write("runs/begun/run.json", &begun.to_string());
    stage.write("runs/begun/records.jsonl", "");
    let Some(browser) = Browser::start() else { return };
    browser.visit(&serving.url());
    browser.run("window.isFirst = true;", &[]);
    let path = stage.path("runs/begun/records.jsonl");
    let mut journal = File::options().append(true).open(path).expect("a journal");
    journal.lock().expect("locked");
    browser.wait("document.querySelector('[data-run=begun] .state').textContent === 'running'");
    for done in 1..=3 {
        writeln!(journal, "{{\"question_id\": \"q{done}\"}}").expect("written");
        journal.flush().expect("written");
        let told = format!(
            "document.querySelector('[data-run=begun] .done').textContent.startsWith('{done} of ')"
        );
        browser.wait(&told);
        assert_eq!(
            browser.value("document.querySelector('[data-run=begun] progress').value"),
            done
        );
    }
    assert_eq!(browser.value("window.isFirst"), true, "the page was not loaded again");
    browser.click("input[value=one]");
    stage.write("runs/begun/run.json", &stage.read("runs/one/run.json"));
    browser.wait("!document.querySelector('#changed').hidden");
    assert_eq!(browser.value("document.querySelector('input[value=one]').checked"), true);
    is_quiet(&browser, &serving);
}

#[test]
fn a_metric_and_a_question_are_shown_over_all_runs() {
    let (_stage, serving) = viewed("viewer_history");
    let Some(browser) = Browser::start() else { return };
    browser.visit(&serving.url());
    browser.click("thead a");
    browser.wait_over_pages("location.pathname === '/history'");
    assert_eq!(browser.count(".chart svg"), 1);
    assert_eq!(browser.texts("tbody th"), ["three", "two", "one"]);
    browser.run(
        "document.querySelector('input[name=question]').value = arguments[0];",
        &[BROKEN[0].into()],
    );
    browser.click("input[name=question] ~ button, form:has(input[name=question]) button");
    browser.wait_over_pages("document.querySelector('.chart svg') && new URLSearchParams(location.search).get('question')");
    assert_eq!(browser.count(".chart .cell"), 3, "a cell for each run");
    assert_eq!(browser.count(".chart .cell.good"), 2);
    browser.click("tbody th a");
    browser.wait_over_pages(
        "location.pathname === '/run/three' && document.querySelector('.question .answers')",
    );
    is_quiet(&browser, &serving);
    let url = serving.url();
    has_no_barriers(&browser, &format!("{url}/history"));
    has_no_barriers(&browser, &format!("{url}/history?question={}", BROKEN[0]));
}

#[test]
fn answers_are_labelled_blindly_and_labels_of_two_tabs_are_all_kept() {
    const EACH: usize = 8;
    let (stage, serving) = viewed("viewer_labels");
    judge(&stage);
    let (Some(one), Some(two)) = (Browser::start(), Browser::start()) else { return };
    let address = |by: &str| format!("{}/label/one?by={by}", serving.url());
    one.visit(&address("ann"));
    let shown = one.text("main");
    assert!(!shown.contains("as the judge sees it") && !shown.contains("one.jsonl"), "{shown}");
    two.visit(&address("bob"));
    std::thread::scope(|scope| {
        for browser in [one, two] {
            scope.spawn(move || {
                for at in 0..EACH {
                    let done = format!(
                        "document.querySelector('main p').textContent.startsWith('{at} of ')"
                    );
                    browser.wait_over_pages(&done);
                    browser.press(["1", "2", "3"][at % 3]);
                }
                browser.wait_over_pages(&format!(
                    "document.querySelector('main p').textContent.startsWith('{EACH} of ')"
                ));
                assert_eq!(browser.messages(), [""; 0]);
            });
        }
    });
    let labels = stage.lines("runs/one/labels.jsonl");
    for by in ["ann", "bob"] {
        let own: Vec<&Value> = labels.iter().filter(|label| label["by"] == by).collect();
        let scores: Vec<f64> = own.iter().filter_map(|label| label["label"].as_f64()).collect();
        assert_eq!(scores, [1.0, 0.0, 0.5, 1.0, 0.0, 0.5, 1.0, 0.0], "{by}");
        let ids: std::collections::BTreeSet<&str> =
            own.iter().filter_map(|label| label["id"].as_str()).collect();
        assert_eq!(ids.len(), EACH, "{by}");
    }
    if let Some(browser) = Browser::start() {
        has_no_barriers(&browser, &address("eve"));
    }
}

/// Gives the answers of the first run verdicts of a model.
fn judge(stage: &Stage) {
    let mut results = stage.lines("runs/one/results.jsonl");
    for (at, result) in results.iter_mut().enumerate() {
        for part in ["recall", "precision", "f1"] {
            result[format!("answer_{part}")] = json!(f64::from(u8::from(at % 3 == 0)));
        }
        result["answer_correctness_reason"] = json!("as the judge sees it");
        result["judged_by"] = json!({"model": "openai/m", "prompts": {"answer_claims": "aa11"}});
    }
    stage.write_lines("runs/one/results.jsonl", &results);
}

#[test]
fn a_folder_without_runs_fills_while_it_is_looked_at() {
    let stage = Stage::new("viewer_empty");
    std::fs::create_dir(stage.path("runs")).expect("a folder");
    let serving = stage.serve("view runs --port 0 -q");
    let Some(browser) = Browser::start() else { return };
    browser.visit(&serving.url());
    assert!(browser.text("main").contains("There are no runs here yet"));
    stage.juror(
        "eval examples/reference.yaml examples/responses.jsonl --no-model --profile 6 --run runs/new -q",
    );
    browser.wait_over_pages("document.querySelector('[data-run=new]')");
    is_quiet(&browser, &serving);
}
