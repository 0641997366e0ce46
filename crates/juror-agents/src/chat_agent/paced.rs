//! Limits how fast tools are called.

use std::time::Duration;

use juror_models::Pending;
use juror_toolbench::OwnedOffer;

use super::agent_tools::Tools;
use crate::environment::{Code, Search, ToolCall, ToolReply};

/// How long to wait around calls. Zero unless real services are called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pauses {
    /// Before each call.
    pub before_call: Duration,
    /// After a reply that reports too many calls in a minute.
    pub after_rate_limit: Duration,
}

/// Tools with pauses.
pub struct Paced<T> {
    /// The tools.
    pub tools: T,
    /// How long to wait.
    pub pauses: Pauses,
}

impl<T: Tools> Tools for Paced<T> {
    fn call<'a>(&'a self, call: &'a ToolCall) -> Pending<'a, ToolReply> {
        Box::pin(async move {
            wait(self.pauses.before_call).await;
            let reply = self.tools.call(call).await;
            if reply.code() == Code::RateLimited {
                wait(self.pauses.after_rate_limit).await;
            }
            reply
        })
    }

    fn search<'a>(&'a self, search: &'a Search) -> Pending<'a, Result<Vec<OwnedOffer>, String>> {
        self.tools.search(search)
    }
}

async fn wait(time: Duration) {
    if !time.is_zero() {
        tokio::time::sleep(time).await;
    }
}
