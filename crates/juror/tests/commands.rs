//! Whole commands: what they print, what they write, how they end.
//!
//! `INSTA_UPDATE=always cargo test -p juror --test commands` accepts new snapshots.

#![expect(clippy::print_stderr, reason = "tests tell what they skipped")]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use insta::assert_snapshot;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A folder of its own to run commands in.
struct Place {
    folder: TempDir,
}

/// How a command ended.
#[derive(Debug)]
struct Ended {
    code: i32,
    stdout: String,
    stderr: String,
}

impl std::fmt::Display for Ended {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "exit {}\n--- stdout\n{}--- stderr\n{}", self.code, self.stdout, self.stderr)
    }
}

impl Place {
    fn new() -> Place {
        Place { folder: tempfile::tempdir().expect("a temporary folder") }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn file(self, name: &str, content: impl AsRef<[u8]>) -> Place {
        fs::write(self.path(name), content).expect("a temporary file");
        self
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(name)).expect("JSON")
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).expect("the folder");
        let mut names: Vec<String> = entries
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    fn run(&self, line: &str) -> Ended {
        self.run_with(line, b"")
    }

    fn run_with(&self, line: &str, stdin: &[u8]) -> Ended {
        let mut child = Command::new(env!("CARGO_BIN_EXE_juror"))
            .args(line.split_whitespace())
            .current_dir(self.folder.path())
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        // A program that does not read its input closes it.
        let _ = child.stdin.take().expect("a pipe").write_all(stdin);
        let output = child.wait_with_output().expect("the program ends");
        Ended {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

fn sparql(vars: &[&str], rows: &[&[&str]]) -> String {
    let row = |cells: &&[&str]| {
        let cell = |(name, value): (&&str, &&str)| {
            ((*name).to_owned(), json!({"type": "literal", "value": value}))
        };
        Value::Object(vars.iter().zip(*cells).map(cell).collect())
    };
    let bindings: Vec<Value> = rows.iter().map(row).collect();
    json!({"head": {"vars": vars}, "results": {"bindings": bindings}}).to_string()
}

#[expect(clippy::needless_pass_by_value, reason = "callers write json!(…) in place")]
fn question(id: &str, steps: Value) -> Value {
    json!({"id": id, "question_text": format!("What about {id}?"), "reference_steps": steps})
}

fn reference(questions: &[Value]) -> String {
    json!([{"template_id": "t", "questions": questions}]).to_string()
}

/// Two questions, one right and one wrong.
fn small() -> Place {
    let expected = json!([[{"name": "sparql_query", "args": {}, "output": sparql(&["a"], &[&["x"]]),
        "output_media_type": "application/sparql-results+json", "required_columns": ["a"]}]]);
    let step = |output: String| json!([{"name": "sparql_query", "id": "call_1", "status": "success", "output": output}]);
    let right = json!({"question_id": "q1", "actual_steps": step(sparql(&["b"], &[&["x"]])),
        "input_tokens": 10, "output_tokens": 2, "total_tokens": 12, "elapsed_sec": 1.5});
    let wrong = json!({"question_id": "q2", "actual_steps": step(sparql(&["b"], &[&["x"], &["y"]])),
        "input_tokens": 20, "output_tokens": 4, "total_tokens": 24, "elapsed_sec": 2.5});
    Place::new()
        .file(
            "reference.json",
            reference(&[question("q1", expected.clone()), question("q2", expected)]),
        )
        .file("responses.jsonl", format!("{right}\n{wrong}\n"))
}

// ---------- what one asks for, one gets

#[test]
fn eval_prints_a_summary() {
    assert_snapshot!(small().run("eval reference.json responses.jsonl"));
}

#[test]
fn eval_writes_the_documented_shapes() {
    let place = small();
    let ended = place.run(
        "eval reference.json responses.jsonl --profile 6 -q -o out.json -o out.jsonl -o out.yaml \
         -o out.tsv -a agg.json -a agg.yaml -a agg.tsv",
    );
    assert_eq!((ended.code, ended.stdout.as_str(), ended.stderr.as_str()), (0, "", ""));
    let results = place.json("out.json");
    assert_eq!(results[0]["reference_steps"][0][0]["matches"], "call_1");
    let lines: Vec<Value> = place
        .read("out.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).expect("a line of JSON"))
        .collect();
    assert_eq!(json!(lines), results);
    assert_snapshot!("results_yaml", place.read("out.yaml"));
    assert_snapshot!("results_tsv", place.read("out.tsv"));
    assert_snapshot!("aggregates_json", place.read("agg.json"));
    assert_snapshot!("aggregates_yaml", place.read("agg.yaml"));
    assert_snapshot!("aggregates_tsv", place.read("agg.tsv"));
}

/// The example of the project.
fn example() -> Place {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let read = |name: &str| fs::read(examples.join(name)).expect("a file of the example");
    Place::new()
        .file("reference.yaml", read("reference.yaml"))
        .file("responses.jsonl", read("responses.jsonl"))
}

#[test]
fn eval_writes_reports_for_people_and_pipelines() {
    let place = example();
    let ended = place.run(
        "eval reference.yaml responses.jsonl -q --fail-under steps_score=0.4 --max-errors 2% \
         --coverage 0.8 -o report.md -o report.junit.xml",
    );
    assert_eq!((ended.code, ended.stdout.as_str()), (1, ""), "{ended}");
    assert_snapshot!("report_md", place.read("report.md"));
    assert_snapshot!("report_junit", place.read("report.junit.xml"));
    let named = "eval reference.yaml responses.jsonl -q --name pr-412 -o named.md -o named.xml \
                 --junit-threshold elapsed_sec=10";
    assert_eq!(place.run(named).code, 0);
    let (report, junit) = (place.read("named.md"), place.read("named.xml"));
    assert!(report.starts_with("<!-- juror eval: pr-412 -->\n### Evaluation without gates\n"));
    assert!(report.contains("**3 questions** without `elapsed_sec` of at most 10\n"), "{report}");
    let counts = r#"name="pr-412" tests="19" failures="1" errors="2" skipped="0""#;
    assert!(junit.contains(counts), "{junit}");
}

#[test]
fn a_threshold_of_reports_needs_a_metric() {
    let eval = "reference.json responses.jsonl -o report.md --junit-threshold";
    for (name, threshold) in [("unknown", "taste=1"), ("no_number", "steps_score=high")] {
        let ended = refused(&small(), &format!("{eval} {threshold}"));
        assert_snapshot!(format!("junit_threshold_{name}"), ended);
    }
}

/// Three questions with reference answers: one answered, one answered in part, one that failed.
fn answered() -> Place {
    let question = |id: &str, answer: &str| json!({"id": id, "question_text": "Q", "reference_answer": answer});
    let reference = reference(&[
        question("q1", "It is Oslo."),
        question("q2", "In Norway, 5,500,000 people"),
        question("q3", "Oslo"),
    ]);
    let responses = [
        json!({"question_id": "q1", "actual_answer": "It is Oslo"}),
        json!({"question_id": "q2", "actual_answer": "5500000"}),
        json!({"question_id": "q3", "error": "down"}),
    ];
    Place::new().file("reference.json", reference).file("responses.jsonl", lines_of(&responses))
}

#[test]
fn answers_are_compared_word_by_word_if_asked() {
    let place = answered();
    let eval = "eval reference.json responses.jsonl -q";
    assert_eq!(place.run(&format!("{eval} -o plain.json -o plain.tsv")).code, 0);
    assert!(!place.read("plain.tsv").contains("answer_token_f1"));
    assert!(place.json("plain.json")[0].get("answer_token_f1").is_none());
    let files = "-o on.json -o on.tsv -o on.html -a on.yaml -s statistics.json";
    let ended = place.run(&format!("{eval} --answer-overlap {files}"));
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{ended}");
    let results = place.json("on.json");
    assert_eq!(results[0]["answer_exact_match"], 1.0);
    assert_eq!(
        (&results[1]["answer_token_f1"], &results[1]["answer_rouge_l"]),
        (&json!(0.4), &json!(0.0))
    );
    assert_eq!(results[1]["answer_mention_recall"], 0.5);
    assert_eq!(results[1]["answer_mention_recall_reason"], "not mentioned: Norway");
    assert!(results[2].get("answer_exact_match").is_none(), "profile 5 leaves errors out");
    assert!(place.read("on.tsv").starts_with(
        "template_id\tquestion_id\tquestion_text\tstatus\terror\tanswer_recall\t\
         answer_precision\tanswer_f1\tanswer_correctness_cost\tanswer_relevance\t\
         answer_relevance_cost\tanswer_exact_match\tanswer_token_f1\tanswer_rouge_l\t\
         answer_mention_recall\tsteps_score\t"
    ));
    for file in ["on.html", "on.yaml", "statistics.json"] {
        assert!(place.read(file).contains("answer_mention_recall"), "{file}");
    }
    let summary = place.run("eval reference.json responses.jsonl --answer-overlap").stdout;
    assert!(summary.starts_with("profile 5 "), "no other rule has changed: {summary}");
    for title in ["exact match", "token f1", "ROUGE-L", "mentions"] {
        assert!(summary.contains(title), "{summary}");
    }
}

#[test]
fn a_gate_on_overlap_counts_answers_that_did_not_come() {
    let place = answered();
    let gate = "eval reference.json responses.jsonl -q --fail-under answer_mention_recall=0.7";
    let ended = place.run(&format!("{gate} --answer-overlap -o on.jsonl"));
    assert!(ended.code == 1 && ended.stderr.contains("2 of the 3"), "{ended}");
    let again = place.run("aggregate on.jsonl -q --fail-under answer_mention_recall=0.7");
    assert_eq!((again.code, again.stderr), (ended.code, ended.stderr), "results tell the same");
    let ended = place.run(&format!("{gate} --answer-overlap --coverage 0"));
    assert_eq!(ended.code, 0, "{ended}");
    assert_eq!(place.run(gate).code, 1, "a metric that nobody computed meets no gate");
}

#[test]
fn runs_with_and_without_overlap_are_compared_by_what_both_have() {
    let place = answered();
    place.run("eval reference.json responses.jsonl -q --run runs/plain");
    place.run("eval reference.json responses.jsonl -q --run runs/on --answer-overlap");
    place.run("eval reference.json responses.jsonl -q --run runs/two --answer-overlap");
    let ended = place.run("compare runs/plain runs/on");
    assert!(ended.code == 0 && !ended.stderr.contains("rules"), "{ended}");
    let ended = place.run("compare runs/on runs/two");
    assert!(ended.code == 0 && ended.stdout.contains("answer_token_f1"), "{ended}");
}

#[test]
fn eval_prints_json_for_machines() {
    assert_snapshot!(small().run("eval reference.json responses.jsonl --json"));
}

#[test]
fn results_and_aggregates_can_go_to_standard_output() {
    let ended = small().run("eval reference.json responses.jsonl -o -");
    let results: Value = serde_json::from_str(&ended.stdout).expect("only JSON on stdout");
    assert_eq!(results.as_array().map(Vec::len), Some(2));
}

#[test]
fn aggregating_results_gives_what_eval_gave() {
    let place = small();
    place.run("eval reference.json responses.jsonl -o out.jsonl -o out.yaml -a agg.json");
    for results in ["out.jsonl", "out.yaml"] {
        let ended = place.run(&format!("aggregate {results} -a again.json"));
        assert_eq!(ended.code, 0, "{ended}");
        assert_eq!(place.json("again.json"), place.json("agg.json"));
    }
    assert_snapshot!(place.run("aggregate out.jsonl"));
}

#[test]
fn a_gate_that_is_not_met_ends_with_1() {
    let place = small();
    assert_snapshot!(
        place.run("eval reference.json responses.jsonl --fail-under steps_score=0.6 -q")
    );
    assert_eq!(
        place.run("eval reference.json responses.jsonl --fail-under steps_score=0.5 -q").code,
        0
    );
}

/// So many questions with a reference answer and a step, of which the first has a right response.
fn mostly_down(n_questions: usize, others: impl Fn(usize) -> Option<Value>) -> Place {
    let steps = json!([[{"name": "lookup", "args": {}, "output": "x"}]]);
    let questions: Vec<Value> = (0..n_questions)
        .map(|index| {
            let mut question = question(&format!("q{index}"), steps.clone());
            question["reference_answer"] = json!("Oslo");
            question
        })
        .collect();
    let step = json!({"name": "lookup", "id": "1", "status": "success", "output": "x"});
    let right = json!({"question_id": "q0", "actual_answer": "Oslo", "actual_steps": [step]});
    let others = (1..n_questions).filter_map(others);
    let lines: Vec<String> =
        std::iter::once(right).chain(others).map(|response| format!("{response}\n")).collect();
    Place::new()
        .file("reference.json", reference(&questions))
        .file("responses.jsonl", lines.concat())
}

const STEPS_GATE: &str = "eval reference.json responses.jsonl -q --fail-under steps_score=0.9";

#[test]
fn a_gate_is_not_met_when_the_system_is_down() {
    let failed = |index| json!({"question_id": format!("q{index}"), "error": "down"});
    let place = mostly_down(300, |index| (index % 2 == 0).then(|| failed(index)));
    let ended = place.run(STEPS_GATE);
    assert_eq!(ended.code, 1, "{ended}");
    assert_snapshot!(ended);
    let ended = place.run(&format!("{STEPS_GATE} --coverage 0"));
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "the floor can be moved");
    // Profile 6 scores them, by 0.
    let ended = place.run(&format!("{STEPS_GATE} --profile 6"));
    assert!(ended.stderr.contains("steps_score is 0.0033"), "{ended}");
    assert!(!ended.stderr.contains("verdict"), "{ended}");
    assert!(ended.stderr.contains("1 of 300 responses did not fail (0.3 %)"), "{ended}");
    // No mean passes on one survivor, however low it may be.
    let low = STEPS_GATE.replace("0.9", "0.003");
    let ended = place.run(&format!("{low} --profile 6"));
    let few = "only 1 of 300 responses did not fail (0.3 %); a gate needs at least 50 %";
    assert!(ended.code == 1 && ended.stderr.contains(few), "{ended}");
    assert_eq!(place.run(&format!("{low} --profile 6 --coverage 0")).code, 0);
}

#[cfg(unix)]
#[test]
fn an_output_may_be_a_link_or_a_pipe_and_stays_one() {
    use std::os::unix::fs::FileTypeExt;
    let place = mostly_down(2, |_| None).file("far.jsonl", "old");
    std::os::unix::fs::symlink("far.jsonl", place.path("link.jsonl")).expect("a link");
    let made = Command::new("mkfifo").arg(place.path("pipe.jsonl")).status();
    assert!(made.expect("mkfifo runs").success());
    let eval = "eval reference.json responses.jsonl -q -o";
    assert_eq!(place.run(&format!("{eval} link.jsonl")).code, 0);
    assert!(place.path("link.jsonl").is_symlink());
    let piped = std::thread::scope(|scope| {
        let read = scope.spawn(|| place.read("pipe.jsonl"));
        assert_eq!(place.run(&format!("{eval} pipe.jsonl")).code, 0);
        read.join().expect("no panic")
    });
    assert_eq!(piped, place.read("far.jsonl"));
    let kind = place.path("pipe.jsonl").metadata().expect("a pipe").file_type();
    assert!(kind.is_fifo() && piped.contains("q0"), "{piped}");
}

fn result(id: &str, score: &str) -> String {
    format!(
        r#"{{"template_id": "t", "question_id": "{id}", "actual_steps": [], "steps_score": {score}}}"#
    )
}

#[test]
fn scores_that_are_no_numbers_are_told_by_every_reader_of_results() {
    let lines = [result("1", "1.0"), result("2", "\"0.5\""), result("3", "true")];
    let place = Place::new().file("r.jsonl", lines.join("\n"));
    for command in ["aggregate r.jsonl", "compare r.jsonl r.jsonl", "validate r.jsonl"] {
        let ended = place.run(command);
        let told = format!("{}{}", ended.stdout, ended.stderr);
        for (line, what) in [(2, "a text"), (3, "a boolean")] {
            let at = told.lines().find(|own| own.contains(&format!("r.jsonl:{line}:")));
            let wanted = format!("`steps_score` is {what}, not a number");
            assert!(at.is_some_and(|own| own.contains(&wanted)), "{command}: {told}");
        }
    }
}

#[test]
fn responses_in_place_of_results_are_told_once() {
    let place = mostly_down(5, |at| Some(json!({"question_id": format!("q{at}")})));
    for command in ["aggregate responses.jsonl", "compare responses.jsonl responses.jsonl"] {
        let ended = place.run(command);
        assert_eq!(ended.code, 2, "{ended}");
        assert_eq!(ended.stderr.matches("these are responses, not results").count(), 1, "{ended}");
        assert!(!ended.stderr.contains("template_id"), "{ended}");
    }
}

#[test]
fn a_comparison_tells_of_repeated_ids_as_aggregates_do() {
    let lines = [result("1", "1.0"), result("2", "0.5"), result("2", "0.0")];
    let place =
        Place::new().file("dup.jsonl", lines.join("\n")).file("once.jsonl", lines[..2].join("\n"));
    let ended = place.run("compare once.jsonl dup.jsonl");
    assert_eq!(ended.stderr.matches("the id of an earlier one").count(), 1, "{ended}");
    assert!(ended.stderr.contains("dup.jsonl: 1 result has the id of"), "{ended}");
}

#[test]
fn results_with_nan_are_validated_as_results() {
    let lines = [result("1", "NaN"), result("2", "7.5"), result("3", "-1")];
    let place = Place::new().file("nan.jsonl", lines.join("\n"));
    let ended = place.run("validate nan.jsonl");
    assert!(ended.stdout.starts_with("nan.jsonl: 3 results"), "{ended}");
    for score in ["7.5", "-1"] {
        let told = format!("`steps_score` is {score}, outside 0 to 1");
        assert!(ended.stdout.contains(&told), "{ended}");
    }
}

#[test]
fn a_metric_without_a_mean_is_shown_with_the_reason() {
    let failed = |id: &str| format!("{{\"question_id\": \"{id}\", \"status\": \"error\"}}\n");
    let place =
        mostly_down(2, |_| None).file("responses.jsonl", [failed("q0"), failed("q1")].concat());
    let ended =
        place.run("eval reference.json responses.jsonl -o page.html -o page.md -a agg.json");
    let told =
        "steps: 0 of 2 questions have a number; no mean, since all answers failed or are missing";
    assert!(ended.stdout.contains(told), "{ended}");
    assert!(place.read("page.html").contains("all answers failed or are missing"));
    assert!(place.read("page.md").contains("all answers failed or are missing"));
    assert!(!place.read("agg.json").contains("steps_score"), "aggregates are as documented");
}

#[test]
fn numbers_that_are_too_large_to_add_up_are_told() {
    let row =
        |id: &str, n: &str| result(id, "1.0").replace('}', &format!(", \"total_tokens\": {n}}}"));
    let rows = [row("1", "1e308"), row("2", "1e308"), row("3", "7")];
    let place = Place::new().file("large.jsonl", rows.join("\n"));
    let ended = place.run("aggregate large.jsonl");
    let told = "tokens: 3 of 3 questions have a number; no mean, since the numbers are too large to add up";
    assert!(ended.stdout.contains(told), "{ended}");
    let ended = place.run("compare large.jsonl large.jsonl");
    assert!(ended.stdout.contains("total_tokens"), "{ended}");
    assert!(ended.stdout.contains("the numbers are too large to add up"), "{ended}");
}

#[test]
fn a_plan_of_one_template_says_what_it_assumes() {
    let lines: Vec<String> = ["0.0", "1.0", "0.5", "1.0"]
        .iter()
        .enumerate()
        .map(|(at, score)| result(&at.to_string(), score))
        .collect();
    let place = Place::new().file("r.jsonl", lines.join("\n"));
    let ended = place.run("plan r.jsonl --detect 0.1");
    assert!(
        ended.stdout.contains("one template does not tell how far templates differ"),
        "{ended}"
    );
    assert!(ended.stdout.contains("of this template alone"), "{ended}");
    assert!(!ended.stdout.contains("questions are independent"), "{ended}");
}

#[test]
fn a_gate_asks_for_verdicts_on_95_of_100_questions() {
    let step = json!({"name": "lookup", "id": "1", "status": "success", "output": "x"});
    for (n_missing, code) in [(5, 0), (6, 1)] {
        let place = mostly_down(100, |index| {
            let right = json!({"question_id": format!("q{index}"), "actual_steps": [step]});
            (index > n_missing).then_some(right)
        });
        assert_eq!(place.run(STEPS_GATE).code, code, "{n_missing} are missing");
    }
}

#[test]
fn the_floor_of_coverage_is_a_setting() {
    let place = mostly_down(4, |_| None)
        .file("low.yaml", "coverage: 25%\n")
        .file("high.yaml", "coverage: 0.26\n")
        .file("bad.yaml", "coverage: 95\n");
    assert_eq!(place.run(&format!("{STEPS_GATE} -c low.yaml")).code, 0);
    let ended = place.run(&format!("{STEPS_GATE} -c high.yaml"));
    assert!(ended.code == 1 && ended.stderr.contains("at least 26 % was asked"), "{ended}");
    let ended = place.run(&format!("{STEPS_GATE} -c bad.yaml"));
    assert!(ended.code == 2 && ended.stderr.contains("bad.yaml:1:11"), "{ended}");
}

#[test]
fn questions_without_expected_steps_are_none_that_steps_score_applies_to() {
    let place = mostly_down(1, |_| None);
    let questions = [
        question("q0", json!([[{"name": "lookup", "args": {}, "output": "x"}]])),
        json!({"id": "q1", "question_text": "?"}),
        json!({"id": "q2", "question_text": "?", "reference_steps": []}),
    ];
    let place = place.file("reference.json", reference(&questions));
    assert_eq!(place.run(STEPS_GATE).code, 0);
}

#[test]
fn a_response_without_steps_counts_against_coverage() {
    let place = mostly_down(2, |_| Some(json!({"question_id": "q1", "actual_answer": "Oslo"})));
    let ended = place.run(STEPS_GATE);
    assert!(ended.code == 1 && ended.stderr.contains("for 1 of the 2 questions"), "{ended}");
}

#[test]
fn too_many_errors_are_a_gate_of_their_own() {
    let place = mostly_down(100, |index| {
        (index > 3).then(|| json!({"question_id": format!("q{index}"), "actual_steps": []}))
    });
    let eval = "eval reference.json responses.jsonl -q --max-errors";
    for (limit, code) in [("3", 0), ("2", 1), ("3%", 0), ("2.9%", 1), ("0", 1)] {
        assert_eq!(place.run(&format!("{eval} {limit}")).code, code, "{limit}");
    }
    assert_snapshot!(place.run(&format!("{eval} 2%")));
    assert_eq!(place.run(&format!("{eval} many")).code, 2);
}

#[test]
fn results_written_earlier_meet_the_same_gates() {
    let place = mostly_down(10, |_| None);
    place.run("eval reference.json responses.jsonl -q -o out.jsonl");
    let ended = place.run("aggregate out.jsonl -q --fail-under steps_score=0.9 --max-errors 10%");
    assert_snapshot!(ended);
    assert_eq!(place.run("aggregate out.jsonl -q --fail-under steps_score=1 --coverage 0").code, 0);
}

#[test]
fn the_demo_needs_nothing() {
    let place = Place::new();
    assert_snapshot!(place.run("demo"));
    let written = place.run("demo --write example");
    assert_snapshot!("demo_write", written);
    // The command it prints judges the files as the demo does, without a key too.
    let command = written.stderr.lines().find_map(|line| line.trim().strip_prefix("juror "));
    let judged = place.run(&format!("{} --worst 99", command.expect("a command")));
    assert_eq!((judged.code, judged.stderr.as_str()), (0, ""));
    assert_eq!(judged.stdout, place.run("demo").stdout);
    assert_snapshot!("demo_write_twice", place.run("demo --write example"));
    fs::remove_file(place.path("example/graph.ttl")).expect("removed");
    fs::write(place.path("example/juror.yaml"), "profile: 5\n").expect("written");
    assert_snapshot!("demo_write_over_changes", place.run("demo --write example"));
    assert!(!place.path("example/graph.ttl").exists(), "nothing is written");
    assert_eq!(place.read("example/juror.yaml"), "profile: 5\n");
}

#[test]
fn variables_that_are_empty_are_not_set_and_those_that_are_wrong_are_named() {
    let place = Place::new();
    let said = |variables: &[(&str, &str)], words: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_juror"))
            .args(["eval", "none.yaml", "none.jsonl"])
            .args(words)
            .current_dir(place.path("."))
            .env_clear()
            .envs(variables.iter().copied())
            .output()
            .expect("the program starts");
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let empty = said(&[("JUROR_PROFILE", ""), ("JUROR_JOBS", ""), ("JUROR_LIMIT", "")], &[]);
    assert!(empty.contains("cannot read"), "{empty}");
    let wrong = said(&[("JUROR_JOBS", "many")], &[]);
    assert!(wrong.contains("'many' for '--jobs"), "{wrong}");
    assert!(wrong.contains("tip: the value is that of JUROR_JOBS"), "{wrong}");
    let typed = said(&[("JUROR_JOBS", "2")], &["--jobs", "many"]);
    assert!(!typed.contains("JUROR_JOBS"), "{typed}");
}

#[test]
fn the_demo_tries_an_agent() {
    let place = Place::new();
    let output = Command::new(env!("CARGO_BIN_EXE_juror"))
        .args(["demo", "--bench"])
        .current_dir(place.path("."))
        .env_clear()
        // What the environment says of options, models and proxies does not matter to it.
        .envs([("JUROR_JUDGE", "model"), ("JUROR_CONFIG", "none.yaml"), ("JUROR_JOBS", "9")])
        .env("HTTP_PROXY", "http://127.0.0.1:1")
        .env("OPENAI_API_KEY", "sk-none")
        .env("TMPDIR", place.path(""))
        .output()
        .expect("the program starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let code = output.status.code().unwrap_or(-1);
    // What the agent says comes when it comes.
    let stderr = text(&output.stderr);
    let (of_agent, said): (Vec<&str>, Vec<&str>) =
        stderr.split_inclusive('\n').partition(|line| line.starts_with("error:"));
    assert!(of_agent.concat().starts_with("error: the scripted agent needs"), "{of_agent:?}");
    let ended = Ended { code, stdout: text(&output.stdout), stderr: said.concat() };
    insta::with_settings!({filters => vec![
        (r"\S+/juror-demo-\d+-0", "<folder>"), (r"command:\S+ demo", "command:<juror> demo"),
        (r" +\d+\.\d+ ±\d+\.\d+ s\n", " <time>\n"), (r" +time\n", " time\n"),
        (r"\d+\.\d\d s", "<time>"), (r"exit (status|code): \d", "exit status: <code>"),
    ]}, { assert_snapshot!(ended) });
    let [folder] = &place.names()[..] else { panic!("one folder, not {:?}", place.names()) };
    let results = place.json(&format!("{folder}/results.json"));
    assert_eq!(results["metadata"]["config"]["evaluation_method"], "heuristic");
    assert_eq!(results["juror"]["tool_replies"], json!({"cache": 4, "none": 2}));
    let answer = &results["results"][0]["system_answer"]["final_answer"];
    assert!(answer.to_string().contains("11.5 degrees and overcast"), "from a reply: {answer}");
}

#[test]
fn the_files_of_the_demo_of_agents_can_be_had() {
    let place = Place::new();
    assert_snapshot!("demo_bench_write", place.run("demo --bench --write files"));
    assert!(place.path("files/tools/Weather/garden_weather.json").exists());
    let twice = place.run("demo --bench --write files");
    assert!(twice.code == 0 && twice.stderr.contains("files has these files already"), "{twice}");
    fs::write(place.path("files/queries.json"), "[]").expect("written");
    let other = place.run("demo --bench --write files");
    assert!(other.code == 2 && other.stderr.contains("it is there already, with"), "{other}");
    let json = place.run("demo --bench --json");
    assert!(json.code == 2 && json.stderr.contains("prints no JSON"), "{json}");
}

#[test]
fn a_dump_without_responses_is_refused() {
    let place = small()
        .file("by_id.json", r#"{"q1": {"answer": "x", "trace": []}, "q2": {"answer": "y"}}"#)
        .file("list.json", r#"[{"id": "q1", "actual_answer": "x"}, {"id": "q2"}]"#)
        .file("numbers.json", r#"{"q1": 1, "q2": 2}"#)
        .file("lines.jsonl", "{\"run\": 1}\n{\"run\": 2}\n");
    for name in ["by_id.json", "list.json", "numbers.json", "lines.jsonl"] {
        let ended = refused(&place, &format!("reference.json {name}"));
        assert_eq!(ended.code, 2, "{ended}");
        assert!(ended.stderr.contains("no response in any known form"), "{ended}");
    }
    assert_snapshot!(refused(&place, "reference.json by_id.json"));
    // Nothing, and responses that say nothing, are told question by question.
    for (name, text) in [
        ("none.json", "{}"),
        ("none.jsonl", ""),
        ("empty.json", r#"{"q1": {}, "q2": {}}"#),
        ("null.json", r#"{"q1": {"actual_answer": null, "mine": 1}}"#),
        ("one.json", r#"{"q1": {"actual_answer": "x"}, "settings": {"mine": 1}}"#),
    ] {
        let place = small().file(name, text);
        let ended = place.run(&format!("eval reference.json {name}"));
        assert_eq!(ended.code, 0, "{name}: {ended}");
    }
}

#[test]
fn misspelt_keys_are_told_once_with_what_was_meant() {
    let expected = json!([[{"name": "lookup", "output": "x", "ignore_dupicates": false}]]);
    let questions: Vec<Value> = (0..200)
        .map(|index| {
            let mut question = question(&format!("q{index}"), expected.clone());
            question["refrence_answer"] = json!("x");
            question["difficulty"] = json!("mine");
            question
        })
        .collect();
    let step = json!({"name": "lookup", "id": "1", "status": "success", "output": "x",
        "arguments": {}, "cost_center": 7});
    let lines: Vec<String> = (0..200)
        .map(|index| {
            json!({"question_id": format!("q{index}"), "answer": "x", "actual_steps": [step],
                "total_tokens": "12", "model": "mine"})
            .to_string()
        })
        .collect();
    let place = Place::new()
        .file("reference.json", reference(&questions))
        .file("responses.jsonl", lines.join("\n"));
    let ended = place.run("eval reference.json responses.jsonl --no-model");
    assert_eq!(ended.code, 0);
    assert_snapshot!("misspelt_keys_eval", ended.stderr);
    let ended = place.run("validate reference.json responses.jsonl");
    assert_eq!(ended.code, 2);
    assert_snapshot!("misspelt_keys_validate", ended);
}

#[test]
fn keys_of_ones_own_are_no_mistake() {
    let place = small();
    let with_own = place.read("reference.json").replace("\"id\":", "\"mine\":1,\"id\":");
    let place = place.file("reference.json", with_own);
    let ended = place.run("eval reference.json responses.jsonl -q");
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    let ended = place.run("validate reference.json responses.jsonl");
    assert!(ended.code == 0 && ended.stdout.contains("note: "), "{ended}");
}

#[test]
fn validate_refuses_what_cannot_score() {
    let step = |name: &str, media: Option<&str>, output: Value| {
        let mut step = json!({"name": name, "args": {}, "output": output});
        if let Some(media) = media {
            step["output_media_type"] = json!(media);
        }
        json!([[step]])
    };
    let sparql_json = "application/sparql-results+json";
    let documents = |ids: &[Value]| {
        let one = |id: &Value| json!({"id": id, "text": "x"});
        json!(json!(ids.iter().map(one).collect::<Vec<_>>()).to_string())
    };
    let questions = [
        question("json", step("api", Some("application/json"), json!("{not json"))),
        question("sparql", step("sparql_query", Some(sparql_json), json!("DESCRIBE"))),
        question("xml", step("q", Some("application/sparql-results+xml"), json!("{}"))),
        question("no_ids", step("retrieval", None, json!("[{\"text\": \"x\"}]"))),
        question("no_id", step("retrieval", None, documents(&[json!(1), Value::Null]))),
        question("no_documents", step("retrieval", None, json!("[]"))),
        question("no_list", step("retrieval", None, json!("x"))),
        question("no_output", json!([[{"name": "lookup"}]])),
        question("no_steps", json!([[]])),
        question("well", step("retrieval", None, documents(&[json!(1), json!("a")]))),
        question("well_too", step("api", Some("application/json"), json!({"a": 1}))),
    ];
    let place = Place::new().file("reference.json", reference(&questions));
    let ended = place.run("validate reference.json");
    assert_eq!(ended.code, 2);
    assert_snapshot!(ended);
}

#[test]
fn validate_compares_the_ids_of_both_files() {
    let place = small();
    let others: Vec<String> =
        (0..50).map(|id| json!({"question_id": id, "actual_answer": "x"}).to_string()).collect();
    let place = place.file("others.jsonl", others.join("\n"));
    let ended = place.run("validate reference.json others.jsonl");
    assert_eq!(ended.code, 2);
    assert_snapshot!("other_ids_validate", ended);
    // In an evaluation too, one mistake that was made fifty times is told in a few lines.
    let ended = place.run("eval reference.json others.jsonl");
    assert_snapshot!("other_ids_eval", ended.stderr);
}

#[test]
fn results_of_agents_filters_and_runs_are_validated_too() {
    let result = json!({"query_id": 1, "query": "?", "system_answer": {"final_answer": "x"}});
    let place = small()
        .file("agents.json", json!({"metadata": {}, "results": [result, 7]}).to_string())
        .file("list.json", r#"[1, "2", 3]"#)
        .file("public.json", r#"{"12": 0, "13": 1}"#);
    place.run("eval reference.json responses.jsonl -q --run begun");
    place.run("eval reference.json responses.jsonl -q --run broken");
    fs::write(place.path("broken/records.jsonl"), "{\"question_id\": 1}\n").expect("a file");
    let ended = place.run("validate agents.json list.json public.json begun broken");
    assert_eq!(ended.code, 2);
    assert_snapshot!(ended);
}

#[test]
fn validate_and_the_commands_agree_on_what_files_are() {
    let result = json!({"query_id": 1, "system_answer": {"final_answer": "x"}});
    let place = small()
        .file("agents.json", json!([result]).to_string())
        .file("agents.jsonl", format!("{result}\n{result}\n"))
        .file("none.json", "[]")
        .file("texts.json", r#"{"norway": "Oslo"}"#)
        .file("numbers.json", "[1, 2, 3]")
        .file("queries.json", json!([{"query_id": 7, "api_list": []}]).to_string())
        .file("twice.json", r#"{"profile": 5, "profile": 6}"#);
    let said = |line: &str, code: i32, words: &str| {
        let ended = place.run(line);
        assert_eq!(ended.code, code, "{line}: {ended}");
        assert!(ended.stdout.contains(words) || ended.stderr.contains(words), "{line}: {ended}");
    };
    said("validate agents.json agents.jsonl", 0, "1 result of agents: ok");
    said("validate agents.jsonl", 0, "2 results of agents: ok");
    said("judge pass-rate agents.jsonl --no-model", 2, "there is no model to judge with");
    said("judge pass-rate agents.json --no-model", 2, "there is no model to judge with");
    said("validate none.json", 0, "0 responses: ok");
    let texts = "no response in any known form: the first record is a text";
    said("eval reference.json texts.json", 2, texts);
    said("validate texts.json", 2, texts);
    said("validate reference.json numbers.json", 2, "the first record is a number");
    said("validate numbers.json", 0, "3 ids: ok");
    said("validate queries.json", 2, "no `query`");
    said("validate twice.json", 2, "`profile` is used twice");
    let cache = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/tool_cache");
    said(&format!("validate {cache}"), 0, "known replies of");
}

#[test]
fn validate_tells_what_files_are() {
    let place = small().file("juror.yaml", "profile: 6\n").file("odd.json", "[[1]]");
    place.run("eval reference.json responses.jsonl -q -o out.json");
    assert_snapshot!(
        place.run("validate reference.json responses.jsonl out.json juror.yaml odd.json none.json")
    );
    assert_snapshot!("validate_json", place.run("validate reference.json odd.json --json"));
}

#[test]
fn help_teaches() {
    let place = Place::new();
    assert_snapshot!("help", place.run("--help"));
    let commands = [
        "eval",
        "ask",
        "compare",
        "aggregate",
        "answer-correctness",
        "validate",
        "reference",
        "reference new",
        "reference check",
        "reference refresh",
        "reference lint",
        "bench",
        "convert",
        "import",
        "judge",
        "judge pass-rate",
        "judge preference",
        "judge final-answer",
        "label",
        "calibrate",
        "plan",
        "export",
        "runs",
        "runs show",
        "runs prune",
        "serve",
        "health",
        "mcp",
        "tools",
        "demo",
        "cache",
        "store",
        "store copy",
        "schema",
        "completions",
    ];
    for command in commands {
        let name = command.replace(' ', "_");
        assert_snapshot!(format!("help_{name}"), place.run(&format!("{command} --help")));
    }
    assert_eq!(place.run("--version").stdout, concat!("juror ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn shells_get_completions_and_editors_a_schema() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish"] {
        let ended = place.run(&format!("completions {shell}"));
        assert!(ended.code == 0 && ended.stdout.contains("juror"), "{ended}");
    }
    let schema: Value = serde_json::from_str(&place.run("schema").stdout).expect("JSON");
    assert!(schema["properties"]["steps"].is_object());
    assert_eq!(place.run("schema settings").stdout, place.run("schema").stdout);
    let schema: Value = serde_json::from_str(&place.run("schema run").stdout).expect("JSON");
    assert_eq!(schema["title"], "juror.run/1");
}

#[test]
fn files_may_be_compressed_or_piped() {
    let place = small();
    let plain = place.run("eval reference.json responses.jsonl").stdout;
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(place.read("reference.json").as_bytes()).expect("memory");
    let place = small().file("reference.json.gz", gz.finish().expect("memory")).file(
        "responses.jsonl.zst",
        zstd::encode_all(place.read("responses.jsonl").as_bytes(), 1).expect("memory"),
    );
    let ended = place.run("eval reference.json.gz responses.jsonl.zst");
    assert_eq!(ended.stdout, plain, "{ended}");
    let lines = lines_of(place.json("reference.json").as_array().expect("templates"));
    let piped = place.run_with("eval - responses.jsonl", lines.as_bytes());
    assert_eq!(piped.stdout, plain, "{piped}");
    let piped = place.run_with("eval reference.json -", place.read("responses.jsonl").as_bytes());
    assert_eq!(piped.stdout, plain, "{piped}");
}

#[test]
fn responses_come_in_three_shapes() {
    let place = small();
    let lines: Vec<Value> = place
        .read("responses.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let by_id: Value = lines
        .iter()
        .map(|line| (line["question_id"].as_str().expect("an id").to_owned(), line.clone()))
        .collect::<serde_json::Map<_, _>>()
        .into();
    let place = place
        .file("list.json", json!(lines).to_string())
        .file("by_id.json", by_id.to_string())
        .file("lines.json", lines_of(&lines));
    let plain = place.run("eval reference.json responses.jsonl").stdout;
    for shape in ["list.json", "by_id.json", "lines.json"] {
        assert_eq!(place.run(&format!("eval reference.json {shape}")).stdout, plain, "{shape}");
    }
}

fn lines_of(lines: &[Value]) -> String {
    lines.iter().flat_map(|line| [line.to_string(), "\n".into()]).collect()
}

#[test]
fn references_come_in_three_formats() {
    let place = small();
    let plain = place.run("eval reference.json responses.jsonl").stdout;
    let templates = place.json("reference.json");
    let template = &templates[0];
    let mut lines: Vec<Value> = template["questions"].as_array().expect("questions").clone();
    for line in &mut lines {
        line["template_id"] = template["template_id"].clone();
    }
    let place = place
        .file("templates.jsonl", format!("{template}\n"))
        .file("questions.jsonl", lines_of(&lines))
        .file("reference.yaml", templates.to_string());
    for reference in ["templates.jsonl", "questions.jsonl", "reference.yaml"] {
        let ended = place.run(&format!("eval {reference} responses.jsonl"));
        assert_eq!(ended.stdout, plain, "{reference}: {ended}");
    }
}

#[test]
fn results_in_xml_csv_and_tsv_are_read_when_the_media_type_says_so() {
    let xml = "<sparql xmlns='http://www.w3.org/2005/sparql-results#'><head><variable name='a'/></head>\
               <results><result><binding name='a'><uri>urn:x</uri></binding></result></results></sparql>";
    let step = |media_type: &str, output: &str| json!([[{"name": "q", "output": output, "output_media_type": media_type, "required_columns": ["a"]}]]);
    let questions = [
        question("xml", step("application/sparql-results+xml", xml)),
        question("csv", step("text/csv", "a,b\r\nurn:x,1\r\n")),
        question("tsv", step("text/tab-separated-values", "?a\n<urn:x>\n")),
    ];
    let response = |id: &str, output: &str| {
        json!({"question_id": id, "actual_steps": [
            {"name": "q", "id": "1", "status": "success", "output": output}]})
    };
    let responses = [
        response(
            "xml",
            r#"{"head": {"vars": ["z"]}, "results": {"bindings": [{"z": {"type": "uri", "value": "urn:x"}}]}}"#,
        ),
        response("csv", "z\nurn:x\n"),
        response("tsv", "?n\t?z\n5\t<urn:x>\n"),
    ];
    let place =
        Place::new().file("r.json", reference(&questions)).file("a.jsonl", lines_of(&responses));
    let ended = place.run("eval r.json a.jsonl -q -o out.json");
    assert_eq!(ended.code, 0, "{ended}");
    for result in place.json("out.json").as_array().expect("results") {
        assert_eq!(result["steps_score"], 1.0, "{result}");
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bytes() {
    let expected = json!([[{"name": "s", "output": "right"}]]);
    let questions: Vec<Value> =
        (0..100).map(|at| question(&format!("q{at}"), expected.clone())).collect();
    let responses: Vec<Value> = (0..100)
        .rev()
        .map(|at| {
            let output = if at % 3 == 0 { "wrong" } else { "right" };
            json!({"question_id": format!("q{at}"), "elapsed_sec": 0.1 * f64::from(at), "actual_steps": [
                {"name": "s", "id": at, "status": "success", "output": output}]})
        })
        .collect();
    let place =
        Place::new().file("r.json", reference(&questions)).file("a.jsonl", lines_of(&responses));
    place.run("eval r.json a.jsonl -q -j 1 -o one.json -a one_agg.json -o one.md -o one.xml");
    for jobs in [2, 3, 7] {
        let ended = place.run(&format!(
            "eval r.json a.jsonl -q -j {jobs} -o many.json -a many_agg.json -o many.md -o many.xml"
        ));
        assert_eq!(ended.code, 0, "{ended}");
        assert_eq!(place.read("many.md"), place.read("one.md"));
        assert_eq!(place.read("many.xml"), place.read("one.xml"));
        assert_eq!(place.read("many.json"), place.read("one.json"));
        assert_eq!(place.read("many_agg.json"), place.read("one_agg.json"));
    }
}

#[test]
fn the_documents_examples_are_read_unchanged() {
    let document =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/spec/qa-evaluation.md");
    let Ok(document) = fs::read_to_string(document) else {
        eprintln!("the document is not here: skipped");
        return;
    };
    let blocks = |language: &str| -> Vec<String> {
        let start = format!("```{language}\n");
        let blocks = document.split(&start).skip(1).filter_map(|rest| rest.split("\n```").next());
        blocks.map(str::to_owned).collect()
    };
    let place = Place::new().file("reference.yaml", &blocks("yaml")[0]);
    assert_eq!(blocks("json").len(), 2);
    for response in blocks("json") {
        let place = Place::new().file("response.json", response);
        assert_snapshot!("document_response", place.run("validate response.json"));
    }
    assert_snapshot!("document_reference", place.run("validate reference.yaml"));
}

// ---------- wrong questions: a located error, exit 2, nothing written

/// Runs with outputs asked for, and checks that none was begun.
fn refused(place: &Place, inputs: &str) -> Ended {
    let before = place.names();
    let ended = place.run(&format!("eval {inputs} -o out.json -a agg.json"));
    assert_eq!(ended.code, 2, "{ended}");
    assert_eq!(place.names(), before, "nothing is written");
    ended
}

#[test]
fn a_missing_or_unreadable_reference_is_refused() {
    let place = small();
    fs::create_dir(place.path("folder.json")).expect("a folder");
    assert_snapshot!("missing_reference", refused(&place, "nowhere.yaml responses.jsonl"));
    assert_snapshot!("folder_as_reference", refused(&place, "folder.json responses.jsonl"));
}

#[test]
fn a_mistyped_reference_is_refused_with_every_problem() {
    let json = r#"[
  {"template_id": "t", "questions": [
    {"id": "q1", "question_text": "Q", "reference_steps": [{"name": "s"}]},
    {"id": "q2"},
    {"question_text": "no id", "reference_steps": [[{"output": "x"}, "step"]]},
    {"id": "q3", "question_text": "Q", "reference_steps": [[
      {"name": "s", "output": "x", "ordered": "yes", "required_columns": "a", "ignore_duplicates": 1}]]}
  ]},
  {"questions": 5},
  "template"
]"#;
    let yaml = "- template_id: t\n  questions:\n  - id: q1\n    question_text: Q\n    reference_steps:\n    - name: s\n  - question_text: no id\n- template_id: [1]\n";
    let lines = "{\"template_id\": \"t\", \"id\": \"q1\"}\n\n{\"template_id\": \"t\", \"questions\": {}}\nnonsense\n";
    let place = small().file("bad.json", json).file("bad.yaml", yaml).file("bad.jsonl", lines);
    assert_snapshot!("mistyped_json", refused(&place, "bad.json responses.jsonl"));
    assert_snapshot!("mistyped_yaml", refused(&place, "bad.yaml responses.jsonl"));
    assert_snapshot!("mistyped_jsonl", refused(&place, "bad.jsonl responses.jsonl"));
}

#[test]
fn broken_syntax_is_located() {
    let place = small()
        .file("cut.json", "[{\"template_id\": \"t\",\n  \"questions\": [{\"id\": \"q\"")
        .file("bad.yaml", "- template_id: t\n  questions: [1, 2\n  more: 3\n")
        .file("tabs.yaml", "- template_id: t\n\tquestions: []\n")
        .file("responses.json", "{\"q1\": {\"question_id\": \"q1\"},\n \"q2\": }");
    assert_snapshot!("cut_off_json", refused(&place, "cut.json responses.jsonl"));
    assert_snapshot!("broken_yaml", refused(&place, "bad.yaml responses.jsonl"));
    assert_snapshot!("tabs_in_yaml", refused(&place, "tabs.yaml responses.jsonl"));
    assert_snapshot!("broken_responses", refused(&place, "reference.json responses.json"));
}

#[test]
fn duplicate_ids_are_refused() {
    let questions =
        [question("q1", json!([])), question("q2", json!([])), question("q1", json!([]))];
    let place = small().file("twice.json", reference(&questions));
    assert_snapshot!(refused(&place, "twice.json responses.jsonl"));
}

#[test]
fn a_required_column_the_reference_lacks_is_refused() {
    let steps = json!([[{"name": "sparql_query", "output": sparql(&["iri", "name"], &[&["x", "y"]]),
        "output_media_type": "application/sparql-results+json", "required_columns": ["iri", "nme"]}]]);
    let json = reference(&[question("q1", steps)]);
    let place = small().file("bad.yaml", serde_json_to_yaml(&json)).file("bad.json", json);
    assert_snapshot!("unknown_column_json", refused(&place, "bad.json responses.jsonl"));
    assert_snapshot!("unknown_column_yaml", refused(&place, "bad.yaml responses.jsonl"));
}

/// The YAML a person would have written: one item or field a line.
fn serde_json_to_yaml(json: &str) -> String {
    let value: Value = serde_json::from_str(json).expect("JSON");
    let step = &value[0]["questions"][0]["reference_steps"][0][0];
    format!(
        "- template_id: t\n  questions:\n  - id: q1\n    question_text: Q\n    reference_steps:\n    \
         - - name: sparql_query\n        output: '{}'\n        output_media_type: {}\n        \
         required_columns:\n        - iri\n        - nme\n",
        step["output"].as_str().expect("text"),
        step["output_media_type"].as_str().expect("text"),
    )
}

#[test]
fn unknown_settings_are_refused() {
    let place = small()
        .file("unknown.yaml", "profile: 5\nsteps:\n  scorng: last_group\nfoo: 1\n")
        .file("ill_typed.yaml", "steps:\n  scoring: [last_group]\n")
        .file("no_profile.yaml", "profile: 4\n");
    for name in ["unknown", "ill_typed", "no_profile"] {
        let ended = refused(&place, &format!("reference.json responses.jsonl -c {name}.yaml"));
        assert_snapshot!(format!("settings_{name}"), ended);
    }
}

#[test]
fn settings_that_the_library_refuses_are_refused() {
    let model = "llm:\n  generation: {provider: openai, model: m, api_key: k, ";
    let place = small()
        .file(
            "values.yaml",
            format!("{model}temperature: 2.1, max_tokens: 0}}\ncustom_evaluations: []\n"),
        )
        .file(
            "relevance.yaml",
            format!("{model}temperature: 0}}\nanswer_relevance: {{enabled: true}}\n"),
        )
        .file("no_model.yaml", "answer_relevance: {enabled: true}\n");
    for name in ["values", "relevance", "no_model"] {
        let ended = refused(&place, &format!("reference.json responses.jsonl -c {name}.yaml"));
        assert_snapshot!(format!("settings_{name}"), ended);
    }
    let ended = place.run("eval reference.json responses.jsonl -c no_model.yaml --no-model -q");
    assert_eq!(ended.code, 0, "{ended}");
}

#[test]
fn an_output_that_cannot_be_written_is_refused() {
    let place = small();
    fs::create_dir(place.path("folder.json")).expect("a folder");
    for (name, output) in
        [("no_folder", "none/out.json"), ("folder", "folder.json"), ("no_format", "out.txt")]
    {
        let ended = refused(&place, &format!("reference.json responses.jsonl -o {output}"));
        assert_snapshot!(format!("output_{name}"), ended);
    }
}

#[test]
fn wrong_arguments_are_refused() {
    let place = small();
    assert_snapshot!("stdin_twice", refused(&place, "- -"));
    assert_snapshot!(
        "bad_gate",
        refused(&place, "reference.json responses.jsonl --fail-under stps=1")
    );
    assert_snapshot!("bad_option", refused(&place, "reference.json responses.jsonl --profil 6"));
    assert_eq!(place.run("").code, 2);
}

#[test]
fn a_file_that_is_read_as_yaml_by_its_look_says_so() {
    let place = small().file("log.txt", "12:03 INFO: begun: now\n12:04 INFO: done\n");
    let said = refused(&place, "reference.json log.txt").stderr;
    assert!(
        said.contains("log.txt:1:18: not valid YAML: mapping values are not allowed"),
        "{said}"
    );
    assert!(said.contains("hint: text that does not look like JSON is read as YAML"), "{said}");
}

#[test]
fn numbers_of_options_are_asked_for_in_plain_words() {
    let place = small();
    for (option, words) in [
        (
            "--concurrency 0",
            "invalid value '0' for '--concurrency <N>': expected a whole number, 1 or more",
        ),
        ("--jobs few", "expected a whole number, 1 or more"),
        ("--jobs 99999999999999999999999", "the number is too large"),
        ("--timeout 1e30", "expected a number of seconds from 0.001 to 86400"),
        ("--max-cost 0", "expected an amount above 0"),
    ] {
        let said = refused(&place, &format!("reference.json responses.jsonl {option}"));
        assert!(said.stderr.contains(words), "{said}");
    }
}

#[test]
fn outputs_that_meet_an_input_or_each_other_are_refused() {
    let place = small();
    let before = place.read("responses.jsonl");
    for (name, line) in [
        ("over_input", "eval reference.json responses.jsonl -o ./responses.jsonl"),
        ("same_file", "eval reference.json responses.jsonl -o x.json -a x.json"),
        ("stdout_twice", "eval reference.json responses.jsonl -o - --json"),
        ("aggregate_over_input", "aggregate reference.json -a reference.json"),
    ] {
        let ended = place.run(line);
        assert_eq!(ended.code, 2, "{ended}");
        assert_snapshot!(format!("output_{name}"), ended);
    }
    assert_eq!(place.read("responses.jsonl"), before);
}

#[test]
fn the_wrong_file_is_recognised() {
    let place = small()
        .file("empty.json", "")
        .file("none.jsonl", "")
        .file("log.jsonl", "not json\n".repeat(20_000))
        .file("cut.jsonl", "{\"question_id\": \n".repeat(20_000));
    assert_snapshot!("swapped_arguments", refused(&place, "responses.jsonl reference.json"));
    assert_snapshot!("empty_responses", refused(&place, "reference.json empty.json"));
    assert_snapshot!("no_responses", place.run("eval reference.json none.jsonl --worst 0"));
    assert_snapshot!("reference_as_results", place.run("aggregate reference.json"));
    let log = refused(&place, "reference.json log.jsonl");
    assert!(log.stderr.contains("log.jsonl:1:1: no response in any known form"), "{log}");
    let cut = place.run("eval reference.json cut.jsonl --worst 0");
    assert!(cut.code == 0 && cut.stderr.contains("and 19997 more like these"), "{cut}");
}

#[test]
fn numbers_that_json_does_not_know_are_read_as_texts() {
    let record = "{\"question_id\": \"q1\", \"elapsed_sec\": NaN, \"input_tokens\": -Infinity}";
    let place = small()
        .file("nan.json", format!("[{record}]"))
        .file("nan.jsonl", format!("{record}\n"))
        .file("nan.yaml", "- {question_id: q1, elapsed_sec: .nan, input_tokens: -.inf}\n");
    assert_snapshot!(place.run("eval reference.json nan.json --worst 0"));
    for file in ["nan.json", "nan.jsonl", "nan.yaml"] {
        let done = place.run(&format!("eval reference.json {file} --worst 0 -o results.json"));
        assert!(done.code == 0 && done.stderr.matches("warning").count() == 1, "{done}");
        let results = place.json("results.json");
        assert_eq!(results[0]["elapsed_sec"], "NaN", "{file}");
        assert_eq!(results[0]["input_tokens"], "-Infinity", "{file}");
    }
    // Results that somebody else wrote: the one before such a word counts once.
    let result = |seconds: &str| {
        format!("{{\"template_id\": \"t\", \"question_id\": \"q\", \"elapsed_sec\": {seconds}}}")
    };
    let place = place.file("old.json", format!("[{}, {}]", result("2"), result("NaN")));
    let done = place.run("aggregate old.json -a aggregates.json");
    assert!(done.code == 0 && done.stderr.contains("`NaN` is read as text"), "{done}");
    let micro = &place.json("aggregates.json")["micro"];
    assert_eq!(micro["number_of_success_samples"], 2);
    assert_eq!(micro["elapsed_sec"]["sum"], 2.0);
}

#[test]
fn text_that_is_not_utf8_is_located() {
    let mut bytes = reference(&[question("q1", json!([]))]).into_bytes();
    let at = bytes.iter().position(|byte| *byte == b'W').expect("the question");
    bytes[at] = 0xff;
    let place = small().file("bad.json", bytes);
    assert_snapshot!(refused(&place, "bad.json responses.jsonl"));
}

// ---------- wrong records: told, and the run goes on

/// Runs to the end, and returns what was said with the results.
fn survived(place: &Place, inputs: &str) -> (Ended, Value) {
    let ended = place.run(&format!("eval {inputs} -o out.json"));
    assert_eq!(ended.code, 0, "{ended}");
    let results = place.json("out.json");
    (ended, results)
}

#[test]
fn a_missing_response_is_an_error_record() {
    let place = small().file("one.jsonl", "{\"question_id\": \"q2\"}\n");
    let (ended, results) = survived(&place, "reference.json one.jsonl");
    assert_snapshot!(ended);
    assert_eq!(
        (&results[0]["status"], &results[0]["error"]),
        (&json!("error"), &json!("no response"))
    );
    assert_eq!(results[1]["status"], "success");
}

#[test]
fn a_response_to_an_unknown_question_is_told_and_left_out() {
    let place = small();
    let more = format!(
        "{}{{\"question_id\": \"q9\"}}\n{{\"question_id\": \"q1\"}}\n",
        place.read("responses.jsonl")
    );
    let place = place.file("more.jsonl", more);
    let (ended, results) = survived(&place, "reference.json more.jsonl");
    assert_snapshot!(ended);
    assert_eq!(results.as_array().map(Vec::len), Some(2));
}

#[test]
fn records_that_cannot_be_read_are_told_with_their_places() {
    let mut lines = b"{\"question_id\": \"q1\", \"actual_steps\": \"none\"}\nnot json\n{\"actual_answer\": 1}\n".to_vec();
    lines.extend(b"{\"question_id\": \"q2\", \"actual_answer\": \"\xff\"}\n");
    let place = small().file("bad.jsonl", lines);
    let (ended, results) = survived(&place, "reference.json bad.jsonl");
    assert_snapshot!(ended);
    assert_eq!(
        results[0]["error"],
        "the response could not be read: invalid type: string \"none\", expected a list"
    );
    assert_eq!(results[1]["error"], "no response");
}

#[test]
fn steps_may_lack_status_id_output_or_be_unreadable() {
    let sparql_step = |output: Value| json!([[{"name": "s", "output": output, "output_media_type": "application/sparql-results+json"}]]);
    let table = sparql(&["a"], &[&["x"]]);
    let questions = [
        question("no-status", sparql_step(json!(table))),
        question("no-id", sparql_step(json!(table))),
        question("unparsable", sparql_step(json!(table))),
        question("no-output", sparql_step(json!(table))),
        question("no-expected-output", json!([[{"name": "s"}]])),
        question("empty-group", json!([[]])),
    ];
    let response = |id: &str, step: Value| json!({"question_id": id, "actual_steps": [step]});
    let responses = [
        response("no-status", json!({"name": "s", "id": "1", "output": table})),
        response("no-id", json!({"name": "s", "status": "success", "output": table})),
        response(
            "unparsable",
            json!({"name": "s", "id": "1", "status": "success", "output": "{\"head\": "}),
        ),
        response("no-output", json!({"name": "s", "id": "1", "status": "success"})),
        response(
            "no-expected-output",
            json!({"name": "s", "id": "1", "status": "success", "output": "x"}),
        ),
        response(
            "empty-group",
            json!({"name": "s", "id": "1", "status": "success", "output": "x"}),
        ),
    ];
    let place =
        Place::new().file("r.json", reference(&questions)).file("a.jsonl", lines_of(&responses));
    let (ended, results) = survived(&place, "r.json a.jsonl --worst 9");
    assert_snapshot!(ended);
    assert_eq!(results[1]["reference_steps"][0][0]["matches"], "1");
    assert_eq!(results[5]["steps_score_error"], "group 1 of the reference steps is empty");
}

#[test]
fn a_step_with_an_output_and_neither_status_nor_error_succeeded() {
    let questions = [
        question("good", json!([[{"name": "s", "output": "x"}]])),
        question("failed", json!([[{"name": "s", "output": "x"}]])),
    ];
    let responses = [
        json!({"question_id": "good", "actual_steps": [{"name": "s", "id": "1", "output": "x"}]}),
        json!({"question_id": "failed",
               "actual_steps": [{"name": "s", "id": "1", "output": "x", "error": "broken"}]}),
    ];
    let place = Place::new()
        .file("r.json", reference(&questions))
        .file("a.jsonl", lines_of(&responses))
        .file("strict.yaml", "steps: {missing_status: no_match}\n");
    for profile in [5, 6] {
        let command = format!("r.json a.jsonl --profile {profile} -a s.json");
        let (_, results) = survived(&place, &command);
        assert_eq!(results[0]["steps_score"], 1.0);
        assert_eq!(results[0]["reference_steps"][0][0]["matches"], "1");
        assert_eq!(results[1]["steps_score"], 0.0);
        let aggregates = place.json("s.json");
        assert_eq!(aggregates["per_template"]["t"]["steps"]["errors"], json!({"s": 1}));
        let (ended, results) = survived(&place, &format!("{command} -c strict.yaml --worst 2"));
        assert_eq!(results[0]["steps_score"], 0.0);
        assert!(ended.stdout.contains("the step has no `status`"), "{ended}");
        let counts = |all: &Value| all["per_template"]["t"]["steps"].clone();
        assert_eq!(counts(&place.json("s.json")), counts(&aggregates));
    }
}

#[test]
fn numbers_may_stand_where_texts_are_expected() {
    let reference = r#"[{"template_id": 7, "questions": [{"id": 1, "question_text": 5, "reference_answer": 3.5,
        "reference_steps": [[{"name": 9, "output": 15}]]}]}]"#;
    let responses = r#"{"question_id": 1, "actual_answer": 4, "input_tokens": "many",
        "actual_steps": [{"name": 9, "id": 3, "status": "success", "output": 15.0}]}"#;
    let place = Place::new().file("r.json", reference).file("a.json", responses);
    let (_, results) = survived(&place, "r.json a.json");
    let expected = json!([{"template_id": "7", "question_id": "1", "question_text": 5, "reference_answer": 3.5,
        "reference_steps": [[{"name": 9, "output": 15, "matches": 3}]], "status": "success", "actual_answer": 4,
        "actual_steps": [{"name": 9, "id": 3, "status": "success", "output": 15.0}],
        "steps_score": 1.0, "input_tokens": "many"}]);
    assert_eq!(results, expected);
}

#[test]
fn a_million_rows_and_ten_million_characters_are_no_trouble() {
    let rows = |order: &dyn Fn(u32) -> u32| {
        let cells: Vec<String> = (0..1_000_000)
            .map(|at| format!("{{\"a\":{{\"value\":\"v{}\"}}}}", order(at)))
            .collect();
        format!(
            "{{\"head\":{{\"vars\":[\"a\"]}},\"results\":{{\"bindings\":[{}]}}}}",
            cells.join(",")
        )
    };
    let questions = [question(
        "q",
        json!([[{"name": "s", "output": rows(&|at| at),
        "output_media_type": "application/sparql-results+json"}]]),
    )];
    let response = json!({"question_id": "q", "actual_answer": "x".repeat(10_000_000), "actual_steps": [
        {"name": "s", "id": "1", "status": "success", "output": rows(&|at| 999_999 - at)}]});
    let place =
        Place::new().file("r.json", reference(&questions)).file("a.jsonl", response.to_string());
    let (_, results) = survived(&place, "r.json a.jsonl");
    assert_eq!(results[0]["steps_score"], 1.0);
    assert_eq!(results[0]["actual_answer"].as_str().map(str::len), Some(10_000_000));
}

#[test]
fn hostile_results_are_no_results() {
    let xml = "<sparql><head><variable name='a'/></head><results><result/><variable name='b'/><result/></results></sparql>";
    let names: Vec<String> = (0..2000).map(|at| format!("v{at}")).collect();
    let wide = json!({"head": {"vars": names}, "results": {"bindings": []}}).to_string();
    let sparse =
        json!({"head": {"vars": names[..900]}, "results": {"bindings": vec![json!({}); 9_000]}})
            .to_string();
    let table = sparql(&["a"], &[&["x"]]);
    let ids = ["xml", "wide", "sparse"];
    let questions: Vec<Value> = ids
        .iter()
        .map(|id| {
            question(
                id,
                json!([[
        {"name": "s", "output": table, "output_media_type": "application/sparql-results+json"}]]),
            )
        })
        .collect();
    let outputs = [xml.to_owned(), wide, sparse];
    let responses: Vec<Value> = ids.iter().zip(&outputs).map(|(id, output)| {
        json!({"question_id": id, "actual_steps": [{"name": "s", "id": "1", "status": "success", "output": output}]})
    }).collect();
    let place =
        Place::new().file("r.json", reference(&questions)).file("a.jsonl", lines_of(&responses));
    let (ended, _) = survived(&place, "r.json a.jsonl");
    assert_snapshot!(ended);
}

#[test]
fn nothing_steers_the_terminal() {
    let steps = json!([[{"name": "s\u{1b}[2J", "output": "x\u{7}"}]]);
    let place = Place::new()
        .file("r.json", reference(&[question("q\u{202e}1\nx", steps)]))
        .file("a.json", "{\"question_id\": \"\\u001b[31m\"}");
    let ended = place.run("eval r.json a.json");
    let steers = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
    assert!(!ended.stdout.contains(steers) && !ended.stderr.contains(steers), "{ended:?}");
}

#[test]
fn pretty_input_still_gives_a_result_a_line() {
    let place = small();
    let pretty = format!("{:#}", place.json("reference.json")).replace('\n', "\r\n");
    let place = place.file("pretty.json", pretty);
    place.run("eval pretty.json responses.jsonl -q -o out.jsonl -a eval.json");
    assert_eq!(place.read("out.jsonl").lines().count(), 2);
    place.run("aggregate out.jsonl -q -a again.json");
    assert_eq!(place.json("again.json"), place.json("eval.json"));
}

#[test]
fn deep_nesting_is_bounded() {
    let deep = |depth: usize| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
    let expected = format!(
        r#"[{{"template_id": "t", "questions": [{{"id": "q", "question_text": "Q", "reference_steps": [[
            {{"name": "s", "args": {0}, "output": "x", "output_media_type": "application/json"}}]]}}]}}]"#,
        deep(100_000)
    );
    let response = format!(
        r#"{{"question_id": "q", "actual_steps": [{{"name": "s", "id": "1", "status": "success", "args": {0}, "output": {0}}}]}}"#,
        deep(100_000)
    );
    let place = Place::new()
        .file("r.json", expected)
        .file("a.json", response)
        .file("deep.yaml", deep(100_000))
        .file("deep.jsonl", deep(100_000));
    let ended = place.run("eval r.json a.json -o out.json -o out.yaml");
    assert_eq!(ended.code, 0, "{ended}");
    assert!(place.read("out.json").contains("\"steps_score\": 0.0"));
    for (reference, responses) in [("deep.yaml", "a.json"), ("deep.jsonl", "a.json")] {
        assert_eq!(place.run(&format!("eval {reference} {responses}")).code, 2);
    }
    assert_eq!(place.run("eval r.json deep.jsonl").code, 2);
    assert_eq!(place.run("eval r.json deep.yaml").code, 2);
}

#[test]
fn nothing_is_lost_when_writing_fails() {
    let place = small().file("out.json", "precious");
    let full = Path::new("/dev/full");
    if full.exists() {
        let ended = Command::new(env!("CARGO_BIN_EXE_juror"))
            .args(["eval", "reference.json", "responses.jsonl", "-o", "-"])
            .current_dir(place.folder.path())
            .stdout(fs::OpenOptions::new().write(true).open(full).expect("a full device"))
            .output()
            .expect("the program ends");
        assert_eq!(ended.status.code(), Some(3));
        let schema = Command::new(env!("CARGO_BIN_EXE_juror"))
            .arg("schema")
            .stdout(fs::OpenOptions::new().write(true).open(full).expect("a full device"))
            .output()
            .expect("the program ends");
        assert_eq!(schema.status.code(), Some(3));
    }
    let refused = place.run("eval reference.json missing.jsonl -o out.json");
    assert_eq!((refused.code, place.read("out.json").as_str()), (2, "precious"));
}

#[test]
fn expected_steps_without_output_match_by_arguments_where_settings_say_so() {
    let expected = |hive: u8| json!([[{"name": "weigh", "args": {"hive": hive}}]]);
    let questions = [question("right", expected(4)), question("wrong", expected(5))];
    let step = json!([{"name": "weigh", "id": "w", "args": {"hive": 4}, "status": "success"}]);
    let responses = [
        json!({"question_id": "right", "actual_steps": step}),
        json!({"question_id": "wrong", "actual_steps": step}),
    ];
    let place = Place::new()
        .file("r.json", reference(&questions))
        .file("a.jsonl", lines_of(&responses))
        .file("args.yaml", "steps: {match_without_output: args}\n");
    let (ended, results) = survived(&place, "r.json a.jsonl");
    assert_eq!(results[0]["steps_score"], 0.0);
    assert!(ended.stderr.contains("`weigh` has no output"), "{ended}");
    let (ended, results) = survived(&place, "r.json a.jsonl -c args.yaml");
    assert_eq!(results[0]["steps_score"], 1.0);
    assert_eq!(results[0]["reference_steps"][0][0]["matches"], "w");
    assert_eq!(results[1]["steps_score"], 0.0);
    assert!(ended.stdout.contains("hive: expected `5`, got `4`"), "{ended}");
    assert_eq!(ended.stderr, "", "{ended}");
}

#[test]
fn results_tell_why_steps_were_missed_where_that_is_asked_for() {
    let documents = |ids: &[u8]| json!(ids.iter().map(|id| json!({"id": id})).collect::<Vec<_>>());
    let stale = json!({"name": "s", "output": "x", "matches": "old", "missed": "by another run"});
    let questions = [
        question("found", json!([[stale]])),
        question("other", json!([[{"name": "s", "output": "x"}]])),
        question("partly", json!([[{"name": "retrieval", "output": documents(&[1, 2])}]])),
        question("early", json!([[{"name": "s", "output": "x"}], [{"name": "t", "output": "y"}]])),
        question("down", json!([[{"name": "s", "output": "x"}]])),
    ];
    let step = |name: &str, output: Value| json!({"name": name, "id": "1", "args": {"k": 2}, "status": "success", "output": output});
    let responses = [
        json!({"question_id": "found", "actual_steps": [step("s", json!("x"))]}),
        json!({"question_id": "other", "actual_steps": [step("s", json!("z"))]}),
        json!({"question_id": "partly", "actual_steps": [step("retrieval", documents(&[2, 3]))]}),
        json!({"question_id": "early", "actual_steps": []}),
        json!({"question_id": "down", "status": "error", "error": "timeout"}),
    ];
    let place =
        Place::new().file("r.json", reference(&questions)).file("a.jsonl", lines_of(&responses));
    for profile in [5, 6] {
        let command = format!("r.json a.jsonl --profile {profile}");
        let (ended, plain) = survived(&place, &command);
        assert!(!plain.to_string().contains("missed"), "{plain}");
        let (explained, results) = survived(&place, &format!("{command} --explain -o out.yaml"));
        assert_eq!((explained.stdout, explained.stderr), (ended.stdout, ended.stderr));
        let mut told = String::new();
        for result in results.as_array().expect("results") {
            told += result["question_id"].as_str().expect("an id");
            for group in result["reference_steps"].as_array().expect("groups") {
                told.extend(["\n  ".to_owned(), group.to_string()]);
            }
            told += "\n";
        }
        assert_snapshot!(format!("missed_steps_{profile}"), told);
        assert_eq!(
            place.read("out.yaml").matches("missed: ").count(),
            if profile == 5 { 3 } else { 5 }
        );
        // Results without the reasons are those that were asked for without them.
        let mut without = results;
        for result in without.as_array_mut().expect("results") {
            let groups = result["reference_steps"].as_array_mut().expect("groups");
            for step in groups.iter_mut().flat_map(|group| group.as_array_mut().expect("steps")) {
                step.as_object_mut().expect("a step").remove("missed");
            }
        }
        assert_eq!(without, plain);
    }
    let ended = place.run("eval r.json a.jsonl --explain");
    assert_eq!(ended.code, 2, "{ended}");
}

#[test]
fn tables_have_the_metrics_of_retrieval_steps() {
    let documents = |ids: &[u8]| {
        let document = |id: &u8| json!({"id": id, "text": id.to_string().repeat(9)});
        json!(ids.iter().map(document).collect::<Vec<_>>())
    };
    let expected = |ids: &[u8]| json!({"name": "retrieval", "output": documents(ids)});
    let step = |id: &str, ids: &[u8]| {
        json!({"name": "retrieval", "id": id, "args": {"k": 2}, "status": "success",
            "output": documents(ids)})
    };
    let questions = [
        question("none", json!([[{"name": "s", "output": "x"}]])),
        question("missed", json!([[expected(&[1])]])),
        question("two", json!([[expected(&[1, 2]), expected(&[3])]])),
    ];
    let missed = json!({"question_id": "missed", "actual_steps": [step("a", &[9])]});
    let two = json!({"question_id": "two", "actual_steps": [step("b", &[1, 4]), step("c", &[3])]});
    let place = Place::new()
        .file("r.json", reference(&questions))
        .file("none.jsonl", lines_of(std::slice::from_ref(&missed)))
        .file("some.jsonl", lines_of(&[missed, two]));
    survived(&place, "r.json none.jsonl -o none.tsv");
    assert!(!place.read("none.tsv").contains("retrieval"), "{}", place.read("none.tsv"));
    survived(&place, "r.json some.jsonl -o some.tsv");
    assert_snapshot!("table_of_retrieval", place.read("some.tsv"));
}

#[test]
fn a_step_name_can_stand_for_a_kind() {
    let documents = |ids: &[u8]| {
        let document = |id: &u8| json!({"id": id, "text": id.to_string().repeat(9)});
        json!(ids.iter().map(document).collect::<Vec<_>>())
    };
    let expected = |name: &str| json!([[{"name": name, "output": documents(&[1, 2])}]]);
    let questions = [
        question("same-name", expected("search_documents")),
        question("other-name", expected("retrieval")),
    ];
    let step = json!([{"name": "search_documents", "id": "s", "args": {"k": 3}, "status": "success",
        "output": documents(&[3, 1, 4])}]);
    let responses = [
        json!({"question_id": "same-name", "actual_steps": step}),
        json!({"question_id": "other-name", "actual_steps": step}),
    ];
    let place = Place::new()
        .file("r.json", reference(&questions))
        .file("a.jsonl", lines_of(&responses))
        .file("kinds.yaml", "steps:\n  kinds: {search_documents: retrieval}\n")
        .file("wrong.yaml", "steps:\n  kinds: {search_documents: retreival}\n");
    for profile in [5, 6] {
        let command = format!("r.json a.jsonl --profile {profile} -a s.json");
        let (_, results) = survived(&place, &command);
        assert_eq!(results[0]["steps_score"], 0.0);
        let (_, results) = survived(&place, &format!("{command} -c kinds.yaml"));
        for result in [&results[0], &results[1]] {
            assert_eq!(result["steps_score"], 0.5);
            let recall = &result["actual_steps"][0]["retrieval_context_recall"];
            assert_eq!(recall.as_f64(), (profile == 5).then_some(0.5));
        }
        let template = &place.json("s.json")["per_template"]["t"];
        assert_eq!(template["steps"]["total"], json!({"search_documents": 2}));
        let recall = &template["retrieval_context_recall"]["mean"];
        assert_eq!(recall.as_f64(), (profile == 5).then_some(0.5));
    }
    place.run("eval r.json a.jsonl --profile 5 -c kinds.yaml -q -o kinds.json");
    let (alone, told) = ("aggregate kinds.json", "2 steps named `search_documents` have metrics");
    let ended = place.run(alone);
    assert!(ended.code == 0 && ended.stderr.contains(told), "{ended}");
    assert!(!place.run("validate kinds.json").stdout.contains(told));
    let ended = place.run(&format!("{alone} -c kinds.yaml"));
    assert!(ended.stderr.is_empty(), "{ended}");
    let ended = place.run("eval r.json a.jsonl -c wrong.yaml");
    assert_eq!(ended.code, 2);
    assert!(ended.stderr.contains("did you mean `retrieval`?"), "{ended}");
}

#[test]
fn validate_judges_a_reference_by_the_settings_beside_it() {
    let steps = json!([[{"name": "call", "args": {"x": 1}}, {"name": "search", "output": "x"}]]);
    let place = Place::new()
        .file("reference.json", reference(&[question("q1", steps)]))
        .file("args.yaml", "steps: {match_without_output: args}\n")
        .file("kinds.yaml", "steps: {match_without_output: args, kinds: {search: retrieval}}\n");
    let ended = place.run("validate reference.json");
    assert!(ended.code == 2 && ended.stdout.contains("match_without_output"), "{ended}");
    assert_eq!(place.run("validate args.yaml reference.json").code, 0);
    let ended = place.run("validate reference.json kinds.yaml");
    assert!(ended.code == 2 && ended.stdout.contains("not a list of documents"), "{ended}");
}

#[test]
fn validate_refuses_settings_that_eval_refuses() {
    let generation = "{provider: openai, model: m, temperature: 0, temperature: 1}";
    let place = Place::new().file("juror.yaml", format!("llm: {{generation: {generation}}}\n"));
    let ended = place.run("validate juror.yaml");
    assert!(ended.code == 2 && ended.stdout.contains("`temperature` is used twice"), "{ended}");
}

#[test]
fn ids_that_no_question_has_are_told_beside_any_number_of_notes() {
    let mut response = json!({"question_id": "other", "actual_answer": "x"});
    for key in 0..120 {
        response[format!("own_{key}")] = json!(1);
    }
    let place = Place::new()
        .file("reference.json", reference(&[question("q1", json!(null))]))
        .file("responses.json", json!([response]).to_string());
    let ended = place.run("validate reference.json responses.json");
    assert!(ended.code == 2 && ended.stdout.contains("no question `other`"), "{ended}");
}

/// The reference comes by standard input, which the program waits for while the responses are
/// mapped already.
#[test]
#[cfg(target_os = "linux")]
fn an_input_that_is_cut_short_while_it_is_read_ends_the_run_with_3() {
    let response = |n: usize| json!({"question_id": format!("q{n}"), "status": "success", "actual_answer": "x".repeat(200)});
    let lines: Vec<String> = (0..10_000).map(|n| response(n).to_string()).collect();
    let place = Place::new().file("responses.jsonl", lines.join("\n"));
    let mut child = Command::new(env!("CARGO_BIN_EXE_juror"))
        .args("eval - responses.jsonl -o out.json".split(' '))
        .current_dir(place.folder.path())
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let maps = format!("/proc/{}/maps", child.id());
    while !fs::read_to_string(&maps).expect("the program runs").contains("responses.jsonl") {
        std::thread::yield_now();
    }
    let file = fs::File::options().write(true).open(place.path("responses.jsonl"));
    file.expect("opened").set_len(5_000).expect("cut short");
    let questions = [json!({"id": "q1", "question_text": "?"})];
    let reference = json!([{"template_id": "t", "questions": questions}]).to_string();
    let _ = child.stdin.take().expect("a pipe").write_all(reference.as_bytes());
    let output = child.wait_with_output().expect("the program ends");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{:?} {said}", output.status);
    assert!(
        said.contains("responses.jsonl: cannot read: it was cut short while it was read"),
        "{said}"
    );
    assert_eq!(place.names(), ["responses.jsonl"]);
}

#[test]
fn ids_cannot_control_the_terminal() {
    let hostile = "\\u001b[31m\\u001b]0;x\\u0007\\r";
    let place = Place::new()
        .file(
            "reference.json",
            r#"[{"template_id": "t", "questions": [{"id": "q", "question_text": "?"}]}]"#,
        )
        .file(
            "responses.jsonl",
            format!(r#"{{"question_id": "{hostile}", "actual_answer": "x"}}"#),
        );
    for command in ["validate", "eval"] {
        let ended = place.run(&format!("{command} reference.json responses.jsonl"));
        let shown = format!("{}{}", ended.stdout, ended.stderr);
        let steers = |c: char| c.is_control() && c != '\n';
        assert!(!shown.contains(steers) && shown.contains("[31m"), "{shown}");
    }
}

#[test]
fn a_simulator_without_a_model_leaves_no_store_behind() {
    let place = Place::new();
    let ended = place.run("serve --simulator chat --port 0");
    assert_eq!(ended.code, 2, "{}", ended.stderr);
    assert!(place.names().is_empty(), "{:?}", place.names());
}
