//! `run_evaluation`: the side of the thread that holds Python.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use juror_read::RepeatedIds;
use juror_run::{Asking, Environment, Event, Interrupt, ProfileNumber};
use juror_score::ErrorResponses;
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::aggregates::plan_of;
use crate::build::{Inputs, build};
use crate::build_plan::BuildPlan;
use crate::engine::{self, How, Loading, Message, Work};
use crate::from_json::Builder;
use crate::input::{Input, settings};
use crate::known::Known;
use crate::lazy_results::{LazyResults, Unbuilt};
use crate::stream;

/// How long to wait for the engine between checks for Ctrl-C.
pub(crate) const PATIENCE: Duration = Duration::from_millis(50);

/// How many chunks of results may wait to be built.
const WAITING: usize = 16;

/// Stops an evaluation from another thread.
#[pyclass(frozen, module = "juror._juror")]
#[derive(Default)]
pub(crate) struct Stop(Interrupt);

#[pymethods]
impl Stop {
    #[new]
    fn new() -> Stop {
        Stop::default()
    }

    /// Tells the evaluation to end.
    fn set(&self) {
        self.0.set();
    }
}

/// Evaluates responses by a reference, both given as paths or as objects.
#[pyfunction]
#[pyo3(signature = (reference, responses, config=None, profile=None, *, may_ask=true, explain=false, trials_in_responses=false, threads=None, progress=None, stop=None))]
#[expect(clippy::too_many_arguments, reason = "Python's callers name them")]
pub(crate) fn run_evaluation<'py>(
    py: Python<'py>,
    reference: &Bound<'py, PyAny>,
    responses: &Bound<'py, PyAny>,
    config: Option<&Bound<'py, PyAny>>,
    profile: Option<&str>,
    may_ask: bool,
    explain: bool,
    trials_in_responses: bool,
    threads: Option<usize>,
    progress: Option<Bound<'py, PyAny>>,
    stop: Option<&Bound<'py, Stop>>,
) -> PyResult<Bound<'py, PyAny>> {
    let mut settings = settings(config)?;
    settings.profile = profile.map(profile_number).transpose()?.or(settings.profile);
    let mut plan = settings.plan();
    plan.threads = threads.unwrap_or(plan.threads).max(1);
    plan.explain = explain;
    if trials_in_responses {
        plan.repeated_ids = RepeatedIds::Trials;
    }
    let interrupt = stop.map_or_else(Interrupt::default, |stop| stop.get().0.clone());
    if !(may_ask && juror_run::may_ask(&settings, &Environment::read(|_| ()))) {
        let tell = |n_done: usize, n_all: usize, n_errors: usize| match &progress {
            _ if interrupt.is_set() => Err(PyKeyboardInterrupt::new_err("interrupted")),
            Some(progress) => report_judged(progress, n_done, n_all, n_errors),
            None => Ok(()),
        };
        let pause = GarbagePause::new(py)?;
        let results = stream::evaluate(py, reference, responses, &plan, tell);
        drop(pause);
        if let Some(results) = results? {
            return Ok(results.into_any());
        }
    }
    let (reference, responses) = Input::both(reference, responses)?;
    let log = Log::new(py)?;
    for problem in reference.hint.iter().chain(&responses.hint).chain(&responses.problems) {
        log.write(&problem.to_string(), false)?;
    }
    let problems = reference.problems;
    let (wants_progress, interrupt_engine) = (progress.is_some(), interrupt.clone());
    let how =
        How { problems, settings, plan, may_ask, wants_progress, interrupt: interrupt_engine };
    let unwanted = Interrupt::default();
    let work = Work {
        reference: Loading::begin(reference.source)?,
        responses: responses.source,
        how,
        unwanted: unwanted.clone(),
    };
    let (send, messages) = sync_channel(WAITING);
    let engine = thread::Builder::new().name("juror".into());
    let (give_back, used) = channel();
    let (keep, texts) = channel();
    engine.spawn(move || engine::run(work, &send, &used, &keep))?;
    let mut table = Table {
        results: PyList::empty(py),
        builder: Builder::new(py),
        known: Some((reference.known, responses.known)),
        inputs: None,
        unbuilt: None,
        pause: None,
        give_back,
        progress,
        n_all: 0,
        log,
    };
    table.listen(&Mutex::new(messages), &interrupt)?;
    match table.unbuilt {
        Some(unbuilt) => Ok(Bound::new(py, LazyResults::new(unbuilt, texts, unwanted))?.into_any()),
        None => Ok(table.results.into_any()),
    }
}

/// Reports the progress of scoring.
fn report_judged(
    progress: &Bound<'_, PyAny>,
    n_done: usize,
    n_all: usize,
    n_errors: usize,
) -> PyResult<()> {
    let report = PyDict::new(progress.py());
    report.set_item("total", n_all)?;
    report.set_item("phase", if n_done == 0 { "started" } else { "judging" })?;
    report.set_item("done", n_done)?;
    if n_done > 0 {
        report.set_item("errors", n_errors)?;
    }
    progress.call1((report,))?;
    Ok(())
}

pub(crate) fn profile_number(name: &str) -> PyResult<ProfileNumber> {
    match name {
        "5" => Ok(ProfileNumber::Five),
        "6" => Ok(ProfileNumber::Six),
        other => {
            Err(PyValueError::new_err(format!("there is no profile `{other}`: choose 5 or 6")))
        }
    }
}

/// Collects results.
struct Table<'py> {
    results: Bound<'py, PyList>,
    builder: Builder<'py>,
    /// The objects of the inputs, until the documents made from them arrive.
    known: Option<(Option<Known<'py>>, Option<Known<'py>>)>,
    inputs: Option<Inputs<'py>>,
    /// Results of files.
    unbuilt: Option<Box<Unbuilt>>,
    pause: Option<GarbagePause<'py>>,
    /// Executed plans, to be reused: fresh memory is expensive.
    give_back: Sender<BuildPlan>,
    progress: Option<Bound<'py, PyAny>>,
    n_all: usize,
    log: Log<'py>,
}

/// What to do after a message.
enum Next {
    More,
    End,
}

impl Table<'_> {
    /// Handles messages until the work is done. After the first Ctrl-C the engine ends in good
    /// order, which keeps what was paid for; the second one does not wait for that.
    fn listen(
        &mut self,
        messages: &Mutex<Receiver<Message>>,
        interrupt: &Interrupt,
    ) -> PyResult<()> {
        let py = self.results.py();
        let mut raised: Option<PyErr> = None;
        let outcome = loop {
            if let Err(error) = py.check_signals() {
                interrupt.set();
                if raised.replace(error).is_some() {
                    break Ok(());
                }
            }
            let message = match next(py, messages) {
                Ok(message) => message,
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => {
                    break Err(PyRuntimeError::new_err("juror's engine ended too early: a bug"));
                }
            };
            match self.take(message) {
                Ok(Next::More) => {}
                Ok(Next::End) => break Ok(()),
                Err(error) => {
                    interrupt.set();
                    break Err(error);
                }
            }
        };
        self.pause = None;
        match raised {
            Some(error) => Err(error),
            None => outcome,
        }
    }

    fn take(&mut self, message: Message) -> PyResult<Next> {
        let py = self.results.py();
        match message {
            Message::Log { text, is_failure } => self.log.write(&text, is_failure)?,
            Message::Event(event) => self.report(&event)?,
            Message::Documents(documents) => {
                let (reference, responses) = self.known.take().unwrap_or_default();
                self.inputs = Some(Inputs { documents, reference, responses });
            }
            Message::Results(mut plan) => {
                if self.pause.is_none() {
                    self.pause = Some(GarbagePause::new(py)?);
                }
                if let Some(inputs) = &self.inputs {
                    build(&mut self.builder, &plan.steps, &plan, inputs, &self.results)?;
                    plan.clear();
                    // An engine that has ended needs no more plans.
                    let _ = self.give_back.send(plan);
                }
            }
            Message::Done(unbuilt) => {
                self.unbuilt = unbuilt;
                return Ok(Next::End);
            }
            Message::Interrupted => return Err(PyKeyboardInterrupt::new_err("interrupted")),
            Message::Refused(refusal) => return Err(refusal.into_error(py)),
        }
        Ok(Next::More)
    }

    /// Reports progress.
    fn report(&mut self, event: &Event) -> PyResult<()> {
        if let Event::Started { questions } = event {
            self.n_all = *questions;
        }
        let Some(progress) = &self.progress else { return Ok(()) };
        let report = PyDict::new(progress.py());
        report.set_item("total", self.n_all)?;
        match event {
            Event::Started { .. } => {
                report.set_item("phase", "started")?;
                report.set_item("done", 0)?;
            }
            Event::Asked(Asking { questions, calls, rate, left }) => {
                report.set_item("phase", "asking")?;
                report.set_item("done", questions)?;
                report.set_item("requests", calls.requests)?;
                report.set_item("answered", calls.answered)?;
                report.set_item("under_way", calls.under_way)?;
                report.set_item("known", calls.known)?;
                report.set_item("failed", calls.failed)?;
                report.set_item("usd", calls.usd)?;
                report.set_item("rate", rate)?;
                report.set_item("left", left.map(|left| left.as_secs_f64()))?;
            }
            Event::Done { questions, errors } => {
                report.set_item("phase", "judging")?;
                report.set_item("done", questions)?;
                report.set_item("errors", errors)?;
            }
            Event::Stopping => {
                report.set_item("phase", "stopping")?;
                report.set_item("done", 0)?;
            }
            Event::Attempted(_) | Event::AgentLine(_) | Event::Note(_) | Event::Warning(_) => {
                return Ok(());
            }
        }
        progress.call1((report,))?;
        Ok(())
    }
}

/// Returns the next message; other Python threads may run while there is none.
fn next(py: Python<'_>, shared: &Mutex<Receiver<Message>>) -> Result<Message, RecvTimeoutError> {
    let messages = lock(shared);
    match messages.try_recv() {
        Ok(message) => Ok(message),
        Err(TryRecvError::Disconnected) => Err(RecvTimeoutError::Disconnected),
        Err(TryRecvError::Empty) => {
            drop(messages);
            py.detach(|| lock(shared).recv_timeout(PATIENCE))
        }
    }
}

fn lock(messages: &Mutex<Receiver<Message>>) -> MutexGuard<'_, Receiver<Message>> {
    // Only this thread ever locks it: the mutex merely allows sharing it while Python is detached.
    messages.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Python's `logging`, under the name `juror`.
pub(crate) struct Log<'py>(Bound<'py, PyAny>);

impl<'py> Log<'py> {
    pub(crate) fn new(py: Python<'py>) -> PyResult<Log<'py>> {
        Ok(Log(py.import("logging")?.call_method1("getLogger", ("juror",))?))
    }

    pub(crate) fn write(&self, text: &str, is_failure: bool) -> PyResult<()> {
        let level = if is_failure { "error" } else { "warning" };
        self.0.call_method1(level, ("%s", text))?;
        Ok(())
    }
}

/// Keeps Python's garbage collector from visiting results over and over while they are built: none
/// of them is garbage.
pub(crate) struct GarbagePause<'py>(Option<Bound<'py, PyModule>>);

impl<'py> GarbagePause<'py> {
    pub(crate) fn new(py: Python<'py>) -> PyResult<GarbagePause<'py>> {
        let gc = py.import("gc")?;
        let is_on: bool = gc.call_method0("isenabled")?.extract()?;
        if is_on {
            gc.call_method0("disable")?;
        }
        Ok(GarbagePause(is_on.then_some(gc)))
    }
}

impl Drop for GarbagePause<'_> {
    fn drop(&mut self) {
        if let Some(gc) = &self.0 {
            // The module was imported a moment ago.
            let _ = gc.call_method0("enable");
        }
    }
}

/// Whether settings name a profile.
#[pyfunction]
#[pyo3(signature = (config=None))]
pub(crate) fn names_profile(config: Option<&Bound<'_, PyAny>>) -> PyResult<bool> {
    Ok(settings(config)?.profile.is_some())
}

/// Whether responses that are errors are scored.
#[pyfunction]
#[pyo3(signature = (config=None, profile=None))]
pub(crate) fn scores_errors(
    config: Option<&Bound<'_, PyAny>>,
    profile: Option<&str>,
) -> PyResult<bool> {
    Ok(plan_of(config, profile)?.profile.steps_of_errors == ErrorResponses::CountedIn)
}
