//! Judging by models, checked against recorded cases over real HTTP: the program asks a scripted
//! server that gives the verdicts of each case.
//!
//! Numbers agree within 1e-9, absolute or relative; of `*_error` texts only the presence counts;
//! costs, reasons and who judged may stand in a result beyond what a case expects.

#![expect(clippy::print_stdout, reason = "tests tell what they ran")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use juror_score::{KeyPart, split_key};
use juror_scripted::{Reply, Script, Server, Usage};
use juror_testing::{Checked, RecordedCase, project, read_cases, recorded_cases};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

const FILES: [&str; 4] = ["llm", "answer_correctness", "cli", "departures"];

#[test]
fn our_own_judged_cases_hold() {
    run_all(&project("conformance"), &["own_judged"]);
}

#[test]
fn the_recorded_judged_cases_hold() {
    let Some(folder) = recorded_cases() else { return };
    run_all(&folder.join("qa"), &FILES);
}

fn run_all(folder: &Path, files: &[&str]) {
    let mut cases = Vec::new();
    for file in files {
        for RecordedCase { value: mut case, line } in
            read_cases(&folder.join(format!("{file}.jsonl")))
        {
            // The outputs of custom evaluations are in the order written: keep it.
            let Raw { input } = serde_json::from_str(&line).expect("a case is JSON");
            if let Some(config) = input.and_then(|input| input.config) {
                case["config_as_written"] = json!(config.get());
            }
            let is_judged = ["llm", "answer_correctness", "cli"]
                .contains(&case["family"].as_str().unwrap_or_default());
            // Cases without input describe what single tests check.
            if is_judged && !case["input"].is_null() {
                cases.push((format!("{file}/{}", case["family"].as_str().unwrap_or("?")), case));
            }
        }
    }
    let server = Server::start(Script::default());
    let (next, counts) = (AtomicUsize::new(0), Mutex::new(BTreeMap::<&str, usize>::new()));
    let failures = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some((family, case)) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    *counts.lock().expect("counts").entry(family).or_default() += 1;
                    if let Err(why) = check(case, &server) {
                        let failure = format!("{}: {why}", case["id"]);
                        failures.lock().expect("failures").push(failure);
                    }
                }
            });
        }
    });
    let counts = counts.into_inner().expect("counts");
    for (family, n_run) in &counts {
        println!("{family}: {n_run} run");
    }
    let failures = failures.into_inner().expect("failures");
    assert!(!counts.is_empty(), "no case was run");
    assert!(failures.is_empty(), "{} failed:\n{}", failures.len(), failures.join("\n"));
}

#[derive(Deserialize)]
struct Raw<'c> {
    #[serde(borrow)]
    input: Option<RawInput<'c>>,
}

#[derive(Deserialize)]
struct RawInput<'c> {
    #[serde(borrow)]
    config: Option<&'c RawValue>,
}

fn check(case: &Value, server: &Server) -> Checked {
    let profile = if case["peer"] == "6.4" { "6" } else { "5" };
    match case["family"].as_str() {
        Some("llm") => check_run(case, profile, server),
        Some("answer_correctness") => check_reply(case, profile, server),
        _ => check_table(case, profile, server),
    }
}

/// A folder of its own, and a script of its own on the server.
struct Stage {
    folder: tempfile::TempDir,
    address: String,
}

impl Stage {
    fn new(case: &Value, script: Script, server: &Server) -> Stage {
        let id = case["id"].as_str().unwrap_or_default();
        let name: String = id.chars().map(|c| if c.is_alphanumeric() { c } else { '-' }).collect();
        server.add(&name, script);
        let address = format!("{}/s/{name}", server.address());
        Stage { folder: tempfile::tempdir().expect("a folder"), address }
    }

    fn write(&self, name: &str, content: &str) {
        fs::write(self.folder.path().join(name), content).expect("a file");
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.folder.path().join(name)).unwrap_or_default()
    }

    fn run(&self, line: &str) -> (i32, String) {
        let output = Command::new(env!("CARGO_BIN_EXE_juror"))
            .args(line.split_whitespace())
            .current_dir(self.folder.path())
            .env_clear()
            .env("OPENAI_API_KEY", "sk-recorded")
            .env("OPENAI_BASE_URL", format!("{}/v1", self.address))
            .output()
            .expect("the program starts");
        let code = output.status.code().unwrap_or(-1);
        (code, String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

/// A whole evaluation.
fn check_run(case: &Value, profile: &str, server: &Server) -> Checked {
    let input = &case["input"];
    let stage = Stage::new(case, script(case), server);
    stage.write("reference.json", &input["reference"].to_string());
    stage.write("responses.json", &input["responses"].to_string());
    let config = case["config_as_written"].as_str().unwrap_or("{}");
    stage.write("juror.yaml", &config.replace("{BASE_URL}", &stage.address));
    let (code, stderr) = stage.run(&format!(
        "eval reference.json responses.json -c juror.yaml --profile {profile} --concurrency 1 -o out.json -q"
    ));
    if code != 0 {
        return Err(format!("exit {code}: {stderr}"));
    }
    let written = stage.read("out.json");
    let found: Value = serde_json::from_str(&written).map_err(|error| error.to_string())?;
    match case.get("peer_value") {
        None => same("", &found, &case["expected"]["results"]),
        // Never NaN: what cannot be a number stays a text.
        Some(_) => {
            let values = [&found[0]["my_score"], &found[0]["my_reason"]];
            let kept = values == [&json!("NaN"), &json!("Infinity")];
            if kept { Ok(()) } else { Err(format!("found {values:?}")) }
        }
    }
}

/// What one reply of a model makes of an answer.
fn check_reply(case: &Value, profile: &str, server: &Server) -> Checked {
    let reply = case["input"]["reply"].as_str().unwrap_or_default();
    let method = case["input"]["method"].as_str().unwrap_or("counted");
    let replies = [(claims_purpose(method).to_owned(), vec![Reply::Text(reply.to_owned())])];
    let stage = Stage::new(case, Script { replies: replies.into(), ..Script::default() }, server);
    let question = json!({"id": "q", "question_text": "Q?", "reference_answer": "R"});
    let reference = json!([{"template_id": "t", "questions": [question]}]);
    stage.write("reference.json", &reference.to_string());
    stage.write("responses.jsonl", r#"{"question_id": "q", "actual_answer": "A"}"#);
    let off = "answer_relevance: {enabled: false}";
    stage.write("juror.yaml", &format!("{off}\nanswer_correctness: {{method: {method}}}\n"));
    let (code, stderr) = stage.run(&format!(
        "eval reference.json responses.jsonl -c juror.yaml --profile {profile} -o out.json -q"
    ));
    if code != 0 {
        return Err(format!("exit {code}: {stderr}"));
    }
    let found: Value =
        serde_json::from_str(&stage.read("out.json")).map_err(|error| error.to_string())?;
    let found: serde_json::Map<String, Value> = found[0]
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(key, _)| key.starts_with("answer_"))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    if case.get("peer_value").is_some() {
        let has_error = found.keys().any(|key| split_key(key).1 == Some(KeyPart::Error));
        return if has_error { Ok(()) } else { Err(format!("no error: {found:?}")) };
    }
    same("", &Value::Object(found), &case["expected"])
}

/// The purpose of the call that a method of counting claims makes.
fn claims_purpose(method: &str) -> &'static str {
    if method == "listed" { "listed_claims" } else { "answer_claims" }
}

/// The table command.
fn check_table(case: &Value, profile: &str, server: &Server) -> Checked {
    let input = &case["input"];
    let text = |reply: &Value| Reply::Text(reply.as_str().unwrap_or_default().to_owned());
    let replies = input["replies"].as_array().into_iter().flatten().map(text).collect();
    let method = input["method"].as_str().unwrap_or("counted");
    let replies = [(claims_purpose(method).to_owned(), replies)];
    let stage = Stage::new(case, Script { replies: replies.into(), ..Script::default() }, server);
    stage.write("in.tsv", input["tsv"].as_str().unwrap_or_default());
    let settings = format!("profile: {profile}\nllm: {{concurrency: 1}}\n");
    stage.write("juror.yaml", &format!("{settings}answer_correctness: {{method: {method}}}\n"));
    let (code, stderr) = stage.run("answer-correctness -i in.tsv -o out.tsv -c juror.yaml --quiet");
    let found = stage.read("out.tsv");
    if case.get("peer_value").is_some() {
        let told = match case["id"].as_str().unwrap_or_default() {
            id if id.contains("missing-column") => {
                code == 2 && stderr.contains("the column `Actual answer` is missing")
            }
            _ => code == 0 && found.lines().nth(1).is_some_and(|row| row.starts_with("\t\t\t\t")),
        };
        return if told { Ok(()) } else { Err(format!("exit {code}: {stderr}\n{found}")) };
    }
    let expected = &case["expected"];
    if code != expected["exit"] || found != expected["tsv"] {
        return Err(format!("exit {code}: {stderr}\nfound    {found:?}\nexpected {expected}"));
    }
    Ok(())
}

/// The verdicts of a case, by the purposes the program asks for.
fn script(case: &Value) -> Script {
    let input = &case["input"];
    let verdicts = &input["verdicts"];
    let mut replies: BTreeMap<String, Vec<Reply>> = BTreeMap::new();
    let mut say = |purpose: &str, reply: Reply| {
        replies.entry(purpose.to_owned()).or_default().push(reply);
    };
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let mut generated = list(&verdicts["generated_questions"]);
    if generated.is_empty() {
        // Some cases give these only in the order the library asks.
        let asked = list(&input["script"]["chat"]).into_iter().map(|reply| reply["json"].clone());
        generated = asked.filter(|reply| reply.get("question").is_some()).collect();
    }
    for question in generated {
        say("generated_question", Reply::Json(question));
    }
    if let Some(reply) = verdicts["correctness_reply"].as_str() {
        say("answer_claims", Reply::Text(reply.to_owned()));
    }
    let is_about_contexts = case["id"].as_str().is_some_and(|id| id.contains("retrieval_context"));
    let plain = if is_about_contexts { "context" } else { "answer" };
    for (prefix, subject) in
        [("context", plain), ("answer_context", "answer"), ("reference_context", "context")]
    {
        let recall = &verdicts[format!("{prefix}_recall_attributed")];
        if recall.is_array() {
            say(&format!("{subject}_attribution"), statements(recall));
        }
        for verdict in list(&verdicts[format!("{prefix}_precision_verdicts")]) {
            say(&format!("{subject}_usefulness"), useful(&verdict));
        }
    }
    for subject in ["answer", "context"] {
        // In the order of steps, which is that of their ids here.
        for judged in verdicts[subject].as_object().into_iter().flat_map(|steps| steps.values()) {
            say(&format!("{subject}_attribution"), statements(&judged[0]));
            for verdict in list(&judged[1]) {
                say(&format!("{subject}_usefulness"), useful(&verdict));
            }
        }
    }
    let mut custom = list(&verdicts["custom_replies"]).into_iter();
    for evaluation in list(&input["config"]["custom_evaluations"]) {
        let name = evaluation["name"].as_str().unwrap_or_default();
        let error = &case["expected"]["results"][0][format!("{name}_error")];
        let is_asked = !error.as_str().is_some_and(|error| error.contains("missing key"));
        if is_asked && let Some(reply) = custom.next() {
            let reply = reply.as_str().unwrap_or_default().to_owned();
            say(&format!("custom_{name}"), Reply::Text(reply));
        }
    }
    let usage = &input["script"]["usage_per_chat"];
    let tokens = |key: &str| usage[key].as_u64().unwrap_or_default();
    Script {
        replies,
        embeddings: serde_json::from_value(input["script"]["embeddings"].clone())
            .unwrap_or_default(),
        usage: Some(Usage {
            prompt_tokens: tokens("prompt_tokens"),
            completion_tokens: tokens("completion_tokens"),
        }),
        ..Script::default()
    }
}

fn statements(attributed: &Value) -> Reply {
    let statement = |value: &Value| json!({"statement": "s", "reason": "r", "attributed": value});
    let list: Vec<Value> = attributed.as_array().into_iter().flatten().map(statement).collect();
    Reply::Json(json!({"statements": list}))
}

fn useful(verdict: &Value) -> Reply {
    Reply::Json(json!({"reason": "r", "useful": verdict}))
}

/// Whether everything expected was found, and nothing else of weight.
fn same(path: &str, found: &Value, expected: &Value) -> Checked {
    match (found, expected) {
        (Value::Object(found), Value::Object(expected)) => {
            for (key, value) in expected {
                let path = format!("{path}.{key}");
                let Some(other) = found.get(key) else { return Err(format!("{path} is missing")) };
                if split_key(key).1 != Some(KeyPart::Error) {
                    same(&path, other, value)?;
                }
            }
            let may_be_more = |key: &str| {
                let part = split_key(key).1;
                key == "judged_by" || matches!(part, Some(KeyPart::Cost | KeyPart::Reason))
            };
            match found.keys().find(|key| !expected.contains_key(*key) && !may_be_more(key)) {
                Some(key) => Err(format!("{path}.{key} is not expected: {}", found[key])),
                None => Ok(()),
            }
        }
        (Value::Array(found), Value::Array(expected)) if found.len() == expected.len() => {
            found.iter().zip(expected).enumerate().try_for_each(|(index, (found, expected))| {
                same(&format!("{path}[{index}]"), found, expected)
            })
        }
        (Value::Number(found_number), Value::Number(expected_number)) => {
            let (a, b) = (
                found_number.as_f64().unwrap_or(f64::NAN),
                expected_number.as_f64().unwrap_or(f64::NAN),
            );
            let near = (a - b).abs() <= 1e-9 * 1.0_f64.max(a.abs()).max(b.abs());
            if near { Ok(()) } else { Err(format!("{path}: found {a}, expected {b}")) }
        }
        _ if found == expected => Ok(()),
        _ => Err(format!("{path}: found {found}, expected {expected}")),
    }
}
