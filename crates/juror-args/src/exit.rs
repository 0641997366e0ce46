//! How the program ends. The exit codes are published, and scripts rely on them.

use juror_pages::UnreadableRun;
use juror_run::{OutputError, SetupError};
use juror_runs::{FindError, RunLogError, RunReadError};
use juror_store::StoreError;

/// An exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Success.
    Done = 0,
    /// Success, but a quality gate was not met.
    GateNotMet = 1,
    /// The request was wrong: arguments, settings or dataset.
    AskedWrongly = 2,
    /// Something external failed; results are incomplete.
    OutsideFailed = 3,
    /// Success, but the data cannot tell whether a gate is met, and `--strict` asks.
    Inconclusive = 4,
    /// A bug in Juror.
    Bug = 70,
}

/// An error after work began: something external failed.
#[derive(Debug)]
pub struct Outside(pub anyhow::Error);

impl std::fmt::Display for Outside {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Outside {}

/// Replaces the usual panic message with a request for a bug report.
pub fn report_bugs() {
    std::panic::set_hook(Box::new(|panic| {
        if juror_document::is_caught() {
            return;
        }
        crate::output::print_note(&format!(
            "this is a bug in juror: {panic}\nplease report it, with the command you ran"
        ));
    }));
}

/// Returns the exit code of a run that returned or panicked, and prints what went wrong.
pub fn code_of(outcome: std::thread::Result<anyhow::Result<Exit>>) -> u8 {
    // If an input was truncated, that is the cause of whatever happened.
    if let Some(name) = juror_files::torn_input() {
        let problem = juror_files::CUT_SHORT;
        crate::output::print_error(&anyhow::anyhow!("{name}: cannot read: {problem}"));
        return Exit::OutsideFailed as u8;
    }
    let exit = match outcome {
        Ok(Ok(exit)) => exit,
        Ok(Err(error)) => {
            crate::output::print_error(&error);
            kind_of(&error)
        }
        Err(_) => Exit::Bug,
    };
    exit as u8
}

/// Errors after work began are external, and those of databases and disks; all others are about the
/// request.
fn kind_of(error: &anyhow::Error) -> Exit {
    let setup = error.downcast_ref::<SetupError>().is_some_and(SetupError::is_outside);
    let store = error.downcast_ref::<StoreError>().is_some_and(StoreError::is_outside);
    let disk = matches!(error.downcast_ref::<OutputError>(), Some(OutputError::Io { error, .. })
        if juror_files::is_disk_failure(error));
    let is_outside = error.is::<Outside>() || setup || store || disk || is_run_outside(error);
    if is_outside { Exit::OutsideFailed } else { Exit::AskedWrongly }
}

/// Whether the place of a run failed: a database, or a disk.
fn is_run_outside(error: &anyhow::Error) -> bool {
    let log = error.downcast_ref::<RunLogError>().is_some_and(RunLogError::is_outside);
    let read = error.downcast_ref::<RunReadError>().is_some_and(RunReadError::is_outside);
    let scored = error.downcast_ref::<UnreadableRun>().is_some_and(UnreadableRun::is_outside);
    let found = error.downcast_ref::<FindError>();
    let found = found
        .is_some_and(|error| matches!(error, FindError::Unreadable(error) if error.is_outside()));
    log || read || scored || found
}
