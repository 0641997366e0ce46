//! Gates on files of results: nothing passes that nobody measured, and nothing is left out silently.

use std::fmt::Write as _;

use crate::stage::{Ended, Stage};

/// Rows of results, the first of which is right; the rest as given.
fn results(rest: &str, n: usize) -> String {
    let mut text = r#"{"template_id": "t", "question_id": "0", "steps_score": 1.0}"#.to_owned();
    for at in 1..n {
        let _ = write!(text, "\n{{\"template_id\": \"t\", \"question_id\": \"{at}\", {rest}}}");
    }
    text + "\n"
}

fn told(ended: &Ended) -> String {
    format!("{}{}", ended.stdout, ended.stderr)
}

#[test]
fn rows_without_a_number_are_not_left_out_of_coverage() {
    for rest in [r#""steps_score": NaN"#, r#""status": "error""#, r#""steps_score_error": "x""#] {
        let stage = Stage::new();
        stage.write("results.jsonl", &results(rest, 300));
        let ended = stage.run("aggregate results.jsonl --fail-under steps_score=0.9");
        assert_eq!(ended.code, 1, "{ended}");
        assert!(told(&ended).contains("1 of the 300 questions"), "{ended}");
    }
}

#[test]
fn a_candidate_without_any_verdict_is_blocked() {
    let stage = Stage::new();
    stage.write("before.jsonl", &results(r#""steps_score": 1.0"#, 300));
    let none = results(r#""status": "error""#, 300).replace(r#""steps_score": 1.0"#, r#""x": 1"#);
    stage.write("after.jsonl", &none);
    stage.write("fall.yaml", "gates: [{metric: steps_score, max_drop: 0.01}]\n");
    stage.write("break.yaml", "gates: [{questions: ['7'], may_break: 0}]\n");
    for gates in ["fall.yaml", "break.yaml"] {
        let ended = stage.run(&format!("compare before.jsonl after.jsonl --gates {gates}"));
        assert_eq!(ended.code, 1, "{ended}");
    }
}

#[test]
fn options_on_metrics_that_nothing_has_are_refused() {
    let stage = Stage::new();
    stage.write("results.jsonl", &results(r#""steps_score": 1.0"#, 3));
    let ended = stage.run("compare results.jsonl results.jsonl --fail-under sopr_score=0.5");
    assert_eq!(ended.code, 2, "{ended}");
    let why = "--fail-under: `sopr_score` cannot be checked: answers to questions do not have";
    assert!(ended.stderr.contains(why), "{ended}");
    let ended =
        stage.run("bench --queries queries.json --agent command:true --fail-over elapsed_sec=12");
    assert_eq!(ended.code, 2, "{ended}");
    let why = "--fail-over: `elapsed_sec` cannot be checked: attempts of agents do not have";
    assert!(ended.stderr.contains(why), "{ended}");
}

#[test]
fn gates_of_files_that_are_not_checked_are_told() {
    let stage = Stage::new();
    stage.write("results.jsonl", &results(r#""steps_score": 1.0"#, 3));
    stage.write(
        "gates.yaml",
        "gates: [{metric: sopr_score, min: 0.5}, {metric: steps_score, max_drop: 0.1}]\n",
    );
    let alone = stage.run("aggregate results.jsonl --gates gates.yaml");
    let other = "gate not checked: sopr_score at least 0.5: answers to questions do not have";
    let two = "gate not checked: steps_score may fall 0.1: it takes two runs";
    assert_eq!(alone.code, 0, "{alone}");
    assert!(alone.stderr.contains(other) && alone.stderr.contains(two), "{alone}");
    let compared = stage.run("compare results.jsonl results.jsonl --gates gates.yaml");
    assert!(compared.stderr.contains(other) && !compared.stderr.contains(two), "{compared}");
    for line in [
        "aggregate results.jsonl --gates gates.yaml --quiet",
        "eval reference.json responses.jsonl --no-model --gates gates.yaml --quiet",
    ] {
        let quiet = stage.run(line);
        assert!(quiet.stderr.contains(other) && quiet.stderr.contains(two), "{quiet}");
    }
    let compared = stage.run("compare results.jsonl results.jsonl --gates gates.yaml --quiet");
    assert!(compared.stderr.contains(other), "{compared}");
}

#[test]
fn gates_that_are_not_met_are_named_with_their_candidate() {
    let stage = Stage::new();
    stage.write("before.jsonl", &results(r#""steps_score": 1.0"#, 30));
    for name in ["one.jsonl", "other.jsonl"] {
        stage.write(name, &results(r#""steps_score": 0.0"#, 30));
    }
    stage.write(
        "gates.yaml",
        "gates: [{template: t, metric: steps_score, min: 0.9}, {questions: ['7', '8']}]\n",
    );
    let line = "compare before.jsonl one.jsonl other.jsonl --gates gates.yaml --quiet";
    let ended = stage.run(line);
    assert_eq!((ended.code, &*ended.stdout), (1, ""), "{ended}");
    for told in [
        "gate not met by one.jsonl: steps_score at least 0.9 in t: steps_score is 0.0333\n",
        "gate not met by other.jsonl: steps_score at least 0.9 in t: steps_score is 0.0333\n",
        "gate not met by other.jsonl: of 2 questions 0 may break: worse by steps_score: 7, 8\n",
    ] {
        assert!(ended.stderr.contains(told), "{told}: {ended}");
    }
    let alone = stage.run("aggregate one.jsonl --fail-under steps_score=0.5 --quiet");
    assert_eq!(alone.stderr, "gate not met: steps_score at least 0.5: steps_score is 0.0333\n");
    let eval = stage
        .run("eval reference.json responses.jsonl --no-model --fail-under steps_score=0.9 --json");
    let summary: serde_json::Value = serde_json::from_str(&eval.stdout).expect("JSON");
    assert_eq!(summary["gates_not_met"][0], "steps_score at least 0.9: steps_score is 0.5000");
}

/// Two results with a judge, whose scores are given.
fn judged(model: &str, scores: [f64; 2]) -> String {
    let row = |(at, score): (usize, f64)| {
        format!(
            "{{\"template_id\": \"t{at}\", \"question_id\": \"1\", \"answer_relevance\": {score}, \
             \"error\": null, \"judged_by\": {{\"model\": \"{model}\", \"prompts\": {{}}}}}}\n"
        )
    };
    scores.into_iter().enumerate().map(row).collect()
}

#[test]
fn files_judged_by_different_models_are_not_compared_by_verdicts() {
    let stage = Stage::new();
    stage.write("a.jsonl", &judged("m", [1.0, 0.5]));
    stage.write("b.jsonl", &judged("n", [0.5, 0.5]));
    let different = stage.run("compare a.jsonl b.jsonl");
    assert!(told(&different).contains("another judge"), "{different}");
    assert!(told(&different).contains("judged by different judges"), "{different}");
    stage.write("b.jsonl", &judged("m", [0.5, 0.5]));
    let same = stage.run("compare a.jsonl b.jsonl");
    assert!(told(&same).contains("same judge"), "{same}");
    assert!(told(&same).contains("1 broken, 0 fixed by answer_relevance"), "{same}");
}

#[test]
fn equal_ids_of_different_templates_have_their_own_reasons() {
    let stage = Stage::new();
    let row = |template: &str, score: f64, why: &str| {
        format!(
            "{{\"template_id\": \"{template}\", \"question_id\": \"1\", \"answer_f1\": {score}, \
             \"answer_correctness_reason\": \"{why}\"}}\n"
        )
    };
    stage.write("a.jsonl", &[row("t", 1.0, ""), row("u", 1.0, "")].concat());
    stage.write("b.jsonl", &[row("t", 1.0, "all said"), row("u", 0.0, "nothing said")].concat());
    let ended = stage.run("compare a.jsonl b.jsonl");
    assert!(told(&ended).contains("nothing said"), "{ended}");
    assert!(!told(&ended).contains("all said"), "{ended}");
}
