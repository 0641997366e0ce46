//! `judge.calibration`: corrected means beside the raw ones.

use juror_testing::{misfits, project};
use serde_json::Value;

use crate::stage::{Ended, Stage};

/// The example, whose verdicts are recorded, with a run and a calibration of its judge.
fn example() -> Stage {
    let stage = Stage::new();
    for name in ["reference.yaml", "responses.jsonl", "replies.jsonl", "juror.yaml"] {
        let text = std::fs::read_to_string(project("examples").join(name)).expect("an example");
        stage.write(name, &text);
    }
    eval(&stage, "juror.yaml", "--run first -q");
    stage.done("label first -o labels.jsonl --n 17 -q");
    let labels = stage.read("labels.jsonl").replace("\"label\": null", "\"label\": 0.5");
    stage.write("labels.jsonl", &labels);
    stage.done("calibrate first labels.jsonl -o calibration.json -q");
    let settings = stage.read("juror.yaml") + "judge:\n  calibration: calibration.json\n";
    stage.write("calibrated.yaml", &settings);
    stage
}

fn eval(stage: &Stage, settings: &str, options: &str) -> Ended {
    let recorded = "--cache replies.jsonl --cache-mode read-only";
    stage.done(&format!("eval reference.yaml responses.jsonl -c {settings} {recorded} {options}"))
}

fn line_of(ended: &Ended) -> &str {
    let line = ended.stdout.lines().find(|line| line.starts_with("answer_f1 "));
    line.unwrap_or_else(|| panic!("{ended}"))
}

#[test]
fn corrected_means_stand_under_the_table_and_in_the_statistics() {
    let stage = example();
    let ended = eval(&stage, "calibrated.yaml", "-s statistics.json");
    assert_eq!(line_of(&ended), "answer_f1 corrected by 17 labels: 0.500 ±0.32 (raw 0.720)");
    let statistics = stage.json("statistics.json");
    let found = &statistics["calibrated"]["answer_f1"];
    assert_eq!(found["labels"], 17);
    let mean = found["corrected"]["mean"].as_f64().expect("a mean");
    assert!((mean - 0.5).abs() < 1e-12, "{mean}");
    assert_eq!(found["corrected"]["raw"], statistics["micro"]["answer_f1"]["mean"]);
    let schema: Value =
        serde_json::from_str(&stage.done("schema statistics").stdout).expect("JSON");
    let misfits = misfits(found, &schema["$defs"]["CalibratedMetric"]);
    let about_refs: Vec<&String> =
        misfits.iter().filter(|own| !own.contains("corrected")).collect();
    assert_eq!(about_refs, Vec::<&String>::new());
    let summary = eval(&stage, "calibrated.yaml", "--json").stdout;
    let summary: Value = serde_json::from_str(&summary).expect("JSON");
    assert_eq!(summary["calibrated"]["answer_f1"], *found);
    let kept = eval(&stage, "calibrated.yaml", "--run second -q");
    assert_eq!(kept.stdout, "");
    assert_eq!(stage.json("second/statistics.json")["calibrated"]["answer_f1"], *found);
}

#[test]
fn results_written_earlier_are_corrected_too() {
    let stage = example();
    let aggregated = stage.done("aggregate first/results.jsonl -c calibrated.yaml");
    assert_eq!(line_of(&aggregated), "answer_f1 corrected by 17 labels: 0.500 ±0.32 (raw 0.720)");
    stage.done("report first -o report.html -c calibrated.yaml");
    assert!(stage.read("report.html").contains("answer_f1 corrected by 17 labels: 0.500"));
}

#[test]
fn comparisons_show_corrected_means_beside_the_raw_ones() {
    let stage = example();
    let compared = stage.done("compare first first -c calibrated.yaml --json -o out.md");
    let compared: Value = serde_json::from_str(&compared.stdout).expect("JSON");
    let (a, b) = (&compared["calibrated"], &compared["candidates"][0]["calibrated"]);
    assert_eq!(a, b, "the same run");
    assert_eq!(a["answer_f1"]["labels"], 17);
    assert!(a["answer_f1"]["corrected"]["raw"].is_f64(), "{a}");
    let words = "corrected by 17 labels: 0.500 ±0.32 (raw 0.720)";
    let text = stage.done("compare first first -c calibrated.yaml").stdout;
    assert!(text.contains(&format!("answer_f1: {words}")), "{text}");
    assert!(stage.read("out.md").contains(&format!("- `answer_f1`: {words}")), "in Markdown");
    stage.done("report first first -o both.html -c calibrated.yaml");
    assert!(stage.read("both.html").contains(words), "in the page");
    let other = stage.done("compare first first -c calibrated.yaml --metric steps_score").stdout;
    assert!(!other.contains("corrected"), "{other}");
}

#[test]
fn a_run_of_another_judge_is_compared_without_a_corrected_mean() {
    let stage = example();
    let results = stage.read("first/results.jsonl");
    stage.write("other.jsonl", &results.replace("openai/gpt-4o-mini", "openai/gpt-4o"));
    let text = stage.done("compare first other.jsonl -c calibrated.yaml").stdout;
    let a = "answer_f1: A corrected by 17 labels: 0.500 ±0.32 (raw 0.720); B not corrected: \
             the judge has changed since its calibration: the model is `openai/gpt-4o`";
    assert!(text.contains(a), "{text}");
}

#[test]
fn without_a_calibration_nothing_changes() {
    let stage = example();
    let ended = eval(&stage, "juror.yaml", "-s statistics.json");
    assert!(!ended.stdout.contains("corrected"), "{ended}");
    assert_eq!(stage.json("statistics.json").get("calibrated"), None);
}

#[test]
fn a_judge_that_changed_since_is_said_and_not_corrected() {
    let stage = example();
    let change = |from: &str, to: &str| {
        let text = stage.read("calibration.json").replace(from, to);
        stage.write("calibration.json", &text);
    };
    change("openai/gpt-4o-mini", "openai/gpt-4o");
    let ended = eval(&stage, "calibrated.yaml", "");
    let start = "answer_f1 not corrected: the judge has changed since its calibration: ";
    let model = "the model is `openai/gpt-4o-mini`, was `openai/gpt-4o`";
    assert_eq!(line_of(&ended), format!("{start}{model}"));
    change("openai/gpt-4o\"", "openai/gpt-4o-mini\"");
    let hash = stage.json("calibration.json")["judge"]["prompts"]["answer_claims"].clone();
    change(hash.as_str().expect("a hash"), "0000");
    let ended = eval(&stage, "calibrated.yaml", "-s statistics.json");
    assert_eq!(line_of(&ended), format!("{start}the prompt `answer_claims` changed"));
    let found = &stage.json("statistics.json")["calibrated"]["answer_f1"];
    assert!(found.get("corrected").is_none() && found["not_corrected"].is_string(), "{found}");
}

#[test]
fn of_several_files_the_one_of_this_judge_is_taken() {
    let stage = example();
    let other = stage.read("calibration.json").replace("gpt-4o-mini", "gpt-4o");
    stage.write("other.json", &other);
    let settings =
        stage.read("juror.yaml") + "judge: {calibration: [other.json, calibration.json]}\n";
    stage.write("both.yaml", &settings);
    let ended = eval(&stage, "both.yaml", "");
    assert!(line_of(&ended).starts_with("answer_f1 corrected by 17 labels: 0.500"), "{ended}");
}

#[test]
fn a_file_that_is_no_calibration_ends_the_run_before_it_begins() {
    let stage = example();
    let run = || {
        stage.run("eval reference.yaml responses.jsonl -c calibrated.yaml --no-model -o out.json")
    };
    stage.write("calibration.json", "{\"format\": \"juror.calibration/9\", \"metric\": \"m\",\n\"judge\": null, \"made\": \"\", \"run\": \"\", \"pairs\": []}");
    let ended = run();
    assert_eq!(ended.code, 2, "{ended}");
    let told = "error: calibration.json:1:12: the format is `juror.calibration/9`, and only \
                `juror.calibration/1` is known\n  at format\n  hint: `juror calibrate` writes such files\n";
    assert_eq!(ended.stderr, told);
    std::fs::remove_file(stage.path("calibration.json")).expect("removed");
    let ended = run();
    assert_eq!(ended.code, 2, "{ended}");
    let told = "error: calibration.json: cannot read: there is no such file or folder\n";
    assert_eq!(ended.stderr, told);
    assert!(!stage.path("out.json").exists());
}

#[test]
fn a_benchmark_shows_corrected_means_too() {
    let stage = Stage::new();
    stage.done("demo --bench --write try");
    let agent = format!("command:{} demo --agent", env!("CARGO_BIN_EXE_juror"));
    let bench = |options: &str| {
        let line = format!(
            "bench --queries try/queries.json --tools try/tools --cache try/tool_cache --limit 3 \
             --judge heuristic -q {options} --agent"
        );
        let mut words: Vec<&str> = line.split_whitespace().collect();
        words.push(&agent);
        let ended = stage.run_words(&words);
        assert_eq!(ended.code, 0, "{ended}");
        ended
    };
    bench("--run first -o first.json");
    stage.done("label first -o labels.jsonl -q");
    let labels = stage.read("labels.jsonl").replace("\"label\": null", "\"label\": \"unsure\"");
    stage.write("labels.jsonl", &labels);
    stage.done("calibrate first labels.jsonl -o calibration.json -q");
    assert_eq!(stage.json("calibration.json")["judge"]["model"], "heuristic");
    stage.write("juror.yaml", "judge: {calibration: calibration.json}\n");
    let ended = bench("-c juror.yaml --run second -o second.json");
    assert!(ended.stdout.contains("\nsopr_score corrected by 3 labels: 0.500"), "{ended}");
    let kept = &stage.json("second/statistics.json")["calibrated"]["sopr_score"];
    assert_eq!(kept["labels"], 3);
    let summary: Value =
        serde_json::from_str(&bench("-c juror.yaml --json -o third.json").stdout).expect("JSON");
    assert_eq!(summary["calibrated"]["sopr_score"], *kept);
}
