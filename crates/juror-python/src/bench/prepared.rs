//! Everything a run needs, made ready before the first query.

use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use juror_run::bench::{
    Agent, Bench, Journal, JournalError, Offers, Open, Results, Selected, Serving, SolveJudge,
    Told as Progress, run as run_bench, select_queries,
};
use juror_run::{Interrupt, LoadError, Output, OutputError, TellTrouble, Tools, open_tools};
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use tokio::runtime::Handle;

use super::ask::{Ask, PythonAgents};
use super::options::Options;
use super::told::Told;

/// Why a run cannot be begun, or came to nothing.
pub(super) enum Refused {
    /// It was asked for wrongly.
    Asked(String),
    /// A file cannot be read or written.
    File(String),
    /// Something else failed.
    Failed(String),
}

impl Refused {
    #[expect(clippy::needless_pass_by_value, reason = "this is given to `map_err`")]
    pub(super) fn asked(why: impl ToString) -> Refused {
        Refused::Asked(why.to_string())
    }

    pub(super) fn into_error(self) -> PyErr {
        match self {
            Refused::Asked(why) => PyValueError::new_err(in_python(&why)),
            Refused::File(why) => PyOSError::new_err(in_python(&why)),
            Refused::Failed(why) => PyRuntimeError::new_err(in_python(&why)),
        }
    }
}

impl From<LoadError> for Refused {
    fn from(error: LoadError) -> Refused {
        match error {
            LoadError::Io { .. } => Refused::File(error.to_string()),
            LoadError::Text(problems) => Refused::asked(problems),
        }
    }
}

impl From<OutputError> for Refused {
    fn from(error: OutputError) -> Refused {
        match error {
            OutputError::Io { .. } => Refused::File(error.to_string()),
            OutputError::UnknownFormat { .. } => Refused::asked(error),
        }
    }
}

impl From<JournalError> for Refused {
    fn from(error: JournalError) -> Refused {
        match error {
            JournalError::Io { .. } => Refused::File(error.to_string()),
            error => Refused::asked(error),
        }
    }
}

/// Hints name options as the program has them; in Python they are arguments.
fn in_python(words: &str) -> String {
    let word = |word: &str| match word.strip_prefix("--") {
        Some(option) => {
            let end = option.find(|c: char| !c.is_ascii_alphanumeric() && c != '-');
            let (name, rest) = option.split_at(end.unwrap_or(option.len()));
            format!("`{}=`{rest}", name.replace('-', "_"))
        }
        None => word.to_owned(),
    };
    words.split(' ').map(word).collect::<Vec<String>>().join(" ")
}

/// A run that can begin.
pub(super) struct Prepared {
    options: Options,
    config: std::collections::BTreeMap<String, serde_json::Value>,
    open: Open,
    timeout: Duration,
    queries: Vec<Selected>,
    judge: SolveJudge,
    pub(super) offers: Arc<Offers>,
    serving: Serving,
    journal: Option<Journal>,
    output: Option<Output>,
}

impl Prepared {
    /// Reads and opens everything, in the order of what is cheap to find wrong.
    pub(super) fn new(
        options: Options,
        runtime: &Handle,
        told: &Sender<Told>,
    ) -> Result<Prepared, Refused> {
        let tell = teller(told);
        let (open, timeout, settings) = (options.open()?, options.timeout()?, options.settings()?);
        let (queries, problems) =
            select_queries(&options.wanted()).map_err(|error| match error {
                juror_run::bench::QueriesError::Load(error) => error.into(),
                error => Refused::asked(error),
            })?;
        for problem in &problems.errors {
            tell(&problem.to_string());
        }
        let environment =
            |name: &str| std::env::var(name).ok().filter(|own| !own.trim().is_empty());
        let (word, repeats) = (options.judge()?, options.repeats);
        let judge = SolveJudge::new(word, &settings, &environment, repeats, tell.clone());
        let judge = judge.map_err(Refused::asked)?;
        let output = options.output.as_deref().map(Output::create_text).transpose()?;
        let tools = open_tools(&settings, &environment, &tell).map_err(Refused::asked)?;
        for problem in &tools.problems {
            tell(problem);
        }
        let offers = Arc::new(Offers::new(tools.documentation.clone()));
        let manner = options.manner(open);
        let (config, identity) = (manner.config(&queries), manner.identity(&settings, &queries));
        let open_journal =
            |folder: &String| Journal::open(Path::new(folder), &identity, options.resume_changed);
        let journal = options.run.as_ref().map(open_journal).transpose()?;
        let serving = serve(&options, &tools, runtime, tell)?;
        Ok(Prepared {
            options,
            config,
            open,
            timeout,
            queries,
            judge,
            offers,
            serving,
            journal,
            output,
        })
    }

    /// Tries the agents on all queries; returns the text of the result file.
    pub(super) async fn run(
        self,
        asks: Sender<Ask>,
        told: Sender<Told>,
        interrupt: Interrupt,
    ) -> Result<Vec<u8>, Refused> {
        let started = Instant::now();
        let agents = PythonAgents {
            asks,
            told: told.clone(),
            timeout: self.timeout,
            n_asked: AtomicU64::default(),
        };
        let bench = Bench {
            queries: &self.queries,
            agent: &Agent::Asked(Box::new(agents)),
            open: self.open,
            offers: &self.offers,
            serving: &self.serving,
            journal: self.journal.as_ref(),
            judge: &self.judge,
            jobs: self.options.jobs,
            retry_errors: self.options.retry_errors,
            interrupt: &interrupt,
        };
        let mut n_done = 0;
        let judged = run_bench(&bench, |progress| {
            let (own, is_known) = match progress {
                Progress::Known(own) => (own, true),
                Progress::Tried(own) => (own, false),
                Progress::Left(_) => return,
            };
            n_done += 1;
            // Nobody listens when the run was given up.
            let counts = (n_done, self.queries.len());
            let _ = told.send(Told::done(own, &self.judge, counts, is_known));
        })
        .await?;
        let (name, config) = (self.options.name.clone(), self.config);
        let took = started.elapsed();
        let results = Results { name, config, judge: &self.judge, judged: &judged, took };
        let text = results.to_json(&results.report());
        let text = text.map_err(|error| Refused::Failed(error.to_string()))?;
        if let Some(mut file) = self.output {
            file.write(&text)?;
            file.finish()?;
        }
        Ok(text)
    }
}

fn serve(
    options: &Options,
    tools: &Tools,
    runtime: &Handle,
    tell: TellTrouble,
) -> Result<Serving, Refused> {
    let run = options.run_name();
    match &options.server {
        Some(address) => Serving::elsewhere(address, run).map_err(Refused::asked),
        None => {
            let serving = runtime.block_on(Serving::start(tools, run, tell));
            serving.map_err(|error| Refused::Failed(format!("cannot serve tools: {error}")))
        }
    }
}

/// Trouble is told on whatever thread it comes up.
fn teller(told: &Sender<Told>) -> TellTrouble {
    let told = Mutex::new(told.clone());
    Arc::new(move |text: &str| {
        let told = told.lock().unwrap_or_else(PoisonError::into_inner);
        // Nobody listens when the run is over.
        let _ = told.send(Told::Trouble { text: text.to_owned() });
    })
}
