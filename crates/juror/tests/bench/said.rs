//! What agents say, in whatever form, and what is said to them.

use std::process::{Command, Stdio};

use juror_scripted::{Reply, Script, Server};
use juror_testing::Serving;
use serde_json::json;

use crate::stage::{Stage, agent, example_agent};

/// An agent over HTTP that answers with a Python expression of its task and request.
fn agent_over_http(answer: &str) -> Serving {
    let script = format!(
        "import http.server, json\n\
         class Agent(http.server.BaseHTTPRequestHandler):\n    \
             def do_POST(self):\n        \
                 task = json.loads(self.rfile.read(int(self.headers['Content-Length'])))\n        \
                 reply = ({answer}).encode()\n        \
                 self.send_response(200)\n        \
                 self.send_header('Content-Length', str(len(reply)))\n        \
                 self.end_headers()\n        \
                 self.wfile.write(reply)\n    \
             def log_message(self, *words): pass\n\
         server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Agent)\n\
         print(f'http://127.0.0.1:{{server.server_port}}/answer', flush=True)\n\
         server.serve_forever()\n"
    );
    Serving::start(Command::new("python3").args(["-c", &script]).stderr(Stdio::null()))
}

#[test]
fn an_answer_may_stand_inside_another_object() {
    let nested = "{'answer': {'final_answer': 'It is warm.', 'answer_details': []}}";
    let over_http = agent_over_http(&format!("json.dumps({nested})"));
    let stage = Stage::new();
    let by_lines = agent(&stage, &format!("say(task, **{nested})"));
    for agent in [&over_http.url(), &by_lines] {
        let stage = if agent.starts_with("http") { Stage::new() } else { copy_of(&stage) };
        let ended = stage.bench(agent, "--limit 1");
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        let result = &stage.results()["results"][0];
        assert_eq!(result["system_answer"]["final_answer"], "It is warm.", "{agent}");
        assert_eq!(result["evaluation"]["has_finish"], true, "{agent}");
    }
}

fn copy_of(stage: &Stage) -> Stage {
    let copy = Stage::new();
    std::fs::copy(stage.path("agent.py"), copy.path("agent.py")).expect("a copy");
    copy
}

#[test]
fn a_log_line_on_standard_output_costs_nothing() {
    let stage = Stage::new();
    let body = "print('Thinking ...', flush=True)\nprint('{\"level\": \"error\", \"error\": \"slow\"}', flush=True)\n\
        print('{\"level\": \"info\", \"msg\": \"draft\", \"answer\": \"y\"}', flush=True)\n\
        say(task, final_answer='x')\nprint('Done.', flush=True)";
    let agent = agent(&stage, body);
    let ended = stage.bench(&agent, "--jobs 1");
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert_eq!(stage.results()["summary"]["finish_count"], 4);
    assert_eq!(stage.results()["results"][0]["system_answer"]["final_answer"], "x");
    assert_eq!(ended.stderr.matches("Thinking ...\n").count(), 4, "{}", ended.stderr);
    assert!(!ended.stderr.contains("warning: the agent"), "{}", ended.stderr);
}

#[test]
fn log_lines_before_an_agent_is_ready_cost_nothing() {
    let stage = Stage::new();
    stage.write("agent.sh", "echo Loading\necho '{\"type\": \"ready\"}'\nread setup\nread task\n\
        echo '{\"type\": \"answered\", \"query_id\": \"1\", \"final_answer\": \"x\"}'\ncat > /dev/null\n");
    let ended = stage.bench("command:sh agent.sh", "--query-id 1");
    assert_eq!(ended.code, 0, "{}", ended.stderr);
}

#[test]
fn no_part_that_cannot_be_read_costs_the_answer() {
    let stage = Stage::new();
    let said = [
        r#"\"final_answer\": \"Warm \\ud83d.\""#,
        r#"\"final_answer\": \"Warm.\", \"usd\": NaN, \"answer_details\": [NaN]"#,
        r#"\"final_answer\": \"Warm.\", \"called_apis\": [{\"tool\": \"Garden Weather\", \"api\": \"Current\"}, \"ticket_price_for_garden_visits\"]"#,
        r#"\"final_answer\": \"Warm.\", \"error\": {\"message\": \"no model\"}"#,
    ];
    let said = said.map(|fields| format!("\"{fields}\""));
    let body = format!(
        "said = [{}][int(task['query_id']) - 1]\n\
         print('{{\"type\": \"answered\", \"query_id\": ' + task['query_id'] + ', ' + said + '}}', flush=True)",
        said.join(", ")
    );
    let agent = agent(&stage, &body);
    let ended = stage.bench(&agent, "");
    let results = stage.results();
    let answers: Vec<&str> = (0..4)
        .filter_map(|at| results["results"][at]["system_answer"]["final_answer"].as_str())
        .collect();
    assert_eq!(answers, ["Warm \u{fffd}.", "Warm.", "Warm.", "Warm."]);
    let claimed = json!([["Garden Weather", "Current"], ["Garden Visits", "Ticket price"]]);
    assert_eq!(results["results"][2]["system_answer"]["claimed_apis"], claimed);
    assert_eq!(results["results"][3]["error"], "no model");
    assert_eq!((ended.code, &results["summary"]["error_count"]), (3, &json!(1)));
}

#[test]
fn an_agent_is_called_what_it_calls_itself() {
    let stage = Stage::new();
    let agent = agent(&stage, "say(task, final_answer='x')");
    let script = std::fs::read_to_string(stage.path("agent.py")).expect("a script");
    stage.write("agent.py", &script.replace("'ready'", "'ready', 'name': 'my framework'"));
    for (options, name) in [("", "my framework"), ("--name other --run other", "other")] {
        let ended = stage.bench(&agent, options);
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        assert_eq!(stage.results()["metadata"]["framework"], name);
        assert!(ended.stdout.starts_with(&format!("{name}\n")), "{}", ended.stdout);
    }
}

#[test]
fn headers_for_an_agent_are_sent_and_never_shown() {
    let answer = "json.dumps({'final_answer': self.headers['Authorization'].replace('k3y', 'K3Y') + self.headers['X-Tenant']})";
    let agent = agent_over_http(answer);
    let stage = Stage::new();
    let mut command = stage.command(&agent.url(), "--limit 1");
    command.args(["--agent-header", "Authorization: Bearer env:AGENT_KEY"]);
    let output = command.args(["--agent-header", "X-Tenant: t"]).env("AGENT_KEY", "s-k3y").output();
    let output = output.expect("juror runs");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let answer = &stage.results()["results"][0]["system_answer"]["final_answer"];
    assert_eq!(answer, "Bearer s-K3Yt");
    let kept = ["out.json", "run/run.json", "run/attempts.jsonl"];
    let kept = kept.map(|name| std::fs::read_to_string(stage.path(name)).unwrap_or_default());
    let all = [kept.concat(), String::from_utf8_lossy(&output.stderr).into_owned()].concat();
    assert!(!all.contains("s-k3y"), "{all}");

    let mut command = stage.command(&agent.url(), "--limit 1 --run other");
    let output = command.args(["--agent-header", "X-Key: env:NOT_SET"]).output().expect("juror");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("the variable `NOT_SET` is not set"), "{said}");
}

#[test]
fn answers_that_repeat_a_key_are_kept_without_it() {
    let answer = "json.dumps({'final_answer': 'sent: ' + self.headers['Authorization'] + '.'})";
    let agent = agent_over_http(answer);
    let stage = Stage::new();
    let mut command = stage.command(&agent.url(), "--limit 1");
    command.args(["--agent-header", "Authorization: Bearer env:AGENT_KEY"]);
    let output = command.env("AGENT_KEY", "a-key-of-some-length").output().expect("juror runs");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let answer = &stage.results()["results"][0]["system_answer"]["final_answer"];
    assert_eq!(answer, "sent: ***.");
    let kept = std::fs::read_to_string(stage.path("run/attempts.jsonl")).expect("attempts");
    assert!(!kept.contains("a-key-of-some-length"), "{kept}");
}

#[test]
fn a_server_that_asks_for_a_token_can_be_used() {
    let stage = Stage::new();
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    let mut serve = Command::new(env!("CARGO_BIN_EXE_juror"));
    serve
        .args(["serve", "--port", "0", "--no-keep", "--quiet", "--tools"])
        .arg(format!("{examples}/tools"))
        .args(["--cache", &format!("{examples}/tool_cache")])
        .current_dir(stage.folder.path())
        .env("JUROR_TOKEN", "s-t0ken");
    let server = Serving::start(serve.stderr(Stdio::null()));
    let body = "call(task, 'Weather', 'garden_weather', 'current', garden='Thornfold')\nsay(task, final_answer='x')";
    let agent = agent(&stage, body);
    let options = format!("--query-id 1 --server {}", server.url());

    let refused = stage.bench(&agent, &options);
    assert_eq!(refused.code, 3, "{}", refused.stderr);
    assert!(refused.stderr.contains("asks for a token"), "{}", refused.stderr);
    let token = [("TOKEN", "s-t0ken")];
    let with_token = format!("{options} --server-token env:TOKEN --refresh --match-numbers exact");
    let ended = stage.bench_with(&agent, &with_token, &token);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert_eq!(stage.results()["juror"]["tool_replies"], json!({"cache": 1}));
    let ignored = "answers calls by its own settings: --cache, --match-numbers, --refresh, --no-keep have no effect here";
    assert!(ended.stderr.contains(ignored), "{}", ended.stderr);
    let alone =
        stage.bench_with(&agent, "--query-id 1 --server-token env:TOKEN --run alone", &token);
    let unused = "--server-token has no effect without --server";
    assert!(alone.stderr.contains(unused), "{}", alone.stderr);
    let of_others = [("JUROR_SERVER_TOKEN", "s-t0ken")];
    let quiet = stage.bench_with(&agent, "--query-id 1 --run quiet", &of_others);
    assert!(!quiet.stderr.contains(unused), "{}", quiet.stderr);

    // The built-in agent calls tools there as well.
    let model = Server::start(Script::default());
    let address = format!("{}/v1", model.address());
    let variables = [
        ("OPENAI_API_KEY", "sk-x"),
        ("OPENAI_BASE_URL", address.as_str()),
        ("JUROR_SERVER_TOKEN", "s-t0ken"),
    ];
    let options = format!("{options} --pool own --run chat --judge none");
    let ended = stage.bench_with("chat", &options, &variables);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let replies = stage.results()["juror"]["tool_replies"].clone();
    assert!(replies.as_object().is_some_and(|replies| !replies.is_empty()), "{replies}");
}

/// A run of the built-in agent on a model that gives these texts, one after the other.
fn chat(stage: &Stage, texts: &[&str], options: &str) -> String {
    let replies = texts.iter().map(|text| Reply::Text((*text).to_owned())).collect();
    let script = Script {
        replies: [("functions".to_owned(), replies)].into_iter().collect(),
        ..Script::default()
    };
    let model = Server::start(script);
    let address = format!("{}/v1", model.address());
    let variables = [("OPENAI_API_KEY", "sk-x"), ("OPENAI_BASE_URL", address.as_str())];
    let options = format!("--query-id 1 --pool own --judge none {options}");
    let ended = stage.bench_with("chat", &options, &variables);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    ended.stderr
}

#[test]
fn calls_that_a_model_writes_as_text_are_made_and_told_of() {
    let stage = Stage::new();
    let call = "<tool_call>{\"name\": \"current_for_garden_weather\", \"arguments\": {\"garden\": \"Thornfold\"}}</tool_call>";
    let finish = "{\"name\": \"Finish\", \"parameters\": {\"return_type\": \"give_answer\", \"final_answer\": \"It is \\\"warm\\\".\"}}";
    let said = chat(&stage, &[call, finish], "");
    let results = stage.results();
    let answer = &results["results"][0]["system_answer"];
    assert_eq!(answer["called_apis"], json!([["Garden Weather", "Current"]]));
    assert_eq!(answer["calls_from_text"], 2);
    assert_eq!(results["juror"]["calls_from_text"], 2);
    assert!(said.contains("2 calls were read from the text"), "{said}");
    assert_eq!(answer["final_answer"], "It is \"warm\".", "the answer is plain text");
}

#[test]
fn a_model_that_only_talks_is_stopped_and_told_of() {
    let stage = Stage::new();
    let said = chat(&stage, &["It is warm."; 5], "");
    let results = stage.results();
    let answer = &results["results"][0]["system_answer"];
    assert_eq!(answer["stopped"], "3 replies in a row called nothing");
    assert!(said.contains("1 of 1 queries were stopped, as the model called nothing"), "{said}");
    assert_eq!(results["results"][0]["evaluation"]["has_finish"], false);
}

#[test]
fn replies_that_a_simulator_gave_earlier_are_told_of() {
    let stage = Stage::new();
    let server = Server::start(Script::default());
    let address = format!("{}/v1", server.address());
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    let bench = |more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_juror"));
        let output = command
            .args(["bench", "-q", "-o", "out.json", "--judge", "heuristic", "--store", "kept"])
            .args(["--queries", &format!("{examples}/queries.json")])
            .args(["--tools", &format!("{examples}/tools"), "--agent", &example_agent()])
            .args(more)
            .current_dir(stage.folder.path())
            .output()
            .expect("juror runs");
        (String::from_utf8_lossy(&output.stderr).into_owned(), stage.results())
    };
    let told = "calls were answered by what a simulator said in an earlier run";
    let model = ["--model", "m", "--model-url", &address];
    let (said, first) = bench(&model);
    assert!(!said.contains(told), "{said}");
    assert!(first["juror"]["tool_replies"]["simulator"].as_u64() > Some(0), "{said}");
    let (said, again) = bench(&["--cache", &format!("{examples}/tool_cache")]);
    assert!(said.contains(told), "{said}");
    assert!(again["juror"]["kept_replies"]["simulator"].as_u64() > Some(0), "{again:#}");
    let (said, _) = bench(&[&model[..], &["--fresh"]].concat());
    assert!(!said.contains(told), "a simulator is meant: {said}");
}

#[test]
fn a_source_of_replies_that_is_down_is_told_of() {
    let stage = Stage::new();
    let body = "call(task, 'Weather', 'Garden Weather', 'Current', place='nowhere')\n\
        say(task, final_answer='x')";
    let agent = agent(&stage, body);
    stage.write(
        "juror.yaml",
        "llm: {retries: 0}\ntools:\n  sources: [simulator]\n  simulator:\n    model: {provider: openai_compatible, model: m, base_url: 'http://127.0.0.1:9/v1'}\n",
    );
    let key = [("OPENAI_API_KEY", "x")];
    let ended = stage.bench_with(&agent, "-c juror.yaml --judge heuristic -q", &key);
    assert_eq!(ended.code, 3, "{}", ended.stderr);
    let told = "4 of 4 calls got no reply because the source of replies failed: simulator: ";
    assert_eq!(ended.stderr.matches(told).count(), 1, "{}", ended.stderr);
    let failed = &stage.results()["juror"]["failed_calls"];
    let counts: Vec<u64> = failed
        .as_object()
        .expect("reasons")
        .values()
        .filter_map(serde_json::Value::as_u64)
        .collect();
    assert_eq!(counts.iter().sum::<u64>(), 4, "{failed}");
}
