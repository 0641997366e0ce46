//! Keeps the run of an evaluation in a folder.

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use juror_models::Stop;
use juror_run::{KnownJudgement, Settings};
use juror_runs::{DEFAULT_RUNS, Resume, RunLog, RunPlace};

use super::super::{boolish, count, model_args};
use crate::output;

/// Says how to keep a run.
const KEEP_IT: &str =
    "\n  hint: keep it with --run FOLDER, or with `runs: {folder: runs}` in settings";

/// Where a run is kept.
#[derive(Args, Clone, Default)]
#[command(next_help_heading = "Runs")]
pub(in crate::cli) struct RunArgs {
    /// Keep the run in this folder: the same command resumes an interrupted run; a finished run is
    /// refused, unless --fresh or --retry-errors is given [default: a folder of its own where
    /// `runs.folder` of the settings says, or none].
    #[arg(long = "run", value_name = "FOLDER", env = "JUROR_RUN", value_parser = NonEmptyStringValueParser::new())]
    pub(super) folder: Option<String>,

    /// Name of what is judged, for lists of runs and comparisons [default: the name of RESPONSES, or
    /// of the agent].
    #[arg(long, value_name = "NAME", env = "JUROR_NAME")]
    pub(super) name: Option<String>,

    /// Start over; with --run, replace the run in that folder.
    #[arg(long, env = "JUROR_FRESH", value_parser = boolish(),
        conflicts_with_all = ["resume_changed", "retry_errors"])]
    fresh: bool,

    /// Go on with a run though settings or inputs have changed.
    #[arg(long, env = "JUROR_RESUME_CHANGED", value_parser = boolish())]
    resume_changed: bool,
}

impl RunArgs {
    /// Returns where the run is stored; refuses options that mean a run if there is none.
    pub(super) fn place(&self, settings: &Settings) -> anyhow::Result<RunPlace> {
        let place = self.place_or(settings, RunPlace::Nowhere);
        let given = [(self.fresh, "--fresh"), (self.resume_changed, "--resume-changed")];
        let given = given.into_iter().find(|(is_given, _)| *is_given);
        match given.filter(|_| place == RunPlace::Nowhere) {
            None => Ok(place),
            Some((_, option)) => anyhow::bail!("{option}: the run is not kept{KEEP_IT}"),
        }
    }

    /// Returns where the run of an agent is stored: what it answered is always kept.
    pub(super) fn place_of_agent(&self, settings: &Settings) -> RunPlace {
        self.place_or(settings, RunPlace::Within(DEFAULT_RUNS.into()))
    }

    fn place_or(&self, settings: &Settings, otherwise: RunPlace) -> RunPlace {
        match (&self.folder, &settings.runs.folder) {
            (Some(folder), _) => RunPlace::Named(folder.into()),
            (None, Some(root)) => RunPlace::Within(root.into()),
            (None, None) => otherwise,
        }
    }

    pub(super) fn resume(&self, retry_errors: bool) -> Resume {
        Resume { fresh: self.fresh, retry_errors, even_if_changed: self.resume_changed }
    }
}

/// Says where the run is kept, unless the user named the folder of a new one.
pub(super) fn print_place(log: &RunLog<KnownJudgement>, place: &RunPlace) {
    let folder = log.place();
    if log.n_known() > 0 {
        let done = count(log.n_known(), "question");
        output::print_note(&format!("resuming {folder}: {done} already judged"));
    } else if matches!(place, RunPlace::Within(_)) {
        output::print_note(&format!("the run is kept in {folder}"));
    }
}

/// Says how far an interrupted run came, and where what was judged is kept: in the cache, if there
/// is one, or in the run's folder.
pub(super) fn print_unfinished(
    n_done: usize,
    n_all: usize,
    cache: Option<&str>,
    log: Option<&RunLog<KnownJudgement>>,
) {
    output::print_note(&format!("{n_done} of {n_all} answers are judged; no output was written"));
    let folder = log.map(RunLog::place);
    model_args::print_stop(&Stop::Interrupted, cache.or(folder.as_deref()));
}
