//! Calls recorded where they are served, for each query of a run.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use serde::Serialize;
use serde_json::value::RawValue;

/// A call as it was served.
#[derive(Clone, Debug, Serialize)]
pub struct RecordedCall {
    /// The category, as asked.
    pub category: String,
    /// The tool, as asked.
    pub tool_name: String,
    /// The API, as asked.
    pub api_name: String,
    /// The arguments, as JSON; those that could not be read, as text.
    pub tool_input: Box<RawValue>,
    /// The reply, as JSON.
    #[serde(serialize_with = "as_json")]
    pub reply: Bytes,
    /// Where the reply came from: `cache`, `simulator`, `real` or `none`.
    pub source: &'static str,
    /// In what the arguments of a known reply differ from these: `numbers`, `order`.
    #[serde(rename = "match", skip_serializing_if = "Option::is_none")]
    pub found_by: Option<&'static str>,
    /// Why there is no reply though one might have been had, such as a source that is down.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
    /// How long it took, in seconds.
    pub seconds: f64,
}

fn as_json<S: serde::Serializer>(reply: &Bytes, serializer: S) -> Result<S::Ok, S::Error> {
    let text = std::str::from_utf8(reply).unwrap_or("null");
    let raw: &RawValue = serde_json::from_str(text).unwrap_or(RawValue::NULL);
    raw.serialize(serializer)
}

/// The most that is recorded: calls of one query, and bytes in all.
const MOST_CALLS: usize = 10_000;
const MOST_BYTES: usize = 1 << 30;

/// The calls of all runs.
#[derive(Debug, Default)]
pub struct Runs(Mutex<Recorded>);

#[derive(Debug, Default)]
struct Recorded {
    calls: HashMap<(String, String), Vec<RecordedCall>>,
    n_bytes: usize,
}

impl Runs {
    /// Whether another call of a query can be recorded: one that cannot is not to be served.
    pub fn has_room(&self, run: &str, query: &str) -> bool {
        let recorded = self.locked();
        let calls = recorded.calls.get(&(run.to_owned(), query.to_owned()));
        recorded.n_bytes < MOST_BYTES && calls.is_none_or(|calls| calls.len() < MOST_CALLS)
    }

    /// Records a call.
    pub fn record(&self, run: &str, query: &str, call: RecordedCall) {
        let mut recorded = self.locked();
        recorded.n_bytes += call.n_bytes();
        recorded.calls.entry((run.to_owned(), query.to_owned())).or_default().push(call);
    }

    /// The calls of a query, in the order they were served.
    pub fn calls(&self, run: &str, query: &str) -> Vec<RecordedCall> {
        let key = (run.to_owned(), query.to_owned());
        self.locked().calls.get(&key).cloned().unwrap_or_default()
    }

    /// Forgets the calls of a run; returns of how many queries.
    pub fn forget(&self, run: &str) -> usize {
        let mut recorded = self.locked();
        let before = recorded.calls.len();
        recorded.calls.retain(|(own, _), _| own != run);
        let calls = recorded.calls.values().flatten();
        recorded.n_bytes = calls.map(RecordedCall::n_bytes).sum();
        before - recorded.calls.len()
    }

    fn locked(&self) -> MutexGuard<'_, Recorded> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RecordedCall {
    /// What it takes in memory, near enough. Replies that are known share theirs.
    fn n_bytes(&self) -> usize {
        let names = self.category.len() + self.tool_name.len() + self.api_name.len();
        names + self.tool_input.get().len() + self.reply.len() + size_of::<RecordedCall>()
    }
}
