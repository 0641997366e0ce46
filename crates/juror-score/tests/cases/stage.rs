//! Reads cases from text.

use juror_document::{Document, Format};
use juror_read::{read_reference, read_responses};
use juror_score::Case;
use serde_json::Value;

/// Reads a reference and responses, both JSON, and looks at the case of the first question.
pub(crate) fn with_case<T>(
    reference: &str,
    responses: &str,
    look: impl FnOnce(&Case<'_>) -> T,
) -> T {
    let document = |text: &str| Document::new("d", text.into(), Format::Json).expect("JSON");
    let (reference, responses) = (document(reference), document(responses));
    let dataset = read_reference(&reference).expect("a reference");
    let responses = read_responses(&responses).expect("responses");
    let question = &dataset.questions[0];
    look(&Case { question, trajectory: responses.of(question) })
}

/// The same, of a question with these groups of expected steps and a response with these steps. Both
/// are the JSON inside a list.
pub(crate) fn with_steps<T>(groups: &str, actual: &str, look: impl FnOnce(&Case<'_>) -> T) -> T {
    let reference = format!(
        r#"[{{"template_id": "t", "questions": [{{"id": "q", "question_text": "Q",
            "reference_steps": [{groups}]}}]}}]"#
    );
    let responses = format!(r#"[{{"question_id": "q", "actual_steps": [{actual}]}}]"#);
    with_case(&reference, &responses, look)
}

/// The JSON inside a list.
pub(crate) fn inside(list: &Value) -> String {
    let text = list.to_string();
    text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).expect("a list").to_owned()
}
