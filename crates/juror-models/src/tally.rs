//! What was asked and what it cost.

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

    /// Both together.
    #[must_use]
    pub fn plus(self, other: Cost) -> Cost {
        Cost {
            usd: self.usd + other.usd,
            n_replies: self.n_replies + other.n_replies,
            n_unknown: self.n_unknown + other.n_unknown,
        }
    }

    /// US dollars, where something was bought and all of its prices are known.
    pub fn usd(self) -> Option<f64> {
        (self.n_replies > 0 && self.n_unknown == 0).then_some(self.usd)
    }
}

/// What was asked for one purpose.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Count {
    /// Requests sent, retries too.
    pub requests: u64,
    /// Replies bought.
    pub bought: u64,
    /// Replies known already, or shared with an equal call.
    pub known: u64,
    /// Calls that failed for good.
    pub failed: u64,
    /// Calls that would have been sent, where calls are only counted.
    pub counted: u64,
    /// Tokens sent.
    pub input_tokens: u64,
    /// Tokens written by the model.
    pub output_tokens: u64,
    /// US dollars for what was bought, or would be.
    pub usd: f64,
    /// Whether every price was known.
    pub priced: bool,
}

/// What was asked, by purpose.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    /// In alphabetical order.
    pub purposes: BTreeMap<String, Count>,
    /// US dollars spent so far.
    pub usd: f64,
    /// What calls on their way may cost.
    pub(crate) reserved: f64,
    /// Calls that were asked for, whatever became of them.
    pub(crate) asked: u64,
    /// Those that have ended.
    pub(crate) ended: u64,
    /// Those that failed and wait for their next try.
    pub(crate) to_try_again: u64,
}

/// How far asking has come.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Calls {
    /// Calls that were asked for: ended, under way, or waiting for their turn.
    pub asked: u64,
    /// Those that have ended, one way or another.
    pub ended: u64,
    /// Those that a model is answering now.
    pub under_way: u64,
    /// Those that failed for a passing reason, and wait for their next try.
    pub to_try_again: u64,
    /// Requests sent, retries too.
    pub requests: u64,
    /// Replies bought.
    pub answered: u64,
    /// Replies known already, or shared with an equal call.
    pub known: u64,
    /// Calls that failed for good.
    pub failed: u64,
    /// US dollars spent, where every price is known.
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
