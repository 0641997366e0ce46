//! Has models judge the rows of a batch.

use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

use juror_models::Tell;
use juror_run::{
    AskOptions, Environment, Interrupt, Judges, Plan, ReadRow, Settings, ask_each, judges,
};
use juror_score::Judgement;
use pyo3::prelude::*;

use crate::evaluation::{Log, PATIENCE};
use crate::problem::Refusal;

/// Opens the judges that settings and environment configure; `None` if there is no model.
pub(crate) fn judges_of(
    py: Python<'_>,
    settings: &Settings,
    plan: &Plan,
) -> PyResult<Option<Judges>> {
    let tell: Tell = Arc::new(|text: &str| {
        // A line that cannot be logged is no reason to end an evaluation.
        let _ = Python::attach(|py| Log::new(py)?.write(text, false));
    });
    let opened = py.detach(|| {
        let environment = Environment::read(|problem| tell(problem));
        judges(settings, &plan.profile, &environment, AskOptions::default(), Arc::clone(&tell))
    });
    opened.map_err(|error| Refusal::setup(&error.0).into_error(py))
}

/// Asks models about all rows, many at a time. After Ctrl-C it waits for calls in flight, whose
/// replies are kept.
pub(crate) fn ask(
    py: Python<'_>,
    rows: &[ReadRow<'_>],
    judges: &Judges,
    plan: &Plan,
) -> PyResult<Vec<Judgement>> {
    let (interrupt, runtime) =
        (Interrupt::default(), tokio::runtime::Builder::new_current_thread());
    let runtime = { runtime }.enable_all().build()?;
    let one = |at: usize| {
        let row = &rows[at];
        async move { judges.judge(&row.case(), &plan.profile).await }
    };
    let (send, done) = sync_channel(1);
    let done = Mutex::new(done);
    let judgements = thread::scope(|scope| {
        let interrupt = &interrupt;
        scope.spawn(move || {
            let asking = ask_each(rows.len(), &judges.models, interrupt, one, |_| {});
            // The receiver waits until there is something.
            let _ = send.send(runtime.block_on(asking));
        });
        let mut raised = None;
        loop {
            if let Err(error) = py.check_signals() {
                interrupt.set();
                raised = Some(error);
            }
            let lock = || done.lock().unwrap_or_else(PoisonError::into_inner);
            match (py.detach(|| lock().recv_timeout(PATIENCE)), raised.take()) {
                (Err(RecvTimeoutError::Timeout), kept) => raised = kept,
                (_, Some(error)) => return Err(error),
                (Ok(judgements), None) => return Ok(judgements),
                // The thread panicked, which its scope passes on.
                (Err(RecvTimeoutError::Disconnected), None) => return Ok(Vec::new()),
            }
        }
    })?;
    if let Some(stop) = judges.models.stopped() {
        Log::new(py)?.write(&format!("{stop}; nothing more was asked"), true)?;
    }
    Ok(judgements)
}
