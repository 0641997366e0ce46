//! Passes queries to agents in Python, and their answers back.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use juror_agents::{AgentError, Answered, Subject, Task};
use juror_models::Pending;
use pyo3::prelude::*;
use tokio::sync::oneshot;

use super::message::Message;

/// Agents in Python; each query goes to whichever is free next.
pub(super) struct PythonAgents {
    pub(super) asks: Sender<Ask>,
    pub(super) messages: Sender<Message>,
    pub(super) timeout: Duration,
    pub(super) n_asked: AtomicU64,
}

/// When to stop waiting for an answer.
type Deadline = Arc<Mutex<Instant>>;

fn look(deadline: &Deadline) -> Instant {
    *deadline.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A query that an agent is to answer, once.
#[pyclass(module = "juror._juror", frozen)]
pub(crate) struct Ask {
    /// Tells it from others of the run.
    #[pyo3(get)]
    number: u64,
    /// What is asked.
    #[pyo3(get)]
    query: String,
    /// Which of several attempts at the query this is, from 1; `None` if there is only one.
    #[pyo3(get)]
    trial: Option<usize>,
    /// Where its tools are called.
    #[pyo3(get)]
    url: String,
    /// The tools that the agent may use, as JSON; `None` if the whole pool is open.
    #[pyo3(get)]
    tools: Option<String>,
    reply: Mutex<Option<oneshot::Sender<Result<Answered, AgentError>>>>,
    deadline: Deadline,
}

#[pymethods]
impl Ask {
    /// Delivers the agent's answer, as JSON; returns whether it was still awaited.
    fn answered(&self, json: &str) -> bool {
        let read = Answered::read(json);
        self.end(
            read.map_err(|error| AgentError(format!("the agent's answer cannot be read: {error}"))),
        )
    }

    /// Reports why there is no answer; returns whether one was still awaited.
    fn failed(&self, why: String) -> bool {
        self.end(Err(AgentError(why)))
    }

    /// Extends the deadline by some seconds: the agent's thread enforces the time limit itself, and
    /// needs a moment to stop.
    fn wait_longer(&self, seconds: f64) {
        let more = Duration::try_from_secs_f64(seconds).unwrap_or_default();
        *self.deadline.lock().unwrap_or_else(PoisonError::into_inner) += more;
    }
}

impl Ask {
    fn end(&self, said: Result<Answered, AgentError>) -> bool {
        let reply = self.reply.lock().unwrap_or_else(PoisonError::into_inner).take();
        reply.is_some_and(|reply| reply.send(said).is_ok())
    }
}

impl PythonAgents {
    async fn ask(&self, task: Task<'_>) -> Result<Answered, AgentError> {
        let number = self.n_asked.fetch_add(1, Ordering::Relaxed);
        let deadline: Deadline = Arc::new(Mutex::new(Instant::now() + self.timeout));
        let (reply, mut answered) = oneshot::channel();
        let ask = Ask {
            number,
            query: task.query.to_owned(),
            trial: task.trial,
            url: task.virtual_url.to_owned(),
            tools: task.tools.map(|tools| tools.get().to_owned()),
            reply: Mutex::new(Some(reply)),
            deadline: deadline.clone(),
        };
        let gone = |_| AgentError("nobody is there to answer".into());
        self.asks.send(ask).map_err(gone)?;
        loop {
            tokio::select! {
                biased;
                said = &mut answered => {
                    return said.unwrap_or_else(|_| Err(AgentError("the agent's thread has ended".into())));
                }
                () = tokio::time::sleep_until(look(&deadline).into()) => {}
            }
            if look(&deadline) <= Instant::now() {
                // If the receiver is gone, no thread needs to be replaced.
                let _ = self.messages.send(Message::Late { number });
                let seconds = self.timeout.as_secs_f64();
                return Err(AgentError(format!("no answer within {seconds} s")));
            }
        }
    }
}

impl Subject for PythonAgents {
    fn answer<'a>(&'a self, task: Task<'a>) -> Pending<'a, Result<Answered, AgentError>> {
        Box::pin(self.ask(task))
    }
}
