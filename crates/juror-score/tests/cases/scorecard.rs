//! The cards of records.

use juror_score::{Aspect, Finding, Judgement, Profile, Scorecard, Verdict, score};

use crate::stage::with_case;

const REFERENCE: &str = r#"[{"template_id": "t", "questions": [{"id": "q", "question_text": "Q",
    "reference_steps": [[{"name": "retrieval", "output": [{"id": 1, "text": "abc"}]}]]}]}]"#;

/// Makes the card of a response to the one question there is, and looks at it.
fn check(response: &str, judgement: &Judgement, look: impl FnOnce(&Scorecard<'_>)) {
    with_case(REFERENCE, &format!("[{response}]"), |case| {
        let record = score(case, &Profile::V5).with(judgement);
        look(&Scorecard::of(&record));
    });
}

#[test]
fn a_record_has_a_card_with_its_findings_and_usage() {
    let step =
        r#"{"name": "retrieval", "status": "success", "output": [{"id": 1, "text": "abc"}]}"#;
    let response = format!(
        r#"{{"question_id": "q", "actual_steps": [{step}, {step}], "total_tokens": 7,
            "elapsed_sec": 1.5}}"#
    );
    let relevance = |verdict| Finding::new(Aspect::Metric("answer_relevance"), verdict);
    let judgement =
        Judgement { findings: vec![relevance(Verdict::failed("no"))], ..Judgement::default() };
    check(&response, &judgement, |card| {
        assert_eq!((&*card.group, &*card.id, card.error()), ("t", "q", None));
        assert_eq!(card.number("steps_score"), Some(1.0));
        assert_eq!(card.number("retrieval_context_recall"), Some(1.0), "of its steps");
        assert_eq!(card.number("answer_relevance"), None);
        let failure = card.finding("answer_relevance").and_then(Finding::failure);
        assert_eq!(failure.map(|why| &*why.message), Some("no"));
        assert_eq!(card.number("elapsed_sec"), Some(1.5));
        assert_eq!(card.number("system_answer_time"), None, "that is a metric of attempts");
        let mut names = Vec::new();
        card.each_number(|name, number| names.push((name.to_owned(), number.whole)));
        let wanted = [("steps_score", false), ("total_tokens", true), ("elapsed_sec", false)];
        assert_eq!(names, wanted.map(|(name, whole)| (name.to_owned(), whole)));
        assert_eq!(card.clone().into_owned(), *card);
    });
}

#[test]
fn an_error_is_told_in_plain_text() {
    let none = Judgement::default();
    let error = |response: &str, wanted: &str| {
        check(response, &none, |card| assert_eq!(card.error(), Some(wanted)));
    };
    error(r#"{"question_id": "q", "status": "error", "error": "it \"broke\""}"#, "it \"broke\"");
    error(r#"{"question_id": "q", "status": "error", "error": {"code": 5}}"#, r#"{"code": 5}"#);
    error(r#"{"question_id": "other"}"#, "no response");
}
