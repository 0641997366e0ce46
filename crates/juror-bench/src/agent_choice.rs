//! Which agent is benchmarked, and how it is prepared.

use std::sync::Arc;
use std::time::Duration;

use juror_agents::chat_agent::{AgentLimits, ChatAgent, Method, prompts};
use juror_agents::{
    A2aAgent, AgentError, CommandAgent, CommandSetup, Headers, McpAgent, OpenAiAgent, RemoteAgent,
    Subject,
};
use juror_document::{Notice, option, phrase};
use juror_mcp::{Address, ClientSetup};
use juror_models::Models;
use juror_run::{Event, Listener, SetupError, no_model, warner};
use serde_json::Value;

use crate::agent::{Agent, Chat};
use crate::benchmark::BenchError;
use crate::recorded::RecordedAnswers;
use crate::serving::Serving;

/// An agent as the user chooses it.
pub enum AgentChoice {
    /// The built-in agent, using the model of `llm.agent` or `llm.generation`.
    Chat(ChatChoice),
    /// A command that exchanges lines of JSON on its standard streams.
    Command {
        /// The program and its arguments.
        words: Vec<String>,
        /// Files that decide what it does, beside those among the words.
        files: Vec<String>,
    },
    /// A server that receives queries by POST.
    Http {
        /// The server's address.
        address: String,
        /// Headers sent with each query.
        headers: Headers,
    },
    /// A server that answers like a model of `OpenAI`, and calls its tools by itself.
    OpenAi {
        /// The server's address.
        address: String,
        /// Headers sent with each query.
        headers: Headers,
        /// The model that requests name.
        model: Option<String>,
    },
    /// A server of the `Agent2Agent` protocol.
    A2a {
        /// The server's address.
        address: String,
        /// Headers sent with each query.
        headers: Headers,
    },
    /// A tool of an MCP server.
    Mcp {
        /// The server.
        address: Address,
        /// The tool.
        tool: String,
    },
    /// Answers recorded earlier.
    Recorded {
        /// A file of answers, a folder of logs, or the folder of a run.
        place: String,
        /// The method of the logs.
        method: String,
    },
    /// An agent in this process.
    Own {
        /// The agent.
        agent: Box<dyn Subject>,
        /// The agent's description of itself; a different value makes a different run.
        declared: Value,
    },
}

/// How the built-in agent approaches a query.
pub struct ChatChoice {
    /// The method.
    pub method: Method,
    /// The method as the user wrote it.
    pub method_name: String,
    /// The maximum number of steps; each thought, name and argument counts as one.
    pub max_steps: usize,
    /// How often the agent may call its model for one query.
    pub max_queries: usize,
    /// How many characters of a reply the agent sees.
    pub max_observation: usize,
    /// Whether replies from earlier runs are reused, so that the model is asked only what is new.
    pub replays: bool,
}

impl ChatChoice {
    /// Returns the agent's model and limits, as the run's identity records them.
    pub(super) fn limits(&self, models: Option<&Models>) -> Vec<(&'static str, String)> {
        let mut limits = vec![
            (
                "model",
                models.map(|models| models.conversation_name().to_owned()).unwrap_or_default(),
            ),
            ("max_steps", self.max_steps.to_string()),
            ("max_queries", self.max_queries.to_string()),
            ("max_observation", self.max_observation.to_string()),
        ];
        // A run of replayed replies must not pass for a live one.
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

/// Everything needed to prepare an agent.
pub(super) struct AgentSetup<'s> {
    /// The models that the built-in agent asks.
    pub(super) models: Option<Arc<Models>>,
    /// The time limit for starting the agent, and for each query.
    pub(super) timeout: Duration,
    /// How many queries run at a time.
    pub(super) jobs: usize,
    /// Environment variables that are withheld from a command.
    pub(super) kept_back: Vec<String>,
    /// The tool server.
    pub(super) serving: &'s Serving,
    /// The number of APIs.
    pub(super) n_apis: usize,
    /// Receives warnings, and what the agent writes beside its answers.
    pub(super) listener: &'s Listener,
}

impl AgentChoice {
    /// Returns the agent's method, if it has one to choose.
    pub(super) fn method(&self) -> Option<&str> {
        match self {
            AgentChoice::Chat(chat) => Some(&chat.method_name),
            AgentChoice::Recorded { method, .. } => Some(method),
            _ => None,
        }
    }

    /// Returns whether the answers were recorded earlier, so that no agent runs.
    pub fn is_recorded(&self) -> bool {
        matches!(self, AgentChoice::Recorded { .. })
    }

    /// Returns whether the agent runs on this machine, where the environment may affect its
    /// answers.
    pub(super) fn has_environment(&self) -> bool {
        matches!(
            self,
            AgentChoice::Command { .. }
                | AgentChoice::Own { .. }
                | AgentChoice::Mcp { address: Address::Command(_), .. }
        )
    }

    /// Prepares the agent, and checks that it can be reached.
    pub(super) async fn make(self, setup: AgentSetup<'_>) -> Result<Agent, BenchError> {
        match self {
            AgentChoice::Own { agent, .. } => Ok(Agent::Asked(agent)),
            AgentChoice::Chat(chat) => {
                Ok(chat.agent(setup.models.ok_or_else(no_model)?, setup.timeout))
            }
            AgentChoice::Http { address, headers } => {
                let agent = RemoteAgent::new(&address, &headers, setup.timeout);
                let agent = agent.map_err(SetupError::new)?;
                agent.check().await.map_err(|why| unreachable(&why))?;
                Ok(Agent::Asked(Box::new(agent)))
            }
            AgentChoice::OpenAi { address, headers, model } => {
                let agent = OpenAiAgent::new(&address, &headers, model, setup.timeout);
                let agent = agent.map_err(SetupError::new)?;
                agent.check().await.map_err(|why| unreachable(&why))?;
                Ok(Agent::Asked(Box::new(agent)))
            }
            AgentChoice::A2a { address, headers } => {
                let agent = A2aAgent::connect(&address, &headers, setup.timeout).await;
                Ok(Agent::Asked(Box::new(agent.map_err(|why| unreachable(&why))?)))
            }
            AgentChoice::Command { words, .. } => Ok(command(words, setup).await?),
            AgentChoice::Recorded { place, method } => {
                Ok(recorded(&place, &method, setup.listener)?)
            }
            AgentChoice::Mcp { address, tool } => mcp(address, &tool, setup).await,
        }
    }
}

fn unreachable(why: &AgentError) -> BenchError {
    BenchError::Unreachable(Notice::new(why.to_string()).hint(phrase![
        "start it first, and see whether the address of ",
        option("agent"),
        " is its own"
    ]))
}

async fn mcp(address: Address, tool: &str, setup: AgentSetup<'_>) -> Result<Agent, BenchError> {
    let (timeout, kept_back, tell) = (setup.timeout, setup.kept_back, warner(setup.listener));
    let client = ClientSetup { timeout, token: None, kept_back, tell };
    let agent = McpAgent::connect(address, tool, client).await;
    let agent = agent.map_err(|why| BenchError::Unreachable(Notice::new(why.to_string())))?;
    Ok(Agent::Asked(Box::new(agent)))
}

async fn command(words: Vec<String>, setup: AgentSetup<'_>) -> Result<Agent, SetupError> {
    let listener = setup.listener.clone();
    let agent = CommandAgent::new(CommandSetup {
        words,
        timeout: setup.timeout,
        tools_url: setup.serving.tools_url(),
        tool_count: setup.n_apis,
        processes: setup.jobs,
        token: setup.serving.token().cloned(),
        kept_back: setup.kept_back,
        tell: warner(setup.listener),
        pass_on: Arc::new(move |line: &str| listener(Event::AgentLine(line.to_owned()))),
    });
    agent.check().await.map_err(|why| cannot_start(&agent, &why))?;
    Ok(Agent::Asked(Box::new(agent)))
}

/// Says why a command cannot start, with its own hint if it has one.
fn cannot_start(agent: &CommandAgent, why: &AgentError) -> Notice {
    let notice = Notice::new(format!("the agent cannot start: {why}"));
    match agent.own_hint() {
        Some("") => return notice,
        Some(hint) => return notice.hint(hint.to_owned()),
        None => {}
    }
    let notice = notice.hint(
        "a command is sent a line of JSON and says {\"type\": \"ready\"}; see docs/agents.md",
    );
    match agent.word_on_keys() {
        Some(word) => notice.below(&format!("hint: {word}")),
        None => notice,
    }
}

fn recorded(place: &str, method: &str, listener: &Listener) -> Result<Agent, SetupError> {
    let (answers, problems) = RecordedAnswers::load(place, Some(method))
        .map_err(|error| SetupError::new(error.to_string()))?;
    for problem in &problems {
        warner(listener)(problem);
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
