//! Shards of a benchmark, in processes of their own, and merged.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::stage::{Ended, Stage, agent};

/// How many queries there are in two sets.
const N_QUERIES: usize = 163;
const N_SHARDS: usize = 5;

/// Calls a tool, and gives up on some queries.
const ANSWERS: &str = "\
number = int(task['query_id'])
call(task, 'Weather', 'Garden Weather', 'Current', garden='Thornfold')
say(task, final_answer='' if number % 7 == 0 else f'It is {number} degrees.', tokens=number, usd=number / 1000)";

/// A stage with two sets of queries.
fn stage() -> (Stage, String) {
    let stage = Stage::new();
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    let text = fs::read_to_string(format!("{examples}/queries.json")).expect("queries");
    let known: Vec<Value> = serde_json::from_str(&text).expect("JSON");
    let query = |number: usize| {
        let mut query = known[number % known.len()].clone();
        query["query_id"] = json!(number);
        query["query"] = json!(format!("{} ({number})", query["query"].as_str().expect("text")));
        query
    };
    let queries: Vec<Value> = (1..=N_QUERIES).map(query).collect();
    fs::create_dir_all(stage.path("queries/test_instruction")).expect("a folder");
    for (set, own) in [("A", &queries[..100]), ("B", &queries[100..])] {
        stage.write(&format!("queries/test_instruction/{set}.json"), &json!(own).to_string());
    }
    let agent = agent(&stage, ANSWERS);
    (stage, agent)
}

fn command(stage: &Stage, agent: &str, run: &str, options: &str) -> Command {
    let fixed = "--set A --set B --pool own --judge heuristic";
    let mut command = stage.command_on("queries", agent, &format!("{fixed} --run {run} {options}"));
    // Every scheduler says something of its own.
    command.env("SLURM_JOB_ID", run).env("JOB_COMPLETION_INDEX", "3");
    command
}

fn bench(stage: &Stage, agent: &str, run: &str, options: &str) {
    let ended = Ended::of(&mut command(stage, agent, run, options));
    assert_eq!(ended.code, 0, "{}", ended.stderr);
}

/// Begins a run, and kills it when a few of its queries are answered.
fn cut_off(mut command: Command) {
    let command = command.stderr(Stdio::piped()).stdout(Stdio::null());
    let mut juror = command.spawn().expect("juror runs");
    let mut said = BufReader::new(juror.stderr.take().expect("what it says")).lines();
    let is_answered = said.by_ref().map_while(Result::ok).any(|line| line.starts_with("[ 7/"));
    assert!(is_answered, "some queries are answered");
    juror.kill().expect("killed");
    juror.wait().expect("ended");
}

fn merge(stage: &Stage, words: &[&str]) -> Ended {
    let mut command = Command::new(env!("CARGO_BIN_EXE_juror"));
    Ended::of(command.args(["bench", "merge"]).args(words).current_dir(stage.folder.path()))
}

/// What is in a folder of a run, but for times.
fn content(stage: &Stage, run: &str) -> BTreeMap<&'static str, Value> {
    let lines = |name: &str| -> Value {
        let text = fs::read_to_string(stage.path(&format!("{run}/{name}"))).expect("a file");
        let line = |line: &str| without_times(serde_json::from_str(line).expect("JSON"));
        text.lines().map(line).collect()
    };
    let whole = |name: &str| without_times(stage.json(&format!("{run}/{name}")));
    let mut aggregates = whole("aggregates.json");
    assert_eq!(aggregates["juror"]["run"], run);
    aggregates["juror"]["run"] = Value::Null;
    let manifest = whole("run.json");
    let mut attempts: Vec<String> =
        lines("attempts.jsonl").as_array().expect("lines").iter().map(Value::to_string).collect();
    // One run logs attempts as they come.
    attempts.sort();
    BTreeMap::from([
        ("identity", manifest["identity"].clone()),
        ("judge", manifest["judge"].clone()),
        ("complete", manifest["is_complete"].clone()),
        ("attempts", json!(attempts)),
        ("results", lines("results.jsonl")),
        ("statistics", whole("statistics.json")),
        ("aggregates", aggregates),
    ])
}

fn without_times(value: Value) -> Value {
    let is_time = |key: &str| {
        ["time", "seconds", "began", "ended"].iter().any(|word| key.contains(word)) || key == "id"
    };
    match value {
        Value::Object(fields) => {
            let kept = fields.into_iter().filter(|(key, _)| !is_time(key));
            kept.map(|(key, value)| (key, without_times(value))).collect()
        }
        Value::Array(items) => items.into_iter().map(without_times).collect(),
        other => other,
    }
}

#[test]
fn shards_of_which_one_was_killed_merge_to_the_run_of_one_process() {
    let (stage, agent) = stage();
    bench(&stage, &agent, "whole", "");
    let shard = |number: usize| (format!("runs/{number}"), format!("--shard {number}/{N_SHARDS}"));
    fs::create_dir(stage.path("runs")).expect("a folder");
    for number in (1..=N_SHARDS).filter(|number| *number != 3) {
        let (run, options) = shard(number);
        bench(&stage, &agent, &run, &options);
    }
    let folders: Vec<String> = (1..=N_SHARDS).rev().map(|number| shard(number).0).collect();
    let words: Vec<&str> =
        folders.iter().map(String::as_str).chain(["--run", "runs/all"]).collect();
    let (run, options) = shard(3);
    cut_off(command(&stage, &agent, &run, &format!("{options} --jobs 2")));
    let unfinished = merge(&stage, &words);
    assert_eq!(unfinished.code, 2);
    assert!(
        unfinished.stderr.contains("runs/3: shard 3/5 is not finished"),
        "{}",
        unfinished.stderr
    );
    let again = Ended::of(&mut command(&stage, &agent, &run, &format!("{options} --jobs 2")));
    assert_eq!(again.code, 0, "{}", again.stderr);
    assert!(again.stderr.contains("resuming runs/3"), "{}", again.stderr);

    let merged = merge(&stage, &words);
    assert_eq!(merged.code, 0, "{}", merged.stderr);
    assert!(
        merged.stderr.contains("163 attempts of 5 shards are in runs/all"),
        "{}",
        merged.stderr
    );
    let (whole, all) = (content(&stage, "whole"), content(&stage, "runs/all"));
    assert_eq!(whole["results"].as_array().map(Vec::len), Some(N_QUERIES));
    for (what, wanted) in whole {
        assert_eq!(all[what], wanted, "{what}");
    }
    // Once for the whole, once for its shard, and again only what was under way.
    let asked = fs::read_to_string(stage.path("asked.txt")).expect("what was asked");
    let n_asked = asked.lines().count();
    assert!((2 * N_QUERIES..=2 * N_QUERIES + 2).contains(&n_asked), "{n_asked}");

    let finished = merge(&stage, &words);
    assert_eq!(finished.code, 2, "{}", finished.stdout);
    let compared = Command::new(env!("CARGO_BIN_EXE_juror"))
        .args(["compare", "whole", "runs/all"])
        .current_dir(stage.folder.path())
        .output()
        .expect("juror");
    assert!(compared.status.success(), "{}", String::from_utf8_lossy(&compared.stderr));
}

#[test]
fn what_is_no_whole_is_not_merged() {
    let (stage, agent) = stage();
    let few = "--limit 3";
    for (run, options) in [
        ("one", "--shard 1/3"),
        ("two", "--shard 2/3"),
        ("three", "--shard 3/3"),
        ("again", "--shard 2/3"),
        ("other", "--shard 2/3 --name another"),
        ("quarter", "--shard 2/4"),
        ("unsplit", ""),
    ] {
        bench(&stage, &agent, run, &format!("{few} {options}"));
    }
    let longer = Ended::of(&mut command(&stage, &agent, "longer", "--limit 2 --shard 2/3"));
    assert_eq!(longer.code, 0, "{}", longer.stderr);
    for (folders, why) in [
        (&["one", "three"][..], "shard 2 of 3 is missing"),
        (&["two"], "shards 1 and 3 of 3 are missing"),
        (&["one", "two", "again", "three"], "again: shard 2/3 is there already: two"),
        (
            &["one", "other", "three"],
            "other: this is a shard of another run than one: not the same name",
        ),
        (
            &["one", "quarter", "three"],
            "quarter: this is a shard of another run than one: not the same shard",
        ),
        (
            &["one", "longer", "three"],
            "longer: this is a shard of another run than one: not the same queries",
        ),
        (&["one", "unsplit"], "unsplit: this run is no shard"),
        (&["one", "nowhere"], "nowhere"),
    ] {
        let ended = merge(&stage, &[folders, &["--run", "all"]].concat());
        assert_eq!(ended.code, 2, "{folders:?}: {}", ended.stderr);
        assert!(ended.stderr.contains(why), "{folders:?}: {}", ended.stderr);
        assert!(!stage.path("all").exists(), "{folders:?}");
    }
    let empty = Ended::of(&mut command(&stage, &agent, "empty", "--limit 1 --shard 3/3"));
    assert_eq!(empty.code, 2);
    assert!(empty.stderr.contains("shard 3/3 of 2 queries is empty"), "{}", empty.stderr);
    let ended = merge(&stage, &["three", "one", "two", "--run", "all"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    fs::write(stage.path("two/results.jsonl"), "{}\n").expect("written");
    let damaged = merge(&stage, &["three", "one", "two", "--run", "anew"]);
    assert_eq!(damaged.code, 2, "{}", damaged.stderr);
    assert!(damaged.stderr.contains("two: results.jsonl was changed"), "{}", damaged.stderr);
}
