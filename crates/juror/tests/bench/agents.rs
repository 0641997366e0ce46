//! Agents of every kind on the project's example.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use juror_scripted::{FunctionCall, Reply, Script, Server};
use serde_json::{Value, json};

use crate::stage::{Ended, Stage, agent, example_agent};

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
    assert!(ended.stdout.contains("nobody judged"), "{}", ended.stdout);
    let top = stage.bench(&example_agent(), "--pool top:3 --fresh");
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
    assert!(errors[1].contains("did not respond for 2 s"), "{errors:?}");
    assert!(errors[2].contains("did not respond for 2 s"), "{errors:?}");
    assert!(errors[2].contains("its last line was `garbled {`"), "{errors:?}");
    assert_eq!(errors[3], "none");
    assert_eq!(results["summary"]["error_count"], 3);
}

#[test]
fn a_run_goes_on_where_it_ended() {
    let stage = Stage::new();
    let agent = agent(
        &stage,
        "if task['query_id'] == '3' and not os.path.exists('mended'): sys.exit(1)\n\
         call(task, 'Travel', 'garden_visits', 'ticket_price')\n\
         say(task, final_answer='An answer to ' + task['query_id'])",
    );
    assert_eq!(stage.bench(&agent, "--jobs 1").code, 3);
    assert_eq!(
        stage.bench(&agent, "--jobs 1").code,
        2,
        "a finished run is not taken for a new one"
    );
    let asked = || fs::read_to_string(stage.path("asked.txt")).expect("asked");
    assert_eq!(asked().lines().count(), 4, "nothing is asked twice: {}", asked());
    stage.write("mended", "");
    let ended = stage.bench(&agent, "--jobs 1 --retry-errors");
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert_eq!(asked(), "1\n2\n3\n4\n3\n");
    assert_eq!(stage.results()["results"][2]["scores"]["api_call_score"], 1.0);
    let changed = stage.bench(&example_agent(), "");
    assert_eq!(changed.code, 2);
    assert!(changed.stderr.contains("different inputs or settings: agent, "), "{}", changed.stderr);
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
fn recorded_queries_whose_agent_crashed_are_errors() {
    let stage = Stage::new();
    let crashed = |id| json!({"query_id": id, "test_set": "elsewhere", "error": "KeyError: 'x'"});
    let results = json!({"results": [crashed(1), crashed(2), crashed(3), crashed(4)]});
    stage.write("crashed.json", &results.to_string());
    let ended = stage.bench("recorded:crashed.json", "--judge heuristic");
    assert_eq!(ended.code, 3, "{}", ended.stderr);
    let results = stage.results();
    assert_eq!(results["results"][0]["error"], "KeyError: 'x'");
    assert_eq!(
        (&results["summary"]["error_count"], &results["summary"]["finish_count"]),
        (&json!(4), &json!(0))
    );
}

#[test]
fn recorded_answers_are_found_though_their_sets_are_named_otherwise() {
    let stage = Stage::new();
    let of = |set: &str, id| json!({"query_id": id, "test_set": set, "system_answer": {"final_answer": "Ten pounds."}});
    let results = json!({"results": [of("G1", 1), of("G1", 2), of("G2", 3), of("G2", 4)]});
    stage.write("sets.json", &results.to_string());
    let ended = stage.bench("recorded:sets.json", "--judge heuristic");
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert_eq!(stage.results()["summary"]["finish_count"], 4);
    let shared = json!({"results": [of("G1", 1), of("G2", 1)]});
    stage.write("shared.json", &shared.to_string());
    let refused = stage.bench("recorded:shared.json", "--judge heuristic");
    let told = "recorded:shared.json: `1` is the id of a query of `G1` and of `G2`";
    assert_eq!((refused.code, refused.stderr.contains(told)), (2, true), "{}", refused.stderr);
}

#[test]
fn the_built_in_agent_runs_both_methods() {
    for method in ["CoT@1", "DFS_woFilter_w2"] {
        let (stage, server) = (Stage::new(), Server::start(Script::default()));
        let address = format!("{}/v1", server.address());
        // A proxy is of no use for what is on this machine.
        let proxy = ("HTTP_PROXY", "http://127.0.0.1:1");
        let variables = [("OPENAI_API_KEY", "sk-x"), ("OPENAI_BASE_URL", address.as_str()), proxy];
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
fn a_command_that_ends_at_once_is_told_with_its_status() {
    let stage = Stage::new();
    for command in ["command:false", "command:sh -c 'exit 1'"] {
        // Whether it still reads when it is spoken to is a matter of chance.
        for _ in 0..5 {
            let ended = stage.bench(command, "--judge none");
            assert!(ended.stderr.contains("the agent ended (exit status: 1)"), "{}", ended.stderr);
        }
    }
}

#[test]
fn what_is_asked_wrongly_is_told() {
    let stage = Stage::new();
    for (agent, options, words) in [
        ("nobody", "", "there is no agent `nobody`"),
        ("command:", "", "names no command"),
        ("command:python3 'x.py", "", "a quote of the command is not closed"),
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
    for command in ["/no/such/program", "false", "echo hello"] {
        let ended = stage.bench(&format!("command:{command}"), "--limit 1");
        let words = "error: the agent cannot start";
        assert_eq!((ended.code, ended.stderr.contains(words)), (2, true), "{}", ended.stderr);
        assert!(!stage.path("run").exists(), "no run is begun");
    }
    let ended = stage.bench("command:x", "--server http://127.0.0.1:1");
    assert_eq!(ended.code, 3);
    assert!(ended.stderr.contains("no tools are served here"), "{}", ended.stderr);
}

#[test]
fn a_run_and_its_results_are_answers_to_judge_again() {
    let stage = Stage::new();
    let body = "if task['query_id'] == '4': say(task, error='no idea')\n\
        else:\n    call(task, 'Travel', 'garden_visits', 'ticket_price')\n    \
        say(task, final_answer='Ten pounds each, says the tool.', called_apis=[['Garden Visits', 'Ticket price']], tokens=100, usd=0.5)";
    let agent = agent(&stage, body);
    let outputs =
        "--judge heuristic --converted c.json --pass-rate p.json --pass-rate-csv p.csv --pool own";
    let ended = stage.bench(&agent, outputs);
    assert_eq!(ended.code, 3, "{}", ended.stderr);
    let first = stage.results();
    assert_eq!(first["juror"]["agent_tokens"], 300);
    assert!(ended.stdout.contains("300 tokens, 1.5000 USD"), "{}", ended.stdout);
    let [converted, pass_rate] = ["c.json", "p.json"].map(|name| stage.json(name));
    assert_eq!(converted["3"]["answer"]["final_answer"], "Ten pounds each, says the tool.");
    assert!(converted["3"]["available_tools"][0]["function"]["name"].is_string());
    assert!(converted.get("4").is_none());
    assert_eq!(pass_rate["3"]["judged_by"], "heuristic");
    assert!(
        pass_rate["3"]["is_solved"]["0"].as_str().expect("a word").starts_with("AnswerStatus.")
    );
    let table = fs::read_to_string(stage.path("p.csv")).expect("a table");
    assert_eq!(table.lines().count(), 5 + 3, "three answers have a second step: {table}");

    fs::copy(stage.path("out.json"), stage.path("earlier.json")).expect("a copy");
    for place in ["run", "earlier.json", "c.json"] {
        let again = stage.bench(&format!("recorded:{place}"), "--judge heuristic --run other");
        // The published form has no place for what went wrong.
        assert_eq!(again.code, if place == "c.json" { 0 } else { 3 }, "{place}: {}", again.stderr);
        let results = stage.results();
        for at in 0..4 {
            let scores = |results: &Value| results["results"][at]["scores"].clone();
            // The published form has no place for calls that are told apart from steps.
            let is_kept = place != "c.json";
            assert!(!is_kept || scores(&results) == scores(&first), "{place} {at}");
            assert_eq!(
                results["results"][at]["system_answer"]["final_answer"],
                first["results"][at]["system_answer"]["final_answer"]
            );
        }
    }
    assert!(!stage.path("other").exists(), "recorded answers are not kept again");
}

/// An agent that is asked over HTTP, and prints its address.
const SERVER: &str = r#"
import http.server, json
class Agent(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        task = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        assert task["tools_url"].endswith("/tools")
        reply = json.dumps({"final_answer": "An answer to " + task["query_id"]})
        status = {"2": 500}.get(task["query_id"], 200)
        if task["query_id"] == "3": reply = "<html>"
        self.send_response(status)
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply.encode())
    def log_message(self, *words): pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Agent)
print(f"http://127.0.0.1:{server.server_port}/answer", flush=True)
server.serve_forever()
"#;

#[test]
fn an_agent_is_asked_over_http() {
    let stage = Stage::new();
    let mut server = Command::new("python3")
        .args(["-c", SERVER])
        .stdout(Stdio::piped())
        .spawn()
        .expect("Python runs");
    let mut address = String::new();
    let output = server.stdout.take().expect("its output");
    BufReader::new(output).read_line(&mut address).expect("an address");
    let ended = stage.bench(address.trim(), "");
    server.kill().expect("ended");
    server.wait().expect("ended");
    assert_eq!(ended.code, 3, "{}", ended.stderr);
    let results = stage.results();
    let of = |at: usize| &results["results"][at];
    assert_eq!(of(0)["system_answer"]["final_answer"], "An answer to 1");
    assert_eq!(results["summary"]["error_count"], 2);
    assert!(of(1)["error"].as_str().expect("an error").contains("status 500"), "{}", of(1));
    assert!(of(2)["error"].as_str().expect("an error").contains("`<html>`"), "{}", of(2));
    let gone = stage.bench(address.trim(), "--run other --limit 1");
    assert_eq!(gone.code, 3);
    assert!(gone.stderr.contains("the agent cannot be reached"), "{}", gone.stderr);
    assert!(gone.stderr.contains("hint: start it first"), "{}", gone.stderr);
    assert!(!stage.path("other").exists(), "no query is asked");
}

#[test]
fn judge_runs_that_differ_are_noise() {
    let stage = Stage::new();
    let status = |word: &str| Reply::Json(json!({"answer_status": word, "reason": word}));
    let replies = vec![status("Solved"), status("Solved"), status("Unsolved")];
    let script = Script {
        replies: [("answer_status".to_owned(), replies)].into_iter().collect(),
        ..Script::default()
    };
    let server = Server::start(script);
    let address = format!("{}/v1", server.address());
    let variables = [("OPENAI_API_KEY", "sk-x"), ("OPENAI_BASE_URL", address.as_str())];
    let agent = agent(&stage, "say(task, final_answer='Ten pounds each.')");
    let ended = stage.bench_with(&agent, "--limit 1 --repeats 3", &variables);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let results = stage.results();
    let score = results["results"][0]["scores"]["sopr_score"].as_f64().expect("a score");
    assert!((score - 2.0 / 3.0).abs() < 1e-9, "{score}");
    assert_eq!(results["results"][0]["evaluation"]["answer_status"], "Solved");
    let noise = results["juror"]["judge_noise"].as_f64().expect("noise");
    assert!((noise - (2.0_f64 / 9.0).sqrt()).abs() < 1e-9, "{noise}");
    assert!(results["juror"]["judge_usd"].as_f64().expect("a price") > 0.0);
    assert!(ended.stdout.contains("3 times, judge noise 47.1 %"), "{}", ended.stdout);
}

#[test]
fn an_agent_may_end_in_its_own_time() {
    let stage = Stage::new();
    fs::create_dir(stage.path("my agents")).expect("a folder");
    let script = "import json, sys\nsys.stdin.readline()\nprint(json.dumps({'type': 'ready'}), flush=True)\n\
        for line in sys.stdin:\n    said = {'type': 'answered', 'query_id': json.loads(line)['query_id'], 'final_answer': 'x'}\n    print(json.dumps(said), flush=True)\n\
        open('ended.txt', 'a').write('well\\n')\n";
    stage.write("my agents/agent.py", script);
    let ended = stage.bench("command:python3 'my agents/agent.py'", "--jobs 2");
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let ended = fs::read_to_string(stage.path("ended.txt")).expect("ended well");
    assert!(!ended.is_empty() && ended.lines().all(|line| line == "well"), "{ended}");
}

/// What an agent says, and what becomes of it: status, whether it finished, calls that were told.
#[test]
fn agents_may_tell_what_they_did() {
    let stage = Stage::new();
    let finish = "{'role': 'tool', 'message': {'name': 'Finish', 'arguments': {'return_type': 'give_answer', 'final_answer': 'Ten pounds each.'}, 'response': ''}, 'next': []}";
    let body = format!(
        "if task['query_id'] == '1': say(task, final_answer='It is warm.', answer_details=[])\n\
         elif task['query_id'] == '2': say(task, answer_details=[{finish}], tokens='many')\n\
         elif task['query_id'] == '3': say(task, final_answer='Ten.', called_apis=[['garden_visits', 'ticket_price']])\n\
         else: say(task)"
    );
    let agent = agent(&stage, &body);
    let ended = stage.bench(&agent, "--judge heuristic");
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let results = stage.results();
    let of = |at: usize| &results["results"][at];
    assert_eq!(of(0)["evaluation"]["has_finish"], true);
    assert_eq!(of(1)["system_answer"]["final_answer"], "Ten pounds each.");
    assert_eq!(of(1)["evaluation"]["has_finish"], true);
    assert_eq!(of(2)["scores"]["api_call_score"], 0.0, "nothing arrived");
    assert_eq!(of(2)["system_answer"]["claimed_apis"], json!([["Garden Visits", "Ticket price"]]));
    assert_eq!(of(3)["evaluation"]["reason"], "there is no answer");
}

#[test]
fn claimed_calls_do_not_count_where_tools_were_served() {
    let stage = Stage::new();
    let tool = "{'role': 'tool', 'message': {'name': 'get_7_day_forecast_for_garden_weather', 'arguments': '{}', 'response': 'Sunny.'}, 'next': []}";
    let body = format!(
        "call(task, 'Weather', 'garden_weather', 'current', garden='kew')\n\
         claims = [['Garden Weather', 'Current']]\n\
         if task['query_id'] == '1': say(task, final_answer='Warm.', called_apis=claims + [['Garden Weather', '7 day forecast']])\n\
         elif task['query_id'] == '2': say(task, final_answer='Warm.', answer_details=[{tool}])\n\
         else: say(task, final_answer='Warm.', called_apis=claims)"
    );
    let agent = agent(&stage, &body);
    let ended = stage.bench(&agent, "");
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let results = stage.results();
    let of = |at: usize| &results["results"][at];
    let arrived = json!([["Garden Weather", "Current"]]);
    for at in 0..4 {
        assert_eq!(of(at)["system_answer"]["called_apis"], arrived, "{}", of(at));
        let details = of(at)["system_answer"]["answer_details"].to_string();
        assert!(!details.contains("Sunny"), "what did not arrive is not shown: {details}");
    }
    let claimed = |at: usize| of(at)["system_answer"]["claimed_apis"].as_array().map(Vec::len);
    assert_eq!([claimed(0), claimed(1), claimed(2)], [Some(2), Some(1), None]);
    assert_eq!(results["juror"]["claims_differ"], 2);
    let warning = "2 of 4 answers claim other calls than those that arrived";
    assert!(ended.stderr.contains(warning), "{}", ended.stderr);
    // The same holds where the run is judged again.
    let first: Vec<Value> = (0..4).map(|at| of(at)["scores"].clone()).collect();
    for place in ["run", "earlier.json"] {
        fs::copy(stage.path("out.json"), stage.path("earlier.json")).expect("a copy");
        assert_eq!(stage.bench(&format!("recorded:{place}"), "").code, 0);
        let again = stage.results();
        let again: Vec<Value> = (0..4).map(|at| again["results"][at]["scores"].clone()).collect();
        assert_eq!(again, first, "{place}");
    }
}

#[test]
fn searching_the_pool_is_no_call_of_an_api() {
    let call = |name: &str, arguments: &Value| {
        let calls =
            vec![FunctionCall { name: name.into(), arguments: arguments.clone(), id: None }];
        Reply::Calls { content: None, calls }
    };
    let finish = json!({"return_type": "give_answer", "final_answer": "Thirteen degrees."});
    let replies = [
        call("search_tools", &json!({"query": "current weather of a garden"})),
        call("current_for_garden_weather", &json!({"garden": "kew"})),
        call("Finish", &finish),
    ];
    let script = Script {
        replies: [("functions".to_owned(), replies.to_vec())].into_iter().collect(),
        ..Script::default()
    };
    let (stage, server) = (Stage::new(), Server::start(script));
    let address = format!("{}/v1", server.address());
    let variables = [("OPENAI_API_KEY", "sk-x"), ("OPENAI_BASE_URL", address.as_str())];
    let ended = stage.bench_with("chat", "--query-id 1 --judge none", &variables);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let results = stage.results();
    let scores = &results["results"][0]["scores"];
    let wanted = (&json!(1.0), &json!(0));
    assert_eq!((&scores["api_call_precision"], &scores["other_calls"]), wanted, "{results}");
}

#[test]
fn right_apis_score_though_queries_describe_none() {
    let stage = Stage::new();
    let queries = json!([{"query_id": 1, "query": "How old is the club?",
        "relevant APIs": [["Club Facts", "Founding Year"], ["Other Tool", "Other API"]]}]);
    stage.write("queries.json", &queries.to_string());
    let called = json!({"role": "tool", "next": [],
        "message": {"name": "founding_year_for_club_facts", "arguments": {}, "response": "1899"}});
    let answer = json!({"final_answer": "1899", "answer_details": [called]});
    let results = json!({"results": [{"query_id": 1, "system_answer": answer}]});
    stage.write("answers.json", &results.to_string());
    let ended = stage.command_on("queries.json", "recorded:answers.json", "").output();
    assert_eq!(ended.expect("juror runs").status.code(), Some(0));
    assert_eq!(stage.results()["results"][0]["scores"]["api_call_score"], 0.5);
}

#[test]
fn an_agent_may_end_between_queries() {
    let stage = Stage::new();
    let agent = agent(&stage, "say(task, final_answer='x')\nsys.exit(0)");
    let ended = stage.bench(&agent, "--jobs 1");
    assert_eq!(ended.code, 0, "{}", ended.stderr);
}

#[test]
fn what_an_agent_starts_ends_with_it() {
    let stage = Stage::new();
    stage.write("hang.py", "import os, sys\nopen('pid.txt', 'w').write(str(os.getpid()))\nprint('{\"type\": \"ready\"}', flush=True)\nfor line in sys.stdin: pass\nwhile True: pass\n");
    stage.write("launch.sh", "python3 hang.py\ntrue\n");
    let ended = stage.bench("command:sh launch.sh", "--agent-timeout 3 --limit 1");
    assert_eq!(ended.code, 3, "{}", ended.stderr);
    let id = fs::read_to_string(stage.path("pid.txt")).expect("it ran");
    // A process that has ended may still be listed until somebody looks after it.
    let listed = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    let listed = listed.rsplit(')').next().unwrap_or_default().trim_start().to_owned();
    assert!(listed.is_empty() || listed.starts_with(['Z', 'X']), "{listed}");
}

#[test]
fn a_run_says_whose_answers_it_has_and_refuses_others() {
    let stage = Stage::new();
    let agent = agent(&stage, "say(task, final_answer='x')");
    assert_eq!(stage.bench(&agent, "").code, 0);
    let again = stage.bench(&agent, "--judge heuristic --retry-errors");
    assert!(again.stderr.contains("resuming run: 4 of 4 queries were tried"), "{}", again.stderr);
    let other = stage.bench(&agent, "--on-miss fail");
    assert_eq!(other.code, 2);
    assert!(other.stderr.contains("tool options changed"), "{}", other.stderr);
}

#[test]
fn queries_that_ended_badly_are_judged_too() {
    let stage = Stage::new();
    let body = "if task['query_id'] in '12': sys.exit(1)\nsay(task, final_answer='Ten pounds each, says the tool.')";
    let agent = agent(&stage, body);
    assert_eq!(stage.bench(&agent, "--jobs 1").code, 3);
    let results = stage.results();
    assert_eq!(results["summary"]["unjudged_count"], 4, "nobody judged");
    assert_eq!(results["results"][3]["scores"]["sopr_score"], Value::Null);
    let server = Server::start(Script::default());
    for place in ["out.json", "run"] {
        let output = Command::new(env!("CARGO_BIN_EXE_juror"))
            .args(["judge", "pass-rate", place, "--json"])
            .current_dir(stage.folder.path())
            .env_clear()
            .env("OPENAI_API_KEY", "sk-x")
            .env("OPENAI_BASE_URL", format!("{}/v1", server.address()))
            .output()
            .expect("juror runs");
        let summary: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let counts = [&summary["n_queries"], &summary["n_missing"]];
        assert_eq!(counts, [&json!(4), &json!(2)], "{place}: {summary}");
    }
}

/// Benchmarks an agent that answers the first query and never the second, and interrupts it then.
fn interrupt_after_one(stage: &Stage, options: &str) {
    let body = "if task['query_id'] == '1' or os.path.exists('mended'): say(task, final_answer='x')\nelse: time.sleep(3600)";
    let agent = agent(stage, body);
    let mut juror = stage.command(&agent, &format!("--jobs 1 {options}"));
    let mut juror = juror.stderr(Stdio::piped()).spawn().expect("juror runs");
    let mut said = BufReader::new(juror.stderr.take().expect("what it says")).lines();
    assert!(said.next().expect("a line").expect("text").starts_with("[1/4]"));
    let interrupt = Command::new("kill").args(["-INT", &juror.id().to_string()]).status();
    assert!(interrupt.expect("kill").success());
    let rest: Vec<String> = said.map_while(Result::ok).collect();
    assert_eq!(juror.wait().expect("ended").code(), Some(3), "{rest:?}");
    assert!(rest.iter().any(|line| line.contains("stopped: interrupted")), "{rest:?}");
    assert!(!stage.path("out.json").exists());
}

#[test]
fn an_interrupted_run_can_be_compared_by_the_attempts_that_were_made() {
    let stage = Stage::new();
    interrupt_after_one(&stage, "--judge heuristic");
    assert_eq!(stage.json("run/run.json")["is_complete"], false);
    fs::rename(stage.path("run"), stage.path("part")).expect("renamed");
    stage.write("mended", "");
    let whole = stage.bench("command:python3 agent.py", "--jobs 1 --judge heuristic");
    assert_eq!(whole.code, 0, "{}", whole.stderr);
    let compare = |options: &[&str]| {
        let mut juror = Command::new(env!("CARGO_BIN_EXE_juror"));
        juror.args(["compare", "run", "part", "--json"]).args(options);
        juror.current_dir(stage.folder.path()).output().expect("juror runs")
    };
    assert_eq!(compare(&[]).status.code(), Some(2));
    let compared = compare(&["--allow-incomplete"]);
    let told = String::from_utf8_lossy(&compared.stderr);
    assert_eq!(compared.status.code(), Some(0), "{told}");
    let compared: Value = serde_json::from_slice(&compared.stdout).expect("JSON");
    let candidate = &compared["candidates"][0];
    assert_eq!(candidate["questions"], 1);
    assert_eq!(candidate["only_in_baseline"].as_array().map(Vec::len), Some(3), "{candidate}");
}

#[test]
fn an_interrupt_is_no_error_of_agents() {
    let stage = Stage::new();
    interrupt_after_one(&stage, "");
    let kept = fs::read_to_string(stage.path("run/attempts.jsonl")).expect("attempts");
    assert_eq!(kept.lines().count(), 1, "{kept}");
}

#[test]
fn a_line_too_many_is_not_the_answer_to_the_next_query() {
    let stage = Stage::new();
    let body =
        "say(task, final_answer='first to ' + task['query_id'])\nsay(task, final_answer='second')";
    let agent = agent(&stage, body);
    let ended = stage.bench(&agent, "--jobs 1");
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let results = stage.results();
    for (at, id) in ["1", "2", "3", "4"].into_iter().enumerate() {
        let answer = &results["results"][at]["system_answer"]["final_answer"];
        assert_eq!(*answer, format!("first to {id}"));
    }
}

#[test]
fn an_agent_is_not_asked_queries_that_cannot_be_asked() {
    let stage = Stage::new();
    let agent = agent(&stage, "say(task, final_answer='a')");
    let shared = "[{\"query\": \"a\", \"query_id\": 1},\n {\"query\": \"b\", \"query_id\": 1}]";
    for (queries, told) in [
        (
            shared,
            "queries.json:2:29: the query id `1` is used twice, for different queries\n  \
             at [1].query_id\n  hint: give each query of the file an id of its own",
        ),
        (
            r#"[{"qeury": "a", "query_id": 1}]"#,
            "queries.json:1:2: this query has no `query`, but `qeury`\n  at [0]\n  \
             hint: did you mean `query`?",
        ),
        (r#"[{"query_id": 1}]"#, "queries.json:1:2: this query has no `query`"),
        (r#"[{"query": "", "query_id": 1}]"#, "queries.json:1:12: this query has no `query`"),
        (r#"[{"query": 5, "query_id": 1}]"#, "queries.json:1:12: expected a text, found a number"),
    ] {
        stage.write("queries.json", queries);
        let ended = Ended::of(&mut stage.command_on("queries.json", &agent, ""));
        assert_eq!(ended.code, 2, "{ended}");
        assert!(ended.stderr.contains(told), "{told}: {ended}");
        assert!(!stage.path("asked.txt").exists() && !stage.path("run").exists(), "{queries}");
        let mut validate = Command::new(env!("CARGO_BIN_EXE_juror"));
        validate.args(["validate", "queries.json"]).current_dir(stage.folder.path()).env_clear();
        let checked = Ended::of(&mut validate);
        assert_eq!(checked.code, 2, "{checked}");
        assert!(checked.stdout.contains(told), "{told}: {checked}");
    }
}
