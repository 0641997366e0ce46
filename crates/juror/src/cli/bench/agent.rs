//! Who is tried, from what users say of it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use juror_agents::chat_agent::{AgentLimits, ChatAgent, Method, prompts};
use juror_agents::{CommandAgent, CommandSetup, Headers, RemoteAgent};
use juror_models::Models;
use juror_run::bench::{
    Agent, Chat, Reach, RecordedAnswers, Serving, agent_environment, agent_headers, kept_back,
};
use juror_run::{Environment, Settings, TellTrouble, chat_identity, no_model};

use super::BenchArgs;
use crate::exit::Outside;
use crate::talk;

/// What only the agent's side knows of what decides its answers.
pub(super) fn reach(
    args: &BenchArgs,
    settings: &Settings,
    environment: &Environment,
) -> anyhow::Result<Reach> {
    let words = match args.agent.trim().split_once(':') {
        Some(("command", command)) => command_words(command)?,
        _ => Vec::new(),
    };
    let model = if args.is_chat() { chat_identity(settings, environment)? } else { None };
    // What runs elsewhere, or asks a model that is known, has nothing from here but what is named.
    let headers = headers(args, environment)?;
    let mut environment = match (&words[..], &args.agent_env[..]) {
        ([], []) => BTreeMap::new(),
        (_, named) => agent_environment(named, std::env::vars_os()),
    };
    environment.extend(agent_headers(&headers));
    Ok(Reach { words, model, environment, declared: None, server: args.server.clone() })
}

/// What is sent to an agent with each query.
fn headers(args: &BenchArgs, environment: &Environment) -> anyhow::Result<Headers> {
    anyhow::ensure!(
        is_http(args) || args.agent_headers.is_empty(),
        "--agent-header is for agents at http://… alone\n  hint: give a command what it needs by variables"
    );
    let headers = Headers::read(&args.agent_headers, |name| environment.get(name));
    headers.map_err(|why| anyhow::anyhow!("--agent-header: {why}"))
}

fn is_http(args: &BenchArgs) -> bool {
    let agent = args.agent.trim();
    agent.starts_with("http://") || agent.starts_with("https://")
}

fn command_words(command: &str) -> anyhow::Result<Vec<String>> {
    let words = shlex::split(command).context("a quote of the command is not closed")?;
    anyhow::ensure!(
        !words.is_empty(),
        "which command?\n  hint: --agent 'command:python my_agent.py'"
    );
    Ok(words)
}

/// What an agent has around it.
pub(super) struct Around<'a> {
    /// What the built-in agent asks.
    pub(super) models: Option<Arc<Models>>,
    /// Where tools are called.
    pub(super) serving: &'a Serving,
    /// How many APIs there are.
    pub(super) tool_count: usize,
    /// What settings say, of keys among others.
    pub(super) settings: &'a Settings,
    /// Hears what the user should know.
    pub(super) tell: TellTrouble,
}

pub(super) async fn make(
    args: &BenchArgs,
    around: Around<'_>,
    environment: &Environment,
) -> anyhow::Result<Agent> {
    let Around { models, serving, tool_count, settings, tell } = around;
    let timeout = Duration::from_secs(u64::from(args.agent_timeout.get()));
    let agent = args.agent.trim();
    if args.is_chat() {
        let method: Method = args.method.parse()?;
        let models = models.ok_or_else(no_model)?;
        let limits = AgentLimits {
            max_steps: args.max_steps,
            max_queries: args.max_queries,
            ..AgentLimits::default()
        };
        return Ok(Agent::Chat(Box::new(Chat {
            agent: ChatAgent { method, limits, prompts: prompts() },
            models,
            longest_observation: args.max_observation,
            timeout,
            replays: args.replay_agent,
        })));
    }
    if is_http(args) {
        let headers = headers(args, environment)?;
        let agent = RemoteAgent::new(agent, &headers, timeout).map_err(anyhow::Error::msg)?;
        agent.check().await.map_err(|why| {
            Outside(anyhow::anyhow!(
                "{why}\n  hint: start it first, and see whether the address of --agent is its own"
            ))
        })?;
        return Ok(Agent::Asked(Box::new(agent)));
    }
    match agent.split_once(':') {
        Some(("command", command)) => {
            let words = command_words(command)?;
            let processes = usize::from(args.jobs.get());
            let tools_url = serving.tools_url();
            let token = serving.token().cloned();
            let kept_back = kept_back(&args.agent_env, settings, std::env::vars_os());
            let agent = CommandAgent::new(CommandSetup {
                words,
                timeout,
                tools_url,
                tool_count,
                processes,
                token,
                kept_back,
                tell,
            });
            agent.check().await.map_err(|why| {
                let keys = agent.word_on_keys().map(|word| format!("\n  hint: {word}"));
                anyhow::anyhow!(
                    "the agent cannot be tried: {why}\n  hint: a command is sent a line of JSON and says {{\"type\": \"ready\"}}; see docs/benchmark.md{}",
                    keys.unwrap_or_default()
                )
            })?;
            Ok(Agent::Asked(Box::new(agent)))
        }
        Some(("recorded", place)) => {
            let (answers, problems) = RecordedAnswers::load(place, Some(&args.method))?;
            for problem in problems {
                talk::warn(&problem);
            }
            anyhow::ensure!(
                !answers.is_empty(),
                "{place}: no answers are found here\n  hint: a file of converted answers, or a folder of logs with --method"
            );
            Ok(Agent::Recorded(answers))
        }
        _ => anyhow::bail!(
            "there is no agent `{agent}`\n  hint: chat, command:COMMAND, http://… or recorded:PLACE"
        ),
    }
}
