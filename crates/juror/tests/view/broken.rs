//! Runs that are torn, unfinished, or of another release.

use serde_json::json;

use crate::stage::Stage;

#[test]
fn runs_that_cannot_be_read_are_listed_with_a_word() {
    let stage = Stage::with_two_runs();
    stage.write("runs/torn/run.json", "{\"format\": \"juror.run/1\", \"id");
    stage.write("runs/newer/run.json", r#"{"format": "juror.run/9", "shape": "other"}"#);
    let viewed = stage.view("");
    let page = viewed.page("/");
    for part in ["not a manifest of a run", "the format `juror.run/9` is not known", "/run/first"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    for (id, word) in [("torn", "not a manifest"), ("newer", "a newer one may have stored")] {
        let reply = viewed.get(&format!("/run/{id}"));
        assert_eq!(reply.status, 422);
        assert!(reply.body.contains(word), "{}", reply.body);
    }
    let reply = viewed.get("/compare?run=first&run=torn");
    assert_eq!(reply.status, 422);
    assert!(reply.body.contains("These runs cannot be compared"), "{}", reply.body);
}

#[test]
fn an_unfinished_run_says_how_far_it_came() {
    let stage = Stage::with_two_runs();
    stage.write("runs/begun/run.json", &stage.manifest("first").to_string());
    stage.write("runs/begun/records.jsonl", "{\"question_id\": \"q1\"}\n{\"question");
    let viewed = stage.view("");
    let page = viewed.page("/run/begun");
    for part in ["this run is not finished", "unfinished: 1 of 2", "juror eval reference.json"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(viewed.page("/").contains("1 of 2"));
}

#[test]
fn results_that_are_torn_are_shown_as_far_as_they_go() {
    let stage = Stage::with_two_runs();
    let results = stage.read("runs/first/results.jsonl");
    stage.write("runs/first/results.jsonl", &results[..results.len() - 40]);
    let viewed = stage.view("");
    let page = viewed.page("/run/first");
    assert!(page.contains("the results have 1 problem"), "{page}");
    let listed = viewed.page("/");
    assert_eq!(listed.matches("<span class=\"state\">damaged</span>").count(), 1, "{listed}");
    assert_eq!(listed.matches("<span class=\"state\">complete</span>").count(), 1, "{listed}");
    stage.write("runs/first/results.jsonl", "{\"template");
    let reply = viewed.get("/run/first");
    assert_eq!(reply.status, 422, "{}", reply.body);
    let mut statistics = json!({"format": "juror.statistics/9"});
    stage.write("runs/first/statistics.json", &statistics.to_string());
    statistics["micro"] = json!([1]);
    stage.write("runs/second/statistics.json", &statistics.to_string());
    assert!(viewed.page("/").contains("0.500"), "aggregates tell the means");
}
