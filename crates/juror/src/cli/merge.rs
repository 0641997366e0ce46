//! `juror merge`: the numbers of all shards of an evaluation, taken together.

use clap::Args;
use juror_run::merge_partials;
use juror_runs::Shard;
use juror_score::statistics::CONFIDENCE;

use super::title;
use super::totals_args::{TotalsArgs, counted};
use crate::exit::{Exit, Outside};

const EXAMPLES: &str = "\
Examples:
  On each of ten machines, or as ten jobs of a scheduler (docs/scale.md):
    juror eval reference.jsonl responses.jsonl --shard 3/10 --partial p3

  Then, on one of them:
    juror merge p* -a aggregates.json -s statistics.json

The order of the files says nothing. A shard that is missing, that is there twice, or that is of
another run is refused.";

/// Take the shards of an evaluation together: the aggregates and statistics of the whole.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct MergeArgs {
    /// Files that `juror eval --partial` wrote: one of every shard.
    #[arg(value_name = "PARTIAL", required = true)]
    partials: Vec<String>,

    #[command(flatten)]
    totals: TotalsArgs,
}

pub(super) fn run(args: &MergeArgs) -> anyhow::Result<Exit> {
    args.totals.check(&args.partials)?;
    let partial = merge_partials(&args.partials).map_err(|error| {
        if error.is_outside() { Outside(error.into()).into() } else { anyhow::Error::from(error) }
    })?;
    let finished = partial.finish(CONFIDENCE);
    let (aggregates, statistics) = (&finished.aggregates, &finished.statistics);
    args.totals.put(aggregates, statistics, || {
        let counted = counted(statistics.answers, statistics.questions);
        title(&partial.rules_name(), &counted, aggregates)
    })?;
    Ok(Exit::Done)
}

/// Parses `3/10`, or `auto/10` by the variables of a scheduler.
pub(super) fn parse_shard(text: &str) -> Result<Shard, String> {
    Shard::read(text, |name| std::env::var(name).ok()).map_err(|error| error.to_string())
}
