//! `juror runs`: lists, shows and removes runs that are kept.

mod list;
mod prune;
mod show;

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use juror_files::load_settings;
use juror_run::Settings;
use juror_runs::DEFAULT_RUNS;

use crate::exit::Exit;

const EXAMPLES: &str = "\
Examples:
  juror runs                          the runs that are kept here, newest last
  juror runs runs --json              those of a folder, for machines
  juror runs show runs/monday         one run: what decided it, its files, how to resume it
  juror runs prune --keep 20          remove all but the newest 20

FOLDER is by default that of `runs.folder` in the settings, or .juror/runs, or runs.
docs/runs.md says how runs are kept.";

/// The folder that is looked in, if none is named and the settings name none.
const OTHER_RUNS: &str = "runs";

/// List the runs that are kept; show one, or prune them.
#[derive(Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub(super) struct RunsArgs {
    #[command(subcommand)]
    command: Option<Command>,

    #[command(flatten)]
    list: list::ListArgs,
}

#[derive(Subcommand)]
enum Command {
    Show(show::ShowArgs),
    Prune(prune::PruneArgs),
}

/// Where runs are looked for.
#[derive(Args)]
struct PlaceArgs {
    /// Settings file, whose `runs.folder` is the folder of runs.
    #[arg(short, long, value_name = "FILE", env = "JUROR_CONFIG")]
    config: Option<String>,
}

impl PlaceArgs {
    /// Returns the folder that is named, or else the first of the usual ones that there is.
    fn root(&self, folder: Option<&String>) -> anyhow::Result<PathBuf> {
        if let Some(folder) = folder {
            return Ok(folder.into());
        }
        let settings = match &self.config {
            None => Settings::default(),
            Some(name) => Settings::read(&load_settings(name)?)?,
        };
        Ok(root_of(&settings))
    }
}

/// Returns the folder of runs that settings name, or else the first of the usual ones that there is.
pub(super) fn root_of(settings: &Settings) -> PathBuf {
    let usual = || [DEFAULT_RUNS, OTHER_RUNS].into_iter().find(|name| Path::new(name).is_dir());
    match &settings.runs.folder {
        Some(folder) => folder.into(),
        None => usual().unwrap_or(DEFAULT_RUNS).into(),
    }
}

pub(super) fn run(args: &RunsArgs) -> anyhow::Result<Exit> {
    match &args.command {
        None => list::run(&args.list),
        Some(Command::Show(args)) => show::run(args),
        Some(Command::Prune(args)) => prune::run(args),
    }
}

/// Returns a time of a manifest for people, to the minute.
fn minute(time: &str) -> String {
    let minute = time.get(..16).unwrap_or(time);
    minute.replacen('T', " ", 1)
}
