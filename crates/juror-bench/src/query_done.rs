//! Reports the outcome of an attempt to listeners.

use juror_report::QueryLine;
use juror_run::QueryDone;
use juror_toolbench::result::status_of;

use crate::judged::Judged;

/// Describes the attempt that was judged as number `n_done` of `n_all`.
pub(crate) fn query_done(
    own: &Judged<'_>,
    (n_done, n_all): (usize, usize),
    is_known: bool,
) -> QueryDone {
    let card = own.card();
    let status = status_of(&card).map(|status| status.name().to_owned());
    let line = QueryLine {
        n_done,
        n_all,
        id: own.selected.id.clone(),
        trial: own.selected.trial,
        query: own.selected.query.text.clone(),
        solved: status.zip(card.number("sopr_score")),
        api_call_score: card.number("api_call_score"),
        n_calls: own.attempt.as_ref().map_or(0, |attempt| attempt.calls.len()),
        seconds: card.number("system_answer_time").unwrap_or(0.0),
        error: own.error().map(str::to_owned),
    };
    QueryDone { set: own.selected.set.clone(), line, is_known }
}
