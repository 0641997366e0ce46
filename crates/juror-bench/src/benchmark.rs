//! A benchmark from plan to outcome: tools, run folder, server, agent, and results.

use std::io;
use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use juror_document::Notice;
use juror_models::Secret;
use juror_run::{Event, Interrupt, Listener, SetupError, warner};
use juror_runs::{Home, Manifest, Resume, RunLog, RunLogError, Unjudged, plain};
use juror_toolbench::result::Report;
use juror_tools::Catalog;
use serde_json::Value;

use crate::agent::Agent;
use crate::agent_choice::AgentSetup;
use crate::attempt::Attempt;
use crate::environment::kept_back;
use crate::equipped::EquippedAgent;
use crate::identity::{AgentIdentity, Provenance};
use crate::judge::SolveJudge;
use crate::plan::BenchPlan;
use crate::queries::{QueriesError, Selected, tried};
use crate::report::{BenchTotals, Results};
use crate::run::{Schedule, Tried};
use crate::serving::Serving;
use crate::tools::{Tools, open_tools};

/// A benchmark that is ready to run.
pub struct Benchmark {
    pub(super) queries: Vec<Selected>,
    pub(super) equipped: EquippedAgent,
    pub(super) judge: SolveJudge,
    pub(super) jobs: usize,
    pub(super) resume: Resume,
    pub(super) listener: Listener,
    /// The agent's name in results.
    name: String,
    identity: AgentIdentity,
    provenance: Provenance,
    manifest: Manifest,
    home: Home,
    began: Instant,
}

/// Why a benchmark cannot start, or did not finish.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BenchError {
    /// The options cannot be satisfied.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// The queries cannot be selected.
    #[error(transparent)]
    Queries(#[from] QueriesError),
    /// The run cannot start or resume in its folder.
    #[error(transparent)]
    Folder(RunLogError),
    /// An attempt cannot be logged.
    #[error(transparent)]
    Keep(RunLogError),
    /// A tool server or an agent does not respond as it should.
    #[error("{0}")]
    Unreachable(Notice),
    /// The tool server in this process cannot start.
    #[error("cannot serve tools at {host}: {error}")]
    Serve {
        /// The address to listen at.
        host: IpAddr,
        /// Why that fails.
        error: io::Error,
    },
}

impl BenchError {
    /// Returns whether something external failed, as opposed to the request being wrong.
    pub fn is_outside(&self) -> bool {
        match self {
            BenchError::Keep(_) | BenchError::Unreachable(_) | BenchError::Serve { .. } => true,
            BenchError::Setup(error) => error.is_outside(),
            BenchError::Folder(error) => error.is_outside(),
            BenchError::Queries(_) => false,
        }
    }
}

impl Benchmark {
    /// Opens everything that the plan needs, starting with what is cheap to check. Only
    /// [`Benchmark::run`] replaces an earlier run.
    pub async fn open(plan: BenchPlan) -> Result<Benchmark, BenchError> {
        let prepared = plan.prepare().await?;
        let home = prepared.plan.home(&prepared.manifest)?;
        Box::pin(prepared.start(home)).await
    }

    /// Has the agent attempt all queries, and judges the attempts. If the run is stopped, its folder
    /// gets the results of what is done.
    pub async fn run(&self, interrupt: &Interrupt) -> Result<Outcome<'_>, BenchError> {
        let log = self.open_log().map_err(BenchError::Folder)?;
        let schedule = Schedule { benchmark: self, log: log.as_ref(), interrupt };
        let tried = schedule.run().await.map_err(BenchError::Keep)?;
        let outcome = Outcome { benchmark: self, tried, log, took: self.began.elapsed() };
        if outcome.tried.stopped.is_some() {
            outcome.keep_unfinished()?;
        }
        Ok(outcome)
    }

    /// Starts the run in its folder, or resumes it.
    fn open_log(&self) -> Result<Option<RunLog<Attempt>>, RunLogError> {
        let Some(folder) = self.home.run_folder() else { return Ok(None) };
        let log = RunLog::open(folder.clone(), self.manifest.clone(), self.resume, Some)?;
        if log.n_known() > 0 {
            let is_known = |own: &&Selected| log.get(&own.log_id()).is_some();
            let (n_known, n_all) =
                (self.queries.iter().filter(is_known).count(), self.queries.len());
            let done = if self.has_trials() { "attempts were made" } else { "queries were tried" };
            let folder = log.place();
            let text = format!("resuming {folder}: {n_known} of {n_all} {done}");
            (self.listener)(Event::Note(text.into()));
        }
        Ok(Some(log))
    }

    /// Returns whether any query is tried, or was answered, several times.
    pub fn has_trials(&self) -> bool {
        self.queries.iter().any(|own| own.trial.is_some())
    }

    /// Returns the queries, each repeated once per trial.
    pub fn queries(&self) -> &[Selected] {
        &self.queries
    }

    /// Returns the agent, with its tools.
    pub fn agent(&self) -> &EquippedAgent {
        &self.equipped
    }

    /// Returns all tools that can be called.
    pub fn catalog(&self) -> &Arc<Catalog> {
        &self.equipped.catalog
    }

    /// Returns the token that tool calls must carry, if the server requires one.
    pub fn token(&self) -> Option<&Secret> {
        self.equipped.serving.token()
    }
}

/// A plan whose tools are open, and whose identity is therefore known.
pub struct Prepared {
    plan: BenchPlan,
    tools: Tools,
    provenance: Provenance,
    manifest: Manifest,
    began: Instant,
}

impl Prepared {
    /// Returns what identifies the run: the agent, the queries, and everything else that affects
    /// what it answers.
    pub fn identity(&self) -> &Value {
        &self.manifest.identity
    }

    /// Serves the tools, and makes the agent ready to be asked. The run is stored at `home`.
    pub async fn start(self, home: Home) -> Result<Benchmark, BenchError> {
        let Prepared { plan, tools, provenance, mut manifest, began } = self;
        if home.folder().is_some() {
            manifest = manifest.begun_by(&plan.options.command);
        }
        let serving = plan.serve(&tools, &home).await?;
        let BenchPlan { options, listener, queries, models, judge, identity, .. } = plan;
        let setup = AgentSetup {
            models,
            timeout: options.agent.timeout,
            jobs: options.jobs,
            kept_back: kept_back(&options.agent.variables, &options.settings, std::env::vars_os()),
            serving: &serving,
            n_apis: tools.catalog.n_apis(),
            listener: &listener,
        };
        // Each kind of agent is made ready in its own way, and all of them together are large.
        let agent = Box::pin(options.agent.choice.make(setup)).await?;
        let agent = agent
            .paired(&queries)
            .map_err(|why| SetupError::new(format!("{}: {why}", options.agent.written)))?;
        let queries = match &agent {
            Agent::Recorded(answers) => answers.trials(&queries),
            Agent::Asked(_) | Agent::Chat(_) => tried(queries, options.trials),
        };
        // The user's name for the agent takes precedence over the agent's own.
        let name = options.agent.name.or_else(|| agent.name().map(Into::into));
        let catalog = tools.catalog;
        Ok(Benchmark {
            queries,
            equipped: EquippedAgent { agent, pool: options.pool, catalog, serving },
            judge,
            jobs: options.jobs,
            resume: options.resume,
            listener,
            name: name.unwrap_or_else(|| identity.name.clone()),
            identity,
            provenance,
            manifest,
            home,
            began,
        })
    }
}

impl BenchPlan {
    /// Opens the tools, and determines everything that identifies the run.
    pub async fn prepare(self) -> Result<Prepared, BenchError> {
        let began = Instant::now();
        let warn = warner(&self.listener);
        let tools = open_tools(&self.options.settings, &self.environment, &warn).await?;
        for problem in &tools.problems {
            (self.listener)(Event::Warning(problem.clone()));
        }
        let provenance = self.provenance(&tools);
        let manifest = self.manifest(&provenance);
        Ok(Prepared { plan: self, tools, provenance, manifest, began })
    }

    fn provenance(&self, tools: &Tools) -> Provenance {
        let is_here = self.options.answers_calls();
        Provenance::new(&self.options.settings, tools, &self.queries, !is_here)
    }

    fn manifest(&self, provenance: &Provenance) -> Manifest {
        let settings = &self.options.settings;
        let manifest = self.identity.manifest(settings, &self.queries, provenance);
        manifest.with_judge(self.judge.described()).with_settings(&settings.written)
    }

    /// Chooses the folder of the run, and checks that it may be used. Recorded answers have no run
    /// to store.
    fn home(&self, manifest: &Manifest) -> Result<Home, BenchError> {
        if self.options.agent.choice.is_recorded() {
            return Ok(Home::nowhere());
        }
        let home = Home::choose(&self.options.run, manifest, self.options.resume);
        let home = home.map_err(BenchError::Folder)?;
        if let Some(notice) = home.notice() {
            (self.listener)(Event::Note(notice.clone()));
        }
        Ok(home)
    }

    async fn serve(&self, tools: &Tools, home: &Home) -> Result<Serving, BenchError> {
        let name = home.folder().and_then(Path::file_name);
        let name = match name {
            Some(name) => name.to_string_lossy().into_owned(),
            None => plain(&self.identity.name),
        };
        match &self.options.server {
            Some(address) => Serving::elsewhere(address, self.token.clone(), &name)
                .await
                .map_err(BenchError::Unreachable),
            None => {
                let (host, tell) = (self.options.host, warner(&self.listener));
                let serving = Serving::start(tools, name, host, tell).await;
                serving.map_err(|error| BenchError::Serve { host, error })
            }
        }
    }
}

/// A benchmark that has finished or was stopped.
pub struct Outcome<'b> {
    benchmark: &'b Benchmark,
    /// The judged attempts.
    pub tried: Tried<'b>,
    log: Option<RunLog<Attempt>>,
    took: Duration,
}

impl Outcome<'_> {
    /// Returns the results to be written.
    pub fn results(&self) -> Results<'_> {
        let Benchmark { name, identity, provenance, judge, queries, .. } = self.benchmark;
        Results {
            name: name.clone(),
            config: identity.config(queries),
            provenance,
            run: self.log.as_ref().map(RunLog::place),
            judge,
            judged: &self.tried.judged,
            took: self.took,
        }
    }

    /// Returns the folder that has the files of the run, for those who read them at once.
    pub fn run_folder(&self) -> Option<&Path> {
        self.log.as_ref().map(RunLog::folder)
    }

    /// Returns a message for the user, once, if something happened to the database of the run.
    pub fn news(&self) -> Option<String> {
        self.log.as_ref().and_then(RunLog::news)
    }

    /// Returns whether the run is stored in a folder.
    pub fn is_kept(&self) -> bool {
        self.log.is_some()
    }

    /// Returns whether the agent, the judge or a source of replies failed on any query.
    pub fn has_errors(&self) -> bool {
        let has_error = self.tried.judged.iter().any(|own| own.error().is_some());
        has_error || !self.results().failed_calls().is_empty()
    }

    /// Writes the results of what is done into the run's folder, if it has one, so that a run that
    /// was stopped can be compared as far as it came.
    fn keep_unfinished(&self) -> Result<(), BenchError> {
        let (results, log) = (self.results(), self.log.as_ref());
        let report = results.report_of_done();
        let Some(log) = log.filter(|_| !report.results.is_empty()) else { return Ok(()) };
        let BenchTotals { statistics, .. } = BenchTotals::of(&report);
        results.keep(&report, &statistics, log).map_err(BenchError::Keep)
    }

    /// Writes the results into the run's folder, if it has one, and marks the run as complete. All
    /// other results must have been written.
    pub fn complete(
        &self,
        results: &Results<'_>,
        report: &Report<'_>,
        totals: &BenchTotals,
    ) -> Result<(), BenchError> {
        let Some(log) = &self.log else { return Ok(()) };
        let kept = results.keep(report, &totals.statistics, log);
        kept.and_then(|()| log.complete(report.results.len(), self.unjudged()))
            .map_err(BenchError::Keep)
    }

    /// Returns how many attempts the judge came to no verdict on, and the first reason.
    pub fn unjudged(&self) -> Option<Unjudged> {
        let judged = self.tried.judged.iter().filter(|own| own.is_done());
        let of = judged.clone().count() as u64;
        let mut failures = judged.filter_map(|own| own.solves.failure.as_ref());
        let reason = failures.next()?.message.clone();
        Some(Unjudged { answers: 1 + failures.count() as u64, of, reason })
    }
}
