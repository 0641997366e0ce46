//! Statistics of runs, comparison of runs, and gates.
//!
//! A run is a `ScoreTable`: a row for each answer or attempt, a column for each metric. From it,
//! [`Statistics::of`] computes means with honest intervals: questions of one template are not
//! independent, so they count as clusters. [`compare`] joins the questions of two runs and says how
//! each metric changed, how sure that is, and which questions flipped. [`Gates`] turn either into a
//! verdict: pass, warn, block, or inconclusive if the data cannot tell. A [`Calibration`] holds what
//! people said about a judge, and corrects the judge's means by it.
//!
//! ```
//! use juror_compare::{CompareOptions, ComparedRun, Kind, RunFacts, Statistics, compare};
//! use juror_score::{Aggregator, Number, Observation, Profile, Traits};
//!
//! // Two templates of three questions each; the second run solves one more.
//! let run = |scores: [f64; 6]| {
//!     let mut aggregator = Aggregator::new(&Profile::V6, &[]);
//!     for (at, score) in scores.into_iter().enumerate() {
//!         aggregator.observe(&Observation {
//!             id: &at.to_string(),
//!             template: if at < 3 { "capitals" } else { "rivers" },
//!             traits: Traits { steps: true, ..Traits::NONE },
//!             values: vec![("steps_score", Number::real(score).unwrap())],
//!             ..Observation::default()
//!         });
//!     }
//!     aggregator
//! };
//! let (before, after) = (run([1., 0., 1., 0., 0., 1.]), run([1., 1., 1., 0., 0., 1.]));
//!
//! let statistics = Statistics::of(before.scores(), 0.95);
//! let steps = statistics.metric("steps_score").unwrap();
//! assert_eq!((steps.mean, steps.clusters), (0.5, Some(2)));
//!
//! let facts = |name| RunFacts::of_file(name, Kind::Eval);
//! let (a, b) = (facts("before"), facts("after"));
//! let baseline = ComparedRun { facts: &a, scores: before.scores() };
//! let candidate = ComparedRun { facts: &b, scores: after.scores() };
//! let comparison = compare(baseline, &[candidate], &CompareOptions::default()).unwrap();
//! let steps = &comparison.candidates[0].metrics["steps_score"];
//! assert_eq!((steps.won, steps.lost, steps.tied), (1, 0, 5));
//! ```
//!
//! You will not find files, formats of files or printing here: tables go in, numbers come out.

mod by_group;
mod calibration;
mod comparison;
mod estimate;
mod flips;
mod gates;
mod headline;
mod incomparable;
mod join;
mod judge_repeats;
mod metric_comparison;
mod metric_statistics;
mod numbers;
mod planning;
mod question_numbers;
mod row_scores;
mod run_facts;
mod statistics;
mod trials;

pub use calibration::{
    CalibratedMetric, Calibration, Candidate, CheckedJudge, Choice, CorrectedMean,
    CorrectionMethod, DifferingAnswer, JudgeId, JudgedScores, LabelAgreement, LabelCounts,
    LabelPair, LabelledAnswer, LabelledRate, MeanDifference, PersonsLabel, RawMean, Sample,
    Uncorrected, calibration_schema, check_judge, choose_answers,
};
pub use comparison::{
    CandidateComparison, CompareOptions, ComparedRun, Comparison, Incomparable, compare,
    comparison_schema,
};
pub use estimate::{Caution, ClusterNoun, Estimate, FEW_CLUSTERS, Method, Numbered, is_share};
pub use flips::{BrokenGroup, Flip, Flips};
pub use gates::{
    Bound, ChangeLimit, Condition, Gate, GateLevel, GateOutcome, GateVerdict, GatedRun, Gates,
    LevelLimit, Limit, Margin, NotALimit, NotAShare, OnInconclusive, RunCount, Share, Unchecked,
    worst,
};
pub use headline::headline;
pub use join::{Joined, PairedScores, QuestionName};
pub use judge_repeats::JudgeStatistics;
pub use metric_comparison::MetricComparison;
pub use metric_statistics::{MetricStatistics, RowCounts};
pub use numbers::{share_with_interval, thousands};
pub use planning::{
    ASSUMED_CORRELATION, ASSUMED_VARIANCE, AtHand, Basis, CannotPlan, JudgeSpread, PlanOptions,
    Planning, ScoreSpread, plan_schema,
};
pub use row_scores::item_scores;
pub use run_facts::{Difference, RunFacts};
pub use statistics::{
    ByMetric, Kind, MacroStatistics, NoMean, Statistics, WithoutMean, statistics_schema,
};
pub use trials::{PassRate, TrialStatistics, Tries, can_solve};
