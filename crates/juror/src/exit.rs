//! How the program ends. The codes are published: scripts rely on them.

/// A way to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done.
    Done = 0,
    /// Done, and a quality gate was not met.
    GateNotMet = 1,
    /// Asked wrongly: arguments, settings, dataset.
    AskedWrongly = 2,
    /// Something outside failed; results are incomplete.
    OutsideFailed = 3,
    /// Our bug.
    Bug = 70,
}

/// An error met after work began: something outside failed.
#[derive(Debug)]
pub(crate) struct Outside(pub(crate) anyhow::Error);

impl std::fmt::Display for Outside {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Outside {}

/// Turns a panic's usual noise into a request for a report.
pub(crate) fn report_bugs() {
    std::panic::set_hook(Box::new(|panic| {
        if juror_document::is_caught() {
            return;
        }
        crate::output::print_note(&format!(
            "juror has met a bug of its own: {panic}\nplease report it, with the command you ran"
        ));
    }));
}

/// The exit code of a run that returned or panicked; says what went wrong.
pub(crate) fn code_of(outcome: std::thread::Result<anyhow::Result<Exit>>) -> u8 {
    // Whatever came of it, it came of something that was not there.
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

/// Work that has begun fails for reasons outside; all else is a complaint about what was asked.
fn kind_of(error: &anyhow::Error) -> Exit {
    if error.is::<Outside>() { Exit::OutsideFailed } else { Exit::AskedWrongly }
}
