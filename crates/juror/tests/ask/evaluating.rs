//! Asking and judging in one go.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use juror_scripted::{Script, Server};
use serde_json::{Value, json};

use crate::endpoint::{Endpoint, Reply, completion};
use crate::stage::{Stage, each, end};

/// An endpoint that looks each question up, and hangs at the third until it is mended.
fn endpoint() -> (Endpoint, Arc<AtomicBool>) {
    let is_mended = Arc::new(AtomicBool::new(false));
    let mended = is_mended.clone();
    let server = Endpoint::start(move |request, _| {
        let id = request.question().replace("What is ", "").replace('?', "");
        if id == "q3" && !mended.load(Ordering::SeqCst) {
            return Reply::Hang;
        }
        Reply::Json(json!({
            "output": [
                {"type": "function_call", "call_id": "c", "name": "lookup", "arguments": "{}"},
                {"type": "function_call_output", "call_id": "c", "output": id},
                {"type": "message", "role": "assistant",
                    "content": [{"type": "output_text", "text": format!("It is {id}.")}]}],
            "usage": {"input_tokens": 2, "output_tokens": 3, "total_tokens": 5},
        }))
    });
    (server, is_mended)
}

/// How often each question was asked, except the one that hung.
fn n_asked(server: &Endpoint) -> [usize; 3] {
    let questions = server.questions();
    ["q1", "q2", "q4"].map(|id| questions.iter().filter(|own| own.contains(id)).count())
}

#[test]
fn live_answers_are_judged_and_a_killed_run_goes_on() {
    let stage = Stage::new();
    let (server, is_mended) = endpoint();
    let agent = format!("openai:{}/v1/responses", server.address);
    let options = "--run run --no-model --jobs 1 --trials 2";
    stage.cut_off("eval", &agent, options, 2);
    assert_eq!(stage.lines("run/attempts.jsonl").len(), 2);
    assert_eq!(stage.json("run/run.json")["is_complete"], false);
    is_mended.store(true, Ordering::SeqCst);
    let ended = stage.eval(&agent, "--no-model --trials 2 --jobs 1 -o results.json");
    assert_eq!(ended.code, 0, "{ended}");
    assert_eq!(n_asked(&server), [2; 3], "what was answered is not asked again");
    let results = stage.json("results.json").as_array().expect("results").clone();
    let ids = ["q1", "q1", "q2", "q2", "q3", "q3", "q4", "q4"];
    assert_eq!(each(&results, "question_id"), ids);
    assert_eq!(each(&results, "trial"), [1, 2].repeat(4));
    assert_eq!(each(&results, "steps_score"), [1.0; 8]);
    assert_eq!(each(&results, "total_tokens"), [5; 8]);
    assert_eq!(stage.lines("run/results.jsonl").len(), 8);
    let run = stage.json("run/run.json");
    assert_eq!((&run["is_complete"], &run["kind"]), (&json!(true), &json!("eval")));
    assert_eq!(run["identity"]["subject"]["agent"], agent);
    assert_eq!(run["identity"]["subject"]["trials"], 2);
    assert_eq!(juror_testing::misfits(&run, &juror_runs::run_schema()), [""; 0]);
    let shown = end(&mut stage.command("runs", "", ""));
    assert_eq!(shown.code, 2, "that is no folder of runs: {shown}");
    assert_eq!(juror(&stage, "runs show run").code, 0);
    assert_eq!(juror(&stage, "compare run run").code, 0);
}

fn juror(stage: &Stage, line: &str) -> crate::stage::Ended {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_juror"));
    end(command.args(line.split_whitespace()).current_dir(stage.path(".")))
}

#[test]
fn a_model_judges_what_the_agent_answered_and_nothing_twice() {
    let stage = Stage::new();
    let ((agent, is_mended), judge) = (endpoint(), Server::start(Script::default()));
    stage.write(
        "juror.yaml",
        &format!(
            "llm:\n  generation: {{provider: openai_compatible, model: m, base_url: '{}/v1'}}\n",
            judge.address(),
        ),
    );
    let agent_line = format!("openai:{}/v1/responses", agent.address);
    let options = "-c juror.yaml --jobs 1";
    stage.cut_off("eval", &agent_line, &format!("--run run {options}"), 2);
    assert!(judge.seen().is_empty(), "nothing is judged before all is answered");
    is_mended.store(true, Ordering::SeqCst);
    let ended = stage.eval(&agent_line, options);
    assert_eq!(ended.code, 0, "{ended}");
    assert_eq!(judge.seen().len(), 4);
    let results = stage.lines("run/results.jsonl");
    assert!(each(&results, "answer_f1").iter().all(Value::is_number), "{results:?}");
    assert_eq!(stage.lines("run/records.jsonl").len(), 4);
    let again = stage.eval(&agent_line, options);
    assert_eq!(again.code, 2, "{again}");
    assert!(again.stderr.contains("this run is finished"), "{again}");
    let fresh = stage.eval(&agent_line, &format!("{options} --fresh"));
    assert_eq!(fresh.code, 0, "{fresh}");
    assert_eq!(n_asked(&agent), [2; 3], "every run asks the agent");
    assert_eq!(judge.seen().len(), 4, "equal answers are judged once");
}

#[test]
fn a_run_is_gone_on_with_by_the_same_agent_alone() {
    let stage = Stage::new();
    let (server, _) = endpoint();
    let agent = format!("openai:{}/v1/responses", server.address);
    stage.cut_off("eval", &agent, "--run run --no-model --jobs 1", 2);
    for (options, told) in [
        ("--trials 2", "other trials"),
        ("--agent-model m", "other model"),
        ("--name x", "other name"),
    ] {
        let ended = stage.eval(&agent, &format!("--no-model {options}"));
        assert_eq!(ended.code, 2, "{ended}");
        assert!(ended.stderr.contains(told), "{told}: {ended}");
    }
    stage.write("responses.jsonl", "");
    let recorded = end(&mut stage.command("eval", "", "responses.jsonl --no-model --run run"));
    assert_eq!(recorded.code, 2, "{recorded}");
    assert!(recorded.stderr.contains("other responses"), "{recorded}");
    assert_eq!(stage.lines("run/attempts.jsonl").len(), 2, "nothing was lost");
}

#[test]
fn errors_of_an_agent_count_and_can_be_asked_again() {
    let stage = Stage::new();
    let server = Endpoint::start(|_, n_before| match n_before {
        1 => Reply::Text(200, "", "garbled"),
        _ => completion("fine"),
    });
    let agent = format!("openai:{}/v1", server.address);
    let ended = stage.eval(&agent, "--no-model --jobs 1 -o results.json");
    assert_eq!(ended.code, 3, "{ended}");
    assert!(ended.stderr.contains("1 of 4 answers ended with an error"), "{ended}");
    let results = stage.json("results.json");
    assert!(results[1]["error"].as_str().expect("an error").contains("not JSON"), "{results}");
    let again = stage.eval(&agent, "--no-model --jobs 1 -o results.json --retry-errors");
    assert_eq!(again.code, 0, "{again}");
    assert!(!again.stderr.contains("warning"), "{again}");
    assert_eq!(stage.json("results.json")[1]["actual_answer"], "fine");
    assert_eq!(server.seen().len(), 5);
}

#[test]
fn without_a_named_folder_the_run_is_kept_among_others() {
    let stage = Stage::new();
    let server = Endpoint::start(|_, _| completion("fine"));
    let agent = format!("openai:{}/v1", server.address);
    let ended = end(&mut stage.command("eval", &agent, "--no-model --name mine"));
    assert_eq!(ended.code, 0, "{ended}");
    assert!(ended.stderr.contains("the run is kept in .juror/runs/"), "{ended}");
    assert!(juror(&stage, "runs").stdout.contains("mine"));
    for (options, told) in [
        ("--dry-run", "not known before it is asked"),
        ("responses.jsonl", "cannot be used with"),
        ("-o nowhere/results.json", "nowhere/results.json"),
    ] {
        let before = server.seen().len();
        let ended = end(&mut stage.command("eval", &agent, &format!("--no-model {options}")));
        assert_eq!(ended.code, 2, "{ended}");
        assert!(ended.stderr.contains(told), "{ended}");
        assert_eq!(server.seen().len(), before, "nobody was asked");
    }
    let nobody = end(&mut stage.command("eval", "", "--no-model"));
    assert_eq!(nobody.code, 2, "{nobody}");
}

#[test]
fn an_agent_that_does_not_start_costs_no_result() {
    let stage = Stage::new();
    let agent = stage.script("say(task, final_answer='a')");
    assert_eq!(stage.eval(&agent, "--no-model").code, 0);
    let files = ["attempts.jsonl", "results.jsonl", "statistics.json", "run.json"];
    let read = || files.map(|file| stage.read(&format!("run/{file}")));
    let before = read();
    stage.write("agent.py", "raise SystemExit(1)");
    for options in ["--fresh", "--retry-errors --resume-changed"] {
        let ended = stage.eval(&agent, &format!("--no-model {options}"));
        assert_ne!(ended.code, 0, "{ended}");
        assert_eq!(read(), before, "{options}");
    }
    // Damage is found before anything is replaced, too.
    stage.write("run/attempts.jsonl", &before[0].replacen("\"q2\"", "\"q2", 1));
    let ended = stage.eval(&agent, "--no-model --retry-errors --resume-changed");
    assert_eq!(ended.code, 2, "{ended}");
    assert_eq!(read()[1..], before[1..]);
}

#[test]
fn options_for_traces_are_refused_with_an_agent() {
    let stage = Stage::new();
    let agent = stage.script("say(task, final_answer='a')");
    let ended = stage.eval(&agent, "--no-model --question-id q1");
    assert_eq!((ended.code, stage.n_asked()), (2, 0), "{ended}");
    assert!(ended.stderr.contains("hint: juror ask has --question-id"), "{ended}");
}
