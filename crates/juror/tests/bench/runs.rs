//! Which runs go on, which begin anew, and that none passes for another.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use juror_scripted::{Matching, Reply, Script, Server};
use serde_json::Value;

use crate::stage::{Ended, Stage, agent};

/// Answers with the model that the environment names.
const SAYS_MODEL: &str = "say(task, final_answer=os.environ.get('MODEL', 'none'))";

/// The same, but never answers the second query while there is no file `mended`.
const HANGS_ONCE: &str = "if task['query_id'] == '2' and not os.path.exists('mended'): time.sleep(3600)\n\
     say(task, final_answer=os.environ.get('MODEL', 'none'))";

/// Runs the benchmark where runs are kept when nobody says.
fn bench(stage: &Stage, agent: &str, options: &str, variables: &[(&str, &str)]) -> Ended {
    ended(unnamed(stage, agent, options).envs(variables.iter().copied()))
}

fn unnamed(stage: &Stage, agent: &str, options: &str) -> Command {
    let mut command = stage.command(agent, options);
    command.env_remove("JUROR_RUN");
    command
}

fn ended(command: &mut Command) -> Ended {
    let output = command.output().expect("juror runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let code = output.status.code().unwrap_or(-1);
    Ended { code, stdout: text(&output.stdout), stderr: text(&output.stderr) }
}

/// Begins a run, and kills it when its first query is answered.
fn cut_off(stage: &Stage, agent: &str, options: &str, variables: &[(&str, &str)]) {
    let mut command = unnamed(stage, agent, &format!("--jobs 1 {options}"));
    let command = command.envs(variables.iter().copied()).stderr(Stdio::piped());
    let mut juror = command.stdout(Stdio::null()).spawn().expect("juror runs");
    let mut said = BufReader::new(juror.stderr.take().expect("what it says")).lines();
    let is_answered = said.by_ref().map_while(Result::ok).any(|line| line.starts_with("[1/4]"));
    assert!(is_answered, "a query is answered");
    juror.kill().expect("killed");
    juror.wait().expect("ended");
}

fn answers(stage: &Stage) -> Vec<String> {
    let results = stage.results();
    let results = results["results"].as_array().expect("results").clone();
    let answer = |result: &Value| result["system_answer"]["final_answer"].as_str().map(Into::into);
    results.iter().filter_map(answer).collect()
}

fn folders(stage: &Stage) -> Vec<PathBuf> {
    let entries = fs::read_dir(stage.path(".juror/runs")).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    folders.sort();
    folders
}

#[test]
fn another_environment_or_name_is_another_run() {
    let stage = Stage::new();
    let agent = agent(&stage, SAYS_MODEL);
    for (model, options) in [("gpt", "--name gpt"), ("claude", "--name claude"), ("opus", "")] {
        let ended = bench(&stage, &agent, options, &[("MODEL", model)]);
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        assert_eq!(answers(&stage), [model; 4], "{model}");
    }
    assert_eq!(folders(&stage).len(), 3);
    for folder in folders(&stage) {
        let run = fs::read_to_string(folder.join("run.json")).expect("a manifest");
        let run: Value = serde_json::from_str(&run).expect("JSON");
        assert_eq!(run["is_complete"], true);
        let environment = run["identity"]["environment"].to_string();
        assert!(!["gpt", "claude", "opus"].iter().any(|value| environment.contains(value)));
    }
}

#[test]
fn a_run_keeps_its_results_one_a_line_and_their_summary() {
    let stage = Stage::new();
    let agent = agent(&stage, "say(task, final_answer='x', tokens=7, usd=0.5)");
    let ended = bench(&stage, &agent, "--judge heuristic", &[]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let folder = folders(&stage).pop().expect("a run");
    let read = |name: &str| fs::read_to_string(folder.join(name)).expect("a file");
    let written = stage.results();
    let results = written["results"].as_array().expect("results");
    let lines: Vec<Value> = read("results.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    assert_eq!(lines.len(), results.len());
    for (mut line, result) in lines.into_iter().zip(results) {
        let fields = line.as_object_mut().expect("a result");
        let own = ["test_set", "agent_tokens", "agent_usd"].map(|key| fields.remove(key));
        assert_eq!(own, [Some("queries".into()), Some(7.into()), Some(0.5.into())]);
        assert_eq!(line, *result);
    }
    let summary: Value = serde_json::from_str(&read("aggregates.json")).expect("JSON");
    for key in ["metadata", "summary", "juror"] {
        assert_eq!(summary[key], written[key], "{key}");
    }
    let run: Value = serde_json::from_str(&read("run.json")).expect("JSON");
    assert_eq!(juror_testing::misfits(&run, &juror_runs::run_schema()), [""; 0]);
    assert_eq!(
        (&run["identity"]["trials"], &run["judge"]["method"]),
        (&1.into(), &"heuristic".into())
    );
}

#[test]
fn a_benchmark_that_was_killed_before_it_was_complete_is_resumed() {
    let stage = Stage::new();
    let agent = agent(&stage, SAYS_MODEL);
    assert_eq!(stage.bench(&agent, "--judge none").code, 0);
    let names = || {
        let entries = fs::read_dir(stage.path("run")).expect("a folder").flatten();
        entries.map(|entry| entry.file_name()).collect::<std::collections::BTreeSet<_>>()
    };
    let all = names();
    let results = || -> Vec<Value> {
        let text = fs::read_to_string(stage.path("run/results.jsonl")).expect("results");
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    };
    let first = results();
    let run = fs::read_to_string(stage.path("run/run.json")).expect("a manifest");
    stage.write("run/run.json", &run.replace("\"is_complete\": true", "\"is_complete\": false"));
    fs::remove_file(stage.path("run/aggregates.json")).expect("removed");
    let again = stage.bench(&agent, "--judge none");
    assert_eq!(again.code, 0, "{}", again.stderr);
    assert!(again.stderr.contains("resuming run: 4 of 4 queries were tried"));
    assert_eq!((names(), results().len()), (all, first.len()));
    for (one, other) in first.iter().zip(results()) {
        assert_eq!(one["system_answer"], other["system_answer"]);
        assert_eq!(one["timing"]["system_answer_time"], other["timing"]["system_answer_time"]);
    }
}

#[test]
fn no_key_of_the_command_line_is_in_the_run() {
    let stage = Stage::new();
    let words = "if sys.argv[2] == 'hush-1': say(task, final_answer='x')";
    let agent = format!("{} --api-key hush-1", agent(&stage, words));
    let options = "--judge none --limit 1 --server-token hush-2 --proxy http://me:hush-3@host/";
    let ended = stage.bench(&agent, options);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let run = fs::read_to_string(stage.path("run/run.json")).expect("a manifest");
    assert!(!run.contains("hush"), "{run}");
    let run: Value = serde_json::from_str(&run).expect("JSON");
    let words = run["command"].as_array().expect("words");
    let has = |wanted: &str| words.iter().any(|word| word == wanted);
    assert!(has("bench") && has("command:python3 agent.py --api-key ***"), "{words:?}");
    assert!(has("--server-token") && has("***") && has("http://host/"), "{words:?}");
}

#[test]
fn settings_say_where_benchmarks_are_kept() {
    let stage = Stage::new();
    let agent = agent(&stage, SAYS_MODEL);
    stage.write("juror.yaml", "runs: {folder: kept}\n");
    let ended = bench(&stage, &agent, "--judge none --limit 1 -c juror.yaml", &[]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(folders(&stage).is_empty());
    let kept = fs::read_dir(stage.path("kept")).expect("a folder").flatten().next();
    let run = fs::read_to_string(kept.expect("a run").path().join("run.json")).expect("a manifest");
    let run: Value = serde_json::from_str(&run).expect("JSON");
    assert_eq!(run["settings"]["runs"]["folder"], "kept");
}

#[test]
fn an_unfinished_run_is_gone_on_with_only_by_what_began_it() {
    let stage = Stage::new();
    let agent = agent(&stage, HANGS_ONCE);
    let gpt = [("MODEL", "gpt")];
    cut_off(&stage, &agent, "--name a", &gpt);
    stage.write("mended", "");
    for (options, variables, told) in [
        ("--name b", gpt, ""),
        ("--name a --pool own", gpt, "pool changed"),
        ("--name a", [("MODEL", "claude")], "environment (MODEL) changed"),
        ("--name a --fresh", gpt, ""),
    ] {
        let ended = bench(&stage, &agent, options, &variables);
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        assert!(ended.stderr.contains(told), "{}", ended.stderr);
        assert!(!ended.stderr.contains("resuming .juror"), "{}", ended.stderr);
        assert_eq!(answers(&stage), [variables[0].1; 4]);
    }
    let asked = || fs::read_to_string(stage.path("asked.txt")).expect("asked").lines().count();
    let before = asked();
    let ended = bench(&stage, &agent, "--name a", &gpt);
    assert!(ended.stderr.contains("resuming .juror/runs/"), "{}", ended.stderr);
    assert!(ended.stderr.contains(": 1 of 4 queries were tried"), "{}", ended.stderr);
    assert_eq!((ended.code, answers(&stage), asked() - before), (0, vec!["gpt".into(); 4], 3));
}

#[test]
fn the_same_command_after_a_finished_run_tries_anew() {
    let stage = Stage::new();
    let agent = agent(&stage, "say(task, final_answer=str(time.time_ns()))");
    let first = bench(&stage, &agent, "", &[]);
    let told = answers(&stage);
    let second = bench(&stage, &agent, "", &[]);
    assert_eq!((first.code, second.code), (0, 0), "{}", second.stderr);
    assert!(answers(&stage).iter().all(|answer| !told.contains(answer)));
    assert_eq!(folders(&stage).len(), 2);
    let run = stage.results()["juror"]["run"].as_str().expect("a folder").to_owned();
    assert!(folders(&stage).contains(&stage.path(&run)), "{run}");
}

#[test]
fn a_finished_folder_is_refused_unless_it_is_to_be_replaced() {
    let stage = Stage::new();
    let agent = agent(&stage, SAYS_MODEL);
    assert_eq!(stage.bench_with(&agent, "", &[("MODEL", "one")]).code, 0);
    let refused = stage.bench_with(&agent, "", &[("MODEL", "one")]);
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    assert!(refused.stderr.contains("run: this run is finished"), "{}", refused.stderr);
    assert!(refused.stderr.contains("hint: --fresh"), "{}", refused.stderr);
    let fresh = stage.bench_with(&agent, "--fresh", &[("MODEL", "two")]);
    assert_eq!((fresh.code, answers(&stage)), (0, vec!["two".to_owned(); 4]), "{}", fresh.stderr);
    let kept = fs::read_to_string(stage.path("run/attempts.jsonl")).expect("attempts");
    assert_eq!(kept.lines().count(), 4);
    fs::remove_file(stage.path("run/run.json")).expect("removed");
    let strange = stage.bench_with(&agent, "--fresh", &[("MODEL", "three")]);
    assert_eq!(strange.code, 2, "{}", strange.stderr);
    assert_eq!(fs::read_to_string(stage.path("run/attempts.jsonl")).expect("attempts"), kept);
}

#[test]
fn named_variables_alone_tell_runs_apart() {
    let stage = Stage::new();
    let agent = agent(&stage, HANGS_ONCE);
    cut_off(&stage, &agent, "--agent-env MODEL", &[("MODEL", "gpt"), ("OTHER", "1")]);
    stage.write("mended", "");
    let options = "--agent-env MODEL";
    let ended = bench(&stage, &agent, options, &[("MODEL", "gpt"), ("OTHER", "2")]);
    assert!(ended.stderr.contains("resuming"), "{}", ended.stderr);
    let folder = folders(&stage).pop().expect("one run");
    let results = fs::read_to_string(folder.join("results.jsonl")).expect("results");
    assert_eq!((results.lines().count(), folder.join("aggregates.json").is_file()), (4, true));
}

/// How often the built-in agent asked a server.
fn turns(server: &Server) -> usize {
    server.seen().iter().filter(|seen| seen.body.get("tools").is_some()).count()
}

/// Tries the built-in agent on a model of a server.
fn chat(stage: &Stage, server: &Server, options: &str) -> Ended {
    let address = format!("{}/v1", server.address());
    let variables = [("OPENAI_API_KEY", "sk-x"), ("OPENAI_BASE_URL", address.as_str())];
    bench(stage, "chat", &format!("--pool own {options}"), &variables)
}

#[test]
fn the_built_in_agent_is_asked_anew_in_every_run() {
    let stage = Stage::new();
    let [one, other] = [0; 2].map(|_| Server::start(Script::default()));
    let first = chat(&stage, &one, "");
    assert_eq!(first.code, 0, "{}", first.stderr);
    assert!(first.stderr.contains("openai/gpt-4o-mini judges itself"), "{}", first.stderr);
    let n_turns = turns(&one);
    assert!(n_turns >= 4);
    assert_eq!(chat(&stage, &one, "").code, 0);
    assert_eq!(turns(&one), 2 * n_turns, "a new run asks anew");
    assert_eq!(chat(&stage, &other, "").code, 0);
    assert_eq!(turns(&other), n_turns, "so does another server with the same model");
    stage.write(
        "hot.yaml",
        "llm: {generation: {provider: openai, model: gpt-4o-mini, temperature: 0.7}}\n",
    );
    assert_eq!(chat(&stage, &one, "-c hot.yaml").code, 0);
    assert_eq!(turns(&one), 3 * n_turns);
    assert_eq!(folders(&stage).len(), 4);
    for _ in 0..2 {
        let replayed = chat(&stage, &one, "--replay-agent");
        assert_eq!(replayed.code, 0, "{}", replayed.stderr);
        assert_eq!(turns(&one), 4 * n_turns, "replayed only when asked for");
    }
    assert_eq!(chat(&stage, &other, "--replay-agent").code, 0);
    assert_eq!(turns(&other), 2 * n_turns, "nobody replays another server");
}

#[test]
fn results_name_prompts_sources_and_data_by_hash() {
    let stage = Stage::new();
    let server = Server::start(Script::default());
    let ended = chat(&stage, &server, "--limit 1");
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let results = stage.results();
    let juror = &results["juror"];
    assert_eq!(juror["sources"], serde_json::json!(["cache"]));
    let prompts = juror["judge_prompts"].as_object().expect("prompts");
    assert!(
        prompts.contains_key("answer_status") && prompts.contains_key("answer_status_detailed")
    );
    assert_eq!(juror["data"]["queries"].as_str().expect("a hash").len(), 16);
    assert!(juror["data"]["tools"].as_str().expect("a hash").starts_with("contents:"));
    assert_eq!(juror["data"]["cache"].as_object().expect("hashes").len(), 1);
    let address = format!("{}/v1", server.address());
    let options = format!("--limit 1 --simulator chat --model m --model-url {address}");
    let ended = chat(&stage, &server, &options);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let simulator = &stage.results()["juror"]["simulator"];
    assert_eq!(simulator["model"], "openai_compatible/m");
    assert_eq!(simulator["prompt"].as_str().expect("a hash").len(), 16);
    assert_eq!(stage.results()["juror"]["sources"], serde_json::json!(["cache", "simulator"]));
}

#[test]
fn results_say_nothing_of_replies_that_another_server_gives() {
    let stage = Stage::new();
    let served = stage.serve();
    let address = served.url();
    let agent = agent(&stage, SAYS_MODEL);
    let ended = bench(&stage, &agent, &format!("--judge none --server {address}"), &[]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let juror = &stage.results()["juror"];
    for claim in ["/sources", "/simulator", "/data/cache"] {
        assert_eq!(juror.pointer(claim), None, "{claim}");
    }
    let run = fs::read_to_string(folders(&stage)[0].join("run.json")).expect("a run");
    let run: Value = serde_json::from_str(&run).expect("JSON");
    assert_eq!(run["identity"]["server"], address.as_str());
    assert_eq!(run["identity"]["tool options"], Value::Null);
}

#[test]
fn a_start_that_fails_leaves_no_folder() {
    let stage = Stage::new();
    let ended = bench(&stage, "command:false", "--judge none", &[]);
    assert_eq!(ended.code, 2, "{}", ended.stderr);
    assert!(folders(&stage).is_empty());
}

#[test]
fn recorded_answers_pass_over_no_run() {
    let stage = Stage::new();
    let agent = agent(&stage, HANGS_ONCE);
    cut_off(&stage, &agent, "--judge none", &[]);
    let answer = serde_json::json!({"results": [{"query_id": 1,
        "system_answer": {"final_answer": "x"}}]});
    stage.write("answers.json", &answer.to_string());
    let ended = bench(&stage, "recorded:answers.json", "--judge none --name agent", &[]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(!ended.stderr.contains("starting a new run"), "{}", ended.stderr);
    assert_eq!(folders(&stage).len(), 1);
}

#[test]
fn a_judge_that_cannot_be_asked_leaves_queries_unjudged() {
    let stage = Stage::new();
    let refused = Reply::Status { status: 400, retry_after: None, body: None };
    let all = Matching { purpose: None, contains: String::new(), reply: refused };
    let server = Server::start(Script { matching: vec![all], ..Script::default() });
    let address = format!("{}/v1", server.address());
    let variables = [("OPENAI_API_KEY", "sk-x"), ("OPENAI_BASE_URL", address.as_str())];
    let agent = agent(&stage, SAYS_MODEL);
    let ended = bench(&stage, &agent, "--pass-rate p.json -q", &variables);
    assert_eq!(ended.code, 3, "{}", ended.stderr);
    let why = "no answer is judged, so judged metrics have no verdicts: the judge could not be asked: \
               the model refuses the request: status 400";
    assert!(ended.stderr.contains(why), "{}", ended.stderr);
    let results = stage.results();
    assert_eq!(results["summary"]["unjudged_count"], 4);
    assert_eq!(results["results"][0]["evaluation"]["answer_status"], "Unjudged");
    assert_eq!(results["results"][0]["scores"]["sopr_score"], Value::Null);
    assert_eq!(results["juror"]["judge_errors"], 4);
    assert!(ended.stdout.contains("4 unjudged and left out"), "{}", ended.stdout);
    assert_eq!(stage.json("p.json"), serde_json::json!({}));
}

#[test]
fn percentages_and_sopr_are_of_the_queries_that_were_judged() {
    let stage = Stage::new();
    let reply =
        |contains: &str, reply| Matching { purpose: None, contains: contains.into(), reply };
    let refused = Reply::Status { status: 400, retry_after: None, body: None };
    let solved = Reply::Json(serde_json::json!({"answer_status": "Solved", "reason": "so"}));
    let some = vec![reply("answer two", refused.clone()), reply("answer", solved)];
    for (matching, share, n_unjudged) in
        [(some, serde_json::json!(100.0), 1), (vec![reply("", refused)], Value::Null, 4)]
    {
        let server = Server::start(Script { matching, ..Script::default() });
        let address = format!("{}/v1", server.address());
        let variables = [("OPENAI_API_KEY", "sk-x"), ("OPENAI_BASE_URL", address.as_str())];
        let words =
            "say(task, final_answer='answer ' + ('two' if task['query_id'] == '2' else 'x'))";
        let ended = bench(&stage, &agent(&stage, words), "--fresh", &variables);
        assert_eq!(ended.code, 3, "{}", ended.stderr);
        let summary = &stage.results()["summary"];
        assert_eq!(summary["unjudged_count"], n_unjudged, "{summary:#}");
        assert_eq!(summary["solved_percentage"], share, "{summary:#}");
        let sopr = share.as_f64().map(|share| share / 100.0);
        assert_eq!(summary["average_sopr_score"].as_f64(), sopr, "{summary:#}");
        let mut table = ended.stdout.lines().skip_while(|line| !line.contains("queries"));
        let header = table.next().unwrap_or_default();
        assert!(header.contains("unsolved  unjudged"), "{}", ended.stdout);
        let row: Vec<&str> = table.next().unwrap_or_default().split_whitespace().collect();
        let wanted: &[&str] = match sopr {
            Some(_) => &["4", "100.0", "%", "0.0", "%", "0.0", "%", "1", "1.000"],
            None => &["4", "–", "–", "–", "4", "–"],
        };
        assert_eq!(&row[1..=wanted.len()], wanted, "{}", ended.stdout);
        assert!(ended.stdout.contains("left out of the percentages and SoPR"), "{}", ended.stdout);
    }
}

#[test]
fn several_recorded_answers_to_a_query_are_trials() {
    let stage = Stage::new();
    let result = |id: u32, text: &str| {
        serde_json::json!({"query_id": id,
        "system_answer": {"final_answer": text}})
    };
    let long = "Ten pounds each, says the tool, and twelve people pay one hundred and twenty.";
    let results = serde_json::json!({"results": [result(3, long), result(3, "sorry"),
        result(3, long), result(1, long)]});
    stage.write("three.json", &results.to_string());
    let ended = bench(&stage, "recorded:three.json", "--judge heuristic", &[]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let results = stage.results();
    assert_eq!(results["summary"]["total_queries"], 4);
    assert_eq!(results["summary"]["total_evaluations"], 6);
    let trials: Vec<Value> = results["results"]
        .as_array()
        .expect("results")
        .iter()
        .map(|own| serde_json::json!([own["query_id"], own["trial"]]))
        .collect();
    let wanted = serde_json::json!([[1, null], [2, null], [3, 1], [3, 2], [3, 3], [4, null]]);
    assert_eq!(serde_json::json!(trials), wanted);
    let refused = bench(&stage, "recorded:three.json", "--judge heuristic --converted c.json", &[]);
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    assert!(refused.stderr.contains("two answers are to the id `3`"), "{}", refused.stderr);
}

#[test]
fn trying_errors_again_says_when_all_is_tried_anew() {
    let stage = Stage::new();
    let agent = agent(
        &stage,
        "if task['query_id'] == '2': say(task, error='no')\nelse: say(task, final_answer='x')",
    );
    let first = bench(&stage, &agent, "--judge none", &[("MODEL", "one")]);
    let hint = "1 of 4 queries ended with an error: --retry-errors tries them again";
    assert_eq!((first.code, first.stderr.contains(hint)), (3, true), "{}", first.stderr);
    let same = bench(&stage, &agent, "--judge none --retry-errors", &[("MODEL", "one")]);
    assert!(same.stderr.contains("resuming"), "{}", same.stderr);
    let other = bench(&stage, &agent, "--judge none --retry-errors", &[("MODEL", "two")]);
    assert!(other.stderr.contains(" changed since the last run "), "{}", other.stderr);
    assert!(
        other.stderr.contains(" --retry-errors --resume-changed resumes it"),
        "{}",
        other.stderr
    );
    for option in ["--retry-errors", "--resume-changed"] {
        let options = format!("--judge none --name never{option} {option}");
        let none = bench(&stage, &agent, &options, &[]);
        let told = "starting a new run: there is no earlier run of this name to resume";
        assert!(none.stderr.contains(told), "{}", none.stderr);
    }
}

#[test]
fn a_judge_that_fails_again_is_not_told_to_be_asked_again() {
    let refused = Reply::Status { status: 400, retry_after: None, body: None };
    let matching = vec![Matching { contains: String::new(), purpose: None, reply: refused }];
    let server = Server::start(Script { matching, ..Script::default() });
    let stage = Stage::new();
    let agent = agent(&stage, SAYS_MODEL);
    let address = format!("{}/v1", server.address());
    let variables = [("OPENAI_API_KEY", "sk-scripted"), ("OPENAI_BASE_URL", address.as_str())];
    bench(&stage, &agent, "", &variables);
    let again = bench(&stage, &agent, "--retry-errors", &variables);
    let told = "4 of the queries tried earlier were judged again, and the judge failed again";
    assert!(again.stderr.contains(told), "{}", again.stderr);
    assert!(!again.stderr.contains("--retry-errors tries them again"), "{}", again.stderr);
}

#[test]
fn a_judge_that_nobody_asked_has_not_judged() {
    let stage = Stage::new();
    let server = Server::start(Script::default());
    let address = format!("{}/v1", server.address());
    let variables = [("OPENAI_API_KEY", "sk-x"), ("OPENAI_BASE_URL", address.as_str())];
    let agent = agent(&stage, "say(task, final_answer='')");
    let ended = bench(&stage, &agent, "--repeats 3", &variables);
    assert_eq!((ended.code, server.seen().len()), (0, 0), "{}", ended.stderr);
    let told = "openai/gpt-4o-mini would judge, and no answer had to be asked about";
    assert!(ended.stdout.contains(told), "{}", ended.stdout);
}

#[test]
fn a_key_alone_names_no_model_for_a_simulator() {
    let stage = Stage::new();
    let agent = agent(&stage, SAYS_MODEL);
    let key = [("OPENAI_API_KEY", "sk-x")];
    let ended = bench(&stage, &agent, "--simulator chat --judge none", &key);
    assert_eq!(ended.code, 2, "{}", ended.stderr);
    assert!(ended.stderr.contains("OPENAI_API_KEY alone names none here"), "{}", ended.stderr);
}

#[test]
fn a_provider_that_there_is_not_is_told_with_its_line_where_it_is_to_be_asked() {
    let stage = Stage::new();
    let agent = agent(&stage, SAYS_MODEL);
    stage.write("judge.yaml", "llm:\n  generation:\n    provider: opnai\n    model: m\n");
    stage.write(
        "simulator.yaml",
        "tools:\n  simulator:\n    model: {provider: opnai, model: m}\n  sources: [simulator]\n",
    );
    for (options, place) in [
        ("-c judge.yaml --judge model", "judge.yaml:3:15: there is no provider `opnai`"),
        ("-c simulator.yaml --judge none", "simulator.yaml:3:23: there is no provider `opnai`"),
    ] {
        let ended = bench(&stage, &agent, options, &[]);
        assert_eq!(ended.code, 2, "{}", ended.stderr);
        assert!(ended.stderr.contains(place), "{}", ended.stderr);
        assert!(ended.stderr.contains("hint: did you mean `openai`?"), "{}", ended.stderr);
    }
    let unasked = bench(&stage, &agent, "-c judge.yaml --judge none", &[]);
    assert_eq!(unasked.code, 0, "{}", unasked.stderr);
}

#[test]
fn results_that_take_the_place_of_others_are_told_as_that() {
    let stage = Stage::new();
    let agent = agent(&stage, SAYS_MODEL);
    let first = bench(&stage, &agent, "--judge none --limit 1", &[]);
    assert!(first.stderr.contains("results are in out.json\n"), "{}", first.stderr);
    let second = bench(&stage, &agent, "--judge none --limit 1 --fresh", &[]);
    let told = "results are in out.json, in place of earlier ones\n";
    assert!(second.stderr.contains(told), "{}", second.stderr);
}

#[test]
fn an_agent_without_tools_is_warned_of() {
    let stage = Stage::new();
    let agent = agent(&stage, SAYS_MODEL);
    let told = "there are no tools and no known replies";
    let with_tools = bench(&stage, &agent, "--judge none", &[]);
    let used = &stage.results()["juror"];
    assert_eq!([&used["agent_tokens"], &used["agent_usd"]], [&Value::Null; 2], "it tells neither");
    assert!(!with_tools.stderr.contains(told), "{}", with_tools.stderr);
    let queries = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/queries.json");
    let mut command = Command::new(env!("CARGO_BIN_EXE_juror"));
    command
        .args(["bench", "-o", "out.json", "--judge", "none", "--queries", queries])
        .args(["--agent", &agent])
        .current_dir(stage.folder.path());
    let without = ended(&mut command);
    assert_eq!((without.code, without.stderr.contains(told)), (0, true), "{}", without.stderr);
}
