//! The server: connections, limits, and a good end.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use juror_judge::Secret;
use juror_tools::{Numbers, VirtualTools};
use serde_json::json;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};

use crate::impatient::{Impatient, Receiving};
use crate::listing::Listing;
use crate::metrics::{Metrics, OpenConnection};
use crate::reply;
use crate::runs::Runs;

/// What may be asked of the server.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The longest body of a request, in bytes.
    pub body: usize,
    /// Connections at a time; more wait.
    pub connections: usize,
    /// How long a connection may be idle between requests.
    pub idle: Duration,
    /// How long a client may take to send a body, and to take a piece of a reply.
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
            sending: Duration::from_secs(30),
            reply: Duration::from_mins(5),
            stopping: Duration::from_secs(10),
        }
    }
}

/// The longest head of a request, in bytes.
const MOST_HEAD: usize = 64 << 10;

/// How often hits are written down.
const HITS_EVERY: Duration = Duration::from_secs(5);

/// How long is waited after a connection could not be taken, such as for want of file handles.
const AFTER_FAILURE: Duration = Duration::from_millis(100);

/// Something the log may tell. It never holds a key, nor the arguments of a call.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Event<'e> {
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

/// Hears of events.
pub type Log = Arc<dyn Fn(&Event<'_>) + Send + Sync>;

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
    pub listing: Listing,
    /// The token that requests have to bring, if any.
    pub token: Option<Secret>,
    /// What may be asked.
    pub limits: Limits,
    /// Hears of events.
    pub log: Log,
}

/// A server of virtual tools.
pub struct Server {
    pub(crate) setup: ServerSetup,
    pub(crate) runs: Runs,
    pub(crate) metrics: Metrics,
    /// What `/health` says: nothing in it ever changes.
    pub(crate) health: Bytes,
}

impl Server {
    /// A server that is not listening yet.
    pub fn new(setup: ServerSetup) -> Arc<Server> {
        let health = json!({"status": "ok", "version": env!("CARGO_PKG_VERSION"),
            "sources": setup.tools.source_names(), "apis": setup.listing.len()});
        let health = Bytes::from(health.to_string());
        Arc::new(Server { setup, runs: Runs::default(), metrics: Metrics::default(), health })
    }

    /// The calls that were recorded.
    pub fn runs(&self) -> &Runs {
        &self.runs
    }

    /// Serves until `stop` is done, then lets calls on their way end.
    pub async fn serve(self: Arc<Server>, listener: TcpListener, stop: impl Future<Output = ()>) {
        let (stopping, _) = watch::channel(false);
        let slots = Arc::new(Semaphore::new(self.setup.limits.connections));
        let hits = tokio::spawn(self.clone().write_hits());
        tokio::pin!(stop);
        loop {
            let connection = async {
                // The semaphore is never closed.
                let slot = slots.clone().acquire_owned().await.ok();
                (slot, listener.accept().await)
            };
            let (slot, accepted) = tokio::select! {
                () = &mut stop => break,
                connection = connection => connection,
            };
            match accepted {
                Ok((stream, _)) => {
                    let (server, stop) = (self.clone(), stopping.subscribe());
                    tokio::spawn(async move {
                        server.attend(stream, stop).await;
                        drop(slot);
                    });
                }
                Err(error) => self.wait_after(&error).await,
            }
        }
        drop(listener);
        stopping.send_replace(true);
        let all = u32::try_from(self.setup.limits.connections).unwrap_or(u32::MAX);
        let _ = tokio::time::timeout(self.setup.limits.stopping, slots.acquire_many(all)).await;
        hits.abort();
        self.write_hits_once().await;
    }

    async fn wait_after(&self, error: &io::Error) {
        (self.setup.log)(&Event::Trouble(&format!("a connection cannot be taken: {error}")));
        tokio::time::sleep(AFTER_FAILURE).await;
    }

    /// Serves one connection until it ends, or until the request on its way is answered once the
    /// server stops.
    async fn attend(self: &Arc<Server>, stream: TcpStream, mut stop: watch::Receiver<bool>) {
        // Replies are written whole; waiting to fill a packet only delays them.
        let _ = stream.set_nodelay(true);
        let _open = OpenConnection::count(&self.metrics);
        let receiving = Receiving::default();
        let service = service_fn(|request| {
            let (server, receiving) = (self.clone(), receiving.clone());
            async move { Ok::<_, std::convert::Infallible>(server.answer(request, &receiving).await) }
        });
        let stream = Impatient::new(stream, self.setup.limits.sending, receiving.clone());
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(self.setup.limits.idle)
            .max_buf_size(MOST_HEAD)
            .pipeline_flush(true)
            .serve_connection(TokioIo::new(stream), service);
        tokio::pin!(connection);
        let stopped = async {
            let _ = stop.wait_for(|stop| *stop).await;
        };
        // How a connection ends is the client's business.
        tokio::select! {
            _ = &mut connection => {}
            () = stopped => {
                connection.as_mut().graceful_shutdown();
                let _ = connection.await;
            }
        }
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
            (self.setup.log)(&Event::Trouble(&format!("hits cannot be written down: {error}")));
        }
    }
}
