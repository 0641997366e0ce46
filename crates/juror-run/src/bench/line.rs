//! How a query went, on one line.

use juror_report::QueryLine;
use juror_toolbench::result::status_of;

use super::judged::Judged;

/// How a query went, the `n_done`th of `n_all` to end.
pub fn query_line(own: &Judged<'_>, n_done: usize, n_all: usize) -> QueryLine {
    let card = own.card();
    let status = status_of(&card).map(|status| status.name().to_owned());
    QueryLine {
        n_done,
        n_all,
        id: own.selected.id.clone(),
        query: own.selected.query.text.clone(),
        solved: status.zip(card.number("sopr_score")),
        api_call_score: card.number("api_call_score"),
        n_calls: own.attempt.as_ref().map_or(0, |attempt| attempt.calls.len()),
        seconds: card.number("system_answer_time").unwrap_or(0.0),
        error: own.error().map(str::to_owned),
    }
}
