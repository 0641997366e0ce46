//! The details of a question with recorded answers.

use juror_json::text_or_json;
use juror_read::ResultCase;
use juror_score::{
    Alignment, Ending, ExpectedStep, MOVED, Question, ShownLimits, ShownOutput, Step, score,
    show_expected,
};
use serde_json::value::RawValue;

use super::verdict::verdicts;
use super::word_diff::word_diff;
use super::{
    Detail, Shown, ShownAnswer, ShownExpected, ShownReference, ShownStep, laid_out, shortened,
};
use crate::html::page::{PageRun, PageSource};
use crate::html::rows::QuestionRow;

/// Collects the details. The reference is that of the first run that has the question.
pub(super) fn detail(source: &PageSource<'_>, row: &QuestionRow<'_>, shown: &Shown) -> Detail {
    let limits = &shown.limits;
    let mut read: Vec<(usize, &PageRun<'_>, usize, ResultCase<'_>)> = Vec::new();
    for (at, run) in source.runs.iter().enumerate() {
        for item in &row.answers[at] {
            let result = run.answers.get(*item).and_then(|answer| answer.result);
            let case = result.and_then(|result| ResultCase::read(result, &run.aspects));
            read.extend(case.map(|case| (at, run, *item, case)));
        }
    }
    let mut detail =
        Detail { runs: row.answers.iter().map(|_| Vec::new()).collect(), ..Detail::default() };
    let Some((_, first, _, case)) = read.first() else { return detail };
    let (question, profile) = (&case.question, first.profile);
    detail.text = text_or_json(question.text).into_owned();
    if shown.is_brief {
        for (at, run, item, case) in &read {
            let verdicts = verdicts(&case.judgement);
            let scores = run.numbers_of(*item);
            detail.runs[*at].push(ShownAnswer { scores, verdicts, ..outcome(case, limits) });
        }
        return detail;
    }
    let mut alignments: Vec<Alignment> = Vec::new();
    for (_, run, _, case) in &read {
        let record = score(&case.case(), run.profile).with(&case.judgement);
        let mut alignment = Alignment::of(&record, run.profile, limits);
        tell_moved(&case.question, &mut alignment);
        if !is_of_same_shape(question, &case.question) {
            alignment.pairs.clear();
        }
        alignments.push(alignment);
    }
    let outputs = show_expected(question, profile, limits, &mut alignments);
    detail.reference = Some(reference(question, outputs, limits));
    for ((at, run, item, case), alignment) in read.iter().zip(alignments) {
        let mut own = answer(case, alignment, limits);
        own.scores = run.numbers_of(*item);
        shown.calls.add_to(&mut own.verdicts, || run.calls.of_answer(case));
        detail.runs[*at].push(own);
    }
    detail
}

/// Says of steps whose expected result has moved with the graph that it has, before what else there is to
/// say.
fn tell_moved(question: &Question<'_>, alignment: &mut Alignment) {
    for pair in &mut alignment.pairs {
        let step = question.groups.as_ref().and_then(|all| all.get(pair.group)?.get(pair.expected));
        let Some(how) = step.and_then(|step| step.fields.get_set(MOVED)) else { continue };
        let how = format!("The graph moved: {}.", text_or_json(how));
        pair.why = Some(match pair.why.take() {
            Some(why) => format!("{how} {why}"),
            None => how,
        });
    }
}

/// Whether steps of one question have the same places in the other.
fn is_of_same_shape(one: &Question<'_>, other: &Question<'_>) -> bool {
    let shape = |question: &Question<'_>| -> Vec<usize> {
        question.groups.iter().flatten().map(Vec::len).collect()
    };
    shape(one) == shape(other)
}

fn reference(
    question: &Question<'_>,
    outputs: Vec<Vec<Option<ShownOutput>>>,
    limits: &ShownLimits,
) -> ShownReference {
    let groups = question.groups.iter().flatten().zip(outputs).map(|(steps, outputs)| {
        let own = steps.iter().zip(outputs);
        own.map(|(step, output)| expected(step, output, limits)).collect()
    });
    let answer = question.answer.filter(|answer| answer.get() != "null");
    ShownReference {
        answer: answer.map(|answer| text_or_json(answer).into_owned()),
        groups: groups.collect(),
    }
}

fn expected(
    step: &ExpectedStep<'_>,
    output: Option<ShownOutput>,
    limits: &ShownLimits,
) -> ShownExpected {
    let names =
        |names: &Vec<std::borrow::Cow<'_, str>>| names.iter().map(ToString::to_string).collect();
    ShownExpected {
        name: step.name.to_string(),
        args: args(step.fields.get_set("args"), limits),
        output,
        ordered: step.rules.ordered,
        required: step.rules.required_columns.as_ref().map(names),
    }
}

fn args(json: Option<&RawValue>, limits: &ShownLimits) -> Option<String> {
    laid_out(json?.get(), limits.characters)
}

/// How an answer came about.
fn outcome(case: &ResultCase<'_>, limits: &ShownLimits) -> ShownAnswer {
    let trajectory = &case.trajectory;
    ShownAnswer {
        trial: trajectory.trial.map(std::num::NonZero::get),
        status: if trajectory.ending.is_error() { "error" } else { "success" },
        error: match &trajectory.ending {
            Ending::Responded => None,
            Ending::Failed(message) => laid_out(message, limits.characters),
            Ending::Missing => Some("no response".to_owned()),
        },
        ..ShownAnswer::default()
    }
}

fn answer(case: &ResultCase<'_>, alignment: Alignment, limits: &ShownLimits) -> ShownAnswer {
    let case_view = case.case();
    let actual = case_view.actual_answer().map(std::borrow::Cow::into_owned);
    let diff = case_view
        .reference_answer()
        .zip(actual.as_deref())
        .map(|(reference, actual)| word_diff(&reference, actual));
    let steps = case.trajectory.steps.as_deref().unwrap_or_default();
    let began = steps.iter().find_map(Step::ran_at);
    let steps = steps.iter().zip(alignment.outputs);
    ShownAnswer {
        answer: actual,
        diff,
        steps: steps.map(|(step, output)| shown_step(step, output, began, limits)).collect(),
        pairs: alignment.pairs,
        verdicts: verdicts(&case.judgement),
        ..outcome(case, limits)
    }
}

fn shown_step(
    step: &Step<'_>,
    output: Option<ShownOutput>,
    began: Option<f64>,
    limits: &ShownLimits,
) -> ShownStep {
    let text = |key: &str| {
        let own = step.fields.get_set(key)?;
        Some(shortened(&text_or_json(own), limits.characters))
    };
    ShownStep {
        id: text("id"),
        name: step.name.to_string(),
        status: text("status"),
        args: args(step.fields.get_set("args"), limits),
        output,
        error: text("error"),
        at: step.ran_at().zip(began).map(|(at, began)| at - began),
        ..ShownStep::default()
    }
}
