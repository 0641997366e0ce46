//! Lists of runs, and single ones.

use std::fs;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::stage::{Ended, Stage};

/// Compares with a snapshot, without what differs from run to run.
fn check(name: &str, ended: &Ended) {
    let mut settings = insta::Settings::clone_current();
    for (pattern, word) in [
        (r"\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?", "<time>"),
        (r"\d{4}-\d\d-\d\dT[0-9:.]+Z", "<time>"),
        (r"run\.json [0-9.]+ k?B", "run.json <size>"),
        (r"\b[0-9a-f]{12}\b", "<hash>"),
        (r"· [0-9a-f]{6} ·", "· <id> ·"),
        (r#""id": "[0-9a-f]{8}""#, r#""id": "<id>""#),
    ] {
        settings.add_filter(pattern, word);
    }
    settings.bind(|| assert_snapshot!(name, ended));
}

/// A folder with a complete run, an unfinished one, one of an earlier release, and one that is torn.
fn some_runs() -> Stage {
    let stage = Stage::new();
    stage.eval("--run runs/one --name main");
    stage.eval("--run runs/two --name branch --profile 6");
    stage.change_run("runs/two", |run| {
        run["is_complete"] = json!(false);
        run.as_object_mut().expect("a manifest").remove("ended");
    });
    for name in ["results.jsonl", "aggregates.json"] {
        fs::remove_file(stage.path("runs/two").join(name)).expect("removed");
    }
    stage.eval("--run runs/old");
    stage.change_run("runs/old", |run| {
        let run = run.as_object_mut().expect("a manifest");
        run.remove("command");
        run.remove("results");
        let identity = run["identity"].as_object_mut().expect("an identity");
        identity.remove("rules");
        identity["reference"].as_object_mut().expect("an input").remove("questions");
    });
    for name in ["results.jsonl", "aggregates.json"] {
        fs::remove_file(stage.path("runs/old").join(name)).expect("removed");
    }
    fs::create_dir(stage.path("runs/torn")).expect("made");
    stage.write("runs/torn/run.json", "{\"format\": \"juror.run/1\", \"id");
    fs::create_dir(stage.path("runs/later")).expect("made");
    stage.write("runs/later/run.json", "{\"format\": \"juror.run/9\"}");
    stage.write("runs/notes.md", "not a run");
    stage
}

#[test]
fn runs_are_listed_and_shown() {
    let stage = some_runs();
    check("runs", &stage.run("runs"));
    check("runs_json", &stage.run("runs runs --json"));
    check("runs_show", &stage.run("runs show main"));
    check("runs_show_unfinished", &stage.run("runs show runs/two"));
    check("runs_show_old", &stage.run("runs show old"));
    check("runs_show_torn", &stage.run("runs show runs/torn"));
    check("runs_show_none", &stage.run("runs show nothing"));
    check("runs_show_several", &{
        stage.eval("--run runs/three --name main");
        stage.run("runs show main")
    });
}

#[test]
fn means_are_listed_and_shown_with_their_intervals() {
    let stage = Stage::new();
    let mut reference = stage.json("reference.json");
    let mut second = reference[0].clone();
    second["template_id"] = json!("u");
    for (at, id) in ["q3", "q4"].into_iter().enumerate() {
        second["questions"][at]["id"] = json!(id);
    }
    reference.as_array_mut().expect("templates").push(second);
    stage.write("reference.json", &reference.to_string());
    let again = stage.read("responses.jsonl").replace("q1", "q3").replace("\"y\"", "\"x\"");
    let again = again.replace("q2", "q4");
    stage.write("responses.jsonl", &(stage.read("responses.jsonl") + &again));
    stage.eval("--run runs/one");
    let statistics = stage.json("runs/one/statistics.json");
    let listed: Value = serde_json::from_str(&stage.run("runs --json").stdout).expect("JSON");
    let interval = &statistics["micro"]["steps_score"]["interval"];
    assert!(interval.is_array(), "{statistics}");
    assert_eq!(listed[0]["intervals"]["steps_score"], *interval);
    for line in ["runs", "runs show runs/one"] {
        let told = stage.run(line);
        assert!(told.stdout.contains("0.750 (0.00…1.00)*"), "{told}");
        assert!(told.stdout.contains("* fewer than 10 templates or queries"), "{told}");
    }
}

#[test]
fn a_run_is_shown_to_machines_with_its_manifest() {
    let stage = some_runs();
    let shown: Value =
        serde_json::from_str(&stage.run("runs show runs/one --json").stdout).expect("JSON");
    assert_eq!(shown["run"], stage.json("runs/one/run.json"));
    assert_eq!((&shown["state"], &shown["lacks"]), (&json!("complete"), &json!([])));
    let size = stage.read("runs/one/results.jsonl").len();
    assert_eq!(shown["files"]["results.jsonl"], size);
    let old: Value = serde_json::from_str(&stage.run("runs show old --json").stdout).expect("JSON");
    let lacks = ["results.jsonl", "aggregates.json", "hashes of questions", "rules"];
    assert_eq!(old["lacks"], json!(lacks));
}

#[test]
fn runs_are_looked_for_where_settings_say_and_then_in_the_usual_folders() {
    let stage = Stage::new();
    let none = stage.run("runs");
    assert_eq!(none.code, 2, "{none}");
    assert!(none.stderr.contains(".juror/runs: there is no such file or folder"), "{none}");
    for (folder, options) in [("runs", ""), (".juror/runs", ""), ("kept", "-c juror.yaml")] {
        stage.write("juror.yaml", "runs: {folder: kept}\n");
        stage.eval(&format!("--run {folder}/one"));
        let listed = stage.run(&format!("runs {options}"));
        assert!(listed.stdout.contains(&format!("\n{folder}/one ")), "{listed}");
    }
    let one = stage.run("runs kept/one");
    assert!(one.stdout.contains("\nkept/one "), "a run itself can be named: {one}");
    fs::create_dir(stage.path("empty")).expect("made");
    let empty = stage.run("runs empty");
    assert_eq!((empty.code, &*empty.stdout), (0, ""));
    assert_eq!(empty.stderr, "empty: there are no runs here\n");
}

#[test]
fn names_of_runs_cannot_control_the_terminal() {
    let stage = Stage::new();
    stage.eval("--run runs/one");
    stage.change_run("runs/one", |run| run["name"] = json!("\u{1b}[2Jgone"));
    for line in ["runs", "runs show runs/one"] {
        let told = stage.run(line);
        assert!(told.stdout.contains("gone") && !told.stdout.contains('\u{1b}'), "{told}");
    }
}
