//! Findings about a case, by a comparator or by a judge.
//!
//! A finding is asked for, paid for and fails as one. It may give several numbers: the claims of an
//! answer give recall, precision and f1 for one price.

mod aspect;
mod flat;
mod judgement;
mod repeats;

use juror_statistics::compensated_sum;
use serde_json::Value;

pub use aspect::{Aspect, CustomAspect, KeyPart, split_key};
pub use flat::{FlatPair, FlatValue};
pub use judgement::{JudgedBy, Judgement};
pub use repeats::{RepeatedClaims, RepeatedOutputs};

use crate::retrieval;

/// The result of one examination of a case.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// What it is about.
    pub aspect: Aspect,
    /// The actual step that it is about, if any.
    pub step: Option<usize>,
    /// The score, or why there is none.
    pub verdict: Verdict,
    /// The reason, in a judge's words.
    pub reason: Option<String>,
    /// US dollars, if something was paid and all prices are known.
    pub cost: Option<f64>,
}

impl Finding {
    /// Creates a finding about a question, without reason and cost.
    pub fn new(aspect: Aspect, verdict: Verdict) -> Finding {
        Finding { aspect, step: None, verdict, reason: None, cost: None }
    }

    /// Makes it a finding about a step.
    #[must_use]
    pub fn of_step(self, step: usize) -> Finding {
        Finding { step: Some(step), ..self }
    }

    /// Returns why there is no score, if scoring failed.
    pub fn failure(&self) -> Option<&Why> {
        match &self.verdict {
            Verdict::Failed(why) => Some(why),
            Verdict::Scored(_) | Verdict::NotApplicable(_) => None,
        }
    }
}

/// Returns the numbers of a metric of steps among findings.
pub(crate) fn numbers_of_steps<'f>(
    findings: impl Iterator<Item = &'f Finding>,
    metric: &str,
) -> Vec<f64> {
    let mut numbers = Vec::new();
    for finding in findings.filter(|finding| finding.step.is_some()) {
        finding.each_number(|key, value| {
            if key == metric {
                numbers.push(value);
            }
        });
    }
    numbers
}

/// A score, or why there is none.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// The score.
    Scored(Score),
    /// The aspect does not apply to the case.
    NotApplicable(Reason),
    /// The aspect applies, but there is no score.
    Failed(Why),
}

impl Verdict {
    /// Scores one number. A number that is not finite is a failure, so that every score can be
    /// averaged.
    pub fn scored(value: f64) -> Verdict {
        if value.is_finite() {
            Verdict::Scored(Score::One(value))
        } else {
            Verdict::failed(format!("the score is {value}"))
        }
    }

    /// Creates a failure whose cause lies in the data.
    pub fn failed(message: impl Into<String>) -> Verdict {
        Verdict::Failed(Why { message: message.into(), cause: Cause::Data })
    }

    /// Returns the number, if one was scored.
    pub fn number(&self) -> Option<f64> {
        match self {
            Verdict::Scored(Score::One(value)) => Some(*value),
            Verdict::Scored(Score::Repeats(runs)) => Some(runs.mean()),
            _ => None,
        }
    }

    /// Returns recall, precision and f1, if claims were counted.
    pub fn claim_scores(&self) -> Option<[f64; 3]> {
        match self {
            Verdict::Scored(Score::Claims(claims)) => Some(claims.scores()),
            Verdict::Scored(Score::RepeatedClaims(runs)) => Some(runs.means()),
            _ => None,
        }
    }
}

/// The score of a finding.
#[derive(Clone, Debug, PartialEq)]
pub enum Score {
    /// A finite number.
    One(f64),
    /// The mean over several runs of a judge.
    Repeats(Repeats),
    /// The claims of an answer.
    Claims(Claims),
    /// The claims of an answer, counted several times.
    RepeatedClaims(Box<RepeatedClaims>),
    /// The values of a custom evaluation, in the order of its outputs.
    Outputs(Vec<Value>),
    /// The values of a custom evaluation that was made several times.
    RepeatedOutputs(RepeatedOutputs),
}

/// The scores of a judge's runs, in order; `None` for a run that could not be asked. At least one
/// was.
#[derive(Clone, Debug, PartialEq)]
pub struct Repeats(Vec<Option<f64>>);

impl Repeats {
    /// Wraps the scores of runs. Returns `None` if all are missing or one is not finite.
    pub fn new(scores: Vec<Option<f64>>) -> Option<Repeats> {
        let mut known = scores.iter().flatten().peekable();
        let is_score = known.peek().is_some() && known.all(|score| score.is_finite());
        is_score.then_some(Repeats(scores))
    }

    /// Returns the score of each run.
    pub fn scores(&self) -> &[Option<f64>] {
        &self.0
    }

    /// Returns the mean of the runs that were asked.
    pub fn mean(&self) -> f64 {
        let known: Vec<f64> = self.0.iter().flatten().copied().collect();
        compensated_sum(&known) / known.len() as f64
    }
}

/// The number of claims in two answers. Both answers make at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claims {
    /// Of the reference answer.
    pub reference: u64,
    /// Of the actual answer.
    pub actual: u64,
    /// Claims in both.
    pub matching: u64,
    /// The claims themselves, if the model listed them.
    pub listed: Option<Value>,
}

impl Claims {
    /// Returns recall, precision and f1 of the actual answer.
    pub fn scores(&self) -> [f64; 3] {
        let recall = self.matching as f64 / self.reference as f64;
        let precision = self.matching as f64 / self.actual as f64;
        [recall, precision, retrieval::f1(recall, precision)]
    }
}

/// Why an aspect does not apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The reference has no steps.
    NoReferenceSteps,
    /// The response lists no steps.
    NoActualSteps,
    /// The question ended in an error, and the profile does not score such questions.
    ErrorResponse,
    /// The reference has no answer.
    NoReferenceAnswer,
    /// The response has no answer.
    NoActualAnswer,
    /// The reference answer has too few words of the letters a–z to compare.
    NoAsciiWords,
    /// The reference answer mentions no number and no name.
    NoMentions,
    /// No API is right for the query.
    NoRightApis,
    /// The agent called nothing.
    NothingCalled,
    /// Nobody judges.
    NotJudged,
}

/// Why there is no score.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Why {
    /// The message.
    pub message: String,
    /// Where the cause lies.
    pub cause: Cause,
}

/// Where the cause of a failure lies, which decides whether to try again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// In what was compared, asked about or replied.
    Data,
    /// In a model that could not be asked: a later run may do better.
    Outside,
    /// In a model that did not reply in time: more time may help.
    Late,
    /// Asking had stopped before, so the case is not finished.
    NotAsked,
}
