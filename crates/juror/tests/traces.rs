//! `juror import`, and traces as the responses of `juror eval`.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use juror_testing::project;
use serde_json::{Value, json};

struct Place(tempfile::TempDir);

struct Ended {
    code: i32,
    stdout: String,
    stderr: String,
}

impl Place {
    fn new() -> Place {
        let place = Place(tempfile::tempdir().expect("a folder"));
        place.file("reference.yaml", REFERENCE);
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn file(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).expect("written");
    }

    fn run(&self, line: &str) -> Ended {
        self.run_with(line, b"")
    }

    fn run_with(&self, line: &str, stdin: &[u8]) -> Ended {
        let mut child = Command::new(env!("CARGO_BIN_EXE_juror"))
            .args(line.split_whitespace())
            .current_dir(self.0.path())
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        child.stdin.take().expect("a pipe").write_all(stdin).expect("written");
        let output = child.wait_with_output().expect("the program ends");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let code = output.status.code().unwrap_or(-1);
        Ended { code, stdout: text(&output.stdout), stderr: text(&output.stderr) }
    }

    /// The lines of a file, as JSON.
    fn lines(&self, name: &str) -> Vec<Value> {
        let text = fs::read_to_string(self.path(name)).expect("a file");
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }
}

const REFERENCE: &str = "\
- template_id: weather
  questions:
  - id: oslo
    question_text: How warm is it in Oslo?
    reference_steps:
    - - {name: weather, output: '4'}
  - id: ferns
    question_text: Which ferns are there?
    reference_steps:
    - - {name: retrieval, output: [{id: d1}]}
";

fn conversation(question: &str, tool: &str, output: &str, answer: &str) -> Value {
    json!([
        {"role": "user", "content": question},
        {"role": "assistant", "content": null, "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": tool, "arguments": "{\"n\": 1}"}}]},
        {"role": "tool", "tool_call_id": "call_1", "content": output},
        {"role": "assistant", "content": answer}])
}

fn chats() -> String {
    let ferns = conversation(
        "Which ferns are there?",
        "search_documents",
        "[{\"id\": \"d1\", \"text\": \"x\"}]",
        "One.",
    );
    json!({"oslo": conversation("How warm is it in Oslo?", "get_weather", "4", "4 degrees."), "x": ferns}).to_string()
}

const MAP: &str = "tools: {get_weather: weather, search_documents: retrieval}\n";

#[test]
fn a_trace_becomes_responses() {
    let place = Place::new();
    place.file("chats.json", chats());
    place.file("map.yaml", MAP);
    let ended =
        place.run("import chats.json -o responses.jsonl --map map.yaml --reference reference.yaml");
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert_eq!(
        ended.stderr,
        "chats.json: OpenAI chat messages (2 records)\n2 conversations, 2 steps\n"
    );
    let responses = place.lines("responses.jsonl");
    assert_eq!(responses[0]["question_id"], "oslo");
    assert_eq!(responses[1]["question_id"], "ferns", "joined by its text");
    let step = &responses[0]["actual_steps"][0];
    assert_eq!(
        (&step["name"], &step["id"], &step["output"]),
        (&json!("weather"), &json!("call_1"), &json!("4"))
    );
    assert_eq!(step["source"], "/oslo/1/tool_calls/0");
    // The responses are without fault for the program itself, and score.
    let valid = place.run("validate reference.yaml responses.jsonl");
    assert_eq!((valid.code, valid.stdout.contains("unknown key")), (0, false), "{}", valid.stdout);
    let scored = place.run("eval reference.yaml responses.jsonl --json");
    let summary: Value = serde_json::from_str(&scored.stdout).expect("JSON");
    assert_eq!(scored.stderr.matches("warning").count(), 0, "{}", scored.stderr);
    assert_eq!(summary["aggregates"]["micro"]["steps_score"]["mean"], json!(1.0), "{summary}");
}

#[test]
fn a_trace_is_judged_directly() {
    let place = Place::new();
    place.file("chats.json", chats());
    place.file("map.yaml", MAP);
    let ended = place.run("eval reference.yaml chats.json --map map.yaml -o results.jsonl");
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(
        ended.stderr.starts_with(
            "chats.json: OpenAI chat messages (2 records)\n2 conversations, 2 steps\n"
        ),
        "{}",
        ended.stderr
    );
    let scores: Vec<Value> = place
        .lines("results.jsonl")
        .into_iter()
        .map(|result| result["steps_score"].clone())
        .collect();
    assert_eq!(scores, [json!(1.0), json!(1.0)]);
}

#[test]
fn several_conversations_of_a_question_are_trials() {
    let place = Place::new();
    let line = |answer: &str| {
        json!({"question_id": "oslo", "messages": conversation("?", "weather", "4", answer)})
            .to_string()
    };
    place.file("runs.jsonl", format!("{}\n{}\n", line("a"), line("b")));
    place.run("import runs.jsonl -o responses.jsonl -q");
    let trials: Vec<Value> = place
        .lines("responses.jsonl")
        .into_iter()
        .map(|response| response["trial"].clone())
        .collect();
    assert_eq!(trials, [Value::Null, json!(2)]);
    let ended = place.run("eval reference.yaml runs.jsonl -o results.jsonl -q");
    assert_eq!((ended.code, place.lines("results.jsonl").len()), (0, 3), "{}", ended.stderr);
}

#[test]
fn everything_odd_is_explained() {
    let place = Place::new();
    let messages = json!([
        {"role": "user", "content": "?"},
        {"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "t", "arguments": "{\"n\": "}}, {"id": "b", "function": {"name": "t", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "c", "content": "lost"}]);
    place.file(
        "odd.jsonl",
        format!(
            "{}\nbroken\n{{\"question_id\": \"x\", \"messages\": [{{\"role\"",
            json!({"question_id": "oslo", "messages": messages})
        ),
    );
    let ended =
        place.run("import odd.jsonl -o responses.jsonl --explain --reference reference.yaml");
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    for told in [
        "odd.jsonl: OpenAI chat messages (1 record)",
        "  2 × t, 2 failed",
        "1 × cut off: a record ends in the middle; first at odd.jsonl:3",
        "1 × not JSON: a record was left out; first at odd.jsonl:2",
        "2 × call without a result",
        "1 × arguments that are not JSON",
        "1 × result without a call",
    ] {
        assert!(ended.stderr.contains(told), "{told}: {}", ended.stderr);
    }
}

/// How the warnings about a trace end.
const HINT: &str = "  hint: `juror import --explain` says where\n";

/// Checks that a trace is imported, and judged, with these warnings.
fn check_warnings(place: &Place, name: &str, warnings: &[&str]) {
    let lines = warnings.join(&format!("\nwarning: {name}: "));
    let wanted = format!("warning: {name}: {lines}\n{HINT}");
    for command in ["import TRACE -o responses.jsonl", "eval reference.yaml TRACE -o results.jsonl"]
    {
        let ended = place.run(&command.replace("TRACE", name));
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        assert!(ended.stderr.contains(&wanted), "{command}: {}", ended.stderr);
    }
}

#[test]
fn calls_without_results_are_warned_of() {
    let place = Place::new();
    let mut chat = conversation("How warm is it in Oslo?", "weather", "4", "4 degrees.");
    chat.as_array_mut().expect("messages").remove(2);
    place.file("chat.json", json!({"oslo": chat}).to_string());
    check_warnings(&place, "chat.json", &["1 call has no recorded result, and counts as failed"]);
    let both = json!({"oslo": chat, "ferns": chat});
    place.file("chat.json", both.to_string());
    check_warnings(&place, "chat.json", &["2 calls have no recorded result, and count as failed"]);
}

#[test]
fn calls_without_contents_are_warned_of() {
    let place = Place::new();
    let attribute = |key: &str, value: &str| json!({"key": key, "value": {"stringValue": value}});
    let tool = [
        attribute("gen_ai.operation.name", "execute_tool"),
        attribute("gen_ai.tool.name", "weather"),
        attribute("gen_ai.tool.call.id", "call_1"),
    ];
    let span = json!({"traceId": "5b8efff798038103d269b633813fc60c", "spanId": "eee19b7ec3c1b174",
        "name": "execute_tool weather", "startTimeUnixNano": "1", "endTimeUnixNano": "2",
        "attributes": tool});
    let spans = json!({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]});
    place.file("spans.jsonl", format!("{spans}\n"));
    check_warnings(
        &place,
        "spans.jsonl",
        &["1 call has no recorded contents: its step cannot match arguments or outputs"],
    );
}

#[test]
fn records_that_are_missing_are_warned_of() {
    let place = Place::new();
    let record = |id: &str| {
        let messages = conversation("How warm is it in Oslo?", "weather", "4", "4 degrees.");
        json!({"question_id": id, "messages": messages}).to_string()
    };
    let whole = record("oslo");
    let torn = &whole[..whole.len() - 20];
    let lines = format!("{whole}\nbroken\n{{\"mine\": 1}}\nbroken\n{torn}");
    place.file("torn.jsonl", lines);
    check_warnings(
        &place,
        "torn.jsonl",
        &[
            "1 record is cut off: the rest of it is missing",
            "2 records are not JSON, and were left out",
            "1 record is of no known dialect, and was left out",
        ],
    );
    // One value, cut off within its last message.
    place.file("torn.json", &format!("[{whole}, {whole}]")[..whole.len() * 2 - 5]);
    check_warnings(&place, "torn.json", &["1 record is cut off: the rest of it is missing"]);
    place.file("chat.jsonl", format!("{whole}\n"));
    let ended = place.run("import torn.jsonl chat.jsonl -o responses.jsonl");
    assert!(!ended.stderr.contains("warning: chat.jsonl"), "{}", ended.stderr);
    let quiet = place.run("import torn.jsonl -o responses.jsonl -q");
    assert_eq!(quiet.stderr, "");
}

#[test]
fn what_is_no_trace_is_refused() {
    let place = Place::new();
    place.file("mine.json", "{\"mine\": 1}");
    let ended = place.run("import mine.json -o responses.jsonl");
    assert_eq!(ended.code, 2);
    assert!(
        ended.stderr.starts_with(
            "error: mine.json: this is not a trace of a known dialect: an object with the keys mine"
        ),
        "{}",
        ended.stderr
    );
    assert!(ended.stderr.contains("OTLP: `resourceSpans`"), "{}", ended.stderr);
    assert!(!place.path("responses.jsonl").exists());
    let missing = place.run("import none.json -o responses.jsonl");
    assert!(
        missing.code == 2 && missing.stderr.contains("there is no such file"),
        "{}",
        missing.stderr
    );
    place.file("map.yaml", "tool: {}\n");
    let map = place.run("import mine.json -o responses.jsonl --map map.yaml");
    assert!(
        map.code == 2 && map.stderr.contains("map.yaml:1:7: unknown key `tool`"),
        "{}",
        map.stderr
    );
}

#[test]
fn what_joins_no_question_is_listed() {
    let place = Place::new();
    place.file("chats.json", json!({"nobody": conversation("Who?", "t", "x", "y")}).to_string());
    let ended = place.run("import chats.json -o - --reference reference.yaml");
    assert!(
        ended.stderr.contains("1 conversation not joined to a question of the reference: nobody"),
        "{}",
        ended.stderr
    );
    assert!(ended.stdout.contains("\"question_id\":\"nobody\""), "{}", ended.stdout);
}

#[test]
fn responses_are_written_only_where_lines_are_read() {
    let place = Place::new();
    place.file("chats.json", chats());
    for name in ["o.json", "o.yaml", "o.jsonl.gz", "o"] {
        let ended = place.run(&format!("import chats.json -o {name}"));
        let told = format!("{name}: responses are written one a line\n  hint: name a file that");
        assert!(ended.code == 2 && ended.stderr.contains(&told), "{}", ended.stderr);
        assert!(!place.path(name).exists());
    }
    assert_eq!(place.run("import chats.json -o /dev/null").code, 0);
}

#[test]
fn traces_may_be_piped() {
    let place = Place::new();
    let ended = place.run_with("import - -o -", chats().as_bytes());
    assert_eq!((ended.code, ended.stdout.lines().count()), (0, 2), "{}", ended.stderr);
}

#[test]
fn recordings_of_frameworks_score() {
    let folder = project("../shared/data/traces");
    if !folder.exists() {
        return;
    }
    let place = Place::new();
    place.file("map.yaml", "tools: {search_documents: retrieval}\nerror_patterns: [langgraph]\n");
    let reference = folder.join("reference.yaml");
    for name in [
        "openai_chat/messages.json",
        "langgraph/messages_to_dict.json",
        "langgraph/otlp_openinference.jsonl",
        "openai_agents/otlp_openinference_responses.jsonl",
        "pydantic_ai/otlp_genai_v5.jsonl",
        "smolagents/run_result.json",
        "llama_index/events.json",
        "inspect_ai/garden.eval",
        "deepeval/goldens.csv",
    ] {
        let trace = folder.join(name);
        let ended = place.run(&format!(
            "eval {} {} --map map.yaml -o results.jsonl",
            reference.display(),
            trace.display()
        ));
        assert_eq!(ended.code, 0, "{name}: {}", ended.stderr);
        assert!(!ended.stderr.contains("warning"), "{name}: {}", ended.stderr);
        for result in place.lines("results.jsonl") {
            // What an agent searches for has a column of another name than the reference's.
            let is_perfect = result["steps_score"] == json!(1.0);
            assert!(is_perfect, "{name}: {} has {}", result["question_id"], result["steps_score"]);
        }
    }
}
