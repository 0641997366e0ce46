//! Trying an agent on queries, several at a time, and keeping what comes of each at once.

use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::stream;

use super::agent::Agent;
use super::journal::{Attempted, Journal, JournalError};
use super::pool::{Offers, Open};
use super::queries::Selected;
use super::serving::Serving;
use crate::interrupt::Interrupt;

/// A run of an agent over queries.
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
    /// What is known of earlier.
    pub journal: &'b Journal,
    /// Queries at a time.
    pub jobs: usize,
    /// Whether queries that ended with an error are tried again.
    pub retry_errors: bool,
    /// Set when the user wants to stop.
    pub interrupt: &'b Interrupt,
}

/// What is told of a run.
#[derive(Clone, Copy, Debug)]
pub enum Told<'t> {
    /// A query was answered earlier.
    Known(&'t Attempted),
    /// A query has been tried.
    Tried(&'t Attempted),
    /// Asking has stopped; the query is as open as it was.
    Left(&'t str),
}

/// Tries the agent on every query that is open; returns what became of each, in the order of the
/// queries, and nothing for those that are still open.
pub async fn run(
    bench: &Bench<'_>,
    mut tell: impl FnMut(Told<'_>),
) -> Result<Vec<Option<Attempted>>, JournalError> {
    let mut done: Vec<Option<Attempted>> = vec![None; bench.queries.len()];
    let mut open = Vec::new();
    for (at, selected) in bench.queries.iter().enumerate() {
        let known = bench.journal.get(&selected.set, &selected.id);
        match known.filter(|known| known.error.is_none() || !bench.retry_errors) {
            Some(known) => {
                tell(Told::Known(known));
                done[at] = Some(known.clone());
            }
            None => open.push(at),
        }
    }
    let mut tried = stream::iter(open)
        .map(|at| async move {
            if bench.interrupt.is_set() {
                return (at, Err("interrupted".to_owned()));
            }
            let attempt =
                bench.agent.attempt(&bench.queries[at], bench.open, bench.offers, bench.serving);
            tokio::select! {
                biased;
                tried = attempt => (at, tried.map_err(|stopped| stopped.0)),
                () = bench.interrupt.wait() => (at, Err("interrupted".to_owned())),
            }
        })
        .buffer_unordered(bench.jobs.max(1));
    while let Some((at, outcome)) = tried.next().await {
        match outcome {
            Ok(attempted) => {
                bench.journal.keep(&attempted)?;
                tell(Told::Tried(&attempted));
                done[at] = Some(attempted);
            }
            Err(why) => tell(Told::Left(&why)),
        }
    }
    Ok(done)
}
