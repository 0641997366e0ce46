//! `juror calibrate`: agreement, error rates, and corrected means.

use insta::assert_snapshot;
use juror_testing::misfits;
use serde_json::{Value, json};

use crate::stage::{Stage, label, lines, published, result};

fn near(got: &Value, wanted: f64) {
    let got = got.as_f64().expect("a number");
    assert!((got - wanted).abs() < 1e-6, "got {got}, wanted {wanted}");
}

#[test]
fn a_judge_of_passes_is_corrected_as_published() {
    let stage = published();
    let ended = stage.done("calibrate results.jsonl labels.jsonl -o calibration.json");
    assert_snapshot!(ended);
    let found = stage.json("calibration.json");
    near(&found["corrected"]["mean"], 0.714_285_714);
    near(&found["corrected"]["se"], 0.067_455_077);
    near(&found["corrected"]["interval"][0], 0.582_076);
    near(&found["corrected"]["raw"], 0.7);
    near(&found["sensitivity"]["rate"], 0.9);
    near(&found["specificity"]["rate"], 0.8);
    near(&found["agreement"]["kappa"], 0.7);
    assert_eq!(found["corrected"]["method"], "rogan_gladen");
    assert_eq!(found["judge"], json!({"model": "openai/m", "prompts": {"answer_claims": "aa11"}}));
    let schema: Value =
        serde_json::from_str(&stage.done("schema calibration").stdout).expect("JSON");
    assert_eq!(misfits(&found, &schema), Vec::<String>::new());
    let printed = stage.done("calibrate results.jsonl labels.jsonl --json").stdout;
    let printed: Value = serde_json::from_str(&printed).expect("JSON");
    assert_eq!(printed["pairs"], found["pairs"]);
}

#[test]
fn a_graded_judge_moves_by_what_people_add() {
    let results: Vec<Value> = (0..60)
        .map(|at| result(at, f64::from(u8::try_from(at % 6).expect("few")) / 5.0, "m"))
        .collect();
    let stage = Stage::with_results("results.jsonl", &results);
    // People are kinder than the judge, but not about what it gives nothing.
    let people = |at: usize| if at.is_multiple_of(6) { 0.0 } else { 1.0 };
    let mut labels: Vec<Value> =
        (0..30).map(|at| label(at, "random", &json!(people(at)), "")).collect();
    labels.push(label(31, "disagreement", &json!(0), ""));
    stage.write("labels.jsonl", &lines(&labels));
    assert_snapshot!(stage.done("calibrate results.jsonl labels.jsonl -o c.json"));
    let found = stage.json("c.json");
    near(&found["corrected"]["raw"], 0.5);
    near(&found["corrected"]["mean"], 5.0 / 6.0);
    assert_eq!(
        found["labels"],
        json!({"random": 30, "disagreement": 1, "left_out": 0, "people": 1})
    );
}

#[test]
fn several_people_agree_by_alpha() {
    let stage = published();
    let word = |at: usize| if at < 44 || (55..61).contains(&at) { "pass" } else { "fail" };
    for at in 0..100 {
        stage.append("labels.jsonl", &label(at, "random", &json!(word(at)), "bob"));
    }
    stage.done("calibrate results.jsonl labels.jsonl -o c.json -q");
    let found = stage.json("c.json");
    assert_eq!((&found["labels"]["people"], &found["labels"]["random"]), (&json!(2), &json!(100)));
    let alpha = found["agreement"]["alpha"].as_f64().expect("an alpha");
    assert!(alpha > 0.9 && alpha < 1.0, "{alpha}");
    let cautions = found["cautions"].to_string();
    assert!(cautions.contains("unsure about 2 of the random answers"), "{cautions}");
}

#[test]
fn labels_that_cannot_be_used_are_named_and_left_out() {
    let stage = published();
    let with = |at: usize, key: &str, value: Value| {
        let mut own = label(at, "random", &json!("pass"), "ann");
        own[key] = value;
        stage.append("labels.jsonl", &own);
    };
    for at in 110..115 {
        stage.append("labels.jsonl", &label(at, "random", &Value::Null, "ann"));
    }
    with(120, "label", json!("maybe"));
    with(120, "label", json!(1.5));
    with(900, "id", json!("q900"));
    with(121, "template", json!("another"));
    with(122, "answer", json!("It was something else."));
    with(5, "by", json!("ann"));
    with(123, "metric", json!("answer_relevance"));
    with(124, "judge", json!("0123456789abcdef"));
    with(125, "sample", json!("chosen"));
    stage.write("labels.jsonl", &(stage.read("labels.jsonl") + "{\"id\": \n"));
    let ended = stage.done("calibrate results.jsonl labels.jsonl -o c.json");
    assert_snapshot!(ended.stderr);
    let found = stage.json("c.json");
    assert_eq!(found["labels"]["left_out"], 15);
    near(&found["corrected"]["mean"], 0.714_285_714);
}

#[test]
fn labels_for_another_judge_count_if_that_is_asked_for() {
    let stage = published();
    stage.done("label results.jsonl -o blank.jsonl --n 150 --share-random 1 -q");
    let filled = stage.read("blank.jsonl").replace("\"label\": null", "\"label\": 1");
    stage.write("filled.jsonl", &filled);
    stage.done("calibrate results.jsonl filled.jsonl -q");
    let later = stage.read("results.jsonl").replace("aa11", "cc33");
    stage.write("later.jsonl", &later);
    let ended = stage.run("calibrate later.jsonl filled.jsonl");
    assert_eq!(ended.code, 2, "{ended}");
    assert!(ended.stderr.contains("is for another judge, and is left out"), "{ended}");
    assert!(
        ended.stderr.contains("hint: --other-judge takes labels of the same answers"),
        "{ended}"
    );
    stage.done("calibrate later.jsonl filled.jsonl --other-judge -o c.json -q");
    assert_eq!(stage.json("c.json")["judge"]["prompts"]["answer_claims"], "cc33");
}

#[test]
fn a_run_of_two_judges_is_calibrated_for_that_of_most_answers() {
    let stage = published();
    for at in 200..210 {
        stage.append("results.jsonl", &result(at, 1.0, "openai/other"));
    }
    stage.append("labels.jsonl", &label(205, "random", &json!("pass"), "ann"));
    let ended = stage.done("calibrate results.jsonl labels.jsonl -o c.json");
    assert!(ended.stderr.contains("the label of `q205` is for another judge"), "{ended}");
    assert!(ended.stderr.contains("10 answers of another judge than most are left out"), "{ended}");
    assert_eq!(stage.json("c.json")["raw"]["n"], 200);
}

#[test]
fn a_blind_judge_is_not_corrected_and_the_reason_is_said() {
    let stage = published();
    let word = |at: usize| if at.is_multiple_of(2) { "right" } else { "wrong" };
    let labels: Vec<Value> = (0..100).map(|at| label(at, "random", &json!(word(at)), "")).collect();
    stage.write("labels.jsonl", &lines(&labels));
    let ended = stage.done("calibrate results.jsonl labels.jsonl -o c.json");
    assert!(ended.stdout.contains("not corrected: the judge hardly tells good answers"), "{ended}");
    let found = stage.json("c.json");
    assert!(found["corrected"].is_null(), "{found}");
    assert!(found["not_corrected"].as_str().expect("a reason").contains("at most 0.1"));
}

#[test]
fn a_run_that_does_not_say_who_judged_is_bound_to_nobody() {
    let stage = published();
    let results: Vec<Value> = stage
        .json_lines("results.jsonl")
        .into_iter()
        .map(|mut own| {
            own.as_object_mut().expect("an object").remove("judged_by");
            own
        })
        .collect();
    stage.write("results.jsonl", &lines(&results));
    let ended = stage.done("calibrate results.jsonl labels.jsonl -o c.json");
    assert!(ended.stdout.contains("the calibration is bound to no judge"), "{ended}");
    assert!(stage.json("c.json")["judge"].is_null());
}

#[test]
fn what_cannot_be_calibrated_is_refused() {
    let stage = published();
    stage.write("empty.jsonl", "");
    let blank: String =
        stage.read("labels.jsonl").replace("\"pass\"", "null").replace("\"fail\"", "null");
    stage.write("blank.jsonl", &blank);
    assert_snapshot!(stage.refused(&[
        "calibrate results.jsonl nowhere.jsonl",
        "calibrate nowhere.jsonl labels.jsonl",
        "calibrate results.jsonl empty.jsonl",
        "calibrate results.jsonl blank.jsonl",
        "calibrate results.jsonl labels.jsonl --metric total_tokens",
        "calibrate results.jsonl labels.jsonl -o labels.jsonl",
        "calibrate results.jsonl labels.jsonl -o nowhere/c.json",
    ]));
}

#[test]
fn one_label_has_no_spread_and_says_so() {
    let scores = [0.2, 0.6, 0.9];
    let results: Vec<Value> = (0..3).map(|at| result(at, scores[at], "m")).collect();
    let stage = Stage::with_results("results.jsonl", &results);
    stage.write("one.jsonl", &lines(&[label(0, "random", &json!(1), "ann")]));
    let told = stage.done("calibrate results.jsonl one.jsonl");
    for words in ["without an interval: one label shows no spread", "1 random label is few"] {
        assert!(told.stdout.contains(words), "{words}: {told}");
    }
    assert!(!told.stdout.contains("se 0.000"), "one label has no spread: {told}");
    for name in ["kappa", "mean of people minus"] {
        let row = told.stdout.lines().find(|line| line.trim_start().starts_with(name));
        assert!(row.is_some_and(|row| row.contains('–')), "{name}: {told}");
    }
}
