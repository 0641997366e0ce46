//! Answers that people label.

use serde_json::{Value, json};

use crate::stage::{Stage, Viewed};

/// A run of forty judged answers.
fn judged() -> Stage {
    let stage = Stage::with_two_runs();
    let result = |at: usize| {
        let score = f64::from(u8::from(at.is_multiple_of(3)));
        json!({"template_id": format!("t{at}"), "question_id": format!("q{at}"),
            "question_text": format!("What is <b>{at}</b>?"), "reference_answer": format!("It is {at}."),
            "status": "success", "actual_answer": format!("It may be\n{at}."),
            "answer_recall": score, "answer_precision": score, "answer_f1": score,
            "answer_correctness_reason": "as the judge sees it",
            "judged_by": {"model": "openai/m", "prompts": {"answer_claims": "aa11"}}})
    };
    let results: Vec<String> = (0..40).map(|at| result(at).to_string() + "\n").collect();
    stage.write("runs/first/results.jsonl", &results.concat());
    stage
}

/// The value of a hidden field, as a form sends it.
fn hidden(page: &str, name: &str) -> String {
    let start = format!("name=\"{name}\" value=\"");
    let value = page.split(&start).nth(1).unwrap_or_else(|| panic!("{name} is not there"));
    format!("{name}={}", value.split('"').next().unwrap_or_default())
}

/// The form of a page, without what a person adds.
fn form_of(page: &str) -> String {
    ["metric", "n", "id", "group", "trial", "shown"].map(|name| hidden(page, name)).join("&")
}

/// Labels the next answer, and returns its id.
fn label_next(viewed: &Viewed, by: &str, word: &str) -> String {
    let page = viewed.page(&format!("/label/first?by={by}"));
    let form = format!("{}&by={by}&label={word}&note=seen+by+{by}", form_of(&page));
    let reply = viewed.post("/label/first", &form);
    assert_eq!(reply.status, 303, "{form}");
    assert!(reply.header("location").starts_with("/label/first?metric=answer%5Ff1&by="));
    hidden(&page, "id")
}

fn lines(stage: &Stage, name: &str) -> Vec<Value> {
    stage.read(name).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn people_see_neither_the_verdict_nor_the_run() {
    let stage = judged();
    let page = stage.view("").page("/label/first");
    let body = page.split("<main>").nth(1).expect("a body");
    for there in ["What is &#60;b&#62;", "It is ", "It may be\n", "0 of 40 answers have a label"] {
        assert!(body.contains(there), "{there}");
    }
    for hidden in ["as the judge sees it", "openai", "first.jsonl", "aa11"] {
        assert!(!page.contains(hidden), "{hidden}");
    }
}

#[test]
fn labels_are_kept_in_the_documented_form_and_calibrate_the_judge() {
    let stage = judged();
    let viewed = stage.view("");
    let ids: Vec<String> = (0..40)
        .map(|at| label_next(&viewed, "ann", ["right", "wrong", "unsure"][at % 3]))
        .collect();
    let labels = lines(&stage, "runs/first/labels.jsonl");
    assert_eq!(labels.len(), 40);
    for (label, id) in labels.iter().zip(&ids) {
        assert_eq!(format!("id={}", label["id"].as_str().expect("an id")), *id);
    }
    let first = &labels[0];
    for (key, value) in [
        ("format", json!("juror.label/1")),
        ("metric", json!("answer_f1")),
        ("sample", json!("random")),
        ("label", json!(1.0)),
        ("by", json!("ann")),
        ("note", json!("seen by ann")),
    ] {
        assert_eq!(first[key], value, "{key}");
    }
    assert_eq!(first["judge"].as_str().map(str::len), Some(16));
    assert!(first["when"].as_str().is_some_and(|when| when.ends_with('Z')));
    let run: Value = serde_json::from_str(&stage.read("runs/first/run.json")).expect("JSON");
    assert_eq!(first["run"], run["id"]);
    let schema: Value = serde_json::from_str(&stage.run("schema label").stdout).expect("JSON");
    assert_eq!(juror_testing::misfits(first, &schema), Vec::<String>::new());
    assert!(viewed.page("/label/first?by=ann").contains("All of them are labelled"));
    assert!(viewed.page("/label/first?by=bob").contains("0 of 40 answers have a label"));
    let ended = stage.run("calibrate runs/first runs/first/labels.jsonl -o calibration.json");
    assert_eq!(ended.code, 0, "{ended:?}");
    let calibration: Value = serde_json::from_str(&stage.read("calibration.json")).expect("JSON");
    assert_eq!(calibration["labels"]["random"], 40);
}

#[test]
fn the_last_label_of_a_person_counts() {
    let stage = judged();
    let viewed = stage.view("");
    label_next(&viewed, "ann", "wrong");
    let page = viewed.page("/label/first?by=ann&at=0");
    assert!(page.contains("another one replaces it"));
    let form = format!("{}&by=ann&label=right&note=", form_of(&page));
    assert_eq!(viewed.post("/label/first", &form).status, 303);
    let ended = stage.run("calibrate runs/first runs/first/labels.jsonl -o c.json");
    assert!(ended.stderr.contains("labels.jsonl:1:1"), "{ended:?}");
    assert!(ended.stderr.contains("has a later label of this person, which counts"), "{ended:?}");
    let calibration: Value = serde_json::from_str(&stage.read("c.json")).expect("JSON");
    assert_eq!(calibration["pairs"][0]["people"], 1.0);
    assert_eq!(calibration["labels"]["left_out"], 1);
}

#[test]
fn labels_of_two_writers_at_once_are_all_kept() {
    let stage = judged();
    let (one, two) = (stage.view(""), stage.view(""));
    std::thread::scope(|scope| {
        for (viewed, by) in [(&one, "ann"), (&one, "bob"), (&two, "eve"), (&two, "tom")] {
            scope.spawn(move || (0..20).for_each(|_| drop(label_next(viewed, by, "right"))));
        }
    });
    let labels = lines(&stage, "runs/first/labels.jsonl");
    assert_eq!(labels.len(), 80);
    for by in ["ann", "bob", "eve", "tom"] {
        let own: std::collections::BTreeSet<&str> = labels
            .iter()
            .filter(|label| label["by"] == by)
            .filter_map(|label| label["id"].as_str())
            .collect();
        assert_eq!(own.len(), 20, "{by}");
    }
}

#[test]
fn a_name_and_a_file_can_be_given_for_everybody() {
    let stage = judged();
    let viewed = stage.view("--name carl --labels all.jsonl");
    let page = viewed.page("/label/first");
    assert!(!page.contains("Your name"));
    let form = format!("{}&by=ann&label=right", form_of(&page));
    assert_eq!(viewed.post("/label/first", &form).status, 303);
    assert_eq!(lines(&stage, "all.jsonl")[0]["by"], "carl");
    assert!(!stage.path("runs/first/labels.jsonl").exists());
}

#[test]
fn what_is_no_label_is_refused() {
    let stage = judged();
    let viewed = stage.view("");
    let form = form_of(&viewed.page("/label/first"));
    let label = |form: &str| viewed.post("/label/first", form).status;
    assert_eq!(label(&format!("{form}&label=maybe")), 400);
    assert_eq!(label("label=right"), 400);
    assert_eq!(label(&format!("{}&label=right", form.replace("id=q", "id=z"))), 409);
    assert_eq!(label(&format!("{}&label=right", form.replace("shown=", "shown=x"))), 409);
    assert_eq!(label(&format!("{form}&label=right&note={}", "x".repeat(70_000))), 413);
    assert_eq!(viewed.post("/label/third", &form).status, 404);
    assert_eq!(viewed.post("/label/..%2Ffirst", &form).status, 404);
    let foreign = format!(
        "POST /label/first HTTP/1.1\r\nhost: localhost\r\norigin: http://evil.example\r\ncontent-length: {}\r\n",
        form.len()
    );
    assert_eq!(crate::http::ask(viewed.address(), &foreign, &form).status, 403);
    for missing in ["/label/second", "/label/first?metric=steps_score"] {
        assert_eq!(viewed.get(missing).status, 422, "{missing}");
    }
    assert!(!stage.path("runs/first/labels.jsonl").exists());
}
