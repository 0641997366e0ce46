//! Runs that are marked as complete, and whose results are not those that they had.

use std::fs;

use serde_json::{Value, json};

use crate::stage::{Ended, Stage};

/// A whole run, and one to damage.
fn two_runs() -> Stage {
    let stage = Stage::new();
    stage.eval("--no-model --run runs/whole --name whole");
    stage.eval("--no-model --run runs/hurt --name hurt");
    stage
}

fn change_results(stage: &Stage, change: impl FnOnce(&str) -> String) {
    let changed = change(&stage.read("runs/hurt/results.jsonl"));
    stage.write("runs/hurt/results.jsonl", &changed);
}

/// Removes what earlier releases did not write.
fn as_of_an_earlier_release(stage: &Stage) {
    stage.change_run("runs/hurt", |run| {
        run.as_object_mut().expect("a manifest").remove("results").expect("told");
    });
}

fn first_line(results: &str) -> String {
    format!("{}\n", results.lines().next().expect("a line"))
}

/// Checks that everybody tells of it, and that comparing is refused unless asked for.
fn check_told(stage: &Stage, why: &str) {
    for line in ["runs show runs/hurt", "validate runs/hurt", "compare runs/whole runs/hurt"] {
        let ended = stage.run(line);
        let told = format!("{}{}", ended.stdout, ended.stderr);
        assert!(told.contains("damaged") && told.contains(why), "{line}: {ended}");
    }
    assert_eq!(stage.run("validate runs/hurt").code, 2);
    let refused = stage.run("compare runs/whole runs/hurt");
    assert_eq!(refused.code, 2, "{refused}");
    assert!(refused.stderr.contains("hint: run the same command again"), "{refused}");
    let allowed = stage.run("compare runs/whole runs/hurt --allow-incomplete");
    assert_eq!(allowed.code, 0, "{allowed}");
    assert!(allowed.stdout.contains("B is damaged: results.jsonl"), "{allowed}");
}

fn listed(stage: &Stage) -> (Value, Ended) {
    let json: Value = serde_json::from_str(&stage.run("runs --json").stdout).expect("JSON");
    (json, stage.run("runs"))
}

#[test]
fn a_run_that_lost_results_is_not_taken_for_a_whole_one() {
    let stage = two_runs();
    let (json, _) = listed(&stage);
    assert_eq!((&json[1]["state"], &json[1]["damage"]), (&json!("complete"), &Value::Null));
    change_results(&stage, first_line);
    let (json, table) = listed(&stage);
    assert_eq!(json[1]["state"], "damaged");
    assert!(table.stdout.contains("damaged"), "{table}");
    assert!(table.stderr.contains("runs/hurt: results.jsonl was changed or cut off"), "{table}");
    check_told(&stage, "has no result of 1 of the run's 2 questions, such as `q2`");
}

#[test]
fn a_run_of_an_earlier_release_is_compared_with_its_questions() {
    let stage = two_runs();
    as_of_an_earlier_release(&stage);
    assert_eq!(stage.run("validate runs/hurt").code, 0);
    change_results(&stage, first_line);
    check_told(&stage, "has no result of 1 of the run's 2 questions, such as `q2`");
    change_results(&stage, |results| results.trim_end().to_owned());
    let (json, table) = listed(&stage);
    assert_eq!(json[1]["state"], "damaged");
    assert!(table.stderr.contains("its last line has no end"), "{table}");
}

#[test]
fn a_line_that_is_cut_off_and_other_questions_are_told() {
    let stage = two_runs();
    change_results(&stage, |results| results[..results.len() - 20].to_owned());
    check_told(&stage, "has no result of 1 of the run's 2 questions, such as `q2`");
    let stage = two_runs();
    as_of_an_earlier_release(&stage);
    change_results(&stage, |results| format!("{results}{}", results.replace("\"q1\"", "\"q9\"")));
    check_told(&stage, "has results of questions that the run did not ask, such as `q9`");
    let stage = two_runs();
    change_results(&stage, |results| results.repeat(2));
    check_told(&stage, "has 4 results, and 2 were written");
}

#[test]
fn questions_without_a_result_lower_the_coverage() {
    let stage = two_runs();
    change_results(&stage, first_line);
    for (runs, lacking) in [("runs/whole runs/hurt", 1), ("runs/hurt runs/whole", 0)] {
        let ended = stage.run(&format!("compare {runs} --allow-incomplete --by template --json"));
        let json: Value = serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("{ended}"));
        let own = &json["candidates"][0];
        assert_eq!(own["missing"][lacking], 1);
        for steps in [&own["metrics"]["steps_score"], &own["by_group"]["t"]["steps_score"]] {
            assert_eq!(steps["coverage"][lacking], 0.5, "{steps}");
            assert_eq!(steps["coverage"][1 - lacking], 1.0, "{steps}");
        }
    }
    // The question that is gone had the score 0, and the other one 1.
    let told = stage.run("compare runs/whole runs/hurt --allow-incomplete");
    assert!(told.stdout.contains("50 % of B have a number; with errors as 0"), "{told}");
    change_results(&stage, |_| {
        stage.read("runs/whole/results.jsonl").split_inclusive('\n').skip(1).collect()
    });
    let ended = stage.run("compare runs/whole runs/hurt --allow-incomplete --json");
    let json: Value = serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("{ended}"));
    let steps = &json["candidates"][0]["metrics"]["steps_score"];
    assert_eq!(steps["delta_errors_as_zero"], -0.5, "the first question is lost: {steps}");
}

#[test]
fn results_that_were_changed_are_not_compared() {
    let stage = two_runs();
    change_results(&stage, |results| results.replace("\"q1\"", " \"q1\""));
    check_told(&stage, "results.jsonl was changed or cut off");
    let same_size = |results: &str| results.replace("\"steps_score\": 0.0", "\"steps_score\": 1.0");
    let stage = two_runs();
    change_results(&stage, same_size);
    check_told(&stage, "results.jsonl was changed since the run ended");
    let refused = stage.run("compare runs/whole runs/hurt --quiet --fail-under steps_score=0.1");
    assert_eq!(refused.code, 2, "{refused}");
    assert_eq!(stage.run("report runs/hurt -o hurt.html --quiet").code, 0);
    assert!(stage.read("hurt.html").contains("results.jsonl was changed since the run ended"));
}

#[test]
fn a_page_tells_once_that_a_run_is_damaged() {
    let stage = two_runs();
    change_results(&stage, first_line);
    let made = stage.run("compare runs/whole runs/hurt --allow-incomplete -o page.html --quiet");
    assert_eq!(made.code, 0, "{made}");
    let page = stage.read("page.html");
    assert_eq!(page.matches("has no result of 1 of the run").count(), 1);
}

#[test]
fn whoever_reads_a_damaged_run_is_told() {
    let stage = two_runs();
    change_results(&stage, first_line);
    let ended = stage.run("plan runs/hurt");
    assert!(ended.stderr.contains("runs/hurt is damaged: results.jsonl has no result"), "{ended}");
    stage.write("labels.jsonl", "");
    for line in ["label runs/hurt -o chosen.jsonl", "calibrate runs/hurt labels.jsonl"] {
        let ended = stage.run(line);
        let words = "warning: runs/hurt is damaged: results.jsonl was changed or cut off";
        assert!(ended.stderr.contains(words), "{line}: {ended}");
    }
}

#[test]
fn a_file_that_is_gone_is_not_blamed_on_an_earlier_release() {
    let stage = two_runs();
    fs::remove_file(stage.path("runs/hurt/results.jsonl")).expect("removed");
    let refused = stage.run("compare runs/whole runs/hurt");
    assert_eq!(refused.code, 2, "{refused}");
    assert!(refused.stderr.contains("damaged: results.jsonl is missing"), "{refused}");
    let shown = stage.run("runs show runs/hurt");
    assert!(!shown.stdout.contains("earlier release"), "{shown}");
}

#[test]
fn repeated_runs_have_ids_of_their_own() {
    let stage = two_runs();
    let id = |folder: &str| stage.json(&format!("{folder}/run.json"))["id"].clone();
    assert_ne!(id("runs/whole"), id("runs/hurt"));
    let first = id("runs/hurt");
    stage.change_run("runs/hurt", |run| run["is_complete"] = json!(false));
    stage.eval("--no-model --run runs/hurt --name hurt");
    assert_eq!(id("runs/hurt"), first, "a run that goes on is the same");
}
