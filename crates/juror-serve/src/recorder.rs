//! Records calls by run and query.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use juror_models::Secret;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::access::constant_time_eq;

/// A call and its reply.
#[derive(Clone, Debug, Serialize)]
pub struct RecordedCall {
    /// The category, as requested.
    pub category: String,
    /// The tool, as requested.
    pub tool_name: String,
    /// The API, as requested.
    pub api_name: String,
    /// The arguments as JSON, or as a string if they could not be parsed.
    pub tool_input: Box<RawValue>,
    /// The reply, as JSON.
    #[serde(serialize_with = "as_json")]
    pub reply: Bytes,
    /// Where the reply came from: `cache`, `simulator`, `real` or `none`.
    pub source: &'static str,
    /// How the arguments of a known reply differ from these: `numbers`, `order`.
    #[serde(rename = "match", skip_serializing_if = "Option::is_none")]
    pub found_by: Option<&'static str>,
    /// Who made a known reply that did not come from a cache folder: `simulator` or `real`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept_from: Option<&'static str>,
    /// Why there is no reply, if the cause is outside of the call, such as a source that is down.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
    /// What a rule made go wrong: `slow`, `error` or `malformed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<&'static str>,
    /// How long it took, in seconds.
    pub seconds: f64,
}

fn as_json<S: serde::Serializer>(reply: &Bytes, serializer: S) -> Result<S::Ok, S::Error> {
    let text = std::str::from_utf8(reply).unwrap_or("null");
    let raw: &RawValue = serde_json::from_str(text).unwrap_or(RawValue::NULL);
    raw.serialize(serializer)
}

/// Limits: calls of a query, bytes of a query, and bytes of all.
const MOST_CALLS: usize = 10_000;
const MOST_QUERY_BYTES: usize = 1 << 27;
const MOST_BYTES: usize = 1 << 30;

/// The approximate memory of a query without calls.
const QUERY_BYTES: usize = 512;

/// The length of a run's key in bytes: too long to guess, and short enough not to fill the memory.
const KEY_LENGTHS: RangeInclusive<usize> = 16..=128;

/// The recorded calls of all runs.
///
/// Calls are recorded at addresses, one for each query, which the owner of the run's key hands out.
/// An address contains a random seal, so that an agent that knows the address of its query cannot
/// record calls for another query, or delete any.
#[derive(Debug, Default)]
pub struct Recorder(Mutex<RecordedRuns>);

#[derive(Debug, Default)]
struct RecordedRuns {
    runs: HashMap<String, RecordedRun>,
    n_bytes: usize,
}

#[derive(Debug)]
struct RecordedRun {
    key: Secret,
    queries: HashMap<String, RecordedQuery>,
}

#[derive(Debug)]
struct RecordedQuery {
    /// The secret part of its address.
    seal: Secret,
    calls: Vec<RecordedCall>,
    n_bytes: usize,
}

/// The address at which calls of a query are recorded.
#[derive(Clone, Debug)]
pub(crate) struct QueryAddress {
    pub(crate) run: String,
    pub(crate) query: String,
    pub(crate) seal: String,
}

impl QueryAddress {
    pub(crate) fn new(run: &str, query: &str, seal: &str) -> QueryAddress {
        QueryAddress { run: run.to_owned(), query: query.to_owned(), seal: seal.to_owned() }
    }
}

/// Why calls of a query cannot be recorded, read or deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// The request has no key.
    #[error("The key that the run was opened with is needed (juror-run-key)")]
    NoKey,
    /// The run was opened with another key.
    #[error("The run was opened with another key (juror-run-key)")]
    OfAnother,
    /// There is no such run or query.
    #[error("No such run or query is open")]
    Unknown,
    /// The key is too short to be safe, or too long.
    #[error("A key of a run has 16 to 128 bytes (juror-run-key)")]
    BadKey,
    /// A limit was reached.
    #[error("No more calls can be recorded")]
    Full,
    /// The system has no random numbers.
    #[error("The system gives no random numbers")]
    NoChance,
}

/// Returns a random secret of 32 hexadecimal digits.
pub fn random_secret() -> Result<Secret, RunError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|_| RunError::NoChance)?;
    Ok(Secret::new(&format!("{:032x}", u128::from_ne_bytes(bytes))))
}

impl Recorder {
    /// Opens a query of a run, without calls. The first query decides the run's key. Returns the
    /// secret part of the query's address.
    pub fn open(&self, run: &str, query: &str, key: &Secret) -> Result<Secret, RunError> {
        if !KEY_LENGTHS.contains(&key.expose().len()) {
            return Err(RunError::BadKey);
        }
        let seal = random_secret()?;
        let mut recorded = self.locked();
        if recorded.n_bytes >= MOST_BYTES {
            return Err(RunError::Full);
        }
        if recorded.runs.contains_key(run) {
            recorded.own(run, key)?;
        }
        let empty = || RecordedRun { key: key.clone(), queries: HashMap::new() };
        let own = recorded.runs.entry(run.to_owned()).or_insert_with(empty);
        let n_bytes = QUERY_BYTES + run.len() + query.len() + key.expose().len();
        let opened = RecordedQuery { seal: seal.clone(), calls: Vec::new(), n_bytes };
        let before = own.queries.insert(query.to_owned(), opened);
        recorded.n_bytes += n_bytes;
        recorded.n_bytes -= before.map_or(0, |before| before.n_bytes);
        Ok(seal)
    }

    /// Checks whether another call can be recorded. If not, it must not be served either.
    pub(crate) fn check(&self, address: &QueryAddress) -> Result<(), RunError> {
        let mut recorded = self.locked();
        let is_full = recorded.n_bytes >= MOST_BYTES;
        let query = recorded.at(address).ok_or(RunError::Unknown)?;
        let is_full = is_full || query.calls.len() >= MOST_CALLS;
        if is_full || query.n_bytes >= MOST_QUERY_BYTES { Err(RunError::Full) } else { Ok(()) }
    }

    /// Records a call, unless its query was closed in the meantime.
    pub(crate) fn record(&self, address: &QueryAddress, call: RecordedCall) {
        let mut recorded = self.locked();
        let n_bytes = call.n_bytes();
        if let Some(query) = recorded.at(address) {
            query.n_bytes += n_bytes;
            query.calls.push(call);
            recorded.n_bytes += n_bytes;
        }
    }

    /// Returns the calls of a query, in the order in which they were served.
    pub fn calls(
        &self,
        run: &str,
        query: &str,
        key: &Secret,
    ) -> Result<Vec<RecordedCall>, RunError> {
        let mut recorded = self.locked();
        let query = recorded.own(run, key)?.queries.get(query).ok_or(RunError::Unknown)?;
        Ok(query.calls.clone())
    }

    /// Closes a query and returns its calls. When the last query of a run is closed, the run's name
    /// is free again.
    pub fn close(
        &self,
        run: &str,
        query: &str,
        key: &Secret,
    ) -> Result<Vec<RecordedCall>, RunError> {
        let mut recorded = self.locked();
        let own = recorded.own(run, key)?;
        let closed = own.queries.remove(query).ok_or(RunError::Unknown)?;
        if own.queries.is_empty() {
            recorded.runs.remove(run);
        }
        recorded.n_bytes -= closed.n_bytes;
        Ok(closed.calls)
    }

    /// Deletes a run, and returns how many queries it had.
    pub fn forget(&self, run: &str, key: &Secret) -> Result<usize, RunError> {
        let mut recorded = self.locked();
        recorded.own(run, key)?;
        let queries = recorded.runs.remove(run).map(|run| run.queries).unwrap_or_default();
        recorded.n_bytes -= queries.values().map(|query| query.n_bytes).sum::<usize>();
        Ok(queries.len())
    }

    /// The number of runs with open queries.
    pub(crate) fn len(&self) -> usize {
        self.locked().runs.len()
    }

    fn locked(&self) -> MutexGuard<'_, RecordedRuns> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RecordedRuns {
    /// Returns a run if the key is right.
    fn own(&mut self, run: &str, key: &Secret) -> Result<&mut RecordedRun, RunError> {
        let run = self.runs.get_mut(run).ok_or(RunError::Unknown)?;
        let is_own = constant_time_eq(run.key.expose().as_bytes(), key.expose().as_bytes());
        if is_own { Ok(run) } else { Err(RunError::OfAnother) }
    }

    /// Returns the query at an address if the seal is right.
    fn at(&mut self, address: &QueryAddress) -> Option<&mut RecordedQuery> {
        let query = self.runs.get_mut(&address.run)?.queries.get_mut(&address.query)?;
        let is_it = constant_time_eq(query.seal.expose().as_bytes(), address.seal.as_bytes());
        is_it.then_some(query)
    }
}

impl RecordedCall {
    /// Its approximate memory. Replies count in full, though known replies share theirs.
    fn n_bytes(&self) -> usize {
        let names = self.category.len() + self.tool_name.len() + self.api_name.len();
        names + self.tool_input.get().len() + self.reply.len() + size_of::<RecordedCall>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static LONG: [u8; 1 << 20] = [b' '; 1 << 20];

    fn call(reply: &'static [u8]) -> RecordedCall {
        RecordedCall {
            category: "c".into(),
            tool_name: "t".into(),
            api_name: "a".into(),
            tool_input: RawValue::NULL.to_owned(),
            reply: Bytes::from_static(reply),
            source: "cache",
            found_by: None,
            kept_from: None,
            failed: None,
            fault: None,
            seconds: 0.0,
        }
    }

    fn address(run: &str, query: &str, seal: &Secret) -> QueryAddress {
        QueryAddress::new(run, query, seal.expose())
    }

    #[test]
    fn only_the_address_of_a_query_records_for_it_and_only_the_key_tells_and_forgets() {
        let recorder = Recorder::default();
        let [key, other] = [(); 2].map(|()| random_secret().expect("chance"));
        assert_ne!(key.expose(), other.expose());
        let one = address("r", "1", &recorder.open("r", "1", &key).expect("opened"));
        let two = address("r", "2", &recorder.open("r", "2", &key).expect("opened"));
        assert_ne!(one.seal, two.seal);
        recorder.record(&one, call(b"1"));
        let forged = QueryAddress { seal: one.seal.clone(), ..two.clone() };
        assert_eq!(recorder.check(&forged), Err(RunError::Unknown));
        recorder.record(&forged, call(b"2"));
        let n_calls = |query: &str| recorder.calls("r", query, &key).map(|calls| calls.len());
        assert_eq!((n_calls("1"), n_calls("2")), (Ok(1), Ok(0)));
        assert_eq!(recorder.open("r", "3", &other).err(), Some(RunError::OfAnother));
        assert_eq!(recorder.calls("r", "1", &other).err(), Some(RunError::OfAnother));
        assert_eq!(recorder.close("r", "1", &other).err(), Some(RunError::OfAnother));
        assert_eq!(recorder.forget("r", &other).err(), Some(RunError::OfAnother));
        assert_eq!(recorder.open("s", "1", &Secret::new("short")).err(), Some(RunError::BadKey));
        assert_eq!(recorder.close("r", "1", &key).map(|calls| calls.len()), Ok(1));
        // A closed query accepts no calls. Neither does a reopened one at its old address.
        assert_eq!(recorder.check(&one), Err(RunError::Unknown));
        let again = address("r", "1", &recorder.open("r", "1", &key).expect("opened"));
        assert_eq!(
            (recorder.check(&one), recorder.check(&again)),
            (Err(RunError::Unknown), Ok(()))
        );
        assert_eq!(recorder.forget("r", &key), Ok(2));
        assert_eq!(recorder.locked().n_bytes, 0);
    }

    #[test]
    fn one_query_cannot_use_up_the_room_of_all() {
        let recorder = Recorder::default();
        let key = random_secret().expect("chance");
        let one = address("r", "1", &recorder.open("r", "1", &key).expect("opened"));
        let two = address("r", "2", &recorder.open("r", "2", &key).expect("opened"));
        // The reply is shared, but counts every time it is recorded.
        while recorder.check(&one).is_ok() {
            recorder.record(&one, call(&LONG));
        }
        assert_eq!((recorder.check(&one), recorder.check(&two)), (Err(RunError::Full), Ok(())));
    }

    #[test]
    fn a_key_that_is_longer_than_a_key_is_refused() {
        let recorder = Recorder::default();
        let key_of = |length: usize| Secret::new(&"k".repeat(length));
        assert_eq!(recorder.open("r", "1", &key_of(129)).err(), Some(RunError::BadKey));
        assert!(recorder.open("r", "1", &key_of(128)).is_ok());
        assert!(recorder.locked().n_bytes >= 128 + QUERY_BYTES);
    }

    #[test]
    fn runs_whose_queries_are_closed_take_no_room() {
        let recorder = Recorder::default();
        let [key, other] = [(); 2].map(|()| random_secret().expect("chance"));
        for n in 0..100 {
            let run = n.to_string();
            recorder.open(&run, "1", &key).expect("opened");
            recorder.close(&run, "1", &key).expect("closed");
        }
        assert_eq!(recorder.locked().runs.len(), 0);
        assert_eq!(recorder.locked().n_bytes, 0);
        // While a query is open, nobody else can open the run.
        recorder.open("r", "-", &key).expect("opened");
        recorder.open("r", "1", &key).expect("opened");
        recorder.close("r", "1", &key).expect("closed");
        assert_eq!(recorder.open("r", "1", &other).err(), Some(RunError::OfAnother));
    }
}
