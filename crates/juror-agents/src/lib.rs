//! Agents: the systems under test that answer queries by calling tools.
//!
//! An [`Environment`](environment::Environment) is what an agent sees: functions that stand for
//! APIs, and the results of calling them. There are two kinds of agents.
//!
//! - **Built-in**, a [`ChatAgent`](chat_agent::ChatAgent): a model that is asked until it has an
//!   answer, along a chain or through a [`tree`] of tries. It asks and calls through traits, so
//!   that it runs the same against the run's models and a script, in the process and over HTTP.
//! - **External**, a [`Subject`]: a command that reads queries line by line ([`CommandAgent`]), such
//!   as the driver of an object in Python ([`PythonCommand`]), or a server: one that speaks the
//!   same objects ([`RemoteAgent`]), one that answers like a model ([`OpenAiAgent`]), one of
//!   the `Agent2Agent` protocol ([`A2aAgent`]), or a tool of an MCP server ([`McpAgent`]). Their
//!   output is read leniently ([`read_answered`]) and never trusted: only the calls that Juror's
//!   own tools saw count.
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

mod a2a;
pub mod chat_agent;
mod command;
pub mod environment;
mod headers;
mod mcp;
mod mend;
mod openai_agent;
mod openai_reply;
mod python_command;
mod remote;
pub mod tree;
mod wire;
mod written_calls;

use juror_models::{ModelError, Pending, Secret};
use serde_json::value::RawValue;

pub use a2a::A2aAgent;
pub use command::{CommandAgent, CommandSetup};
pub use headers::{Bearer, Headers, read_secret};
pub use mcp::McpAgent;
pub use openai_agent::OpenAiAgent;
pub use python_command::PythonCommand;
pub use remote::RemoteAgent;
pub use wire::{Answered, Id, PROTOCOL, Tell, read_answered};
pub use written_calls::{WrittenCalls, written_calls};

/// Why an agent has no answer to a query.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct AgentError(pub String);

/// Says why a server that is asked like a model has no answer.
fn in_words(error: &ModelError) -> AgentError {
    let why = match error {
        ModelError::Unauthorized(why) => format!("the agent refuses the key: {why}"),
        ModelError::Forbidden(why) => format!("the agent refuses access: {why}"),
        ModelError::NotThere(why) => format!("the agent is not at this address: {why}"),
        ModelError::RateLimited { message, .. } => format!("the agent is busy: {message}"),
        // A server that sends a status was reached.
        ModelError::Unavailable(why) if why.starts_with("status ") => {
            format!("the agent answers with {why}")
        }
        ModelError::Unavailable(why) => format!("the agent cannot be reached: {why}"),
        ModelError::Loading(why) => format!("the agent is being loaded: {why}"),
        ModelError::TimedOut(time) => {
            format!("the agent did not respond for {} s", time.as_secs_f64())
        }
        ModelError::BadRequest { message, .. } => {
            format!("the agent refuses the question: {message}")
        }
        other => format!("the agent's reply cannot be read: {other}"),
    };
    AgentError(on_one_line(&why))
}

/// Returns a text without line breaks and repeated blanks, of which pages of errors are full.
fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// How many characters of an unreadable reply are shown.
const LONGEST_BEGINNING: usize = 120;

/// Says that a reply is not JSON, and how it begins. The reply must hold no secrets.
fn not_json(reply: &str, error: &serde_json::Error) -> String {
    if reply.trim().is_empty() {
        return "the agent's reply is empty".to_owned();
    }
    format!("the agent's reply is not JSON: {error}; it begins with `{}`", beginning(reply))
}

/// Returns the first words of a reply.
fn beginning(reply: &str) -> String {
    let line = on_one_line(reply);
    match line.char_indices().nth(LONGEST_BEGINNING) {
        None => line,
        Some((end, _)) => format!("{}…", &line[..end]),
    }
}

/// An external agent that answers queries.
pub trait Subject: Send + Sync {
    /// Asks for an answer. A failure concerns this query only.
    fn answer<'a>(&'a self, task: Task<'a>) -> Pending<'a, Result<Answered, AgentError>>;

    /// The name the agent gives itself, if any.
    fn name(&self) -> Option<&str> {
        None
    }

    /// Says that there are no more queries, and waits briefly for the agent to exit.
    fn close(&self) -> Pending<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

/// Opens another address for the calls of a query. The calls so far are forgotten, and the former
/// address records no more.
pub type Renew<'t> = dyn Fn() -> Pending<'t, Result<String, String>> + Send + Sync + 't;

/// A query for an external agent.
#[derive(Clone, Copy)]
pub struct Task<'t> {
    /// The query id.
    pub query_id: &'t str,
    /// The query.
    pub query: &'t str,
    /// Which of several attempts at the query this is, counting from 1; `None` if there is only
    /// one.
    pub trial: Option<usize>,
    /// Where to call tools.
    pub virtual_url: &'t str,
    /// Where all APIs are listed.
    pub tools_url: &'t str,
    /// The functions the agent may use; `None` if the whole pool is open.
    pub tools: Option<&'t RawValue>,
    /// The tool server's access token, if it requires one.
    pub token: Option<&'t Secret>,
    /// What an agent that begins anew, because it was lost with its machine, calls first.
    pub renew: &'t Renew<'t>,
}

impl<'t> Task<'t> {
    /// Returns the message to the agent.
    fn tell(&self) -> Tell<'t> {
        let Task { query_id, query, trial, virtual_url, tools, token, .. } = *self;
        Tell::Answer { query_id, query, trial, virtual_url, tools, headers: token.map(Bearer) }
    }
}
