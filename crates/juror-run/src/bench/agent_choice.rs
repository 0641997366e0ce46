//! Which agent is benchmarked, and how it is made ready.

use std::sync::Arc;
use std::time::Duration;

use juror_agents::chat_agent::{AgentLimits, ChatAgent, Method, prompts};
use juror_agents::{CommandAgent, CommandSetup, Headers, RemoteAgent, Subject};
use juror_document::{Notice, option, phrase};
use juror_models::{Models, Tell};
use serde_json::Value;

use super::agent::{Agent, Chat};
use super::benchmark::BenchError;
use super::recorded::RecordedAnswers;
use super::serving::Serving;
use crate::models::no_model;
use crate::setup_error::SetupError;

/// An agent as users choose it.
pub enum AgentChoice {
    /// The built-in agent, on the model of `llm.generation`.
    Chat(ChatChoice),
    /// A command that is spoken to by lines of JSON.
    Command {
        /// Its words.
        words: Vec<String>,
    },
    /// A server that is asked by POST.
    Http {
        /// Its address.
        address: String,
        /// Headers to send with each query.
        headers: Headers,
    },
    /// Answers that were given before.
    Recorded {
        /// A file of answers, a folder of logs or a run's folder.
        place: String,
        /// The method of the logs.
        method: String,
    },
    /// An agent in this process.
    Own {
        /// The agent.
        agent: Box<dyn Subject>,
        /// What it says of itself; another value makes another run.
        declared: Value,
    },
}

/// How the built-in agent goes about a query.
pub struct ChatChoice {
    /// The method.
    pub method: Method,
    /// The method as the user wrote it.
    pub method_name: String,
    /// Steps: thoughts, names and arguments are one each.
    pub max_steps: usize,
    /// How often it may ask its model for a query.
    pub max_queries: usize,
    /// Characters of a reply that it sees.
    pub max_observation: usize,
    /// Whether its model repeats what it said in earlier runs, and is asked only what is new.
    pub replays: bool,
}

impl ChatChoice {
    /// What the agent asks, and how far it goes.
    pub(super) fn limits(&self, models: Option<&Models>) -> Vec<(&'static str, String)> {
        let mut limits = vec![
            ("model", models.map(|models| models.chat_name().to_owned()).unwrap_or_default()),
            ("max_steps", self.max_steps.to_string()),
            ("max_queries", self.max_queries.to_string()),
            ("max_observation", self.max_observation.to_string()),
        ];
        // What was said earlier may not pass for what is said now.
        limits.extend(self.replays.then(|| ("replays", "true".to_owned())));
        limits
    }

    fn agent(self, models: Arc<Models>, timeout: Duration) -> Agent {
        let limits = AgentLimits {
            max_steps: self.max_steps,
            max_queries: self.max_queries,
            ..AgentLimits::default()
        };
        Agent::Chat(Box::new(Chat {
            agent: ChatAgent { method: self.method, limits, prompts: prompts() },
            models,
            longest_observation: self.max_observation,
            timeout,
            replays: self.replays,
        }))
    }
}

/// What an agent needs to be made ready.
pub(super) struct AgentSetup<'s> {
    /// The models that the built-in agent asks.
    pub(super) models: Option<Arc<Models>>,
    /// How long an agent may take to start, and for each query.
    pub(super) timeout: Duration,
    /// Queries at a time.
    pub(super) jobs: usize,
    /// Variables of the environment that do not reach a command.
    pub(super) kept_back: Vec<String>,
    /// The server of tools.
    pub(super) serving: &'s Serving,
    /// How many APIs there are.
    pub(super) n_apis: usize,
    /// Takes warnings.
    pub(super) warn: Tell,
}

impl AgentChoice {
    /// How the agent goes about a query, if that can be chosen.
    pub(super) fn method(&self) -> Option<&str> {
        match self {
            AgentChoice::Chat(chat) => Some(&chat.method_name),
            AgentChoice::Recorded { method, .. } => Some(method),
            _ => None,
        }
    }

    /// Whether there is nobody to try, since the answers are there.
    pub(super) fn is_recorded(&self) -> bool {
        matches!(self, AgentChoice::Recorded { .. })
    }

    /// Whether the agent runs on this machine, where the environment may decide its answers.
    pub(super) fn has_environment(&self) -> bool {
        matches!(self, AgentChoice::Command { .. } | AgentChoice::Own { .. })
    }

    /// Makes the agent ready, and checks that it can be asked.
    pub(super) async fn make(self, setup: AgentSetup<'_>) -> Result<Agent, BenchError> {
        match self {
            AgentChoice::Own { agent, .. } => Ok(Agent::Asked(agent)),
            AgentChoice::Chat(chat) => {
                Ok(chat.agent(setup.models.ok_or_else(no_model)?, setup.timeout))
            }
            AgentChoice::Http { address, headers } => {
                remote(&address, &headers, setup.timeout).await
            }
            AgentChoice::Command { words } => Ok(command(words, setup).await?),
            AgentChoice::Recorded { place, method } => Ok(recorded(&place, &method, &setup.warn)?),
        }
    }
}

async fn remote(address: &str, headers: &Headers, timeout: Duration) -> Result<Agent, BenchError> {
    let agent = RemoteAgent::new(address, headers, timeout).map_err(SetupError::new)?;
    agent.check().await.map_err(|why| {
        BenchError::Unreachable(Notice::new(why.to_string()).hint(phrase![
            "start it first, and see whether the address of ",
            option("agent"),
            " is its own"
        ]))
    })?;
    Ok(Agent::Asked(Box::new(agent)))
}

async fn command(words: Vec<String>, setup: AgentSetup<'_>) -> Result<Agent, SetupError> {
    let agent = CommandAgent::new(CommandSetup {
        words,
        timeout: setup.timeout,
        tools_url: setup.serving.tools_url(),
        tool_count: setup.n_apis,
        processes: setup.jobs,
        token: setup.serving.token().cloned(),
        kept_back: setup.kept_back,
        tell: setup.warn,
    });
    agent.check().await.map_err(|why| {
        let notice = Notice::new(format!("the agent cannot be tried: {why}")).hint(
            "a command is sent a line of JSON and says {\"type\": \"ready\"}; see docs/benchmark.md",
        );
        match agent.word_on_keys() {
            Some(word) => notice.below(&format!("hint: {word}")),
            None => notice,
        }
    })?;
    Ok(Agent::Asked(Box::new(agent)))
}

fn recorded(place: &str, method: &str, warn: &Tell) -> Result<Agent, SetupError> {
    let (answers, problems) = RecordedAnswers::load(place, Some(method))
        .map_err(|error| SetupError::new(error.to_string()))?;
    for problem in &problems {
        warn(problem);
    }
    if answers.is_empty() {
        return Err(SetupError::new(format!("{place}: no answers are found here")).hint(phrase![
            "a file of converted answers, or a folder of logs with ",
            option("method")
        ]));
    }
    Ok(Agent::Recorded(answers))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replayed_agent_is_another_run() {
        let limits = |replays| {
            let chat = ChatChoice {
                method: Method::Chain { tries: 1 },
                method_name: "CoT@1".into(),
                max_steps: 50,
                max_queries: 200,
                max_observation: 1024,
                replays,
            };
            chat.limits(None)
        };
        assert_eq!(limits(false), limits(false));
        assert_ne!(limits(false), limits(true));
    }
}
