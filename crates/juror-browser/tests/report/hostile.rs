//! What models and agents wrote stays text, wherever it stands.

use std::fs;
use std::path::Path;

use juror_browser::{Browser, Scene};
use serde_json::{Value, json};

use crate::hostile_texts::texts;
use crate::reports::show;
use crate::stage::Stage;

/// Settings with a custom evaluation for each text, which is the name of its output.
fn settings() -> String {
    let custom = texts().into_iter().enumerate().map(|(at, text)| {
        json!({"name": format!("own_{at}"), "inputs": ["question"], "instructions": "Judge it.",
            "outputs": {text: "a number"}})
    });
    let settings = json!({"profile": 6, "custom_evaluations": custom.collect::<Vec<_>>()});
    // YAML, as which settings are read, has some characters only as escapes.
    let escape = |c: char| match c {
        ' '..='~' => c.to_string(),
        c => format!("\\u{:04x}", u32::from(c)),
    };
    settings.to_string().chars().map(escape).collect()
}

/// A result whose every text is hostile.
fn result(at: usize, text: &str) -> Value {
    let cell = json!({"type": "literal", "value": text});
    let table = |name: &str| {
        json!({"head": {"vars": [text, name]}, "results": {"bindings": [{text: cell, name: cell}]}})
            .to_string()
    };
    let documents =
        json!([{"id": text, "text": text}, {"id": format!("{text} again"), "text": text}]);
    let mut result = json!({
        "template_id": text, "question_id": format!("{at} {text}"), "question_text": text,
        "reference_answer": format!("the answer is {text}"),
        "reference_steps": [[
            {"name": "sparql_query", "args": {"query": text}, "output": table("x"),
             "output_media_type": "application/sparql-results+json", "required_columns": [text]},
            {"name": text, "args": {text: text}, "output": text},
            {"name": "retrieval", "output": documents.to_string()},
        ]],
        "status": "success", "actual_answer": text,
        "actual_steps": [
            {"name": "sparql_query", "args": {"query": text}, "id": text, "status": "success", "output": table("y")},
            {"name": text, "args": {text: text, "more": text}, "id": text, "status": "error", "error": text},
            {"name": "retrieval", "id": "r", "status": "success", "output": json!([{"id": "other", "text": text}]).to_string()},
        ],
        "answer_f1": 0.5, "answer_recall": 0.5, "answer_precision": 0.5,
        "answer_recall_repeats": [0.25, 0.75], "answer_precision_repeats": [0.25, 0.75],
        "answer_f1_repeats": [0.25, 0.75],
        "answer_correctness_reason": text, "steps_score": 0.5,
        "answer_reference_claims_count": 2, "answer_actual_claims_count": 2, "answer_matching_claims_count": 1,
        "answer_relevance_error": text,
        "judged_by": {"model": text, "prompts": {}, "flags": [text]},
    });
    result[text] = json!(0.5);
    if at % 5 == 4 {
        result["status"] = json!("error");
        result["error"] = json!(text);
    }
    result
}

/// Opens every question with all its folds, on a wide and on a narrow screen.
pub(crate) fn check(report: &Path) {
    let Some(browser) = Browser::start() else { return };
    for scene in [Scene::DESK, Scene::PHONE] {
        browser.show_on(scene);
        show(&browser, report, "");
        is_harmless(&browser, "the table");
        let n = browser.text(".shown");
        let n: usize = n.split(' ').next().and_then(|n| n.parse().ok()).expect("a number");
        browser.press("j\u{e007}");
        for at in 0..n {
            let title = browser.run_to_end(OPEN_ALL, &[]);
            assert!(title.is_string(), "{title}");
            is_harmless(&browser, &format!("question {at}: {title}"));
            browser.press("j");
        }
    }
    assert_eq!(browser.messages(), [""; 0], "the page complains");
    let address = format!("file://{}", report.display());
    let asked = browser.requests();
    let strange: Vec<&String> = asked
        .iter()
        .filter(|request| !request.starts_with(&address) && !request.starts_with("data:"))
        .collect();
    assert_eq!(strange, [""; 0]);
}

/// Waits for the details of the open question, then opens every fold, again and again for folds in
/// folds, and shows all of every text.
const OPEN_ALL: &str = "
    const frame = () => new Promise(requestAnimationFrame);
    while (!document.querySelector('.question .answers')) await frame();
    for (let closed; (closed = [...document.querySelectorAll('.question details:not([open])')]).length; await frame())
        closed.forEach((fold) => (fold.open = true));
    document.querySelectorAll('.question button.more').forEach((button) => button.click());
    await frame();
    return document.querySelector('#question-title').textContent;
";

fn is_harmless(browser: &Browser, place: &str) {
    assert_eq!(browser.value("typeof window.ran"), "undefined", "{place}: a text ran");
    let wider = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
    assert_eq!(browser.value(wider), 0, "{place}: the page is wider than the window");
    let made = "document.querySelectorAll('main :is(img, iframe, object, script, style, link, meta, base, template, marquee, math, form:not(.filters), a:not([href^=\"#\"]), [onload], [onerror], [onfocus], [srcdoc])').length";
    assert_eq!(browser.value(made), 0, "{place}: a text became an element");
}

#[test]
fn hostile_texts_in_every_field_of_an_evaluation_stay_text() {
    let stage = Stage::new("hostile");
    let results: Vec<Value> =
        texts().iter().enumerate().map(|(at, text)| result(at, text)).collect();
    stage.write_lines("results.jsonl", &results);
    stage.write("juror.yaml", &settings());
    stage.juror("report results.jsonl -c juror.yaml -o report.html");
    check(&stage.path("report.html"));
}

#[test]
fn hidden_characters_are_named_alike_in_every_column() {
    let stage = Stage::new("hidden");
    let text = "a\u{202e}b\u{1b}c";
    let result = json!({"template_id": text, "question_id": text, "question_text": text,
        "status": "success", "actual_steps": [], "steps_score": 0.5});
    stage.write_lines("results.jsonl", &[result]);
    stage.juror("report results.jsonl -o report.html");
    let Some(browser) = crate::reports::open(&stage.path("report.html"), "") else { return };
    for column in [".c-id", ".c-group", ".c-text"] {
        let named = browser.texts(&format!(".questions tbody {column} .hidden-char"));
        assert_eq!(named, ["U+202E", "U+001B"], "{column}");
    }
}

#[test]
fn hostile_texts_in_both_runs_of_a_comparison_stay_text() {
    let stage = Stage::new("hostile_compare");
    let mut results: Vec<Value> =
        texts().iter().enumerate().map(|(at, text)| result(at, text)).collect();
    stage.write_lines("<img src=x onerror=ran=1>.jsonl", &results);
    results.iter_mut().step_by(2).for_each(|result| result["answer_f1"] = json!(1.0));
    stage.write_lines("\u{202e}b\u{200b}.jsonl", &results);
    let names = ["<img src=x onerror=ran=1>.jsonl", "\u{202e}b\u{200b}.jsonl"];
    stage.write("juror.yaml", &settings());
    stage.juror_on("report -c juror.yaml -o report.html", &names);
    check(&stage.path("report.html"));
}

#[test]
fn hostile_texts_of_agents_and_their_tools_stay_text() {
    let stage = Stage::new("hostile_bench");
    let bench = crate::reports::BENCH.with_file_name("run");
    fs::create_dir(stage.path("run")).expect("a folder");
    for file in fs::read_dir(bench).expect("a run").flatten() {
        fs::copy(file.path(), stage.path("run").join(file.file_name())).expect("a copy");
    }
    for name in ["run/attempts.jsonl", "run/results.jsonl"] {
        let mut lines = stage.lines(name);
        for (at, line) in lines.iter_mut().enumerate() {
            let own: Vec<String> = texts().into_iter().skip(5 * (at % 8)).take(5).collect();
            make_hostile(line, &own.join(" "));
        }
        stage.write_lines(name, &lines);
    }
    stage.juror("report run -o report.html");
    check(&stage.path("report.html"));
}

/// Replaces every text of a value, except those by which runs are read.
fn make_hostile(value: &mut Value, text: &str) {
    const KEPT: [&str; 8] = [
        "set",
        "query_id",
        "role",
        "answer_status",
        "evaluation_method",
        "source",
        "category",
        "stopped",
    ];
    match value {
        Value::Object(fields) => {
            for (_, own) in fields.iter_mut().filter(|(key, _)| !KEPT.contains(&&***key)) {
                make_hostile(own, text);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|own| make_hostile(own, text)),
        Value::String(own) => text.clone_into(own),
        _ => {}
    }
}
