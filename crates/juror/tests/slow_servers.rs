//! Servers that are slow, small or not ready yet: the program against a scripted one.

use std::fs;
use std::process::Command;

use juror_scripted::{Fault, Reply, Script, Server};
use serde_json::{Value, json};

/// A folder with a dataset, and a server to ask.
struct Stage {
    folder: tempfile::TempDir,
    server: Server,
    n_questions: usize,
}

impl Stage {
    fn new(n_questions: usize, script: Script) -> Stage {
        let folder = tempfile::tempdir().expect("a folder");
        let question = |n: usize| {
            json!({"id": format!("q{n}"), "question_text": format!("What is number {n}?"),
                "reference_answer": format!("It is {n}.")})
        };
        let questions: Vec<Value> = (0..n_questions).map(question).collect();
        let reference = json!([{"template_id": "t", "questions": questions}]);
        fs::write(folder.path().join("reference.json"), reference.to_string()).expect("a file");
        let response = |n: usize| {
            json!({"question_id": format!("q{n}"), "actual_answer": format!("{n}, surely.")})
                .to_string()
        };
        let responses: Vec<String> = (0..n_questions).map(response).collect();
        fs::write(folder.path().join("responses.jsonl"), responses.join("\n")).expect("a file");
        Stage { folder, server: Server::start(script), n_questions }
    }

    /// Judges the claims of all answers by a provider's model; returns what was said.
    fn judge(&self, provider: &str, llm: &str, options: &str) -> (i32, String) {
        let address = format!("{}/v1", self.server.address());
        let settings = format!(
            "llm:\n  generation: {{provider: {provider}, model: m, base_url: '{address}'}}\n{llm}\
             answer_relevance: {{enabled: false}}\n"
        );
        fs::write(self.folder.path().join("juror.yaml"), settings).expect("a file");
        let line =
            format!("eval reference.json responses.jsonl -c juror.yaml -o out.json {options}");
        let output = Command::new(env!("CARGO_BIN_EXE_juror"))
            .args(line.split_whitespace())
            .current_dir(self.folder.path())
            .env_clear()
            .output()
            .expect("the program starts");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code().unwrap_or(-1), said)
    }

    /// Every question was judged by exactly one request, which was answered.
    fn check_each_asked_once(&self) {
        let seen = self.server.seen();
        assert_eq!(seen.len(), self.n_questions, "none is sent twice");
        assert!(seen.iter().all(|seen| seen.answered), "none is given up");
        let text = fs::read_to_string(self.folder.path().join("out.json")).expect("results");
        let results: Vec<Value> = serde_json::from_str(&text).expect("JSON");
        assert!(results.iter().all(|result| result["answer_f1"].is_number()));
    }
}

fn one_slot(latency_ms: u64) -> Script {
    Script { latency_ms, slots: Some(1), ..Script::default() }
}

#[test]
fn calls_that_wait_in_the_servers_queue_are_not_given_up() {
    // All are sent at once, and the last one's turn comes long after the time limit.
    let stage = Stage::new(100, one_slot(50));
    let (code, said) = stage.judge("openai_compatible", "", "--concurrency 100 --timeout 3");
    assert_eq!(code, 0, "{said}");
    // The first may be answered before the last has arrived; an unknown server would get 16.
    assert!(stage.server.max_in_flight() > 50, "what was asked for is obeyed");
    stage.check_each_asked_once();
}

#[test]
fn an_unknown_server_of_one_slot_is_not_flooded() {
    // Before so many replies nothing is known that could make calls more or fewer.
    for (n_questions, most) in [(8, 4), (60, 16)] {
        let stage = Stage::new(n_questions, one_slot(10));
        let (code, said) = stage.judge("openai_compatible", "", "");
        assert_eq!(code, 0, "{said}");
        stage.check_each_asked_once();
        assert!(stage.server.max_in_flight() <= most, "{}", stage.server.max_in_flight());
    }
}

#[test]
fn presets_of_local_servers_ask_one_call_at_first() {
    for provider in ["ollama", "llamacpp", "lmstudio"] {
        let stage = Stage::new(5, one_slot(10));
        let (code, said) = stage.judge(provider, "", "");
        assert_eq!(code, 0, "{provider}: {said}");
        stage.check_each_asked_once();
        assert_eq!(stage.server.max_in_flight(), 1, "{provider}");
        assert_eq!(stage.server.seen()[0].key, None, "{provider}");
    }
}

#[test]
fn a_model_that_is_being_loaded_is_waited_for() {
    let body = json!({"error": {"code": 503, "message": "Loading model",
        "type": "unavailable_error"}});
    let reply = Reply::Status { status: 503, retry_after: None, body: Some(body) };
    let fault = Fault { calls: vec![1, 2], purpose: None, reply };
    let stage = Stage::new(3, Script { faults: vec![fault], ..Script::default() });
    let (code, said) = stage.judge("llamacpp", "  retries: 0\n", "");
    assert_eq!(code, 0, "{said}");
    assert_eq!(said.matches("the model is being loaded: waiting for it").count(), 1, "{said}");
    assert_eq!(stage.server.seen().iter().filter(|seen| seen.answered).count(), 3);
}

#[test]
fn a_time_limit_is_a_number_above_0() {
    let stage = Stage::new(1, Script::default());
    for bad in ["0", "-1", "soon", "inf"] {
        let (code, said) = stage.judge("ollama", "", &format!("--timeout={bad}"));
        assert_eq!(code, 2, "{said}");
        assert!(said.contains("expected a number of seconds from 0.001 to 86400"), "{said}");
    }
    assert!(stage.server.seen().is_empty());
}

#[test]
fn more_time_is_hinted_at_where_time_ran_out_whatever_a_server_says() {
    let body = json!({"error": {"message": "no reply within 5 s"}});
    let reply = Reply::Status { status: 500, retry_after: None, body: Some(body) };
    let fault = Fault { calls: vec![1, 2, 3], purpose: None, reply };
    let hint = "give models more time with --timeout";
    let stage = Stage::new(1, Script { faults: vec![fault], ..Script::default() });
    let (code, said) = stage.judge("ollama", "  retries: 0\n", "");
    assert_eq!(code, 3, "{said}");
    assert!(said.contains("no reply within 5 s") && !said.contains(hint), "{said}");
    let silent = Fault { calls: vec![1, 2, 3], purpose: None, reply: Reply::Hang };
    let stage = Stage::new(1, Script { faults: vec![silent], ..Script::default() });
    let (code, said) = stage.judge("ollama", "  retries: 0\n", "--timeout 0.3");
    assert_eq!(code, 3, "{said}");
    assert!(said.contains("no reply within 0.3 s") && said.contains(hint), "{said}");
}

#[test]
fn a_price_is_missed_only_where_it_matters() {
    let prices = "  prices: {another: {input: 1}}\n";
    for (provider, llm, is_told) in [
        ("ollama", "", false),
        ("openai_compatible", "", false),
        ("openai", "", false),
        ("ollama", prices, true),
        ("azure", "", true),
    ] {
        let stage = Stage::new(2, Script::default());
        let (code, said) = stage.judge(provider, llm, "");
        assert_eq!(code, 0, "{provider}: {said}");
        assert_eq!(said.contains("the price of"), is_told, "{provider}: {said}");
    }
}
