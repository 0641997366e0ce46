//! Verdicts that are asked for several times.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use juror_scripted::{Fault, Reply, Script, Server, Usage};
use juror_testing::Ended;
use serde_json::{Value, json};

/// A folder with one question and its answer, and a server to ask.
struct Stage {
    folder: tempfile::TempDir,
    server: Server,
}

/// Only claims and a custom evaluation are judged, one call at a time.
const SETTINGS: &str = "\
llm: {generation: {provider: openai, model: gpt-4o-mini}, concurrency: 1, retries: 0}
retrieval_answer: {enabled: false}
custom_evaluations:
- {name: tone, inputs: [actual_answer], instructions: Judge it., outputs: {politeness: 0 to 1, word: a word}}
";

impl Stage {
    fn new(script: Script) -> Stage {
        let folder = tempfile::tempdir().expect("a folder");
        let stage = Stage { folder, server: Server::start(script) };
        let question = json!({"id": "q", "question_text": "?", "reference_answer": "yes"});
        let reference = json!([{"template_id": "t", "questions": [question]}]);
        stage.write("reference.json", &reference.to_string());
        stage.write("responses.jsonl", r#"{"question_id": "q", "actual_answer": "no"}"#);
        stage.write("juror.yaml", SETTINGS);
        stage
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.folder.path().join(name), text).expect("a file");
    }

    fn eval(&self, options: &str) -> Ended {
        let line = "eval reference.json responses.jsonl -c juror.yaml -o results.json";
        Ended::of(
            Command::new(env!("CARGO_BIN_EXE_juror"))
                .args(line.split_whitespace().chain(options.split_whitespace()))
                .current_dir(self.folder.path())
                .env_clear()
                .env("OPENAI_API_KEY", "sk-x")
                .env("OPENAI_BASE_URL", format!("{}/v1", self.server.address())),
        )
    }

    fn result(&self) -> Value {
        let text = fs::read_to_string(self.folder.path().join("results.json")).expect("results");
        let results: Value = serde_json::from_str(&text).expect("JSON");
        results[0].clone()
    }

    fn n_asked(&self) -> usize {
        self.server.seen().len()
    }
}

fn claims(reference: u64, actual: u64, matching: u64) -> Reply {
    Reply::Json(json!({"reference_claims": reference, "actual_claims": actual,
        "matching_claims": matching, "reason": format!("{matching} match")}))
}

fn tone(politeness: f64, word: &str) -> Reply {
    Reply::Json(json!({"politeness": politeness, "word": word}))
}

/// Three different verdicts on claims, and three on tone.
fn moody() -> Script {
    let claims = vec![claims(4, 4, 4), claims(4, 4, 1), claims(4, 4, 2)];
    let tones = vec![tone(0.5, "warm"), tone(1.0, "cold"), tone(0.0, "warm")];
    Script {
        replies: BTreeMap::from([
            ("answer_claims".to_owned(), claims),
            ("custom_tone".to_owned(), tones),
        ]),
        usage: Some(Usage { prompt_tokens: 1000, completion_tokens: 100 }),
        ..Script::default()
    }
}

#[test]
fn all_verdicts_are_kept_and_their_mean_or_majority_counts() {
    for profile in ["5", "6"] {
        let stage = Stage::new(moody());
        let ended = stage.eval(&format!("--repeats 3 --profile {profile}"));
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        assert_eq!(stage.n_asked(), 6, "three times each");
        let result = stage.result();
        assert_eq!(result["answer_f1_repeats"], json!([1.0, 0.25, 0.5]));
        assert_eq!(result["answer_recall_repeats"], json!([1.0, 0.25, 0.5]));
        let f1 = result["answer_f1"].as_f64().expect("a score");
        assert!((f1 - 1.75 / 3.0).abs() < 1e-12, "{f1}");
        assert_eq!(result["answer_matching_claims_count"], 2, "of the repeat in the middle");
        assert_eq!(result["answer_correctness_reason"], "2 match");
        assert_eq!(result["politeness_repeats"], json!([0.5, 1.0, 0.0]));
        assert_eq!(result["politeness"], 0.5);
        assert_eq!(result["word_repeats"], json!(["warm", "cold", "warm"]));
        assert_eq!(result["word"], "warm");
        // 1,000 tokens in and 100 out, three times.
        let cost = result["answer_correctness_cost"].as_f64().expect("a cost");
        assert!((cost - 3.0 * (0.15e-3 + 0.06e-3)).abs() < 1e-9, "{cost}");
    }
}

#[test]
fn one_repeat_is_not_mentioned() {
    let (plain, told) = (Stage::new(moody()), Stage::new(moody()));
    assert_eq!((plain.eval("").code, told.eval("--repeats 1").code), (0, 0));
    assert_eq!(plain.result(), told.result());
    assert!(!plain.result().to_string().contains("repeats"));
    assert_eq!(plain.n_asked(), 2);
}

#[test]
fn more_repeats_ask_only_for_what_is_new() {
    let stage = Stage::new(moody());
    stage.write("juror.yaml", &format!("{SETTINGS}judge: {{repeats: 2}}\n"));
    assert_eq!(stage.eval("").code, 0);
    assert_eq!(stage.result()["word"], Value::Null, "a tie is nobody's word");
    assert_eq!((stage.eval("").code, stage.n_asked()), (0, 4), "known");
    assert_eq!((stage.eval("--repeats 3").code, stage.n_asked()), (0, 6));
    assert_eq!(stage.result()["answer_f1_repeats"], json!([1.0, 0.25, 0.5]));
    assert_eq!((stage.eval("--repeats 1").code, stage.n_asked()), (0, 6));
    assert_eq!(stage.result()["answer_f1"], 1.0, "the first of them");
}

#[test]
fn a_dry_run_counts_every_repeat() {
    let stage = Stage::new(Script::default());
    stage.write("juror.yaml", "judge: {repeats: 3}\n");
    let counted = stage.eval("--dry-run --json");
    let calls: Vec<Value> = serde_json::from_str(&counted.stdout).expect("JSON");
    assert_eq!(stage.n_asked(), 0);
    assert_eq!(stage.eval("").code, 0);
    let n_counted: u64 = calls
        .iter()
        .filter(|row| row["purpose"] != "all calls")
        .map(|row| row["sent"].as_u64().expect("a number"))
        .sum();
    assert_eq!(n_counted, 3 * (1 + 3 + 1), "claims, generated questions, embeddings: {calls:?}");
    let asked = |purpose: &str| {
        stage.server.seen().into_iter().filter(|seen| seen.purpose == purpose).count()
    };
    assert_eq!((asked("answer_claims"), asked("generated_question")), (3, 9));
}

#[test]
fn a_repeat_without_a_verdict_is_left_out_of_the_mean() {
    let mut script = moody();
    script.replies.insert(
        "answer_claims".to_owned(),
        vec![claims(4, 4, 4), Reply::Text("no idea".into()), claims(4, 4, 2)],
    );
    let stage = Stage::new(script);
    let ended = stage.eval("--repeats 3 --run run");
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert_eq!(stage.result()["answer_f1_repeats"], json!([1.0, null, 0.5]));
    assert_eq!(stage.result()["answer_f1"], 0.75);
    // It is asked for again when errors are, and its replies are automatic by now.
    let again = stage.eval("--repeats 3 --run run --retry-errors");
    assert_eq!(again.code, 0, "{}", again.stderr);
    assert_eq!(stage.n_asked(), 7);
    assert!(stage.result()["answer_f1_repeats"][1].is_number(), "{:#}", stage.result());
}

#[test]
fn a_model_that_fails_once_leaves_the_verdict_open_until_it_is_asked_again() {
    let down = Reply::Status { status: 400, retry_after: None, body: None };
    let fault = Fault { calls: vec![2], purpose: Some("answer_claims".into()), reply: down };
    let stage = Stage::new(Script { faults: vec![fault], ..moody() });
    stage.write("juror.yaml", SETTINGS.split("custom_evaluations").next().unwrap_or_default());
    let ended = stage.eval("--repeats 3");
    assert_eq!(ended.code, 3, "{}", ended.stderr);
    assert_eq!(stage.result().get("answer_f1"), None);
    assert!(stage.result()["answer_eval_error"].is_string(), "{:#}", stage.result());
    let ended = stage.eval("--repeats 3");
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert_eq!(stage.n_asked(), 4, "only what was missing");
    let repeats = stage.result()["answer_f1_repeats"].clone();
    assert_eq!(repeats.as_array().map(Vec::len), Some(3), "{repeats}");
}

#[test]
fn repeats_are_part_of_what_a_run_is() {
    let stage = Stage::new(Script::default());
    assert_eq!(stage.eval("--repeats 2 --run run").code, 0);
    let refused = stage.eval("--repeats 3 --run run");
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    assert!(refused.stderr.contains("other models, prompts or rules"), "{}", refused.stderr);
}

#[test]
fn steps_keep_all_verdicts_on_what_they_retrieved() {
    let said = |attributed: u8| {
        let statement = json!({"statement": "s", "reason": "r", "attributed": attributed});
        Reply::Json(json!({"statements": [statement]}))
    };
    let replies = BTreeMap::from([("answer_attribution".to_owned(), vec![said(1), said(0)])]);
    let stage = Stage::new(Script { replies, ..Script::default() });
    let output = json!([{"id": 1, "text": "a context"}]).to_string();
    let step = json!({"name": "retrieval", "id": "s", "status": "success", "output": output});
    let response = json!({"question_id": "q", "actual_answer": "no", "actual_steps": [step]});
    stage.write("responses.jsonl", &response.to_string());
    stage.write("juror.yaml", "llm: {concurrency: 1}\nanswer_relevance: {enabled: false}\n");
    let ended = stage.eval("--repeats 2");
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let step = &stage.result()["actual_steps"][0];
    assert_eq!(step["retrieval_answer_recall_repeats"], json!([1.0, 0.0]), "{step:#}");
    assert_eq!(step["retrieval_answer_recall"], 0.5);
    assert_eq!(step["retrieval_answer_f1_repeats"].as_array().map(Vec::len), Some(2));
}
