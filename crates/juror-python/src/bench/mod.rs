//! Trying agents that are Python objects.
//!
//! Python owns the threads that agents run on: each takes an [`Ask`] after the other from a
//! [`BenchRun`] and says what the agent made of it. Here are the queries, the virtual tools, the
//! judge and what is kept.

mod ask;
mod calls;
mod message;
mod options;
mod prepared;
mod refused;
mod run;

pub(crate) use ask::Ask;
pub(crate) use run::BenchRun;
