//! Trying an agent on queries, several at a time: each attempt is kept at once, and judged while others
//! are under way.

use futures_util::{StreamExt, stream};
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};

use super::attempt::Attempt;
use super::benchmark::Benchmark;
use super::judged::Judged;
use crate::event::{Event, QueryDone};
use crate::interrupt::Interrupt;
use crate::run_log::{RunLog, RunLogError};

/// A benchmark under way.
#[derive(Clone, Copy)]
pub(super) struct Schedule<'b, 's> {
    pub(super) benchmark: &'b Benchmark,
    /// The attempts of earlier runs, and where new ones are kept.
    pub(super) log: Option<&'s RunLog<Attempt>>,
    /// Set when the user wants to stop.
    pub(super) interrupt: &'s Interrupt,
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

/// How many answers are judged side by side; a model has limits of its own.
const SIDE_BY_SIDE: usize = 64;

/// What came of trying an agent on a query.
struct Trial {
    at: usize,
    is_known: bool,
    outcome: Result<Attempt, String>,
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

impl<'b> Schedule<'b, '_> {
    /// Tries the agent on every query that is open, and judges all attempts. Trying never waits for
    /// judging, so that what an agent did is kept the moment it is known.
    pub(super) async fn run(self) -> Result<Tried<'b>, RunLogError> {
        let Benchmark { agent, serving, .. } = self.benchmark;
        let (send, receive) = mpsc::unbounded_channel();
        let trying = async move {
            self.try_all(send).await?;
            agent.close().await;
            Ok(())
        };
        // If the run cannot be opened there, opening its queries says why.
        let _ = serving.begin().await;
        let ended = tokio::try_join!(trying, async { Ok(self.judge_all(receive).await) });
        serving.end().await;
        ended.map(|((), tried)| tried)
    }

    async fn try_all(&self, send: UnboundedSender<Trial>) -> Result<(), RunLogError> {
        let mut trials = stream::iter(0..self.benchmark.queries.len())
            .map(|at| self.attempt(at))
            .buffer_unordered(self.benchmark.jobs.max(1));
        while let Some(trial) = trials.next().await {
            // Nobody listens any more if judging has failed.
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
                let done = QueryDone::new(&ended.judged, (n_done, n_all), ended.is_known);
                (self.benchmark.listener)(Event::Attempted(Box::new(done)));
            }
            all.push(ended);
        }
        all.sort_by_key(|ended| ended.at);
        tried.judged = all.into_iter().map(|ended| ended.judged).collect();
        tried
    }

    async fn attempt(&self, at: usize) -> Result<Trial, RunLogError> {
        let Benchmark { agent, pool, catalog, serving, resume, .. } = self.benchmark;
        let selected = &self.benchmark.queries[at];
        let known = self.log.and_then(|log| log.get(&selected.set, &selected.id));
        if let Some(known) = known.filter(|known| known.error.is_none() || !resume.retry_errors) {
            return Ok(Trial { at, is_known: true, outcome: Ok(known.clone()) });
        }
        let left = |why: String| Ok(Trial { at, is_known: false, outcome: Err(why) });
        if self.interrupt.is_set() {
            return left(INTERRUPTED.into());
        }
        let attempt = agent.attempt(selected, *pool, catalog, serving);
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
        if let Some(log) = self.log {
            log.append(&attempted)?;
        }
        Ok(Trial { at, is_known: false, outcome: Ok(attempted) })
    }

    async fn judge(&self, trial: Trial) -> Ended<'b> {
        let Trial { at, is_known, outcome } = trial;
        let (attempted, mut left) = match outcome {
            Ok(attempted) => (Some(attempted), None),
            Err(why) => (None, Some(why)),
        };
        let Benchmark { queries, catalog, judge, .. } = self.benchmark;
        let mut judged = Judged::new(&queries[at], attempted, catalog.registry());
        tokio::select! {
            biased;
            () = judged.judge(judge) => {}
            () = self.interrupt.wait() => drop(left.get_or_insert(INTERRUPTED.into())),
        }
        Ended { at, is_known, left, judged }
    }
}
