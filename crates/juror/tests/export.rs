//! `juror export`: scores for other systems.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use juror_testing::Ended;
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
        let place = Place(tempfile::tempdir().expect("a folder"));
        fs::write(place.path("reference.json"), REFERENCE).expect("the reference");
        fs::write(place.path("responses.jsonl"), RESPONSES).expect("the responses");
        let evaluated = place
            .run("eval reference.json responses.jsonl --run monday -o results.jsonl --no-model -q");
        assert_eq!(evaluated.code, 0, "{}", evaluated.stderr);
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect("a file that was written")
    }

    fn run(&self, line: &str) -> Ended {
        let mut command = Command::new(env!("CARGO_BIN_EXE_juror"));
        Ended::of(command.args(line.split(' ')).current_dir(self.0.path()))
    }
}

fn parse(json: &str) -> Value {
    serde_json::from_str(json).expect("JSON")
}

#[test]
fn scores_of_a_run_name_the_trace_that_was_judged() {
    let place = Place::new();
    let ended = place.run("export monday --to otlp");
    assert_eq!(ended.code, 0, "{ended}");
    let lines: Vec<Value> = ended.stdout.lines().map(parse).collect();
    let records: Vec<&Value> = lines
        .iter()
        .map(|line| &line["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0])
        .collect();
    assert_eq!(records[0]["traceId"], "5b8efff798038103d269b633813fc60c");
    assert_eq!(records[0]["spanId"], "eee19b7ec3c1b174");
    let attributes = records[0]["attributes"].to_string();
    assert!(attributes.contains("expected `Lima`, got `Quito`"), "{attributes}");
    assert_ne!(records[0]["timeUnixNano"], "0", "a run says when it ended");
    assert_eq!(records[1].get("traceId"), None);
    assert!(ended.stderr.contains("1 answer without a trace"), "{ended}");
}

#[test]
fn ids_in_a_table_are_those_of_the_questions() {
    let place = Place::new();
    let id = "=HYPERLINK(1)";
    let row = format!(
        r#"{{"template_id": "t", "question_id": "{id}", "steps_score": 1.0, "actual_steps": []}}"#
    );
    fs::write(place.path("own.jsonl"), row).expect("written");
    let ended = place.run("export own.jsonl --to csv -q");
    assert!(ended.code == 0 && ended.stdout.contains(&format!(",{id},")), "{ended}");
}

#[test]
fn results_keep_the_ids_of_their_trace() {
    let place = Place::new();
    let results: Vec<Value> = place.read("results.jsonl").lines().map(parse).collect();
    assert_eq!(results[0]["span_id"], "eee19b7ec3c1b174");
    assert_eq!(results[1].get("span_id"), None);
    let ended = place.run("export results.jsonl --to openinference -q");
    assert_eq!(ended.code, 0, "{ended}");
    let annotation = &parse(&ended.stdout)["data"][0];
    assert_eq!(annotation["span_id"], "eee19b7ec3c1b174");
    assert_eq!(annotation["result"]["score"], 0.0);
}

#[test]
fn scores_are_a_table() {
    let place = Place::new();
    let ended = place.run("export monday --to csv -o scores.csv");
    assert_eq!((ended.code, &*ended.stdout), (0, ""), "{ended}");
    assert!(ended.stderr.contains("2 scores of 2 answers are in scores.csv"), "{ended}");
    let wanted = "\
template_id,question_id,trial,status,trace_id,span_id,steps_score
capitals,peru,,success,5b8efff798038103d269b633813fc60c,eee19b7ec3c1b174,0
capitals,chile,,success,,,1
";
    assert_eq!(place.read("scores.csv"), wanted);
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
        let ended = place.run(line);
        assert_eq!(ended.code, 2, "{line}: {ended}");
        assert!(!place.path("scores.csv").exists(), "{line}");
    }
}

#[test]
fn only_metrics_that_the_run_has_are_exported_and_damage_is_told() {
    let place = Place::new();
    let failed = RESPONSES
        .replace("\"question_id\": \"chile\"", "\"question_id\": \"chile\", \"error\": \"down\"");
    fs::write(place.path("failed.jsonl"), failed).expect("responses");
    let ended = place.run("eval reference.json failed.jsonl --run failed --no-model -q");
    assert_eq!(ended.code, 0, "{ended}");
    let ended = place.run("export failed --to csv");
    let (header, _) = ended.stdout.split_once('\n').expect("a header");
    assert!(header.ends_with("span_id,steps_score"), "{header}");
    let results = place.read("failed/results.jsonl");
    let first = results.lines().next().expect("a result");
    fs::write(place.path("failed/results.jsonl"), format!("{first}\n")).expect("cut");
    let ended = place.run("export failed --to csv");
    assert!(ended.stderr.contains("failed is damaged"), "{ended}");
}
