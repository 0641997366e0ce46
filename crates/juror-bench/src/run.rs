//! Runs an agent on queries, several at a time. Each attempt is logged at once, and judged while
//! others are in progress.

use futures_util::{StreamExt, stream};
use juror_run::{Event, Interrupt};
use juror_runs::{RunLog, RunLogError};
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};

use crate::attempt::Attempt;
use crate::benchmark::Benchmark;
use crate::equipped::INTERRUPTED;
use crate::judged::Judged;
use crate::queries::Selected;
use crate::query_done::query_done;

/// A benchmark in progress.
#[derive(Clone, Copy)]
pub(super) struct Schedule<'b, 's> {
    pub(super) benchmark: &'b Benchmark,
    /// The attempts of earlier processes, and the place for new ones.
    pub(super) log: Option<&'s RunLog<Attempt>>,
    /// Set when the user wants to stop.
    pub(super) interrupt: &'s Interrupt,
}

/// The outcome of all queries.
#[derive(Default)]
pub struct Tried<'b> {
    /// The judged attempts, in the order of the queries.
    pub judged: Vec<Judged<'b>>,
    /// How many attempts of this process ended with an error of the agent.
    pub n_failed: usize,
    /// How many attempts of earlier processes have an error, of the agent or of the judge.
    pub n_known_failed: usize,
    /// Why some queries are still open, if any are.
    pub stopped: Option<String>,
}

impl Tried<'_> {
    fn count(&mut self, ended: &Ended<'_>) {
        let attempted = ended.judged.attempt.as_ref();
        match (&ended.left, ended.is_known) {
            (Some(why), _) => self.stopped = Some(why.clone()),
            (None, true) => self.n_known_failed += usize::from(ended.judged.error().is_some()),
            (None, false) => {
                self.n_failed += usize::from(attempted.is_some_and(|own| own.error.is_some()));
            }
        }
    }
}

/// How many answers are judged concurrently; models have limits of their own.
const SIDE_BY_SIDE: usize = 64;

/// The outcome of running an agent on a query.
struct Trial {
    at: usize,
    is_known: bool,
    outcome: Result<Attempt, String>,
}

/// A judged query.
struct Ended<'b> {
    at: usize,
    is_known: bool,
    /// Why the query is still open.
    left: Option<String>,
    judged: Judged<'b>,
}

/// Returns the positions of the queries, with all first trials before any second one. A run that is
/// cut off has then tried as many queries as possible.
pub fn in_order_of_trials(queries: &[Selected]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..queries.len()).collect();
    order.sort_by_key(|at| queries[*at].trial);
    order
}

impl<'b> Schedule<'b, '_> {
    /// Runs the agent on every open query, and judges all attempts. The agent never waits for the
    /// judge, so that each attempt is logged as soon as it is known.
    pub(super) async fn run(self) -> Result<Tried<'b>, RunLogError> {
        let equipped = &self.benchmark.equipped;
        let (send, receive) = mpsc::unbounded_channel();
        let trying = async move {
            self.try_all(send).await?;
            equipped.close().await;
            Ok(())
        };
        equipped.begin().await;
        let ended = tokio::try_join!(trying, async { Ok(self.judge_all(receive).await) });
        equipped.end().await;
        ended.map(|((), tried)| tried)
    }

    async fn try_all(&self, send: UnboundedSender<Trial>) -> Result<(), RunLogError> {
        let mut trials = stream::iter(in_order_of_trials(&self.benchmark.queries))
            .map(|at| self.attempt(at))
            .buffer_unordered(self.benchmark.jobs.max(1));
        while let Some(trial) = trials.next().await {
            // The receiver is gone if judging has failed.
            if send.send(trial?).is_err() {
                break;
            }
        }
        Ok(())
    }

    async fn judge_all(&self, mut receive: UnboundedReceiver<Trial>) -> Tried<'b> {
        let trials = stream::poll_fn(|context| receive.poll_recv(context));
        let mut judged = trials.map(|trial| self.judge(trial)).buffer_unordered(SIDE_BY_SIDE);
        let (mut tried, mut n_done) = (Tried::default(), 0);
        let n_all = self.benchmark.queries.len();
        let mut all = Vec::with_capacity(n_all);
        while let Some(ended) = judged.next().await {
            tried.count(&ended);
            if ended.left.is_none() {
                n_done += 1;
                let done = query_done(&ended.judged, (n_done, n_all), ended.is_known);
                (self.benchmark.listener)(Event::Attempted(Box::new(done)));
            }
            all.push(ended);
        }
        all.sort_by_key(|ended| ended.at);
        tried.judged = all.into_iter().map(|ended| ended.judged).collect();
        tried
    }

    async fn attempt(&self, at: usize) -> Result<Trial, RunLogError> {
        let Benchmark { equipped, resume, .. } = self.benchmark;
        let selected = &self.benchmark.queries[at];
        let known = self.log.and_then(|log| log.get(&selected.log_id()));
        if let Some(known) = known.filter(|known| known.error.is_none() || !resume.retry_errors) {
            return Ok(Trial { at, is_known: true, outcome: Ok(known.clone()) });
        }
        let outcome = equipped.attempt(selected, self.interrupt).await;
        if let (Some(log), Ok(attempted)) = (self.log, &outcome) {
            log.append_async(attempted).await?;
        }
        Ok(Trial { at, is_known: false, outcome })
    }

    async fn judge(&self, trial: Trial) -> Ended<'b> {
        let Trial { at, is_known, outcome } = trial;
        let (attempted, mut left) = match outcome {
            Ok(attempted) => (Some(attempted), None),
            Err(why) => (None, Some(why)),
        };
        let Benchmark { queries, equipped, judge, .. } = self.benchmark;
        let mut judged = Judged::new(&queries[at], attempted, equipped.catalog.registry());
        tokio::select! {
            biased;
            () = judged.judge(judge) => {}
            () = self.interrupt.wait() => drop(left.get_or_insert(INTERRUPTED.into())),
        }
        Ended { at, is_known, left, judged }
    }
}
