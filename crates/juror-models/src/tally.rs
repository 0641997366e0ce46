//! Counts of calls and their cost.

use std::collections::BTreeMap;

/// A sum of prices, as far as they are known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    usd: f64,
    n_replies: usize,
    n_unknown: usize,
}

impl Cost {
    pub(crate) fn of(price: Option<f64>) -> Cost {
        Cost { usd: price.unwrap_or(0.0), n_replies: 1, n_unknown: usize::from(price.is_none()) }
    }

    /// Adds two costs.
    #[must_use]
    pub fn plus(self, other: Cost) -> Cost {
        Cost {
            usd: self.usd + other.usd,
            n_replies: self.n_replies + other.n_replies,
            n_unknown: self.n_unknown + other.n_unknown,
        }
    }

    /// Returns US dollars if something was bought and all prices are known.
    pub fn usd(self) -> Option<f64> {
        (self.n_replies > 0 && self.n_unknown == 0).then_some(self.usd)
    }
}

/// Counts for one purpose.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Count {
    /// Requests sent, including retries.
    pub requests: u64,
    /// Replies bought.
    pub bought: u64,
    /// Replies from the cache, or shared with an equal call.
    pub known: u64,
    /// Calls that failed for good.
    pub failed: u64,
    /// Calls that would have been sent, if calls are only counted.
    pub counted: u64,
    /// Tokens sent.
    pub input_tokens: u64,
    /// Tokens written by the model.
    pub output_tokens: u64,
    /// US dollars for replies bought, or that would be bought.
    pub usd: f64,
    /// Whether every price was known.
    pub priced: bool,
}

/// Counts of all calls, by purpose.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    /// Counts by purpose.
    pub purposes: BTreeMap<String, Count>,
    /// US dollars spent so far.
    pub usd: f64,
    /// The expected cost of calls on their way.
    pub(crate) reserved: f64,
    /// Calls that entered the queue.
    pub(crate) asked: u64,
    /// Calls that have ended.
    pub(crate) ended: u64,
    /// Calls that failed and wait for a retry.
    pub(crate) to_try_again: u64,
}

/// The progress of calls.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Calls {
    /// Calls that entered the queue: ended, under way, or waiting for their turn.
    pub asked: u64,
    /// Calls that have ended, successfully or not.
    pub ended: u64,
    /// Calls that were sent and not yet answered.
    pub under_way: u64,
    /// Calls that failed temporarily and wait for a retry.
    pub to_try_again: u64,
    /// Requests sent, including retries.
    pub requests: u64,
    /// Replies bought.
    pub answered: u64,
    /// Replies from the cache, or shared with an equal call.
    pub known: u64,
    /// Calls that failed for good.
    pub failed: u64,
    /// US dollars spent, if every price is known.
    pub usd: Option<f64>,
}

impl Tally {
    pub(crate) fn of(&mut self, purpose: &str) -> &mut Count {
        let fresh = Count { priced: true, ..Count::default() };
        self.purposes.entry(purpose.to_owned()).or_insert(fresh)
    }

    pub(crate) fn calls(&self, under_way: usize) -> Calls {
        let total = self.total();
        Calls {
            asked: self.asked,
            ended: self.ended,
            under_way: under_way as u64,
            to_try_again: self.to_try_again,
            requests: total.requests,
            answered: total.bought,
            known: total.known,
            failed: total.failed,
            usd: total.priced.then_some(self.usd),
        }
    }

    /// The sum over all purposes.
    pub fn total(&self) -> Count {
        let first = Count { priced: true, ..Count::default() };
        self.purposes.values().fold(first, |sum, count| Count {
            requests: sum.requests + count.requests,
            bought: sum.bought + count.bought,
            known: sum.known + count.known,
            failed: sum.failed + count.failed,
            counted: sum.counted + count.counted,
            input_tokens: sum.input_tokens + count.input_tokens,
            output_tokens: sum.output_tokens + count.output_tokens,
            usd: sum.usd + count.usd,
            priced: sum.priced && count.priced,
        })
    }
}
