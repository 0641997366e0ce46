//! Tools that answer as if every API were up: known replies first, then the sources in their order.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use hashbrown::HashMap;
use juror_store::{NewReply, Origin};
use serde_json::json;

use crate::cached::{Cached, Known};
use crate::call::ToolCall;
use crate::source::{Made, NoReply, ToolSource};

/// What is told of a call that nothing has a reply to.
const NO_SOURCE: &str = "No reply to this call is known";

/// One place in the order of sources.
pub enum Source {
    /// Replies that are known.
    Cache,
    /// Someone who makes replies.
    Maker(Box<dyn ToolSource>),
}

/// What happens when a call is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnMiss {
    /// The next source is asked.
    #[default]
    Ask,
    /// The call fails: exact replay.
    Fail,
}

/// Where a served reply came from, just now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum From {
    /// It was known.
    Cache,
    /// A model made it.
    Simulator,
    /// The tool itself gave it.
    Real,
    /// Nowhere: the reply says that there is none.
    Nowhere,
}

/// A reply to a call.
#[derive(Clone, Debug)]
pub struct Served {
    /// JSON, commonly with `error` and `response`.
    pub body: Bytes,
    /// Where it came from.
    pub from: From,
    /// For a known reply, where it came from when it was made.
    pub origin: Option<Origin>,
    /// What went wrong on the way, for the log.
    pub troubles: Arc<[String]>,
    /// Whether it could not be kept, and so is not given.
    pub not_kept: bool,
}

/// How often what happened.
#[derive(Debug, Default)]
pub struct Counts {
    /// Calls that were known.
    pub hits: AtomicU64,
    /// Calls that were not.
    pub misses: AtomicU64,
    /// Calls that waited for an equal one on its way.
    pub joined: AtomicU64,
    /// Replies of models.
    pub simulated: AtomicU64,
    /// Replies of tools themselves.
    pub real: AtomicU64,
    /// Calls that nothing had a reply to.
    pub failed: AtomicU64,
    /// Replies that were kept.
    pub kept: AtomicU64,
    /// Replies that could not be kept.
    pub not_kept: AtomicU64,
}

/// Virtual tools.
pub struct VirtualTools {
    cached: Arc<Cached>,
    sources: Vec<Source>,
    on_miss: OnMiss,
    keeps: bool,
    counts: Counts,
    in_flight: Mutex<HashMap<String, Shared<BoxFuture<'static, Served>>>>,
}

impl VirtualTools {
    /// Virtual tools that ask `sources` in order, and keep what those make if `keeps`.
    pub fn new(
        cached: Arc<Cached>,
        sources: Vec<Source>,
        on_miss: OnMiss,
        keeps: bool,
    ) -> Arc<VirtualTools> {
        let (counts, in_flight) = (Counts::default(), Mutex::default());
        Arc::new(VirtualTools { cached, sources, on_miss, keeps, counts, in_flight })
    }

    /// What is known.
    pub fn cached(&self) -> &Cached {
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
        let known = self.cached.in_memory(&call.id())?;
        self.counts.hits.fetch_add(1, Ordering::Relaxed);
        Some(Served::known(&known))
    }

    /// The reply to a call. Equal calls that come while one is on its way wait for its reply, and
    /// the work goes on if the caller leaves.
    pub async fn call(self: &Arc<VirtualTools>, call: ToolCall) -> Served {
        if let Some(served) = self.at_once(&call) {
            return served;
        }
        let id = call.id();
        let shared = {
            let mut in_flight = self.in_flight();
            if let Some(shared) = in_flight.get(&id) {
                self.counts.joined.fetch_add(1, Ordering::Relaxed);
                shared.clone()
            } else {
                let this = self.clone();
                let task = tokio::spawn(async move {
                    let served = this.work(&call).await;
                    this.in_flight().remove(&call.id());
                    served
                });
                let failed = |_| Served::nowhere("juror failed to answer", vec!["a panic".into()]);
                let shared = task.map(move |done| done.unwrap_or_else(failed)).boxed().shared();
                in_flight.insert(id, shared.clone());
                shared
            }
        };
        shared.await
    }

    async fn work(&self, call: &ToolCall) -> Served {
        let mut troubles = Vec::new();
        let mut told = NO_SOURCE.to_owned();
        let mut was_looked_up = false;
        for source in &self.sources {
            match source {
                Source::Cache => {
                    was_looked_up = true;
                    match self.cached.find(call) {
                        Ok(Some(known)) => {
                            self.counts.hits.fetch_add(1, Ordering::Relaxed);
                            return Served::known(&known);
                        }
                        Ok(None) => {}
                        Err(error) => troubles.push(error.to_string()),
                    }
                }
                Source::Maker(_) if self.on_miss == OnMiss::Fail => {}
                Source::Maker(maker) => match maker.reply(call).await {
                    Ok(made) => {
                        self.count_miss(was_looked_up);
                        return self.take(call, made, troubles).await;
                    }
                    Err(NoReply { told: say, why }) => {
                        told = say;
                        troubles.push(format!("{}: {why}", maker.name()));
                    }
                },
            }
        }
        self.count_miss(was_looked_up);
        self.counts.failed.fetch_add(1, Ordering::Relaxed);
        Served::nowhere(&told, troubles)
    }

    fn count_miss(&self, was_looked_up: bool) {
        if was_looked_up {
            self.counts.misses.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Keeps a reply, if replies are kept, before anyone sees it.
    async fn take(&self, call: &ToolCall, made: Made, mut troubles: Vec<String>) -> Served {
        let (count, from) = match made.origin {
            Origin::Real => (&self.counts.real, From::Real),
            _ => (&self.counts.simulated, From::Simulator),
        };
        count.fetch_add(1, Ordering::Relaxed);
        let origin = Some(made.origin);
        if !self.keeps || !self.cached.keeps() {
            let body = Bytes::from(made.reply);
            return Served { body, from, origin, troubles: troubles.into(), not_kept: false };
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
            Ok(known) => {
                self.counts.kept.fetch_add(1, Ordering::Relaxed);
                let body = known.body.clone();
                Served { body, from, origin, troubles: troubles.into(), not_kept: false }
            }
            Err(error) => {
                self.counts.not_kept.fetch_add(1, Ordering::Relaxed);
                troubles.push(format!("the reply cannot be kept: {error}"));
                let told = "The reply cannot be kept, and would be another next time";
                Served { not_kept: true, ..Served::nowhere(told, troubles) }
            }
        }
    }

    fn in_flight(&self) -> MutexGuard<'_, HashMap<String, Shared<BoxFuture<'static, Served>>>> {
        self.in_flight.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Served {
    fn known(known: &Known) -> Served {
        Served {
            body: known.body.clone(),
            from: From::Cache,
            origin: Some(known.origin),
            troubles: Arc::default(),
            not_kept: false,
        }
    }

    fn nowhere(told: &str, troubles: Vec<String>) -> Served {
        Served {
            body: error_body(told),
            from: From::Nowhere,
            origin: None,
            troubles: troubles.into(),
            not_kept: false,
        }
    }
}

impl From {
    /// Its name in headers, records and metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            From::Cache => "cache",
            From::Simulator => "simulator",
            From::Real => "real",
            From::Nowhere => "none",
        }
    }
}

/// The reply that says what went wrong.
pub fn error_body(error: &str) -> Bytes {
    Bytes::from(json!({"error": error, "response": ""}).to_string())
}

fn seconds_now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}
