//! `juror merge`: the numbers of all shards of an evaluation, taken together.

use clap::Args;
use juror_report::{Format, Highlights, render_aggregates, render_statistics, summary};
use juror_run::merge_partials;
use juror_runs::Shard;
use juror_score::statistics::CONFIDENCE;

use super::aggregate::{counted, write_files};
use super::{boolish, check_outputs, title};
use crate::exit::{Exit, Outside};
use crate::output;

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

    /// Write aggregates here; the ending picks the format (.json .jsonl .yaml .tsv). May repeat.
    #[arg(short, long = "aggregates", value_name = "FILE", env = "JUROR_AGGREGATES")]
    aggregates: Vec<String>,

    /// Write statistics here: means with intervals and coverage; formats as for aggregates. May
    /// repeat.
    #[arg(short, long = "statistics", value_name = "FILE", env = "JUROR_STATISTICS")]
    statistics: Vec<String>,

    /// Print the aggregates as JSON.
    #[arg(long, env = "JUROR_JSON", value_parser = boolish())]
    json: bool,

    /// Print errors only.
    #[arg(short, long, env = "JUROR_QUIET", value_parser = boolish())]
    quiet: bool,
}

pub(super) fn run(args: &MergeArgs) -> anyhow::Result<Exit> {
    let outputs = args.aggregates.iter().chain(&args.statistics);
    check_outputs(&args.partials, outputs.clone(), args.json)?;
    let partial = merge_partials(&args.partials).map_err(|error| {
        if error.is_outside() { Outside(error.into()).into() } else { anyhow::Error::from(error) }
    })?;
    let finished = partial.finish(CONFIDENCE);
    let (aggregates, statistics) = (&finished.aggregates, &finished.statistics);
    write_files(&args.aggregates, |format| render_aggregates(aggregates, format))?;
    write_files(&args.statistics, |format| render_statistics(statistics, format))?;
    if args.json {
        let bytes = render_aggregates(aggregates, Format::Json);
        output::print_data(&String::from_utf8_lossy(&bytes))?;
    } else if !args.quiet && !outputs.clone().any(|name| name == "-") {
        let counted = counted(statistics.answers, statistics.questions);
        let title = title(&partial.rules_name(), &counted, aggregates);
        let (worst, calls) = (Vec::new(), Vec::new());
        let highlights = Highlights { title, aggregates, statistics, worst, n_more: 0, calls };
        output::print_data(&summary(&highlights, output::palette()))?;
    }
    Ok(Exit::Done)
}

/// Parses `3/10`, or `auto/10` by the variables of a scheduler.
pub(super) fn parse_shard(text: &str) -> Result<Shard, String> {
    Shard::read(text, |name| std::env::var(name).ok()).map_err(|error| error.to_string())
}
