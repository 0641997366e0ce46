//! The agent: against recorded runs, and against a model server that answers by script.

#![expect(clippy::print_stdout, reason = "tests tell what they ran")]

mod answers;
mod departures;
mod over_http;
mod properties;
mod recorded;
mod scripted;
mod stage;
mod tool_server;
mod traces;
mod written;
