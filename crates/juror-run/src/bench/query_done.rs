//! How an attempt at a query went, for whoever follows the run.

use juror_report::QueryLine;

use super::judged::Judged;
use crate::event::QueryDone;

impl QueryDone {
    /// The attempt that was judged as the `n_done`th of `n_all`.
    pub(super) fn new(own: &Judged<'_>, (n_done, n_all): (usize, usize), is_known: bool) -> Self {
        let attempted = own.attempted.as_ref();
        let status = own.verdict.status.map(|status| status.name().to_owned());
        let line = QueryLine {
            n_done,
            n_all,
            id: own.selected.id.clone(),
            query: own.selected.query.text.clone(),
            solved: status.zip(own.verdict.score()),
            api_call_score: own.calls.score(),
            n_calls: attempted.map_or(0, |attempted| attempted.calls.len()),
            seconds: attempted.and_then(|attempted| attempted.seconds).unwrap_or(0.0),
            error: own.error().cloned(),
        };
        QueryDone { set: own.selected.set.clone(), line, is_known }
    }
}
