//! Serves virtual tools over HTTP.
//!
//! | request | reply |
//! |---|---|
//! | `POST /virtual` | the tool's reply, as the published servers give it |
//! | `POST /runs/{run}/{query}` | opens a query: the address where its calls are made and recorded |
//! | `POST /runs/{run}/{query}/{seal}/virtual` | that address, with a part that nobody can guess |
//! | `GET /runs/{run}/{query}/calls` | the calls that were recorded, for who opened the run |
//! | `DELETE /runs/{run}/{query}`, `DELETE /runs/{run}` | forgets them, for who opened the run |
//! | `GET /tools?offset=…&limit=…` | all APIs as functions |
//! | `GET /tools/search?q=…&k=…` | the APIs that fit a text best |
//! | `GET /health` | that the server is up, and what it serves |
//! | `GET /metrics` | counts and times, for Prometheus |
//!
//! You will not find rules of tools here, nor where replies come from: see [`juror_tools`].

mod body;
mod callers;
mod connection;
mod impatient;
mod metrics;
mod query;
mod reply;
mod routes;
mod run_routes;
mod runs;
mod seats;
mod server;

pub use hyper::StatusCode;
pub use runs::{NoRun, RecordedCall, Runs, unguessable};
pub use server::{Limits, Log, LogEvent, MatchNumbers, Server, ServerSetup};
