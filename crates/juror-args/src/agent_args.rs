//! Options for agents that are asked live, and the agent that `--agent` names.

#![expect(clippy::doc_markdown, reason = "these comments are the help that users read")]

use std::num::NonZero;
use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use clap::{Args, Parser as _};
use juror_agents::{Headers, PythonCommand};
use juror_bench::{AgentChoice, AgentOptions, ChatChoice, shown_agent};
use juror_mcp::Address;
use juror_models::Secret;
use juror_run::Environment;
use juror_runs::plain;

use crate::boolish;
use crate::model_args::parse_count;

/// The agents there are, for the help of commands.
pub const AGENTS: &str = "\
Agents:
  chat                  the built-in agent, on the model of llm.agent or llm.generation
  command:COMMAND       a command that reads and writes lines of JSON
  python:MODULE:OBJECT  an object with `answer`, or a function, in a module of the current folder
  http://…              a server that is asked by POST
  openai:URL            an endpoint of chat completions or responses that calls its tools by itself
  a2a:URL               an agent of the Agent2Agent protocol
  mcp:COMMAND#TOOL      a tool of an MCP server that answers questions; also mcp+http://…#TOOL";

/// How an agent is asked, whatever it is asked about.
#[derive(Args)]
#[command(next_help_heading = "Agent")]
pub struct AgentArgs {
    /// How the built-in agent goes about a query; for recorded logs, theirs.
    #[arg(long, value_name = "METHOD", default_value = "CoT@1", env = "JUROR_METHOD")]
    method: String,

    /// Steps of the built-in agent: thoughts, names and arguments are one each.
    #[arg(long, value_name = "N", default_value_t = 50)]
    max_steps: usize,

    /// How often the built-in agent may ask its model for a query.
    #[arg(long, value_name = "N", default_value_t = 200)]
    max_queries: usize,

    /// Characters of a reply that the built-in agent sees.
    #[arg(long, value_name = "N", default_value_t = 1024)]
    max_observation: usize,

    /// How often the agent is tried on each query or question. Every attempt is made and judged by
    /// itself.
    #[arg(long, value_name = "K", default_value = "1", env = "JUROR_TRIALS", value_parser = parse_count::<NonZero<u16>>)]
    pub trials: NonZero<u16>,

    /// Seconds an agent may take to start, and for each query or question.
    #[arg(long, value_name = "SECONDS", default_value = "600", env = "JUROR_AGENT_TIMEOUT", value_parser = parse_count::<NonZero<u32>>)]
    agent_timeout: NonZero<u32>,

    /// Header to send to an agent at an address, as `Name: value`. Words such as env:NAME stand for
    /// what variables hold; no value is ever shown or written down. May be repeated.
    #[arg(long = "agent-header", value_name = "HEADER")]
    agent_headers: Vec<String>,

    /// The model that requests to an agent at openai:URL name [default: none].
    #[arg(long, value_name = "NAME", env = "JUROR_AGENT_MODEL")]
    agent_model: Option<String>,

    /// Variable of the environment that is meant for the agent. May be repeated. A key, such as
    /// OPENAI_API_KEY, reaches a command only if it is named here; of all other variables, those
    /// named here alone tell runs apart [default: all but those of terminals and sessions].
    #[arg(long, value_name = "NAME", env = "JUROR_AGENT_ENV", value_delimiter = ',')]
    agent_env: Vec<String>,

    /// Reuse what the built-in agent's model said in earlier runs, and keep what it says now.
    #[arg(long, env = "JUROR_REPLAY_AGENT", value_parser = boolish())]
    replay_agent: bool,
}

/// The options of an agent alone.
#[derive(clap::Parser)]
#[command(no_binary_name = true)]
struct OnlyAgentArgs {
    #[command(flatten)]
    how: AgentArgs,
}

/// Returns the agent that `--agent` would name, for programs that ask it themselves. `words` are further
/// options as the command line has them, such as `--agent-model`.
pub fn live_agent(
    agent: &str,
    name: Option<&String>,
    words: &[String],
    environment: &Environment,
) -> anyhow::Result<AgentOptions> {
    let OnlyAgentArgs { how } = OnlyAgentArgs::try_parse_from(words)?;
    let line = [&["--agent".to_owned()][..], words].concat();
    let options = how.options(agent, name, environment, &line)?;
    anyhow::ensure!(
        !options.choice.is_recorded(),
        "recorded answers are not asked for\n  hint: pass responses to run_evaluation"
    );
    Ok(options)
}

impl AgentArgs {
    /// Returns the agent that the arguments select. `line` is the command line, and `name` the
    /// user's name for the agent.
    pub fn options(
        &self,
        agent: &str,
        name: Option<&String>,
        environment: &Environment,
        line: &[String],
    ) -> anyhow::Result<AgentOptions> {
        Ok(AgentOptions {
            choice: self.choice(agent.trim(), environment, line)?,
            written: agent.to_owned(),
            name: name.cloned(),
            default_name: default_name(agent, &self.method),
            variables: self.agent_env.clone(),
            timeout: Duration::from_secs(u64::from(self.agent_timeout.get())),
        })
    }

    fn choice(
        &self,
        agent: &str,
        environment: &Environment,
        line: &[String],
    ) -> anyhow::Result<AgentChoice> {
        let mut headers = self.headers(agent, environment)?;
        let model = self.agent_model.clone();
        let is_openai = agent.starts_with("openai:");
        // The model of another agent may be set in the environment.
        anyhow::ensure!(
            is_openai || model.is_none() || !has_option(line, "--agent-model"),
            "--agent-model is for agents at openai:URL alone\n  hint: name the model of the built-in agent in `llm.agent` of the settings"
        );
        if Address::is_meant(agent) {
            let (address, tool) = Address::with_tool(agent)?;
            return Ok(AgentChoice::Mcp { address, tool });
        }
        match (kind_of(agent), rest_of(agent)) {
            ("http" | "https", _) => Ok(AgentChoice::Http { address: agent.to_owned(), headers }),
            ("openai", address) => {
                let key = key_for_address(environment, line).filter(|_| !names_user(address));
                if let Some(key) = key {
                    headers
                        .add_key(&key)
                        .map_err(|why| anyhow::anyhow!("OPENAI_API_KEY: {why}"))?;
                }
                Ok(AgentChoice::OpenAi { address: http_address(agent, address)?, headers, model })
            }
            ("a2a", address) => {
                Ok(AgentChoice::A2a { address: http_address(agent, address)?, headers })
            }
            ("chat", "") => Ok(AgentChoice::Chat(self.chat()?)),
            ("command", command) => {
                Ok(AgentChoice::Command { words: command_words(command)?, files: Vec::new() })
            }
            ("python", object) => {
                let command = PythonCommand::new(object).map_err(|why| {
                    anyhow::anyhow!("{why}\n  hint: --agent python:my_agent:answer")
                })?;
                Ok(AgentChoice::Command { words: command.words, files: command.files })
            }
            ("recorded", place) => {
                let (place, method) = (place.to_owned(), self.method.clone());
                Ok(AgentChoice::Recorded { place, method })
            }
            _ => anyhow::bail!(
                "there is no agent `{}`\n  hint: chat, command:COMMAND, python:MODULE:OBJECT, http://…, openai:URL, a2a:URL, mcp:COMMAND#TOOL or recorded:PLACE",
                shown_agent(agent)
            ),
        }
    }

    fn chat(&self) -> anyhow::Result<ChatChoice> {
        Ok(ChatChoice {
            method: self.method.parse()?,
            method_name: self.method.clone(),
            max_steps: self.max_steps,
            max_queries: self.max_queries,
            max_observation: self.max_observation,
            replays: self.replay_agent,
        })
    }

    /// Returns the headers to send to an agent with each query.
    fn headers(&self, agent: &str, environment: &Environment) -> anyhow::Result<Headers> {
        anyhow::ensure!(
            is_remote(agent) || self.agent_headers.is_empty(),
            "--agent-header is for agents at an address alone\n  hint: give a command what it needs by variables"
        );
        let headers = Headers::read(&self.agent_headers, |name| environment.get(name));
        headers.map_err(|why| anyhow::anyhow!("--agent-header: {why}"))
    }
}

/// Returns the word before the first colon.
fn kind_of(agent: &str) -> &str {
    agent.split_once(':').map_or(agent, |(kind, _)| kind)
}

fn rest_of(agent: &str) -> &str {
    agent.split_once(':').map_or("", |(_, rest)| rest)
}

fn is_remote(agent: &str) -> bool {
    matches!(kind_of(agent), "http" | "https" | "openai" | "a2a")
}

/// Returns the key for an endpoint of OpenAI's protocol. The key goes to an address only if whoever
/// runs the command has written that address there.
fn key_for_address(environment: &Environment, line: &[String]) -> Option<Secret> {
    let key = environment.get("OPENAI_API_KEY").filter(|_| has_option(line, "--agent"))?;
    Some(Secret::new(&key))
}

/// Whether an address says itself who asks, before its host.
fn names_user(address: &str) -> bool {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    rest.split(['/', '?', '#']).next().is_some_and(|authority| authority.contains('@'))
}

/// Whether a command line has an option.
pub fn has_option(line: &[String], option: &str) -> bool {
    line.iter().any(|word| {
        word == option || word.strip_prefix(option).is_some_and(|rest| rest.starts_with('='))
    })
}

fn http_address(agent: &str, address: &str) -> anyhow::Result<String> {
    let kind = kind_of(agent);
    anyhow::ensure!(
        matches!(kind_of(address), "http" | "https"),
        "--agent {}: there is no address after `{kind}:`\n  hint: --agent {kind}:http://127.0.0.1:8000/v1",
        shown_agent(agent)
    );
    Ok(address.to_owned())
}

fn command_words(command: &str) -> anyhow::Result<Vec<String>> {
    let words = shlex::split(command).context("a quote of the command is not closed")?;
    anyhow::ensure!(
        !words.is_empty(),
        "--agent command: names no command\n  hint: --agent 'command:python my_agent.py'"
    );
    Ok(words)
}

/// Returns the most telling word of a command: the first that names a script, else the program.
fn script_of(command: &str) -> String {
    const ENDINGS: [&str; 7] = ["py", "js", "mjs", "ts", "sh", "rb", "jar"];
    let words = shlex::split(command).unwrap_or_default();
    let is_script = |word: &&String| {
        let ending = Path::new(word).extension().and_then(|ending| ending.to_str());
        ending.is_some_and(|ending| ENDINGS.contains(&ending))
    };
    words.iter().find(is_script).or(words.first()).cloned().unwrap_or_else(|| "command".into())
}

/// Returns the name of an agent to which the user gives none.
fn default_name(agent: &str, method: &str) -> String {
    let name = match (kind_of(agent), rest_of(agent)) {
        ("command", command) => script_of(command),
        ("recorded", place) => place.to_owned(),
        ("python", object) => return plain(object.trim()),
        ("chat", "") => return plain(&format!("chat_{method}")),
        // Many agents answer at the same path.
        ("http" | "https" | "openai" | "a2a", _) => {
            let shown = shown_agent(agent);
            let address = shown.split_once("://").map_or(&*shown, |(_, address)| address);
            return plain(address.trim_end_matches('/'));
        }
        _ => shown_agent(agent),
    };
    let stem = Path::new(&name).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    plain(&stem.unwrap_or(name))
}

#[cfg(test)]
mod tests {
    use super::default_name;

    #[test]
    fn an_agent_is_called_by_what_says_most_of_it() {
        for (agent, name) in [
            ("chat", "chat_CoT@1"),
            ("command:python3 my/agent.py --model gpt-4.1", "agent"),
            ("command:uv run 'my agent.py'", "my_agent"),
            ("command:/opt/bin/answerer -v", "answerer"),
            ("command:", "command"),
            ("recorded:answers/G1.json", "G1"),
            ("http://127.0.0.1:9000/answer", "127.0.0.1_9000_answer"),
            ("http://127.0.0.1:9001/answer/", "127.0.0.1_9001_answer"),
            ("https://me:pw@host.example", "host.example"),
            ("http://host/answer?token=x", "host_answer_token____"),
            ("openai:http://me:pw@host:8000/v1", "host_8000_v1"),
            ("a2a:http://host:9999", "host_9999"),
            ("python:my_agent:Agent", "my_agent_Agent"),
        ] {
            assert_eq!(default_name(agent, "CoT@1"), name, "{agent}");
        }
    }
}
