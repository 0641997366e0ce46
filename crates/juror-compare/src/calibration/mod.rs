//! Judges checked by people: which answers people should look at, how far the judge agrees with
//! them, and what the judge's mean would be without its errors.
//!
//! [`choose_answers`] draws the answers, [`check_judge`] compares what people say about them with the
//! judge's scores and makes a [`Calibration`], and [`Statistics::calibrate`] applies it to a run of
//! the same judge.
//!
//! [`Statistics::calibrate`]: crate::Statistics::calibrate

mod apply;
mod cautions;
mod check;
mod choose;
mod correction;
mod judge_id;
mod label_agreement;
mod labelled;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use apply::CalibratedMetric;
pub use check::{
    CheckedJudge, DifferingAnswer, LabelCounts, LabelledRate, MeanDifference, RawMean,
    calibration_schema, check_judge,
};
pub use choose::{Candidate, Choice, choose_answers};
pub use correction::{CorrectedMean, CorrectionMethod, JudgedScores, Uncorrected};
pub use judge_id::JudgeId;
pub use label_agreement::LabelAgreement;
pub use labelled::{LabelledAnswer, PersonsLabel, Sample};

/// What people said about a random share of a judge's verdicts: enough to correct the judge's mean on
/// any run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Calibration {
    /// `juror.calibration/1`.
    pub format: String,
    /// The metric.
    pub metric: String,
    /// The judge whose verdicts were checked; `None` if the run does not say who judged.
    pub judge: Option<JudgeId>,
    /// When it was made.
    pub made: String,
    /// The run whose answers people labelled, as it was named.
    pub run: String,
    /// Both scores of each labelled answer of the random share.
    pub pairs: Vec<LabelPair>,
}

/// What a judge and people say about the same answer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LabelPair {
    /// The judge's score.
    pub judge: f64,
    /// People's, from 0 to 1; if several labelled the answer, their mean.
    #[schemars(range(min = 0, max = 1))]
    pub people: f64,
}

impl Calibration {
    /// The name of the format.
    pub const FORMAT: &'static str = "juror.calibration/1";
}

/// What a score says about an answer. Scores of judges and people are split in the middle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Side {
    Fail,
    Unsure,
    Pass,
}

impl Side {
    const MIDDLE: f64 = 0.5;

    pub(crate) fn of(score: f64) -> Side {
        match score {
            score if score > Side::MIDDLE => Side::Pass,
            score if score < Side::MIDDLE => Side::Fail,
            _ => Side::Unsure,
        }
    }
}

/// Whether a score is 0 or 1.
pub(crate) fn is_binary(score: f64) -> bool {
    score == 0.0 || score == 1.0
}
