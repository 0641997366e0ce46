//! Benchmarks of tool-using agents: queries, an agent, virtual tools, and what comes of them.

mod queries;

pub use queries::{QueriesError, Selected, Wanted, select_queries};
