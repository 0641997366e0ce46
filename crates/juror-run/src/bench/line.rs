//! How a query went, on one line.

use juror_report::QueryLine;

use super::judge::SolveJudge;
use super::judged::Judged;

/// How a query went, the `n_done`th of `n_all` to end.
pub fn query_line(own: &Judged<'_>, judge: &SolveJudge, n_done: usize, n_all: usize) -> QueryLine {
    let attempted = own.attempted.as_ref();
    let is_judged = !matches!(judge, SolveJudge::Nobody);
    let status = || (own.verdict.status.name().to_owned(), own.verdict.score());
    QueryLine {
        n_done,
        n_all,
        id: own.selected.id.clone(),
        query: own.selected.query.text.clone(),
        solved: is_judged.then(status),
        api_call_score: own.calls.score(),
        n_calls: attempted.map_or(0, |attempted| attempted.calls.len()),
        seconds: attempted.map_or(0.0, |attempted| attempted.seconds),
        error: own.error().cloned(),
    }
}
