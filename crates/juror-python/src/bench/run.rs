//! A run as the Python side sees it.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use juror_run::Interrupt;
use juror_tools::Catalog;
use pyo3::exceptions::{PyKeyError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use tokio::runtime::{Builder as RuntimeBuilder, Runtime};

use super::ask::Ask;
use super::calls::{Caller, Reply};
use super::message::Message;
use super::options::Options;
use super::prepared::Prepared;
use super::refused::asked;
use crate::from_json::Builder;
use crate::problem::Refusal;

/// A run of agents in Python over queries.
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
    prepared: Prepared,
    messages: Sender<Message>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[pymethods]
impl BenchRun {
    /// Makes a run ready: reads queries, tools and settings.
    #[new]
    fn new(py: Python<'_>, options: &str) -> PyResult<BenchRun> {
        py.detach(|| BenchRun::prepare(options)).map_err(|refused| refused.into_error(py))
    }

    /// Begins.
    fn start(&self) -> PyResult<()> {
        let failed = |why: &str| PyRuntimeError::new_err(why.to_owned());
        let waiting = lock(&self.waiting).take().ok_or_else(|| failed("the run has begun"))?;
        let runtime = lock(&self.runtime);
        let runtime = runtime.as_ref().ok_or_else(|| failed("the run is over"))?.handle().clone();
        let (interrupt, outcome) = (self.interrupt.clone(), self.outcome.clone());
        let Waiting { prepared, messages } = waiting;
        let work = move || {
            // Dropped, and thereby sent, whatever happens.
            let _end = End(messages);
            let result = runtime.block_on(prepared.run(interrupt));
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
            Err(RecvTimeoutError::Disconnected) => Err("the run ended without a word"),
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
            None => Err(PyRuntimeError::new_err("the run came to no result")),
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

impl BenchRun {
    fn prepare(options: &str) -> Result<BenchRun, Refusal> {
        let options: Options =
            serde_json::from_str(options).map_err(|error| asked(error.to_string()))?;
        let failed = |why: String| Refusal::Failed(why);
        let runtime = RuntimeBuilder::new_multi_thread().worker_threads(2).enable_all().build();
        let runtime = runtime.map_err(|error| failed(error.to_string()))?;
        let handle = runtime.handle().clone();
        let (messages, hear_messages) = channel();
        let (asks, hear_asks) = channel();
        let prepared = Prepared::new(options, &handle, asks, messages.clone())?;
        Ok(BenchRun {
            n_queries: prepared.n_queries(),
            catalog: prepared.catalog(),
            caller: Caller::new(handle, prepared.token()).map_err(failed)?,
            interrupt: Interrupt::default(),
            messages: Mutex::new(hear_messages),
            asks: Mutex::new(hear_asks),
            outcome: Arc::default(),
            waiting: Mutex::new(Some(Waiting { prepared, messages })),
            runtime: Mutex::new(Some(runtime)),
        })
    }
}
