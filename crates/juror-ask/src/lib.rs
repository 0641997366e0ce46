//! Asks a live agent the questions of a reference, and records what it answers.
//!
//! It is the machinery of benchmarks: a question is a query, and what an agent makes of it an
//! [`Attempt`](juror_bench::Attempt). [`Questioning`] resolves the options and knows what
//! identifies the run; its `run` asks, several questions at a time, and hands every response to a
//! [`ResponseLog`] the moment it exists. Responses are those that `juror eval` reads.
//!
//! A [`ResponseFile`] is a file of responses that stands alone: what identifies it is beside it, so
//! that asking goes on where it was, and never mixes the answers of two agents.
//!
//! You will not find agents, judging or printing here.

mod answer_line;
mod error;
mod questioning;
mod questions;
mod response;
mod response_file;
mod response_log;

pub use answer_line::AnswerLine;
pub use error::AskError;
pub use questioning::{Asked, Questioning, QuestioningOptions};
pub use questions::{QuestionSelection, select_questions};
pub use response_file::{ResponseFile, manifest_path};
pub use response_log::ResponseLog;
