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

/// Why a query has no answer.
enum Unanswered {
    /// The agent failed.
    Failed(AgentError),
    /// The agent was lost with the process or machine it ran on, and is to begin anew.
    Lost,
}

fn failed(why: String) -> Unanswered {
    Unanswered::Failed(AgentError(why))
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
    /// Where all APIs are listed.
    #[pyo3(get)]
    tools_url: String,
    /// The token that calls must carry, if any.
    #[pyo3(get)]
    token: Option<String>,
    /// How many agents were lost at this query.
    #[pyo3(get)]
    n_lost: usize,
    reply: Mutex<Option<oneshot::Sender<Result<Answered, Unanswered>>>>,
    deadline: Deadline,
}

#[pymethods]
impl Ask {
    /// Delivers the agent's answer, as JSON, and the seconds it took if they are known; returns
    /// whether it was still awaited.
    #[pyo3(signature = (json, seconds=None))]
    fn answered(&self, json: &str, seconds: Option<f64>) -> bool {
        let read = Answered::read(json).map(|read| Answered { seconds, ..read });
        self.end(
            read.map_err(|error| failed(format!("the agent's answer cannot be read: {error}"))),
        )
    }

    /// Reports why there is no answer; returns whether one was still awaited.
    fn failed(&self, why: String) -> bool {
        self.end(Err(failed(why)))
    }

    /// Reports that the agent is gone: the query is asked again, as if it had called nothing. Returns
    /// whether an answer was still awaited.
    fn lost(&self) -> bool {
        self.end(Err(Unanswered::Lost))
    }

    /// Extends the deadline by some seconds: the agent's thread enforces the time limit itself, and
    /// needs a moment to stop.
    fn wait_longer(&self, seconds: f64) {
        let more = Duration::try_from_secs_f64(seconds).unwrap_or_default();
        *self.deadline.lock().unwrap_or_else(PoisonError::into_inner) += more;
    }
}

impl Ask {
    fn end(&self, said: Result<Answered, Unanswered>) -> bool {
        let reply = self.reply.lock().unwrap_or_else(PoisonError::into_inner).take();
        reply.is_some_and(|reply| reply.send(said).is_ok())
    }
}

impl PythonAgents {
    /// Asks until an agent answers or fails. Each time the calls are recorded at another address, so
    /// that those of a lost agent never count, not even if it goes on somewhere.
    async fn ask(&self, task: Task<'_>) -> Result<Answered, AgentError> {
        let (mut url, mut n_lost) = (task.virtual_url.to_owned(), 0);
        loop {
            match self.ask_once(task, url, n_lost).await {
                Ok(answered) => return Ok(answered),
                Err(Unanswered::Failed(error)) => return Err(error),
                Err(Unanswered::Lost) => {}
            }
            let unserved = |why| AgentError(format!("its tools cannot be served: {why}"));
            url = (task.renew)().await.map_err(unserved)?;
            n_lost += 1;
        }
    }

    async fn ask_once(
        &self,
        task: Task<'_>,
        url: String,
        n_lost: usize,
    ) -> Result<Answered, Unanswered> {
        let number = self.n_asked.fetch_add(1, Ordering::Relaxed);
        let deadline: Deadline = Arc::new(Mutex::new(Instant::now() + self.timeout));
        let (reply, mut answered) = oneshot::channel();
        let ask = Ask {
            number,
            query: task.query.to_owned(),
            trial: task.trial,
            url,
            tools: task.tools.map(|tools| tools.get().to_owned()),
            tools_url: task.tools_url.to_owned(),
            token: task.token.map(|token| token.expose().to_owned()),
            n_lost,
            reply: Mutex::new(Some(reply)),
            deadline: deadline.clone(),
        };
        let gone = |_| failed("nobody is there to answer".into());
        self.asks.send(ask).map_err(gone)?;
        loop {
            tokio::select! {
                biased;
                said = &mut answered => {
                    return said.unwrap_or_else(|_| Err(failed("the agent's thread has ended".into())));
                }
                () = tokio::time::sleep_until(look(&deadline).into()) => {}
            }
            if look(&deadline) <= Instant::now() {
                // If the receiver is gone, no thread needs to be replaced.
                let _ = self.messages.send(Message::Late { number });
                let seconds = self.timeout.as_secs_f64();
                return Err(failed(format!("no answer within {seconds} s")));
            }
        }
    }
}

impl Subject for PythonAgents {
    fn answer<'a>(&'a self, task: Task<'a>) -> Pending<'a, Result<Answered, AgentError>> {
        Box::pin(self.ask(task))
    }
}
