//! Asks models about many items concurrently.

use std::convert::Infallible;
use std::future::Future;
use std::time::{Duration, Instant};

use futures_util::stream::{FuturesUnordered, StreamExt as _};
use juror_models::{Calls, Models, Stop};
use tokio::time::{Interval, MissedTickBehavior, interval};

use crate::event::Event;
use crate::interrupt::Interrupt;

/// How often progress is reported, even if nothing has finished.
const TELL_EVERY: Duration = Duration::from_secs(1);

/// Runs a task for each number below `n`, many at a time, and returns the outcomes in order. After
/// an interrupt it asks nothing more, but waits for calls in flight.
pub async fn ask_each<T, F: Future<Output = T>>(
    n: usize,
    models: &Models,
    interrupt: &Interrupt,
    ask: impl Fn(usize) -> F,
    mut tell: impl FnMut(Event),
) -> Vec<T> {
    tell(Event::Started { questions: n });
    let numbered = |at: usize| {
        let asked = ask(at);
        async move { (at, asked.await) }
    };
    let mut done: Vec<Option<T>> = (0..n).map(|_| None).collect();
    let take = |(at, outcome): (usize, T)| {
        done[at] = Some(outcome);
        Ok::<(), Infallible>(())
    };
    // Waiting tasks hold their texts, so only a limited number is prepared ahead.
    let many = AskMany { models, interrupt, window: 4 * models.concurrency(), n_known: 0 };
    let Ok(()) = many.run(0..n, numbered, take, tell).await;
    done.into_iter().flatten().collect()
}

/// Asks about many items at a time.
pub(crate) struct AskMany<'m> {
    pub(crate) models: &'m Models,
    pub(crate) interrupt: &'m Interrupt,
    /// How many items are in progress at a time.
    pub(crate) window: usize,
    /// How many items were done before this run.
    pub(crate) n_known: usize,
}

impl AskMany<'_> {
    /// Asks about each item, and passes each outcome to `take` as it arrives. After an interrupt,
    /// models refuse new calls: calls in flight are awaited, and the remaining items finish
    /// quickly.
    pub(crate) async fn run<I, T, E, F: Future<Output = T>>(
        &self,
        mut items: impl ExactSizeIterator<Item = I>,
        ask: impl Fn(I) -> F,
        mut take: impl FnMut(T) -> Result<(), E>,
        mut tell: impl FnMut(Event),
    ) -> Result<(), E> {
        let (n_items, watch, mut ticks) = (items.len(), Watch::begin(self.models), ticks());
        let asking = |n_done, n_waiting| watch.asking(n_done, n_items - n_waiting, n_waiting);
        let mut asked: FuturesUnordered<_> = items.by_ref().take(self.window).map(&ask).collect();
        let (mut n_done, mut is_stopping) = (self.n_known, false);
        loop {
            let next = tokio::select! {
                biased;
                next = asked.next() => next,
                _ = ticks.tick() => {
                    tell(Event::Asked(asking(n_done, items.len())));
                    continue;
                }
                () = self.interrupt.wait(), if !is_stopping => {
                    is_stopping = true;
                    self.models.stop(Stop::Interrupted);
                    tell(Event::Stopping);
                    continue;
                }
            };
            let Some(outcome) = next else { return Ok(()) };
            take(outcome)?;
            n_done += 1;
            asked.extend(items.next().map(&ask));
            tell(Event::Asked(asking(n_done, items.len())));
        }
    }
}

/// Returns the interval at which progress is reported.
pub fn ticks() -> Interval {
    let mut ticks = interval(TELL_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}

/// The progress of asking models.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Asking {
    /// How many questions are done.
    pub questions: usize,
    /// Counts of the calls so far.
    pub calls: Calls,
    /// Replies per second since the first call.
    pub rate: Option<f64>,
    /// The estimated time left at the current rate; `None` before the first reply.
    pub left: Option<Duration>,
}

/// Measures the progress of asking.
pub struct Watch<'m> {
    models: &'m Models,
    /// The calls made before measuring began.
    before: Calls,
    since: Instant,
}

impl<'m> Watch<'m> {
    /// Starts measuring.
    pub fn begin(models: &'m Models) -> Watch<'m> {
        Watch { models, before: models.calls(), since: Instant::now() }
    }

    /// Returns the progress, given that `done` questions are done, `begun` were started since
    /// measuring began, and `waiting` have not started.
    pub fn asking(&self, done: usize, begun: usize, waiting: usize) -> Asking {
        let calls = self.models.calls();
        let work = Work {
            asked: calls.asked - self.before.asked,
            ended: calls.ended - self.before.ended,
            answered: calls.answered + calls.failed - self.before.answered - self.before.failed,
            begun,
            waiting,
        };
        let seconds = self.since.elapsed().as_secs_f64();
        let rate = work.rate(seconds);
        let left = rate.and_then(|rate| Duration::try_from_secs_f64(work.open() / rate).ok());
        Asking { questions: done, calls, rate, left }
    }
}

/// The inputs of the estimate of the time left.
struct Work {
    asked: u64,
    ended: u64,
    /// Calls answered by a model rather than from the cache.
    answered: u64,
    begun: usize,
    waiting: usize,
}

impl Work {
    fn rate(&self, seconds: f64) -> Option<f64> {
        (self.answered > 0 && seconds > 0.0).then(|| self.answered as f64 / seconds)
    }

    /// Estimates the calls to come: those of questions already started, and as many for each
    /// question not started. Follow-up calls of a question are not foreseen.
    fn open(&self) -> f64 {
        let per_question = self.asked as f64 / self.begun.max(1) as f64;
        (self.asked - self.ended) as f64 + per_question * self.waiting as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_left_is_told_from_the_first_reply_on() {
        let work =
            |answered: u64| Work { asked: 8, ended: answered, answered, begun: 4, waiting: 15 };
        assert_eq!(work(0).rate(30.0), None, "nothing is known before");
        let first = work(1);
        assert_eq!((first.rate(30.0), first.open()), (Some(1.0 / 30.0), 7.0 + 30.0));
        let known = Work { ended: 8, ..work(0) };
        assert_eq!(known.rate(1.0), None, "what was kept says nothing of the model");
    }
}
