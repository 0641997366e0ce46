//! Runs that were interrupted, and what can be had of them.

use std::process::{Child, Command, Stdio};

use juror_scripted::{Script, Server};
use serde_json::{Value, json};

use crate::stage::{Ended, Stage};

const N_QUESTIONS: usize = 24;

/// Asks one question at a time, about claims alone.
const SETTINGS: &str = "llm: {concurrency: 1}\nanswer_relevance: {enabled: false}\n";

/// Templates of three questions each, whose steps are right and whose answers have claims.
fn stage() -> Stage {
    let stage = Stage::new();
    let question = |id: usize| {
        json!({"id": format!("q{id}"), "question_text": "What?", "reference_answer": "It is x.",
            "reference_steps": [[{"name": "lookup", "output": "x"}]]})
    };
    let template = |at: usize| {
        let questions: Vec<Value> = (3 * at..3 * at + 3).map(question).collect();
        json!({"template_id": format!("t{at}"), "questions": questions})
    };
    let reference: Vec<Value> = (0..N_QUESTIONS / 3).map(template).collect();
    stage.write("reference.json", &json!(reference).to_string());
    let response = |id: usize| {
        let answer = format!("It is x, say {id}.");
        let steps = json!([{"name": "lookup", "id": "s", "status": "success", "output": "x"}]);
        let response = json!({"question_id": format!("q{id}"), "actual_answer": answer,
            "actual_steps": steps});
        format!("{response}\n")
    };
    stage.write("responses.jsonl", &(0..N_QUESTIONS).map(response).collect::<String>());
    stage.write("juror.yaml", SETTINGS);
    stage
}

/// The command that judges all answers by a model on a server.
fn judging(stage: &Stage, server: &Server, options: &str) -> Command {
    let line = "eval reference.json responses.jsonl -c juror.yaml --cache-mode off";
    let mut command = stage.command(&format!("{line} {options}"));
    command
        .env("OPENAI_API_KEY", "sk-never-to-be-seen")
        .env("OPENAI_BASE_URL", format!("{}/v1", server.address()))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn end(child: Child) -> Ended {
    let output = child.wait_with_output().expect("it ends");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let code = output.status.code().unwrap_or(-1);
    Ended { code, stdout: text(&output.stdout), stderr: text(&output.stderr) }
}

/// Begins to judge, and sends a signal once this many calls have been made.
fn cut_off(stage: &Stage, server: &Server, options: &str, signal: &str, n_calls: usize) -> Ended {
    let child = judging(stage, server, options).spawn().expect("the program starts");
    while server.seen().len() < n_calls {
        std::thread::yield_now();
    }
    let sent = Command::new("kill").args([signal, &child.id().to_string()]).status();
    assert!(sent.expect("kill runs").success());
    end(child)
}

#[test]
fn an_interrupted_run_can_be_compared_as_far_as_it_came() {
    let stage = stage();
    let server = Server::start(Script { latency_ms: 20, ..Script::default() });
    let stopped = cut_off(&stage, &server, "--run part -o out.json", "-INT", 6);
    assert_eq!(stopped.code, 3, "{stopped}");
    assert!(
        stopped.stderr.contains("of 24 answers are judged; no output was written"),
        "{stopped}"
    );
    assert!(!stage.path("out.json").exists());
    let part = stage.json("part/run.json");
    assert_eq!((&part["is_complete"], part.get("ended")), (&json!(false), None));
    let whole = end(judging(&stage, &server, "--run whole").spawn().expect("it starts"));
    assert_eq!(whole.code, 0, "{whole}");
    let refused = stage.run("compare whole part");
    assert!(refused.code == 2 && refused.stderr.contains("`part` is not finished"), "{refused}");
    let compared = stage.run("compare whole part --allow-incomplete --json");
    assert_eq!(compared.code, 0, "{compared}");
    let compared: Value = serde_json::from_str(&compared.stdout).expect("JSON");
    let candidate = &compared["candidates"][0];
    let n_judged = stage.read("part/records.jsonl").lines().count();
    assert!((4..N_QUESTIONS).contains(&n_judged), "{n_judged} were judged");
    assert_eq!(candidate["metrics"]["answer_f1"]["n"], n_judged);
    assert_eq!(candidate["metrics"]["steps_score"]["n"], N_QUESTIONS);
    assert_eq!(candidate["same_judge"], true);
}

#[test]
fn an_interrupted_run_that_is_gone_on_with_has_the_results_of_one_that_was_not() {
    let stage = stage();
    let server = Server::start(Script { latency_ms: 20, ..Script::default() });
    cut_off(&stage, &server, "--run part", "-INT", 4);
    assert!(stage.path("part/results.jsonl").exists());
    for name in ["part", "whole"] {
        let ended =
            end(judging(&stage, &server, &format!("--run {name}")).spawn().expect("starts"));
        assert_eq!(ended.code, 0, "{ended}");
    }
    for name in ["results.jsonl", "aggregates.json", "statistics.json"] {
        let [part, whole] = ["part", "whole"].map(|run| stage.read(&format!("{run}/{name}")));
        assert!(part == whole, "{name}");
    }
}

#[test]
fn a_killed_run_says_that_it_has_nothing_to_compare_yet() {
    let stage = stage();
    let server = Server::start(Script { latency_ms: 20, ..Script::default() });
    stage.eval("--no-model --run whole");
    cut_off(&stage, &server, "--run part", "-KILL", 4);
    let refused = stage.run("compare whole part --allow-incomplete");
    assert_eq!(refused.code, 2, "{refused}");
    assert!(
        refused.stderr.contains("part: this run is not finished: it has no results"),
        "{refused}"
    );
}
