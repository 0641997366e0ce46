//! `juror bench` as its users meet it: an agent in a process of its own, files, exit codes.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use juror_scripted::{Script, Server};
use serde_json::{Value, json};

struct Stage {
    folder: tempfile::TempDir,
}

/// How a command ended.
struct Ended {
    code: i32,
    stdout: String,
    stderr: String,
}

impl Stage {
    fn new() -> Stage {
        Stage { folder: tempfile::tempdir().expect("a folder") }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("a file");
    }

    fn results(&self) -> Value {
        let text = fs::read_to_string(self.path("out.json")).expect("results");
        serde_json::from_str(&text).expect("JSON")
    }

    /// Runs the benchmark on the project's example, with more options.
    fn bench(&self, agent: &str, options: &str) -> Ended {
        self.bench_with(agent, options, &[])
    }

    fn bench_with(&self, agent: &str, options: &str, variables: &[(&str, &str)]) -> Ended {
        let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
        let output = Command::new(env!("CARGO_BIN_EXE_juror"))
            .args(["bench", "-o", "out.json", "--run", "run", "--no-keep"])
            .args(["--queries", &format!("{examples}/queries.json")])
            .args(["--tools", &format!("{examples}/tools")])
            .args(["--cache", &format!("{examples}/tool_cache")])
            .args(["--agent", agent])
            .args(options.split_whitespace())
            .current_dir(self.folder.path())
            .env_clear()
            .env("PATH", std::env::var("PATH").unwrap_or_default())
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .output()
            .expect("juror runs");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ended {
            code: output.status.code().unwrap_or(-1),
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
        }
    }
}

fn example_agent() -> String {
    format!("command:python3 {}/../../examples/agent.py", env!("CARGO_MANIFEST_DIR"))
}

/// An agent whose behaviour by query is the body of a Python function.
fn agent(stage: &Stage, body: &str) -> String {
    let lines: Vec<String> = body.lines().map(|line| format!("    {line}")).collect();
    stage.write(
        "agent.py",
        &format!(
            "import json, os, sys, time\nprint(json.dumps({{'type': 'ready'}}), flush=True)\nsys.stdin.readline()\n\
             def say(task, **more):\n    print(json.dumps({{'type': 'answered', 'query_id': task['query_id']}} | more), flush=True)\n\
             for line in sys.stdin:\n    task = json.loads(line)\n    open('asked.txt', 'a').write(task['query_id'] + '\\n')\n{}\n",
            lines.join("\n")
        ),
    );
    "command:python3 agent.py".into()
}

#[test]
fn calls_count_though_the_agent_does_not_tell_of_them() {
    let stage = Stage::new();
    let ended = stage.bench(&example_agent(), "--pool own --judge heuristic");
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let results = stage.results();
    assert_eq!(results["summary"]["total_queries"], 4);
    assert_eq!(results["summary"]["average_api_call_score"], 1.0);
    assert_eq!(results["summary"]["finish_count"], 4);
    assert_eq!(results["metadata"]["config"]["evaluation_method"], "heuristic");
    assert_eq!(results["juror"]["tool_replies"], json!({"cache": 7}));
    let first = &results["results"][0];
    assert_eq!((&first["query_id"], &first["scores"]["api_call_score"]), (&json!(1), &json!(1.0)));
    assert_eq!(first["evaluation"]["evaluation_method"], "heuristic");
    let details = first["system_answer"]["answer_details"].to_string();
    assert!(details.contains("Garden Weather_Current") && details.contains("Finish"), "{details}");
    assert!(ended.stdout.contains("by the heuristic"), "{}", ended.stdout);
}

#[test]
fn the_whole_pool_is_open_by_search() {
    let stage = Stage::new();
    let ended = stage.bench(&example_agent(), "");
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let results = stage.results();
    assert!(results["summary"]["average_api_call_score"].as_f64().expect("a score") > 0.5);
    assert!(ended.stdout.contains("not judged"), "{}", ended.stdout);
    let top = stage.bench(&example_agent(), "--pool top:3 --resume-changed");
    assert_eq!(top.code, 0, "{}", top.stderr);
}

#[test]
fn what_an_agent_does_wrong_is_that_querys_error() {
    let stage = Stage::new();
    let agent = agent(
        &stage,
        "if task['query_id'] == '1': sys.exit(7)\n\
         elif task['query_id'] == '2': time.sleep(3600)\n\
         elif task['query_id'] == '3': print('garbled {', flush=True)\n\
         else: say(task, final_answer='Thirteen degrees.')",
    );
    let ended = stage.bench(&agent, "--agent-timeout 2 --jobs 2");
    assert_eq!(ended.code, 3, "{}", ended.stderr);
    let results = stage.results();
    let errors: Vec<&str> = results["results"]
        .as_array()
        .expect("results")
        .iter()
        .map(|result| result["error"].as_str().unwrap_or("none"))
        .collect();
    assert!(errors[0].contains("the agent ended (exit status: 7)"), "{errors:?}");
    assert!(errors[1].contains("said nothing for 2 s"), "{errors:?}");
    assert!(errors[2].contains("`garbled {`"), "{errors:?}");
    assert_eq!(errors[3], "none");
    assert_eq!(results["summary"]["error_count"], 3);
}

#[test]
fn a_run_goes_on_where_it_ended() {
    let stage = Stage::new();
    let agent = agent(
        &stage,
        "if task['query_id'] == '3' and not os.path.exists('mended'): sys.exit(1)\n\
         say(task, final_answer='An answer to ' + task['query_id'], called_apis=[['Garden Visits', 'Ticket price']])",
    );
    assert_eq!(stage.bench(&agent, "--jobs 1").code, 3);
    assert_eq!(stage.bench(&agent, "--jobs 1").code, 3, "errors stay unless they are tried again");
    let asked = || fs::read_to_string(stage.path("asked.txt")).expect("asked");
    assert_eq!(asked().lines().count(), 4, "nothing is asked twice: {}", asked());
    stage.write("mended", "");
    let ended = stage.bench(&agent, "--jobs 1 --retry-errors");
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert_eq!(asked(), "1\n2\n3\n4\n3\n");
    assert_eq!(stage.results()["results"][2]["scores"]["api_call_score"], 1.0);
    let changed = stage.bench(&example_agent(), "");
    assert_eq!(changed.code, 2);
    assert!(changed.stderr.contains("agent changed"), "{}", changed.stderr);
}

#[test]
fn recorded_answers_are_scored_again() {
    let stage = Stage::new();
    let answer = json!({"3": {"query": "q", "available_tools": [], "answer": {"method": "CoT@1",
        "total_steps": 3, "final_answer": "Ten pounds each.", "answer_details": [{"role": "tool",
            "message": {"name": "ticket_price_for_garden_visits", "arguments": "{}", "response": "x"},
            "next": [{"role": "tool", "message": {"name": "Finish", "arguments": "{}", "response": ""}, "next": []}]}]}}});
    stage.write("answers.json", &answer.to_string());
    let ended = stage.bench("recorded:answers.json", "--judge heuristic");
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let results = stage.results();
    assert_eq!(results["results"][2]["scores"]["api_call_score"], 1.0);
    assert_eq!(results["results"][0]["evaluation"]["reason"], "there is no answer");
    assert_eq!(results["summary"]["finish_count"], 1);
}

#[test]
fn the_built_in_agent_runs_both_methods() {
    for method in ["CoT@1", "DFS_woFilter_w2"] {
        let (stage, server) = (Stage::new(), Server::start(Script::default()));
        let address = format!("{}/v1", server.address());
        let variables = [("OPENAI_API_KEY", "sk-x"), ("OPENAI_BASE_URL", address.as_str())];
        let options = format!("--pool own --method {method}");
        let ended = stage.bench_with("chat", &options, &variables);
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        let results = stage.results();
        assert_eq!(results["summary"]["finish_count"], 4, "{method}");
        assert_eq!(results["metadata"]["config"]["evaluation_method"], "model");
        let purposes: Vec<String> = server.seen().iter().map(|seen| seen.purpose.clone()).collect();
        assert!(purposes.contains(&"answer_status".to_owned()), "{purposes:?}");
        assert!(results["juror"]["agent_tokens"].as_u64().expect("tokens") > 0);
    }
}

#[test]
fn what_is_asked_wrongly_is_told() {
    let stage = Stage::new();
    for (agent, options, words) in [
        ("nobody", "", "there is no agent `nobody`"),
        ("command:", "", "which command?"),
        ("chat", "", "no model is configured"),
        ("recorded:nowhere.json", "", "there is no such file"),
        ("command:x", "--pool all", "there is no pool `all`"),
        ("command:x", "--query-id 77", "there is no query `77`"),
        ("chat", "--method ToT", "there is no method `ToT`"),
    ] {
        let ended = stage.bench(agent, options);
        assert_eq!(
            (ended.code, ended.stderr.contains(words)),
            (2, true),
            "{agent}: {}",
            ended.stderr
        );
        let _ = fs::remove_dir_all(stage.path("run"));
    }
    let ended = stage.bench("command:/no/such/program", "--limit 1");
    assert_eq!(ended.code, 3);
    assert!(ended.stderr.contains("cannot be started"), "{}", ended.stderr);
}
