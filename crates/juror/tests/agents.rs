//! The agents in `examples/agents`, as users start them: with Python, against virtual tools, and
//! with a model that is scripted.

use std::process::{Command, Stdio};

use juror_scripted::{Script, Server};
use serde_json::{Value, json};

const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");

/// What came of a run.
struct Ended {
    code: i32,
    stderr: String,
    results: Value,
}

impl Ended {
    /// Status, reason and API Call Score of each query.
    fn scores<'e>(&'e self) -> Vec<(&'e str, &'e str, f64)> {
        let of_one = |one: &'e Value| {
            let (scores, evaluation): (&Value, &Value) = (&one["scores"], &one["evaluation"]);
            let text = |name: &str| evaluation[name].as_str().expect("a text");
            let score = scores["api_call_score"].as_f64().expect("a score");
            (text("answer_status"), text("reason"), score)
        };
        self.results["results"].as_array().expect("results").iter().map(of_one).collect()
    }

    fn answer(&self, at: usize) -> &str {
        self.results["results"][at]["system_answer"]["final_answer"].as_str().unwrap_or_default()
    }
}

fn bench(agent: &str, options: &str, variables: &[(&str, &str)]) -> Ended {
    let folder = tempfile::tempdir().expect("a folder");
    let output = Command::new(env!("CARGO_BIN_EXE_juror"))
        .args(["bench", "-o", "out.json", "--run", "run", "--judge", "heuristic"])
        .args(["--agent-env", "OPENAI_API_KEY"])
        .args(["--queries", &format!("{EXAMPLES}/queries.json")])
        .args(["--tools", &format!("{EXAMPLES}/tools")])
        .args(["--agent", &format!("command:python3 {EXAMPLES}/agents/{agent}")])
        .args(options.split_whitespace())
        .current_dir(folder.path())
        .env_clear()
        .env("PATH", std::env::var("PATH").unwrap_or_default())
        .env("PYTHONDONTWRITEBYTECODE", "1")
        // Tools on this machine are called directly, whatever the environment says.
        .env("http_proxy", "http://127.0.0.1:1")
        .envs(variables.iter().copied())
        .stdin(Stdio::null())
        .output()
        .expect("juror runs");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let results = std::fs::read_to_string(folder.path().join("out.json")).expect(&stderr);
    let results = serde_json::from_str(&results).expect("JSON");
    Ended { code: output.status.code().unwrap_or(-1), stderr, results }
}

fn cache() -> String {
    format!("--cache {EXAMPLES}/tool_cache")
}

/// Runs the agent with a model on a model that follows a script.
fn chat(script: Value, options: &str) -> (Ended, Server) {
    let server = Server::start(serde_json::from_value::<Script>(script).expect("a script"));
    let address = format!("{}/v1", server.address());
    let variables = [("OPENAI_API_KEY", "sk-secret"), ("OPENAI_BASE_URL", address.as_str())];
    let agent = "chat.py --model any --wait 0.01";
    let (own, common): (Vec<&str>, Vec<&str>) =
        options.split(", ").partition(|option| option.starts_with("agent "));
    let own: String = own.iter().map(|option| option.replace("agent", "")).collect();
    let options = format!("{} {}", common.join(" "), cache());
    (bench(&format!("{agent}{own}"), &options, &variables), server)
}

fn calls(calls: &[(&str, Value)]) -> Value {
    let call = |(name, arguments): &(&str, Value)| json!({"name": name, "arguments": arguments});
    json!({"calls": {"calls": calls.iter().map(call).collect::<Vec<_>>()}})
}

fn finish(text: &str) -> Value {
    calls(&[("Finish", json!({"return_type": "give_answer", "final_answer": text}))])
}

#[test]
fn the_baseline_finds_apis_fills_their_parameters_and_answers_from_replies() {
    let ended = bench("baseline.py", &cache(), &[]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let scores: Vec<f64> = ended.scores().iter().map(|score| score.2).collect();
    assert_eq!(scores, [1.0, 0.5, 1.0, 1.0]);
    assert!(ended.answer(0).contains("open 09:00, close 18:30"), "{}", ended.answer(0));
    assert!(ended.answer(3).contains("high 15"), "{}", ended.answer(3));
    let given = bench("baseline.py", &format!("--pool own {}", cache()), &[]);
    assert!(given.scores().iter().all(|score| score.2 == 1.0), "{:?}", given.scores());
    assert_eq!(given.results["juror"]["tool_replies"], json!({"cache": 7}));
}

#[test]
fn the_baseline_gives_up_when_no_tool_replies() {
    for options in ["", "--on-miss fail"] {
        let ended = bench("baseline.py", options, &[]);
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        for (status, reason, _) in ended.scores() {
            assert_eq!((status, reason), ("Unsolved", "the agent gave up"));
        }
    }
}

#[test]
fn the_chat_agent_calls_functions_until_it_finishes_and_outlives_faults() {
    let hours = "The weather at Thornfold is overcast, and it is open from 09:00 to 18:30.";
    let garden = json!({"garden": "Thornfold"});
    // As a text, since the order of arguments counts.
    let day = json!(r#"{"garden": "Thornfold", "date": "2026-05-01"}"#);
    let up = calls(&[("Finish", json!({"return_type": "give_up_and_restart"}))]);
    let script = json!({
        "faults": [
            {"calls": [1, 4], "reply": {"status": {"status": 429, "retry_after": "0"}}},
            {"calls": [2], "reply": {"status": {"status": 500}}},
            {"calls": [6], "reply": "reset"}, {"calls": [7], "reply": "garbled"}],
        "matching": [
            {"contains": "last_entry", "reply": finish(hours)},
            {"contains": "What is the weather", "reply": calls(&[
                ("current_for_garden_weather", garden.clone()),
                ("opening_hours_for_garden_visits", day)])},
            {"contains": "Fern Vault", "reply": finish("The cellar spleenwort grows in bed F2 of the Fern Vault.")},
            {"contains": "P-121", "reply": calls(&[("where_it_grows_for_plant_finder", json!({"is_id": "P-118"}))])},
            {"contains": "search_by_name_for_plant_finder", "reply": calls(&[("search_by_name_for_plant_finder", json!({"name": "spleenwort"}))])},
            {"contains": "Where does", "reply": calls(&[("search_functions", json!({"text": "plants whose name contains a text"}))])},
            {"contains": "We are twelve", "reply": up},
            {"contains": "How warm", "reply": {"text": "It will get about fifteen degrees warm, as far as I know."}}]});
    let (ended, server) = chat(script, "--jobs 2");
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let errors: Vec<&Value> = ended.results["results"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|one| &one["error"])
        .collect();
    assert_eq!(errors, [&Value::Null; 4]);
    let guessed = "guessed by rules from the form of the answer";
    assert_eq!(
        ended.scores(),
        [
            ("Solved", guessed, 1.0),
            ("Solved", guessed, 1.0),
            ("Unsolved", "the agent gave up", 0.0),
            ("Unsure", guessed, 0.0),
        ]
    );
    assert_eq!(ended.answer(0), hours);
    let seen = server.seen();
    assert_eq!(seen.len(), 8 + 5, "eight replies, five faults");
    assert!(seen.iter().all(|seen| seen.key.as_deref() == Some("sk-secret")));
    assert!(ended.results["juror"]["agent_tokens"].as_u64() > Some(0), "it tells its tokens");
    let offered = seen[0].body["tools"].as_array().expect("functions");
    let names: Vec<&str> =
        offered.iter().filter_map(|tool| tool["function"]["name"].as_str()).collect();
    assert_eq!(names[names.len() - 2..], ["search_functions", "Finish"]);
    assert!(names.len() > 2, "{names:?}");
}

#[test]
fn the_chat_agent_is_told_of_its_mistakes_and_bounded_in_steps() {
    let script = json!({"replies": {"functions": [
        calls(&[("made_up", json!({})), ("search_functions", json!({"text": "ticket price"}))]),
        calls(&[("ticket_price_for_garden_visits", json!("{broken"))]),
        calls(&[("ticket_price_for_garden_visits", json!({"garden": "Thornfold"}))]),
        calls(&[("ticket_price_for_garden_visits", json!({"garden": "Thornfold"}))])]}});
    let (ended, server) = chat(script, "--query-id 3, --jobs 1, agent --steps 3 --top 2");
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert_eq!(ended.scores(), [("Unsolved", "the agent did not call Finish", 1.0)]);
    let seen = server.seen();
    assert_eq!(seen.len(), 3, "no more than its steps");
    let prompt = &seen[2].prompt;
    for told in ["there is no function `made_up`", "ticket_price_for", "no JSON object"] {
        assert!(prompt.contains(told), "{told} in {prompt}");
    }
    let given =
        chat(json!({"replies": {"functions": [finish("x")]}}), "--query-id 3, --pool own").1;
    assert!(!given.seen()[0].body.to_string().contains("search_functions"));
}

#[test]
fn a_model_that_stays_away_is_that_querys_error() {
    let away = json!({"faults": [{"reply": {"status": {"status": 503}}}]});
    let (ended, server) = chat(away, "--query-id 1, agent --retries 2");
    assert_eq!((ended.code, server.seen().len()), (3, 3), "{}", ended.stderr);
    let denied = json!({"key": "sk-right"});
    let (denied, server) = chat(denied, "--query-id 1");
    assert_eq!((denied.code, server.seen().len()), (3, 1), "a refusal is not asked again");
    for (ended, words) in [(ended, "status 503"), (denied, "status 401")] {
        let error = ended.results["results"][0]["error"].to_string();
        assert!(error.contains(words) && !error.contains("sk-secret"), "{error}");
    }
}
