//! A judged case: question, trajectory and findings together.

use std::borrow::Cow;

use juror_json as json;

use crate::compare::{Document, View};
use crate::explain::Miss;
use crate::finding::{Aspect, Finding, Judgement, Reason, Verdict, numbers_of_steps};
use crate::limits::{Limits, TooLarge, Whose};
use crate::match_steps::{Matching, match_views};
use crate::overlap::compare_answers;
use crate::profile::{ContextJudge, ErrorResponses, Profile};
use crate::question::{ExpectedStep, Question};
use crate::retrieval::{ContextScores, compare_contexts};
use crate::trajectory::{Status, Step, Trajectory};

/// The metrics of retrieval steps that [`score`] computes, if contexts are compared by text distance.
pub const COMPUTED_STEP_METRICS: [&str; 3] =
    ["retrieval_context_recall", "retrieval_context_precision", "retrieval_context_f1"];

/// A question and what a subject did with it.
#[derive(Clone, Copy, Debug)]
pub struct Case<'a> {
    /// The question with its reference.
    pub question: &'a Question<'a>,
    /// What the subject did.
    pub trajectory: &'a Trajectory<'a>,
}

/// A case with all findings about it.
#[derive(Clone, Debug)]
pub struct Record<'a> {
    /// The case.
    pub case: Case<'a>,
    /// Which expected steps were found; `None` if steps were not scored.
    pub matching: Option<Matching>,
    /// The findings that need no model, in the order of the metric table.
    pub computed: Vec<Finding>,
    /// For each actual step, whether it returned a SPARQL result without rows.
    pub empty_results: Vec<bool>,
    /// The judges' findings, if they were asked.
    pub judgement: Option<&'a Judgement>,
    /// Why expected steps were missed, for the result; empty unless requested.
    pub misses: Vec<Miss>,
    /// What exceeded a limit.
    pub too_large: Vec<TooLarge>,
}

impl<'a> Record<'a> {
    /// Adds the judges' findings.
    #[must_use]
    pub fn with(self, judgement: impl Into<Option<&'a Judgement>>) -> Record<'a> {
        Record { judgement: judgement.into(), ..self }
    }
}

impl Record<'_> {
    /// Returns all findings: first the computed ones, then those of judges.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.computed.iter().chain(self.judged())
    }

    /// Returns the judges' findings.
    pub fn judged(&self) -> &[Finding] {
        self.judgement.map_or(&[], |judgement| &judgement.findings)
    }

    /// Returns the computed verdict on a metric of the question.
    pub fn verdict(&self, metric: &str) -> Option<&Verdict> {
        let mut of_question = self.computed.iter().filter(|finding| finding.step.is_none());
        Some(&of_question.find(|finding| finding.aspect.name() == metric)?.verdict)
    }

    /// Returns the judges' finding about the claims of the answer.
    pub fn claims(&self) -> Option<&Finding> {
        self.judged().iter().find(|finding| matches!(finding.aspect, Aspect::Claims(_)))
    }

    /// Returns why an expected step was missed, if that was requested.
    pub fn miss_of(&self, group: usize, expected: usize) -> Option<&Miss> {
        let place = |miss: &Miss| (miss.group, miss.expected);
        let found = self.misses.binary_search_by_key(&(group, expected), place);
        found.ok().map(|at| &self.misses[at])
    }

    /// Returns the values of its steps for a metric of steps.
    pub fn values_of_steps(&self, metric: &str) -> Vec<f64> {
        numbers_of_steps(self.findings(), metric)
    }
}

impl<'a> Case<'a> {
    /// Returns the question as text.
    pub fn question_text(&self) -> Cow<'a, str> {
        json::text_or_json(self.question.text)
    }

    /// Returns the expected answer as text, if there is one.
    pub fn reference_answer(&self) -> Option<Cow<'a, str>> {
        text_of_answer(self.question.answer)
    }

    /// Returns the actual answer as text, if there is one.
    pub fn actual_answer(&self) -> Option<Cow<'a, str>> {
        text_of_answer(self.trajectory.answer)
    }

    /// Returns the texts that an actual step retrieved, or why they are not available.
    pub fn retrieved_texts(&self, step: usize, limits: &Limits) -> Result<Vec<String>, String> {
        let steps = self.trajectory.steps.as_deref().unwrap_or_default();
        let view = View::of_actual(&steps[step]).within(limits);
        owned_texts(&view, "actual")
    }

    /// Returns the texts that an expected step retrieves, or why they are not available.
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
    let views = views(case, profile);
    let (matching, verdict) = match find_steps(case, &views, profile) {
        Ok(matching) => {
            let score = Verdict::scored(matching.score);
            (Some(matching), score)
        }
        Err(why_not) => (None, why_not),
    };
    let mut computed = Vec::with_capacity(1);
    if profile.answer_overlap {
        computed.extend(compare_answers(case, profile));
    }
    computed.push(Finding::new(Aspect::Metric("steps_score"), verdict));
    if let (Some(matching), ContextJudge::Text) = (&matching, profile.contexts) {
        add_context_findings(case.question, &views, matching, profile, &mut computed);
    }
    let is_empty =
        |(step, view): (&Step, &View)| step.status != Status::Error && view.is_empty_result();
    let steps = case.trajectory.steps.as_deref().unwrap_or_default();
    let empty_results = steps.iter().zip(&views).map(is_empty).collect();
    let too_large = too_large(matching.as_ref(), &views);
    let misses = Vec::new();
    Record { case: *case, matching, computed, empty_results, judgement: None, misses, too_large }
}

impl Case<'_> {
    /// Returns which expected steps were found, if steps are scored.
    pub fn matching(&self, profile: &Profile) -> Option<Matching> {
        find_steps(self, &views(self, profile), profile).ok()
    }
}

/// Prepares the actual steps for comparison.
fn views<'a>(case: &Case<'a>, profile: &Profile) -> Vec<View<'a>> {
    View::of_answer(case.trajectory.steps.as_deref().unwrap_or_default(), profile)
}

/// Finds the expected steps, or returns the verdict on the steps if that is not possible.
fn find_steps(case: &Case<'_>, views: &[View<'_>], profile: &Profile) -> Result<Matching, Verdict> {
    let groups = steps_to_score(case, profile).map_err(Verdict::NotApplicable)?;
    let steps = case.trajectory.steps.as_deref().unwrap_or_default();
    match_views(groups, steps, views, profile).map_err(|why| Verdict::failed(why.to_string()))
}

/// Collects what exceeded a limit: in the expected steps, in pairing, and in the actual steps,
/// whose views have been examined further since matching.
fn too_large(matching: Option<&Matching>, views: &[View<'_>]) -> Vec<TooLarge> {
    let of_matching = matching.map_or(&[][..], |matching| &matching.too_large);
    let others = of_matching.iter().filter(|met| !matches!(met.place, Whose::Actual(_)));
    let of_view = |(step, view): (usize, &View)| {
        Some(TooLarge { place: Whose::Actual(step), excess: view.excess()? })
    };
    others.copied().chain(views.iter().enumerate().filter_map(of_view)).collect()
}

/// Returns the expected steps to look for, or why there are none.
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

/// Adds how well the contexts of each retrieval step that was found agree with the expected ones.
fn add_context_findings(
    question: &Question<'_>,
    views: &[View<'_>],
    matching: &Matching,
    profile: &Profile,
    findings: &mut Vec<Finding>,
) {
    let groups = question.groups.as_deref().unwrap_or_default();
    for pair in &matching.pairs {
        let expected = &groups[pair.group][pair.expected];
        let actual = &views[pair.actual];
        let is_retrieval = |name| profile.kind_names.is_retrieval(name);
        if !is_retrieval(&expected.name) || !is_retrieval(actual.name) {
            continue;
        }
        // A step that matches by its arguments need not say what it retrieves.
        if expected.output.is_none() {
            continue;
        }
        let values = match compare_context_outputs(
            &View::of_expected(expected).within(&profile.limits),
            actual,
        ) {
            Ok(scores) => [scores.recall, scores.precision, scores.f1].map(Verdict::scored),
            Err(why) => [(); 3].map(|()| Verdict::failed(why.clone())),
        };
        for (metric, verdict) in COMPUTED_STEP_METRICS.into_iter().zip(values) {
            findings.push(Finding::new(Aspect::Metric(metric), verdict).of_step(pair.actual));
        }
    }
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
        .map_err(|why| format!("{whose} contexts: {}", why.describe("the output", view.limits())))
}

fn texts<'d>(documents: &'d [Document<'_>], whose: &str) -> Result<Vec<&'d str>, String> {
    let text = |document: &'d Document<'_>| {
        document.text.as_deref().ok_or_else(|| format!("{whose} contexts: a context has no text"))
    };
    documents.iter().map(text).collect()
}
