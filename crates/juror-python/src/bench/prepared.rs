//! Everything a run needs, made ready before the first query.

use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use juror_models::Secret;
use juror_run::bench::{
    Agent, Bench, Journal, JournalError, JudgeWord, Pool, Provenance, Results, Selected, Selection,
    Serving, SolveJudge, Tried, check_run, run as run_bench, select_queries,
};
use juror_run::{
    AskOptions, Environment, Event, Interrupt, Manifest, Output, Spelling, TellTrouble, Tools,
    models_if_any, open_tools,
};
use juror_tools::Catalog;
use tokio::runtime::Handle;

use super::ask::{Ask, PythonAgents};
use super::message::Message;
use super::options::Options;
use super::refused::{asked, no_journal, no_output, no_queries, no_setup};
use crate::problem::Refusal;

/// A run that can begin.
pub(super) struct Prepared {
    options: Options,
    config: std::collections::BTreeMap<String, serde_json::Value>,
    provenance: Provenance,
    pool: Pool,
    timeout: Duration,
    queries: Vec<Selected>,
    judge: SolveJudge,
    pub(super) catalog: Arc<Catalog>,
    serving: Serving,
    manifest: Manifest,
    output: Option<Output>,
}

impl Prepared {
    /// Reads and opens everything, in the order of what is cheap to find wrong.
    pub(super) fn new(
        options: Options,
        runtime: &Handle,
        messages: &Sender<Message>,
    ) -> Result<Prepared, Refusal> {
        let tell = teller(messages);
        let (pool, timeout, settings) = (options.pool()?, options.timeout()?, options.settings()?);
        let Selection { queries, told: problems } =
            select_queries(&options.wanted()).map_err(no_queries)?;
        for problem in &problems {
            tell(problem);
        }
        let environment = Environment::read(|problem| tell(problem));
        let (word, repeats) = (options.judge()?, options.repeats);
        let models = match word {
            Some(JudgeWord::Heuristic | JudgeWord::Nobody) => None,
            None | Some(JudgeWord::Model) => {
                let ask = AskOptions::default();
                models_if_any(&settings, &environment, ask, tell.clone()).map_err(no_setup)?
            }
        };
        let models = models.map(|(models, _)| Arc::new(models));
        let judge = SolveJudge::new(word, &settings, models.as_ref(), repeats).map_err(no_setup)?;
        let output =
            options.output.as_deref().map(Output::create_text).transpose().map_err(no_output)?;
        let tools = open_tools(&settings, &environment, &tell).map_err(no_setup)?;
        for problem in &tools.problems {
            tell(&problem.spelled(Spelling::Python));
        }
        let manner = options.manner(pool);
        let config = manner.config(&queries);
        let provenance = Provenance::new(&settings, &tools, &queries, options.server.is_some());
        let run = manner.run(&settings, &queries, &provenance, &options.reach());
        let run = run.with("judge", judge.described());
        if let Some(folder) = &options.run {
            check_run(Path::new(folder), &run, options.resume()).map_err(no_journal)?;
        }
        let token = options.token(&environment)?;
        if let Some(warning) = options.ignored() {
            tell(&warning.spelled(Spelling::Python));
        }
        let serving = serve(&options, token, &tools, runtime, tell)?;
        Ok(Prepared {
            options,
            config,
            provenance,
            pool,
            timeout,
            queries,
            judge,
            catalog: tools.catalog,
            serving,
            manifest: run,
            output,
        })
    }

    /// The token that calls of tools have to bring, if any.
    pub(super) fn token(&self) -> Option<Secret> {
        self.serving.token().cloned()
    }

    pub(super) fn n_queries(&self) -> usize {
        self.queries.len()
    }

    /// Tries the agents on all queries; returns the text of the result file.
    pub(super) async fn run(
        mut self,
        asks: Sender<Ask>,
        messages: Sender<Message>,
        interrupt: Interrupt,
    ) -> Result<Vec<u8>, Refusal> {
        let (started, output) = (Instant::now(), self.output.take());
        let (timeout, n_asked) = (self.timeout, AtomicU64::default());
        let agents = PythonAgents { asks, messages: messages.clone(), timeout, n_asked };
        let agent = Agent::Asked(Box::new(agents));
        let journal = self.open_journal(&messages).map_err(no_journal)?;
        let journal = journal.as_ref();
        let tried = self.try_all(&agent, journal, &messages, &interrupt);
        let judged = tried.await.map_err(no_journal)?.judged;
        // What was stopped has no results; what was tried is kept with the run.
        let output = output.filter(|_| !interrupt.is_set());
        let (name, config) = (self.options.name.clone(), self.config.clone());
        let took = started.elapsed();
        let results = Results {
            name,
            config,
            provenance: &self.provenance,
            run: journal.map(|journal| journal.folder().display().to_string()),
            judge: &self.judge,
            judged: &judged,
            took,
        };
        for warning in results.warnings() {
            // Nobody listens when the run was given up.
            let _ = messages.send(Message::Event(Event::Warning(warning)));
        }
        let text = results.to_json(&results.report());
        let text = text.map_err(|error| Refusal::Failed(error.to_string()))?;
        if let Some(mut file) = output {
            file.write(&text).map_err(no_output)?;
            file.finish().map_err(no_output)?;
        }
        if let Some(journal) = journal.filter(|_| !interrupt.is_set()) {
            journal.complete().map_err(no_journal)?;
        }
        Ok(text)
    }

    /// Begins the folder of the run, or goes on with it. An earlier run in it is replaced only
    /// here, when everything else is ready and all agents are made.
    fn open_journal(&self, messages: &Sender<Message>) -> Result<Option<Journal>, JournalError> {
        let Some(folder) = &self.options.run else { return Ok(None) };
        let resume = self.options.resume();
        let journal = Journal::open(Path::new(folder), self.manifest.clone(), resume)?;
        if journal.n_done() > 0 {
            let n_done = journal.n_done();
            let text = format!("goes on with {folder}: {n_done} queries were tried");
            // Nobody listens when the run was given up.
            let _ = messages.send(Message::Event(Event::Note(text.into())));
        }
        Ok(Some(journal))
    }

    async fn try_all<'a>(
        &'a self,
        agent: &'a Agent,
        journal: Option<&'a Journal>,
        messages: &Sender<Message>,
        interrupt: &'a Interrupt,
    ) -> Result<Tried<'a>, JournalError> {
        let bench = Bench {
            queries: &self.queries,
            agent,
            pool: self.pool,
            catalog: &self.catalog,
            serving: &self.serving,
            journal,
            judge: &self.judge,
            jobs: self.options.jobs,
            retry_errors: self.options.retry_errors,
            interrupt,
        };
        // Nobody listens when the run was given up.
        run_bench(&bench, |event| drop(messages.send(Message::Event(event)))).await
    }
}

fn serve(
    options: &Options,
    token: Option<Secret>,
    tools: &Tools,
    runtime: &Handle,
    tell: TellTrouble,
) -> Result<Serving, Refusal> {
    let run = options.run_name();
    match &options.server {
        Some(address) => runtime.block_on(Serving::elsewhere(address, token, &run)).map_err(asked),
        None => {
            let serving = runtime.block_on(Serving::start(tools, run, tell));
            serving.map_err(|error| Refusal::Failed(format!("cannot serve tools: {error}")))
        }
    }
}

/// Trouble is told on whatever thread it comes up.
fn teller(messages: &Sender<Message>) -> TellTrouble {
    let messages = Mutex::new(messages.clone());
    Arc::new(move |text: &str| {
        let messages = messages.lock().unwrap_or_else(PoisonError::into_inner);
        // Nobody listens when the run is over.
        let _ = messages.send(Message::Event(Event::Warning(text.to_owned().into())));
    })
}
