//! Agents: the systems under test that answer queries by calling tools.
//!
//! An [`Environment`](environment::Environment) is what an agent sees: functions that stand for
//! APIs, and what comes of calling them. Who acts in it is either of two kinds.
//!
//! - **Our own**, a [`ChatAgent`](chat_agent::ChatAgent): a model that is asked until it has an
//!   answer, along a chain or through a [`tree`] of tries. It asks and calls through traits, so
//!   that it runs the same against the run's models and a script, in the process and over HTTP.
//! - **Somebody else's**, a [`Subject`]: a command that is told queries line by line
//!   ([`CommandAgent`]), or a server ([`RemoteAgent`]). What they say back is read leniently
//!   ([`read_answered`]) and never trusted: the calls that count are those that Juror's own tools
//!   saw.
//!
//! ```
//! use juror_agents::chat_agent::Method;
//! use juror_agents::written_calls;
//!
//! assert_eq!("DFS_woFilter_w2".parse(), Ok(Method::TreeSearch { width: 2 }));
//!
//! // Some models write calls as text.
//! let said = "<tool_call>{\"name\": \"weather\", \"arguments\": {\"city\": \"Oslo\"}}</tool_call>";
//! let written = written_calls(said, |name| name == "weather");
//! assert_eq!(written.calls[0].0, "weather");
//! ```
//!
//! You will not find judging, folders of tools, settings or files here.

pub mod chat_agent;
mod command;
pub mod environment;
#[cfg(unix)]
mod guard;
mod headers;
mod mend;
mod remote;
pub mod tree;
mod wire;
mod written_calls;

use juror_models::{Pending, Secret};
use serde_json::value::RawValue;

pub use command::{CommandAgent, CommandSetup};
pub use headers::{Bearer, Headers, read_secret};
pub use remote::RemoteAgent;
pub use wire::{Answered, Id, PROTOCOL, Tell, read_answered};
pub use written_calls::{WrittenCalls, written_calls};

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
