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
mod brackets;
mod by_step;
pub mod compare;
mod coverage;
mod exact;
mod explain;
mod gate;
mod json;
mod kind_names;
mod limits;
mod match_steps;
mod media_type;
mod metric;
mod object;
mod output;
mod profile;
mod python;
mod question;
pub mod read;
mod record;
mod repeated;
pub mod retrieval;
mod skim;
pub mod solutions;
mod stats;
pub mod tool;
mod trajectory;
mod walk;

pub use aggregate::{
    Aggregates, Aggregator, Observation, ObservedStep, Ordered, StepCounts, Summary,
};
pub use by_step::ByStep;
pub use coverage::{Coverage, Traits};
pub use exact::ExactNumber;
pub use explain::{Miss, explain, explain_matching};
pub use gate::{Gate, Gates, Limit, NotALimit, NotAShare, Share, Unmet};
pub use json::{find_special, special_bits, text_of, unescape};
pub use kind_names::{KindNames, StepKind};
pub use limits::{Excess, Limits};
pub use match_steps::{Matching, NoMatching, Pair, match_steps};
pub use media_type::MediaType;
pub use metric::{Better, Level, METRICS, MetricInfo, Unit, metric};
pub use object::Object;
pub use output::Output;
pub use profile::{
    AnswerErrorKey, AskedLike, Choice, ContextJudge, ErrorResponses, MissingStatus, Names,
    Noncommittal, Profile, ScoredGroups, StepKinds, WithoutOutput,
};
pub use python::{
    Alike, JsonStyle, Layout, NotJson, NotLiteral, alike_str_of_json, dump_json, dumps_of_json,
    dumps_text, entries_of_json, is_alphanumeric, json_of_literal, push_dump_of_json,
    push_repr_of_json, repr_text, str_of_json,
};
pub use question::{ExpectedStep, MatchedBy, Question, Rules};
pub use record::{Case, Finding, Note, Reason, Record, TooLarge, Verdict, score};
pub use skim::end_of_string;
pub use stats::{Number, Spread};
pub use trajectory::{Ending, Status, Step, Trajectory, Usage};
