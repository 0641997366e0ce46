//! Several answers to a question, from responses to results.

use std::fs;
use std::process::Command;

use juror_scripted::{Script, Server};
use juror_testing::Ended;
use serde_json::{Value, json};

/// A folder with a reference of three questions.
struct Stage {
    folder: tempfile::TempDir,
}

impl Stage {
    fn new() -> Stage {
        let stage = Stage { folder: tempfile::tempdir().expect("a folder") };
        let question = |id: &str| {
            json!({"id": id, "question_text": format!("What is {id}?"), "reference_answer": id,
                "reference_steps": [[{"name": "look", "args": {}, "output": id}]]})
        };
        let questions = ["a", "b", "c"].map(question);
        let reference = json!([{"template_id": "t", "questions": questions}]);
        stage.write("reference.json", &reference.to_string());
        stage
    }

    /// Writes answers, each to a question, with its trial if it has one, and with what it found.
    fn answers(&self, answers: &[(&str, Option<u32>, &str)]) {
        let line = |(id, trial, found): &(&str, Option<u32>, &str)| {
            let mut response = json!({"question_id": id, "actual_answer": found, "total_tokens": 3,
                "actual_steps": [{"name": "look", "id": "s", "status": "success", "output": found}]});
            if let Some(trial) = trial {
                response["trial"] = json!(trial);
            }
            response.to_string()
        };
        let lines: Vec<String> = answers.iter().map(line).collect();
        self.write("responses.jsonl", &lines.join("\n"));
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.folder.path().join(name), text).expect("a file");
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.folder.path().join(name)).expect("a file")
    }

    fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(name)).expect("JSON")
    }

    fn run(&self, line: &str, variables: &[(&str, &str)]) -> Ended {
        Ended::of(
            Command::new(env!("CARGO_BIN_EXE_juror"))
                .args(line.split_whitespace())
                .current_dir(self.folder.path())
                .env_clear()
                .envs(variables.iter().copied()),
        )
    }

    /// Evaluates without a model.
    fn eval(&self, options: &str) -> Ended {
        let line = "eval reference.json responses.jsonl --no-model -o results.json -a sums.json";
        self.run(&format!("{line} {options}"), &[])
    }

    /// Every result as its question, trial and score.
    fn results(&self) -> Value {
        let results = self.json("results.json").as_array().expect("results").clone();
        let row = |own: &Value| json!([own["question_id"], own["trial"], own["steps_score"]]);
        results.iter().map(row).collect()
    }
}

const ANSWERS: [(&str, Option<u32>, &str); 5] = [
    ("b", Some(2), "b"),
    ("a", Some(1), "a"),
    ("b", Some(1), "x"),
    ("a", Some(2), "a"),
    ("a", Some(10), "x"),
];

#[test]
fn every_answer_has_a_result_in_the_order_of_questions_and_trials() {
    for profile in ["5", "6"] {
        let stage = Stage::new();
        stage.answers(&ANSWERS);
        let ended = stage.eval(&format!("--profile {profile}"));
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        // An unanswered question scores 0 by the newer rules, and has no score by the others.
        let missing = if profile == "5" { Value::Null } else { json!(0.0) };
        let wanted = json!([
            ["a", 1, 1.0],
            ["a", 2, 1.0],
            ["a", 10, 0.0],
            ["b", 1, 0.0],
            ["b", 2, 1.0],
            ["c", null, missing],
        ]);
        assert_eq!(stage.results(), wanted, "{profile}");
        let first = stage.read("results.json");
        assert!(first.contains(r#""question_id": "a","trial": 1,"question_text""#), "{first}");
        assert!(first.contains(r#""question_id": "c","question_text""#), "{first}");
    }
}

#[test]
fn statistics_count_every_answer_as_if_it_were_a_question() {
    for profile in ["5", "6"] {
        let several = Stage::new();
        several.answers(&ANSWERS);
        let ended = several.eval(&format!("--profile {profile}"));
        assert!(
            ended.stdout.contains("6 answers to 3 questions in 1 template"),
            "{}",
            ended.stdout
        );
        assert!(ended.stdout.contains("a (trial 10)  What is a?"), "{}", ended.stdout);
        let again =
            several.run(&format!("aggregate results.json --profile {profile} -a again.json"), &[]);
        assert_eq!(again.code, 0, "{}", again.stderr);
        assert_eq!(several.json("again.json"), several.json("sums.json"));
        let micro = several.json("sums.json")["micro"].clone();
        assert_eq!(micro["number_of_error_samples"], 1, "{micro:#}");
        assert_eq!(micro["number_of_success_samples"], 5, "{micro:#}");
    }
}

#[test]
fn marks_of_few_questions_are_explained() {
    let stage = Stage::new();
    stage.answers(&ANSWERS);
    let mark = "* fewer than 10 questions of a template are too few for a reliable interval";
    for ended in [stage.eval(""), stage.run("aggregate results.json", &[])] {
        let row = ended.stdout.lines().find(|line| line.starts_with("t ")).expect("a row");
        assert!(row.contains('*'), "{ended}");
        assert!(ended.stdout.contains(mark), "{ended}");
    }
    let plain = Stage::new();
    plain.answers(&[("a", None, "a"), ("b", None, "x"), ("c", None, "c")]);
    assert!(!plain.eval("").stdout.contains('*'));
}

#[test]
fn one_answer_to_each_question_changes_nothing() {
    let plain = Stage::new();
    plain.answers(&[("a", None, "a"), ("b", None, "x"), ("c", None, "c")]);
    assert_eq!(plain.eval("").code, 0);
    let told = Stage::new();
    told.answers(&[("a", None, "a"), ("b", None, "x"), ("c", None, "c")]);
    assert_eq!(told.eval("--trials-in-responses").code, 0);
    for file in ["results.json", "sums.json"] {
        assert_eq!(plain.read(file), told.read(file), "{file}");
        assert!(!plain.read(file).contains("trial"), "{file}");
    }
}

#[test]
fn repeated_ids_are_trials_only_where_that_is_said() {
    let stage = Stage::new();
    stage.answers(&[("a", None, "a"), ("b", None, "b"), ("a", None, "x")]);
    let ended = stage.eval("");
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let told = "the question `a` has another response; the last one counts";
    assert!(ended.stderr.contains(told), "{}", ended.stderr);
    assert_eq!(stage.results(), json!([["a", null, 0.0], ["b", null, 1.0], ["c", null, null]]));
    let ended = stage.eval("--trials-in-responses");
    assert!(!ended.stderr.contains("another response"), "{}", ended.stderr);
    let wanted = json!([["a", 1, 1.0], ["a", 2, 0.0], ["b", null, 1.0], ["c", null, null]]);
    assert_eq!(stage.results(), wanted);
    let said = [("JUROR_TRIALS_IN_RESPONSES", "1")];
    let line = "eval reference.json responses.jsonl --no-model --json";
    let summary: Value = serde_json::from_str(&stage.run(line, &said).stdout).expect("JSON");
    assert_eq!((&summary["questions"], &summary["answers"]), (&json!(3), &json!(4)));
}

#[test]
fn tables_have_a_column_of_trials_where_there_are_any() {
    let stage = Stage::new();
    stage.answers(&ANSWERS);
    assert_eq!(stage.eval("-o results.tsv").code, 0);
    let table = stage.read("results.tsv");
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(rows[0][..4], ["template_id", "question_id", "trial", "question_text"]);
    let trials: Vec<&str> = rows[1..].iter().map(|row| row[2]).collect();
    assert_eq!(trials, ["1", "2", "10", "1", "2", ""]);
    stage.answers(&[("a", None, "a")]);
    assert_eq!(stage.eval("-o results.tsv").code, 0);
    assert!(!stage.read("results.tsv").contains("trial"));
}

#[test]
fn results_of_several_answers_are_responses_again() {
    let stage = Stage::new();
    stage.answers(&ANSWERS);
    assert_eq!(stage.eval("-o results.jsonl").code, 0);
    let first = stage.read("results.json");
    fs::rename(
        stage.folder.path().join("results.jsonl"),
        stage.folder.path().join("responses.jsonl"),
    )
    .expect("renamed");
    let ended = stage.eval("");
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let trials = |text: &str| -> Vec<Value> {
        let results: Vec<Value> = serde_json::from_str(text).expect("results");
        results
            .iter()
            .map(|own| json!([own["question_id"], own["trial"], own["steps_score"]]))
            .collect()
    };
    assert_eq!(trials(&stage.read("results.json")), trials(&first));
}

#[test]
fn a_check_of_responses_counts_answers_and_questions() {
    let stage = Stage::new();
    stage.answers(&ANSWERS);
    let ended = stage.run("validate reference.json responses.jsonl", &[]);
    assert_eq!(ended.code, 0, "{}{}", ended.stdout, ended.stderr);
    assert!(ended.stdout.contains("5 responses to 2 questions"), "{}", ended.stdout);
    stage.answers(&[("a", Some(1), "a"), ("a", Some(1), "x")]);
    let ended = stage.run("validate responses.jsonl", &[]);
    assert_eq!(ended.code, 2, "{}", ended.stdout);
    let told = "trial 1 of the question `a` has another response; the last one counts";
    assert!(ended.stdout.contains(told), "{}", ended.stdout);
    stage.answers(&[("a", None, "a"), ("a", None, "x")]);
    assert_eq!(stage.run("validate responses.jsonl", &[]).code, 2);
    let ended = stage.run("validate responses.jsonl --trials-in-responses", &[]);
    assert_eq!(ended.code, 0, "{}", ended.stdout);
}

#[test]
fn judges_judge_every_answer_and_equal_ones_once() {
    let stage = Stage::new();
    let server = Server::start(Script::default());
    let address = format!("{}/v1", server.address());
    let variables = [("OPENAI_API_KEY", "sk-x"), ("OPENAI_BASE_URL", address.as_str())];
    stage.answers(&ANSWERS);
    stage.write(
        "juror.yaml",
        "answer_relevance: {enabled: false}\nretrieval_answer: {enabled: false}\n",
    );
    let line = "eval reference.json responses.jsonl -c juror.yaml -o results.json --run run";
    let ended = stage.run(line, &variables);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let results = stage.json("results.json").as_array().expect("results").clone();
    let f1 = |at: usize| results[at]["answer_f1"].as_f64().expect("a score");
    assert_eq!(f1(0), f1(1), "the same answer has the same verdict");
    let asked = server.seen().into_iter().filter(|seen| seen.purpose == "answer_claims");
    assert_eq!(asked.count(), 4, "a twice alike, and three others");
    assert_eq!(server.bought_twice().len(), 0);
    let lines: Vec<Value> = stage
        .read("run/records.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let mut ids: Vec<String> =
        lines.iter().map(|own| format!("{} {}", own["question_id"], own["trial"])).collect();
    ids.sort();
    assert_eq!(ids, ["\"a\" 1", "\"a\" 10", "\"a\" 2", "\"b\" 1", "\"b\" 2", "\"c\" null"]);
    let again = stage.run(&format!("{line} --retry-errors --cache-mode off"), &variables);
    assert_eq!(again.code, 0, "{}", again.stderr);
    assert!(again.stderr.contains("6 questions already judged"), "{}", again.stderr);
}
