//! Benchmarks agents that are Python objects, and asks them the questions of references.
//!
//! Python owns the threads that agents run on: each takes one [`Ask`] after another from a
//! [`BenchRun`], and reports the agent's answer. The queries, the virtual tools, the judge and the
//! run log live on this side.

mod ask;
mod asking;
mod calls;
mod message;
mod options;
mod prepared;
mod refused;
mod run;

pub(crate) use ask::Ask;
pub(crate) use run::BenchRun;
