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
    stage.write("juror.yaml", &judge_settings(&judge.address()));
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
    assert!(!again.stderr.contains("ended with an error"), "{again}");
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
fn no_folder_is_named_for_an_agent_that_does_not_start() {
    let stage = Stage::new();
    let ended = end(&mut stage.command("eval", "command:no-such-program", "--no-model"));
    assert_eq!(ended.code, 2, "{ended}");
    assert!(ended.stderr.contains("cannot start"), "{ended}");
    assert!(!ended.stderr.contains("is kept in"), "{ended}");
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
    assert!(ended.stderr.contains("hint: --limit asks only the first questions"), "{ended}");
}

#[test]
fn an_interrupted_run_has_results_of_what_was_answered() {
    for signal in ["-INT", "-TERM"] {
        let stage = Stage::new();
        let (server, is_mended) = endpoint();
        let agent = format!("openai:{}/v1/responses", server.address);
        let options = "--run part --no-model --jobs 1 -o results.json";
        let stopped = stage.signal(signal, ("eval", &agent, options), 2);
        assert_eq!(stopped.code, 3, "{stopped}");
        assert!(stopped.stderr.contains("stopped with 2 of 4 answers: interrupted"), "{stopped}");
        assert!(!stage.path("results.json").exists(), "the user's files stay as they were");
        assert_eq!(stage.json("part/run.json")["is_complete"], false);
        let results = stage.lines("part/results.jsonl");
        assert_eq!(each(&results, "question_id"), ["q1", "q2"], "{signal}");
        assert_eq!(each(&results, "steps_score"), [1.0; 2]);
        let listed = juror(&stage, "runs .");
        assert!(listed.stdout.contains("unfinished"), "{listed}");
        is_mended.store(true, Ordering::SeqCst);
        assert_eq!(stage.eval(&agent, "--no-model").code, 0);
        let refused = juror(&stage, "compare run part");
        assert!(refused.stderr.contains("`part` is not finished"), "{refused}");
        let compared = juror(&stage, "compare run part --allow-incomplete --json");
        assert_eq!(compared.code, 0, "{compared}");
        let compared: Value = serde_json::from_str(&compared.stdout).expect("JSON");
        assert_eq!(compared["candidates"][0]["metrics"]["steps_score"]["n"], 2, "{compared}");
        let ended = end(&mut stage.command("eval", &agent, options));
        assert_eq!(ended.code, 0, "{ended}");
        assert_eq!(n_asked(&server), [2; 3], "what was answered is not asked again");
        assert_eq!(stage.lines("part/results.jsonl").len(), 4);
        assert_eq!(stage.json("part/run.json")["is_complete"], true);
    }
}

#[test]
fn a_run_that_stops_before_judging_says_that_verdicts_are_missing() {
    let stage = Stage::new();
    let ((agent, _), judge) = (endpoint(), Server::start(Script::default()));
    stage.write("juror.yaml", &judge_settings(&judge.address()));
    let agent = format!("openai:{}/v1/responses", agent.address);
    let options = "--run run -c juror.yaml --jobs 1";
    let stopped = stage.signal("-INT", ("eval", &agent, options), 2);
    assert_eq!(stopped.code, 3, "{stopped}");
    assert!(judge.seen().is_empty(), "nobody is asked about an unfinished run");
    let results = stage.lines("run/results.jsonl");
    assert_eq!(results.len(), 2);
    assert!(results[0]["answer_eval_error"].is_string(), "{results:?}");
    assert_eq!(stage.read("run/records.jsonl"), "", "what is not judged is judged later");
}

fn judge_settings(address: &str) -> String {
    format!(
        "llm:\n  generation: {{provider: openai_compatible, model: m, base_url: '{address}/v1'}}\n"
    )
}

#[test]
fn a_run_whose_judge_never_answers_says_so_everywhere() {
    let stage = Stage::new();
    let judge =
        Endpoint::start(|_, _| Reply::Text(400, "", r#"{"error": {"message": "no quota"}}"#));
    stage.write("juror.yaml", &judge_settings(&judge.address));
    let agent = stage.script("say(task, final_answer='It is x.', steps=[])");
    let gate = "--fail-under answer_f1=0.5";
    let ended = stage.eval(&agent, &format!("-c juror.yaml --cache-mode off {gate}"));
    assert_eq!(ended.code, 3, "{ended}");
    let told = "no answer is judged, so judged metrics have no verdicts";
    assert!(ended.stderr.contains(told), "{ended}");
    assert!(ended.stderr.contains("no question has answer_f1"), "the gate is not met: {ended}");
    let run = stage.json("run/run.json");
    assert_eq!((&run["unjudged"]["answers"], &run["unjudged"]["of"]), (&json!(4), &json!(4)));
    assert!(run["unjudged"]["reason"].as_str().expect("a reason").contains("no quota"), "{run}");
    assert_eq!(juror_testing::misfits(&run, &juror_runs::run_schema()), [""; 0]);
    let listed = juror(&stage, "runs .");
    assert!(listed.stderr.contains(told), "{listed}");
    assert!(juror(&stage, "runs show run").stdout.contains(told));
    let listed: Value = serde_json::from_str(&juror(&stage, "runs . --json").stdout).expect("JSON");
    assert_eq!(listed[0]["unjudged"]["of"], 4, "{listed}");
}

#[test]
fn a_limit_asks_the_first_questions_and_counts_no_others() {
    let stage = Stage::new();
    let agent = stage.script("say(task, final_answer='a', steps=[])");
    let ended = stage.eval(&agent, "--no-model --limit 2 -o results.json -s statistics.json");
    assert_eq!((ended.code, stage.n_asked()), (0, 2), "{ended}");
    assert!(ended.stdout.contains("2 of 4 questions"), "{ended}");
    let results = stage.json("results.json").as_array().expect("results").clone();
    assert_eq!(each(&results, "question_id"), ["q1", "q2"]);
    let statistics = stage.json("statistics.json");
    assert_eq!((&statistics["questions"], &statistics["missing"]), (&json!(2), &json!(0)));
    assert_eq!(stage.json("run/run.json")["identity"]["reference"]["left_out"], 2);
    assert!(juror(&stage, "runs show run").stdout.contains("2 of 4 questions"));
    let json = end(&mut stage.command("eval", &agent, "--no-model --limit 3 --run b --json"));
    let json: Value = serde_json::from_str(&json.stdout).expect("JSON");
    assert_eq!((&json["questions"], &json["left_out"]), (&json!(3), &json!(1)));
    let refused = juror(&stage, "compare run b");
    assert_eq!(refused.code, 2, "other questions: {refused}");
    let again = stage.eval(&agent, "--no-model --limit 3 --retry-errors");
    assert!(again.code == 2 && again.stderr.contains("reference questions"), "{again}");
    stage.write("responses.jsonl", "{\"question_id\": \"q1\"}\n");
    let recorded = end(&mut stage.command("eval", "", "responses.jsonl --no-model --limit 2"));
    assert!(recorded.code == 2 && recorded.stderr.contains("--limit is for agents"), "{recorded}");
}
