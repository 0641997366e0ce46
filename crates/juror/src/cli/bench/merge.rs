//! `juror bench merge`: the runs of all shards of a benchmark as one.

use std::path::PathBuf;

use clap::Args;
use juror_bench::merge_runs;
use juror_report::statistics_text;

use crate::cli::count;
use crate::exit::{Exit, Outside};
use crate::output;

const EXAMPLES: &str = "\
Examples:
  juror bench … --shard 1/2 --run runs/1
  juror bench … --shard 2/2 --run runs/2
  juror bench merge runs/* --run runs/all

The run is the one that a single process would have made, but for times: it can be compared, judged
again and shown like any other. A shard that is missing, unfinished, there twice or of another run
is refused.";

/// Take the runs of all shards together, as one run of all queries.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct MergeArgs {
    /// Folders of runs of `juror bench --shard`: one of every shard.
    #[arg(value_name = "FOLDER", required = true)]
    folders: Vec<PathBuf>,

    /// Folder to keep the merged run in.
    #[arg(long, value_name = "FOLDER", env = "JUROR_RUN")]
    run: PathBuf,
}

pub(super) fn run(args: &MergeArgs, line: &[String]) -> anyhow::Result<Exit> {
    let merged = merge_runs(&args.folders, &args.run, line).map_err(|error| {
        if error.is_outside() { Outside(error.into()).into() } else { anyhow::Error::from(error) }
    })?;
    output::print_data(&statistics_text(&merged.statistics, output::palette()))?;
    let (attempts, shards) = (count(merged.n_attempts, "attempt"), count(merged.n_shards, "shard"));
    output::print_note(&format!("{attempts} of {shards} are in {}", args.run.display()));
    Ok(Exit::Done)
}
