//! Reads a result of an evaluation back as the case that it was made from.

use juror_json::{self as json, Object, small_value};
use juror_score::{
    Aspect, COMPUTED_STEP_METRICS, Case, ContextJudge, FlatPair, Judgement, KeyPart, Level,
    METRICS, MetricInfo, Profile, Question, Trajectory,
};

use crate::reference::expected_groups;
use crate::responses::read_record;

/// A result as the case that it was made from, and what judges found. It borrows from the text of
/// the result.
///
/// ```
/// use juror_read::{ResultCase, judged_aspects};
/// use juror_score::{Profile, score};
///
/// let result = r#"{"template_id": "t", "question_id": "q", "question_text": "Capital?",
///     "reference_steps": [[{"name": "lookup", "output": "Oslo"}]], "status": "success",
///     "actual_steps": [{"name": "lookup", "status": "success", "output": "Oslo"}],
///     "answer_relevance": 0.5}"#;
/// let result = ResultCase::read(result, &judged_aspects(&Profile::V6, [])).expect("a result");
/// let record = score(&result.case(), &Profile::V6).with(&result.judgement);
/// assert_eq!(record.matching.as_ref().map(|matching| matching.score), Some(1.0));
/// assert_eq!(record.judged()[0].verdict.number(), Some(0.5));
/// ```
#[derive(Clone, Debug)]
pub struct ResultCase<'a> {
    /// The question with its reference.
    pub question: Question<'a>,
    /// What the subject did. Profile 5 does not write what failed responses contained, and no result
    /// distinguishes a missing response from one that failed.
    pub trajectory: Trajectory<'a>,
    /// What judges of the given aspects found; empty if nobody judged.
    pub judgement: Judgement,
}

impl<'a> ResultCase<'a> {
    /// Reads a result from its JSON, with the findings about these [aspects](judged_aspects).
    /// Returns `None` if it is not the result of a question. Findings that cannot be read are left
    /// out.
    pub fn read(json: &'a str, aspects: &[Aspect]) -> Option<ResultCase<'a>> {
        let fields: Object<'a> = json::from_str(json).ok()?;
        let question = question_in(&fields)?;
        let trajectory = read_record(json).ok()?.trajectory;
        let judgement = judgement_in(&fields, &trajectory, aspects);
        Some(ResultCase { question, trajectory, judgement })
    }

    /// Returns the case.
    #[inline]
    pub fn case(&self) -> Case<'_> {
        Case { question: &self.question, trajectory: &self.trajectory }
    }
}

/// Reads the question with its reference.
fn question_in<'a>(fields: &Object<'a>) -> Option<Question<'a>> {
    let groups = match fields.get_set("reference_steps") {
        None => None,
        Some(groups) => Some(expected_groups(json::from_str(groups.get()).ok()?)?),
    };
    Some(Question {
        id: json::scalar_text(fields.get("question_id")?)?,
        template: json::scalar_text(fields.get("template_id")?)?,
        text: fields.get_set("question_text")?,
        answer: fields.get_set("reference_answer"),
        groups,
    })
}

/// Returns the aspects that judges look at by a profile, with those of custom evaluations.
pub fn judged_aspects(profile: &Profile, custom: impl IntoIterator<Item = Aspect>) -> Vec<Aspect> {
    let claims = Aspect::Claims(profile.answer_error_key);
    let is_own = |metric: &&MetricInfo| {
        let is_computed = profile.contexts == ContextJudge::Text
            && COMPUTED_STEP_METRICS.iter().any(|name| metric.name.starts_with(name));
        let is_score = !metric.name.ends_with("_cost");
        metric.is_judged && metric.level != Level::Attempt && is_score && !is_computed
    };
    let metrics = METRICS.iter().filter(is_own).map(|metric| metric.name);
    let others: Vec<Aspect> =
        metrics.filter(|name| claims.part(name).is_none()).map(Aspect::Metric).collect();
    std::iter::once(claims).chain(others).chain(custom).collect()
}

/// Reads the findings about a question, then those about its steps.
fn judgement_in(fields: &Object<'_>, trajectory: &Trajectory<'_>, aspects: &[Aspect]) -> Judgement {
    let mut judgement = Judgement::default();
    let by = fields.get_set(Judgement::JUDGED_BY).and_then(|by| small_value(by.get()));
    by.and_then(|by| judgement.read_judged_by(by));
    judgement.extend(findings_in(fields, None, aspects));
    for (at, step) in trajectory.steps.iter().flatten().enumerate() {
        judgement.extend(findings_in(&step.fields, Some(at), aspects));
    }
    judgement
}

/// Reads the findings in an object, in the order in which it has them.
fn findings_in(fields: &Object<'_>, step: Option<usize>, aspects: &[Aspect]) -> Judgement {
    let mut drafts: Vec<(&Aspect, Vec<(KeyPart, FlatPair)>)> = Vec::new();
    for (key, raw) in fields.iter() {
        let own = aspects.iter().find_map(|aspect| Some((aspect, aspect.part(&key)?)));
        let Some((aspect, part)) = own else { continue };
        let Some(value) = small_value(raw.get()) else { continue };
        let pair = (part, FlatPair { key: key.into_owned(), step, value });
        match drafts.iter_mut().find(|(known, _)| *known == aspect) {
            Some((_, pairs)) => pairs.push(pair),
            None => drafts.push((aspect, vec![pair])),
        }
    }
    let mut judgement = Judgement::default();
    for (aspect, mut pairs) in drafts {
        // Other programs may write the keys in another order.
        pairs.sort_by_key(|(part, _)| *part);
        let pairs = pairs.into_iter().map(|(_, pair)| pair).collect();
        judgement.extend(Judgement::read(pairs, std::slice::from_ref(aspect)).unwrap_or_default());
    }
    judgement
}

#[cfg(test)]
mod tests;
