//! A whole set of real queries, a real pool and recorded replies, and an agent in Python.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::stage::{Stage, agent};

/// Calls each function it is offered with the defaults of its parameters, writes each call down,
/// and answers with the length of what it was told. It says nothing of its calls.
const CALLS_ALL: &str = "\
import urllib.request
told = 0
for tool in task['tools']:
    properties = tool['function']['parameters']['properties']
    required = tool['function']['parameters']['required']
    arguments = {name: properties.get(name, {}).get('example_value', '') for name in required}
    body = {name: tool[name] for name in ('category', 'tool_name', 'api_name')}
    body |= {'tool_input': arguments, 'strip': '', 'toolbench_key': ''}
    request = urllib.request.Request(task['virtual_url'], json.dumps(body).encode(),
        {'Content-Type': 'application/json'})
    with urllib.request.urlopen(request) as reply: told += len(reply.read())
    open('called.txt', 'a').write(task['query_id'] + '\\n')
";

/// Where real queries are, where they are at all.
fn data() -> Option<PathBuf> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/toolbench");
    if !data.exists() {
        eprintln!("no real queries here: skipped");
        return None;
    }
    Some(data)
}

/// A stage with a pool and recorded replies.
fn stage(data: &Path) -> Stage {
    let stage = Stage::new();
    for archive in ["tool_pool_2490.tar.gz", "tool_response_cache_50000.tar.gz"] {
        let mut unpack = Command::new("tar");
        let unpack = unpack.arg("xzf").arg(data.join(archive)).current_dir(stage.folder.path());
        assert!(unpack.status().expect("tar").success());
    }
    stage
}

/// The command that tries an agent on all queries of a set.
fn command(stage: &Stage, data: &Path, agent: &str, name: &str, options: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_juror"));
    command
        .args(["bench", "--set", "G1_instruction", "--pool", "own", "--judge", "heuristic"])
        .args(["--tools", "tool_pool_2490", "--cache", "tool_response_cache", "--no-keep"])
        .arg("--queries")
        .arg(data.join("solvable_queries"))
        .args(["--agent", agent, "--run", name, "-o", &format!("{name}.json")])
        .args(options.split_whitespace())
        .current_dir(stage.folder.path())
        .env_clear()
        .env("PATH", std::env::var("PATH").unwrap_or_default())
        .stdin(Stdio::null());
    command
}

fn count_by_line(stage: &Stage, name: &str) -> BTreeMap<String, usize> {
    let text = fs::read_to_string(stage.path(name)).unwrap_or_default();
    let mut counts = BTreeMap::new();
    for line in text.lines() {
        *counts.entry(line.to_owned()).or_default() += 1;
    }
    counts
}

#[test]
fn an_agent_in_python_answers_a_whole_set() {
    let Some(data) = data() else { return };
    let stage = stage(&data);
    let ids: Value = serde_json::from_str(
        &fs::read_to_string(data.join("solvable_queries/test_query_ids/G1_instruction.json"))
            .expect("ids"),
    )
    .expect("JSON");
    let ids: Vec<&String> = ids.as_object().expect("an object").keys().collect();
    let [killed, hung, garbled] = [ids[10], ids[60], ids[120]];
    let wrong = format!(
        "if task['query_id'] == '{killed}': os.kill(os.getpid(), 9)\n\
         if task['query_id'] == '{hung}': time.sleep(3600)\n\
         if task['query_id'] == '{garbled}': print('{{\"type\": \"answ', flush=True); continue\n"
    );
    let agent =
        agent(&stage, &format!("{CALLS_ALL}{wrong}say(task, final_answer=f'{{told}} characters')"));
    let ended =
        command(&stage, &data, &agent, "run", "--agent-timeout 20").output().expect("juror");
    let said = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(3), "{said}");
    let results = stage.json("run.json");
    assert_eq!(results["summary"]["total_queries"], 163);
    assert_eq!(results["summary"]["error_count"], 3);
    assert_eq!(results["summary"]["finish_count"], 160);
    // Calls count, whether the agent tells of them, ends well, or neither.
    assert_eq!(results["summary"]["average_api_call_score"], 1.0);
    let called = count_by_line(&stage, "called.txt");
    for result in results["results"].as_array().expect("results") {
        let id = result["query_id"].to_string();
        let n_called = result["system_answer"]["called_apis"].as_array().expect("calls").len();
        assert_eq!(Some(&n_called), called.get(&id), "{id}");
        let why = result["error"].as_str().unwrap_or_default();
        let wanted = match &id {
            id if id == killed => "the agent ended (signal: 9 (SIGKILL))",
            id if id == hung => "the agent did not respond for 20 s",
            id if id == garbled => "the agent sent something other than an answer",
            _ => "",
        };
        assert!(why.starts_with(wanted) && why.is_empty() == wanted.is_empty(), "{id}: {why}");
    }
    let replies = results["juror"]["tool_replies"].as_object().expect("replies");
    let n_replies: u64 = replies.values().filter_map(Value::as_u64).sum();
    assert_eq!(n_replies, called.values().map(|n| *n as u64).sum::<u64>());
}

/// Results without what differs from run to run: how long things took, when and where.
fn timeless(mut results: Value) -> Value {
    for key in ["overall_time", "timestamp"] {
        results["metadata"].as_object_mut().expect("metadata").remove(key);
    }
    results["juror"].as_object_mut().expect("more").remove("run");
    results["summary"].as_object_mut().expect("a summary").retain(|key, _| !key.ends_with("_time"));
    for result in results["results"].as_array_mut().expect("results") {
        result.as_object_mut().expect("a result").remove("timing");
    }
    results
}

#[test]
fn a_run_that_is_killed_goes_on_and_ends_the_same() {
    const KILLS: usize = 5;
    const JOBS: usize = 4;
    let Some(data) = data() else { return };
    let stage = stage(&data);
    let body = format!("{CALLS_ALL}say(task, final_answer=f'The tools say {{told}} characters')");
    let agent = agent(&stage, &body);
    for kill in 0..KILLS {
        let mut command = command(&stage, &data, &agent, "killed", &format!("--jobs {JOBS}"));
        let mut juror =
            command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().expect("juror");
        let said = BufReader::new(juror.stderr.take().expect("what it says")).lines();
        let n_told = said.take(7 + 5 * kill).flatten().count();
        assert_eq!(n_told, 7 + 5 * kill);
        juror.kill().expect("killed");
        juror.wait().expect("ended");
        assert!(!stage.path("killed.json").exists(), "nothing is half written");
    }
    let ended = command(&stage, &data, &agent, "killed", "").output().expect("juror");
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));

    let kept = fs::read_to_string(stage.path("killed/attempts.jsonl")).expect("attempts");
    assert_eq!(kept.lines().count(), 163, "every query is answered once");
    let asked: usize = count_by_line(&stage, "asked.txt").values().sum();
    assert!(asked <= 163 + KILLS * JOBS, "only what was on its way is asked again: {asked}");
    eprintln!("{KILLS} kills: 163 queries, {} asked again that had no answer yet", asked - 163);

    let ended = command(&stage, &data, &agent, "whole", "").output().expect("juror");
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    let [killed, whole] = ["killed.json", "whole.json"].map(|name| timeless(stage.json(name)));
    assert_eq!(killed, whole);
}
