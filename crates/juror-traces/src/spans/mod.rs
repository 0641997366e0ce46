//! Spans: records of what happened when, within what. Spans of all formats become the same facts,
//! are gathered by trace, and put together when all are there.

mod agent;
pub(crate) mod agents_sdk;
mod assemble;
mod attributes;
mod class;
mod facts;
mod gather;
mod histories;
pub(crate) mod langchain_events;
pub(crate) mod langfuse;
pub(crate) mod langsmith;
mod messages;
mod model;
pub(crate) mod otlp_json;
pub(crate) mod otlp_protobuf;
pub(crate) mod phoenix;
mod read;
mod retrieval;
mod span;
#[cfg(test)]
mod tests;
mod tool;

pub(crate) use attributes::Attributes;
pub(crate) use facts::SpanFacts;
pub use gather::Spill;
pub(crate) use gather::{Gatherer, Packed, PackedBefore};
pub(crate) use histories::Histories;
