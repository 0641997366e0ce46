//! What judges were asked and what they replied, on demand.

use std::collections::BTreeMap;

use juror_browser::Browser;
use juror_scripted::{Reply, Script, Server};
use serde_json::json;

use crate::hostile::check;
use crate::hostile_texts::texts;
use crate::reports::{EVAL, open, show};
use crate::stage::Stage;

#[test]
fn the_prompt_and_the_reply_of_a_verdict_show_on_demand() {
    let Some(browser) = open(&EVAL, "#/?q=taxa-palm-court") else { return };
    assert_eq!(browser.count(".verdict .calls pre"), 0, "not before somebody asks");
    let mark = "for (const own of document.querySelectorAll('.verdict')) own.dataset.of = own.querySelector('h5').textContent.trim();";
    browser.run(mark, &[]);
    let claims = ".verdict[data-of=answer_correctness] .calls";
    let summary = browser.text(&format!("{claims} > summary"));
    assert!(summary.starts_with("Prompt and reply"), "{summary}");
    browser.click(&format!("{claims} > summary"));
    browser.wait(&format!("document.querySelector('{claims} pre')"));
    assert_eq!(browser.texts(&format!("{claims} .name")), ["system", "user", "reply"]);
    let texts = browser.texts(&format!("{claims} pre"));
    assert!(texts[0].starts_with("You compare an answer with a reference answer"), "{texts:?}");
    assert!(texts[1].contains("[marker]"), "{texts:?}");
    assert!(texts[2].contains("matching_claims"), "{texts:?}");
    assert!(browser.text(&format!("{claims} .note")).contains("tokens sent"));
    let relevance = ".verdict[data-of=answer_relevance] .calls";
    browser.click(&format!("{relevance} > summary"));
    browser.wait(&format!("document.querySelector('{relevance} .call')"));
    let calls = browser.texts(&format!("{relevance} .call > summary"));
    assert_eq!(calls.len(), 4, "three questions, and their embeddings: {calls:?}");
    assert!(calls[3].starts_with("embedding"), "{calls:?}");
}

#[test]
fn a_report_without_them_says_why() {
    let stage = Stage::new("no_calls");
    let results = EVAL.with_file_name("results.jsonl");
    std::fs::copy(results, stage.path("results.jsonl")).expect("a copy");
    stage.juror("report results.jsonl --profile 6 -o report.html");
    let Some(browser) = Browser::start() else { return };
    show(&browser, &stage.path("report.html"), "#/?q=taxa-palm-court");
    let note = "Prompts and replies: .juror/llm: no replies are kept here";
    assert!(browser.texts(".verdict .note").iter().any(|told| told == note));
}

#[test]
fn hostile_texts_in_prompts_and_replies_stay_text() {
    let stage = Stage::new("hostile_calls");
    let all = texts();
    let question = |(at, text): (usize, &String)| json!({"id": format!("q{at}"), "question_text": text, "reference_answer": text});
    let questions: Vec<_> = all.iter().enumerate().map(question).collect();
    let reference = json!([{"template_id": "t", "questions": questions}]);
    stage.write("reference.json", &reference.to_string());
    let response = |(at, text)| json!({"question_id": format!("q{at}"), "actual_answer": text});
    stage.write_lines("responses.jsonl", &all.iter().enumerate().map(response).collect::<Vec<_>>());
    let claims = json!({"reference_claims": 1, "actual_claims": 1, "matching_claims": 1,
        "reason": all.join(" ")});
    let replies = BTreeMap::from([("answer_claims".to_owned(), vec![Reply::Json(claims)])]);
    let server = Server::start(Script { replies, ..Script::default() });
    stage.write(
        "juror.yaml",
        "llm: {generation: {provider: openai, model: '<img src=x onerror=ran=1>'}}\n\
         retrieval_answer: {enabled: false}\n",
    );
    let address = format!("{}/v1", server.address());
    stage.juror_with(
        "eval reference.json responses.jsonl -c juror.yaml --profile 6 -o report.html",
        &[("OPENAI_API_KEY", "sk-x"), ("OPENAI_BASE_URL", &address)],
    );
    check(&stage.path("report.html"));
}
