//! Calls recorded where they are served, for each query of a run.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use juror_models::Secret;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::callers::is_equal;

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
    /// Who made a known reply that no cache folder brought: `simulator` or `real`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept_from: Option<&'static str>,
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

/// The most that is recorded: calls of one query, bytes of them, and bytes in all.
const MOST_CALLS: usize = 10_000;
const MOST_QUERY_BYTES: usize = 1 << 27;
const MOST_BYTES: usize = 1 << 30;

/// What a query takes in memory before anything is called, near enough.
const QUERY_BYTES: usize = 512;

/// How long the key of a run is, in bytes: too long to be guessed, and not so long that keys fill the
/// memory.
const KEY_LENGTHS: RangeInclusive<usize> = 16..=128;

/// The calls of all runs. They are recorded at addresses that are given out to whoever has the key of
/// a run: each has a part that nobody can guess, so that an agent who was told the one of its query
/// can record nothing for others, and forget nothing.
#[derive(Debug, Default)]
pub struct Runs(Mutex<Recorded>);

#[derive(Debug, Default)]
struct Recorded {
    runs: HashMap<String, Run>,
    n_bytes: usize,
}

#[derive(Debug)]
struct Run {
    key: Secret,
    queries: HashMap<String, Query>,
}

#[derive(Debug)]
struct Query {
    /// The part of its address that nobody can guess.
    seal: Secret,
    calls: Vec<RecordedCall>,
    n_bytes: usize,
}

/// Where calls of a query are recorded, as who calls knows it.
#[derive(Clone, Debug)]
pub(crate) struct Address {
    pub(crate) run: String,
    pub(crate) query: String,
    pub(crate) seal: String,
}

impl Address {
    pub(crate) fn new(run: &str, query: &str, seal: &str) -> Address {
        Address { run: run.to_owned(), query: query.to_owned(), seal: seal.to_owned() }
    }
}

/// Why calls of a query cannot be recorded, told or forgotten.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoRun {
    /// Only who brings its key may do that.
    #[error("The key that the run was opened with is needed (juror-run-key)")]
    NoKey,
    /// It was opened with another key.
    #[error("The run was opened with another key (juror-run-key)")]
    OfAnother,
    /// There is no such run or query.
    #[error("No such run or query is open")]
    Unknown,
    /// The key could be guessed, or takes too much room.
    #[error("A key of a run has 16 to 128 bytes (juror-run-key)")]
    BadKey,
    /// There is no room for more.
    #[error("No more calls can be recorded")]
    Full,
    /// The system gives nothing that cannot be guessed.
    #[error("The system gives no random numbers")]
    NoChance,
}

/// A text that nobody can guess.
pub fn unguessable() -> Result<Secret, NoRun> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|_| NoRun::NoChance)?;
    Ok(Secret::new(&format!("{:032x}", u128::from_ne_bytes(bytes))))
}

impl Runs {
    /// Opens a query of a run, with nothing called yet; the run belongs to whoever opens its first.
    /// Returns the part of the query's address that nobody can guess.
    pub fn open(&self, run: &str, query: &str, key: &Secret) -> Result<Secret, NoRun> {
        if !KEY_LENGTHS.contains(&key.expose().len()) {
            return Err(NoRun::BadKey);
        }
        let seal = unguessable()?;
        let mut recorded = self.locked();
        if recorded.n_bytes >= MOST_BYTES {
            return Err(NoRun::Full);
        }
        if recorded.runs.contains_key(run) {
            recorded.own(run, key)?;
        }
        let empty = || Run { key: key.clone(), queries: HashMap::new() };
        let own = recorded.runs.entry(run.to_owned()).or_insert_with(empty);
        let n_bytes = QUERY_BYTES + run.len() + query.len() + key.expose().len();
        let opened = Query { seal: seal.clone(), calls: Vec::new(), n_bytes };
        let before = own.queries.insert(query.to_owned(), opened);
        recorded.n_bytes += n_bytes;
        recorded.n_bytes -= before.map_or(0, |before| before.n_bytes);
        Ok(seal)
    }

    /// Whether another call can be recorded: one that cannot is not to be served.
    pub(crate) fn check(&self, address: &Address) -> Result<(), NoRun> {
        let mut recorded = self.locked();
        let is_full = recorded.n_bytes >= MOST_BYTES;
        let query = recorded.at(address).ok_or(NoRun::Unknown)?;
        let is_full = is_full || query.calls.len() >= MOST_CALLS;
        if is_full || query.n_bytes >= MOST_QUERY_BYTES { Err(NoRun::Full) } else { Ok(()) }
    }

    /// Records a call, unless its query was closed meanwhile.
    pub(crate) fn record(&self, address: &Address, call: RecordedCall) {
        let mut recorded = self.locked();
        let n_bytes = call.n_bytes();
        if let Some(query) = recorded.at(address) {
            query.n_bytes += n_bytes;
            query.calls.push(call);
            recorded.n_bytes += n_bytes;
        }
    }

    /// The calls of a query, in the order they were served.
    pub fn calls(&self, run: &str, query: &str, key: &Secret) -> Result<Vec<RecordedCall>, NoRun> {
        let mut recorded = self.locked();
        let query = recorded.own(run, key)?.queries.get(query).ok_or(NoRun::Unknown)?;
        Ok(query.calls.clone())
    }

    /// The same, and closes the query: from then on nothing is recorded for it. A run whose last query
    /// is closed is forgotten, and its name free for whoever opens it next.
    pub fn close(&self, run: &str, query: &str, key: &Secret) -> Result<Vec<RecordedCall>, NoRun> {
        let mut recorded = self.locked();
        let own = recorded.own(run, key)?;
        let closed = own.queries.remove(query).ok_or(NoRun::Unknown)?;
        if own.queries.is_empty() {
            recorded.runs.remove(run);
        }
        recorded.n_bytes -= closed.n_bytes;
        Ok(closed.calls)
    }

    /// Forgets a run; returns how many queries it had.
    pub fn forget(&self, run: &str, key: &Secret) -> Result<usize, NoRun> {
        let mut recorded = self.locked();
        recorded.own(run, key)?;
        let queries = recorded.runs.remove(run).map(|run| run.queries).unwrap_or_default();
        recorded.n_bytes -= queries.values().map(|query| query.n_bytes).sum::<usize>();
        Ok(queries.len())
    }

    /// How many runs have queries that are open.
    pub(crate) fn len(&self) -> usize {
        self.locked().runs.len()
    }

    fn locked(&self) -> MutexGuard<'_, Recorded> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Recorded {
    /// A run, for who has its key.
    fn own(&mut self, run: &str, key: &Secret) -> Result<&mut Run, NoRun> {
        let run = self.runs.get_mut(run).ok_or(NoRun::Unknown)?;
        let is_own = is_equal(run.key.expose().as_bytes(), key.expose().as_bytes());
        if is_own { Ok(run) } else { Err(NoRun::OfAnother) }
    }

    /// The query at an address, for who was told it.
    fn at(&mut self, address: &Address) -> Option<&mut Query> {
        let query = self.runs.get_mut(&address.run)?.queries.get_mut(&address.query)?;
        let is_it = is_equal(query.seal.expose().as_bytes(), address.seal.as_bytes());
        is_it.then_some(query)
    }
}

impl RecordedCall {
    /// What it takes in memory, near enough. Replies that are known share theirs.
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
            seconds: 0.0,
        }
    }

    fn address(run: &str, query: &str, seal: &Secret) -> Address {
        Address::new(run, query, seal.expose())
    }

    #[test]
    fn only_the_address_of_a_query_records_for_it_and_only_the_key_tells_and_forgets() {
        let runs = Runs::default();
        let [key, other] = [(); 2].map(|()| unguessable().expect("chance"));
        assert_ne!(key.expose(), other.expose());
        let one = address("r", "1", &runs.open("r", "1", &key).expect("opened"));
        let two = address("r", "2", &runs.open("r", "2", &key).expect("opened"));
        assert_ne!(one.seal, two.seal);
        runs.record(&one, call(b"1"));
        let forged = Address { seal: one.seal.clone(), ..two.clone() };
        assert_eq!(runs.check(&forged), Err(NoRun::Unknown));
        runs.record(&forged, call(b"2"));
        let n_calls = |query: &str| runs.calls("r", query, &key).map(|calls| calls.len());
        assert_eq!((n_calls("1"), n_calls("2")), (Ok(1), Ok(0)));
        assert_eq!(runs.open("r", "3", &other).err(), Some(NoRun::OfAnother));
        assert_eq!(runs.calls("r", "1", &other).err(), Some(NoRun::OfAnother));
        assert_eq!(runs.close("r", "1", &other).err(), Some(NoRun::OfAnother));
        assert_eq!(runs.forget("r", &other).err(), Some(NoRun::OfAnother));
        assert_eq!(runs.open("s", "1", &Secret::new("short")).err(), Some(NoRun::BadKey));
        assert_eq!(runs.close("r", "1", &key).map(|calls| calls.len()), Ok(1));
        // A query that is closed takes no more, nor does one that was opened anew, where it was.
        assert_eq!(runs.check(&one), Err(NoRun::Unknown));
        let again = address("r", "1", &runs.open("r", "1", &key).expect("opened"));
        assert_eq!((runs.check(&one), runs.check(&again)), (Err(NoRun::Unknown), Ok(())));
        assert_eq!(runs.forget("r", &key), Ok(2));
        assert_eq!(runs.locked().n_bytes, 0);
    }

    #[test]
    fn one_query_cannot_use_up_the_room_of_all() {
        let runs = Runs::default();
        let key = unguessable().expect("chance");
        let one = address("r", "1", &runs.open("r", "1", &key).expect("opened"));
        let two = address("r", "2", &runs.open("r", "2", &key).expect("opened"));
        // The reply is shared, and counts as often as it is recorded.
        while runs.check(&one).is_ok() {
            runs.record(&one, call(&LONG));
        }
        assert_eq!((runs.check(&one), runs.check(&two)), (Err(NoRun::Full), Ok(())));
    }

    #[test]
    fn a_key_that_is_longer_than_a_key_is_refused() {
        let runs = Runs::default();
        let key_of = |length: usize| Secret::new(&"k".repeat(length));
        assert_eq!(runs.open("r", "1", &key_of(129)).err(), Some(NoRun::BadKey));
        assert!(runs.open("r", "1", &key_of(128)).is_ok());
        assert!(runs.locked().n_bytes >= 128 + QUERY_BYTES);
    }

    #[test]
    fn runs_whose_queries_are_closed_take_no_room() {
        let runs = Runs::default();
        let [key, other] = [(); 2].map(|()| unguessable().expect("chance"));
        for n in 0..100 {
            let run = n.to_string();
            runs.open(&run, "1", &key).expect("opened");
            runs.close(&run, "1", &key).expect("closed");
        }
        assert_eq!(runs.locked().runs.len(), 0);
        assert_eq!(runs.locked().n_bytes, 0);
        // While a query is open, the run is its own.
        runs.open("r", "-", &key).expect("opened");
        runs.open("r", "1", &key).expect("opened");
        runs.close("r", "1", &key).expect("closed");
        assert_eq!(runs.open("r", "1", &other).err(), Some(NoRun::OfAnother));
    }
}
