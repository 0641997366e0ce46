//! One queue for all calls of a run: bounded, paced, retried, joined, kept, paid once.
//!
//! A call takes the cheapest way to its reply. A kept reply is used at once. A call equal to one that
//! is on its way waits for the same reply, so that no reply is bought twice; if processes share a
//! cache that knows turns, that holds for all of them together. Only the rest is sent:
//! it waits for a free lane, for pauses that the provider asked for and for its turn in the pace, and
//! reserves its expected cost before it is sent, so that calls on their way cannot together exceed
//! the cost limit. A reply is counted and kept before its caller sees it, so that an interrupted run
//! loses nothing it has paid for.

use std::sync::atomic::Ordering;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::Models;
use crate::cache::{BuyingTurn, CacheMode, Kept};
use crate::call::CallKey;
use crate::call_error::{CallError, Stop};
use crate::lanes::Width;
use crate::model::{ModelError, ModelReply, Outcome, Pending, Usage};

/// Limits on rate, cost and retries.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Calls at a time.
    pub width: Width,
    /// Calls per minute.
    pub requests_per_minute: Option<u64>,
    /// Tokens per minute, sent and expected.
    pub tokens_per_minute: Option<u64>,
    /// How often a call is retried after a temporary failure.
    pub retries: u32,
    /// The wait before the first retry; each next one is twice as long.
    pub first_wait: Duration,
    /// US dollars after which no more calls are sent.
    pub max_cost: Option<f64>,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            width: Width::fixed(16),
            requests_per_minute: None,
            tokens_per_minute: None,
            retries: 5,
            first_wait: Duration::from_millis(500),
            max_cost: None,
        }
    }
}

/// The outcome of a shared call.
pub(super) type Bought = Result<Kept, CallError>;

/// Sends a call; may be called repeatedly.
pub(super) type Send<'s> = dyn Fn() -> Pending<'s, Result<ModelReply, ModelError>> + Sync + 's;

/// Whether a text is a proper reply.
pub(super) type Usable<'u> = dyn Fn(&str) -> bool + Sync + 'u;

/// What the queue knows about a call of any kind.
pub(super) struct Ticket<'t> {
    pub(super) key: CallKey,
    /// The key of the same call at the provider's own address, if a replay may use that.
    pub(super) replay_key: Option<CallKey>,
    pub(super) purpose: &'t str,
    pub(super) model: &'t str,
    pub(super) input_tokens: u64,
    pub(super) output_tokens: u64,
    /// Whether the reply may come from the cache or an equal call, and serve others later.
    pub(super) is_shared: bool,
}

impl Models {
    /// Returns the reply to a call: kept, shared with an equal call on its way, or bought.
    pub(super) async fn fetch(
        &self,
        ticket: &Ticket<'_>,
        usable: impl Fn(&str) -> bool + Sync,
        send: &Send<'_>,
    ) -> Result<Kept, CallError> {
        locked(&self.tally).asked += 1;
        let outcome = self.find_or_buy(ticket, &usable, send).await;
        locked(&self.tally).ended += 1;
        outcome
    }

    async fn find_or_buy(
        &self,
        ticket: &Ticket<'_>,
        usable: &Usable<'_>,
        send: &Send<'_>,
    ) -> Result<Kept, CallError> {
        if let Some(kept) = self.known(ticket, usable).await {
            locked(&self.tally).of(ticket.purpose).known += 1;
            return Ok(kept);
        }
        if self.only_count {
            self.count(ticket);
            return Err(CallError::OnlyCounted);
        }
        if self.mode == CacheMode::ReadOnly {
            locked(&self.tally).of(ticket.purpose).failed += 1;
            let key = ticket.key.to_hex()[..12].to_owned();
            return Err(CallError::NotRecorded { purpose: ticket.purpose.to_owned(), key });
        }
        if !ticket.is_shared {
            let outcome = self.buy(ticket, send).await;
            if outcome.is_err() {
                locked(&self.tally).of(ticket.purpose).failed += 1;
            }
            return outcome;
        }
        // Equal calls share a cell. The first to initialize it buys the reply for all of them and then
        // removes the cell: from then on the cache has the reply. If its future is dropped, another
        // waiting call takes over.
        let cell = locked(&self.in_flight).entry(ticket.key).or_default().clone();
        let (mut is_first, mut is_bought) = (false, false);
        let outcome = cell
            .get_or_init(|| {
                is_first = true;
                self.buy_in_turn(ticket, usable, send, &mut is_bought)
            })
            .await
            .clone();
        if is_first {
            locked(&self.in_flight).remove(&ticket.key);
        }
        let mut tally = locked(&self.tally);
        match &outcome {
            Ok(_) if !is_bought => tally.of(ticket.purpose).known += 1,
            Err(_) => tally.of(ticket.purpose).failed += 1,
            Ok(_) => {}
        }
        outcome
    }

    /// Buys a reply, unless a process that shares the cache does so first. Says whether it was bought
    /// here.
    async fn buy_in_turn(
        &self,
        ticket: &Ticket<'_>,
        usable: &Usable<'_>,
        send: &Send<'_>,
        is_bought: &mut bool,
    ) -> Result<Kept, CallError> {
        let cache = self.cache.as_ref().filter(|_| self.mode == CacheMode::ReadWrite);
        loop {
            let turn = match cache {
                None => None,
                Some(cache) => {
                    let turn = self.or_stop(cache.turn(&ticket.key)).await?;
                    turn.map_err(|error| self.cannot_keep(error))?
                }
            };
            // Another process may have kept the reply just before its turn ended.
            if turn.is_some()
                && let Some(kept) = self.known(ticket, usable).await
            {
                return Ok(kept);
            }
            match turn {
                Some(BuyingTurn::Theirs(wait)) => self.or_stop(wait).await?,
                // The turn lasts until the reply is kept.
                _turn => {
                    *is_bought = true;
                    return self.buy(ticket, send).await;
                }
            }
        }
    }

    /// Stops all calls, because their replies would have to be bought again.
    fn cannot_keep(&self, error: String) -> CallError {
        let stop = Stop::CannotKeep(error);
        self.stop(stop.clone());
        CallError::NotAsked(stop)
    }

    async fn known(&self, ticket: &Ticket<'_>, usable: &Usable<'_>) -> Option<Kept> {
        let is_read = match self.mode {
            CacheMode::Off => false,
            // A replay has nothing else, so it uses kept replies for unshared calls too.
            CacheMode::ReadOnly => true,
            CacheMode::ReadWrite => ticket.is_shared,
        };
        let cache = self.cache.as_ref().filter(|_| is_read)?;
        let mut kept = None;
        for key in [Some(&ticket.key), ticket.replay_key.as_ref()].into_iter().flatten() {
            if kept.is_none() {
                kept = cache.get(key).await.unwrap_or_else(|error| {
                    self.notify_once(&format!("a kept reply cannot be read: {error}"));
                    None
                });
            }
        }
        let is_usable = |kept: &Kept| matches!(&kept.said, Outcome::Text(text) if usable(text));
        kept.filter(|kept| !self.retry_unreadable || is_usable(kept))
    }

    fn count(&self, ticket: &Ticket<'_>) {
        let price = self.prices.of(ticket.model);
        let mut tally = locked(&self.tally);
        let count = tally.of(ticket.purpose);
        count.counted += 1;
        count.input_tokens += ticket.input_tokens;
        count.output_tokens += ticket.output_tokens;
        count.usd += price.map_or(0.0, |price| price.of(ticket.usage()));
        count.priced &= price.is_some();
    }

    /// Counts a reply and keeps it before its caller sees it. Returns the one that is kept, which is
    /// another if another process was faster.
    pub(super) async fn keep(&self, ticket: &Ticket<'_>, reply: ModelReply) -> Kept {
        self.n_failed_first.store(u32::MAX, Ordering::Relaxed);
        let redact = |text| self.secrets.iter().fold(text, |text, own| own.redact(text));
        let said = reply.said.map(redact);
        // Estimate the tokens if the provider does not report them; they cost money anyway.
        let usage = reply.usage.unwrap_or(Usage {
            input_tokens: ticket.input_tokens,
            output_tokens: if ticket.output_tokens == 0 {
                0
            } else {
                said.as_str().len() as u64 / 4
            },
        });
        let kept = Kept {
            purpose: ticket.purpose.to_owned(),
            model: ticket.model.to_owned(),
            said,
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
        };
        self.count_bought(ticket, usage);
        let is_kept = ticket.is_shared && self.mode == CacheMode::ReadWrite;
        let Some(cache) = self.cache.as_ref().filter(|_| is_kept) else { return kept };
        let outcome = if self.retry_unreadable {
            cache.replace(&ticket.key, kept.clone()).await
        } else {
            cache.keep(&ticket.key, kept.clone()).await
        };
        outcome.unwrap_or_else(|error| {
            self.cannot_keep(error);
            kept
        })
    }

    fn count_bought(&self, ticket: &Ticket<'_>, usage: Usage) {
        let price = self.prices.of(ticket.model);
        let usd = price.map_or(0.0, |price| price.of(usage));
        let mut tally = locked(&self.tally);
        tally.usd += usd;
        let count = tally.of(ticket.purpose);
        count.bought += 1;
        count.input_tokens += usage.input_tokens;
        count.output_tokens += usage.output_tokens;
        count.usd += usd;
        count.priced &= price.is_some();
    }
}

impl Ticket<'_> {
    pub(super) fn usage(&self) -> Usage {
        Usage { input_tokens: self.input_tokens, output_tokens: self.output_tokens }
    }
}

pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
