//! Benchmarks whose program fails at a write.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;

use juror_testing::{Ended, Fault};
use serde_json::Value;

use crate::eval::check_end;
use crate::points::Points;
use crate::stage::Stage;

const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");

/// Calls a tool that a model simulates, and answers.
const AGENT: &str = "\
#!/usr/bin/env python3
import json, sys, urllib.request
print(json.dumps({'type': 'ready'}), flush=True)
sys.stdin.readline()
for line in sys.stdin:
    task = json.loads(line)
    with open('asked.txt', 'a') as asked: asked.write(task['query_id'] + '\\n')
    body = {'category': 'Travel', 'tool_name': 'garden_visits', 'api_name': 'ticket_price',
            'tool_input': {'n': task['query_id']}, 'strip': '', 'toolbench_key': ''}
    headers = {'Content-Type': 'application/json'} | task.get('headers', {})
    request = urllib.request.Request(task['virtual_url'], json.dumps(body).encode(), headers)
    try:
        said = {'final_answer': urllib.request.urlopen(request).read().decode()}
    except Exception as error:
        said = {'error': str(error)}
    print(json.dumps({'type': 'answered', 'query_id': task['query_id']} | said), flush=True)
";

const QUERIES: [&str; 4] = ["1", "2", "3", "4"];

fn line() -> String {
    format!(
        "bench --queries {EXAMPLES}/queries.json --tools {EXAMPLES}/tools --store store --run run \
         --simulator chat --agent command:./agent.py -o out.json -c juror.yaml -j 2 -q"
    )
}

/// What became of each query: answer and scores, without how long things took.
fn results(stage: &Stage) -> BTreeMap<String, [Value; 3]> {
    let text = stage.read("run/results.jsonl").unwrap_or_default();
    let row = |line: &str| {
        let row: Value = serde_json::from_str(line).expect("JSON");
        let parts = ["system_answer", "scores", "evaluation"].map(|part| row[part].clone());
        (row["query_id"].to_string(), parts)
    };
    text.lines().map(row).collect()
}

/// The queries that agents were asked.
fn asked(stage: &Stage) -> Vec<String> {
    stage.read("asked.txt").unwrap_or_default().lines().map(str::to_owned).collect()
}

/// The queries whose attempts are kept.
fn attempted(stage: &Stage) -> Vec<String> {
    let text = stage.read("run/attempts.jsonl").unwrap_or_default();
    let whole = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    let row = |line: &str| serde_json::from_str::<Value>(line).expect("JSON");
    whole.map(|line| row(line)["query_id"].as_str().expect("an id").to_owned()).collect()
}

fn stage() -> Stage {
    let stage = Stage::new();
    stage.write("agent.py", AGENT);
    let runs = fs::Permissions::from_mode(0o755);
    fs::set_permissions(stage.path("agent.py"), runs).expect("a mode");
    stage
}

#[test]
fn a_benchmark_that_fails_at_a_write_loses_nothing() {
    let stage = stage();
    let Some(watch) = stage.watch() else { return };
    let ended = Ended::of(&mut stage.failing(&watch, (Fault::None, 0), &line()));
    assert_eq!(ended.code, 0, "{ended}");
    let whole = results(&stage);
    assert_eq!(whole.len(), QUERIES.len(), "{ended}");
    let points = Points::of("bench", watch.calls(), &Fault::ALL);
    points.check(16, |fault, number| fail_at(fault, number, &whole));
}

fn fail_at(fault: Fault, number: usize, whole: &BTreeMap<String, [Value; 3]>) {
    let stage = stage();
    let watch = stage.watch().expect("as before");
    let first = Ended::of(&mut stage.failing(&watch, (fault, number), &line()));
    check_end(fault, number, &first, &watch);
    stage.check_files();
    let (n_asked, kept) = (asked(&stage).len(), attempted(&stage));
    let is_hurt = fault.is_told();
    // Agents whose calls were refused may have said so, and are asked again only if the user wants that.
    let retry = if is_hurt { " --retry-errors" } else { "" };
    let again = stage.run(&(line() + retry));
    let is_finished = again.code == 2 && again.stderr.contains("this run is finished");
    assert!(again.code == 0 || is_finished, "after\n{first}\nit is not resumed:\n{again}");
    let again_asked = asked(&stage).split_off(n_asked);
    assert!(is_hurt || again_asked.iter().all(|query| !kept.contains(query)), "{kept:?} are kept");
    assert_eq!(results(&stage), *whole, "after\n{first}\nand\n{again}");
    assert!(stage.read("out.json").is_some(), "after\n{first}\nand\n{again}");
    assert_eq!(stage.temporary(), Vec::<String>::new());
}
