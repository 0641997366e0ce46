//! Outputs that could replace a part of a run, and folders without a name.

use std::fs;

use crate::stage::Stage;

#[test]
fn no_output_is_written_into_the_folder_of_a_run() {
    let stage = Stage::new();
    stage.eval("--no-model --run runs/one -o results.jsonl");
    let before = stage.names("runs/one");
    let manifest = stage.read("runs/one/run.json");
    let eval = "eval reference.json responses.jsonl --no-model";
    for line in [
        format!("{eval} -o runs/one/run.json"),
        format!("{eval} -o runs/one/results.jsonl"),
        format!("{eval} -o runs/one/report.html"),
        format!("{eval} -a runs/one/aggregates.json"),
        format!("{eval} -s runs/one/statistics.json"),
        format!("{eval} --run runs/one --fresh -o runs/one/records.jsonl"),
        "aggregate results.jsonl -a runs/one/aggregates.json".into(),
        "compare results.jsonl results.jsonl -o runs/one/results.json".into(),
        "report results.jsonl -o runs/one/report.html".into(),
    ] {
        let refused = stage.run(&line);
        assert_eq!(refused.code, 2, "{line}: {refused}");
        assert!(refused.stderr.contains("replace a part of it"), "{line}: {refused}");
        assert!(refused.stderr.contains("hint: write it elsewhere"), "{line}: {refused}");
    }
    assert_eq!(stage.names("runs/one"), before);
    assert_eq!(stage.read("runs/one/run.json"), manifest);
}

#[test]
fn an_output_never_replaces_a_file_of_the_run_that_is_being_made() {
    let stage = Stage::new();
    fs::create_dir_all(stage.path("runs/new")).expect("made");
    for name in ["run.json", "results.jsonl"] {
        let refused = stage.run(&format!(
            "eval reference.json responses.jsonl --no-model --run runs/new -o runs/new/{name}"
        ));
        assert_eq!(refused.code, 2, "{refused}");
        assert!(refused.stderr.contains("or of the run, and could replace"), "{refused}");
    }
    assert!(stage.names("runs/new").is_empty());
}

#[test]
fn a_run_needs_a_folder_with_a_name() {
    let stage = Stage::new();
    for line in [
        "eval reference.json responses.jsonl --run=",
        "bench --queries q.json --agent command:true --run=",
    ] {
        let refused = stage.run(line);
        assert_eq!(refused.code, 2, "{refused}");
        assert!(refused.stderr.contains("a value is required for '--run <FOLDER>'"), "{refused}");
    }
}

#[test]
fn scores_that_their_metrics_cannot_have_are_told_with_their_places() {
    let stage = Stage::new();
    let row = |id: &str, score: &str| {
        format!("{{\"template_id\": \"t\", \"question_id\": \"{id}\", \"steps_score\": {score}}}\n")
    };
    stage.write("fine.jsonl", &[row("a", "1.0"), row("b", "0.5")].concat());
    stage.write("off.jsonl", &[row("a", "1.0"), row("b", "85")].concat());
    let told = "off.jsonl:2:57: `steps_score` is 85, outside 0 to 1";
    for line in ["aggregate off.jsonl", "compare fine.jsonl off.jsonl"] {
        let ended = stage.run(line);
        assert_eq!(ended.code, 0, "{ended}");
        assert!(ended.stderr.contains(&format!("warning: {told}")), "{ended}");
        assert!(ended.stdout.contains("1.000") && !ended.stdout.contains("43"), "{ended}");
    }
    let checked = stage.run("validate off.jsonl");
    assert_eq!(checked.code, 2, "{checked}");
    assert!(checked.stdout.contains(told), "{checked}");
    let gated = stage.run("aggregate off.jsonl --fail-under steps_score=0.9 --quiet");
    assert_eq!(gated.code, 1, "a score that does not count is a verdict that is missing: {gated}");
}
