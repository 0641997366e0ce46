//! The built-in agent: a model that calls functions until it has an answer.
//!
//! [`ChatAgent::answer`] runs one query by one of two methods: `CoT@n`, a chain, or
//! `DFS_woFilter_wK`, a tree search. The caller supplies the model ([`Model`]) and the tools
//! ([`Tools`]), so that the agent runs the same in a process and over HTTP.

mod agent_model;
mod agent_tools;
mod chain;
mod method;
mod paced;
mod prompts;
mod queued;
mod session;
mod transcript;
mod tree_search;
mod virtual_server;

use std::sync::Arc;

pub use agent_model::{Ask, AskError, Model, Reply, Stopped};
pub use agent_tools::Tools;
pub use method::{Method, MethodError};
pub use paced::{Paced, Pauses};
pub use prompts::{prompts, wording};
pub use queued::{PURPOSE, QueuedModel};
pub use transcript::{Ending, MadeCall, Transcript};
pub use virtual_server::{VirtualServer, VirtualServerSetup};

use session::Session;

use crate::environment::Environment;
use crate::tree::Prompts;

/// How far an agent may go with one query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgentLimits {
    /// Steps of a try or branch. A thought, a function name and arguments are one step each.
    pub max_steps: usize,
    /// How often the model may be asked.
    pub max_queries: usize,
    /// How many replies in a row may call nothing.
    pub max_idle: usize,
}

impl Default for AgentLimits {
    fn default() -> AgentLimits {
        AgentLimits { max_steps: 50, max_queries: 200, max_idle: 3 }
    }
}

/// An agent: its method, its limits and its prompts.
#[derive(Clone, Debug)]
pub struct ChatAgent {
    /// How it searches.
    pub method: Method,
    /// How far it may go.
    pub limits: AgentLimits,
    /// The prompts for its model.
    pub prompts: Prompts,
}

impl ChatAgent {
    /// Works on one query. The transcript records what goes wrong on the way; there is none only if
    /// asking has stopped altogether.
    pub async fn answer(
        &self,
        query: &str,
        environment: Environment,
        model: &dyn Model,
        tools: &dyn Tools,
    ) -> Result<Transcript, Stopped> {
        let session = Session::new(self, query, Arc::new(environment), model, tools);
        match self.method {
            Method::Chain { tries } => chain::run(session, tries).await,
            Method::TreeSearch { width } => tree_search::run(session, width).await,
        }
    }
}
