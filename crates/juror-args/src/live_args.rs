//! Options for asking an agent the questions of a reference, shared by commands that do.

#![expect(clippy::doc_markdown, reason = "these comments are the help that users read")]

use std::sync::Arc;

use anyhow::Context as _;
use clap::Args;
use juror_ask::{AnswerLine, Asked, Questioning, QuestioningOptions, ResponseLog};
use juror_bench::{AgentChoice, Pool, Selected};
use juror_run::{AskOptions, Environment, Interrupt, Listener, Settings};
use tokio::runtime::Runtime;

use crate::agent_args::AgentArgs;
use crate::count;
use crate::exit::{Exit, Outside};
use crate::{output, progress};

/// How an agent is asked the questions of a reference.
#[derive(Args)]
pub struct LiveArgs {
    /// The agent.
    #[command(flatten)]
    pub how: AgentArgs,

    #[command(flatten)]
    tools: LiveToolArgs,
}

/// Which tools an agent may call. References often have none.
#[derive(Args)]
#[command(next_help_heading = "Tools of the agent")]
struct LiveToolArgs {
    /// The tools that the agent may call; its calls are its steps. A folder of tool files, an OpenAPI
    /// document, a list of functions, or an MCP server. May be repeated. Settings say where replies
    /// come from; see docs/virtual-tools.md.
    #[arg(long, value_name = "PLACE", env = "JUROR_TOOLS")]
    tools: Vec<String>,

    /// Known replies of tools: a cache folder of the public servers, or a store. May be repeated.
    #[arg(long, value_name = "FOLDER", env = "JUROR_TOOL_CACHE")]
    tool_cache: Vec<String>,

    /// How much of the tools the agent sees: everything through a search, or the best N for the
    /// question [default: search].
    #[arg(long, value_name = "search|top:N", env = "JUROR_POOL")]
    pool: Option<Pool>,

    /// Address of a running `juror serve`, in place of tools inside this process.
    #[arg(long, value_name = "URL", env = "JUROR_SERVER")]
    server: Option<String>,

    /// Token that the running server asks for: env:NAME for what a variable holds. Agents are told
    /// it, as a header to send with their calls.
    #[arg(long, value_name = "TOKEN", env = "JUROR_SERVER_TOKEN", hide_env_values = true)]
    server_token: Option<String>,
}

impl LiveToolArgs {
    /// Adds the tools to the settings; returns how much of them the agent sees.
    fn add_to(&self, settings: &mut Settings) -> anyhow::Result<Pool> {
        settings.tools.name_folders(&self.tools);
        if !self.tool_cache.is_empty() {
            settings.tools.cache.clone_from(&self.tool_cache);
        }
        let has_tools = !settings.tools.folder.is_empty() || self.server.is_some();
        match self.pool {
            Some(Pool::Own) => anyhow::bail!(
                "--pool own: the questions of a reference come with no tools\n  hint: use search or top:20"
            ),
            Some(pool) if has_tools => Ok(pool),
            None if has_tools => Ok(Pool::Search),
            Some(_) | None => Ok(Pool::Nothing),
        }
    }
}

/// Which agent to ask, and how.
pub struct LiveWork<'w> {
    /// The agent, as `--agent` has it.
    pub agent: &'w str,
    /// The user's name for it.
    pub name: Option<&'w String>,
    /// How it is asked.
    pub args: &'w LiveArgs,
    /// The settings, to which options add tools.
    pub settings: &'w Settings,
    /// How its model is asked, if it is the built-in one.
    pub models: AskOptions,
    /// Questions at a time.
    pub jobs: usize,
    /// Whether only errors are printed.
    pub quiet: bool,
    /// The command line.
    pub line: &'w [String],
}

impl LiveWork<'_> {
    /// Resolves everything, without starting the agent. Also returns the agent's name. Tools of live
    /// servers need the runtime as long as they are used.
    pub fn prepare(
        self,
        questions: Vec<Selected>,
        runtime: &Runtime,
    ) -> anyhow::Result<(Questioning, String)> {
        let environment = Environment::read(output::warn);
        let how = &self.args.how;
        let agent = how.options(self.agent, self.name, &environment, self.line)?;
        anyhow::ensure!(
            !agent.choice.is_recorded(),
            "--agent {}: recorded answers are not asked for\n  hint: give a file of responses: juror eval REFERENCE RESPONSES",
            self.agent
        );
        let name = agent.name.as_ref().unwrap_or(&agent.default_name).clone();
        let mut settings = self.settings.clone();
        let pool = self.args.tools.add_to(&mut settings)?;
        let is_chat = matches!(agent.choice, AgentChoice::Chat(_));
        let options = QuestioningOptions {
            settings,
            agent,
            pool,
            sees_calls: is_chat || pool != Pool::Nothing,
            models: self.models,
            server: self.args.tools.server.clone(),
            server_token: self.args.tools.server_token.clone(),
            jobs: self.jobs,
            trials: how.trials,
        };
        let quiet = self.quiet;
        let listener: Listener = Arc::new(move |event| progress::show(&event, quiet));
        let questioning = Questioning::new(options, questions, environment, listener);
        Ok((runtime.block_on(questioning).map_err(error_of)?, name))
    }
}

/// Starts the agent before earlier answers are replaced, so that an agent that cannot be started costs
/// none of them.
pub fn start_first(
    questioning: Questioning,
    runtime: &Runtime,
    replaces: bool,
) -> anyhow::Result<Questioning> {
    if !replaces {
        return Ok(questioning);
    }
    runtime.block_on(questioning.start()).map_err(error_of)
}

/// Starts the agent, if a question has no response yet.
pub fn start_if_needed(
    questioning: Questioning,
    runtime: &Runtime,
    log: &ResponseLog,
) -> anyhow::Result<Questioning> {
    if questioning.is_answered_by(log) {
        return Ok(questioning);
    }
    runtime.block_on(questioning.start()).map_err(error_of)
}

/// Starts what agents and tools run on.
pub fn start_runtime() -> anyhow::Result<Runtime> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    Ok(runtime.context("cannot start").map_err(Outside)?)
}

/// Asks all open questions, and prints a line about each answer.
pub fn ask_all(
    questioning: Questioning,
    runtime: &Runtime,
    log: &ResponseLog,
    quiet: bool,
) -> anyhow::Result<Asked> {
    let tell = |line: AnswerLine| {
        if !quiet {
            output::print_note(&line.to_string());
        }
    };
    runtime.block_on(async {
        let interrupt = Interrupt::listen(|| std::process::exit(Exit::OutsideFailed as i32));
        questioning.run(log, &interrupt, tell).await.map_err(error_of)
    })
}

/// Says how far asking came, if it did not come to its end; returns whether it did.
pub fn is_done(asked: &Asked) -> bool {
    if let Some(why) = &asked.stopped {
        let n_done = asked.n_known + asked.n_answered;
        let all = count(asked.n_all, "answer");
        output::print_note(&format!(
            "stopped with {n_done} of {all}: {why}\n  hint: run the same command again to continue"
        ));
    }
    asked.stopped.is_none()
}

/// Says how many answers are errors, and what to do about them; returns whether there are any.
pub fn tell_errors(asked: &Asked) -> bool {
    let n_errors = asked.n_failed + asked.n_known_failed;
    if n_errors > 0 {
        let n_all = count(asked.n_all, "answer");
        output::print_note(&format!(
            "{n_errors} of {n_all} ended with an error of the agent: --retry-errors asks again"
        ));
    }
    n_errors > 0
}

/// Returns the error with the exit code of its kind.
pub fn error_of(error: juror_ask::AskError) -> anyhow::Error {
    if error.is_outside() { Outside(error.into()).into() } else { error.into() }
}
