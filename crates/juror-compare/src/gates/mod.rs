//! Gates: conditions that a run, or the change from one run to another, must meet to pass.
//!
//! A gate on a level looks at one run: a mean is at least or at most some value. A gate on a change
//! looks at two: a mean may fall or rise by so much. A mean over a few survivors never passes: if too
//! few of the questions to which a metric applies have a verdict, its gate is not met, whatever the
//! mean.

mod change;
mod coverage;
mod flips;
mod level;
mod limit;
mod unchecked;

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

use coverage::Survivors;
pub use juror_score::statistics::GateLevel;
pub(crate) use level::Baseline;
pub use level::GatedRun;
pub use limit::{Limit, NotALimit, NotAShare, Share};
pub use unchecked::{RunCount, Unchecked};

/// All conditions, and the coverage that each metric needs.
#[derive(Clone, Debug, PartialEq)]
pub struct Gates {
    /// The conditions, in order.
    pub gates: Vec<Gate>,
    /// The share of questions that must have a verdict on a gated metric, of those it applies to.
    pub coverage: Share,
}

impl Default for Gates {
    fn default() -> Gates {
        Gates { gates: Vec::new(), coverage: Share::COVERAGE }
    }
}

/// A condition, and what happens if it is not met.
#[derive(Clone, Debug, PartialEq)]
pub struct Gate {
    /// The condition.
    pub condition: Condition,
    /// What happens if it is not met.
    pub level: GateLevel,
    /// What happens if the data cannot tell whether it is met.
    pub inconclusive: OnInconclusive,
}

impl Gate {
    /// A gate that blocks if its condition is not met.
    pub fn blocking(condition: Condition) -> Gate {
        Gate { condition, level: GateLevel::Block, inconclusive: OnInconclusive::Tell }
    }

    /// A gate on the mean of a metric over all questions.
    pub fn on_mean(metric: impl Into<String>, limit: LevelLimit) -> Gate {
        let (metric, group, bound) = (metric.into(), None, Bound::Mean);
        Gate::blocking(Condition::Level { metric, group, limit, bound })
    }

    /// The metric it is about, if it names one.
    pub fn metric(&self) -> Option<&str> {
        match &self.condition {
            Condition::Level { metric, .. } | Condition::Change { metric, .. } => Some(metric),
            Condition::Questions { metric, .. } => metric.as_deref(),
            Condition::Errors { .. } => None,
        }
    }

    /// The metric by which its questions are looked at, if it is about questions: the one it names, or
    /// the headline metric.
    pub(crate) fn flips_by<'g>(&'g self, headline: Option<&'g str>) -> Option<&'g str> {
        match &self.condition {
            Condition::Questions { metric, .. } => metric.as_deref().or(headline),
            _ => None,
        }
    }

    /// Whether it takes two runs to check it.
    pub fn needs_baseline(&self) -> bool {
        matches!(self.condition, Condition::Change { .. })
    }
}

/// What a gate asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// A mean is at least or at most some value.
    Level {
        /// The metric.
        metric: String,
        /// Only questions of this template or set.
        group: Option<String>,
        /// The least or greatest value.
        limit: LevelLimit,
        /// What is compared with it.
        bound: Bound,
    },
    /// A mean may fall or rise by so much from one run to another.
    Change {
        /// The metric.
        metric: String,
        /// The most it may change in the unwanted direction.
        limit: ChangeLimit,
    },
    /// The most answers that may have failed or be missing.
    Errors {
        /// The limit.
        most: Limit,
    },
    /// How many of some questions may break: lose score against the first run, or in a single run
    /// not have the full score.
    Questions {
        /// Their ids.
        ids: Vec<String>,
        /// By which metric; the headline metric of the run if none is named.
        metric: Option<String>,
        /// How many of them may.
        may_break: usize,
    },
}

/// The least or greatest value of a mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LevelLimit {
    /// At least.
    Min(f64),
    /// At most.
    Max(f64),
}

/// The most that a mean may change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ChangeLimit {
    /// Downwards.
    MaxDrop(Margin),
    /// Upwards.
    MaxRise(Margin),
}

/// How much, by itself or in percent of the first run's mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Margin {
    /// In the unit of the metric.
    Absolute(f64),
    /// In percent of the first run's mean.
    Percent(f64),
}

/// What is compared with a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bound {
    /// The mean itself.
    #[default]
    Mean,
    /// The lower end of its interval.
    Lower,
    /// The upper end of its interval.
    Upper,
}

/// What happens if the data cannot tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnInconclusive {
    /// It is told as inconclusive.
    #[default]
    Tell,
    /// It counts as a warning.
    Warn,
    /// It counts as not met.
    Block,
}

/// How a gate came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GateVerdict {
    /// The condition is met.
    Pass,
    /// It is not met, or not known to be met, and that is only a warning.
    Warn,
    /// The data cannot tell.
    Inconclusive,
    /// It is not met.
    Block,
}

impl GateVerdict {
    /// The word for tables.
    pub fn word(self) -> &'static str {
        match self {
            GateVerdict::Pass => "pass",
            GateVerdict::Warn => "warn",
            GateVerdict::Inconclusive => "inconclusive",
            GateVerdict::Block => "block",
        }
    }
}

/// A gate, how it came out, and why.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct GateOutcome {
    /// The gate in words, such as `steps_score at least 0.8`.
    pub gate: String,
    /// The metric it is about, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metric: Option<String>,
    /// How it came out.
    pub verdict: GateVerdict,
    /// Why.
    pub why: String,
    /// The same without what the gate asks, to stand beside the gate.
    #[serde(skip)]
    pub found: String,
    /// The questions that break it, if it is about single questions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<String>,
    /// Whether too few questions have a verdict for the mean to count.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub lacks_coverage: bool,
}

/// What checking a condition found.
pub(crate) struct Found {
    answer: Answer,
    /// What was found, without what the gate asks.
    found: String,
    why: String,
    questions: Vec<String>,
    lacks_coverage: bool,
}

/// Whether a condition is met.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Answer {
    Met,
    NotMet,
    Unknown,
}

impl Found {
    fn new(answer: Answer, why: impl Into<String>) -> Found {
        let why = why.into();
        Found { answer, found: why.clone(), why, questions: Vec::new(), lacks_coverage: false }
    }

    /// What was found, and what the gate asks instead.
    fn asking(answer: Answer, found: String, asked: impl fmt::Display) -> Found {
        let why = format!("{found}, {asked} was asked");
        Found { found, ..Found::new(answer, why) }
    }

    /// The same, where many answers failed: that is a reason of its own, and most of them decide.
    fn among(mut self, survivors: Option<Survivors>) -> Found {
        match (survivors, self.answer) {
            (None, _) => {}
            (Some(survivors), Answer::NotMet) => {
                self.why = format!("{}; {}", self.why, survivors.told);
                self.found = format!("{}; {}", self.found, survivors.told);
            }
            (Some(survivors), Answer::Met | Answer::Unknown) if survivors.are_few => {
                let why = format!("{}; {}", self.found, survivors.are_too_few());
                return Found::new(Answer::NotMet, why);
            }
            (Some(_), Answer::Met | Answer::Unknown) => {}
        }
        self
    }

    fn uncovered(why: String) -> Found {
        Found { lacks_coverage: true, ..Found::new(Answer::NotMet, why) }
    }
}

impl Gate {
    fn outcome(&self, found: Found) -> GateOutcome {
        let not_met = match self.level {
            GateLevel::Block => GateVerdict::Block,
            GateLevel::Warn => GateVerdict::Warn,
        };
        let verdict = match (found.answer, self.inconclusive) {
            (Answer::Met, _) => GateVerdict::Pass,
            (Answer::NotMet, _) => not_met,
            (Answer::Unknown, OnInconclusive::Tell) => GateVerdict::Inconclusive,
            (Answer::Unknown, OnInconclusive::Warn) => GateVerdict::Warn,
            (Answer::Unknown, OnInconclusive::Block) => not_met,
        };
        GateOutcome {
            gate: self.to_string(),
            metric: self.metric().map(str::to_owned),
            verdict,
            why: found.why,
            found: found.found,
            questions: found.questions,
            lacks_coverage: found.lacks_coverage,
        }
    }
}

impl fmt::Display for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.condition {
            Condition::Level { metric, group, limit, bound } => {
                write!(f, "{metric} {limit}{bound}")?;
                group.iter().try_for_each(|group| write!(f, " in {group}"))
            }
            Condition::Change { metric, limit } => write!(f, "{metric} {limit}"),
            Condition::Errors { most } => write!(f, "errors at most {most}"),
            Condition::Questions { ids, may_break, .. } => match &ids[..] {
                [id] if *may_break == 0 => write!(f, "{id} may not break"),
                ids => write!(f, "of {} questions {may_break} may break", ids.len()),
            },
        }
    }
}

impl fmt::Display for LevelLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LevelLimit::Min(least) => write!(f, "at least {least}"),
            LevelLimit::Max(most) => write!(f, "at most {most}"),
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Bound::Mean => "",
            Bound::Lower => " (lower bound)",
            Bound::Upper => " (upper bound)",
        })
    }
}

impl fmt::Display for ChangeLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ChangeLimit::MaxDrop(margin) => write!(f, "may fall {margin}"),
            ChangeLimit::MaxRise(margin) => write!(f, "may rise {margin}"),
        }
    }
}

impl fmt::Display for Margin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Margin::Absolute(amount) => write!(f, "{amount}"),
            Margin::Percent(percent) => write!(f, "{percent} %"),
        }
    }
}

/// The worst of several outcomes; [`GateVerdict::Pass`] if there are none.
pub fn worst<'o>(outcomes: impl IntoIterator<Item = &'o GateOutcome>) -> GateVerdict {
    outcomes.into_iter().map(|outcome| outcome.verdict).max().unwrap_or(GateVerdict::Pass)
}
