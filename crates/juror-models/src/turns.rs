//! Timeouts that measure the silence of a server, not the queue in front of it.
//!
//! A server that answers one call after another makes the others wait and sends nothing meanwhile. A
//! plain timeout would give up calls that are merely queued there. But each reply to an earlier call
//! shows that the server works and that the next call's turn has come. So whenever a call is
//! answered, the clocks of all calls sent after it start anew; and the clock of a call starts anew
//! when its own reply begins to arrive. A reply to a *later* call proves nothing about an earlier one
//! and does not reset its clock, so a call that hangs still times out. Calls sent within a few
//! seconds of each other may arrive in any order and count as sent together.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Calls sent within this time of each other may arrive in any order.
const TOGETHER: Duration = Duration::from_secs(10);

/// The calls sent to a server that are not answered yet, in order.
#[derive(Debug, Default)]
pub(crate) struct Turns(Mutex<WaitingCalls>);

#[derive(Debug, Default)]
struct WaitingCalls {
    n_sent: u64,
    waiting: BTreeMap<u64, WaitTimes>,
}

#[derive(Clone, Copy, Debug)]
struct WaitTimes {
    sent: Instant,
    /// When the clock last started.
    since: Instant,
}

/// A call that waits for its reply.
#[derive(Debug)]
pub(crate) struct CallTurn<'t> {
    turns: &'t Turns,
    number: u64,
}

/// Restarts the clock of a call when its reply begins to arrive.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Begin<'t> {
    turns: &'t Turns,
    number: u64,
}

impl Turns {
    /// Adds a call that is sent now.
    pub(crate) fn take(&self) -> CallTurn<'_> {
        let mut line = self.line();
        let number = line.n_sent;
        line.n_sent += 1;
        let now = Instant::now();
        line.waiting.insert(number, WaitTimes { sent: now, since: now });
        CallTurn { turns: self, number }
    }

    fn line(&self) -> MutexGuard<'_, WaitingCalls> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<'t> CallTurn<'t> {
    /// Returns a handle to report that the reply begins to arrive.
    pub(crate) fn begin(&self) -> Begin<'t> {
        Begin { turns: self.turns, number: self.number }
    }

    /// Waits for the reply. Returns `None` if the server was silent for too long.
    pub(crate) async fn wait_for<T>(
        self,
        reply: impl Future<Output = T>,
        most: Duration,
    ) -> Option<T> {
        let mut reply = std::pin::pin!(reply);
        loop {
            let end = self.since() + most;
            tokio::select! {
                biased;
                reply = &mut reply => {
                    self.is_answered();
                    return Some(reply);
                }
                () = tokio::time::sleep_until(end) => {
                    if self.since() + most <= end {
                        return None;
                    }
                }
            }
        }
    }

    fn since(&self) -> Instant {
        let line = self.turns.line();
        line.waiting.get(&self.number).map_or_else(Instant::now, |times| times.since)
    }

    fn is_answered(&self) {
        let now = Instant::now();
        let mut line = self.turns.line();
        let Some(own) = line.waiting.get(&self.number).copied() else { return };
        let later = |times: &WaitTimes| times.sent + TOGETHER >= own.sent;
        for times in line.waiting.values_mut().filter(|times| later(times)) {
            times.since = now;
        }
    }
}

impl Begin<'_> {
    /// The reply begins to arrive now.
    pub(crate) fn now(self) {
        if let Some(times) = self.turns.line().waiting.get_mut(&self.number) {
            times.since = Instant::now();
        }
    }
}

impl Drop for CallTurn<'_> {
    fn drop(&mut self) {
        self.turns.line().waiting.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::future::join_all;
    use tokio::sync::Semaphore;
    use tokio::time::sleep;

    const MOST: Duration = Duration::from_mins(1);

    #[tokio::test(start_paused = true)]
    async fn a_queue_before_the_server_costs_no_time() {
        let (turns, slot) = (Turns::default(), Semaphore::new(1));
        let calls = (0..26).map(|_| {
            let reply = async {
                let _slot = slot.acquire().await.expect("open");
                sleep(Duration::from_secs(25)).await;
            };
            turns.take().wait_for(reply, MOST)
        });
        let replies = join_all(calls).await;
        assert_eq!(replies.iter().flatten().count(), 26, "none is given up");
    }

    #[tokio::test(start_paused = true)]
    async fn calls_sent_together_may_be_answered_in_any_order() {
        let turns = Turns::default();
        let calls = (0..26_u64).map(|number| {
            let reply = sleep(Duration::from_secs(25 * (26 - number)));
            turns.take().wait_for(reply, MOST)
        });
        let replies = join_all(calls).await;
        assert_eq!(replies.iter().flatten().count(), 26, "none is given up");
    }

    #[tokio::test(start_paused = true)]
    async fn silence_counts_and_later_calls_do_not_break_it() {
        let turns = Turns::default();
        let begun = Instant::now();
        let hangs = async {
            let reply = turns.take().wait_for(std::future::pending::<()>(), MOST).await;
            (reply, begun.elapsed())
        };
        let others = async {
            for _ in 0..9 {
                sleep(Duration::from_secs(20)).await;
                let reply = turns.take().wait_for(sleep(Duration::from_secs(1)), MOST).await;
                assert_eq!(reply, Some(()));
            }
        };
        let (hung, ()) = tokio::join!(hangs, others);
        assert_eq!(hung, (None, MOST));
    }

    #[tokio::test(start_paused = true)]
    async fn a_reply_that_has_begun_has_all_its_time() {
        let turns = Turns::default();
        let turn = turns.take();
        let begins = turn.begin();
        let reply = async {
            sleep(Duration::from_secs(50)).await;
            begins.now();
            sleep(Duration::from_secs(50)).await;
        };
        assert_eq!(turn.wait_for(reply, MOST).await, Some(()));
    }
}
