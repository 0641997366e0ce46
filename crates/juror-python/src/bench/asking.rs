//! Asks an agent the questions of a reference: one in Python, or one that a text names.

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::Sender;
use std::time::Duration;

use juror_args::agent_args::live_agent;
use juror_ask::{
    AskError, QuestionSelection, Questioning, QuestioningOptions, ResponseFile, select_questions,
};
use juror_bench::{AgentChoice, AgentOptions, Pool};
use juror_document::{Document, Notice};
use juror_files::load;
use juror_models::Secret;
use juror_read::read_reference;
use juror_run::{AskOptions, Environment, Event, Interrupt, Listener, Settings};
use juror_runs::Resume;
use juror_tools::Catalog;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::runtime::Handle;

use super::ask::{Ask, PythonAgents};
use super::message::Message;
use super::options::{read_settings, seconds};
use super::refused::{asked, no_log, refused};
use crate::problem::Refusal;

/// The arguments of `juror.ask`; the Python side has checked their types.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "they are switches of the call")]
pub(super) struct AskingOptions {
    reference: String,
    /// Whether the reference is a file of the user's, whose places mean something.
    is_file: bool,
    /// The agent, as results name it, or as a text names it.
    agent: String,
    name: Option<String>,
    /// What is known about the code and data of an agent in Python; `None` if a text names the agent.
    identity: Option<Value>,
    /// Further options of an agent that a text names, as the command line has them.
    words: Vec<String>,
    /// Environment variables that are meant for the agent.
    agent_env: Vec<String>,
    agent_timeout: f64,
    question_ids: Vec<String>,
    limit: Option<usize>,
    jobs: usize,
    trials: NonZero<u16>,
    config: Option<String>,
    settings: Option<Box<RawValue>>,
    tools: Vec<String>,
    tool_cache: Vec<String>,
    pool: Option<String>,
    server: Option<String>,
    server_token: Option<String>,
    concurrency: Option<usize>,
    timeout: Option<f64>,
    max_cost: Option<f64>,
    /// The file of responses.
    output: PathBuf,
    fresh: bool,
    retry_errors: bool,
    resume_changed: bool,
}

/// An agent that is ready to be asked.
pub(super) struct Asking {
    questioning: Questioning,
    file: ResponseFile,
    output: PathBuf,
    messages: Sender<Message>,
    listener: Listener,
}

impl Asking {
    /// Reads and opens everything, and starts the agent.
    pub(super) fn new(
        options: AskingOptions,
        runtime: &Handle,
        asks: Sender<Ask>,
        messages: Sender<Message>,
    ) -> Result<Asking, Refusal> {
        let listener = Message::listener(&messages);
        let warn = |problem: &str| listener(Event::Warning(problem.to_owned().into()));
        let environment = Environment::read(warn);
        let reference = load(&options.reference).map_err(Refusal::File)?;
        let questions = options.questions(&reference)?;
        let (output, resume) = (options.output.clone(), options.resume());
        let agents = |timeout| {
            let n_asked = AtomicU64::default();
            PythonAgents { asks, messages: messages.clone(), timeout, n_asked }
        };
        let options = options.questioning(agents, &environment)?;
        let name = options.agent.name.clone().unwrap_or_else(|| options.agent.default_name.clone());
        let opened = Questioning::new(options, questions, environment, listener.clone());
        let questioning = runtime.block_on(opened).map_err(refused_ask)?;
        // An agent that cannot start costs no responses.
        let questioning = runtime.block_on(questioning.start()).map_err(refused_ask)?;
        let identity = (name.as_str(), questioning.identity());
        let file = ResponseFile::open(&output, identity, &[], resume).map_err(refused_ask)?;
        Ok(Asking { questioning, file, output, messages, listener })
    }

    pub(super) fn catalog(&self) -> Arc<Catalog> {
        self.questioning.benchmark().map(|own| own.catalog().clone()).unwrap_or_default()
    }

    /// Returns the token that tool calls must carry, if any.
    pub(super) fn token(&self) -> Option<Secret> {
        self.questioning.benchmark().and_then(|own| own.token().cloned())
    }

    pub(super) fn n_questions(&self) -> usize {
        self.questioning.questions().len()
    }

    /// Asks all questions; returns the responses, one a line.
    pub(super) async fn run(self, interrupt: Interrupt) -> Result<Vec<u8>, Refusal> {
        let Asking { questioning, file, output, messages, listener } = self;
        let questions = questioning.questions().to_vec();
        let tell = |line| {
            // The receiver is gone if the run was abandoned.
            let _ = messages.send(Message::Answered(Box::new(line)));
        };
        let asked = questioning.run(&file.log, &interrupt, tell).await.map_err(refused_ask)?;
        match asked.stopped {
            None => file.complete(&questions).map_err(refused_ask)?,
            Some(why) => {
                let n_done = asked.n_known + asked.n_answered;
                let told = format!("stopped with {n_done} of {} answers: {why}", asked.n_all);
                listener(Event::Warning(told.into()));
                drop(file);
            }
        }
        std::fs::read(&output).map_err(|error| unreadable(&output, error))
    }
}

impl AskingOptions {
    fn questions(&self, reference: &Document) -> Result<Vec<juror_bench::Selected>, Refusal> {
        let dataset = read_reference(reference);
        let dataset = dataset.map_err(|problems| Refusal::dataset(&problems, self.is_file))?;
        let wanted = QuestionSelection { ids: self.question_ids.clone(), limit: self.limit };
        select_questions(&dataset.questions, &wanted).map_err(asked)
    }

    fn resume(&self) -> Resume {
        Resume {
            fresh: self.fresh,
            retry_errors: self.retry_errors,
            even_if_changed: self.resume_changed,
        }
    }

    /// Returns how the agent is asked. One in Python answers through `agents`.
    fn questioning(
        self,
        agents: impl FnOnce(Duration) -> PythonAgents,
        environment: &Environment,
    ) -> Result<QuestioningOptions, Refusal> {
        let mut settings = read_settings(self.settings.as_deref(), self.config.as_deref())?;
        let pool = self.pool(&mut settings)?;
        let agent = self.agent(agents, environment)?;
        Ok(QuestioningOptions {
            settings,
            pool,
            sees_calls: matches!(agent.choice, AgentChoice::Chat(_)) || pool != Pool::Nothing,
            agent,
            models: AskOptions {
                max_cost: self.max_cost,
                concurrency: self.concurrency,
                timeout: self.timeout,
                ..AskOptions::default()
            },
            server: self.server,
            server_token: self.server_token.or_else(|| environment.get("JUROR_SERVER_TOKEN")),
            jobs: self.jobs,
            trials: self.trials,
        })
    }

    /// Adds the tools to the settings; returns how much of them the agent sees.
    fn pool(&self, settings: &mut Settings) -> Result<Pool, Refusal> {
        settings.tools.name_folders(&self.tools);
        if !self.tool_cache.is_empty() {
            settings.tools.cache.clone_from(&self.tool_cache);
        }
        let has_tools = !settings.tools.folder.is_empty() || self.server.is_some();
        let pool: Option<Pool> = self.pool.as_deref().map(str::parse).transpose().map_err(asked)?;
        match pool {
            Some(Pool::Own) => {
                let why = Notice::new("the questions of a reference come with no tools");
                Err(asked(why.hint("use `search` or `top:20`")))
            }
            Some(pool) if has_tools => Ok(pool),
            None if has_tools => Ok(Pool::Search),
            Some(_) | None => Ok(Pool::Nothing),
        }
    }

    fn agent(
        &self,
        agents: impl FnOnce(Duration) -> PythonAgents,
        environment: &Environment,
    ) -> Result<AgentOptions, Refusal> {
        let Some(declared) = &self.identity else {
            let agent = live_agent(&self.agent, self.name.as_ref(), &self.words, environment);
            return agent.map_err(|error| asked(error.to_string()));
        };
        let timeout = seconds(self.agent_timeout)?;
        let (agent, declared) = (Box::new(agents(timeout)), declared.clone());
        Ok(AgentOptions {
            choice: AgentChoice::Own { agent, declared },
            written: self.agent.clone(),
            default_name: self.agent.clone(),
            name: self.name.clone(),
            variables: self.agent_env.clone(),
            timeout,
        })
    }
}

fn refused_ask(error: AskError) -> Refusal {
    match error {
        AskError::Agent(error) => refused(error),
        AskError::Log(error) => no_log(error),
        error if error.is_outside() => Refusal::Failed(error.to_string()),
        error => asked(error.notice()),
    }
}

fn unreadable(path: &Path, error: std::io::Error) -> Refusal {
    let name = path.display().to_string();
    Refusal::File(juror_files::LoadError::Io { name, error })
}
