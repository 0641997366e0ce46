//! `juror label`: which answers people get, and what they see of them.

use insta::assert_snapshot;
use juror_testing::misfits;
use serde_json::{Value, json};

use crate::stage::{Stage, result};

/// Forty answers; every fourth is in doubt.
fn forty() -> Stage {
    let score = |at: usize| {
        if at.is_multiple_of(4) { 0.5 } else { f64::from(u8::from(at.is_multiple_of(3))) }
    };
    let results: Vec<Value> = (0..40).map(|at| result(at, score(at), "openai/m")).collect();
    Stage::with_results("results.jsonl", &results)
}

#[test]
fn people_see_the_answer_and_nothing_of_the_judge() {
    let stage = forty();
    let ended = stage.done("label results.jsonl -o labels.jsonl --n 12 --share-random 0.5");
    assert_eq!(
        ended.stderr,
        "12 answers to label for answer_f1 in labels.jsonl: 6 random, 6 disagreements\n"
    );
    let text = stage.read("labels.jsonl");
    for hidden in ["answer_correctness_reason", "as the judge sees it", "openai", "judged_by"] {
        assert!(!text.contains(hidden), "{hidden}");
    }
    let labels = stage.json_lines("labels.jsonl");
    assert_eq!(labels.len(), 12);
    assert!(labels.iter().all(|own| own["label"].is_null() && own.get("answer_f1").is_none()));
    assert_snapshot!(text.lines().next().expect("a line"));
    let schema: Value = serde_json::from_str(&stage.done("schema label").stdout).expect("JSON");
    for label in &labels {
        assert_eq!(misfits(label, &schema), Vec::<String>::new());
    }
}

#[test]
fn the_same_seed_chooses_the_same_answers() {
    let stage = forty();
    let of_seed = |name: &str, seed: u64| {
        stage.done(&format!("label results.jsonl -o {name} --n 12 --seed {seed} -q"));
        stage.read(name)
    };
    assert_eq!(of_seed("a.jsonl", 1), of_seed("b.jsonl", 1));
    assert_ne!(of_seed("c.jsonl", 2), of_seed("d.jsonl", 3));
    let ordered = |text: String| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    let first: Vec<String> = of_seed("e.jsonl", 1).lines().map(str::to_owned).collect();
    assert_ne!(first, ordered(of_seed("f.jsonl", 1)), "the order is shuffled");
}

#[test]
fn disagreements_are_the_scores_nearest_to_the_middle() {
    let stage = forty();
    stage.done("label results.jsonl -o labels.jsonl --n 10 --share-random 0 -q");
    let labels = stage.json_lines("labels.jsonl");
    let is_doubtful = |own: &Value| {
        let id = own["id"].as_str().and_then(|id| id[1..].parse::<usize>().ok());
        id.expect("a number").is_multiple_of(4)
    };
    assert!(labels.iter().all(|own| own["sample"] == "disagreement" && is_doubtful(own)));
}

#[test]
fn answers_on_which_the_judge_contradicts_itself_come_first() {
    let mut results: Vec<Value> = (0..12).map(|at| result(at, 0.5, "openai/m")).collect();
    results[7]["answer_f1_repeats"] = json!([0.0, null, 1.0]);
    let stage = Stage::with_results("results.jsonl", &results);
    stage.done("label results.jsonl -o labels.jsonl --n 1 --share-random 0 -q");
    assert_eq!(stage.json_lines("labels.jsonl")[0]["id"], "q7");
    let printed = stage.done("plan results.jsonl --metric total_tokens").stdout;
    assert!(!printed.contains("variance of verdicts"), "{printed}");
}

#[test]
fn answers_of_a_benchmark_are_labelled_by_set_and_trial() {
    let stage = Stage::new();
    let attempt = |trial: u32, status: &str, score: f64| {
        json!({"query_id": 7, "test_set": "G1", "trial": trial, "query_text": "When is it open?",
            "system_answer": {"final_answer": format!("At {trial}.")},
            "scores": {"sopr_score": score, "api_call_score": 0.0},
            "evaluation": {"answer_status": status, "evaluation_method": "model", "reason": "so"}})
    };
    let file = json!({
        "metadata": {"framework": "secret agent", "config": {"evaluator_model": "openai/m",
            "evaluation_method": "model"}},
        "juror": {"judge_prompts": {"answer_status": "cc33"}},
        "results": [attempt(1, "Solved", 1.0), attempt(2, "Unsolved", 0.0)]});
    stage.write("bench.json", &file.to_string());
    stage.done("label bench.json -o labels.jsonl -q");
    let text = stage.read("labels.jsonl");
    assert!(!text.contains("secret agent") && !text.contains("Solved"), "{text}");
    let mut labels = stage.json_lines("labels.jsonl");
    labels.sort_by_key(|own| own["trial"].as_u64());
    let first = &labels[0];
    assert_eq!(
        (&first["set"], &first["id"], &first["trial"]),
        (&json!("G1"), &json!("7"), &json!(1))
    );
    assert_eq!((&first["metric"], &first["answer"]), (&json!("sopr_score"), &json!("At 1.")));
    assert_eq!(first.get("template"), None);
    let filled = text.replace("\"label\": null", "\"label\": \"solved\"");
    stage.write("filled.jsonl", &filled);
    stage.done("calibrate bench.json filled.jsonl -o c.json -q");
    let judge = &stage.json("c.json")["judge"];
    assert_eq!(*judge, json!({"model": "openai/m", "prompts": {"answer_status": "cc33"}}));
}

#[test]
fn what_cannot_be_labelled_is_refused() {
    let stage = forty();
    stage.write("reference.json", "[{\"template_id\": \"t\", \"questions\": []}]");
    stage.write(
        "unjudged.jsonl",
        "{\"template_id\": \"t\", \"question_id\": \"q\", \"steps_score\": 1}\n",
    );
    stage.write("broken.json", "[{\"template_id\": \"t\", \"question_id\": \"q\"},");
    stage.write("labels.jsonl", "people's work\n");
    std::fs::create_dir(stage.path("empty")).expect("made");
    assert_snapshot!(stage.refused(&[
        "label nowhere.jsonl -o l.jsonl",
        "label reference.json -o l.jsonl",
        "label unjudged.jsonl -o l.jsonl",
        "label broken.json -o l.jsonl",
        "label empty -o l.jsonl",
        "label results.jsonl -o labels.jsonl",
        "label results.jsonl -o results.jsonl",
        "label results.jsonl -o l.jsonl --metric steps_score",
        "label results.jsonl -o l.jsonl --metric answer_relevance",
        "label results.jsonl -o l.jsonl --n 0",
        "label results.jsonl -o nowhere/l.jsonl",
        "label results.jsonl -o l.json",
        "label results.jsonl -o l.yaml",
        "label results.jsonl -o l.jsonl --share-random 1.5",
    ]));
    assert_eq!(stage.read("labels.jsonl"), "people's work\n");
}
