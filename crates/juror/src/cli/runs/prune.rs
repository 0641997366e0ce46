//! `juror runs prune`: removes runs that are no longer wanted.

use clap::Args;
use juror_files::reason;
use juror_runs::{Keep, Removal, RunReadError, StoredRun};

use super::super::{boolish, count};
use super::PlaceArgs;
use super::list::readable;
use crate::exit::{Exit, Outside};
use crate::output;

const EXAMPLES: &str = "\
Examples:
  juror runs prune --keep 20 --dry-run      what would be removed
  juror runs prune runs --keep 20           all complete runs but the newest 20
  juror runs prune --keep 5 --unfinished    unfinished ones too

A run that a process is working on is never removed, nor is a file that is not of a run: a folder
that has others keeps them.";

/// Remove the oldest complete runs.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct PruneArgs {
    /// Folder of runs, or the address of a database.
    #[arg(value_name = "FOLDER")]
    folder: Option<String>,

    /// How many of the newest runs to keep.
    #[arg(long, value_name = "N")]
    keep: usize,

    /// Remove unfinished runs too; without this they stay, and do not count.
    #[arg(long)]
    unfinished: bool,

    /// Only say what would be removed.
    #[arg(long, env = "JUROR_DRY_RUN", value_parser = boolish())]
    dry_run: bool,

    #[command(flatten)]
    place: PlaceArgs,
}

pub(super) fn run(args: &PruneArgs) -> anyhow::Result<Exit> {
    let root = args.place.root(args.folder.as_ref())?;
    let mut runs = readable(&root)?;
    // A folder of runs that is a run itself is not one of its own runs.
    runs.retain(|run| run.folder != root);
    let keep = Keep { newest: args.keep, unfinished_too: args.unfinished };
    let others = keep.others(&runs);
    let mut n_removed = 0;
    for run in &others {
        n_removed += usize::from(if args.dry_run { would_remove(run) } else { remove(run)? });
    }
    let word = if args.dry_run { "would remove" } else { "removed" };
    let (removed, n_left) = (count(n_removed, "run"), runs.len() - n_removed);
    output::print_note(&format!("{word} {removed}, {n_left} left"));
    Ok(Exit::Done)
}

fn would_remove(run: &StoredRun) -> bool {
    let is_busy = run.is_busy();
    let removed = || format!("would remove {}", run.place());
    output::print_note(&if is_busy { stays(run) } else { removed() });
    !is_busy
}

/// Removes a run, and says what became of it. Returns whether it is gone.
fn remove(run: &StoredRun) -> Result<bool, Outside> {
    let folder = run.place();
    let removal = run.remove().map_err(|error| match error {
        RunReadError::Io { error, .. } => {
            Outside(anyhow::anyhow!("{folder}: cannot remove: {}", reason(&error)))
        }
        other => Outside(other.into()),
    })?;
    output::print_note(&match removal {
        Removal::Removed => format!("removed {folder}"),
        Removal::FolderStays => format!("removed the run in {folder}; other files in it stay"),
        Removal::InUse => stays(run),
    });
    Ok(removal != Removal::InUse)
}

fn stays(run: &StoredRun) -> String {
    format!("{} stays: a process is working on it", run.place())
}
