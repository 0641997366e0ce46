//! `juror serve` as its users meet it: a process, sockets, files.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "tests tell what they ran")]

mod bad_input;
mod conformance;
mod durability;
mod hosts;
mod http;
mod known;
mod numbers;
mod patience;
mod replay;
mod routes;
mod sources;
mod stage;
