//! Several attempts at each query.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use juror_scripted::{FunctionCall, Reply, Script, Server};
use serde_json::{Value, json};

use crate::stage::{Ended, Stage, agent};

/// Says which process was asked, and what it was told.
const SAYS_ALL: &str = "call(task, 'Weather', 'garden_weather', 'current', garden=str(os.getpid()))\n\
     say(task, final_answer=json.dumps({'pid': os.getpid(), 'task': task}))";

fn bench(stage: &Stage, agent: &str, options: &str) -> Ended {
    stage.bench(agent, &format!("--judge none {options}"))
}

/// Every result as its query and trial.
fn trials(stage: &Stage) -> Value {
    let results = stage.results()["results"].as_array().expect("results").clone();
    results.iter().map(|own| json!([own["query_id"], own["trial"]])).collect()
}

fn final_answers(stage: &Stage) -> Vec<Value> {
    let results = stage.results()["results"].as_array().expect("results").clone();
    results.iter().map(|own| own["system_answer"]["final_answer"].clone()).collect()
}

fn attempts(stage: &Stage) -> Vec<Value> {
    let text = fs::read_to_string(stage.path("run/attempts.jsonl")).expect("attempts");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn wanted(n_queries: u32, n_trials: u32) -> Value {
    (1..=n_queries).flat_map(|id| (1..=n_trials).map(move |trial| json!([id, trial]))).collect()
}

#[test]
fn every_trial_is_an_attempt_of_its_own() {
    let stage = Stage::new();
    let agent = agent(&stage, SAYS_ALL);
    let ended = bench(&stage, &agent, "--trials 3 --jobs 2");
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert_eq!(trials(&stage), wanted(4, 3), "in the order of queries");
    let results = stage.results();
    assert_eq!(results["summary"]["total_queries"], 4);
    assert_eq!(results["summary"]["total_evaluations"], 12);
    assert_eq!(results["metadata"]["config"]["trials"], 3);
    assert!(ended.stderr.contains("[12/12]"), "{}", ended.stderr);
    assert!(ended.stderr.contains(" 4 (trial 3): "), "{}", ended.stderr);
    let (mut addresses, mut by_process) = (BTreeSet::new(), BTreeMap::new());
    for attempt in attempts(&stage) {
        let said = attempt["final_answer"].as_str().expect("an answer");
        let said: Value = serde_json::from_str(said).expect("JSON");
        assert_eq!(said["task"]["trial"], attempt["trial"]);
        addresses.insert(said["task"]["virtual_url"].to_string());
        let calls = attempt["calls"].as_array().expect("calls");
        assert_eq!(calls.len(), 1, "each attempt has its own calls");
        assert_eq!(calls[0]["tool_input"]["garden"], said["pid"].to_string());
        by_process
            .entry(said["pid"].as_u64())
            .or_insert_with(Vec::new)
            .push(attempt["trial"].clone());
    }
    assert_eq!(addresses.len(), 12);
    for trials in by_process.values() {
        assert!(trials.iter().all(|trial| trial == &trials[0]), "{by_process:?}");
    }
    let run = stage.json("run/run.json");
    assert_eq!(run["identity"]["trials"], 3);
}

#[test]
fn one_trial_is_not_mentioned() {
    let stage = Stage::new();
    let agent = agent(&stage, SAYS_ALL);
    let ended = bench(&stage, &agent, "--trials 1");
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert_eq!(stage.json("run/run.json")["identity"]["trials"], 1);
    for file in ["run/attempts.jsonl", "out.json"] {
        let text = fs::read_to_string(stage.path(file)).expect("a file");
        assert!(!text.contains("\"trial"), "{file}: {text}");
    }
    assert!(!ended.stderr.contains("(trial"), "{}", ended.stderr);
}

/// Begins a run of three trials, and kills it when this many attempts are made.
fn cut_off(stage: &Stage, agent: &str, n_attempts: usize) {
    let mut command = stage.command(agent, "--judge none --trials 3 --jobs 1");
    let mut juror =
        command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("juror runs");
    let mut said = BufReader::new(juror.stderr.take().expect("what it says")).lines();
    let last = format!("[ {n_attempts}/12]");
    assert!(said.by_ref().map_while(Result::ok).any(|line| line.starts_with(&last)));
    juror.kill().expect("killed");
    juror.wait().expect("ended");
}

#[test]
fn an_interrupted_run_goes_on_with_the_attempts_that_are_missing() {
    let stage = Stage::new();
    let agent = agent(
        &stage,
        "if task['trial'] == 2 and task['query_id'] == '2' and not os.path.exists('mended'): time.sleep(3600)\n\
         say(task, final_answer=str(task['trial']))",
    );
    cut_off(&stage, &agent, 5);
    assert_eq!(attempts(&stage).len(), 5, "all first trials, and one second");
    stage.write("mended", "");
    let other = bench(&stage, &agent, "--trials 5");
    assert_eq!(other.code, 2, "{}", other.stderr);
    assert!(other.stderr.contains("trials changed"), "{}", other.stderr);
    let asked = || fs::read_to_string(stage.path("asked.txt")).expect("asked").lines().count();
    let before = asked();
    let ended = bench(&stage, &agent, "--trials 3");
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(ended.stderr.contains("5 of 12 attempts were made"), "{}", ended.stderr);
    assert_eq!(asked() - before, 7);
    assert_eq!(trials(&stage), wanted(4, 3));
    let said = final_answers(&stage);
    assert_eq!(said[..3], [json!("1"), json!("2"), json!("3")]);
}

#[test]
fn a_run_of_one_trial_may_be_gone_on_with_as_the_first_of_several() {
    let stage = Stage::new();
    let agent = agent(
        &stage,
        "if task['query_id'] == '4' and 'trial' not in task: time.sleep(3600)\n\
         say(task, final_answer=str(task.get('trial', 'only')))",
    );
    let mut command = stage.command(&agent, "--judge none --jobs 1");
    let mut juror =
        command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("juror runs");
    let mut said = BufReader::new(juror.stderr.take().expect("what it says")).lines();
    assert!(said.by_ref().map_while(Result::ok).any(|line| line.starts_with("[3/4]")));
    juror.kill().expect("killed");
    juror.wait().expect("ended");
    let ended = bench(&stage, &agent, "--trials 2 --resume-changed");
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let words = ["only", "2", "only", "2", "only", "2", "1", "2"];
    assert_eq!(final_answers(&stage), words.map(|word| json!(word)));
}

/// Tries the built-in agent on a model that says something else each time.
fn chat(stage: &Stage, server: &Server, options: &str) -> Ended {
    let address = format!("{}/v1", server.address());
    let variables = [("OPENAI_API_KEY", "sk-x"), ("OPENAI_BASE_URL", address.as_str())];
    let options = format!("--judge none --pool own --query-id 1 --jobs 1 --fresh {options}");
    stage.bench_with("chat", &options, &variables)
}

/// A model that gives another answer each time.
fn moody() -> Server {
    let finish = |number: u32| Reply::Calls {
        content: None,
        calls: vec![FunctionCall {
            name: "Finish".into(),
            arguments: json!({"return_type": "give_answer", "final_answer": format!("answer {number}")}),
            id: None,
        }],
    };
    let replies = (1..=6).map(finish).collect();
    Server::start(Script {
        replies: BTreeMap::from([("functions".to_owned(), replies)]),
        ..Script::default()
    })
}

#[test]
fn trials_of_the_built_in_agent_share_no_reply() {
    let stage = Stage::new();
    let server = moody();
    let ended = chat(&stage, &server, "--trials 2");
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert_eq!(final_answers(&stage), ["answer 1", "answer 2"]);
    assert_eq!(server.seen().len(), 2);
    for _ in 0..2 {
        let ended = chat(&stage, &server, "--trials 2 --replay-agent");
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        assert_eq!(final_answers(&stage), ["answer 3", "answer 4"], "each has its own");
        assert_eq!(server.seen().len(), 4);
    }
    let ended = chat(&stage, &server, "--replay-agent");
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert_eq!(final_answers(&stage), ["answer 3"], "the only trial is the first");
}

#[test]
fn a_run_of_trials_can_be_judged_again() {
    let stage = Stage::new();
    let agent = agent(&stage, "say(task, final_answer=str(task['trial']))");
    assert_eq!(bench(&stage, &agent, "--trials 2 --jobs 4").code, 0);
    let ended = bench(&stage, "recorded:run", "--trials 3");
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(ended.stderr.contains("--trials has no effect on recorded answers"));
    assert_eq!(trials(&stage), wanted(4, 2));
    assert_eq!(final_answers(&stage), ["1", "2"].repeat(4));
    assert_eq!(stage.results()["metadata"]["config"].get("trials"), None);
}

#[test]
fn files_that_hold_one_answer_to_a_query_are_refused_before_anyone_is_asked() {
    let stage = Stage::new();
    let agent = agent(&stage, "say(task, final_answer='x')");
    let ended = bench(&stage, &agent, "--trials 2 --converted c.json");
    assert_eq!(ended.code, 2, "{}", ended.stderr);
    assert!(ended.stderr.contains("two answers are to the id `1`"), "{}", ended.stderr);
    assert!(!stage.path("asked.txt").exists());
}

#[test]
fn the_verdict_of_every_judge_run_is_in_the_results() {
    let stage = Stage::new();
    let agent = agent(&stage, "say(task, final_answer='It is warm.')");
    let said = |status: &str| Reply::Json(json!({"answer_status": status, "reason": status}));
    let replies = vec![said("Solved"), said("Unsolved"), said("Solved")];
    let server = Server::start(Script {
        replies: BTreeMap::from([("answer_status".to_owned(), replies)]),
        ..Script::default()
    });
    let address = format!("{}/v1", server.address());
    let variables = [("OPENAI_API_KEY", "sk-x"), ("OPENAI_BASE_URL", address.as_str())];
    let options = "--query-id 1 --repeats 3 --concurrency 1";
    let ended = stage.bench_with(&agent, options, &variables);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let result = &stage.results()["results"][0];
    let repeats = result["evaluation"]["sopr_score_repeats"].as_array().expect("repeats");
    let sum: f64 = repeats.iter().filter_map(Value::as_f64).sum();
    assert_eq!((repeats.len(), sum), (3, 2.0), "{repeats:?}");
    assert_eq!(result["scores"]["sopr_score"].as_f64(), Some(2.0 / 3.0));
    assert_eq!(result["evaluation"]["answer_status"], "Solved");
    let once = stage.bench_with(&agent, "--query-id 1 --fresh", &variables);
    assert_eq!(once.code, 0, "{}", once.stderr);
    assert_eq!(stage.results()["results"][0]["evaluation"].get("sopr_score_repeats"), None);
}
