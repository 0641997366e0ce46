//! Reads reference datasets, responses and results.
//!
//! Files are read fast first. Only if that fails are they read again, slowly, to find every problem
//! and its place.
//!
//! ```
//! use juror_score::read::{Document, Format, read_reference, read_responses};
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
//! # Ok::<(), juror_score::read::Problems>(())
//! ```

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
#[doc(no_inline)]
pub use juror_document::{Document, Format, Problems};
pub use own_metrics::OwnMetrics;
pub use reference::{Dataset, NotRead, read_question, read_reference};
pub use responses::{
    Deferred, Kept, RepeatedIds, Responses, read_response, read_responses, read_responses_as,
};
pub use result_case::{ResultCase, judged_aspects};
pub use results::{NumberFault, read_results};
