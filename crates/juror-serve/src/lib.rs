//! Serves virtual tools over HTTP, compatible with the published servers of tools.
//!
//! | request | response |
//! |---|---|
//! | `POST /virtual` | a tool's reply |
//! | `POST /runs/{run}/{query}` | opens a query, and returns the address at which its calls are made and recorded |
//! | `POST /runs/{run}/{query}/{seal}/virtual` | that address: a tool's reply, recorded for the query |
//! | `GET /runs/{run}/{query}/calls` | the recorded calls, for the owner of the run's key |
//! | `DELETE /runs/{run}/{query}`, `DELETE /runs/{run}` | deletes them, for the owner of the run's key |
//! | `POST /mcp`, `POST /runs/{run}/{query}/{seal}/mcp` | the same tools over MCP |
//! | `GET /tools?offset=…&limit=…` | all APIs as functions |
//! | `GET /tools/search?q=…&k=…` | the APIs that match a text best |
//! | `GET /health` | that the server is up, and what it serves |
//! | `GET /metrics` | counters and histograms, for Prometheus |
//!
//! A [`Server`] is made from a [`ServerSetup`]: the virtual tools that answer calls, the catalog of
//! APIs to list, [`Limits`], and a log that receives [`LogEvent`]s. [`Server::serve`] accepts connections
//! until it is told to stop. Every wait for a client has a time limit, and when too many connections
//! are open, the one that has waited longest is closed.
//!
//! A [`Recorder`] holds the calls that agents make, so that a benchmark knows them without trusting the
//! agent. Whoever opens a query hands out its address; the seal in it is random, so that an agent can
//! record calls for its own query only.
//!
//! ```
//! use std::sync::Arc;
//!
//! use juror_serve::{Limits, MatchNumbers, McpListing, Server, ServerSetup, StatusCode};
//! use juror_tools::{Cached, CachedSetup, MemoryBudget, Source, VirtualTools};
//! use tokio::io::{AsyncReadExt, AsyncWriteExt};
//! use tokio::net::{TcpListener, TcpStream};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> std::io::Result<()> {
//! let cached = Arc::new(Cached::new(CachedSetup::default(), |_| {}));
//! let server = Server::new(ServerSetup {
//!     tools: VirtualTools::new(cached, vec![Source::Cache], false, MemoryBudget::default()),
//!     match_numbers: MatchNumbers::default(),
//!     unknown: StatusCode::OK,
//!     catalog: Arc::default(),
//!     opens_runs: false,
//!     token: None,
//!     allowed_hosts: Vec::new(),
//!     limits: Limits::default(),
//!     mcp_listing: McpListing::default(),
//!     log: Arc::new(|_| {}),
//! });
//! let listener = TcpListener::bind("127.0.0.1:0").await?;
//! let mut client = TcpStream::connect(listener.local_addr()?).await?;
//! tokio::spawn(server.serve(listener, std::future::pending()));
//!
//! client.write_all(b"GET /health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").await?;
//! let mut response = String::new();
//! client.read_to_string(&mut response).await?;
//! assert!(response.starts_with("HTTP/1.1 200 OK\r\n"));
//! assert!(response.contains(r#""sources":["cache"]"#));
//! # Ok(())
//! # }
//! ```
//!
//! [`access`] and [`url_parts`] serve other servers of Juror as well, such as its viewer.
//!
//! You will not find the rules of tools here, nor where replies come from: that is [`juror_tools`].

pub mod access;
mod body;
mod connection;
mod health;
mod log_line;
mod mcp;
mod metrics;
mod open_connections;
mod recorder;
mod response;
mod routes;
mod run_routes;
mod server;
mod stall_timeout;
pub mod url_parts;

pub use health::{Unwell, ask_health, host_and_port};
pub use hyper::StatusCode;
pub use mcp::{MOST_LISTED, McpListing};
pub use recorder::{RecordedCall, Recorder, RunError, random_secret};
pub use server::{Limits, Log, LogEvent, MatchNumbers, Server, ServerSetup};
