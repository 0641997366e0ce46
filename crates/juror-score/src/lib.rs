//! Everything about an answer that can be computed without asking anyone.
//!
//! A [`Question`] has a reference: the expected answer and the expected steps. A [`Trajectory`] is
//! what a system did with it: the steps it took, its answer, how it ended. Together they are a
//! [`Case`]. [`score`] finds the expected steps among those that were taken and turns the case into
//! a [`Record`] of findings, and an [`Aggregator`] folds records into [`Aggregates`]. A [`Profile`]
//! has the rules for all of this. A [`Scorecard`] is what statistics and reports read of a record,
//! and of an agent's attempt at a query. [`statistics`] says how far such numbers can be trusted.
//!
//! Questions and trajectories are usually read from files, with `juror-read`. They borrow from the
//! file, and parse an output only when a comparison needs it. Programs that have them in memory use
//! the builders:
//!
//! ```
//! use juror_score::{Aggregator, Case, Profile, score};
//! use juror_score::{ExpectedStepBuilder, QuestionBuilder, StepBuilder, TrajectoryBuilder};
//! use serde_json::json;
//!
//! let question = QuestionBuilder::new("q1", "What is the capital of Norway?")
//!     .answer("Oslo")
//!     .step(ExpectedStepBuilder::new("lookup").output("Oslo"));
//! let trajectory = TrajectoryBuilder::new()
//!     .step(StepBuilder::new("search").args(json!({"text": "Norway"})).output("urn:norway"))
//!     .step(StepBuilder::new("lookup").args(json!({"id": "urn:norway"})).output("Oslo"))
//!     .answer("It is Oslo.");
//!
//! let (question, trajectory) = (question.build(), trajectory.build());
//! let case = Case { question: &question, trajectory: &trajectory };
//! let profile = Profile::V6;
//! let record = score(&case, &profile);
//! let matching = record.matching.as_ref().expect("the question expects steps");
//! assert_eq!(matching.score, 1.0);
//! assert_eq!(matching.pairs[0].actual, 1, "the second step is the expected one");
//!
//! let mut aggregator = Aggregator::new(&profile, &[]);
//! aggregator.add(&record);
//! assert_eq!(aggregator.finish().micro.spread("steps_score").unwrap().mean, 1.0);
//! ```
//!
//! You will not find async code, file access, network, clock, randomness without a seed or printing
//! here: the same input gives the same output.

mod aggregate;
mod alignment;
mod build;
mod by_step;
pub mod compare;
mod coverage;
mod explain;
mod finding;
mod kind_names;
mod limits;
mod match_steps;
mod metric;
mod output;
mod output_problem;
pub mod overlap;
mod profile;
mod question;
mod record;
mod repeated;
pub mod retrieval;
mod score_table;
mod scorecard;
mod shown_output;
mod stats;
mod told_rules;
mod trajectory;

pub use aggregate::{
    Aggregates, Aggregator, Observation, ObservedStep, Ordered, Seen, StepCounts, StepTally,
    Summary, Taken,
};
pub use alignment::{
    AlignedDocument, Alignment, ArgumentDifference, DocumentAlignment, StepDetails, StepPair,
    StepState, show_expected,
};
pub use build::{ExpectedStepBuilder, QuestionBuilder, StepBuilder, TrajectoryBuilder};
pub use by_step::ByStep;
pub use coverage::{Coverage, ReferenceKeys, Traits};
pub use explain::{Miss, explain, explain_matching};
pub use finding::{
    Aspect, Cause, Claims, CustomAspect, Finding, FlatPair, FlatValue, JudgedBy, Judgement,
    KeyPart, Reason, RepeatedClaims, RepeatedOutputs, Repeats, Score, Verdict, Why, split_key,
};
#[doc(no_inline)]
pub use juror_json::ExactNumber;
#[doc(no_inline)]
pub use juror_sparql::{AlignedRow, Rules, TableAlignment};
#[doc(no_inline)]
pub use juror_statistics::{self as statistics, compensated_sum};
pub use kind_names::{KindNames, StepKind};
pub use limits::{Excess, Limits, TooLarge, Whose};
pub use match_steps::{Matching, NoMatching, Pair, match_steps};
pub use metric::{
    ATTEMPT_METRICS, Better, Level, METRICS, MetricInfo, QUESTION_METRICS, Unit, metric,
    question_metric, step_metric,
};
pub use output::Output;
pub use profile::{
    AnswerErrorKey, AskedLike, Choice, ContextJudge, ErrorResponses, MissingStatus, NameMatching,
    Noncommittal, Profile, ScoredGroups, StepKinds, WithoutOutput,
};
pub use question::{ExpectedStep, MOVED, MatchedBy, Question};
pub use record::{COMPUTED_STEP_METRICS, Case, Record, score};
pub use score_table::{ScoreColumn, ScoreTable, ScoredItem, ScoredValue, Standing};
pub use scorecard::{Resources, Scorecard};
pub use shown_output::{ShownDocument, ShownLimits, ShownOutput};
pub use stats::{Number, Spread};
pub use told_rules::{Release, RuleTraces, ToldRules, matches_early};
pub use trajectory::{Ending, RecordedIn, Status, Step, Trajectory, Usage};
