//! A line of a file of labels, as people get it.

use juror_compare::{JudgeId, Kind, Sample};
use juror_json::python::dumps_of_json;
use juror_runs::short_hash;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::Value;

use crate::JudgedAnswer;

/// An answer for people to label. It has neither the judge's verdict nor the name of the system.
#[derive(Serialize, JsonSchema)]
#[schemars(title = "Label")]
pub struct LabelLine<'a> {
    /// `juror.label/1`.
    format: &'static str,
    /// The id of the question.
    id: &'a str,
    /// The question's template.
    #[serde(skip_serializing_if = "Option::is_none")]
    template: Option<&'a str>,
    /// The query's set.
    #[serde(skip_serializing_if = "Option::is_none")]
    set: Option<&'a str>,
    /// Which of several answers it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    trial: Option<u32>,
    /// The metric that the label is about.
    metric: &'a str,
    /// A hash of the judge's model and prompts.
    #[serde(skip_serializing_if = "Option::is_none")]
    judge: Option<String>,
    /// Why the answer was chosen.
    sample: Sample,
    /// The question.
    question: &'a str,
    /// The expected answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    reference_answer: Option<&'a str>,
    /// The answer; null if there is none.
    answer: Option<&'a str>,
    /// What a person says: a number from 0 to 1, or a word such as pass, fail or unsure.
    #[schemars(schema_with = "label_value_schema")]
    label: Option<Value>,
    /// Who says it.
    by: Option<&'a str>,
    /// Anything to remember.
    note: Option<&'a str>,
    /// The id of the run that the answer is from.
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<&'a str>,
    /// When the label was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    when: Option<&'a str>,
}

/// What a person says about an answer.
#[derive(Clone, Copy, Debug, Default)]
pub struct Said<'a> {
    /// From 0, wrong, to 1, right.
    pub label: f64,
    /// Who says it, if that is known.
    pub by: Option<&'a str>,
    /// Anything to remember.
    pub note: Option<&'a str>,
    /// The id of the run.
    pub run: Option<&'a str>,
    /// When it was said.
    pub when: Option<&'a str>,
}

fn label_value_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": ["number", "string", "boolean", "null"], "minimum": 0, "maximum": 1})
}

/// Returns the JSON Schema of a line.
pub fn label_schema() -> Value {
    schemars::schema_for!(LabelLine<'_>).into()
}

/// Returns what tells judges of a metric apart in labels.
pub fn judge_hash(judge: &JudgeId) -> String {
    // Texts always serialize, and the keys of maps are sorted.
    short_hash(&serde_json::to_string(judge).unwrap_or_default())
}

impl<'a> LabelLine<'a> {
    /// The name of the format.
    pub const FORMAT: &'static str = "juror.label/1";

    /// Makes the line of an answer, without a label.
    pub fn of(
        answer: &'a JudgedAnswer,
        kind: Kind,
        metric: &'a str,
        sample: Sample,
    ) -> LabelLine<'a> {
        let group = |of: Kind| (kind == of).then_some(answer.group.as_str());
        LabelLine {
            format: LabelLine::FORMAT,
            id: &answer.id,
            template: group(Kind::Eval),
            set: group(Kind::Bench),
            trial: answer.trial,
            metric,
            judge: answer.judge(metric).map(|judge| judge_hash(&judge)),
            sample,
            question: &answer.question,
            reference_answer: answer.reference_answer.as_deref(),
            answer: answer.answer.as_deref(),
            label: None,
            by: None,
            note: None,
            run: None,
            when: None,
        }
    }

    /// Adds what a person says.
    #[must_use]
    pub fn with(self, said: &Said<'a>) -> LabelLine<'a> {
        let Said { label, by, note, run, when } = *said;
        LabelLine { label: Some(Value::from(label)), by, note, run, when, ..self }
    }

    /// Returns the line, with spaces as people write JSON.
    pub fn text(&self) -> String {
        // Texts and numbers always serialize.
        let compact = serde_json::to_string(self).unwrap_or_default();
        dumps_of_json(&compact).unwrap_or(compact)
    }
}
