//! How many questions it takes to find a difference, and what difference those at hand find:
//! `juror.plan/1`.

mod answers;
mod spread;

use std::collections::BTreeMap;

use juror_score::statistics::{least_detectable, questions_needed, repeats_needed};
use schemars::JsonSchema;
use serde::Serialize;

pub use spread::{ASSUMED_CORRELATION, ASSUMED_VARIANCE, Basis, JudgeSpread, ScoreSpread};

/// What to plan for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlanOptions {
    /// The difference to find; `None` to only say what can be found.
    pub detect: Option<f64>,
    /// How likely it is to be found.
    pub power: f64,
    /// The confidence of the comparison.
    pub confidence: f64,
    /// How many answers to each question; those of the run if `None`.
    pub trials: Option<u32>,
    /// How many questions there are; those of the run if `None`.
    pub at_hand: Option<AtHand>,
}

/// The questions that there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AtHand {
    /// How many.
    pub questions: usize,
    /// Of how many templates or sets.
    pub groups: usize,
}

impl AtHand {
    /// How many questions a group has, in the mean.
    pub fn group_size(self) -> f64 {
        self.questions as f64 / self.groups.max(1) as f64
    }

    /// How many groups of this size have so many questions.
    fn groups_for(self, questions: u64) -> u64 {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
        let groups = (questions as f64 / self.group_size()).ceil() as u64;
        groups
    }
}

/// Why there is nothing to plan with.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CannotPlan {
    /// No question has the metric.
    #[error("no question has `{0}`")]
    NoScores(String),
    /// The runs share no question that has the metric in both.
    #[error("the runs have no question with `{0}` in common")]
    NothingInCommon(String),
    /// One question does not vary.
    #[error("one question with `{0}` is not enough: nobody knows how far others differ")]
    OneQuestion(String),
    /// The scores do not vary.
    #[error("`{0}` does not vary from question to question, so nothing can be planned from it")]
    NoSpread(String),
    /// The differences between two runs do not vary.
    #[error(
        "`{0}` differs by the same amount on every question, so nothing can be planned from it"
    )]
    EqualDifferences(String),
    /// Nothing is left that could vary.
    #[error(
        "by these runs and options nothing varies from question to question, so that any difference would be found"
    )]
    NothingVaries,
    /// The options make no sense.
    #[error("power and confidence must be between 0 and 1, and the difference must not be 0")]
    Options,
}

/// How many questions it takes, and what those at hand find.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Planning {
    format: &'static str,
    /// The metric.
    pub metric: String,
    /// How likely the difference is to be found.
    pub power: f64,
    /// The confidence of the comparison.
    pub confidence: f64,
    /// How many answers to each question are planned for.
    pub trials: u32,
    /// The difference to find.
    pub detect: Option<f64>,
    /// How many questions it takes to find it.
    pub questions_needed: Option<u64>,
    /// How many times more questions it takes because they share templates, as those at hand do;
    /// `None` if they do not.
    pub deff: Option<f64>,
    /// How many templates of the size at hand these are, if templates matter.
    pub groups_needed: Option<u64>,
    /// How many answers to each question at hand it takes; `None` if no number is enough, or if it is
    /// not known how far answers to a question vary.
    pub trials_needed: Option<u32>,
    /// The questions that there are.
    pub at_hand: Option<AtHand>,
    /// The least difference that they find.
    pub least_detectable: Option<f64>,
    /// What all of it rests on.
    pub spread: ScoreSpread,
    /// What each number rests on, in words, by its key.
    pub rests_on: BTreeMap<&'static str, String>,
}

impl Planning {
    /// The name of the format.
    pub const FORMAT: &'static str = "juror.plan/1";

    /// Plans for a metric.
    pub fn of(
        metric: &str,
        spread: ScoreSpread,
        options: PlanOptions,
    ) -> Result<Planning, CannotPlan> {
        let at_hand = options.at_hand.or(spread.at_hand);
        let trials = options.trials.unwrap_or_else(|| spread.usual_trials());
        let design = spread.design(at_hand, trials, options);
        if design.variance_of_differences <= 0.0 && design.variance_within <= 0.0 {
            return Err(CannotPlan::NothingVaries);
        }
        let n_at_hand = at_hand.map_or(0, |own| own.questions as u64);
        let deff = spread.deff_among(at_hand);
        let detectable = least_detectable(n_at_hand.max(1), &design).ok_or(CannotPlan::Options)?;
        let needed = match options.detect {
            None => None,
            Some(detect) => Some(questions_needed(detect, &design).ok_or(CannotPlan::Options)?),
        };
        Ok(Planning {
            format: Planning::FORMAT,
            metric: metric.to_owned(),
            power: options.power,
            confidence: options.confidence,
            trials,
            detect: options.detect,
            questions_needed: needed,
            deff,
            groups_needed: deff.and_then(|_| Some(at_hand?.groups_for(needed?))),
            trials_needed: options.detect.and_then(|detect| {
                spread.variance_within?;
                repeats_needed(detect, n_at_hand, &design)
            }),
            at_hand,
            least_detectable: at_hand.map(|_| detectable),
            spread,
            rests_on: BTreeMap::new(),
        })
    }
}

/// Returns the JSON Schema of `juror.plan/1`.
pub fn plan_schema() -> serde_json::Value {
    schemars::schema_for!(Planning).into()
}
