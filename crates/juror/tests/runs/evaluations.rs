//! The run of an evaluation: its files, its identity, and how it goes on.

use std::fs;
use std::process::Command;

use juror_scripted::{Script, Server};
use juror_testing::misfits;
use serde_json::{Value, json};

use crate::stage::{Ended, Stage, end};

const FILES: [&str; 5] =
    ["aggregates.json", "records.jsonl", "results.jsonl", "run.json", "statistics.json"];

/// Judges the dataset by a model on a server.
fn judged(stage: &Stage, server: &Server, options: &str) -> Ended {
    let line = format!("eval reference.json responses.jsonl {options}");
    end(stage
        .command(&line)
        .env("OPENAI_API_KEY", "sk-never-to-be-seen")
        .env("OPENAI_BASE_URL", format!("{}/v1", server.address())))
}

#[test]
fn the_results_of_a_run_are_those_that_are_written_elsewhere() {
    for explain in ["", "--explain"] {
        let stage = Stage::new();
        stage.eval(&format!("-o out.jsonl -a agg.json --run run {explain}"));
        assert_eq!(stage.names("run"), FILES);
        assert_eq!(stage.read("run/results.jsonl"), stage.read("out.jsonl"));
        assert_eq!(stage.read("run/aggregates.json"), stage.read("agg.json"));
        assert_eq!(stage.read("out.jsonl").contains("\"missed\""), !explain.is_empty());
    }
}

#[test]
fn a_run_needs_no_other_output_and_no_model() {
    let stage = Stage::new();
    stage.eval("--run runs/one --explain");
    assert_eq!(stage.names("runs/one"), FILES);
    assert_eq!(stage.read("runs/one/records.jsonl"), "", "nobody judged");
    let run = stage.json("runs/one/run.json");
    assert_eq!((&run["is_complete"], &run["kind"]), (&json!(true), &json!("eval")));
    assert_eq!(run["name"], "responses.jsonl");
    let refused = stage.run("eval reference.json responses.jsonl --run runs/one");
    assert_eq!(refused.code, 2, "{refused}");
    assert!(refused.stderr.contains("this run is finished\n  hint: --fresh"), "{refused}");
    stage.eval("--run runs/one --fresh");
    assert!(!stage.read("runs/one/results.jsonl").contains("\"missed\""), "it was replaced");
}

#[test]
fn a_run_tells_everything_that_decides_its_scores() {
    let stage = Stage::new();
    stage.eval("--run one --name main");
    let run = stage.json("one/run.json");
    let identity = &run["identity"];
    assert_eq!(run["name"], "main");
    assert_eq!(identity["reference"]["name"], "reference.json");
    assert_eq!(identity["reference"]["hash"].as_str().expect("a hash").len(), 64);
    let questions = identity["reference"]["questions"].as_object().expect("hashes");
    assert_eq!(questions.keys().collect::<Vec<_>>(), ["q1", "q2"]);
    assert_eq!(questions["q1"].as_str().expect("a hash").len(), 16);
    assert_eq!(questions["q1"], questions["q2"], "they differ by their ids alone");
    assert_eq!(identity["rules"]["steps"]["scoring"], "last_group");
    assert_eq!(identity["judges"], Value::Null);
    let words = ["juror", "eval", "reference.json", "responses.jsonl", "--run", "one"];
    assert_eq!(run["command"], json!([&words[..], &["--name", "main"]].concat()));
    assert_eq!(run.get("work_tree"), None, "it ran in none");
    let changed = stage.read("reference.json").replace("It is x.", "It is not x.");
    stage.write("reference.json", &changed.replacen("not x", "x", 1));
    stage.eval("--run other --profile 6");
    let other = stage.json("other/run.json");
    assert_eq!(other["identity"]["reference"]["questions"]["q1"], questions["q1"]);
    assert_ne!(other["identity"]["reference"]["questions"]["q2"], questions["q2"]);
    assert_ne!(other["identity"]["rules"], identity["rules"]);
    assert_ne!(other["id"], run["id"]);
}

#[test]
fn the_schema_of_runs_describes_every_key() {
    let stage = Stage::new();
    let server = Server::start(Script::default());
    stage.write("juror.yaml", "profile: 6\n");
    assert_eq!(judged(&stage, &server, "-c juror.yaml --run judged").code, 0);
    stage.eval("--run computed");
    let schema: Value = serde_json::from_str(&stage.run("schema run").stdout).expect("JSON");
    for folder in ["judged", "computed"] {
        let run = stage.json(&format!("{folder}/run.json"));
        assert_eq!(misfits(&run, &schema), [""; 0]);
    }
}

#[test]
fn the_commit_of_the_work_tree_is_told() {
    let stage = Stage::new();
    let git = |words: &[&str]| {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=x", "-c", "user.email=x@example.com"]);
        git.args(["-c", "commit.gpgsign=false"]).args(words);
        let output = git.current_dir(stage.folder.path()).output().expect("git runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    };
    git(&["init", "-q"]);
    stage.eval("--run without");
    assert_eq!(stage.json("without/run.json").get("work_tree"), None, "there is no commit");
    git(&["add", "responses.jsonl"]);
    git(&["commit", "-q", "-m", "x"]);
    let commit = git(&["rev-parse", "HEAD"]);
    stage.eval("--run clean");
    let told = |changed: bool| json!({"commit": commit, "changed": changed});
    assert_eq!(stage.json("clean/run.json")["work_tree"], told(false));
    stage.write("responses.jsonl", "{}\n");
    assert_eq!(stage.run("eval reference.json responses.jsonl --run changed").code, 0);
    assert_eq!(stage.json("changed/run.json")["work_tree"], told(true));
}

#[test]
fn a_run_that_was_killed_between_results_and_completion_ends_with_the_same_bytes() {
    let stage = Stage::new();
    let server = Server::start(Script::default());
    assert_eq!(judged(&stage, &server, "--run run").code, 0);
    let n_calls = server.seen().len();
    let bytes =
        || ["results.jsonl", "aggregates.json"].map(|name| stage.read(&format!("run/{name}")));
    let whole = bytes();
    // As it is left by a process that was killed before its last write, or before the one before.
    for gone in [&[][..], &["aggregates.json"], &["aggregates.json", "results.jsonl"]] {
        stage.change_run("run", |run| {
            run["is_complete"] = json!(false);
            run.as_object_mut().expect("a manifest").remove("ended");
        });
        for name in gone {
            fs::remove_file(stage.path("run").join(name)).expect("removed");
        }
        let again = judged(&stage, &server, "--run run --cache-mode off");
        assert_eq!(again.code, 0, "{again}");
        assert!(again.stderr.contains("resuming run: 2 questions already judged"), "{again}");
        assert_eq!((bytes(), server.seen().len()), (whole.clone(), n_calls), "{gone:?}");
        assert_eq!(stage.json("run/run.json")["is_complete"], true);
    }
}

#[test]
fn what_came_of_a_run_does_not_outlive_its_being_begun_anew() {
    let stage = Stage::new();
    let server = Server::start(Script { key: Some("the right one".into()), ..Script::default() });
    stage.eval("--no-model --run run");
    let ended = judged(&stage, &server, "--run run --fresh");
    assert_eq!(ended.code, 3, "{ended}");
    let run = stage.json("run/run.json");
    assert_eq!(run["is_complete"], false, "a wrong key leaves it unfinished");
    let results = stage.read("run/results.jsonl");
    assert_eq!(results.lines().count(), 2, "what was scored is there");
    assert!(results.contains("answer_eval_error"), "{results}");
}

#[test]
fn results_of_somebody_else_are_not_replaced() {
    let stage = Stage::new();
    fs::create_dir(stage.path("mine")).expect("made");
    for name in ["results.jsonl", "aggregates.json", "statistics.json"] {
        stage.write(&format!("mine/{name}"), "precious");
        let refused = stage.run("eval reference.json responses.jsonl --run mine");
        assert_eq!(refused.code, 2, "{refused}");
        let told = format!("mine/{name}:1: not written by juror: there is no run.json beside it");
        assert!(refused.stderr.contains(&told), "{refused}");
        assert_eq!(stage.names("mine"), [name]);
        fs::remove_file(stage.path("mine").join(name)).expect("removed");
    }
}

#[test]
fn settings_can_make_every_evaluation_keep_itself() {
    let stage = Stage::new();
    stage.write("juror.yaml", "runs:\n  folder: kept\n");
    let first = stage.eval("-c juror.yaml --name my/system");
    let second = stage.eval("-c juror.yaml -q");
    let names = stage.names("kept");
    assert_eq!(names.len(), 2, "{names:?}");
    let folder = names.iter().find(|name| name.contains("my_system")).expect("a run of the name");
    assert!(first.stderr.contains(&format!("the run is kept in kept/{folder}")), "{first}");
    assert_eq!((second.code, &*second.stderr), (0, ""), "quiet");
    for name in &names {
        assert_eq!(stage.names(&format!("kept/{name}")), FILES);
        assert_eq!(
            stage.json(&format!("kept/{name}/run.json"))["settings"]["runs"]["folder"],
            "kept"
        );
    }
    stage.eval("-c juror.yaml --run elsewhere");
    assert_eq!((stage.names("kept").len(), stage.names("elsewhere").len()), (2, 5));
}

#[test]
fn an_unfinished_evaluation_among_others_is_gone_on_with() {
    let stage = Stage::new();
    let server = Server::start(Script::default());
    stage.write("juror.yaml", "runs: {folder: kept}\n");
    assert_eq!(judged(&stage, &server, "-c juror.yaml").code, 0);
    let folder = format!("kept/{}", stage.names("kept")[0]);
    stage.change_run(&folder, |run| run["is_complete"] = json!(false));
    let again = judged(&stage, &server, "-c juror.yaml");
    assert!(again.stderr.contains(&format!("resuming {folder}")), "{again}");
    assert_eq!(stage.names("kept").len(), 1);
    stage.change_run(&folder, |run| run["is_complete"] = json!(false));
    let other = judged(&stage, &server, "-c juror.yaml --profile 6");
    let told = format!("changed since the unfinished run {folder}");
    assert!(other.stderr.contains(&told), "{other}");
    assert_eq!(stage.names("kept").len(), 2);
}

#[test]
fn a_run_of_an_earlier_release_is_resumed_as_it_was() {
    let stage = Stage::new();
    let server = Server::start(Script::default());
    assert_eq!(judged(&stage, &server, "--run run").code, 0);
    let n_calls = server.seen().len();
    stage.change_run("run", |run| {
        run["is_complete"] = json!(false);
        let run = run.as_object_mut().expect("a manifest");
        run.remove("command");
        let identity = run["identity"].as_object_mut().expect("an identity");
        identity.remove("rules");
        identity["reference"].as_object_mut().expect("an input").remove("questions");
    });
    for name in ["results.jsonl", "aggregates.json"] {
        fs::remove_file(stage.path("run").join(name)).expect("removed");
    }
    let again = judged(&stage, &server, "--run run --cache-mode off");
    assert_eq!((again.code, server.seen().len()), (0, n_calls), "{again}");
    assert_eq!(stage.names("run"), FILES);
    assert!(stage.json("run/run.json")["identity"]["reference"]["questions"].is_object());
}

#[test]
fn options_of_runs_need_a_run() {
    let stage = Stage::new();
    for (option, told) in [
        ("--fresh", "--fresh: the run is not kept\n  hint: keep it with --run FOLDER"),
        ("--resume-changed", "--resume-changed: the run is not kept"),
        ("--explain", "--explain: there are no results to explain\n  hint: write them with -o"),
    ] {
        let refused = stage.run(&format!("eval reference.json responses.jsonl {option}"));
        assert_eq!(refused.code, 2, "{refused}");
        assert!(refused.stderr.contains(told), "{refused}");
    }
}
