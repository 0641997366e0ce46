//! Result files and their summaries.

use juror_document::{Document, Format};
use juror_json::Object;
use juror_score::{
    Aspect, Cause, Ending, Finding, Reason, ScoreTable, Scorecard, Standing, Verdict, Why,
};
use juror_toolbench::judged::Status;
use juror_toolbench::result::{
    Metadata, QueryResult, Report, ResultLine, Summary, call_findings, file_name, read_result_file,
    status_findings,
};
use juror_toolbench::{CallScore, Called, Query, read_queries};
use serde_json::{Value, json};

use crate::judging::{finished, those_of};
use crate::reading::{document, field};
use crate::{Checked, near, same, text};

pub(crate) fn summary(raw: &Object<'_>, input: &Value, wanted: &Value) -> Checked {
    if input["fn"] == "generate_filename" {
        let count = |value: &Value| value.as_u64().map(|n| usize::try_from(n).expect("few"));
        let args = &input["args"];
        let name = file_name(text(&args[0]), text(&args[1]), count(&args[2]), count(&args[3]));
        return same(&json!(name), wanted);
    }
    let file = document(&format!("{{\"results\": {}}}", field(raw, "results")));
    let (file, problems) = read_result_file(&file);
    assert!(problems.is_empty(), "{problems}");
    let got = json!(file.summary());
    near(&those_of(&got, wanted), wanted)
}

fn query() -> Query {
    let query = r#"[{"query_id": 588, "query": "q", "relevant APIs": [["T", "a"], ["T", "b"]],
        "api_list": [{"category_name": "C", "tool_name": "T", "api_name": "a"}]}]"#;
    read_queries(&document(query)).0.remove(0)
}

fn report(query: &Query, final_answer: &str, error: Option<&str>) -> Value {
    let answer = finished(final_answer);
    let called = [Called::Api("T".into(), "a".into()), Called::Unknown("x".into())];
    let calls = CallScore::of(&called, &query.gold);
    let mut judged = status_findings(&[Some(Status::Solved)], Verdict::failed(""), 1.5);
    judged[0].reason = Some("it is".to_owned());
    let result = QueryResult {
        query,
        card: Scorecard {
            ending: error.map_or(Ending::Responded, |error| Ending::Failed(error.into())),
            computed: call_findings(&calls, answer.has_finish()).into(),
            judged: judged.into(),
            ..Scorecard::of_attempt("", "588")
        },
        names_set: false,
        answer: Some(&answer),
        called: &[("T".into(), "a".into()), (String::new(), "x".into())],
        claimed: &[],
        calls_from_text: 0,
        stopped: None,
        method: "official",
    };
    json!(Report::new(Metadata { framework: "f".to_owned(), ..Metadata::default() }, vec![result]))
}

pub(crate) fn departure(case: &Value) -> Option<Checked> {
    let query = query();
    Some(match text(&case["id"]) {
        "dep-res-1" => the_documents_form_is_written_and_both_are_read(&query),
        "dep-res-2" => {
            let long = "x".repeat(500);
            let report = report(&query, &long, None);
            same(&report["results"][0]["system_answer"]["final_answer"], &json!(long))
        }
        "dep-res-3" => {
            let unsolved = Finding::new(Aspect::Metric("sopr_score"), Verdict::scored(0.0));
            let card = Scorecard {
                ending: Ending::Failed("it broke".into()),
                judged: vec![unsolved].into(),
                ..Scorecard::of_attempt("", "1")
            };
            let summary = Summary::of([&card]);
            same(&json!((summary.unsolved_count, summary.error_count)), &json!((1, 1)))
        }
        _ => return None,
    })
}

fn the_documents_form_is_written_and_both_are_read(query: &Query) -> Checked {
    let report = report(query, "Oslo", None);
    let details = r#"{"name": "Finish"}"#;
    let wanted = json!({
        "query_id": 588,
        "query_text": "q",
        "gold_answer": {"relevant_apis": [["T", "a"], ["T", "b"]], "available_tools": [
            {"category": "C", "tool_name": "T", "apis": [{"api_name": "a", "api_description": ""}]}]},
        "system_answer": {"final_answer": "Oslo",
            "answer_details": [{"role": "tool", "message": details, "next": []}],
            "called_apis": [["T", "a"], ["", "x"]]},
        "scores": {"sopr_score": 1.0, "api_call_score": 0.5, "api_call_precision": 0.5,
            "other_calls": 1},
        "evaluation": {"answer_status": "Solved", "has_finish": true,
            "evaluation_method": "official", "reason": "it is"},
        "timing": {"evaluation_time": 1.5},
    });
    same(&report["results"], &json!([wanted]))?;
    let (file, problems) = read_result_file_of(&report);
    same(&json!((problems, &file.framework)), &json!((0, "f")))?;
    near(&json!(file.summary()), &report["summary"])?;
    let theirs = json!({
        "metadata": {"agent_name": "f", "test_set": "G1_tool"},
        "results": [{"query_id": 588, "gold_apis": [["T", "a"]], "system_answer_time": 2.0,
            "scores": {"sopr_score": 0.5, "api_call_score": 1.0, "answer_status": "Unsure"},
            "evaluation": {"has_finish": true}, "timing": {"evaluation_time": 0.5}},
            {"query_id": 589, "gold_apis": [], "error": "e",
            "scores": {"sopr_score": 0.0, "api_call_score": 0.0, "answer_status": "Error"}}, 5],
    });
    let (file, problems) = read_result_file_of(&theirs);
    let summary = file.summary();
    let got = json!({"problems": problems, "framework": file.framework, "set": file.test_set,
        "unsure": summary.unsure_count, "errors": summary.error_count,
        "calls": summary.average_api_call_score, "without": summary.api_call_not_applicable_count,
        "answer_time": summary.average_system_answer_time});
    near(
        &got,
        &json!({"problems": 1, "framework": "f", "set": "G1_tool", "unsure": 1, "errors": 1,
        "calls": 1.0, "without": 1, "answer_time": 2.0}),
    )
}

fn read_result_file_of(value: &Value) -> (juror_toolbench::result::ResultFile, usize) {
    let (file, problems) = read_result_file(&document(&value.to_string()));
    (file, problems.errors.len())
}

/// What a table of scores knows about each metric of an attempt.
fn standings(card: &Scorecard<'_>) -> Vec<(String, Standing)> {
    let mut scores = ScoreTable::of_attempts();
    scores.push_attempt(card);
    let columns = scores.columns().iter();
    columns.map(|column| (column.name.to_string(), scores.standing(column, 0))).collect()
}

/// Writes the card of an attempt as a line, and reads it again.
fn read_back(card: &Scorecard<'_>, method: &str) -> Scorecard<'static> {
    let result = QueryResult {
        query: &query(),
        card: card.clone(),
        names_set: true,
        answer: None,
        called: &[],
        claimed: &[],
        calls_from_text: 0,
        stopped: None,
        method,
    };
    let line = serde_json::to_string(&ResultLine(&result)).expect("JSON");
    let file = Document::new("r.jsonl", line.into(), Format::JsonLines).expect("UTF-8");
    read_result_file(&file).0.results.remove(0)
}

#[test]
fn an_attempt_that_is_read_back_has_the_metrics_that_it_had() {
    let called = Called::Api("T".into(), "a".into());
    let calls = [vec![], vec![called]].map(|called| CallScore::of(&called, &query().gold));
    let endings = [Ending::Responded, Ending::Failed("exit status 1".into())];
    let not_judged = || Verdict::NotApplicable(Reason::NotJudged);
    let why = Why { message: "status 503".into(), cause: Cause::Outside };
    let judges = [
        ("none", status_findings(&[], not_judged(), 0.0)),
        ("model", status_findings(&[Some(Status::Unsolved)], not_judged(), 0.5)),
        ("model", status_findings(&[None], Verdict::Failed(why), 0.5)),
    ];
    for calls in &calls {
        for ending in &endings {
            for (method, judged) in &judges {
                let card = Scorecard {
                    ending: ending.clone(),
                    computed: call_findings(calls, false).into(),
                    judged: judged.into(),
                    ..Scorecard::of_attempt("G1", "588")
                };
                let read = read_back(&card, method);
                assert_eq!(standings(&read), standings(&card), "{calls:?}, {ending:?}, {method}");
            }
        }
    }
}
