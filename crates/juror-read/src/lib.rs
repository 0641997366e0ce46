//! Reads references, responses and results.
//!
//! A reference becomes a [`Dataset`] of questions, a file of responses becomes [`Responses`], the
//! trajectories by question, and results written earlier become findings again: all of a result as
//! a [`ResultCase`], or only its numbers, in an aggregator ([`read_results`]). Everything borrows
//! from the text of its file.
//!
//! Readers do not stop at the first problem. A file is read fast first; only if that fails is it
//! read again, slowly, to find every problem and its place. A response that cannot be read is a
//! failed response to its question and stops nobody, while no score may rest on a reference that was
//! misread, so a reference with a problem is refused. Keys that nobody knows are told apart: one that
//! was probably misspelt, and one that is the user's own.
//!
//! Large files of lines are not kept in memory ([`read_inputs`]): the first reading leaves an index
//! of ids and places, and each question is read again when it is scored.
//!
//! ```
//! use juror_document::{Document, Format, Problems};
//! use juror_read::{read_reference, read_responses};
//! use juror_score::{Case, Profile, score};
//!
//! let reference = r#"[{"template_id": "capitals", "questions": [
//!     {"id": "q1", "question_text": "Capital of Norway?",
//!      "reference_steps": [[{"name": "lookup", "args": {}, "output": "Oslo"}]]}]}]"#;
//! let responses = r#"{"question_id": "q1", "actual_steps": [
//!     {"name": "lookup", "id": "call_1", "status": "success", "output": "Oslo"}]}"#;
//!
//! let reference = Document::new("reference.json", reference.into(), Format::Json)?;
//! let responses = Document::new("responses.json", responses.into(), Format::Json)?;
//! let dataset = read_reference(&reference)?;
//! let responses = read_responses(&responses)?;
//! for question in &dataset.questions {
//!     let case = Case { question, trajectory: responses.of(question) };
//!     let record = score(&case, &Profile::V5);
//!     assert_eq!(record.matching.map(|matching| matching.score), Some(1.0));
//! }
//! # Ok::<(), Problems>(())
//! ```
//!
//! You will not find file access, rules of scoring or printing here: a text comes in as a
//! [`Document`](juror_document::Document).

mod both;
mod check;
mod indexed;
mod keys;
mod own_metrics;
mod reference;
mod responses;
mod result_case;
mod results;
mod strict;

pub use both::{ReadOptions, read_both};
pub use indexed::{
    Answers, CaseRoom, Held, KEPT_BELOW, QuestionIndex, Questions, ReadCase, read_inputs,
};
pub use own_metrics::OwnMetrics;
pub use reference::{Dataset, NotRead, read_question, read_reference};
pub use responses::{
    Deferred, Kept, RepeatedIds, Responses, read_response, read_responses, read_responses_as,
};
pub use result_case::{ResultCase, judged_aspects};
pub use results::{NumberFault, read_results};
