//! A folder with a judged run, and the program run in it.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

pub(crate) use juror_testing::Ended;
use serde_json::{Value, json};

pub(crate) struct Stage {
    folder: tempfile::TempDir,
}

impl Stage {
    pub(crate) fn new() -> Stage {
        Stage { folder: tempfile::tempdir().expect("a folder") }
    }

    /// With results of an evaluation, one a line.
    pub(crate) fn with_results(name: &str, results: &[Value]) -> Stage {
        let stage = Stage::new();
        stage.write(name, &lines(results));
        stage
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, content).expect("a file");
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub(crate) fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(name)).expect("JSON")
    }

    /// The values of a file of lines.
    pub(crate) fn json_lines(&self, name: &str) -> Vec<Value> {
        self.read(name).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }

    pub(crate) fn run(&self, line: &str) -> Ended {
        self.run_words(&line.split_whitespace().collect::<Vec<_>>())
    }

    pub(crate) fn run_words(&self, words: &[&str]) -> Ended {
        Ended::of(
            Command::new(env!("CARGO_BIN_EXE_juror"))
                .args(words)
                .current_dir(self.folder.path())
                .env_clear(),
        )
    }

    /// Adds a line to a file.
    pub(crate) fn append(&self, name: &str, value: &Value) {
        self.write(name, &format!("{}{value}\n", self.read(name)));
    }

    /// Runs commands that must be refused, and returns what they say.
    pub(crate) fn refused(&self, commands: &[&str]) -> String {
        let told = |line: &&str| {
            let ended = self.run(line);
            assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{line}\n{ended}");
            format!("$ juror {line}\n{}\n", ended.stderr)
        };
        commands.iter().map(told).collect()
    }

    /// Runs commands that must succeed, and returns what they print.
    pub(crate) fn printed(&self, commands: &[&str]) -> String {
        let told = |line: &&str| format!("$ juror {line}\n{}\n", self.done(line).stdout);
        commands.iter().map(told).collect()
    }

    /// Runs a command that must succeed.
    pub(crate) fn done(&self, line: &str) -> Ended {
        let ended = self.run(line);
        assert_eq!(ended.code, 0, "{line}\n{ended}");
        ended
    }
}

pub(crate) fn lines(values: &[Value]) -> String {
    values.iter().map(Value::to_string).collect::<Vec<_>>().join("\n") + "\n"
}

/// The result of a question, one template each, judged by `model`.
pub(crate) fn result(at: usize, score: f64, model: &str) -> Value {
    json!({"template_id": format!("t{at}"), "question_id": format!("q{at}"),
        "question_text": format!("What is {at}?"), "reference_answer": format!("It is {at}."),
        "status": "success", "actual_answer": format!("It may be {at}."),
        "answer_recall": score, "answer_precision": score, "answer_f1": score,
        "answer_correctness_reason": "as the judge sees it", "total_tokens": 10 + at,
        "judged_by": {"model": model, "prompts": {"answer_claims": "aa11", "generated_question": "bb22"}}})
}

/// A label as people fill it in.
pub(crate) fn label(at: usize, sample: &str, label: &Value, by: &str) -> Value {
    json!({"format": "juror.label/1", "id": format!("q{at}"), "template": format!("t{at}"),
        "metric": "answer_f1", "sample": sample, "answer": format!("It may be {at}."),
        "label": label, "by": by})
}

/// 200 answers, of which the judge passes 140; and 100 random labels: people pass 50, of which the
/// judge passes 45, and fail 50, of which the judge fails 40.
pub(crate) fn published() -> Stage {
    let is_passed = |at: usize| at < 55 || (100..185).contains(&at);
    let results: Vec<Value> =
        (0..200).map(|at| result(at, f64::from(u8::from(is_passed(at))), "openai/m")).collect();
    assert_eq!(results.iter().filter(|own| own["answer_f1"] == 1.0).count(), 140);
    let stage = Stage::with_results("results.jsonl", &results);
    // Of the first hundred the judge passes 55: 45 with people, 10 against them.
    let word = |at: usize| if at < 45 || (55..60).contains(&at) { "pass" } else { "fail" };
    let labels: Vec<Value> =
        (0..100).map(|at| label(at, "random", &json!(word(at)), "ann")).collect();
    stage.write("labels.jsonl", &lines(&labels));
    stage
}
