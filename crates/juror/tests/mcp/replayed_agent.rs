//! An agent that uses a live MCP server and an HTTP API is recorded once, and replayed without
//! either, and without a network.

use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::api::{Api, DOCUMENT};
use crate::stage::{SECRET, Stage, juror};

/// An agent that asks both about the city that it is started with, and answers what they say.
const AGENT: &str = r#"
import json, sys, urllib.error, urllib.request

def call(task, category, tool, api, arguments):
    body = {"category": category, "tool_name": tool, "api_name": api, "tool_input": arguments, "strip": "", "toolbench_key": ""}
    headers = {"Content-Type": "application/json"} | task.get("headers", {})
    request = urllib.request.Request(task["virtual_url"], json.dumps(body).encode(), headers)
    try:
        with urllib.request.urlopen(request) as reply:
            return reply.read().decode()
    except urllib.error.HTTPError as error:
        return f"{error.code} {error.read().decode()}"

print(json.dumps({"type": "ready"}), flush=True)
sys.stdin.readline()
for line in sys.stdin:
    task = json.loads(line)
    secret = {"api_key": "SECRET", "city": sys.argv[1], "now": 1}
    said = [
        call(task, "MCP", "juror", "weather", {"city": sys.argv[1]}),
        call(task, "MCP", "juror", "weather", secret),
        call(task, "OpenAPI", "beds", "getBed", {"id": 7, "fields": ["name"]}),
        call(task, "OpenAPI", "beds", "addBed", {"name": "ferns"}),
    ]
    print(json.dumps({"type": "answered", "query_id": task["query_id"], "final_answer": "\n".join(said)}), flush=True)
"#;

/// The command that tries the agent, as a list of words.
fn bench(api: &str, city: &str, run: &str, more: &[&str]) -> Vec<String> {
    let live = Stage::live();
    let agent = format!("command:python3 agent.py {city}");
    let words = [
        &["bench", "--queries", "queries.json", "--tools", "beds.yaml", "--proxy", api],
        &["--proxy", &live, "--cassette", "cassette", "--agent", &agent, "--run", run][..],
        &["-o", "results.json"],
        more,
    ];
    words.concat().into_iter().map(str::to_owned).collect()
}

fn run(stage: &Stage, mut command: Command, words: &[String]) -> Output {
    command.args(words).current_dir(stage.path("")).stdin(Stdio::null());
    command.output().expect("the program")
}

/// Runs the command, and returns what the agent answered and how its calls went.
fn tried(stage: &Stage, command: Command, words: &[String]) -> Value {
    let output = run(stage, command, words);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{words:?}\n{told}");
    let results = std::fs::read_to_string(stage.path("results.json")).expect("results");
    let mut results: Value = serde_json::from_str(&results).expect("JSON");
    without_times(results["results"].take())
}

/// Leaves out how long everything took.
fn without_times(value: Value) -> Value {
    match value {
        Value::Object(object) => {
            let is_time = |key: &str| ["time", "_sec"].iter().any(|part| key.contains(part));
            let kept = object.into_iter().filter(|(key, _)| !is_time(key));
            Value::Object(kept.map(|(key, value)| (key, without_times(value))).collect())
        }
        Value::Array(items) => items.into_iter().map(without_times).collect(),
        other => other,
    }
}

/// The program within a network that has only loopback; `None` where one may not make such.
fn without_network() -> Option<Command> {
    let up = "ip link set lo up && exec \"$@\"";
    let unshared = || {
        let mut command = Command::new("unshare");
        command.args(["-n", "sh", "-c", up, "sh"]);
        command
    };
    let is_possible = unshared().arg("true").stderr(Stdio::null()).status();
    if !is_possible.is_ok_and(|status| status.success()) {
        println!("skipped: no network namespace can be made here");
        return None;
    }
    let mut command = unshared();
    command.arg(juror());
    Some(command)
}

#[test]
fn an_agent_is_replayed_without_its_servers_and_without_a_network() {
    let (stage, api) = (Stage::new(), Api::start());
    stage.write("beds.yaml", DOCUMENT);
    stage.write("agent.py", &AGENT.replace("SECRET", SECRET));
    let address = api.address.clone();
    let program = || Command::new(juror());

    let first = tried(&stage, program(), &bench(&address, "Oslo", "live", &[]));
    let text = first.to_string();
    for said in ["rain", "sun for ***", "GET /v2/beds/7?fields=name", "POST /v2/beds"] {
        assert!(text.contains(said), "{said}\n{text}");
    }
    assert_eq!(api.n_requests(), 2);
    api.stop();
    stage.stop_live();

    let fail = ["--on-miss", "fail"];
    let replayed = tried(&stage, program(), &bench(&address, "Oslo", "replayed", &fail));
    assert_eq!(replayed, first, "equal results without the servers");
    if let Some(isolated) = without_network() {
        let alone = tried(&stage, isolated, &bench(&address, "Oslo", "alone", &fail));
        assert_eq!(alone, first, "equal results without a network");
    }

    let changed =
        tried(&stage, program(), &bench(&address, "Bergen", "changed", &fail)).to_string();
    assert!(changed.contains("No reply to this call is known"), "{changed}");
    assert!(
        changed.contains("GET /v2/beds/7?fields=name"),
        "what did not change is known: {changed}"
    );

    for folder in ["cassette", "live", "replayed"] {
        assert!(!stage.text_below(folder).contains(SECRET), "the key is in {folder}");
    }
}
