//! Pages made from results: what they contain, and that hostile texts stay texts.

use std::io::Read as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use juror_compare::{CompareOptions, ComparedRun, Gates, Kind, RunFacts, compare};
use juror_document::{Document, Format};
use juror_pages::RunPages;
use juror_pages::ScoredRun;
use juror_read::OwnMetrics;
use juror_report::PageOptions;
use juror_run::Settings;
use serde_json::{Value, json};

/// A result of `juror eval` with one SPARQL step.
fn result(template: &str, id: &str, found: &[&str]) -> Value {
    let table = |names: &[&str]| {
        let rows: Vec<Value> =
            names.iter().map(|name| json!({"n": {"type": "literal", "value": name}})).collect();
        json!({"head": {"vars": ["n"]}, "results": {"bindings": rows}}).to_string()
    };
    let media = "application/sparql-results+json";
    let expected = ["Oslo", "Rome", "Lima"];
    json!({
        "template_id": template, "question_id": id, "question_text": format!("What is in {id}?"),
        "reference_answer": "Oslo and Rome", "status": "success", "actual_answer": "Oslo or Rome",
        "reference_steps": [[{"name": "sparql_query", "args": {"query": "SELECT"},
            "output": table(&expected), "output_media_type": media}]],
        "actual_steps": [{"name": "sparql_query", "id": "c1", "status": "success", "output": table(found)}],
        "steps_score": if found.len() == expected.len() { 1.0 } else { 0.0 },
        "answer_f1": 0.5, "answer_recall": 0.5, "answer_precision": 0.5,
        "answer_reference_claims_count": 2, "answer_actual_claims_count": 2,
        "answer_matching_claims_count": 1, "answer_correctness_reason": "half of it",
        "total_tokens": 100, "elapsed_sec": 1.5,
    })
}

fn run(name: &str, results: &[Value]) -> ScoredRun {
    let text = results.iter().map(Value::to_string).collect::<Vec<_>>().join("\n");
    let document = Document::new("results.jsonl", text.into(), Format::JsonLines).expect("results");
    let facts = RunFacts::of_file(name, Kind::Eval);
    let plan = Settings::default().plan();
    ScoredRun::of_results(facts, document, plan, &OwnMetrics::default()).expect("a run")
}

/// Decodes the data with this id.
fn data(html: &str, id: &str) -> Value {
    let mark = format!("id=\"{id}\">");
    let start = html.find(&mark).expect("data") + mark.len();
    let end = start + html[start..].find('<').expect("an end");
    let gzip = STANDARD.decode(&html[start..end]).expect("base64");
    let mut text = String::new();
    flate2::read::GzDecoder::new(&gzip[..]).read_to_string(&mut text).expect("gzip");
    serde_json::from_str(&text).expect("JSON")
}

fn side(run: &ScoredRun) -> ComparedRun<'_> {
    ComparedRun { facts: &run.facts, scores: &run.scores }
}

fn three() -> ScoredRun {
    let all = ["Lima", "Oslo", "Rome"];
    run("main", &[result("t", "1", &all), result("t", "2", &all[1..]), result("u", "3", &all)])
}

#[test]
fn a_page_has_every_question_with_the_pairing_of_the_scorer() {
    let run = three();
    let page = RunPages::new([&run], PageOptions::default()).of_run(&Gates::default(), &[]);
    let index = data(&page.html, "juror-index");
    assert_eq!(index["questions"]["id"], json!(["1", "2", "3"]));
    assert_eq!(index["groups"], json!(["t", "u"]));
    assert_eq!(index["headline"], "steps_score");
    assert_eq!(index["metrics"][0]["key"], "steps_score");
    assert_eq!(index["questions"]["scores"][0], json!([[1.0, 0.0, 1.0]]));
    let details = data(&page.html, "juror-chunk-0");
    let missed = &details[1]["runs"][0][0]["pairs"][0];
    assert_eq!(missed["state"], "missed");
    assert_eq!(missed["why"], "1 row missing (`Lima`)");
    let table = &missed["table"];
    assert_eq!((&table["n_same"], &table["n_missing"]), (&json!(2), &json!(1)));
    let found = &details[0]["runs"][0][0]["pairs"][0];
    assert_eq!((&found["state"], &found["actual"]), (&json!("found"), &json!(0)));
    assert_eq!(found["table"]["rows"][0], json!([0, 1]), "Oslo is the first row and the second");
    let verdict = &details[0]["runs"][0][0]["verdicts"][0];
    assert_eq!(
        (&verdict["metric"], &verdict["reason"]),
        (&json!("answer_correctness"), &json!("half of it"))
    );
    let diff = &details[0]["runs"][0][0]["diff"];
    assert_eq!(diff, &json!([[0, "Oslo "], [-1, "and"], [1, "or"], [0, " Rome"]]));
}

#[test]
fn a_comparison_shows_both_runs_of_a_question_and_what_broke() {
    let (before, some) = (three(), ["Oslo", "Rome"]);
    let all = ["Lima", "Oslo", "Rome"];
    let after =
        run("pr", &[result("u", "3", &some), result("t", "1", &all), result("t", "4", &all)]);
    let options = CompareOptions { allow_mismatch: true, ..CompareOptions::default() };
    let comparison = compare(side(&before), &[side(&after)], &options).expect("a comparison");
    let page = RunPages::new([&before, &after], PageOptions::default())
        .of_comparison(&comparison, &Gates::default());
    let index = data(&page.html, "juror-index");
    assert_eq!(index["questions"]["id"], json!(["1", "2", "3", "4"]));
    assert_eq!(index["questions"]["status"], json!([[0, 0, 0, 2], [0, 2, 0, 0]]));
    assert_eq!(index["questions"]["flags"], json!([0, 0, 1, 0]), "the third broke");
    let details = data(&page.html, "juror-chunk-0");
    assert_eq!(details[2]["runs"][0][0]["pairs"][0]["state"], "found");
    assert_eq!(details[2]["runs"][1][0]["pairs"][0]["state"], "missed");
    assert_eq!(details[1]["runs"][1], json!([]));
}

#[test]
fn hostile_names_stay_text() {
    let hostile = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\u{202e}";
    let run = run(hostile, &[result(hostile, hostile, &["Oslo"]), result("u", "2", &["Oslo"])]);
    let page = RunPages::new([&run], PageOptions::default()).of_run(&Gates::default(), &[]);
    assert!(!page.html.contains("<img"), "no element is made of data");
    assert!(!page.html.contains("<script>alert"), "no script is made of data");
    assert!(!page.html.contains('\u{202e}'), "no text is reversed");
    assert_eq!(data(&page.html, "juror-index")["questions"]["id"][0], hostile);
}

#[test]
fn redacted_pages_have_no_answers_and_outputs() {
    let run = three();
    let options = PageOptions { redact: true, ..PageOptions::default() };
    let page = RunPages::new([&run], options).of_run(&Gates::default(), &[]);
    let details = data(&page.html, "juror-chunk-0").to_string();
    for text in ["Oslo", "Lima", "half of it", "SELECT"] {
        assert!(!details.contains(text), "{text}: {details}");
    }
    assert!(details.contains("What is in 2?"));
    assert!(page.html.contains("left out (--redact)"));
}

#[test]
fn pages_that_would_be_too_large_shorten_what_is_right_first() {
    let long: Vec<String> = (0..400).map(|n| format!("city number {n} of a long list")).collect();
    let names: Vec<&str> =
        ["Oslo", "Rome", "Lima"].into_iter().chain(long.iter().map(String::as_str)).collect();
    let results: Vec<Value> = (0..130)
        .map(|n| {
            let mut own = result("t", &format!("{n}"), &names);
            own["steps_score"] = json!(if n % 2 == 0 { 1.0 } else { 0.0 });
            own["actual_answer"] = json!(format!("{n} {}", noise(n)));
            own
        })
        .collect();
    let run = run("large", &results);
    let whole = RunPages::new([&run], PageOptions::default()).of_run(&Gates::default(), &[]);
    assert_eq!(whole.note, None);
    let size = |page: &juror_report::Page| {
        let chunks = page.html.matches("id=\"juror-chunk-").count();
        (0..chunks)
            .map(|at| data(&page.html, &format!("juror-chunk-{at}")).to_string().len())
            .sum::<usize>()
    };
    let options = PageOptions { max_size: 40_000, redact: false };
    let small = RunPages::new([&run], options).of_run(&Gates::default(), &[]);
    assert!(
        small.note.as_deref().is_some_and(|note| note.contains("--max-size")),
        "{:?}",
        small.note
    );
    assert!(size(&small) < size(&whole));
    assert!(small.html.contains("To keep this file below"));
}

/// A text that does not compress.
fn noise(n: usize) -> String {
    let mut state = n as u64 + 1;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        format!("{:08x}", state >> 32)
    };
    (0..40).map(|_| next()).collect()
}
