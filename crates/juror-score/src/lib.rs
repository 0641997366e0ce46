//! Everything about a judged answer that can be computed from data in hand.
//!
//! A [`Question`] with its reference and a [`Trajectory`] make a [`Case`]; [`score`] turns a case
//! into a [`Record`]; an [`Aggregator`] folds records into [`Aggregates`].
//!
//! ```
//! use juror_score::read::{Document, Format, read_reference, read_responses};
//! use juror_score::{Aggregator, Case, Profile, score};
//!
//! let reference = r#"[{"template_id": "capitals", "questions": [
//!     {"id": "q1", "question_text": "Capital of Norway?",
//!      "reference_steps": [[{"name": "lookup", "args": {}, "output": "Oslo"}]]}]}]"#;
//! let responses = r#"{"question_id": "q1", "actual_steps": [
//!     {"name": "lookup", "id": "call_1", "status": "success", "output": "Oslo"}]}"#;
//!
//! let reference = Document::new("reference.json", reference.into(), Format::Json).unwrap();
//! let responses = Document::new("responses.json", responses.into(), Format::Json).unwrap();
//! let dataset = read_reference(&reference).unwrap();
//! let responses = read_responses(&responses).unwrap();
//!
//! let profile = Profile::V5;
//! let mut aggregator = Aggregator::new(&profile, &[]);
//! for question in &dataset.questions {
//!     let case = Case { question, trajectory: responses.of(question) };
//!     aggregator.add(&score(&case, &profile));
//! }
//! assert_eq!(aggregator.finish().micro.spread("steps_score").unwrap().mean, 1.0);
//! ```
//!
//! You will not find async, files, network, clock, randomness or printing in this crate.

mod aggregate;
mod assignment;
mod by_step;
pub mod compare;
mod coverage;
mod exact;
mod explain;
mod finding;
mod gate;
mod kind_names;
mod limits;
mod match_steps;
mod metric;
mod output;
mod profile;
mod question;
pub mod read;
mod record;
mod repeated;
pub mod retrieval;
mod scorecard;
mod stats;
mod trajectory;

pub use aggregate::{
    Aggregates, Aggregator, Observation, ObservedStep, Ordered, StepCounts, Summary,
};
pub use by_step::ByStep;
pub use coverage::{Coverage, Traits};
pub use exact::ExactNumber;
pub use explain::{Miss, explain, explain_matching};
pub use finding::{
    Aspect, Cause, Claims, CustomAspect, Finding, FlatPair, FlatValue, JudgedBy, Judgement,
    KeyPart, Reason, Runs, Score, Verdict, Why, split_key,
};
pub use gate::{Gate, Gates, Limit, NotALimit, NotAShare, Share, Unmet};
#[doc(no_inline)]
pub use juror_sparql::Rules;
pub use kind_names::{KindNames, StepKind};
pub use limits::{Excess, Limits, TooLarge, Whose};
pub use match_steps::{Matching, NoMatching, Pair, match_steps};
pub use metric::{
    Better, Level, METRICS, MetricInfo, QUESTION_METRICS, Unit, metric, question_metric,
    step_metric,
};
pub use output::Output;
pub use profile::{
    AnswerErrorKey, AskedLike, Choice, ContextJudge, ErrorResponses, MissingStatus, Names,
    Noncommittal, Profile, ScoredGroups, StepKinds, WithoutOutput,
};
pub use question::{ExpectedStep, MatchedBy, Question};
pub use record::{Case, Record, score};
pub use scorecard::{Resources, Scorecard};
pub use stats::{Number, Spread, compensated_sum};
pub use trajectory::{Ending, Status, Step, Trajectory, Usage};
