//! An answer of a run, as people see it who check its judge, and what the judge said about it.

use std::borrow::Cow;

use juror_compare::JudgeId;
use juror_json::{self as json, Object};
use juror_pages::JudgeForm;
use juror_run::judge_id;
use juror_score::{JudgedBy, Judgement, KeyPart, Number, Scorecard, Unit, metric, split_key};
use serde_json::value::RawValue;

/// An answer, and what judges said about it.
#[derive(Clone, Debug, Default)]
pub struct JudgedAnswer {
    /// The template or set of its question.
    pub group: String,
    /// The id of its question.
    pub id: String,
    /// Which of several answers it is.
    pub trial: Option<u32>,
    /// The question.
    pub question: String,
    /// The expected answer.
    pub reference_answer: Option<String>,
    /// The answer; `None` if there is none.
    pub answer: Option<String>,
    /// What judges found, by metric.
    pub(super) scores: Vec<(String, f64)>,
    /// What they found each time, if they were asked several times, by metric.
    repeats: Vec<(String, Vec<f64>)>,
    /// Who judged.
    judged_by: Option<JudgedBy>,
}

impl JudgedAnswer {
    /// The judge's score for a metric.
    pub fn score(&self, metric: &str) -> Option<f64> {
        self.scores.iter().find(|(name, _)| name == metric).map(|(_, score)| *score)
    }

    /// The scores that the judge gave if it was asked several times; else empty.
    pub fn repeats(&self, metric: &str) -> &[f64] {
        let own = self.repeats.iter().find(|(name, _)| name == metric);
        own.map_or(&[], |(_, scores)| scores)
    }

    /// Who decided a metric, if that is known.
    pub fn judge(&self, metric: &str) -> Option<JudgeId> {
        self.judged_by.as_ref().map(|by| judge_id(by, metric))
    }
}

/// The answer of a result of `juror eval`.
pub(super) fn question_answer(fields: &Object<'_>) -> JudgedAnswer {
    let text = |key: &str| Some(json::text_or_json(fields.get_set(key)?).into_owned());
    let id = |key: &str| fields.get_set(key).and_then(json::scalar_text).map(Into::into);
    let number = |(key, raw): (Cow<'_, str>, &RawValue)| {
        let number = Number::from_json(raw.get()).filter(|_| is_judged_score(&key))?;
        Some((key.into_owned(), number.value))
    };
    JudgedAnswer {
        group: id("template_id").unwrap_or_default(),
        id: id("question_id").unwrap_or_default(),
        trial: fields.get("trial").and_then(|raw| raw.get().parse().ok()),
        question: text("question_text").unwrap_or_default(),
        reference_answer: text("reference_answer"),
        answer: text("actual_answer"),
        scores: fields.iter().filter_map(number).collect(),
        repeats: repeats_in(fields),
        judged_by: fields.get_set(Judgement::JUDGED_BY).and_then(judged_by),
    }
}

/// The lists of scores in a result, or in the evaluation of an attempt.
fn repeats_in(fields: &Object<'_>) -> Vec<(String, Vec<f64>)> {
    let own = |(key, raw): (Cow<'_, str>, &RawValue)| {
        let (metric, scores) =
            (key.strip_suffix(KeyPart::REPEATS)?, juror_json::from_str(raw.get()));
        let scores: Vec<Option<f64>> = scores.ok()?;
        Some((metric.to_owned(), scores.into_iter().flatten().collect()))
    };
    fields.iter().filter_map(own).collect()
}

/// Whether a key of a result is a judge's score. Keys that Juror does not know may be outputs of
/// custom evaluations.
fn is_judged_score(key: &str) -> bool {
    let is_score = |unit: Unit| matches!(unit, Unit::Fraction | Unit::Cosine);
    match metric(key) {
        Some(info) => info.is_judged && is_score(info.unit),
        None => key != "trial" && !key.ends_with("_count") && split_key(key).1.is_none(),
    }
}

fn judged_by(raw: &RawValue) -> Option<JudgedBy> {
    serde_json::from_str::<JudgeForm>(raw.get()).ok()?.judge()
}

/// The answer of a result of `juror bench`.
pub(super) fn attempt_answer(
    card: &Scorecard<'_>,
    fields: &Object<'_>,
    judge: Option<&JudgedBy>,
) -> JudgedAnswer {
    let text = |raw: &RawValue| json::text_or_json(raw).into_owned();
    let answered: Option<Object<'_>> =
        fields.get_set("system_answer").and_then(|raw| juror_json::from_str(raw.get()).ok());
    let answer = answered.and_then(|own| own.get_set("final_answer").map(text));
    let evaluated: Option<Object<'_>> =
        fields.get_set("evaluation").and_then(|raw| juror_json::from_str(raw.get()).ok());
    let scores = ["sopr_score", "answer_status"].into_iter();
    let scores = scores.filter_map(|name| Some((name.to_owned(), card.number(name)?)));
    JudgedAnswer {
        group: card.group.to_string(),
        id: card.id.to_string(),
        trial: card.trial.and_then(|trial| u32::try_from(trial).ok()),
        question: fields
            .get_set("query_text")
            .or(fields.get_set("query"))
            .map(text)
            .unwrap_or_default(),
        reference_answer: None,
        answer: answer.filter(|answer| !answer.is_empty()),
        scores: scores.collect(),
        repeats: evaluated.as_ref().map(repeats_in).unwrap_or_default(),
        judged_by: judge.cloned(),
    }
}
