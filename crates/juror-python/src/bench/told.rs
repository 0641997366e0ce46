//! What the Python side is told of a run.

use juror_report::QueryLine;
use juror_run::bench::{Judged, query_line};
use serde::Serialize;

/// Something that happened.
#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum Told {
    /// A query has been tried and judged.
    Done(Box<Done>),
    /// A query was not answered in time, so that whoever took it is not waited for any longer.
    Late {
        /// The number of what was asked.
        number: u64,
    },
    /// Something went wrong that ends nothing.
    Trouble {
        /// What.
        text: String,
    },
    /// The run is over.
    Ended,
}

/// How a query went.
#[derive(Serialize)]
pub(super) struct Done {
    n_done: usize,
    n_all: usize,
    set: String,
    query_id: String,
    query: String,
    /// Whether it was tried in an earlier run.
    is_known: bool,
    /// Nothing where nobody judges.
    status: Option<String>,
    sopr_score: Option<f64>,
    /// Nothing where no API is right.
    api_call_score: Option<f64>,
    n_calls: usize,
    seconds: f64,
    error: Option<String>,
    line: String,
}

impl Told {
    pub(super) fn done(own: &Judged<'_>, (n_done, n_all): (usize, usize), is_known: bool) -> Told {
        let line = query_line(own, n_done, n_all);
        let text = line.to_string();
        let QueryLine { id, query, solved, api_call_score, n_calls, seconds, error, .. } = line;
        let (status, sopr_score) = solved.unzip();
        let set = own.selected.set.clone();
        Told::Done(Box::new(Done {
            n_done,
            n_all,
            set,
            query_id: id,
            query,
            is_known,
            status,
            sopr_score,
            api_call_score,
            n_calls,
            seconds,
            error,
            line: text,
        }))
    }
}
