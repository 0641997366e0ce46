//! The tools that an agent calls.

use juror_models::Pending;
use juror_toolbench::OwnedOffer;

use crate::environment::{Search, ToolCall, ToolReply};

/// Answers calls.
pub trait Tools: Send + Sync {
    /// Calls a tool. A failure is a reply too.
    fn call<'a>(&'a self, call: &'a ToolCall) -> Pending<'a, ToolReply>;

    /// Searches for functions; returns the best first.
    fn search<'a>(&'a self, _search: &'a Search) -> Pending<'a, Result<Vec<OwnedOffer>, String>> {
        Box::pin(async { Err("there is nothing to search".to_owned()) })
    }
}
