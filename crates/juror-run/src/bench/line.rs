//! How a query went, on one line.

use juror_report::QueryLine;

use super::judged::Judged;

/// How a query went, the `n_done`th of `n_all` to end.
pub fn query_line(own: &Judged<'_>, n_done: usize, n_all: usize) -> QueryLine {
    let attempt = own.attempt.as_ref();
    let status = own.verdict.status.map(|status| status.name().to_owned());
    QueryLine {
        n_done,
        n_all,
        id: own.selected.id.clone(),
        query: own.selected.query.text.clone(),
        solved: status.zip(own.verdict.score()),
        api_call_score: own.calls.score(),
        n_calls: attempt.map_or(0, |attempt| attempt.calls.len()),
        seconds: attempt.and_then(|attempt| attempt.seconds).unwrap_or(0.0),
        error: own.error().cloned(),
    }
}
