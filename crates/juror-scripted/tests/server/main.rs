//! Tests the server over loopback.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod client;
mod faults;
mod functions;
mod program;
mod protocols;
mod streams;
