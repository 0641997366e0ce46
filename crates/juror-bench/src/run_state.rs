//! Inspects the folder of a run, to see whether it is intact.

use std::fmt;
use std::path::Path;

use juror_run::KnownJudgement;
use juror_runs::{Entry, RunKind, RunLog, RunLogError, read_manifest};

use crate::Attempt;

/// The progress of the run in a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunState {
    /// The kind of run.
    pub kind: RunKind,
    /// The number of finished items.
    pub n_done: usize,
    /// Whether the results are written.
    pub is_complete: bool,
}

impl fmt::Display for RunState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let done = match self.kind {
            RunKind::Eval => "judged",
            RunKind::Bench => "tried",
        };
        let ended = if self.is_complete { "finished" } else { "not finished" };
        write!(f, "{}, {} {done}, {ended}", self.kind.name(), self.n_done)
    }
}

/// Reads the whole folder of a run; `Ok(None)` if it holds no run.
pub fn look_at_run(folder: &Path) -> Result<Option<RunState>, RunLogError> {
    let Some(run) = read_manifest(folder)? else { return Ok(None) };
    let n_done = match run.kind {
        RunKind::Eval => count::<KnownJudgement>(folder)?,
        RunKind::Bench => count::<Attempt>(folder)?,
    };
    Ok(Some(RunState { kind: run.kind, n_done, is_complete: run.is_complete }))
}

fn count<T: Entry>(folder: &Path) -> Result<usize, RunLogError> {
    Ok(RunLog::<T>::read(folder)?.map_or(0, |lines| lines.len()))
}
