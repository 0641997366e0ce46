//! The server: its settings, its accept loop and its shutdown.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use hyper::{Request, StatusCode};
use juror_models::{Pending, Secret};
use juror_tools::{Catalog, NumberMatching, VirtualTools};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, mpsc};

use crate::mcp::McpListing;
use crate::metrics::Metrics;
use crate::open_connections::OpenConnections;
use crate::recorder::Recorder;
use crate::response;

/// The limits of the server.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The longest body of a request, in bytes.
    pub body: usize,
    /// How many connections are served at a time; requests on others wait. A few more may be open.
    /// Beyond that, the connection that has waited longest is closed.
    pub connections: usize,
    /// How long a connection may be idle between requests.
    pub idle: Duration,
    /// How long a new connection may be silent, and how long the head of a request may take.
    pub head: Duration,
    /// How long the body of a request may take after its head.
    pub receiving: Duration,
    /// How long a client may read nothing of a reply.
    pub sending: Duration,
    /// How long a reply may take.
    pub reply: Duration,
    /// How long calls in flight may take when the server stops.
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

/// How many connections may be open beyond those that are served.
const MOST_EXTRA: usize = 64;

/// How often hits are written to the store.
const HITS_EVERY: Duration = Duration::from_secs(5);

/// How long to wait after a connection could not be accepted, for example for lack of file handles.
const AFTER_FAILURE: Duration = Duration::from_millis(100);

/// An event for the log. Events contain neither keys nor the arguments of calls.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum LogEvent<'e> {
    /// A call was answered.
    Served {
        /// The category, as requested.
        category: &'e str,
        /// The tool, as requested.
        tool: &'e str,
        /// The API, as requested.
        api: &'e str,
        /// Where the reply came from.
        source: &'static str,
        /// How the arguments of a known reply differ from those of the call.
        found_by: Option<&'static str>,
        /// How long it took.
        took: Duration,
        /// What went wrong on the way.
        troubles: &'e [String],
    },
    /// A request was refused.
    Refused {
        /// Why.
        why: &'e str,
        /// The status of the response.
        status: u16,
    },
    /// Something that the operator should know.
    Trouble(&'e str),
}

/// Receives events.
pub type Log = Arc<dyn Fn(&LogEvent<'_>) + Send + Sync>;

/// Whether numbers in arguments may match known replies by value, if there is no exact match.
/// Clients of the public servers do not expect that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MatchNumbers {
    /// If a request asks for it with the header `juror-match: numbers`, as Juror's own tools do.
    #[default]
    Asked,
    /// For all requests.
    Always,
    /// Never.
    Never,
}

impl MatchNumbers {
    /// How numbers in a request are compared.
    pub(crate) fn of<B>(self, request: &Request<B>) -> NumberMatching {
        let asks = || request.headers().get(response::MATCH).is_some_and(|word| word == "numbers");
        match self {
            MatchNumbers::Always => NumberMatching::Equal,
            MatchNumbers::Asked if asks() => NumberMatching::Equal,
            MatchNumbers::Asked | MatchNumbers::Never => NumberMatching::Exact,
        }
    }
}

/// The parts of a server.
pub struct ServerSetup {
    /// Answers calls.
    pub tools: Arc<VirtualTools>,
    /// Whether numbers may match by value.
    pub match_numbers: MatchNumbers,
    /// The status of a response to a call without a reply.
    pub unknown: StatusCode,
    /// The APIs to list.
    pub catalog: Arc<Catalog>,
    /// Whether clients can open queries of runs. Not needed if the process that runs the agents
    /// opens them itself.
    pub opens_runs: bool,
    /// The bearer token that requests need, if any.
    pub token: Option<Secret>,
    /// Host names of the server besides those of this machine. Other names are refused if there are
    /// any here, or if the client is on this machine.
    pub allowed_hosts: Vec<String>,
    /// The limits.
    pub limits: Limits,
    /// How clients of MCP get to know tools.
    pub mcp_listing: McpListing,
    /// Receives events.
    pub log: Log,
}

/// An HTTP server of virtual tools.
pub struct Server {
    pub(crate) setup: ServerSetup,
    pub(crate) recorder: Recorder,
    pub(crate) metrics: Metrics,
    pub(crate) connections: OpenConnections,
    /// One permit for each request that may be answered at a time.
    pub(crate) slots: Semaphore,
    /// Whether the limit of connections was ever reached.
    was_full: AtomicBool,
    /// The body of `/health`, which never changes.
    pub(crate) health: Bytes,
    /// The body of `/tools`, once it was requested.
    pub(crate) all_tools: OnceLock<Bytes>,
}

impl Server {
    /// Creates a server that is not listening yet.
    pub fn new(setup: ServerSetup) -> Arc<Server> {
        let health = json!({"status": "ok", "version": env!("CARGO_PKG_VERSION"),
            "sources": setup.tools.source_names(), "apis": setup.catalog.n_apis()});
        let health = Bytes::from(health.to_string());
        Arc::new(Server {
            slots: Semaphore::new(setup.limits.connections),
            setup,
            recorder: Recorder::default(),
            metrics: Metrics::default(),
            connections: OpenConnections::default(),
            was_full: AtomicBool::new(false),
            health,
            all_tools: OnceLock::new(),
        })
    }

    /// The recorded calls.
    pub fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    /// Serves until `stop` completes, then waits for calls in flight.
    pub fn serve<'s>(
        self: Arc<Server>,
        listener: TcpListener,
        stop: impl Future<Output = ()> + Send + 's,
    ) -> Pending<'s, ()> {
        // An async function is compiled where it is awaited: boxed here, the whole server is
        // compiled once, and as this crate is.
        self.boxed(listener, Box::pin(stop))
    }

    fn boxed(self: Arc<Server>, listener: TcpListener, stop: Pending<'_, ()>) -> Pending<'_, ()> {
        Box::pin(self.serve_until(listener, stop))
    }

    async fn serve_until(self: Arc<Server>, listener: TcpListener, mut stop: Pending<'_, ()>) {
        let (alive, mut all_gone) = mpsc::channel::<()>(1);
        let hits = tokio::spawn(self.clone().write_hits());
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
        self.connections.close_all();
        let _ = tokio::time::timeout(self.setup.limits.stopping, all_gone.recv()).await;
        hits.abort();
        self.write_hits_once().await;
    }

    /// Makes room for one more connection. A few more are kept open than are served, so that there
    /// is always one that can be closed: `/health` works however many connect.
    fn make_room(&self) {
        let most = self.setup.limits.connections;
        if self.connections.len() < most + MOST_EXTRA {
            return;
        }
        if !self.was_full.swap(true, Ordering::Relaxed) {
            let told = format!(
                "more than {most} connections are open (--max-connections): the longest-waiting ones are closed"
            );
            (self.setup.log)(&LogEvent::Trouble(&told));
        }
        self.connections.close_longest_waiting();
    }

    async fn wait_after(&self, error: &io::Error) {
        (self.setup.log)(&LogEvent::Trouble(&format!("a connection cannot be taken: {error}")));
        // Usually more connections are waiting to be accepted.
        (0..MOST_EXTRA / 2).for_each(|_| _ = self.connections.close_longest_waiting());
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
