//! Faults by rule: replies that are slow, errors, or malformed, for a share of calls.
//!
//! Whether a call is hit depends on a seed, on the call, and on how often it was made before, so
//! that the same run meets the same faults, and a call that is made again may succeed.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use hashbrown::HashMap;
use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use sha2::{Digest, Sha256};

use crate::argument_rules::fits;
use crate::call::ToolCall;
use crate::virtual_tools::{Served, error_body};

/// How many different calls are counted.
const MOST_COUNTED: usize = 100_000;

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// The reply comes later.
    Slow,
    /// The reply is an error.
    Error,
    /// The reply breaks off in the middle.
    Malformed,
}

impl Fault {
    /// The name in settings, headers and records.
    pub fn as_str(self) -> &'static str {
        match self {
            Fault::Slow => "slow",
            Fault::Error => "error",
            Fault::Malformed => "malformed",
        }
    }
}

/// What goes wrong with which share of which calls.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct FaultRule {
    /// What goes wrong.
    pub fault: Fault,
    /// The share of calls, from 0 to 1.
    #[schemars(range(min = 0, max = 1))]
    #[serde(deserialize_with = "share")]
    pub share: f64,
    /// The APIs, as a pattern in which `*` stands for anything; all when left out.
    #[serde(default)]
    pub apis: Option<String>,
    /// How much later a slow reply comes, in seconds; 5 when left out.
    #[serde(default, deserialize_with = "seconds")]
    #[schemars(range(min = 0, max = 3600))]
    pub seconds: Option<f64>,
    /// The text of an error.
    #[serde(default)]
    pub message: Option<String>,
}

/// How much later a slow reply comes by default.
const DEFAULT_SECONDS: f64 = 5.0;

/// The text of an error by default.
const DEFAULT_MESSAGE: &str = "The tool failed for no reason (a fault by rule)";

fn share<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let share = f64::deserialize(deserializer)?;
    let is_share = (0.0..=1.0).contains(&share);
    is_share.then_some(share).ok_or_else(|| D::Error::custom("a share is a number from 0 to 1"))
}

fn seconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    let seconds = Option::<f64>::deserialize(deserializer)?;
    let is_time = seconds.is_none_or(|seconds| (0.0..=3600.0).contains(&seconds));
    is_time.then_some(seconds).ok_or_else(|| D::Error::custom("0 to 3600 seconds are possible"))
}

/// All rules, and what decides which calls they hit.
#[derive(Debug, Default)]
pub struct Faults {
    rules: Vec<FaultRule>,
    seed: u64,
    /// How often each call was made.
    made: Mutex<HashMap<[u8; 32], u32>>,
}

impl Faults {
    /// Creates faults from rules; the first that hits a call counts.
    pub fn new(rules: Vec<FaultRule>, seed: u64) -> Faults {
        Faults { rules, seed, made: Mutex::default() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Decides what goes wrong with a call.
    pub(crate) fn of(&self, call: &ToolCall) -> Option<&FaultRule> {
        if self.rules.is_empty() {
            return None;
        }
        let n_before = self.count(call);
        let hit = self.rules.iter().enumerate().find(|(at, rule)| {
            let is_meant = rule.apis.as_ref().is_none_or(|apis| fits(apis, &call.api));
            is_meant && self.chance(*at, call, n_before) < rule.share
        });
        hit.map(|(_, rule)| rule)
    }

    /// Counts a call, and returns how often it was made before.
    fn count(&self, call: &ToolCall) -> u32 {
        let key = Sha256::digest(call.id()).into();
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if made.len() >= MOST_COUNTED {
            made.clear();
        }
        let count = made.entry(key).or_default();
        *count += 1;
        *count - 1
    }

    /// A number from 0 to 1 that depends on nothing but seed, rule, call and count.
    fn chance(&self, rule: usize, call: &ToolCall, n_before: u32) -> f64 {
        let text = format!("{} {rule} {n_before} {}", self.seed, call.id());
        let hash = Sha256::digest(text.as_bytes());
        let bytes: [u8; 8] = std::array::from_fn(|at| hash[at]);
        (u64::from_be_bytes(bytes) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

impl Served {
    /// Applies a fault to the reply, which is stored as it was.
    pub(crate) async fn spoilt(self, rule: &FaultRule) -> Served {
        let body = match rule.fault {
            Fault::Slow => {
                let time = Duration::from_secs_f64(rule.seconds.unwrap_or(DEFAULT_SECONDS));
                tokio::time::sleep(time).await;
                self.body.clone()
            }
            Fault::Error => error_body(rule.message.as_deref().unwrap_or(DEFAULT_MESSAGE)),
            Fault::Malformed => Bytes::copy_from_slice(&self.body[..self.body.len() / 2]),
        };
        Served { body, fault: Some(rule.fault.as_str()), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(n: usize) -> ToolCall {
        let input = format!("{{\"n\": {n}}}");
        ToolCall::new("Data", "t", "get_x", &input, "").expect("a call")
    }

    fn rule(share: f64, apis: Option<&str>) -> FaultRule {
        let apis = apis.map(str::to_owned);
        FaultRule { fault: Fault::Malformed, share, apis, seconds: None, message: None }
    }

    fn hits(share: f64, seed: u64, apis: Option<&str>) -> Vec<bool> {
        let rules = vec![rule(share, apis)];
        let faults = Faults::new(rules, seed);
        (0..1000).map(|n| faults.of(&call(n)).is_some()).collect()
    }

    #[test]
    fn the_same_calls_are_hit_with_the_same_seed() {
        let n_hit = |hits: &[bool]| hits.iter().filter(|hit| **hit).count();
        assert_eq!(hits(0.2, 1, None), hits(0.2, 1, None));
        assert_ne!(hits(0.2, 1, None), hits(0.2, 2, None));
        assert!((150..250).contains(&n_hit(&hits(0.2, 1, None))));
        assert_eq!(n_hit(&hits(0.0, 1, None)), 0);
        assert_eq!(n_hit(&hits(1.0, 1, Some("get_*"))), 1000);
        assert_eq!(n_hit(&hits(1.0, 1, Some("put_*"))), 0);
    }

    #[test]
    fn a_call_that_is_made_again_has_another_chance() {
        let faults = Faults::new(vec![rule(0.5, None)], 3);
        let hits: Vec<bool> = (0..50).map(|_| faults.of(&call(1)).is_some()).collect();
        assert!(hits.contains(&true) && hits.contains(&false));
    }
}
