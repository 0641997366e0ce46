//! The summary of an evaluation, for people and for machines.

use std::num::NonZero;

use juror_compare::{ByMetric, CalibratedMetric, GateVerdict};
use juror_document::Problems;
use juror_read::CaseRoom;
use juror_report::{Format, Highlights, WorstQuestion, render_aggregates, summary, text_of_json};
use juror_run::{Evaluation, Outcome, QuestionSummary, Totals};
use juror_score::{Ending, Finding, KeyPart, Miss, Record, explain, score};
use serde::Serialize;
use serde_json::value::RawValue;

use super::super::gate::in_words;
use super::super::{count, model_args, profile_name, title};
use super::{FreshGraph, ReportArgs};
use crate::exit::Outside;
use crate::output;

/// The data of the summary.
pub(super) struct Summary<'s> {
    pub(super) args: &'s ReportArgs,
    pub(super) evaluation: &'s Evaluation<'s>,
    pub(super) outcome: &'s Outcome<Totals>,
    pub(super) graph: Option<&'s FreshGraph>,
}

impl<'s> Summary<'s> {
    /// Prints the summary to standard output, unless the user wants none or data goes there.
    pub(super) fn print(&self, problems: &Problems) -> Result<(), Outside> {
        let data_on_stdout = self.args.files().any(|name| name == "-");
        if self.args.json {
            // Numbers and strings always serialize.
            let json = serde_json::to_string_pretty(&self.json(problems)).unwrap_or_default();
            return output::print_data(&format!("{json}\n"));
        } else if !self.args.quiet && !data_on_stdout {
            return output::print_data(&summary(&self.highlights(), output::palette()));
        }
        Ok(())
    }

    fn highlights(&self) -> Highlights<'_> {
        let below = self.below_best();
        let worst = below.iter().take(self.args.worst).map(|own| self.worst(own)).collect();
        let n_more = below.len().saturating_sub(self.args.worst);
        let calls = model_args::rows(&self.outcome.judgements.tally);
        let Totals { aggregates, statistics, .. } = &self.outcome.product;
        Highlights { title: self.title(), aggregates, statistics, worst, n_more, calls }
    }

    fn title(&self) -> String {
        let Evaluation { plan, questions, answers, .. } = self.evaluation;
        let n = questions.len();
        let mut questions = count(n, "question");
        if self.evaluation.n_left_out() > 0 {
            questions = format!("{n} of {} questions", n + self.evaluation.n_left_out());
        }
        if answers.have_trials() {
            questions = format!("{} to {questions}", count(self.evaluation.n_cases(), "answer"));
        }
        let title =
            title(profile_name(&plan.profile), &questions, &self.outcome.product.aggregates);
        match self.evaluation.n_unanswered() {
            0 => title,
            n_missing => format!("{title} ({n_missing} without a response)"),
        }
    }

    /// Returns the imperfect questions, errors first, then by score.
    fn below_best(&self) -> Vec<&QuestionSummary> {
        let is_below = |own: &&QuestionSummary| {
            let low = |score: Option<f64>| score.is_some_and(|score| score < 1.0);
            own.is_error || own.has_failure || low(own.steps_score) || low(own.answer_f1)
        };
        let mut below: Vec<&QuestionSummary> =
            self.outcome.questions.iter().filter(is_below).collect();
        let rank = |own: &QuestionSummary| {
            let lowest = [own.steps_score, own.answer_f1].into_iter().flatten();
            let lowest = lowest.min_by(f64::total_cmp);
            if own.is_error { -1.0 } else { lowest.unwrap_or(-0.5) }
        };
        below.sort_by(|a, b| rank(a).total_cmp(&rank(b)));
        below
    }

    /// Scores a question again, to explain why it did not do well.
    fn worst(&self, own: &QuestionSummary) -> WorstQuestion {
        let (room, profile) = (CaseRoom::default(), &self.evaluation.plan.profile);
        let case = self.evaluation.case(own.index, &room);
        let case = case.case();
        let judgement = self.outcome.judgements.of_questions.get(own.index);
        let record = score(&case, profile).with(judgement);
        let reason = record.claims().and_then(|claims| claims.reason.clone()).unwrap_or_default();
        let error = match &case.trajectory.ending {
            Ending::Responded => failures_in_words(&record),
            Ending::Failed(message) => Some(text_of_json(message).into_owned()),
            Ending::Missing => Some("no response".into()),
        };
        WorstQuestion {
            id: case.question.id.to_string(),
            trial: case.trajectory.trial,
            text: text_of_json(case.question.text.get()).into_owned(),
            is_error: own.is_error,
            score: own.steps_score.filter(|_| !own.is_error),
            answer: own.answer_f1.filter(|f1| *f1 < 1.0).map(|f1| (f1, reason)),
            error,
            misses: if own.is_error { Vec::new() } else { explain(&record, profile) },
        }
    }

    fn gates_not_met(&self) -> Vec<String> {
        let gates = self.outcome.product.gates.iter();
        let not_met = gates.filter(|gate| gate.verdict == GateVerdict::Block);
        not_met.map(in_words).collect()
    }

    fn json(&self, problems: &Problems) -> JsonSummary<'s> {
        let highlights = self.highlights();
        let aggregates = render_aggregates(&self.outcome.product.aggregates, Format::JsonLines);
        let has_trials = self.evaluation.answers.have_trials();
        JsonSummary {
            profile: profile_name(&self.evaluation.plan.profile),
            questions: self.evaluation.questions.len(),
            left_out: self.evaluation.n_left_out(),
            answers: has_trials.then(|| self.evaluation.n_cases()),
            errors: self.outcome.product.aggregates.micro.n_errors,
            warnings: problems.errors.iter().map(ToString::to_string).collect(),
            gates_not_met: self.gates_not_met(),
            calibrated: self.outcome.product.statistics.calibrated.clone(),
            graph: self.graph,
            worst: highlights.worst.iter().map(JsonWorst::of).collect(),
            calls: model_args::json_calls(&self.outcome.judgements.tally),
            aggregates: serde_json::from_slice(aggregates.trim_ascii()).unwrap_or_default(),
        }
    }
}

/// Describes what is missing for a question: the first metric that could not be computed, or else
/// everything that judges could not find out.
fn failures_in_words(record: &Record<'_>) -> Option<String> {
    let failure = |finding: &Finding| {
        let message = &finding.failure()?.message;
        Some(format!("{}: {message}", finding.aspect.name()))
    };
    let of_judge = |finding: &Finding| {
        let message = &finding.failure()?.message;
        Some(format!("{}: {message}", finding.aspect.key(KeyPart::Error)))
    };
    let judged: Vec<String> = record.judged().iter().filter_map(of_judge).collect();
    let computed = record.computed.iter().find_map(failure);
    computed.or((!judged.is_empty()).then(|| judged.join("; ")))
}

/// The summary, for machines.
#[derive(Serialize)]
struct JsonSummary<'s> {
    profile: &'static str,
    questions: usize,
    /// How many questions of the reference do not count, because of a limit.
    #[serde(skip_serializing_if = "is_zero")]
    left_out: usize,
    /// The number of cases, if questions have several answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    answers: Option<usize>,
    errors: usize,
    warnings: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    gates_not_met: Vec<String>,
    #[serde(skip_serializing_if = "ByMetric::is_empty")]
    calibrated: ByMetric<CalibratedMetric>,
    /// The graph that expected results are taken from.
    #[serde(skip_serializing_if = "Option::is_none")]
    graph: Option<&'s FreshGraph>,
    worst: Vec<JsonWorst>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    calls: Vec<model_args::JsonCalls>,
    aggregates: Box<RawValue>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

#[derive(Serialize)]
struct JsonWorst {
    question_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    trial: Option<NonZero<u32>>,
    steps_score: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    answer_f1: Option<f64>,
    error: Option<String>,
    misses: Vec<JsonMiss>,
}

#[derive(Serialize)]
struct JsonMiss {
    group: usize,
    step: usize,
    name: String,
    why: String,
}

impl JsonWorst {
    fn of(worst: &WorstQuestion) -> JsonWorst {
        let miss = |miss: &Miss| JsonMiss {
            group: miss.group,
            step: miss.expected,
            name: miss.name.clone(),
            why: miss.why.clone(),
        };
        JsonWorst {
            question_id: worst.id.clone(),
            trial: worst.trial,
            steps_score: worst.score,
            answer_f1: worst.answer.as_ref().map(|(f1, _)| *f1),
            error: worst.error.clone(),
            misses: worst.misses.iter().map(miss).collect(),
        }
    }
}
