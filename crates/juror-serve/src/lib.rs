//! Serves virtual tools over HTTP.
//!
//! | request | reply |
//! |---|---|
//! | `POST /virtual` | the tool's reply, as the published servers give it |
//! | `POST /runs/{run}/{query}/virtual` | the same; the call is recorded for that query |
//! | `GET /runs/{run}/{query}/calls` | the calls that were recorded |
//! | `DELETE /runs/{run}` | forgets them |
//! | `GET /tools?offset=…&limit=…` | all APIs as functions |
//! | `GET /tools/search?q=…&k=…` | the APIs that fit a text best |
//! | `GET /health` | that the server is up, and what it serves |
//! | `GET /metrics` | counts and times, for Prometheus |
//!
//! You will not find rules of tools here, nor where replies come from: see [`juror_tools`].

mod callers;
mod connection;
mod impatient;
mod listing;
mod metrics;
mod query;
mod reply;
mod routes;
mod runs;
mod seats;
mod server;

pub use hyper::StatusCode;
pub use listing::Listing;
pub use runs::{RecordedCall, Runs};
pub use server::{Event, Limits, Log, MatchNumbers, Server, ServerSetup};
