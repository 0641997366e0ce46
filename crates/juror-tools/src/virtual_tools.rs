//! Tools that answer as if every API were up: known replies first, then the sources in their order.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use hashbrown::HashMap;
use juror_json::python::Alike;
use juror_store::{NewReply, Origin};
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::cached::{Cached, Known, wire};
use crate::call::{Numbers, ToolCall};
use crate::room::{Held, Room};
use crate::source::{Made, NoReply, ToolSource};

/// The most calls that are worked on at a time; those who ask for more are told so.
const MOST_IN_FLIGHT: usize = 20_000;

/// One place in the order of sources.
pub enum Source {
    /// Replies that are known.
    Cache,
    /// Someone who makes replies.
    Maker(Box<dyn ToolSource>),
}

/// Where a served reply came from, just now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ServedFrom {
    /// It was known.
    Cache,
    /// A model made it.
    Simulator,
    /// The tool itself gave it.
    Real,
    /// Nowhere: the reply says that there is none.
    Nowhere,
}

/// Why a reply says that there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// No source has one.
    Unknown,
    /// A source that might have one could not be asked.
    Unasked,
    /// Known replies could not be looked up.
    LookUp,
    /// It was made, and could not be kept.
    NotKept,
    /// It did not come in time.
    Late,
    /// Too many calls are on their way.
    Busy,
    /// A bug of our own.
    Bug,
}

/// A reply to a call.
#[derive(Clone, Debug)]
pub struct Served {
    /// JSON, commonly with `error` and `response`.
    pub body: Bytes,
    /// Where it came from.
    pub from: ServedFrom,
    /// Where it came from when it was made.
    pub origin: Option<Origin>,
    /// In what the arguments of a known reply differ from those of the call.
    pub found: Alike,
    /// What went wrong on the way, for the log.
    pub troubles: Arc<[String]>,
    /// Why there is no reply, if there is none.
    pub failure: Option<Failure>,
}

/// How often what happened.
#[derive(Debug, Default)]
pub struct Counts {
    /// Calls that were known.
    pub hits: AtomicU64,
    /// Those of them whose reply is one to equal numbers that are written otherwise.
    pub equal_numbers: AtomicU64,
    /// Those of them whose reply is one to the arguments in another order.
    pub any_order: AtomicU64,
    /// Calls that were not.
    pub misses: AtomicU64,
    /// Calls that waited for an equal one on its way.
    pub joined: AtomicU64,
    /// Replies of models.
    pub simulated: AtomicU64,
    /// Replies of tools themselves.
    pub real: AtomicU64,
    /// Calls that no source had a reply to.
    pub failed: AtomicU64,
    /// Calls for which known replies could not be looked up.
    pub look_up_failed: AtomicU64,
    /// Replies that were kept.
    pub kept: AtomicU64,
    /// Replies that could not be kept.
    pub not_kept: AtomicU64,
}

type Pending = Shared<BoxFuture<'static, Served>>;

/// Virtual tools.
pub struct VirtualTools {
    cached: Arc<Cached>,
    sources: Vec<Source>,
    keeps: bool,
    counts: Counts,
    in_flight: Mutex<HashMap<Flight, Pending>>,
    room: Room,
}

/// What calls have in common that wait for one reply: a hash of names and arguments, which may be
/// long.
type Flight = ([u8; 32], Numbers);

impl VirtualTools {
    /// Virtual tools that ask `sources` in order, and keep what those make if `keeps`. Calls on their
    /// way have a `room` in memory.
    pub fn new(
        cached: Arc<Cached>,
        sources: Vec<Source>,
        keeps: bool,
        room: Room,
    ) -> Arc<VirtualTools> {
        let (counts, in_flight) = (Counts::default(), Mutex::default());
        Arc::new(VirtualTools { cached, sources, keeps, counts, in_flight, room })
    }

    /// Room in memory for calls on their way.
    pub fn room(&self) -> &Room {
        &self.room
    }

    /// What is known.
    pub fn cached(&self) -> &Arc<Cached> {
        &self.cached
    }

    /// How often what happened so far.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// The names of the sources, in order.
    pub fn source_names(&self) -> Vec<&'static str> {
        let name = |source: &Source| match source {
            Source::Cache => "cache",
            Source::Maker(maker) => maker.name(),
        };
        self.sources.iter().map(name).collect()
    }

    /// The reply to a call that is in memory, where known replies come first.
    pub fn at_once(&self, call: &ToolCall) -> Option<Served> {
        if !matches!(self.sources.first(), Some(Source::Cache)) {
            return None;
        }
        let known = self.cached.in_memory(call)?;
        self.count_hit(&known);
        Some(Served::known(&known))
    }

    /// The reply to a call. Equal calls that come while one is on its way wait for its reply, and
    /// the work goes on if the caller leaves.
    pub async fn call(self: &Arc<VirtualTools>, call: impl Into<Arc<ToolCall>>) -> Served {
        let call = call.into();
        if let Some(served) = self.at_once(&call) {
            return served;
        }
        let pending = {
            let mut in_flight = self.in_flight();
            let flight = flight_of(&call);
            match in_flight.get(&flight) {
                Some(pending) => {
                    self.counts.joined.fetch_add(1, Ordering::Relaxed);
                    pending.clone()
                }
                None if in_flight.len() >= MOST_IN_FLIGHT => {
                    return Served::busy("Too many calls are on their way");
                }
                None => {
                    let Some(held) = self.room.take(call.n_bytes()) else {
                        return Served::busy(&self.room.full());
                    };
                    let pending = self.begin(call, flight, held);
                    in_flight.insert(flight, pending.clone());
                    pending
                }
            }
        };
        pending.await
    }

    /// Works on a call in a task of its own.
    fn begin(self: &Arc<VirtualTools>, call: Arc<ToolCall>, flight: Flight, held: Held) -> Pending {
        let this = self.clone();
        let task = tokio::spawn(async move {
            // Taken off the list however the work ends, and the room given back.
            let on_list = OnList { tools: this.clone(), flight, _held: held };
            let served = this.work(&call).await;
            drop(on_list);
            served
        });
        let bug = |_| {
            let troubles = vec!["a bug of juror's own: please report it".to_owned()];
            Served::failed(Failure::Bug, "Juror failed to answer", troubles)
        };
        task.map(move |done| done.unwrap_or_else(bug)).boxed().shared()
    }

    async fn work(&self, call: &Arc<ToolCall>) -> Served {
        let mut troubles = Vec::new();
        let mut told = "No reply to this call is known".to_owned();
        let mut failure = Failure::Unknown;
        let mut was_looked_up = false;
        for source in &self.sources {
            match source {
                Source::Cache => {
                    was_looked_up = true;
                    match self.look_up(call).await {
                        Ok(Some(known)) => {
                            self.count_hit(&known);
                            return Served::known(&known);
                        }
                        Ok(None) => {}
                        Err(error) => {
                            failure = Failure::LookUp;
                            "Known replies cannot be looked up".clone_into(&mut told);
                            troubles.push(error);
                        }
                    }
                }
                Source::Maker(maker) => match maker.reply(call).await {
                    Ok(made) => {
                        self.count_miss(was_looked_up);
                        return self.take(call, made, was_looked_up, troubles).await;
                    }
                    Err(NoReply { told: say, why, is_unasked }) => {
                        told = say;
                        failure = match failure {
                            Failure::Unasked => failure,
                            _ if is_unasked => Failure::Unasked,
                            _ => Failure::Unknown,
                        };
                        troubles.push(format!("{}: {why}", maker.name()));
                    }
                },
            }
        }
        match failure {
            Failure::LookUp => self.counts.look_up_failed.fetch_add(1, Ordering::Relaxed),
            _ => {
                self.count_miss(was_looked_up);
                self.counts.failed.fetch_add(1, Ordering::Relaxed)
            }
        };
        Served::failed(failure, &told, troubles)
    }

    /// Looks a reply up, where waiting for a disk delays nobody else.
    async fn look_up(&self, call: &Arc<ToolCall>) -> Result<Option<Arc<Known>>, String> {
        let (cached, call) = (self.cached.clone(), call.clone());
        let found = tokio::task::spawn_blocking(move || cached.find(&call)).await;
        found.map_err(|error| error.to_string())?.map_err(|error| error.to_string())
    }

    fn count_hit(&self, known: &Known) {
        self.counts.hits.fetch_add(1, Ordering::Relaxed);
        if known.found.numbers {
            self.counts.equal_numbers.fetch_add(1, Ordering::Relaxed);
        }
        if known.found.order {
            self.counts.any_order.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn count_miss(&self, was_looked_up: bool) {
        if was_looked_up {
            self.counts.misses.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Keeps a reply, if replies are kept, before anyone sees it.
    async fn take(
        &self,
        call: &ToolCall,
        made: Made,
        was_looked_up: bool,
        mut troubles: Vec<String>,
    ) -> Served {
        let (count, from) = match made.origin {
            Origin::Real => (&self.counts.real, ServedFrom::Real),
            _ => (&self.counts.simulated, ServedFrom::Simulator),
        };
        count.fetch_add(1, Ordering::Relaxed);
        let (body, origin) = (wire(&made.reply), Some(made.origin));
        let served = |troubles: Vec<String>| {
            let (body, troubles) = (body.clone(), troubles.into());
            Served { body, from, origin, found: Alike::default(), troubles, failure: None }
        };
        if !self.keeps || !self.cached.keeps() {
            return served(troubles);
        }
        let new = NewReply {
            names: call.kept_names(),
            key: call.key.clone(),
            reply: made.reply,
            origin: made.origin,
            model: made.model,
            kept_at: seconds_now(),
        };
        match self.cached.keep(call, new).await {
            // Another was kept since it was looked up, and counts. Where its maker comes before known
            // replies, the new one is what was asked for.
            Ok((known, true)) if was_looked_up => {
                Served { troubles: troubles.into(), ..Served::known(&known) }
            }
            Ok((_, was_known)) => {
                self.counts.kept.fetch_add(u64::from(!was_known), Ordering::Relaxed);
                served(troubles)
            }
            Err(error) => {
                self.counts.not_kept.fetch_add(1, Ordering::Relaxed);
                troubles.push(format!("the reply cannot be kept: {error}"));
                let told = "The reply cannot be kept, and would be another next time";
                Served::failed(Failure::NotKept, told, troubles)
            }
        }
    }

    fn in_flight(&self) -> MutexGuard<'_, HashMap<Flight, Pending>> {
        self.in_flight.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn flight_of(call: &ToolCall) -> Flight {
    (Sha256::digest(call.id()).into(), call.numbers)
}

/// A call on the list of those on their way.
struct OnList {
    tools: Arc<VirtualTools>,
    flight: Flight,
    _held: Held,
}

impl Drop for OnList {
    fn drop(&mut self) {
        self.tools.in_flight().remove(&self.flight);
    }
}

impl Served {
    fn known(known: &Known) -> Served {
        Served {
            body: known.body.clone(),
            from: ServedFrom::Cache,
            origin: Some(known.origin),
            found: known.found,
            troubles: Arc::default(),
            failure: None,
        }
    }

    /// In what the arguments of the reply differ from those of the call, in a word for headers and
    /// records; nothing if they agree to the letter.
    pub fn found_by(&self) -> Option<&'static str> {
        match self.found {
            Alike { numbers: false, order: false } => None,
            Alike { numbers: true, order: false } => Some("numbers"),
            Alike { numbers: false, order: true } => Some("order"),
            Alike { numbers: true, order: true } => Some("numbers, order"),
        }
    }

    /// Who made a known reply that no cache folder brought: `simulator` or `real`.
    pub fn kept_from(&self) -> Option<&'static str> {
        match self.origin.filter(|_| self.from == ServedFrom::Cache)? {
            Origin::Imported => None,
            Origin::Simulated => Some(ServedFrom::Simulator.as_str()),
            Origin::Real => Some(ServedFrom::Real.as_str()),
        }
    }

    /// Why there is no reply though one might have been had: something outside failed.
    pub fn failed_outside(&self) -> Option<String> {
        let is_outside = match self.failure? {
            // Limits that were met, the last two, are no fault of who called.
            Failure::Unasked
            | Failure::LookUp
            | Failure::NotKept
            | Failure::Late
            | Failure::Busy => true,
            Failure::Unknown | Failure::Bug => false,
        };
        is_outside.then(|| self.troubles.join("; "))
    }

    /// The reply that says that there is no room for the call.
    pub fn busy(told: &str) -> Served {
        Served::failed(Failure::Busy, told, vec![told.to_owned()])
    }

    /// The reply that says that there is none, and why.
    pub fn failed(failure: Failure, told: &str, troubles: Vec<String>) -> Served {
        Served {
            body: error_body(told),
            from: ServedFrom::Nowhere,
            origin: None,
            found: Alike::default(),
            troubles: troubles.into(),
            failure: Some(failure),
        }
    }
}

impl ServedFrom {
    /// Its name in headers, records and metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            ServedFrom::Cache => "cache",
            ServedFrom::Simulator => "simulator",
            ServedFrom::Real => "real",
            ServedFrom::Nowhere => "none",
        }
    }
}

/// The reply that says what went wrong.
pub fn error_body(error: &str) -> Bytes {
    Bytes::from(json!({"error": error, "response": ""}).to_string())
}

/// Now, in seconds since 1970.
pub fn seconds_now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;
    use crate::cached::CachedSetup;

    /// Says how often it was asked; panics the first time if told to.
    struct Counting {
        n_asked: AtomicUsize,
        panics_first: bool,
    }

    impl ToolSource for Counting {
        fn name(&self) -> &'static str {
            "real"
        }

        fn reply<'a>(
            &'a self,
            _: &'a ToolCall,
        ) -> juror_models::Pending<'a, Result<Made, NoReply>> {
            Box::pin(async {
                let n = self.n_asked.fetch_add(1, Ordering::Relaxed);
                assert!(n > 0 || !self.panics_first, "told to");
                Ok(Made { reply: n.to_string(), origin: Origin::Real, model: None })
            })
        }
    }

    fn call() -> ToolCall {
        ToolCall::new("Data", "a", "b", "{}", "").expect("a call")
    }

    #[tokio::test]
    async fn a_source_that_panics_spoils_one_call_alone() {
        let source = Counting { n_asked: AtomicUsize::new(0), panics_first: true };
        let cached = Arc::new(Cached::new(CachedSetup::default(), |_| {}));
        let tools = VirtualTools::new(
            cached,
            vec![Source::Maker(Box::new(source))],
            false,
            Room::default(),
        );
        let served = tools.call(call()).await;
        assert_eq!(served.failure, Some(Failure::Bug));
        assert_eq!(&*tools.call(call()).await.body, b"1");
        assert!(tools.in_flight().is_empty());
    }

    /// Says nothing before it may.
    struct Slow(tokio::sync::Semaphore);

    impl ToolSource for Arc<Slow> {
        fn name(&self) -> &'static str {
            "real"
        }

        fn reply<'a>(
            &'a self,
            _: &'a ToolCall,
        ) -> juror_models::Pending<'a, Result<Made, NoReply>> {
            Box::pin(async {
                let _ = self.0.acquire().await;
                Ok(Made { reply: "1".into(), origin: Origin::Real, model: None })
            })
        }
    }

    #[tokio::test]
    async fn calls_are_bounded_in_bytes_though_nobody_waits_for_them() {
        let slow = Arc::new(Slow(tokio::sync::Semaphore::new(0)));
        let cached = Arc::new(Cached::new(CachedSetup::default(), |_| {}));
        let sources = vec![Source::Maker(Box::new(slow.clone()))];
        let tools = VirtualTools::new(cached, sources, false, Room::new(1));
        let long = |n: usize| {
            let input = json!({"text": "x".repeat(100_000), "n": n}).to_string();
            ToolCall::new("Data", "a", "b", &input, "").expect("a call")
        };
        let mut n_taken = 0;
        let refused = loop {
            match tools.call(long(n_taken)).now_or_never() {
                None => n_taken += 1,
                Some(served) => break served,
            }
        };
        assert_eq!(refused.failure, Some(Failure::Busy));
        let why = refused.failed_outside();
        assert!(why.is_some_and(|why| why.contains("--in-flight")), "who called is not to blame");
        let told = String::from_utf8_lossy(&refused.body).into_owned();
        assert!(told.contains("1 MB of calls are on their way (--in-flight)"), "{told}");
        assert_eq!((n_taken, tools.in_flight().len()), (3, 3));
        slow.0.add_permits(1);
        while !tools.in_flight().is_empty() {
            tokio::task::yield_now().await;
        }
        assert_eq!(tools.call(long(0)).await.failure, None);
    }

    #[tokio::test]
    async fn a_maker_that_comes_first_is_served_and_what_is_kept_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = juror_store::ToolReplies::open(folder.path()).expect("a store");
        let kept = Some(store);
        let cached = Cached::new(CachedSetup { kept, ..CachedSetup::default() }, |_| {});
        let source = Counting { n_asked: AtomicUsize::new(0), panics_first: false };
        let sources = vec![Source::Maker(Box::new(source)), Source::Cache];
        let cached = Arc::new(cached);
        let tools = VirtualTools::new(cached.clone(), sources, true, Room::default());
        let first = tools.call(call()).await;
        assert_eq!((&*first.body, first.from), (&b"0"[..], ServedFrom::Real));
        let second = tools.call(call()).await;
        assert_eq!((&*second.body, second.from), (&b"1"[..], ServedFrom::Real));
        assert_eq!(tools.counts().kept.load(Ordering::Relaxed), 1);
        let kept = cached.find(&call()).expect("a store").expect("a reply");
        assert_eq!(&*kept.body, b"0");
    }
}
