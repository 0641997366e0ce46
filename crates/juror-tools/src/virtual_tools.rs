//! Virtual tools: the sources of replies in their order, and calls in flight.

use std::any::Any;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use hashbrown::HashMap;
use juror_json::python::Alike;
use juror_store::{NewReply, Origin, Turn};
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::argument_rules::ArgumentRules;
use crate::cache_folder::ApiPath;
use crate::cached::{Cached, KnownReply, wire};
use crate::call::{NumberMatching, ToolCall};
use crate::faults::Faults;
use crate::memory_budget::{MemoryBudget, Reservation};
use crate::source::{NoReply, SourceReply, ToolSource};

/// The limit of concurrent calls.
const MOST_IN_FLIGHT: usize = 20_000;

/// A step in the order of sources.
pub enum Source {
    /// Known replies.
    Cache,
    /// A source that makes replies.
    Maker(Box<dyn ToolSource>),
}

/// Where a reply was found or made for this call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ServedFrom {
    /// It was known.
    Cache,
    /// A model made it.
    Simulator,
    /// The real tool gave it.
    Real,
    /// There is no reply; the body says so.
    Nowhere,
}

/// Why there is no reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// No source has a reply.
    Unknown,
    /// A source that might have a reply could not be reached.
    Unasked,
    /// Known replies could not be read.
    LookUp,
    /// A new reply could not be stored.
    NotKept,
    /// The reply did not come in time.
    Late,
    /// Too many calls are in flight.
    Busy,
    /// A panic in Juror.
    Bug,
}

/// A reply to a call.
#[derive(Clone, Debug)]
pub struct Served {
    /// JSON, usually with `error` and `response`.
    pub body: Bytes,
    /// Where it came from for this call.
    pub from: ServedFrom,
    /// Where it came from originally.
    pub origin: Option<Origin>,
    /// How the arguments of a known reply differ from those of the call.
    pub found: Alike,
    /// What went wrong on the way, for the log.
    pub troubles: Arc<[String]>,
    /// Why there is no reply, if there is none.
    pub failure: Option<Failure>,
    /// What a rule made go wrong: `slow`, `error` or `malformed`.
    pub fault: Option<&'static str>,
}

/// Counters of calls and replies.
#[derive(Debug, Default)]
pub struct CallCounts {
    /// Calls with a known reply.
    pub hits: AtomicU64,
    /// Hits whose arguments have equal numbers in another spelling.
    pub equal_numbers: AtomicU64,
    /// Hits whose arguments are in another order.
    pub any_order: AtomicU64,
    /// Calls without a known reply.
    pub misses: AtomicU64,
    /// Calls that waited for an equal call in flight.
    pub joined: AtomicU64,
    /// Replies made by models.
    pub simulated: AtomicU64,
    /// Replies from real tools.
    pub real: AtomicU64,
    /// Calls to which no source had a reply.
    pub failed: AtomicU64,
    /// Calls for which known replies could not be read.
    pub look_up_failed: AtomicU64,
    /// Replies that were stored.
    pub kept: AtomicU64,
    /// Replies that could not be stored.
    pub not_kept: AtomicU64,
}

type PendingReply = Shared<BoxFuture<'static, Served>>;

/// Answers calls from known replies and other sources.
pub struct VirtualTools {
    cached: Arc<Cached>,
    sources: Vec<Source>,
    keeps: bool,
    counts: CallCounts,
    in_flight: Mutex<HashMap<InFlightKey, PendingReply>>,
    budget: MemoryBudget,
    rules: ArgumentRules,
    faults: Faults,
}

/// Identifies calls that share a reply: a hash of names and arguments, because those can be long.
type InFlightKey = ([u8; 32], NumberMatching);

impl VirtualTools {
    /// Creates virtual tools that ask `sources` in order. If `keeps` is true, new replies are
    /// stored. `budget` limits the memory of calls in flight.
    pub fn new(
        cached: Arc<Cached>,
        sources: Vec<Source>,
        keeps: bool,
        budget: MemoryBudget,
    ) -> Arc<VirtualTools> {
        let (rules, faults) = (ArgumentRules::default(), Faults::default());
        VirtualTools::with_rules(cached, sources, keeps, budget, rules, faults)
    }

    /// Creates virtual tools with rules for arguments, and for what goes wrong.
    pub fn with_rules(
        cached: Arc<Cached>,
        sources: Vec<Source>,
        keeps: bool,
        budget: MemoryBudget,
        rules: ArgumentRules,
        faults: Faults,
    ) -> Arc<VirtualTools> {
        let (counts, in_flight) = (CallCounts::default(), Mutex::default());
        Arc::new(VirtualTools { cached, sources, keeps, counts, in_flight, budget, rules, faults })
    }

    /// The rules for arguments, which every call goes through before it is made.
    pub fn rules(&self) -> &ArgumentRules {
        &self.rules
    }

    /// The limit on the memory of calls in flight.
    pub fn budget(&self) -> &MemoryBudget {
        &self.budget
    }

    /// The known replies.
    pub fn cached(&self) -> &Arc<Cached> {
        &self.cached
    }

    /// The counters.
    pub fn counts(&self) -> &CallCounts {
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

    /// Returns a reply from memory, if known replies are the first source.
    pub fn at_once(&self, call: &ToolCall) -> Option<Served> {
        if !matches!(self.sources.first(), Some(Source::Cache)) || !self.faults.is_empty() {
            return None;
        }
        let known = self.cached.in_memory(call)?;
        self.count_hit(&known);
        Some(Served::known(&known))
    }

    /// Answers a call. Equal calls share one reply while it is being made. The work goes on if the
    /// caller leaves.
    pub async fn call(self: &Arc<VirtualTools>, call: impl Into<Arc<ToolCall>>) -> Served {
        let call = call.into();
        let served = self.call_without_faults(&call).await;
        match self.faults.of(&call) {
            None => served,
            Some(fault) => served.spoilt(fault).await,
        }
    }

    async fn call_without_faults(self: &Arc<VirtualTools>, call: &Arc<ToolCall>) -> Served {
        if let Some(served) = self.at_once(call) {
            return served;
        }
        let pending = {
            let mut in_flight = self.in_flight();
            let key = in_flight_key(call);
            match in_flight.get(&key) {
                Some(pending) => {
                    self.counts.joined.fetch_add(1, Ordering::Relaxed);
                    pending.clone()
                }
                None if in_flight.len() >= MOST_IN_FLIGHT => {
                    return Served::busy("Too many calls are on their way");
                }
                None => {
                    let Some(reservation) = self.budget.reserve(call.n_bytes()) else {
                        return Served::busy(&self.budget.full_message());
                    };
                    let pending = self.begin(call.clone(), key, reservation);
                    in_flight.insert(key, pending.clone());
                    pending
                }
            }
        };
        pending.await
    }

    /// Works on a call in a task of its own.
    fn begin(
        self: &Arc<VirtualTools>,
        call: Arc<ToolCall>,
        key: InFlightKey,
        reservation: Reservation,
    ) -> PendingReply {
        let this = self.clone();
        let task = tokio::spawn(async move {
            // Dropped however the task ends, even by a panic.
            let guard = InFlightGuard { tools: this.clone(), key, _reservation: reservation };
            let served = this.work(&call).await;
            drop(guard);
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
        let names = call.api_path();
        let mut turn = None;
        for source in &self.sources {
            if let Source::Maker(_) = source
                && self.keeps
                && was_looked_up
                && failure != Failure::LookUp
                && turn.is_none()
            {
                // Of all who share the store, one asks for the reply.
                match self.wait_for_turn(call, &names).await {
                    Ok(Waited::Known(known)) => {
                        self.count_hit(&known);
                        return Served::known(&known);
                    }
                    Ok(Waited::Ours(held)) => turn = Some(held),
                    Err(error) => {
                        // What is asked for now could not be kept.
                        self.counts.look_up_failed.fetch_add(1, Ordering::Relaxed);
                        let told = "Known replies cannot be looked up";
                        return Served::failed(Failure::LookUp, told, vec![error]);
                    }
                }
            }
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

    /// Waits until it is our turn to ask for a reply, or somebody else has kept it.
    async fn wait_for_turn(&self, call: &Arc<ToolCall>, names: &ApiPath) -> Result<Waited, String> {
        loop {
            let turn = self.cached.turn(names, &call.key).await;
            let Some(turn) = turn.map_err(|error| error.to_string())? else {
                return Ok(Waited::Ours(None));
            };
            // It may have been kept just before.
            if let Some(known) = self.look_up(call).await? {
                return Ok(Waited::Known(known));
            }
            match turn {
                Turn::Ours(held) => return Ok(Waited::Ours(Some(held))),
                Turn::Theirs(wait) => wait.await,
            }
        }
    }

    /// Looks a reply up on a thread that may block.
    async fn look_up(&self, call: &Arc<ToolCall>) -> Result<Option<Arc<KnownReply>>, String> {
        let (cached, call) = (self.cached.clone(), call.clone());
        let found = tokio::task::spawn_blocking(move || cached.find(&call)).await;
        found.map_err(|error| error.to_string())?.map_err(|error| error.to_string())
    }

    fn count_hit(&self, known: &KnownReply) {
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

    /// Stores a new reply before anyone sees it, if replies are kept.
    async fn take(
        &self,
        call: &ToolCall,
        made: SourceReply,
        was_looked_up: bool,
        mut troubles: Vec<String>,
    ) -> Served {
        let (count, from) = match made.origin {
            Origin::Real => (&self.counts.real, ServedFrom::Real),
            _ => (&self.counts.simulated, ServedFrom::Simulator),
        };
        count.fetch_add(1, Ordering::Relaxed);
        let made = SourceReply { reply: call.redact(made.reply), ..made };
        let (body, origin) = (wire(&made.reply), Some(made.origin));
        let served = |troubles: Vec<String>| {
            let (body, troubles) = (body.clone(), troubles.into());
            Served {
                body,
                from,
                origin,
                found: Alike::default(),
                troubles,
                failure: None,
                fault: None,
            }
        };
        if !self.keeps || !self.cached.keeps() {
            return served(troubles);
        }
        let new = NewReply {
            names: call.api_path(),
            key: call.key.clone(),
            reply: made.reply,
            origin: made.origin,
            model: made.model,
            kept_at: seconds_now(),
        };
        match self.cached.keep(call, new).await {
            // Another reply was stored in the meantime, and it counts. If the maker comes before
            // known replies, though, the new reply is wanted.
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

    fn in_flight(&self) -> MutexGuard<'_, HashMap<InFlightKey, PendingReply>> {
        self.in_flight.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn in_flight_key(call: &ToolCall) -> InFlightKey {
    (Sha256::digest(call.id()).into(), call.numbers)
}

/// What came of waiting for a turn.
enum Waited {
    /// Somebody else has kept a reply.
    Known(Arc<KnownReply>),
    /// It is our turn, while the value lives.
    Ours(Option<Box<dyn Any + Send + Sync>>),
}

/// Removes a call from those in flight, and releases its memory.
struct InFlightGuard {
    tools: Arc<VirtualTools>,
    key: InFlightKey,
    _reservation: Reservation,
}

impl Drop for InFlightGuard {
    fn drop(&mut self) {
        self.tools.in_flight().remove(&self.key);
    }
}

impl Served {
    fn known(known: &KnownReply) -> Served {
        Served {
            body: known.body.clone(),
            from: ServedFrom::Cache,
            origin: Some(known.origin),
            found: known.found,
            troubles: Arc::default(),
            failure: None,
            fault: None,
        }
    }

    /// Describes in a word, for headers and records, how the arguments of the reply differ from
    /// those of the call. `None` if they are equal.
    pub fn found_by(&self) -> Option<&'static str> {
        match self.found {
            Alike { numbers: false, order: false } => None,
            Alike { numbers: true, order: false } => Some("numbers"),
            Alike { numbers: false, order: true } => Some("order"),
            Alike { numbers: true, order: true } => Some("numbers, order"),
        }
    }

    /// Who made a known reply that did not come from a cache folder: `simulator` or `real`.
    pub fn kept_from(&self) -> Option<&'static str> {
        match self.origin.filter(|_| self.from == ServedFrom::Cache)? {
            Origin::Imported => None,
            Origin::Simulated => Some(ServedFrom::Simulator.as_str()),
            Origin::Real => Some(ServedFrom::Real.as_str()),
        }
    }

    /// Returns why there is no reply, if the cause is outside of the call.
    pub fn failed_outside(&self) -> Option<String> {
        let is_outside = match self.failure? {
            // The last two are limits of the server, and not the caller's fault.
            Failure::Unasked
            | Failure::LookUp
            | Failure::NotKept
            | Failure::Late
            | Failure::Busy => true,
            Failure::Unknown | Failure::Bug => false,
        };
        is_outside.then(|| self.troubles.join("; "))
    }

    /// A reply that refuses the call for lack of room.
    pub fn busy(told: &str) -> Served {
        Served::failed(Failure::Busy, told, vec![told.to_owned()])
    }

    /// A reply that says why there is none.
    pub fn failed(failure: Failure, told: &str, troubles: Vec<String>) -> Served {
        Served {
            body: error_body(told),
            from: ServedFrom::Nowhere,
            origin: None,
            found: Alike::default(),
            troubles: troubles.into(),
            failure: Some(failure),
            fault: None,
        }
    }
}

impl ServedFrom {
    /// The name in headers, records and metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            ServedFrom::Cache => "cache",
            ServedFrom::Simulator => "simulator",
            ServedFrom::Real => "real",
            ServedFrom::Nowhere => "none",
        }
    }
}

/// The body of a reply that reports an error.
pub fn error_body(error: &str) -> Bytes {
    Bytes::from(json!({"error": error, "response": ""}).to_string())
}

/// The current time in seconds since 1970.
pub fn seconds_now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use juror_models::Pending;

    use super::*;
    use crate::cached::CachedSetup;

    /// A source whose replies a function makes.
    struct Fake<F>(F);

    impl<F: Fn() -> Pending<'static, String> + Send + Sync> ToolSource for Fake<F> {
        fn name(&self) -> &'static str {
            "real"
        }

        fn reply<'a>(&'a self, _: &'a ToolCall) -> Pending<'a, Result<SourceReply, NoReply>> {
            let reply = (self.0)();
            Box::pin(async {
                Ok(SourceReply { reply: reply.await, origin: Origin::Real, model: None })
            })
        }
    }

    fn fake(reply: impl Fn() -> Pending<'static, String> + Send + Sync + 'static) -> Source {
        Source::Maker(Box::new(Fake(reply)))
    }

    /// A source that replies with how often it was asked before, and may panic the first time.
    fn counting(panics_first: bool) -> Source {
        let n_asked = AtomicUsize::new(0);
        fake(move || {
            let n = n_asked.fetch_add(1, Ordering::Relaxed);
            assert!(n > 0 || !panics_first, "told to");
            Box::pin(async move { n.to_string() })
        })
    }

    fn call() -> ToolCall {
        ToolCall::new("Data", "a", "b", "{}", "").expect("a call")
    }

    #[tokio::test]
    async fn a_source_that_panics_spoils_one_call_alone() {
        let cached = Arc::new(Cached::new(CachedSetup::default(), |_| {}));
        let sources = vec![counting(true)];
        let tools = VirtualTools::new(cached, sources, false, MemoryBudget::default());
        let served = tools.call(call()).await;
        assert_eq!(served.failure, Some(Failure::Bug));
        assert_eq!(&*tools.call(call()).await.body, b"1");
        assert!(tools.in_flight().is_empty());
    }

    #[tokio::test]
    async fn calls_are_bounded_in_bytes_though_nobody_waits_for_them() {
        let permits = Arc::new(tokio::sync::Semaphore::new(0));
        let waits = permits.clone();
        let slow = fake(move || {
            let permits = waits.clone();
            Box::pin(async move {
                let _permit = permits.acquire().await;
                "1".into()
            })
        });
        let cached = Arc::new(Cached::new(CachedSetup::default(), |_| {}));
        let tools = VirtualTools::new(cached, vec![slow], false, MemoryBudget::new(1));
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
        permits.add_permits(1);
        while !tools.in_flight().is_empty() {
            tokio::task::yield_now().await;
        }
        assert_eq!(tools.call(long(0)).await.failure, None);
    }

    #[tokio::test]
    async fn a_maker_that_comes_first_is_served_and_what_is_kept_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = juror_store::ToolReplies::open(folder.path()).expect("a store");
        let kept: Option<Box<dyn juror_store::ToolStore>> = Some(Box::new(store));
        let cached = Cached::new(CachedSetup { kept, ..CachedSetup::default() }, |_| {});
        let sources = vec![counting(false), Source::Cache];
        let cached = Arc::new(cached);
        let tools = VirtualTools::new(cached.clone(), sources, true, MemoryBudget::default());
        let first = tools.call(call()).await;
        assert_eq!((&*first.body, first.from), (&b"0"[..], ServedFrom::Real));
        let second = tools.call(call()).await;
        assert_eq!((&*second.body, second.from), (&b"1"[..], ServedFrom::Real));
        assert_eq!(tools.counts().kept.load(Ordering::Relaxed), 1);
        let kept = cached.find(&call()).expect("a store").expect("a reply");
        assert_eq!(&*kept.body, b"0");
    }
}
