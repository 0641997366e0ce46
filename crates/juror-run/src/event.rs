//! Events during a run, for progress displays.

use std::sync::Arc;

use juror_document::Notice;
use juror_models::Tell;
use juror_report::QueryLine;

use crate::asking::Asking;

/// Something that happened during a run, be it an evaluation or a benchmark.
#[derive(Clone, Debug)]
pub enum Event {
    /// The run started.
    Started {
        /// The number of questions.
        questions: usize,
    },
    /// Models are being asked.
    Asked(Asking),
    /// The user asked to stop: only calls in flight are still awaited.
    Stopping,
    /// Some questions are done.
    Done {
        /// How many are done so far.
        questions: usize,
        /// How many of them ended in an error.
        errors: usize,
    },
    /// An agent's attempt at a query was judged.
    Attempted(Box<QueryDone>),
    /// An agent wrote a line that is not part of the protocol, such as a log.
    AgentLine(String),
    /// Something the user should know, such as which earlier run is resumed.
    Note(Notice),
    /// Something the user may want to fix.
    Warning(Notice),
}

/// A query that an agent has attempted.
#[derive(Clone, Debug)]
pub struct QueryDone {
    /// The set of the query.
    pub set: String,
    /// The outcome, on one line.
    pub line: QueryLine,
    /// Whether the attempt is from an earlier process, and was only judged in this one.
    pub is_known: bool,
}

/// Receives events, from any thread.
pub type Listener = Arc<dyn Fn(Event) + Send + Sync>;

/// Forwards texts as warnings.
pub fn warner(listener: &Listener) -> Tell {
    let listener = listener.clone();
    Arc::new(move |text: &str| listener(Event::Warning(text.to_owned().into())))
}
