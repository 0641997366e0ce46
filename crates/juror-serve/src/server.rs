//! The server: connections, limits, and a good end.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use hyper::{Request, StatusCode};
use juror_models::Secret;
use juror_tools::{Catalog, Numbers, VirtualTools};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, mpsc};

use crate::metrics::Metrics;
use crate::reply;
use crate::runs::Runs;
use crate::seats::Seats;

/// What may be asked of the server.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The longest body of a request, in bytes.
    pub body: usize,
    /// Connections that are worked for at a time; requests of others wait. Some more may be open, and
    /// for yet another the one that has waited longest gives way.
    pub connections: usize,
    /// How long a connection may be idle between requests.
    pub idle: Duration,
    /// How long a new connection may be silent, and how long the head of a request may take from its
    /// first byte to its last.
    pub head: Duration,
    /// How long the body of a request may take, from the end of its head to its last byte.
    pub receiving: Duration,
    /// How long a client may take nothing of a reply.
    pub sending: Duration,
    /// How long a reply may take.
    pub reply: Duration,
    /// How long calls on their way may take when the server is asked to stop.
    pub stopping: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            body: 1 << 20,
            connections: 1024,
            idle: Duration::from_mins(10),
            head: Duration::from_secs(10),
            receiving: Duration::from_secs(30),
            sending: Duration::from_secs(30),
            reply: Duration::from_mins(5),
            stopping: Duration::from_secs(10),
        }
    }
}

/// Connections that may be open beyond the most that are worked for.
const MOST_EXTRA: usize = 64;

/// How often hits are written down.
const HITS_EVERY: Duration = Duration::from_secs(5);

/// How long is waited after a connection could not be taken, such as for want of file handles.
const AFTER_FAILURE: Duration = Duration::from_millis(100);

/// Something to log. It never holds a key, nor the arguments of a call.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum LogEvent<'e> {
    /// A call was answered.
    Served {
        /// The category, as asked.
        category: &'e str,
        /// The tool, as asked.
        tool: &'e str,
        /// The API, as asked.
        api: &'e str,
        /// Where the reply came from.
        source: &'static str,
        /// In what the arguments of a known reply differ from those of the call.
        found_by: Option<&'static str>,
        /// How long it took.
        took: Duration,
        /// What went wrong on the way.
        troubles: &'e [String],
    },
    /// A request was no call, or was not let through.
    Refused {
        /// Why.
        why: &'e str,
        /// The status of the reply.
        status: u16,
    },
    /// Something the operator should know.
    Trouble(&'e str),
}

/// Takes log events.
pub type Log = Arc<dyn Fn(&LogEvent<'_>) + Send + Sync>;

/// Whose numbers are compared with those of known replies by value, where no reply is known to the
/// letter. Clients of the public servers expect it of nobody.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MatchNumbers {
    /// Those of requests that ask for it, by the header `juror-match: numbers`, as juror's own tools
    /// do.
    #[default]
    Asked,
    /// All.
    Always,
    /// None.
    Never,
}

impl MatchNumbers {
    /// How the numbers of a request are compared.
    pub(crate) fn of<B>(self, request: &Request<B>) -> Numbers {
        let asks = || request.headers().get(reply::MATCH).is_some_and(|word| word == "numbers");
        match self {
            MatchNumbers::Always => Numbers::Equal,
            MatchNumbers::Asked if asks() => Numbers::Equal,
            MatchNumbers::Asked | MatchNumbers::Never => Numbers::Exact,
        }
    }
}

/// What a server is made of.
pub struct ServerSetup {
    /// Who answers calls.
    pub tools: Arc<VirtualTools>,
    /// Whose numbers are compared by value where no reply is known to the letter.
    pub match_numbers: MatchNumbers,
    /// The status of a reply that says that none is known.
    pub unknown: StatusCode,
    /// The APIs to list.
    pub catalog: Arc<Catalog>,
    /// Whether queries of runs can be opened over HTTP. Where agents alone ask, who runs them opens
    /// what they need.
    pub opens_runs: bool,
    /// The token that requests have to bring, if any.
    pub token: Option<Secret>,
    /// Names that the server is known by besides those of this machine. Where there are any, or who
    /// asks is on this machine, no others are answered to.
    pub allowed_hosts: Vec<String>,
    /// What may be asked.
    pub limits: Limits,
    /// Takes log events.
    pub log: Log,
}

/// A server of virtual tools.
pub struct Server {
    pub(crate) setup: ServerSetup,
    pub(crate) runs: Runs,
    pub(crate) metrics: Metrics,
    pub(crate) seats: Seats,
    /// Places for requests that are worked on.
    pub(crate) places: Semaphore,
    /// Whether there were ever as many connections as may be.
    was_full: AtomicBool,
    /// What `/health` says: nothing in it ever changes.
    pub(crate) health: Bytes,
    /// What `/tools` says, once somebody has asked.
    pub(crate) all_tools: OnceLock<Bytes>,
}

impl Server {
    /// A server that is not listening yet.
    pub fn new(setup: ServerSetup) -> Arc<Server> {
        let health = json!({"status": "ok", "version": env!("CARGO_PKG_VERSION"),
            "sources": setup.tools.source_names(), "apis": setup.catalog.n_apis()});
        let health = Bytes::from(health.to_string());
        Arc::new(Server {
            places: Semaphore::new(setup.limits.connections),
            setup,
            runs: Runs::default(),
            metrics: Metrics::default(),
            seats: Seats::default(),
            was_full: AtomicBool::new(false),
            health,
            all_tools: OnceLock::new(),
        })
    }

    /// The calls that were recorded.
    pub fn runs(&self) -> &Runs {
        &self.runs
    }

    /// Serves until `stop` is done, then lets calls on their way end.
    pub async fn serve(self: Arc<Server>, listener: TcpListener, stop: impl Future<Output = ()>) {
        let (alive, mut all_gone) = mpsc::channel::<()>(1);
        let hits = tokio::spawn(self.clone().write_hits());
        tokio::pin!(stop);
        loop {
            let accepted = tokio::select! {
                () = &mut stop => break,
                accepted = listener.accept() => accepted,
            };
            match accepted {
                Ok((stream, _)) => {
                    self.make_room();
                    let (server, alive) = (self.clone(), alive.clone());
                    tokio::spawn(async move {
                        server.attend(stream).await;
                        drop(alive);
                    });
                }
                Err(error) => self.wait_after(&error).await,
            }
        }
        drop((listener, alive));
        self.seats.end_all();
        let _ = tokio::time::timeout(self.setup.limits.stopping, all_gone.recv()).await;
        hits.abort();
        self.write_hits_once().await;
    }

    /// Sees to it that one more connection does not make too many. There may be a few more than are
    /// worked for at a time, so that somebody always waits who can give way: however many come, the
    /// server can say how it is.
    fn make_room(&self) {
        let most = self.setup.limits.connections;
        if self.seats.len() < most + MOST_EXTRA {
            return;
        }
        if !self.was_full.swap(true, Ordering::Relaxed) {
            let told = format!(
                "more than {most} connections are open (--max-connections): those that have waited longest give way to others"
            );
            (self.setup.log)(&LogEvent::Trouble(&told));
        }
        self.seats.make_room();
    }

    async fn wait_after(&self, error: &io::Error) {
        (self.setup.log)(&LogEvent::Trouble(&format!("a connection cannot be taken: {error}")));
        // Others have come meanwhile, as a rule.
        (0..MOST_EXTRA / 2).for_each(|_| _ = self.seats.make_room());
        tokio::time::sleep(AFTER_FAILURE).await;
    }

    async fn write_hits(self: Arc<Server>) {
        let mut every = tokio::time::interval(HITS_EVERY);
        loop {
            every.tick().await;
            self.write_hits_once().await;
        }
    }

    async fn write_hits_once(&self) {
        let cached = self.setup.tools.cached().clone();
        let written = tokio::task::spawn_blocking(move || cached.write_hits()).await;
        if let Ok(Err(error)) = written {
            (self.setup.log)(&LogEvent::Trouble(&format!("hits cannot be written down: {error}")));
        }
    }
}
