//! Who answers: the systems under test.

pub mod chat_agent;
mod command;
#[cfg(unix)]
mod guard;
mod headers;
mod mend;
mod remote;
mod wire;

use juror_judge::{Pending, Secret};
use serde_json::value::RawValue;

pub use command::{CommandAgent, CommandSetup};
pub use headers::{Bearer, Headers, read_secret};
pub use remote::RemoteAgent;
pub use wire::{Answered, Id, PROTOCOL, Tell, read_answered};

/// Why an agent has no answer to a query.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct AgentError(pub String);

/// Who answers when asked.
pub trait Subject: Send + Sync {
    /// Asks for an answer. What goes wrong is of this query alone.
    fn answer<'a>(&'a self, task: Task<'a>) -> Pending<'a, Result<Answered, AgentError>>;

    /// What it calls itself, where it says so.
    fn name(&self) -> Option<&str> {
        None
    }

    /// Says that there are no more queries, and waits a little for it to end.
    fn close(&self) -> Pending<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

/// A query as an agent outside the process is asked it.
#[derive(Clone, Copy, Debug)]
pub struct Task<'t> {
    /// The query's id.
    pub query_id: &'t str,
    /// What is asked.
    pub query: &'t str,
    /// Where tools are to be called.
    pub virtual_url: &'t str,
    /// Where all APIs are listed.
    pub tools_url: &'t str,
    /// The functions the agent may use; none when the whole pool is open.
    pub tools: Option<&'t RawValue>,
    /// The token that the server of tools asks for, if it does.
    pub token: Option<&'t Secret>,
}

impl<'t> Task<'t> {
    /// What the agent is told.
    fn tell(&self) -> Tell<'t> {
        let Task { query_id, query, virtual_url, tools, token, .. } = *self;
        Tell::Answer { query_id, query, virtual_url, tools, headers: token.map(Bearer) }
    }
}
