//! `juror plan`: how many questions it takes.

use insta::assert_snapshot;
use juror_testing::misfits;
use serde_json::{Value, json};

use crate::stage::{Stage, lines, result};

/// Two runs of 40 questions in ten templates, of which the second is better at some.
fn two_runs() -> Stage {
    let run = |better: usize| -> Vec<Value> {
        let score =
            |at: usize| f64::from(u8::try_from((at * 7 + better * at) % 5).expect("few")) / 4.0;
        let own = |at: usize| {
            let mut own = result(at, score(at), "m");
            own["template_id"] = json!(format!("t{}", at / 4));
            own
        };
        (0..40).map(own).collect()
    };
    let stage = Stage::with_results("a.jsonl", &run(0));
    stage.write("b.jsonl", &lines(&run(1)));
    stage
}

#[test]
fn every_number_says_what_it_rests_on() {
    let stage = two_runs();
    let question =
        |at: usize| json!({"id": format!("q{at}"), "question_text": "?", "reference_answer": "x"});
    let questions: Vec<Value> = (0..250).map(question).collect();
    let reference = json!([{"template_id": "t", "questions": questions}]);
    stage.write("reference.json", &reference.to_string());
    assert_snapshot!(stage.printed(&[
        "plan reference.json --detect 0.03",
        "plan a.jsonl --detect 0.03",
        "plan a.jsonl b.jsonl --detect 0.03 --power 0.9 --confidence 0.99",
        "plan reference.json a.jsonl b.jsonl --detect 0.1",
        "plan a.jsonl --metric total_tokens --detect 5% --correlation 0.9",
        "plan a.jsonl b.jsonl",
    ]));
}

#[test]
fn several_answers_to_a_question_tell_how_far_they_vary() {
    let attempt = |query: usize, trial: usize| {
        let is_solved = query.is_multiple_of(3) || (query + trial).is_multiple_of(4);
        let first = f64::from(u8::from(is_solved));
        // On every tenth query the judge contradicts itself.
        let second = if query % 10 == 1 { 1.0 - first } else { first };
        let status = if is_solved { "Solved" } else { "Unsolved" };
        json!({"query_id": query, "test_set": "G1", "trial": trial, "query_text": "?",
            "system_answer": {"final_answer": "x"},
            "scores": {"sopr_score": f64::midpoint(first, second), "api_call_score": 0.5},
            "evaluation": {"answer_status": status, "evaluation_method": "model",
                "sopr_score_repeats": [first, second]}})
    };
    let attempts: Vec<Value> = (0..30)
        .flat_map(|query| (1..=3).map(move |trial| (query, trial)))
        .map(|(query, trial)| attempt(query, trial))
        .collect();
    let stage = Stage::with_results("bench.jsonl", &attempts);
    assert_snapshot!(stage.done("plan bench.jsonl --detect 0.2").stdout);
    let needed = |trials: u32| {
        let line = format!("plan bench.jsonl --detect 0.05 --trials {trials} --json");
        let plan: Value = serde_json::from_str(&stage.done(&line).stdout).expect("JSON");
        plan["questions_needed"].as_u64().expect("a number")
    };
    assert!(needed(1) > needed(3) && needed(3) > needed(10));
}

#[test]
fn the_plan_for_machines_has_the_same_numbers() {
    let stage = two_runs();
    let plan: Value =
        serde_json::from_str(&stage.done("plan a.jsonl b.jsonl --detect 0.03 --json").stdout)
            .expect("JSON");
    let schema: Value = serde_json::from_str(&stage.done("schema plan").stdout).expect("JSON");
    assert_eq!(misfits(&plan, &schema), Vec::<String>::new());
    assert_eq!((&plan["format"], &plan["metric"]), (&json!("juror.plan/1"), &json!("answer_f1")));
    assert_eq!(plan["spread"]["basis"], "paired_differences");
    let about = plan["rests_on"]["variance_of_differences"].as_str().expect("a text");
    assert_eq!(about, "40 questions of a.jsonl and b.jsonl, paired");
}

#[test]
fn what_cannot_be_planned_is_refused() {
    let stage = two_runs();
    let equal: Vec<Value> = (0..4).map(|at| result(at, 1.0, "m")).collect();
    stage.write("equal.jsonl", &lines(&equal));
    stage.write("one.jsonl", &lines(&equal[..1]));
    let others: Vec<Value> = (100..104).map(|at| result(at, 0.5, "m")).collect();
    stage.write("others.jsonl", &lines(&others));
    stage.write("queries.json", "[{\"query_id\": 1, \"query\": \"?\", \"api_list\": []}]");
    stage.write(
        "bench.jsonl",
        "{\"query_id\": 1, \"system_answer\": {}, \"scores\": {\"sopr_score\": 1}}\n",
    );
    stage.write("responses.jsonl", "{\"question_id\": \"q\", \"actual_answer\": \"x\"}\n");
    assert_snapshot!(stage.refused(&[
        "plan nowhere.yaml",
        "plan responses.jsonl",
        "plan a.jsonl --metric steps_score",
        "plan equal.jsonl --detect 0.1",
        "plan one.jsonl --detect 0.1",
        "plan a.jsonl others.jsonl --detect 0.1",
        "plan a.jsonl a.jsonl --detect 0.1",
        "plan a.jsonl bench.jsonl",
        "plan a.jsonl b.jsonl equal.jsonl",
        "plan a.jsonl queries.json queries.json",
        "plan a.jsonl queries.json",
        "plan queries.json --metric total_tokens",
        "plan queries.json --detect 5%",
        "plan a.jsonl --trials 3",
        "plan a.jsonl --detect 0",
        "plan a.jsonl --power 1",
        "plan a.jsonl --confidence 95",
    ]));
}

#[test]
fn what_cannot_be_planned_is_told_with_what_to_do() {
    let stage = two_runs();
    let row = |at: usize, score: f64| result(at, score, "m");
    stage.write("one.jsonl", &lines(&[row(0, 1.0)]));
    stage.write("same.jsonl", &lines(&(0..9).map(|at| row(at, 1.0)).collect::<Vec<_>>()));
    for (line, why) in [
        ("plan a.jsonl --detect 0", "expected a number above 0"),
        ("plan a.jsonl --detect -0.1", "expected a number above 0, or a percentage, found `-0.1`"),
        ("plan a.jsonl --detect 3", "is from 0 to 1, and cannot differ by 3\n  hint: write 0.03"),
        ("plan one.jsonl --detect 0.03", "one question with `answer_f1` is not enough"),
        ("plan same.jsonl --detect 0.03", "does not vary from question to question"),
        ("plan a.jsonl --detect 0.03 --correlation 1", "nothing varies from question to question"),
    ] {
        let ended = stage.run(line);
        assert_eq!(ended.code, 2, "{line}: {ended}");
        assert!(ended.stderr.contains(why), "{line}: {ended}");
    }
    let tokens = stage.run("plan a.jsonl --metric total_tokens --detect 50");
    assert_eq!(tokens.code, 0, "amounts have no upper end: {tokens}");
}
