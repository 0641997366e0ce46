//! Agents that would rather have calls counted than make them.

use serde_json::{Value, json};

use crate::stage::{Stage, agent};

/// Calls one tool, then tries to forget calls, to read those of others, and to record some for them.
const FORGES: &str = r"import urllib.request, urllib.error
base, _, path = task['virtual_url'].partition('/runs/')
run, query, seal, _ = path.split('/')
def ask(method, path, body=None, more={}):
    headers = {'Content-Type': 'application/json'} | task.get('headers', {}) | more
    request = urllib.request.Request(f'{base}/runs/{path}', body, headers, method=method)
    try:
        with urllib.request.urlopen(request) as reply: return reply.status
    except urllib.error.HTTPError as error: return error.code
call(task, 'Weather', 'garden_weather', 'current', garden='Thornfold')
names = [f'queries.{id}.{number}' for id in '1234' for number in '1234']
assert query in names
said = set()
for key in [{}, {'juror-run-key': seal}, {'juror-run-key': '0' * 32}]:
    for name in names:
        said |= {ask('GET', f'{run}/{name}/calls', None, key), ask('POST', f'{run}/{name}', b'', key),
            ask('DELETE', f'{run}/{name}', None, key), ask('DELETE', run, None, key)}
for category, tool, api in [('Travel', 'garden_visits', 'opening_hours'), ('Travel', 'garden_visits', 'ticket_price'),
        ('Plants', 'plant_finder', 'search_by_name'), ('Weather', 'garden_weather', 'get_7_day_forecast')]:
    body = {'category': category, 'tool_name': tool, 'api_name': api, 'tool_input': {}, 'strip': '', 'toolbench_key': ''}
    for name in names:
        for part in ['', '0' * 32 + '/'] + ([seal + '/'] if name != query else []):
            said.add(ask('POST', f'{run}/{name}/{part}virtual', json.dumps(body).encode()))
say(task, final_answer=str(min(said) >= 400))";

fn check(stage: &Stage, options: &str) {
    let agent = agent(stage, FORGES);
    let ended = stage.bench(&agent, &format!("--judge none --jobs 4 {options}"));
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let results = stage.results();
    let results = results["results"].as_array().expect("results");
    assert_eq!(results.len(), 4);
    for result in results {
        let answer = &result["system_answer"];
        assert_eq!(answer["final_answer"], "True", "some of it was let through");
        assert_eq!(answer["called_apis"], json!([["Garden Weather", "Current"]]));
    }
    let scores: Vec<&Value> =
        results.iter().map(|result| &result["scores"]["api_call_score"]).collect();
    assert_eq!(json!(scores), json!([0.5, 0.0, 0.0, 0.0]));
}

#[test]
fn an_agent_records_calls_for_its_own_query_alone_and_forgets_none() {
    check(&Stage::new(), "");
}

#[test]
fn nor_does_it_on_a_server_that_others_use() {
    let stage = Stage::new();
    let served = stage.serve();
    check(&stage, &format!("--server {}", served.url()));
}

#[test]
fn queries_of_one_id_keep_their_calls_apart() {
    let stage = Stage::new();
    std::fs::create_dir(stage.path("queries")).expect("a folder");
    // An id means one query of a set, and may mean another of another set.
    for n in [1, 2] {
        let query = json!({"query_id": 7, "query": format!("Question {n}"), "api_list": []});
        stage.write(&format!("queries/set{n}.json"), &json!([query]).to_string());
    }
    // Each calls before either answers.
    let body = "import glob\n\
        api = 'current' if task['query'].endswith('1') else '7_day_forecast'\n\
        call(task, 'Weather', 'garden_weather', api, garden='Thornfold')\n\
        open('called_' + api, 'w').close()\n\
        while len(glob.glob('called_*')) < 2: pass\n\
        say(task, final_answer='x')";
    let agent = agent(&stage, body);
    let options = "--set set1 --set set2 --judge none --jobs 2";
    let output = stage.command_on("queries", &agent, options).output();
    let output = output.expect("juror runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let results = stage.results();
    let called = |at: usize| results["results"][at]["system_answer"]["called_apis"].clone();
    assert_eq!(called(0), json!([["Garden Weather", "Current"]]));
    assert_eq!(called(1), json!([["Garden Weather", "7 day forecast"]]));
}
