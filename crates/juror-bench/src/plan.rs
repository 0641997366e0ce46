//! Benchmark options as users give them, and the plan they resolve to.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::num::NonZero;
use std::sync::Arc;
use std::time::Duration;

use juror_agents::read_secret;
use juror_document::{Notice, option, phrase};
use juror_mcp::Address;
use juror_models::{Models, Secret};
use juror_run::{
    AskOptions, BenchModels, Environment, Event, Listener, Needed, Settings, SetupError,
    agent_identity, bench_models, warner,
};
use juror_runs::{Resume, RunPlace};
use serde_json::json;

use crate::agent_choice::AgentChoice;
use crate::benchmark::BenchError;
use crate::environment::{agent_environment, agent_headers};
use crate::identity::AgentIdentity;
use crate::judge::{JudgeWord, SolveJudge};
use crate::pool::Pool;
use crate::queries::{QuerySelection, Selected, Selection, select_queries};
use crate::serving::{ignored_by_server, unused_token, without_tools};

/// A benchmark as the user requests it.
pub struct BenchOptions {
    /// The settings, including all options that override them.
    pub settings: Settings,
    /// Which queries to run.
    pub queries: QuerySelection,
    /// The agent.
    pub agent: AgentOptions,
    /// How much of the tool pool the agent sees.
    pub pool: Pool,
    /// The judge; by default the model of `llm.judge` or `llm.generation`, or no judge if there is
    /// none.
    pub judge: Option<JudgeWord>,
    /// How often a model judges each answer; overrides the settings.
    pub repeats: Option<u32>,
    /// How models are asked.
    pub ask: AskOptions,
    /// The address of a running tool server, instead of one in this process.
    pub server: Option<String>,
    /// The token that the running server requires, or `env:NAME`.
    pub server_token: Option<String>,
    /// The address that the server in this process listens at. If that is not loopback, agents on
    /// other machines can call tools, with a token.
    pub host: IpAddr,
    /// The names of the given options that configure the source of replies.
    pub reply_options: Vec<&'static str>,
    /// Where the run is stored.
    pub run: RunPlace,
    /// The command line, for the record of the run; empty if there is none.
    pub command: Vec<String>,
    /// What to do with an existing run.
    pub resume: Resume,
    /// How many queries run at a time.
    pub jobs: usize,
    /// How often the agent is tried on each query.
    pub trials: NonZero<u16>,
}

/// The agent of a benchmark.
pub struct AgentOptions {
    /// Which agent it is.
    pub choice: AgentChoice,
    /// The agent as the user writes it, such as `command:python my_agent.py`.
    pub written: String,
    /// The user's name for the agent.
    pub name: Option<String>,
    /// The name to use if neither the user nor the agent gives one.
    pub default_name: String,
    /// Environment variables meant for the agent.
    pub variables: Vec<String>,
    /// The time limit for starting the agent, and for each query.
    pub timeout: Duration,
}

/// A benchmark that is resolved as far as possible without opening tools, servers or agents.
pub struct BenchPlan {
    pub(super) options: BenchOptions,
    pub(super) environment: Environment,
    pub(super) listener: Listener,
    pub(super) queries: Vec<Selected>,
    pub(super) models: Option<Arc<Models>>,
    pub(super) judge: SolveJudge,
    pub(super) token: Option<Secret>,
    pub(super) identity: AgentIdentity,
}

impl BenchOptions {
    /// Selects the queries, and determines the judge and the identity of the run. Warnings go to
    /// the listener, as do all events of the run.
    pub fn resolve(
        self,
        environment: Environment,
        listener: Listener,
    ) -> Result<BenchPlan, BenchError> {
        let Selection { queries, shard, problems } = select_queries(&self.queries)?;
        for problem in problems {
            listener(Event::Warning(problem.into()));
        }
        let mut plan = self.resolve_for(queries, environment, listener)?;
        plan.identity.shard = shard;
        Ok(plan)
    }

    /// Like [`BenchOptions::resolve`], for queries that were selected otherwise.
    pub fn resolve_for(
        mut self,
        queries: Vec<Selected>,
        environment: Environment,
        listener: Listener,
    ) -> Result<BenchPlan, BenchError> {
        if self.server.is_some() {
            self.settings.tools.leave_to_server();
        }
        let warn = |notice| listener(Event::Warning(notice));
        let opened = self.models(&environment, &listener)?;
        let judging = opened.as_ref().and_then(|own| Some((&own.models, own.judge.as_ref()?)));
        let judge = SolveJudge::new(self.judge, &self.settings, judging, self.repeats)?;
        let judges_itself = opened.as_ref().is_some_and(|own| own.judges_itself);
        self.warnings(&judge, judges_itself, &environment).into_iter().for_each(warn);
        let models = opened.map(|own| own.models);
        let token = self.token(&environment)?;
        let identity = self.identity(models.as_deref(), &environment)?;
        Ok(BenchPlan {
            options: self,
            environment,
            listener,
            queries,
            models,
            judge,
            token,
            identity,
        })
    }

    /// Returns whether this process answers tool calls, if there are any.
    pub(super) fn answers_calls(&self) -> bool {
        self.server.is_none() && self.pool != Pool::Nothing
    }

    /// Opens the models of the built-in agent and the judge, if there are any.
    fn models(
        &mut self,
        environment: &Environment,
        listener: &Listener,
    ) -> Result<Option<BenchModels>, SetupError> {
        let needed = Needed {
            judge: matches!(self.judge, None | Some(JudgeWord::Model)),
            agent: matches!(self.agent.choice, AgentChoice::Chat(_)),
        };
        let options = std::mem::take(&mut self.ask);
        bench_models(&self.settings, environment, options, warner(listener), needed)
    }

    /// Returns warnings about options that have no effect, or that are rarely meant to be combined.
    fn warnings(
        &self,
        judge: &SolveJudge,
        judges_itself: bool,
        environment: &Environment,
    ) -> Vec<Notice> {
        // A token from the environment may be meant for other runs.
        let has_token = self.server_token.is_some()
            && self.server_token != environment.get("JUROR_SERVER_TOKEN");
        let is_local = self.server.is_none();
        let is_recorded = self.agent.choice.is_recorded();
        let needs_tools = self.answers_calls() && !is_recorded;
        let warnings = [
            (is_local && has_token).then(unused_token),
            ignored_by_server(&self.reply_options).filter(|_| !is_local),
            judge.model().filter(|_| judges_itself).map(judged_by_itself),
            (is_recorded && self.trials.get() > 1).then(recorded_trials),
            without_tools(&self.settings).filter(|_| needs_tools),
        ];
        warnings.into_iter().flatten().collect()
    }

    /// Returns the token that the tool server requires.
    fn token(&self, environment: &Environment) -> Result<Option<Secret>, SetupError> {
        if self.server.is_none() {
            return Ok(None);
        }
        let token = self.server_token.as_deref();
        let secret = token.map(|token| read_secret(token, |name| environment.get(name)));
        let wrong = |why| SetupError::new(phrase![option("server-token"), format!(": {why}")]);
        secret.transpose().map_err(wrong)
    }

    /// Collects everything about the agent that affects its answers.
    fn identity(
        &self,
        models: Option<&Models>,
        environment: &Environment,
    ) -> Result<AgentIdentity, SetupError> {
        let AgentOptions { choice, written, name, default_name, variables, .. } = &self.agent;
        // A remote agent receives only the variables that are named.
        let has_environment = choice.has_environment() || !variables.is_empty();
        let mut identity = AgentIdentity {
            name: name.as_ref().unwrap_or(default_name).clone(),
            agent: written.clone(),
            method: choice.method().map(Into::into),
            pool: self.pool,
            trials: if choice.is_recorded() { 1 } else { self.trials.get() },
            environment: if has_environment {
                agent_environment(variables, std::env::vars_os())
            } else {
                BTreeMap::new()
            },
            answers_calls: self.answers_calls(),
            server: self.server.clone(),
            ..AgentIdentity::default()
        };
        match choice {
            AgentChoice::Chat(chat) => {
                identity.limits = chat.limits(models);
                identity.model = agent_identity(&self.settings, environment)?;
            }
            AgentChoice::Command { words, files } => {
                identity.words = words.iter().chain(files).cloned().collect();
            }
            AgentChoice::Mcp { address: Address::Command(words), .. } => {
                identity.words.clone_from(words);
            }
            AgentChoice::Http { headers, .. } | AgentChoice::A2a { headers, .. } => {
                identity.environment.extend(agent_headers(headers));
            }
            AgentChoice::OpenAi { headers, model, .. } => {
                identity.environment.extend(agent_headers(headers));
                identity.model = model.as_ref().map(|model| json!(model));
            }
            AgentChoice::Own { declared, .. } => identity.declared = Some(declared.clone()),
            AgentChoice::Recorded { .. } | AgentChoice::Mcp { .. } => {}
        }
        Ok(identity)
    }
}

impl BenchPlan {
    /// Returns the queries, in the order of sets and files.
    pub fn queries(&self) -> &[Selected] {
        &self.queries
    }

    /// Returns the judge.
    pub fn judge(&self) -> &SolveJudge {
        &self.judge
    }

    /// Returns the default name of the result file.
    pub fn result_file(&self) -> String {
        self.identity.result_file(&self.queries, &self.options.queries)
    }
}

/// Warns about trials of answers that were recorded, which nobody can be asked for.
fn recorded_trials() -> Notice {
    Notice::new(phrase![option("trials"), " has no effect on recorded answers"])
        .hint("every recorded answer to a query is a trial of its own")
}

/// Warns about a model that judges what it said itself.
fn judged_by_itself(model: &str) -> Notice {
    let problem = format!("{model} judges itself: it is both the agent's model and the judge");
    Notice::new(problem).hint("name another model for judging in `llm.judge` of the settings")
}
