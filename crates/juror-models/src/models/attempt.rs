//! Sends a call until it is answered or there is no hope, and decides when to stop all calls.

use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::time::Instant;

use super::Models;
use super::queue::{Send, Ticket, locked};
use crate::cache::Kept;
use crate::call_error::{CallError, Stop};
use crate::lanes::Fared;
use crate::model::{ModelError, ModelReply};
use crate::tally::Tally;

/// The longest a provider may ask us to wait.
const LONGEST_WAIT: Duration = Duration::from_mins(5);

/// How long a server may take to load its model, and the longest wait before asking it again.
const LONGEST_LOADING: Duration = Duration::from_mins(15);
const LOADING_WAIT: Duration = Duration::from_secs(5);

/// After this many failures without a success, the server is taken to be unreachable.
const MOST_FAILED_FIRST: u32 = 10;

impl Models {
    /// Sends a call until there is a reply or no hope of one.
    ///
    /// Three kinds of failure: a server that is loading its model is asked again without using up
    /// retries; a temporary failure is retried with growing, jittered waits; anything else is final.
    pub(super) async fn buy(
        &self,
        ticket: &Ticket<'_>,
        send: &Send<'_>,
    ) -> Result<Kept, CallError> {
        let mut attempt = 0;
        let mut loading = Duration::ZERO;
        loop {
            let error = match self.try_once(ticket, send).await? {
                Ok(reply) => return Ok(self.keep(ticket, reply).await),
                Err(error) => error,
            };
            if matches!(error, ModelError::Loading(_)) && loading < LONGEST_LOADING {
                self.notify_once("the model is being loaded: waiting for it");
                let wait = loading_wait(loading, self.limits.first_wait);
                loading += wait;
                self.pause(wait);
                self.or_stop(tokio::time::sleep(wait)).await?;
                continue;
            }
            if !error.may_pass() || attempt >= self.limits.retries {
                self.note_failure(&error);
                // If this failure stopped all calls, it counts as not asked, like those behind it.
                return Err(self.stopped().map_or(error.into(), CallError::NotAsked));
            }
            let wait = wait_before_retry(&error, attempt, self.limits.first_wait);
            if let ModelError::RateLimited { retry_after: Some(after), .. } = &error {
                // The provider's limit applies to all calls.
                self.pause((*after).min(LONGEST_WAIT));
            }
            attempt += 1;
            let _waiting = WaitingRetry::of(&self.tally);
            self.or_stop(tokio::time::sleep(wait)).await?;
        }
    }

    /// Makes every call wait.
    fn pause(&self, wait: Duration) {
        let until = Instant::now() + wait;
        let mut paused = locked(&self.paused_until);
        *paused = Some(paused.map_or(until, |paused| paused.max(until)));
    }

    /// Stops all calls if a failure shows that no other call would succeed.
    fn note_failure(&self, error: &ModelError) {
        let count = |n: u32| (n < u32::MAX - 1).then(|| n + 1);
        let before = self.n_failed_first.fetch_update(Ordering::Relaxed, Ordering::Relaxed, count);
        let none_succeeded = before.is_ok();
        match error {
            ModelError::Unauthorized(why) => self.stop(Stop::BadKey(why.clone())),
            ModelError::NotThere(why) => self.stop(Stop::NotThere(why.clone())),
            // Once calls have succeeded, this is a firewall that rejects a single text, not a bad key.
            ModelError::Forbidden(why) if none_succeeded => self.stop(Stop::BadKey(why.clone())),
            error if error.may_pass() && before.is_ok_and(|n| n + 1 >= MOST_FAILED_FIRST) => {
                let why = error.to_string();
                self.stop(match error {
                    ModelError::TimedOut(_) => Stop::TooSlow(why),
                    _ => Stop::Unreachable(why),
                });
            }
            _ => {}
        }
    }

    /// Waits for a turn and sends the call once. The outer error means that nothing was sent.
    async fn try_once(
        &self,
        ticket: &Ticket<'_>,
        send: &Send<'_>,
    ) -> Result<Result<ModelReply, ModelError>, CallError> {
        let mut lane = self.or_stop(self.lanes.enter()).await?;
        loop {
            let paused = *locked(&self.paused_until);
            match paused.filter(|until| *until > Instant::now()) {
                Some(until) => self.or_stop(tokio::time::sleep_until(until)).await?,
                None => break,
            }
        }
        let tokens = ticket.input_tokens + ticket.output_tokens;
        let turns = [
            self.requests.as_ref().map(|pace| pace.take(1)),
            self.tokens.as_ref().map(|pace| pace.take(tokens)),
        ];
        if let Some(turn) = turns.into_iter().flatten().max() {
            self.or_stop(tokio::time::sleep_until(turn)).await?;
        }
        let reserved = self.reserve(ticket)?;
        lane.begin();
        let outcome = send().await;
        lane.leave(ticket.purpose, fared(&outcome));
        locked(&self.tally).reserved -= reserved;
        Ok(outcome)
    }

    /// Reserves the expected cost of a call, or stops all calls if that would exceed the limit.
    fn reserve(&self, ticket: &Ticket<'_>) -> Result<f64, CallError> {
        let expected = self.prices.of(ticket.model).map_or(0.0, |price| price.of(ticket.usage()));
        let mut tally = locked(&self.tally);
        if let Some(most) = self.limits.max_cost
            && tally.usd + tally.reserved + expected > most
        {
            drop(tally);
            self.stop(Stop::CostCeiling(most));
            return Err(CallError::NotAsked(Stop::CostCeiling(most)));
        }
        tally.reserved += expected;
        tally.of(ticket.purpose).requests += 1;
        Ok(expected)
    }

    /// Waits for a future, or fails once calls are stopped.
    pub(super) async fn or_stop<T>(&self, wait: impl Future<Output = T>) -> Result<T, CallError> {
        let mut stop = self.stop.subscribe();
        tokio::select! {
            biased;
            stopped = stop.wait_for(Option::is_some) => {
                let why = stopped.ok().and_then(|stop| stop.clone());
                Err(CallError::NotAsked(why.unwrap_or(Stop::Interrupted)))
            }
            done = wait => Ok(done),
        }
    }
}

/// Counts a call as waiting for its retry while this exists.
struct WaitingRetry<'m>(&'m Mutex<Tally>);

impl WaitingRetry<'_> {
    fn of(tally: &Mutex<Tally>) -> WaitingRetry<'_> {
        locked(tally).to_try_again += 1;
        WaitingRetry(tally)
    }
}

impl Drop for WaitingRetry<'_> {
    fn drop(&mut self) {
        locked(self.0).to_try_again -= 1;
    }
}

/// Returns what the outcome of a call says about the server.
fn fared(outcome: &Result<ModelReply, ModelError>) -> Fared {
    match outcome {
        Ok(_) => Fared::Answered,
        Err(
            ModelError::RateLimited { .. } | ModelError::Unavailable(_) | ModelError::TimedOut(_),
        ) => Fared::Troubled,
        Err(_) => Fared::Otherwise,
    }
}

/// Returns how long to wait for a model that is being loaded, growing up to a limit.
fn loading_wait(so_far: Duration, first: Duration) -> Duration {
    so_far.max(first).min(LOADING_WAIT)
}

/// Returns how long to wait after a temporary failure: longer each time, and at least as long as the
/// server asks for.
pub(crate) fn wait_before_retry(error: &ModelError, attempt: u32, first: Duration) -> Duration {
    let wait = jittered(first * 2_u32.pow(attempt.min(10)));
    let wait = match error {
        ModelError::RateLimited { retry_after: Some(after), .. } => wait.max(*after),
        _ => wait,
    };
    wait.min(LONGEST_WAIT)
}

/// Returns between half and one and a half times the wait, so that calls that failed together are not
/// retried together.
fn jittered(wait: Duration) -> Duration {
    let mut byte = [128];
    // Without randomness the wait stays as it is.
    let _ = getrandom::fill(&mut byte);
    wait.mul_f64(0.5 + f64::from(byte[0]) / 256.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_that_is_being_loaded_is_asked_about_every_few_seconds() {
        let seconds = Duration::from_secs;
        for (so_far, first, wait) in [(0, 1, 1), (3, 1, 3), (60, 1, 5), (0, 6, 5), (60, 6, 5)] {
            assert_eq!(loading_wait(seconds(so_far), seconds(first)), seconds(wait), "{first}");
        }
    }
}
