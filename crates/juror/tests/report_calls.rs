//! What judges were asked and what they replied, in reports.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use juror_scripted::{Reply, Script, Server, Usage};
use juror_testing::project;
use serde_json::{Value, json};

/// A folder with one question and its answer, and a server to ask.
struct Stage {
    folder: tempfile::TempDir,
    server: Server,
}

const KEY: &str = "sk-never-shown";

const SETTINGS: &str = "\
llm:
  generation: {provider: openai, model: gpt-4o-mini, api_key: 'env:OPENAI_API_KEY', headers: {X-Team: 'env:OPENAI_API_KEY'}}
  concurrency: 1
retrieval_answer: {enabled: true}
custom_evaluations:
- {name: tone, inputs: [actual_answer], instructions: Judge it., outputs: {politeness: 0 to 1, word: a word}}
";

impl Stage {
    fn new(script: Script) -> Stage {
        let folder = tempfile::tempdir().expect("a folder");
        let stage = Stage { folder, server: Server::start(script) };
        let question = json!({"id": "q", "question_text": "Is it?", "reference_answer": "yes"});
        let reference = json!([{"template_id": "t", "questions": [question]}]);
        stage.write("reference.json", &reference.to_string());
        let documents = json!([{"id": "d", "text": "a document of </script>"}]).to_string();
        let response = json!({"question_id": "q", "actual_answer": "surely not", "actual_steps":
            [{"name": "retrieval", "id": "s", "status": "success", "output": documents}]});
        stage.write("responses.jsonl", &response.to_string());
        stage.write("juror.yaml", SETTINGS);
        stage
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("a file");
    }

    /// Runs the program; it may ask the server.
    fn ask(&self, line: &str) {
        let address = format!("{}/v1", self.server.address());
        self.run(line, &[("OPENAI_API_KEY", KEY), ("OPENAI_BASE_URL", &address)]);
    }

    /// Runs the program without a key or an address.
    fn tell(&self, line: &str) {
        let n_asked = self.server.seen().len();
        self.run(line, &[]);
        assert_eq!(self.server.seen().len(), n_asked, "nothing is asked");
    }

    fn run(&self, line: &str, variables: &[(&str, &str)]) {
        let output = Command::new(env!("CARGO_BIN_EXE_juror"))
            .args(line.split_whitespace())
            .current_dir(self.folder.path())
            .env_clear()
            .env("PATH", std::env::var("PATH").unwrap_or_default())
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .output()
            .expect("juror runs");
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "juror {line}: {told}");
    }

    fn eval(&self, options: &str) {
        self.ask(&format!(
            "eval reference.json responses.jsonl -c juror.yaml -o report.html {options}"
        ));
    }

    /// All texts of the report that stand uncompressed or compressed in it.
    fn data(&self) -> Value {
        let html = fs::read_to_string(self.path("report.html")).expect("a report");
        let mark = "id=\"juror-chunk-0\">";
        let start = html.find(mark).expect("data") + mark.len();
        let end = start + html[start..].find('<').expect("an end");
        let gzip = STANDARD.decode(&html[start..end]).expect("base64");
        let mut text = String::new();
        flate2::read::GzDecoder::new(&gzip[..]).read_to_string(&mut text).expect("gzip");
        assert!(!text.contains(KEY) && !html.contains(KEY), "a key is in the report");
        serde_json::from_str(&text).expect("JSON")
    }

    /// The verdict on a metric of the only answer.
    fn verdict(&self, metric: &str) -> Value {
        let data = self.data();
        let verdicts = data[0]["runs"][0][0]["verdicts"].as_array().expect("verdicts");
        let own = verdicts.iter().find(|verdict| verdict["metric"] == metric);
        own.unwrap_or_else(|| panic!("no {metric}: {data:#}")).clone()
    }
}

fn claims(matching: u64) -> Reply {
    Reply::Json(json!({"reference_claims": 4, "actual_claims": 4, "matching_claims": matching,
        "reason": format!("{matching} match")}))
}

fn script() -> Script {
    let tone = Reply::Json(json!({"politeness": 0.5, "word": "warm"}));
    Script {
        replies: BTreeMap::from([
            ("answer_claims".to_owned(), vec![claims(4), claims(1), claims(2)]),
            ("custom_tone".to_owned(), vec![tone]),
        ]),
        usage: Some(Usage { prompt_tokens: 1000, completion_tokens: 100 }),
        ..Script::default()
    }
}

/// What is shown of the claims of the answer, judged three times.
fn check_claims(stage: &Stage) {
    let verdict = stage.verdict("answer_correctness");
    assert_eq!(verdict["no_calls"], Value::Null, "{verdict:#}");
    let calls = verdict["calls"].as_array().expect("calls");
    let repeats: Vec<&Value> = calls.iter().map(|call| &call["repeat"]).collect();
    assert_eq!(repeats, [&json!(0), &json!(1), &json!(2)]);
    for (call, said) in calls.iter().zip(["4 match", "1 match", "2 match"]) {
        assert_eq!(call["purpose"], "answer_claims");
        assert_eq!(call["model"], "openai/gpt-4o-mini");
        assert_eq!(call["tokens"], json!([1000, 100]));
        let usd = call["usd"].as_f64().expect("a price");
        assert!((usd - 0.000_21).abs() < 1e-9, "{usd}");
        let reply = call["reply"]["text"].as_str().expect("a reply");
        assert!(reply.contains(said), "{reply}");
    }
    let user = calls[0]["messages"][1]["text"].as_str().expect("a prompt");
    assert!(user.contains("surely not") && user.contains("[marker]"), "{user}");
}

#[test]
fn prompts_and_replies_are_with_their_verdicts() {
    let stage = Stage::new(script());
    stage.eval("--repeats 3");
    check_claims(&stage);
    let sent = stage.server.seen();
    let sent = sent.iter().find(|own| own.purpose == "answer_claims").expect("a call");
    let messages = stage.verdict("answer_correctness")["calls"][0]["messages"].clone();
    let text = |at: usize| messages[at]["text"].as_str().expect("a text").to_owned();
    let shown = format!("{}\n{}", text(0), text(1));
    // The marker, of sixteen digits, is drawn for each call.
    let at = shown.find("[marker]").expect("a marker");
    let marker = &sent.prompt[at..at + 16];
    assert_eq!(sent.prompt.replace(marker, "[marker]"), shown, "what was sent");
    let tone = stage.verdict("politeness");
    assert_eq!(tone["calls"].as_array().map(Vec::len), Some(3), "{tone:#}");
}

#[test]
fn a_run_of_an_earlier_day_has_them_without_key_and_address() {
    let stage = Stage::new(script());
    stage.eval("--repeats 3 --run run");
    fs::remove_file(stage.path("report.html")).expect("removed");
    stage.tell("report run -o report.html");
    check_claims(&stage);
    assert_eq!(stage.verdict("tone")["calls"].as_array().map(Vec::len), Some(3));
    let recall = stage.verdict("retrieval_answer_recall");
    assert_eq!(recall["calls"][0]["purpose"], "answer_attribution", "{recall:#}");
    let precision = stage.verdict("retrieval_answer_precision");
    assert_eq!(precision["calls"][0]["purpose"], "answer_usefulness", "{precision:#}");
    let f1 = stage.verdict("retrieval_answer_f1");
    assert_eq!(f1["no_calls"], "with recall and precision, from which it follows");
    stage.tell("compare run run -o report.html");
    check_claims(&stage);
}

#[test]
fn where_they_are_not_to_be_had_the_report_says_so() {
    let stage = Stage::new(script());
    stage.eval("--run run --cache-mode off");
    let why = |stage: &Stage| {
        let verdict = stage.verdict("answer_correctness");
        assert_eq!(verdict["calls"], json!([]));
        verdict["no_calls"].as_str().expect("a reason").to_owned()
    };
    assert_eq!(why(&stage), ".juror/llm: no replies are kept here");
    stage.eval("--run other");
    stage.tell("report other -o report.html --redact");
    assert_eq!(why(&stage), "left out (--redact)");
    stage.tell("report other -o report.html --cache elsewhere");
    assert_eq!(why(&stage), "elsewhere: no replies are kept here");
    stage.tell("cache prune --all");
    stage.tell("report other -o report.html");
    let words = why(&stage);
    assert!(words.starts_with("not in the reply cache"), "{words}");
}

#[test]
fn replies_that_lead_to_another_verdict_are_not_shown() {
    let stage = Stage::new(script());
    stage.eval("--run run");
    let results = fs::read_to_string(stage.path("run/results.jsonl")).expect("results");
    stage.write("run/results.jsonl", &results.replace("4 match", "5 match"));
    stage.tell("report run -o report.html");
    let verdict = stage.verdict("answer_correctness");
    let why = verdict["no_calls"].as_str().expect("a reason");
    assert!(why.ends_with("lead to another verdict, so they are not shown"), "{why}");
}

#[test]
fn what_a_judge_of_attempts_was_asked_is_with_its_verdict() {
    let verdict = |status: &str| {
        Reply::Json(json!({"reason": format!("it is {status}"), "answer_status": status}))
    };
    let stage = Stage::new(Script {
        replies: BTreeMap::from([
            ("answer_status".to_owned(), vec![verdict("Unsure"); 40]),
            ("answer_status_detailed".to_owned(), vec![verdict("Solved"); 40]),
        ]),
        usage: Some(Usage { prompt_tokens: 10, completion_tokens: 1 }),
        ..Script::default()
    });
    let examples = project("examples").display().to_string();
    let agent = format!("command:python3 {examples}/agents/baseline.py");
    let address = format!("{}/v1", stage.server.address());
    stage.run(
        &format!(
            "bench --queries {examples}/queries.json --tools {examples}/tools \
             --cache {examples}/tool_cache --no-keep --judge model --repeats 2 --run run \
             -o report.html"
        ),
        &[("OPENAI_API_KEY", KEY), ("OPENAI_BASE_URL", &address), ("JUROR_AGENT", &agent)],
    );
    let check = || {
        let verdict = stage.verdict("sopr_score");
        let purposes: Vec<(&Value, &Value)> = verdict["calls"]
            .as_array()
            .expect("calls")
            .iter()
            .map(|call| (&call["purpose"], &call["repeat"]))
            .collect();
        let (short, long) = (json!("answer_status"), json!("answer_status_detailed"));
        let (first, second) = (json!(0), json!(1));
        let wanted = [(&short, &first), (&long, &first), (&short, &second), (&long, &second)];
        assert_eq!(purposes, wanted, "{verdict:#}");
        assert!(verdict["calls"][1]["reply"]["text"].as_str().expect("a reply").contains("Solved"));
    };
    check();
    stage.tell("report run -o report.html");
    check();
    stage.tell("report run/results.jsonl -o report.html");
    let why = stage.verdict("sopr_score")["no_calls"].as_str().map(str::to_owned);
    assert!(
        why.is_some_and(|why| why.contains("not kept")),
        "the settings of a file are not known"
    );
}
