//! Scores as annotations: `{"data": […]}`, as Phoenix takes it at `/v1/span_annotations`.

use serde::Serialize;
use serde_json::{Value, json};

use super::{Evaluated, Evaluation, ExportedRun};

#[derive(Serialize)]
struct Annotations<'a> {
    data: Vec<Annotation<'a>>,
}

#[derive(Serialize)]
struct Annotation<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    span_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace_id: Option<&'a str>,
    name: &'a str,
    annotator_kind: &'static str,
    result: AnnotationResult<'a>,
    /// Annotations with the same name and identifier replace each other: those of the same run.
    identifier: &'a str,
    metadata: Value,
}

#[derive(Serialize)]
struct AnnotationResult<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    explanation: Option<&'a str>,
}

pub(super) fn render(run: &ExportedRun<'_>, answers: &[Evaluated<'_>]) -> Vec<u8> {
    let mut data = Vec::new();
    for answer in answers {
        data.extend(answer.evaluations.iter().map(|found| annotation(run, answer, found)));
    }
    let mut out = Vec::new();
    // Writing to memory cannot fail, and neither can these keys.
    let _ = serde_json::to_writer(&mut out, &Annotations { data });
    out.push(b'\n');
    out
}

fn annotation<'a>(
    run: &ExportedRun<'a>,
    answer: &'a Evaluated<'_>,
    evaluation: &'a Evaluation<'_>,
) -> Annotation<'a> {
    let mut metadata = json!({"question_id": answer.id, "template_id": answer.group});
    if let Some(trial) = answer.trial {
        metadata["trial"] = trial.into();
    }
    Annotation {
        span_id: answer.span_id.as_deref(),
        trace_id: answer.trace_id.as_deref(),
        name: evaluation.metric,
        annotator_kind: if evaluation.is_judged { "LLM" } else { "CODE" },
        result: AnnotationResult {
            score: evaluation.score,
            label: evaluation.score.is_none().then_some("error"),
            explanation: evaluation.explanation.as_deref(),
        },
        identifier: run.id.unwrap_or(run.name),
        metadata,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::tests::{RUN, answers};

    #[test]
    fn a_score_is_an_annotation_of_its_span() {
        let rendered: Value = serde_json::from_slice(&render(&RUN, &answers())).expect("JSON");
        let wanted = json!({
            "span_id": "eee19b7ec3c1b174", "trace_id": "5b8efff798038103d269b633813fc60c",
            "name": "answer_f1", "annotator_kind": "LLM",
            "result": {"score": 0.5, "explanation": "The coast is missing."},
            "identifier": "b71c2e",
            "metadata": {"question_id": "peru", "template_id": "capitals", "trial": 2},
        });
        assert_eq!(rendered["data"][0], wanted);
        assert_eq!(rendered["data"][1]["annotator_kind"], "CODE");
        let failed = json!({"label": "error", "explanation": "the model is down"});
        assert_eq!(rendered["data"][2]["result"], failed);
    }
}
