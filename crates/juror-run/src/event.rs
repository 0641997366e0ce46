//! What happens during a run, for whoever shows it.

use std::sync::Arc;

use juror_document::Notice;
use juror_models::Tell;
use juror_report::QueryLine;

use crate::asking::Asking;

/// Something that happened during a run, be it an evaluation or a benchmark.
#[derive(Clone, Debug)]
pub enum Event {
    /// The run began.
    Started {
        /// How many questions there are.
        questions: usize,
    },
    /// Models are being asked.
    Asked(Asking),
    /// The user asked to stop: calls on their way are waited for.
    Stopping,
    /// Some questions were judged.
    Judged {
        /// How many so far.
        questions: usize,
        /// How many of them ended in an error.
        errors: usize,
    },
    /// An agent's attempt at a query was judged.
    Attempted(Box<QueryDone>),
    /// Something the user should know, such as which earlier run is continued.
    Note(Notice),
    /// Something that the user may want to mend.
    Warning(Notice),
}

/// A query that an agent was tried on.
#[derive(Clone, Debug)]
pub struct QueryDone {
    /// The set of the query.
    pub set: String,
    /// How it went, on one line.
    pub line: QueryLine,
    /// Whether the attempt is from an earlier run, and was only judged in this one.
    pub is_known: bool,
}

/// Hears of events, from any thread.
pub type Listener = Arc<dyn Fn(Event) + Send + Sync>;

/// Passes texts on as warnings.
pub(crate) fn warner(listener: &Listener) -> Tell {
    let listener = listener.clone();
    Arc::new(move |text: &str| listener(Event::Warning(text.to_owned().into())))
}
