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
    assert!(refused.stderr.contains("hint: run the command that began it again"), "{refused}");
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
fn results_that_were_only_rewritten_are_compared_with_a_warning() {
    let stage = two_runs();
    change_results(&stage, |results| results.replace("\"q1\"", " \"q1\""));
    let ended = stage.run("compare runs/whole runs/hurt");
    assert_eq!(ended.code, 0, "{ended}");
    assert!(ended.stderr.contains("warning: runs/hurt: results.jsonl was changed"), "{ended}");
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
