//! What is removed, and what stays.

use std::fs::{self, File};

use serde_json::json;

use crate::stage::Stage;

/// Five runs, of which the third is unfinished.
fn five_runs() -> Stage {
    let stage = Stage::new();
    for n in 1..=5 {
        stage.eval(&format!("--run runs/{n}"));
    }
    stage.change_run("runs/3", |run| run["is_complete"] = json!(false));
    stage
}

#[test]
fn the_oldest_complete_runs_are_removed() {
    let stage = five_runs();
    let dry = stage.run("runs prune --keep 2 --dry-run");
    let told = "would remove runs/1\nwould remove runs/2\nwould remove 2 runs, 3 left\n";
    assert_eq!((dry.code, &*dry.stderr), (0, told));
    assert_eq!(stage.names("runs").len(), 5);
    let pruned = stage.run("runs prune --keep 2");
    let told = "removed runs/1\nremoved runs/2\nremoved 2 runs, 3 left\n";
    assert_eq!((pruned.code, &*pruned.stderr, &*pruned.stdout), (0, told, ""));
    assert_eq!(stage.names("runs"), ["3", "4", "5"]);
    assert_eq!(stage.run("runs prune --keep 2").stderr, "removed 0 runs, 3 left\n");
    let all = stage.run("runs prune --keep 1 --unfinished");
    assert_eq!((all.code, stage.names("runs")), (0, vec!["5".to_owned()]), "{all}");
}

#[test]
fn nothing_but_runs_is_removed() {
    let stage = five_runs();
    fs::create_dir(stage.path("runs/mine")).expect("made");
    stage.write("runs/mine/results.jsonl", "precious");
    stage.write("runs/notes.md", "precious");
    stage.write("runs/1/notes.md", "precious");
    fs::create_dir(stage.path("runs/later")).expect("made");
    stage.write("runs/later/run.json", "{\"format\": \"juror.run/9\"}");
    let pruned = stage.run("runs prune runs --keep 0 --unfinished");
    assert_eq!(pruned.code, 0, "{pruned}");
    assert!(pruned.stderr.contains("removed the run in runs/1; other files in it stay"));
    assert!(pruned.stderr.contains("warning: runs/later/run.json: the format `juror.run/9`"));
    assert_eq!(stage.names("runs"), ["1", "later", "mine", "notes.md"]);
    assert_eq!(stage.names("runs/1"), ["notes.md"]);
    assert_eq!(stage.read("runs/mine/results.jsonl"), "precious");
}

#[cfg(unix)]
#[test]
fn what_a_link_leads_to_stays() {
    let stage = five_runs();
    stage.eval("--run elsewhere");
    std::os::unix::fs::symlink(stage.path("elsewhere"), stage.path("runs/link")).expect("linked");
    stage.run("runs prune runs --keep 0 --unfinished");
    assert_eq!(stage.names("elsewhere").len(), 5);
}

#[test]
fn a_run_that_a_process_is_working_on_stays() {
    let stage = five_runs();
    let log = File::open(stage.path("runs/1/records.jsonl")).expect("a journal");
    log.lock().expect("locked");
    for options in ["--dry-run", ""] {
        let pruned = stage.run(&format!("runs prune --keep 3 {options}"));
        let told = "runs/1 stays: a process is working on it";
        assert!(pruned.stderr.contains(told), "{pruned}");
        assert_eq!(stage.names("runs").len(), 5);
    }
}

#[test]
fn how_many_to_keep_must_be_said() {
    let stage = five_runs();
    let refused = stage.run("runs prune");
    assert_eq!((refused.code, stage.names("runs").len()), (2, 5), "{refused}");
}
