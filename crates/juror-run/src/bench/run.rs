//! Trying an agent on queries, several at a time, keeping what comes of each at once, and judging
//! it while others are tried.

use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::stream;
use juror_tools::Catalog;
use tokio::sync::mpsc;

use super::agent::Agent;
use super::journal::{Attempted, Journal, JournalError};
use super::judge::SolveJudge;
use super::judged::Judged;
use super::pool::Pool;
use super::queries::Selected;
use super::serving::Serving;
use crate::event::{Event, QueryDone};
use crate::interrupt::Interrupt;

/// A run of an agent over queries.
#[derive(Clone, Copy)]
pub struct Bench<'b> {
    /// The queries, in order.
    pub queries: &'b [Selected],
    /// Who is tried.
    pub agent: &'b Agent,
    /// How much of the pool it sees.
    pub pool: Pool,
    /// All tools.
    pub catalog: &'b Arc<Catalog>,
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

/// What came of all queries.
#[derive(Default)]
pub struct Tried<'b> {
    /// The attempts, judged, in the order of the queries.
    pub judged: Vec<Judged<'b>>,
    /// How many attempts of this run ended with an error of the agent.
    pub n_failed: usize,
    /// How many attempts of earlier runs have an error, of the agent or of the judge.
    pub n_known_failed: usize,
    /// Why some queries are as open as they were, if any is.
    pub stopped: Option<String>,
}

impl Tried<'_> {
    fn count(&mut self, ended: &Ended<'_>) {
        let attempted = ended.judged.attempted.as_ref();
        match (&ended.left, ended.is_known) {
            (Some(why), _) => self.stopped = Some(why.clone()),
            (None, true) => self.n_known_failed += usize::from(ended.judged.error().is_some()),
            (None, false) => {
                self.n_failed += usize::from(attempted.is_some_and(|own| own.error.is_some()));
            }
        }
    }
}

/// How many answers are judged side by side; a model has limits of its own.
const SIDE_BY_SIDE: usize = 64;

/// What came of trying an agent on a query.
struct Trial {
    at: usize,
    is_known: bool,
    outcome: Result<Attempted, String>,
}

/// Tries the agent on every query that is open, and judges all attempts. Trying never waits for
/// judging, so that what an agent did is kept the moment it is known.
pub async fn run<'b>(
    bench: &Bench<'b>,
    mut listener: impl FnMut(Event),
) -> Result<Tried<'b>, JournalError> {
    let (send, mut receive) = mpsc::unbounded_channel();
    let trying = async move {
        let mut trials = stream::iter(0..bench.queries.len())
            .map(|at| bench.attempt(at))
            .buffer_unordered(bench.jobs.max(1));
        while let Some(trial) = trials.next().await {
            // Nobody listens any more if judging has failed.
            if send.send(trial?).is_err() {
                break;
            }
        }
        bench.agent.close().await;
        Ok(())
    };
    let judging = async {
        let trials = stream::poll_fn(|context| receive.poll_recv(context));
        let mut judged = trials.map(|trial| bench.judge(trial)).buffer_unordered(SIDE_BY_SIDE);
        let (mut tried, mut n_done, n_all) = (Tried::default(), 0, bench.queries.len());
        let mut all = Vec::with_capacity(n_all);
        while let Some(ended) = judged.next().await {
            tried.count(&ended);
            if ended.left.is_none() {
                n_done += 1;
                let done = QueryDone::new(&ended.judged, (n_done, n_all), ended.is_known);
                listener(Event::Attempted(Box::new(done)));
            }
            all.push(ended);
        }
        all.sort_by_key(|ended| ended.at);
        tried.judged = all.into_iter().map(|ended| ended.judged).collect();
        Ok(tried)
    };
    // Where the run cannot be opened, opening its queries tells why.
    let _ = bench.serving.begin().await;
    let ended = tokio::try_join!(trying, judging);
    bench.serving.end().await;
    ended.map(|((), tried)| tried)
}

/// A judged query.
struct Ended<'b> {
    at: usize,
    is_known: bool,
    /// Why it is as open as it was.
    left: Option<String>,
    judged: Judged<'b>,
}

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
        let attempt = self.agent.attempt(selected, self.pool, self.catalog, self.serving);
        let attempted = tokio::select! {
            biased;
            tried = attempt => match tried {
                Ok(attempted) => attempted,
                Err(stopped) => return left(stopped.0),
            },
            () = self.interrupt.wait() => return left(INTERRUPTED.into()),
        };
        // An interrupt may have ended the agent too; that is no error of its own.
        if attempted.error.is_some() && self.interrupt.is_set() {
            return left(INTERRUPTED.into());
        }
        if let Some(journal) = self.journal {
            journal.keep(&attempted)?;
        }
        Ok(Trial { at, is_known: false, outcome: Ok(attempted) })
    }

    async fn judge(&self, trial: Trial) -> Ended<'b> {
        let Trial { at, is_known, outcome } = trial;
        let (attempted, mut left) = match outcome {
            Ok(attempted) => (Some(attempted), None),
            Err(why) => (None, Some(why)),
        };
        let mut judged = Judged::new(&self.queries[at], attempted, self.catalog.registry());
        tokio::select! {
            biased;
            () = judged.judge(self.judge) => {}
            () = self.interrupt.wait() => drop(left.get_or_insert(INTERRUPTED.into())),
        }
        Ended { at, is_known, left, judged }
    }
}
