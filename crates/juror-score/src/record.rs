//! A judged case: question, trajectory and findings together.

use std::borrow::Cow;

use juror_json as json;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::compare::{Document, View};
use crate::explain::Miss;
use crate::limits::{Excess, Limits};
use crate::match_steps::{Matching, match_views};
use crate::profile::{ContextJudge, ErrorResponses, Profile};
use crate::question::{ExpectedStep, Question};
use crate::retrieval::{ContextScores, compare_contexts};
use crate::trajectory::{Status, Step, Trajectory};

/// A question and what a subject did with it.
#[derive(Clone, Copy, Debug)]
pub struct Case<'a> {
    /// The question with its reference.
    pub question: &'a Question<'a>,
    /// What the subject did.
    pub trajectory: &'a Trajectory<'a>,
}

/// A case with everything found out about it.
#[derive(Clone, Debug)]
pub struct Record<'a> {
    /// The case.
    pub case: Case<'a>,
    /// Which expected steps were found; `None` when steps were not scored.
    pub matching: Option<Matching>,
    /// The findings, in the order of the metric table.
    pub findings: Vec<Finding>,
    /// For each actual step, whether it returned a SPARQL result without rows.
    pub empty_results: Vec<bool>,
    /// What judges found out, to stand in the result beside the findings.
    pub notes: &'a [Note],
    /// Why expected steps were missed, to stand in the result; empty where nobody asked.
    pub misses: Vec<Miss>,
    /// What the answer was allowed to cost.
    pub limits: Limits,
    /// The first actual step whose output asked for more.
    pub too_large: Option<TooLarge>,
}

/// An actual step that returned more than may be read: its output counts as what cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge {
    /// The step, by position.
    pub step: usize,
    /// What it returned too much of.
    pub excess: Excess,
}

/// A key of the result that a judge fills: a score, a reason, a cost, an error.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Note {
    /// The key, such as `answer_recall` or `answer_correctness_reason`.
    pub key: Cow<'static, str>,
    /// The actual step it is about, if it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<usize>,
    /// Its value.
    pub value: Value,
}

impl Note {
    /// A note on the question.
    pub fn new(key: impl Into<Cow<'static, str>>, value: impl Into<Value>) -> Note {
        Note { key: key.into(), step: None, value: value.into() }
    }

    /// The same note, on a step.
    #[must_use]
    pub fn of_step(self, step: Option<usize>) -> Note {
        Note { step, ..self }
    }

    /// Whether it says why there is no score.
    pub fn is_error(&self) -> bool {
        self.key.ends_with("_error") && self.value.is_string()
    }
}

/// What was found out for one metric.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The metric's name.
    pub metric: &'static str,
    /// The actual step it is about, if it is about one.
    pub step: Option<usize>,
    /// The value, or why there is none.
    pub verdict: Verdict,
}

/// A number one can average, or why there is none.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// A finite number.
    Scored(f64),
    /// The metric does not apply.
    NotApplicable(Reason),
    /// The metric applies and could not be computed.
    Failed(String),
}

/// Why a metric does not apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The reference has no steps.
    NoReferenceSteps,
    /// The response lists no steps.
    NoActualSteps,
    /// The question ended in an error, and the profile does not score those.
    ErrorResponse,
}

impl Verdict {
    /// A number that is not finite is a failure, so `Scored` is always a number one can average.
    pub fn scored(value: f64) -> Verdict {
        if value.is_finite() {
            Verdict::Scored(value)
        } else {
            Verdict::Failed(format!("the score is {value}"))
        }
    }
}

impl Record<'_> {
    /// The verdict on a metric of the question.
    pub fn verdict(&self, metric: &str) -> Option<&Verdict> {
        let finding = self.findings.iter().find(|f| f.metric == metric && f.step.is_none())?;
        Some(&finding.verdict)
    }

    /// The notes on the question, or on one of its steps.
    pub fn notes_of(&self, step: Option<usize>) -> impl Iterator<Item = &Note> {
        self.notes.iter().filter(move |note| note.step == step)
    }

    /// Why an expected step was missed, where somebody asked.
    pub fn miss_of(&self, group: usize, expected: usize) -> Option<&Miss> {
        let place = |miss: &Miss| (miss.group, miss.expected);
        let found = self.misses.binary_search_by_key(&(group, expected), place);
        found.ok().map(|at| &self.misses[at])
    }

    /// The numbers that its steps have for a metric of steps.
    pub fn values_of_steps(&self, metric: &str) -> impl Iterator<Item = f64> {
        let found = self.findings.iter().filter(move |found| found.metric == metric);
        let scored = found.filter_map(|found| match found.verdict {
            Verdict::Scored(value) if found.step.is_some() => Some(value),
            _ => None,
        });
        let noted = self.notes.iter().filter(move |note| note.step.is_some() && note.key == metric);
        scored.chain(noted.filter_map(|note| note.value.as_f64()))
    }
}

impl<'a> Case<'a> {
    /// What the subject was asked, as text.
    pub fn question_text(&self) -> Cow<'a, str> {
        json::text_or_json(self.question.text)
    }

    /// The expected answer as text, unless there is none.
    pub fn reference_answer(&self) -> Option<Cow<'a, str>> {
        text_of_answer(self.question.answer)
    }

    /// The answer given as text, unless there is none.
    pub fn actual_answer(&self) -> Option<Cow<'a, str>> {
        text_of_answer(self.trajectory.answer)
    }

    /// The texts an actual step retrieved, or why they cannot be had.
    pub fn retrieved_texts(&self, step: usize, limits: &Limits) -> Result<Vec<String>, String> {
        let steps = self.trajectory.steps.as_deref().unwrap_or_default();
        let view = View::of_actual(&steps[step]).within(limits);
        owned_texts(&view, "actual")
    }

    /// The texts an expected step retrieves, or why they cannot be had.
    pub fn expected_texts(
        &self,
        group: usize,
        step: usize,
        limits: &Limits,
    ) -> Result<Vec<String>, String> {
        let groups = self.question.groups.as_deref().unwrap_or_default();
        let view = View::of_expected(&groups[group][step]).within(limits);
        owned_texts(&view, "reference")
    }
}

fn text_of_answer(answer: Option<&serde_json::value::RawValue>) -> Option<Cow<'_, str>> {
    answer.filter(|answer| answer.get() != "null").map(json::text_or_json)
}

fn owned_texts(view: &View<'_>, whose: &str) -> Result<Vec<String>, String> {
    let texts = texts(contexts(view, whose)?, whose)?;
    Ok(texts.into_iter().map(str::to_owned).collect())
}

/// Computes every metric that needs no model.
pub fn score<'a>(case: &Case<'a>, profile: &Profile) -> Record<'a> {
    let steps = case.trajectory.steps.as_deref().unwrap_or_default();
    let views = View::of_answer(steps, profile);
    let mut findings = Vec::new();
    let (matching, verdict) = match steps_to_score(case, profile) {
        Err(reason) => (None, Verdict::NotApplicable(reason)),
        Ok(groups) => match match_views(groups, steps, &views, profile) {
            Ok(matching) => {
                let score = Verdict::scored(matching.score);
                (Some(matching), score)
            }
            Err(empty) => (None, Verdict::Failed(empty.to_string())),
        },
    };
    findings.push(Finding { metric: "steps_score", step: None, verdict });
    if let (Some(matching), ContextJudge::Text) = (&matching, profile.contexts) {
        findings.extend(context_findings(case.question, &views, matching, profile));
    }
    let is_empty =
        |(step, view): (&Step, &View)| step.status != Status::Error && view.is_empty_result();
    let empty_results = steps.iter().zip(&views).map(is_empty).collect();
    let too_large = |(step, view): (usize, &View)| Some(TooLarge { step, excess: view.excess()? });
    let too_large = views.iter().enumerate().find_map(too_large);
    let (notes, misses, limits): (&[Note], _, _) = (&[], Vec::new(), profile.limits);
    Record { case: *case, matching, findings, empty_results, notes, misses, limits, too_large }
}

/// The expected steps to look for, or why none are looked for.
fn steps_to_score<'a>(
    case: &Case<'a>,
    profile: &Profile,
) -> Result<&'a [Vec<ExpectedStep<'a>>], Reason> {
    let error = case.trajectory.ending.is_error();
    match (&case.question.groups, &case.trajectory.steps, profile.steps_of_errors) {
        (_, _, ErrorResponses::LeftOut) if error => Err(Reason::ErrorResponse),
        (None, _, _) => Err(Reason::NoReferenceSteps),
        (Some(groups), _, _) if groups.is_empty() => Err(Reason::NoReferenceSteps),
        (Some(_), None, ErrorResponses::LeftOut) => Err(Reason::NoActualSteps),
        (Some(groups), _, _) => Ok(groups),
    }
}

/// How well the contexts of each retrieval step that was found agree with the expected ones.
fn context_findings(
    question: &Question<'_>,
    views: &[View<'_>],
    matching: &Matching,
    profile: &Profile,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    let groups = question.groups.as_deref().unwrap_or_default();
    for pair in &matching.pairs {
        let expected = &groups[pair.group][pair.expected];
        let actual = &views[pair.actual];
        let is_retrieval = |name| profile.kind_names.is_retrieval(name);
        if !is_retrieval(&expected.name) || !is_retrieval(actual.name) {
            continue;
        }
        // What matches by its arguments need not say what it expects to be retrieved.
        if expected.output.is_none() {
            continue;
        }
        let values = match compare_context_outputs(
            &View::of_expected(expected).within(&profile.limits),
            actual,
        ) {
            Ok(scores) => [scores.recall, scores.precision, scores.f1].map(Verdict::scored),
            Err(why) => [(); 3].map(|()| Verdict::Failed(why.clone())),
        };
        let names =
            ["retrieval_context_recall", "retrieval_context_precision", "retrieval_context_f1"];
        for (metric, verdict) in names.into_iter().zip(values) {
            findings.push(Finding { metric, step: Some(pair.actual), verdict });
        }
    }
    findings
}

fn compare_context_outputs(
    expected: &View<'_>,
    actual: &View<'_>,
) -> Result<ContextScores, String> {
    let (expected, actual) = (contexts(expected, "reference")?, contexts(actual, "actual")?);
    let scores = compare_contexts(&texts(expected, "reference")?, &texts(actual, "actual")?);
    scores.map_err(|error| error.to_string())
}

fn contexts<'v, 't>(view: &'v View<'t>, whose: &str) -> Result<&'v [Document<'t>], String> {
    view.documents()
        .map_err(|why| format!("{whose} contexts: {}", why.told("the output", view.limits())))
}

fn texts<'d>(documents: &'d [Document<'_>], whose: &str) -> Result<Vec<&'d str>, String> {
    let text = |document: &'d Document<'_>| {
        document.text.as_deref().ok_or_else(|| format!("{whose} contexts: a context has no text"))
    };
    documents.iter().map(text).collect()
}
