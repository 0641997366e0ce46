//! Resolves the agent that `--agent` names.

use std::path::Path;

use anyhow::Context;
use juror_agents::Headers;
use juror_mcp::Address;
use juror_run::Environment;
use juror_run::bench::{AgentChoice, ChatChoice, shown_agent};
use juror_runs::plain;

use super::BenchArgs;

/// Returns the agent that the arguments select.
pub(super) fn choice(args: &BenchArgs, environment: &Environment) -> anyhow::Result<AgentChoice> {
    let agent = args.agent.trim();
    let headers = headers(args, environment)?;
    if is_http(agent) {
        return Ok(AgentChoice::Http { address: agent.to_owned(), headers });
    }
    if Address::is_meant(agent) {
        let (address, tool) = Address::with_tool(agent)?;
        return Ok(AgentChoice::Mcp { address, tool });
    }
    match agent.split_once(':') {
        None if agent == "chat" => Ok(AgentChoice::Chat(ChatChoice {
            method: args.method.parse()?,
            method_name: args.method.clone(),
            max_steps: args.max_steps,
            max_queries: args.max_queries,
            max_observation: args.max_observation,
            replays: args.replay_agent,
        })),
        Some(("command", command)) => Ok(AgentChoice::Command { words: command_words(command)? }),
        Some(("recorded", place)) => {
            let (place, method) = (place.to_owned(), args.method.clone());
            Ok(AgentChoice::Recorded { place, method })
        }
        _ => anyhow::bail!(
            "there is no agent `{agent}`\n  hint: chat, command:COMMAND, http://…, mcp:COMMAND#TOOL or recorded:PLACE"
        ),
    }
}

/// Returns the headers to send to an agent with each query.
fn headers(args: &BenchArgs, environment: &Environment) -> anyhow::Result<Headers> {
    anyhow::ensure!(
        is_http(args.agent.trim()) || args.agent_headers.is_empty(),
        "--agent-header is for agents at http://… alone\n  hint: give a command what it needs by variables"
    );
    let headers = Headers::read(&args.agent_headers, |name| environment.get(name));
    headers.map_err(|why| anyhow::anyhow!("--agent-header: {why}"))
}

fn is_http(agent: &str) -> bool {
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
pub(super) fn default_name(agent: &str, method: &str) -> String {
    let name = match agent.split_once(':') {
        Some(("command", command)) => script_of(command),
        Some(("recorded", place)) => place.to_owned(),
        None if agent == "chat" => return plain(&format!("chat_{method}")),
        // Many agents answer at the same path.
        Some(("http" | "https", _)) => {
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
        ] {
            assert_eq!(default_name(agent, "CoT@1"), name, "{agent}");
        }
    }
}
