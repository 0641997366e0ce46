//! Questions with several answers, some of which are missing.

use serde_json::{Value, json};

use crate::stage::Stage;

/// Runs of two questions with three answers each, all right; `lacking` lacks one answer.
fn two_runs() -> Stage {
    let stage = Stage::new();
    let answer = |id: &str, trial: u32| {
        let step = json!({"name": "lookup", "id": "s", "status": "success", "output": "x"});
        json!({"question_id": id, "trial": trial, "actual_answer": "It is x.",
            "actual_steps": [step]})
        .to_string()
    };
    for (run, last) in [("whole", 3), ("lacking", 2)] {
        let first = (1..=3).map(|trial| answer("q1", trial));
        let lines: Vec<String> = first.chain((1..=last).map(|trial| answer("q2", trial))).collect();
        stage.write("responses.jsonl", &lines.join("\n"));
        stage.eval(&format!("--no-model --run {run} --name {run} -o {run}.jsonl"));
    }
    stage
}

fn compared(stage: &Stage, runs: &str) -> Value {
    let ended = stage.run(&format!("compare {runs} --json"));
    let json: Value = serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("{ended}"));
    json["candidates"][0].clone()
}

#[test]
fn an_answer_that_is_missing_does_not_look_complete() {
    let stage = two_runs();
    for (runs, coverage, missing) in [
        ("whole lacking", json!([1.0, 5.0 / 6.0]), json!([0, 1])),
        ("lacking whole", json!([5.0 / 6.0, 1.0]), json!([1, 0])),
        ("whole.jsonl lacking.jsonl", json!([1.0, 5.0 / 6.0]), json!([0, 1])),
    ] {
        let compared = compared(&stage, runs);
        let steps = &compared["metrics"]["steps_score"];
        assert_eq!((&steps["coverage"], &steps["n"]), (&coverage, &json!(2)), "{runs}");
        assert_eq!((&compared["missing"], &compared["errors"]), (&missing, &missing), "{runs}");
        assert_eq!(compared["trials"], json!([3, 3]));
    }
    let with_errors = &compared(&stage, "whole lacking")["metrics"]["steps_score"];
    let change = with_errors["delta_errors_as_zero"].as_f64().expect("a number");
    assert!((change + 1.0 / 6.0).abs() < 1e-12, "{change}");
    let told = stage.run("compare whole lacking");
    let extent = "2 of 2 questions joined, with 3 and 3 answers each · errors 0, 1 (missing 0, 1)";
    assert!(told.stdout.contains(extent), "{told}");
    assert!(told.stdout.contains("83.3 % of B have a number"), "{told}");
}

#[test]
fn gates_do_not_pass_over_answers_that_are_missing() {
    let stage = two_runs();
    for (line, why) in [
        ("--fail-under steps_score=0.9", "83.3 % of the answers to the 2 questions"),
        ("--max-errors 0", "1 of 6 responses failed or are missing"),
    ] {
        for command in ["compare whole lacking", "aggregate lacking.jsonl"] {
            let ended = stage.run(&format!("{command} {line} --quiet"));
            assert_eq!(ended.code, 1, "{ended}");
            assert!(ended.stderr.contains(why), "{ended}");
        }
        assert_eq!(stage.run(&format!("compare whole whole {line}")).code, 0);
    }
}

#[test]
fn a_question_that_lacks_an_answer_is_broken() {
    let stage = two_runs();
    stage.write("gates.yaml", "gates:\n- {questions: [q2], may_break: 0}\n");
    for command in ["compare whole lacking", "aggregate lacking.jsonl"] {
        let ended = stage.run(&format!("{command} --gates gates.yaml --quiet"));
        assert_eq!(ended.code, 1, "{ended}");
        assert!(ended.stderr.contains("q2 may not break: lacking answers: q2"), "{ended}");
    }
    for command in ["compare whole whole", "compare lacking whole", "aggregate whole.jsonl"] {
        let ended = stage.run(&format!("{command} --gates gates.yaml --quiet"));
        assert_eq!(ended.code, 0, "{ended}");
    }
}

#[test]
fn a_question_with_a_trial_that_failed_is_broken() {
    let stage = two_runs();
    stage.write("gates.yaml", "gates:\n- {questions: [q2], may_break: 0}\n");
    let responses = stage.read("responses.jsonl");
    let third = json!({"question_id": "q2", "trial": 3, "status": "error", "error": "timeout"});
    stage.write("responses.jsonl", &format!("{responses}\n{third}\n"));
    stage.eval("--no-model --run failed --name failed -o failed.jsonl");
    for command in ["compare whole failed", "aggregate failed.jsonl"] {
        let ended = stage.run(&format!("{command} --gates gates.yaml --quiet"));
        assert_eq!(ended.code, 1, "{ended}");
        assert_eq!(stage.run(&command.replace("whole failed", "failed failed")).code, 0);
    }
}

#[test]
fn a_result_that_is_there_twice_makes_no_other_question_lack_one() {
    let stage = Stage::new();
    stage.eval("--no-model -o once.jsonl");
    let once = stage.read("once.jsonl");
    let first = once.lines().next().expect("a line");
    stage.write("twice.jsonl", &format!("{once}{first}\n"));
    let ended = stage.run("aggregate twice.jsonl -s statistics.json --max-errors 0");
    assert_eq!(ended.code, 0, "{ended}");
    let statistics = stage.json("statistics.json");
    assert_eq!((&statistics["answers"], &statistics["missing"]), (&json!(3), &json!(0)));
    assert_eq!(statistics["micro"]["steps_score"]["coverage"], json!(1.0));
    let own = compared(&stage, "once.jsonl twice.jsonl");
    assert_eq!((&own["missing"], &own["trials"]), (&json!([0, 0]), &json!([1, 1])));
    assert_eq!(own["metrics"]["steps_score"]["coverage"], json!([1.0, 1.0]));
}

#[test]
fn tables_tell_questions_from_answers_and_say_how_often_questions_are_solved() {
    let stage = two_runs();
    let told = stage.run("eval reference.json responses.jsonl --no-model");
    for words in [
        "5 answers to 2 questions in 1 template",
        "template     answers  errors",
        "all answers",
        "1 answer is missing: some questions have fewer than others",
        "0 % of 2 questions are solved sometimes, by steps_score",
        "pass@k",
    ] {
        assert!(told.stdout.contains(words), "{words}: {told}");
    }
    let statistics = stage.json("lacking/statistics.json");
    let counts = ["questions", "answers", "missing"].map(|key| statistics[key].clone());
    assert_eq!(counts, [json!(2), json!(5), json!(1)]);
    let steps = &statistics["micro"]["steps_score"];
    assert_eq!((&steps["n"], &steps["n_error"]), (&json!(6), &json!(1)));
    let listed: Value = serde_json::from_str(&stage.run("runs . --json").stdout).expect("JSON");
    assert_eq!((&listed[0]["n"], &listed[1]["n"]), (&json!(2), &json!(2)));
}

#[test]
fn results_of_one_question_are_several_answers_and_that_is_told() {
    let stage = two_runs();
    let told = stage.run("aggregate whole.jsonl");
    assert!(told.stdout.contains("6 results of 2 questions"), "{told}");
    assert!(!told.stderr.contains("id of an earlier one"), "trials tell them apart: {told}");
    let twice = stage.run("aggregate whole.jsonl whole.jsonl -s statistics.json");
    let warning = "6 results have the id of an earlier one, such as `q1`: they count as further";
    assert!(twice.stderr.contains(warning), "{twice}");
    let statistics = stage.json("statistics.json");
    assert_eq!((&statistics["questions"], &statistics["answers"]), (&json!(2), &json!(12)));
}

#[test]
fn a_report_tells_how_often_questions_are_solved_and_what_is_missing() {
    let stage = two_runs();
    let made = stage.run("report lacking -o one.html");
    assert_eq!(made.code, 0, "{made}");
    let page = stage.read("one.html");
    assert!(page.contains("pass@k") && page.contains("solved sometimes"), "pass rates");
    assert!(page.contains("1 of the answers failed or are missing"), "what is missing");
    assert!(!page.contains("± is half"), "no sign is explained that the page does not show");
    stage.run("report whole lacking -o two.html");
    assert!(stage.read("two.html").contains("B lacking: 0 % of 2 questions"), "of each run");
}
