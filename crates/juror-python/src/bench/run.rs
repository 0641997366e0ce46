//! A run as the Python side sees it.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use juror_models::Secret;
use juror_run::Interrupt;
use juror_tools::Catalog;
use pyo3::exceptions::{PyKeyError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use serde::Deserialize;
use tokio::runtime::{Builder as RuntimeBuilder, Handle, Runtime};

use super::ask::Ask;
use super::asking::Asking;
use super::calls::{Caller, Reply};
use super::message::Message;
use super::prepared::Prepared;
use super::refused::asked;
use crate::from_json::Builder;
use crate::problem::Refusal;

/// A run of agents over queries or questions.
#[pyclass(module = "juror._juror", frozen)]
pub(crate) struct BenchRun {
    /// How many queries there are.
    #[pyo3(get)]
    n_queries: usize,
    catalog: Arc<Catalog>,
    caller: Caller,
    interrupt: Interrupt,
    /// Messages for the thread that called `juror.bench`.
    messages: Mutex<Receiver<Message>>,
    /// Queries for the threads that agents run on.
    asks: Mutex<Receiver<Ask>>,
    outcome: Arc<Mutex<Option<Outcome>>>,
    waiting: Mutex<Option<Waiting>>,
    runtime: Mutex<Option<Runtime>>,
}

type Outcome = Result<Vec<u8>, Refusal>;

/// Announces the end of the run when dropped.
struct End(Sender<Message>);

impl Drop for End {
    fn drop(&mut self) {
        // If the receiver is gone, nobody waits for the end.
        let _ = self.0.send(Message::Ended);
    }
}

/// What a run needs once it starts.
struct Waiting {
    work: Work,
    messages: Sender<Message>,
}

/// What agents are to do.
enum Work {
    /// Attempt queries, which are judged.
    Bench(Box<Prepared>),
    /// Answer the questions of a reference.
    Ask(Box<Asking>),
}

impl Work {
    async fn run(self, interrupt: Interrupt) -> Outcome {
        match self {
            Work::Bench(prepared) => prepared.run(interrupt).await,
            Work::Ask(asking) => asking.run(interrupt).await,
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[pymethods]
impl BenchRun {
    /// Makes a run ready: reads queries, tools and settings.
    #[new]
    fn new(py: Python<'_>, options: &str) -> PyResult<BenchRun> {
        BenchRun::prepare(py, options, |options, handle, asks, messages| {
            let own = Prepared::new(options, handle, asks, messages)?;
            let (n, catalog, token) = (own.n_queries(), own.catalog(), own.token());
            Ok((Work::Bench(Box::new(own)), n, catalog, token))
        })
    }

    /// Makes an agent ready to be asked the questions of a reference.
    #[staticmethod]
    fn asking(py: Python<'_>, options: &str) -> PyResult<BenchRun> {
        BenchRun::prepare(py, options, |options, handle, asks, messages| {
            let own = Asking::new(options, handle, asks, messages)?;
            let (n, catalog, token) = (own.n_questions(), own.catalog(), own.token());
            Ok((Work::Ask(Box::new(own)), n, catalog, token))
        })
    }

    /// Begins.
    fn start(&self) -> PyResult<()> {
        let failed = |why: &str| PyRuntimeError::new_err(why.to_owned());
        let waiting = lock(&self.waiting).take().ok_or_else(|| failed("the run has begun"))?;
        let runtime = lock(&self.runtime);
        let runtime = runtime.as_ref().ok_or_else(|| failed("the run is over"))?.handle().clone();
        let (interrupt, outcome) = (self.interrupt.clone(), self.outcome.clone());
        let Waiting { work, messages } = waiting;
        let work = move || {
            // Dropped, and thereby sent, whatever happens.
            let _end = End(messages);
            let result = runtime.block_on(work.run(interrupt));
            *lock(&outcome) = Some(result);
        };
        let thread = std::thread::Builder::new().name("juror-bench".into()).spawn(work);
        thread.map(drop).map_err(PyErr::from)
    }

    /// Waits for what happens next, as JSON; `None` if that takes longer.
    fn next_event(&self, py: Python<'_>, seconds: f64) -> PyResult<Option<String>> {
        let most = Duration::try_from_secs_f64(seconds).unwrap_or_default();
        let message = py.detach(|| match lock(&self.messages).recv_timeout(most) {
            Ok(message) => Ok(message.to_json()),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err("the run ended without a result"),
        });
        let message = message.map_err(PyRuntimeError::new_err)?;
        Ok(message.map(|message| message.to_string()))
    }

    /// Waits for the next query to be answered; nothing when there are no more.
    fn next_ask(&self, py: Python<'_>) -> Option<Ask> {
        py.detach(|| lock(&self.asks).recv().ok())
    }

    /// Ends the run in good order: what was tried is kept.
    fn stop(&self) {
        self.interrupt.set();
    }

    /// Ends everything at once; tools answer no more.
    fn close(&self) {
        self.interrupt.set();
        // A run that never started must not keep its agents waiting for queries.
        drop(lock(&self.waiting).take());
        if let Some(runtime) = lock(&self.runtime).take() {
            runtime.shutdown_background();
        }
    }

    /// The text of the result file, once the run has ended.
    fn result<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        match lock(&self.outcome).take() {
            Some(Ok(text)) => Ok(PyBytes::new(py, &text)),
            Some(Err(refused)) => Err(refused.into_error(py)),
            None => Err(PyRuntimeError::new_err("the run ended without a result")),
        }
    }

    /// The value of a JSON text, whose innermost parts stay texts where it is nested deeply.
    #[staticmethod]
    fn shallow<'py>(py: Python<'py>, json: &str) -> PyResult<Bound<'py, PyAny>> {
        Builder::new(py).value(json)
    }

    /// The names of all APIs of the pool.
    fn names<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, self.catalog.names())
    }

    /// An API of the pool by its place in the names, in a JSON list.
    fn tool_at(&self, at: usize) -> PyResult<String> {
        let is_there = at < self.catalog.n_apis();
        is_there.then(|| self.catalog.list([at])).ok_or_else(|| PyKeyError::new_err(at))
    }

    /// The APIs of the pool that fit a text best, as a JSON list.
    fn search(&self, py: Python<'_>, text: &str, most: usize) -> String {
        py.detach(|| {
            let found = self.catalog.find(text, most);
            self.catalog.list(found.iter().map(|found| found.number))
        })
    }

    /// Calls a tool: the status and the text of its reply.
    fn call(&self, py: Python<'_>, url: &str, body: String) -> PyResult<(u16, String)> {
        let (sender, receiver) = channel();
        self.caller.call(url, body, move |reply| {
            // The caller may be gone.
            let _ = sender.send(reply);
        });
        let reply = py.detach(move || receiver.recv());
        answer(reply.unwrap_or_else(|_| Err("the run is over".into())))
    }

    /// Calls a tool, and `done` with the status and the text of its reply, or with nothing and why
    /// there is none, on another thread.
    fn call_later(&self, url: &str, body: String, done: Py<PyAny>) {
        self.caller.call(url, body, move |reply| {
            // An interpreter that is shutting down cannot be called.
            let _ = Python::try_attach(|py| {
                let told = match reply {
                    Ok((status, text)) => done.call1(py, (status, text)),
                    Err(why) => done.call1(py, (py.None(), why)),
                };
                if let Err(error) = told {
                    error.write_unraisable(py, Some(done.bind(py)));
                }
            });
        });
    }
}

fn answer(reply: Reply) -> PyResult<(u16, String)> {
    reply.map_err(pyo3::exceptions::PyConnectionError::new_err)
}

fn read_options<'o, T: Deserialize<'o>>(options: &'o str) -> Result<T, Refusal> {
    serde_json::from_str(options).map_err(|error| asked(error.to_string()))
}

/// What agents are to do, how many answers that takes, and the tools and the token for it.
type Made = (Work, usize, Arc<Catalog>, Option<Secret>);

impl BenchRun {
    /// Reads options and makes what they ask for ready, without holding Python meanwhile.
    fn prepare<'o, T: Deserialize<'o>>(
        py: Python<'_>,
        options: &'o str,
        make: impl Send + FnOnce(T, &Handle, Sender<Ask>, Sender<Message>) -> Result<Made, Refusal>,
    ) -> PyResult<BenchRun> {
        let ready = || {
            let options = read_options(options)?;
            BenchRun::new_with(|handle, asks, messages| make(options, handle, asks, messages))
        };
        py.detach(ready).map_err(|refused| refused.into_error(py))
    }

    fn new_with(
        make: impl FnOnce(&Handle, Sender<Ask>, Sender<Message>) -> Result<Made, Refusal>,
    ) -> Result<BenchRun, Refusal> {
        let failed = |why: String| Refusal::Failed(why);
        let runtime = RuntimeBuilder::new_multi_thread().worker_threads(2).enable_all().build();
        let runtime = runtime.map_err(|error| failed(error.to_string()))?;
        let handle = runtime.handle().clone();
        let (messages, hear_messages) = channel();
        let (asks, hear_asks) = channel();
        let (work, n_queries, catalog, token) = make(&handle, asks, messages.clone())?;
        Ok(BenchRun {
            n_queries,
            catalog,
            caller: Caller::new(handle, token).map_err(failed)?,
            interrupt: Interrupt::default(),
            messages: Mutex::new(hear_messages),
            asks: Mutex::new(hear_asks),
            outcome: Arc::default(),
            waiting: Mutex::new(Some(Waiting { work, messages })),
            runtime: Mutex::new(Some(runtime)),
        })
    }
}
