//! A benchmark of agents in Python, from options to result.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::Sender;

use juror_bench::{BenchTotals, Benchmark, Results};
use juror_models::Secret;
use juror_run::{Environment, Event, Interrupt, Listener, Output};
use juror_toolbench::result::Report;
use juror_tools::Catalog;
use tokio::runtime::Handle;

use super::ask::{Ask, PythonAgents};
use super::message::Message;
use super::options::Options;
use super::refused::{no_output, refused};
use crate::problem::Refusal;

/// A run that is ready to start.
pub(super) struct Prepared {
    benchmark: Benchmark,
    listener: Listener,
    output: Option<Output>,
}

impl Prepared {
    /// Reads and opens everything. Agents take queries from `asks`, and events go to Python through
    /// `messages`.
    pub(super) fn new(
        options: Options,
        runtime: &Handle,
        asks: Sender<Ask>,
        messages: Sender<Message>,
    ) -> Result<Prepared, Refusal> {
        let listener = Message::listener(&messages);
        let warn = |problem: &str| listener(Event::Warning(problem.to_owned().into()));
        let environment = Environment::read(warn);
        let output = options.output.clone();
        let agents = |timeout| {
            let n_asked = AtomicU64::default();
            let agents = PythonAgents { asks, messages, timeout, n_asked };
            Box::new(agents) as Box<_>
        };
        let options = options.benchmark(agents, &environment)?;
        let plan = options.resolve(environment, listener.clone()).map_err(refused)?;
        let output = output.as_deref().map(Output::create_text).transpose().map_err(no_output)?;
        let benchmark = runtime.block_on(Benchmark::open(plan)).map_err(refused)?;
        Ok(Prepared { benchmark, listener, output })
    }

    pub(super) fn catalog(&self) -> Arc<Catalog> {
        self.benchmark.catalog().clone()
    }

    /// Returns the token that tool calls must carry, if any.
    pub(super) fn token(&self) -> Option<Secret> {
        self.benchmark.token().cloned()
    }

    pub(super) fn n_queries(&self) -> usize {
        self.benchmark.queries().len()
    }

    /// Has the agents attempt all queries; returns the text of the result file.
    pub(super) async fn run(mut self, interrupt: Interrupt) -> Result<Vec<u8>, Refusal> {
        let output = self.output.take();
        let outcome = self.benchmark.run(&interrupt).await.map_err(refused)?;
        let results = outcome.results();
        let report = results.report();
        let text = self.result_file(&results, &report)?;
        // What was attempted before an interrupt is in the folder of the run.
        if !interrupt.is_set() {
            if let Some(mut file) = output {
                file.write(&text).map_err(no_output)?;
                file.finish().map_err(no_output)?;
            }
            // A run that was stopped, such as at a cost limit, is not complete.
            if outcome.tried.stopped.is_none() {
                let totals = BenchTotals::of(&report);
                outcome.complete(&results, &report, &totals).map_err(refused)?;
            }
        }
        Ok(text)
    }

    fn result_file(&self, results: &Results<'_>, report: &Report<'_>) -> Result<Vec<u8>, Refusal> {
        for warning in results.warnings() {
            (self.listener)(Event::Warning(warning));
        }
        let text = results.to_json(report);
        text.map_err(|error| Refusal::Failed(error.to_string()))
    }
}
