//! How far scores vary, from two runs, from one, or from none.

use juror_score::statistics::{Design, mean};
use juror_score::{ScoreColumn, ScoreTable};
use schemars::JsonSchema;
use serde::Serialize;

use super::answers::{Answers, pooled_noise};
use super::{AtHand, CannotPlan, PlanOptions};
use crate::estimate::n_distinct;
use crate::join::Joined;
use crate::numbers::mean_of;
use crate::statistics::Kind;

/// The variance of differences that is assumed if there is no run: that of scores spread over 0 to 1.
pub const ASSUMED_VARIANCE: f64 = 1.0 / 9.0;

/// How far two runs are assumed to agree from question to question if there is only one.
pub const ASSUMED_CORRELATION: f64 = 0.5;

/// What a plan rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// The differences between two runs, question by question.
    PairedDifferences,
    /// The spread of one run's scores, and an assumed correlation with the other run.
    OneRun,
    /// Nothing but an assumption.
    Assumption,
}

/// How far repeated verdicts on one answer vary.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct JudgeSpread {
    /// The variance of verdicts on one answer.
    pub variance: f64,
    /// How many verdicts an answer has, in the mean.
    pub verdicts: f64,
    /// The share of the questions needed that a judge without noise would save, at most.
    pub share: f64,
}

/// How far scores vary, and how that is known.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ScoreSpread {
    /// What it rests on.
    pub basis: Basis,
    /// How many questions it was computed from.
    pub questions: usize,
    /// The variance of the true difference between two runs, from question to question.
    pub variance_of_differences: f64,
    /// The variance of repeated answers to one question; `None` if questions have one answer each.
    pub variance_within: Option<f64>,
    /// How many answers a question has, in the mean.
    pub trials: f64,
    /// How many times larger the variance is because questions share templates; `None` if they do
    /// not.
    pub deff: Option<f64>,
    /// How many clusters that was computed from.
    pub clusters: Option<usize>,
    /// The correlation of two runs that was assumed.
    pub correlation: Option<f64>,
    /// The judge's part of it, if the judge was asked several times.
    pub judge: Option<JudgeSpread>,
    /// The mean score of the first run.
    pub mean: Option<f64>,
    /// The questions that have a score, in the first run.
    #[serde(skip)]
    pub at_hand: Option<AtHand>,
}

impl ScoreSpread {
    /// What is assumed without a run.
    pub fn assumed() -> ScoreSpread {
        ScoreSpread {
            basis: Basis::Assumption,
            questions: 0,
            variance_of_differences: ASSUMED_VARIANCE,
            variance_within: None,
            trials: 1.0,
            deff: None,
            clusters: None,
            correlation: None,
            judge: None,
            mean: None,
            at_hand: None,
        }
    }

    /// Computes the spread of one run. Another run is assumed to have the same, and to correlate with
    /// it from question to question.
    pub fn of_run(
        table: &ScoreTable,
        metric: &str,
        correlation: f64,
    ) -> Result<ScoreSpread, CannotPlan> {
        let column = column_of(table, metric)?;
        let answers = Answers::of(table, column);
        let spread = Spread::of(&answers.means, &answers.clusters(table), metric)?;
        let noise = answers.noise();
        let between = (spread.variance - noise.map_or(0.0, |own| own.in_means)).max(0.0);
        Ok(ScoreSpread {
            basis: Basis::OneRun,
            questions: answers.means.len(),
            variance_of_differences: 2.0 * between * (1.0 - correlation),
            variance_within: noise.map(|own| own.variance),
            trials: answers.mean_trials(),
            deff: spread.deff,
            clusters: spread.clusters,
            correlation: Some(correlation),
            judge: None,
            mean: Some(spread.mean),
            at_hand: Some(answers.at_hand(table)),
        }
        .with_verdicts(column.repeats()))
    }

    /// Computes the spread of the differences between two runs, over the questions that both have.
    pub fn of_pair(
        a: &ScoreTable,
        b: &ScoreTable,
        metric: &str,
    ) -> Result<ScoreSpread, CannotPlan> {
        let columns = (column_of(a, metric)?, column_of(b, metric)?);
        let by_template = Kind::of(a.level()) == Kind::Eval;
        let joined = Joined::of(a, b, by_template, |_| true);
        let scores = joined.scores(columns.0, columns.1);
        if scores.a.is_empty() {
            return Err(CannotPlan::NothingInCommon(metric.to_owned()));
        }
        let spread = Spread::of(&scores.differences(), &scores.clusters, metric);
        let spread = spread.map_err(|why| match why {
            CannotPlan::NoSpread(metric) => CannotPlan::EqualDifferences(metric),
            other => other,
        })?;
        let answers = (Answers::of(a, columns.0), Answers::of(b, columns.1));
        let noise = answers.0.noise().zip(answers.1.noise());
        let in_means = noise.map_or(0.0, |(a, b)| a.in_means + b.in_means);
        Ok(ScoreSpread {
            basis: Basis::PairedDifferences,
            questions: scores.a.len(),
            variance_of_differences: (spread.variance - in_means).max(0.0),
            variance_within: noise.map(|(a, b)| f64::midpoint(a.variance, b.variance)),
            trials: f64::midpoint(answers.0.mean_trials(), answers.1.mean_trials()),
            deff: spread.deff,
            clusters: spread.clusters,
            correlation: None,
            judge: None,
            mean: mean_of(&scores.a),
            at_hand: Some(answers.0.at_hand(a)),
        }
        .with_verdicts(columns.0.repeats()))
    }

    /// Adds how far a judge varies, from its verdicts on each answer of the first run. Their noise is
    /// in the other variances already.
    fn with_verdicts(self, verdicts: &[Vec<f64>]) -> ScoreSpread {
        let means: Vec<f64> = verdicts.iter().map(|own| mean_of(own).unwrap_or(0.0)).collect();
        let Some(noise) = pooled_noise(verdicts, &means) else { return self };
        let per_answer =
            verdicts.iter().map(Vec::len).sum::<usize>() as f64 / verdicts.len() as f64;
        let within = self.variance_within.unwrap_or(0.0) / f64::from(self.usual_trials());
        let total = self.variance_of_differences + 2.0 * within;
        let own = 2.0 * noise.in_means / f64::from(self.usual_trials());
        let share = if total > 0.0 { (own / total).min(1.0) } else { 0.0 };
        let judge = JudgeSpread { variance: noise.variance, verdicts: per_answer, share };
        ScoreSpread { judge: Some(judge), ..self }
    }

    /// As many answers to each question as there are.
    pub(super) fn usual_trials(&self) -> u32 {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "1 or more")]
        let trials = self.trials.round().max(1.0) as u32;
        trials
    }

    /// The design of a comparison on questions that share templates as those at hand do.
    pub(super) fn design(
        &self,
        at_hand: Option<AtHand>,
        trials: u32,
        options: PlanOptions,
    ) -> Design {
        Design {
            variance_of_differences: self.variance_of_differences,
            variance_within: self.variance_within.unwrap_or(0.0),
            repeats: trials,
            deff: self.deff_among(at_hand).unwrap_or(1.0),
            power: options.power,
            significance: 1.0 - options.confidence,
        }
    }

    /// The design effect in templates of another size: `1 + (size - 1) · correlation`. Templates that
    /// spread less than chance would are not counted on.
    pub(super) fn deff_among(&self, at_hand: Option<AtHand>) -> Option<f64> {
        let (deff, own) = (self.deff?, self.cluster_size()?);
        let size = at_hand.map_or(own, AtHand::group_size);
        let correlation = ((deff - 1.0) / (own - 1.0)).max(0.0);
        Some((1.0 + (size - 1.0) * correlation).max(1.0))
    }

    /// How many questions a cluster has, in the mean; `None` if clusters do not matter.
    fn cluster_size(&self) -> Option<f64> {
        Some(self.questions as f64 / self.clusters? as f64).filter(|size| *size > 1.0)
    }
}

fn column_of<'t>(table: &'t ScoreTable, metric: &str) -> Result<&'t ScoreColumn, CannotPlan> {
    let column = table.column(metric).filter(|column| !column.values().is_empty());
    column.ok_or_else(|| CannotPlan::NoScores(metric.to_owned()))
}

/// The mean and the variance of independent or clustered numbers.
struct Spread {
    mean: f64,
    variance: f64,
    deff: Option<f64>,
    clusters: Option<usize>,
}

impl Spread {
    fn of(values: &[f64], clusters: &[u32], metric: &str) -> Result<Spread, CannotPlan> {
        let are_real = n_distinct(clusters) < clusters.len();
        let found = mean(values, are_real.then_some(clusters), 0.95);
        let found = found.ok_or_else(|| CannotPlan::NoScores(metric.to_owned()))?;
        let se = found.se_independent.ok_or_else(|| CannotPlan::OneQuestion(metric.to_owned()))?;
        if se == 0.0 {
            return Err(CannotPlan::NoSpread(metric.to_owned()));
        }
        Ok(Spread {
            mean: found.mean,
            variance: se * se * found.n as f64,
            deff: found.deff,
            clusters: found.n_clusters,
        })
    }
}
