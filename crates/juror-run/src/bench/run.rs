//! Trying an agent on queries, several at a time, keeping what comes of each at once, and judging
//! it while others are tried.

use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::stream;

use super::agent::Agent;
use super::journal::{Attempted, Journal, JournalError};
use super::judge::SolveJudge;
use super::judged::Judged;
use super::pool::{Offers, Open};
use super::queries::Selected;
use super::serving::Serving;
use crate::interrupt::Interrupt;

/// A run of an agent over queries.
#[derive(Clone, Copy)]
pub struct Bench<'b> {
    /// The queries, in order.
    pub queries: &'b [Selected],
    /// Who is tried.
    pub agent: &'b Agent,
    /// How much of the pool it sees.
    pub open: Open,
    /// The pool.
    pub offers: &'b Arc<Offers>,
    /// Where it calls tools.
    pub serving: &'b Serving,
    /// What is known of earlier, and what is kept; nothing for answers that are recorded anyway.
    pub journal: Option<&'b Journal>,
    /// Who judges.
    pub judge: &'b SolveJudge,
    /// Queries at a time.
    pub jobs: usize,
    /// Whether queries that ended with an error are tried again.
    pub retry_errors: bool,
    /// Set when the user wants to stop.
    pub interrupt: &'b Interrupt,
}

/// What is told of a run.
pub enum Told<'t> {
    /// A query was tried earlier, and is judged now.
    Known(&'t Judged<'t>),
    /// A query has been tried and judged.
    Tried(&'t Judged<'t>),
    /// Trying or judging has stopped; the query is as open as it was.
    Left(&'t str),
}

/// How many answers are judged side by side; a model has limits of its own.
const SIDE_BY_SIDE: usize = 64;

/// What came of trying an agent on a query.
struct Trial {
    at: usize,
    is_known: bool,
    outcome: Result<Attempted, String>,
}

/// Tries the agent on every query that is open, and judges all; returns them in the order of the
/// queries.
pub async fn run<'b>(
    bench: &Bench<'b>,
    mut tell: impl FnMut(Told<'_>),
) -> Result<Vec<Judged<'b>>, JournalError> {
    let trials = stream::iter(0..bench.queries.len())
        .map(|at| bench.attempt(at))
        .buffer_unordered(bench.jobs.max(1));
    let mut judged = trials.map(|trial| bench.judge(trial)).buffer_unordered(SIDE_BY_SIDE);
    let mut all: Vec<(usize, Judged<'b>)> = Vec::with_capacity(bench.queries.len());
    while let Some(one) = judged.next().await {
        let (at, is_known, left, own) = one?;
        match left {
            Some(why) => tell(Told::Left(&why)),
            None if is_known => tell(Told::Known(&own)),
            None => tell(Told::Tried(&own)),
        }
        all.push((at, own));
    }
    all.sort_by_key(|(at, _)| *at);
    Ok(all.into_iter().map(|(_, own)| own).collect())
}

/// A judged query: its number, whether it was tried earlier, and why it was left.
type Ended<'b> = (usize, bool, Option<String>, Judged<'b>);

const INTERRUPTED: &str = "interrupted";

impl<'b> Bench<'b> {
    async fn attempt(&self, at: usize) -> Result<Trial, JournalError> {
        let selected = &self.queries[at];
        let known = self.journal.and_then(|journal| journal.get(&selected.set, &selected.id));
        if let Some(known) = known.filter(|known| known.error.is_none() || !self.retry_errors) {
            return Ok(Trial { at, is_known: true, outcome: Ok(known.clone()) });
        }
        let left = |why: String| Ok(Trial { at, is_known: false, outcome: Err(why) });
        if self.interrupt.is_set() {
            return left(INTERRUPTED.into());
        }
        let attempt = self.agent.attempt(selected, self.open, self.offers, self.serving);
        let attempted = tokio::select! {
            biased;
            tried = attempt => match tried {
                Ok(attempted) => attempted,
                Err(stopped) => return left(stopped.0),
            },
            () = self.interrupt.wait() => return left(INTERRUPTED.into()),
        };
        if let Some(journal) = self.journal {
            journal.keep(&attempted)?;
        }
        Ok(Trial { at, is_known: false, outcome: Ok(attempted) })
    }

    async fn judge(&self, trial: Result<Trial, JournalError>) -> Result<Ended<'b>, JournalError> {
        let Trial { at, is_known, outcome } = trial?;
        let (attempted, mut left) = match outcome {
            Ok(attempted) => (Some(attempted), None),
            Err(why) => (None, Some(why)),
        };
        let selected = &self.queries[at];
        let judging =
            |attempted, judge| Judged::new(selected, attempted, self.offers.registry(), judge);
        let own = tokio::select! {
            biased;
            own = judging(attempted.clone(), self.judge) => own,
            () = self.interrupt.wait() => {
                left.get_or_insert(INTERRUPTED.into());
                judging(attempted, &SolveJudge::Nobody).await
            }
        };
        Ok((at, is_known, left, own))
    }
}
