//! `juror export`: scores for other systems.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

const REFERENCE: &str = r#"[{"template_id": "capitals", "questions": [
  {"id": "peru", "question_text": "Capital of Peru?",
   "reference_steps": [[{"name": "lookup", "args": {}, "output": "Lima"}]]},
  {"id": "chile", "question_text": "Capital of Chile?",
   "reference_steps": [[{"name": "lookup", "args": {}, "output": "Santiago"}]]}]}]"#;

const RESPONSES: &str = r#"{"question_id": "peru", "trace_id": "5b8efff798038103d269b633813fc60c", "span_id": "eee19b7ec3c1b174", "actual_steps": [{"name": "lookup", "status": "success", "output": "Quito"}]}
{"question_id": "chile", "actual_steps": [{"name": "lookup", "status": "success", "output": "Santiago"}]}
"#;

struct Place(tempfile::TempDir);

impl Place {
    /// A folder with a run.
    fn new() -> Place {
        let place = Place(tempfile::tempdir().unwrap());
        fs::write(place.path().join("reference.json"), REFERENCE).unwrap();
        fs::write(place.path().join("responses.jsonl"), RESPONSES).unwrap();
        let (code, _, said) = place
            .run("eval reference.json responses.jsonl --run monday -o results.jsonl --no-model -q");
        assert_eq!(code, 0, "{said}");
        place
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn run(&self, line: &str) -> (i32, String, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_juror"));
        let done = command.args(line.split(' ')).current_dir(self.path()).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (done.status.code().unwrap(), text(done.stdout), text(done.stderr))
    }
}

#[test]
fn scores_of_a_run_name_the_trace_that_was_judged() {
    let place = Place::new();
    let (code, data, said) = place.run("export monday --to otlp");
    assert_eq!(code, 0, "{said}");
    let lines: Vec<Value> = data.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let records: Vec<&Value> = lines
        .iter()
        .map(|line| &line["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0])
        .collect();
    assert_eq!(records[0]["traceId"], "5b8efff798038103d269b633813fc60c");
    assert_eq!(records[0]["spanId"], "eee19b7ec3c1b174");
    let attributes = records[0]["attributes"].as_array().unwrap();
    let why = attributes.iter().find(|own| own["key"] == "gen_ai.evaluation.explanation").unwrap();
    let why = why["value"]["stringValue"].as_str().unwrap();
    assert!(why.contains("expected `Lima`, got `Quito`"), "{why}");
    assert_ne!(records[0]["timeUnixNano"], "0", "a run says when it ended");
    assert_eq!(records[1].get("traceId"), None);
    assert!(said.contains("1 answer without a trace"), "{said}");
}

#[test]
fn results_keep_the_ids_of_their_trace() {
    let place = Place::new();
    let results = fs::read_to_string(place.path().join("results.jsonl")).unwrap();
    let first = results.lines().next().unwrap();
    assert!(first.contains(r#""span_id": "eee19b7ec3c1b174""#), "{first}");
    assert!(!results.lines().nth(1).unwrap().contains("span_id"));
    let (code, data, _) = place.run("export results.jsonl --to openinference -q");
    assert_eq!(code, 0);
    let data: Value = serde_json::from_str(&data).unwrap();
    assert_eq!(data["data"][0]["span_id"], "eee19b7ec3c1b174");
    assert_eq!(data["data"][0]["result"]["score"], 0.0);
}

#[test]
fn scores_are_a_table() {
    let place = Place::new();
    let (code, data, said) = place.run("export monday --to csv -o scores.csv");
    assert_eq!((code, &*data), (0, ""), "{said}");
    assert!(said.contains("2 scores of 2 answers are in scores.csv"), "{said}");
    let table = fs::read_to_string(place.path().join("scores.csv")).unwrap();
    let wanted = "\
template_id,question_id,trial,status,trace_id,span_id,steps_score
capitals,peru,,success,5b8efff798038103d269b633813fc60c,eee19b7ec3c1b174,0
capitals,chile,,success,,,1
";
    assert_eq!(table, wanted);
}

#[test]
fn what_is_no_run_is_refused_and_nothing_is_written() {
    let place = Place::new();
    for line in [
        "export nowhere --to csv -o scores.csv",
        "export reference.json --to csv -o scores.csv",
        "export monday --to xml -o scores.csv",
        "export results.jsonl --to csv -o results.jsonl",
    ] {
        let (code, _, said) = place.run(line);
        assert_eq!(code, 2, "{line}: {said}");
        assert!(!place.path().join("scores.csv").exists(), "{line}");
    }
}
