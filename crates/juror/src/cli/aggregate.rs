//! `juror aggregate`: statistics of existing results.

use clap::Args;
use juror_compare::Runs;
use juror_files::load;
use juror_report::{Format, Highlights, render_aggregates, render_statistics, summary};
use juror_run::{Output, Totals};
use juror_score::read::read_results;

use super::gate::GateArgs;
use super::{RuleArgs, boolish, check_outputs, count, title};
use crate::exit::{Exit, Outside};
use crate::output;

const EXAMPLES: &str = "\
Examples:
  juror aggregate results.json
  juror aggregate monday.jsonl tuesday.jsonl -a week.yaml
  juror aggregate results.jsonl --fail-under steps_score=0.9 --max-errors 2%

Results of several files are taken together, as if they were one.";

/// Statistics of results that were written earlier.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct AggregateArgs {
    /// Results of `juror eval`, or of the Python library, in JSON, JSONL or YAML.
    #[arg(value_name = "RESULTS", required = true)]
    results: Vec<String>,

    #[command(flatten)]
    rules: RuleArgs,

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

    #[command(flatten)]
    gate: GateArgs,
}

pub(super) fn run(args: &AggregateArgs) -> anyhow::Result<Exit> {
    let outputs = args.aggregates.iter().chain(&args.statistics);
    check_outputs(args.results.iter().chain(&args.rules.config), outputs.clone(), args.json)?;
    let mut plan = args.rules.plan()?;
    args.gate.add_to(&mut plan)?;
    let mut aggregator = plan.aggregator();
    let mut n_results = 0;
    for name in &args.results {
        let document = load(name)?;
        let (n, problems) = read_results(&document, &mut aggregator)?;
        n_results += n;
        if n == 0 && !problems.is_empty() {
            return Err(problems.into());
        }
        if !args.quiet {
            output::warn_all(&problems);
        }
    }
    let totals = Totals::of(&aggregator, &plan.gates);
    let Totals { aggregates, statistics, gates } = &totals;
    write_files(&args.aggregates, |format| render_aggregates(aggregates, format))?;
    write_files(&args.statistics, |format| render_statistics(statistics, format))?;
    if args.json {
        let bytes = render_aggregates(aggregates, Format::Json);
        output::print_data(&String::from_utf8_lossy(&bytes))?;
    } else if !args.quiet && !outputs.clone().any(|name| name == "-") {
        let title = title(&plan.profile, &count(n_results, "result"), aggregates);
        let (worst, calls) = (Vec::new(), Vec::new());
        let highlights = Highlights { title, aggregates, statistics, worst, n_more: 0, calls };
        output::print_data(&summary(&highlights, output::palette()))?;
    }
    if !args.quiet {
        GateArgs::tell_unchecked(&plan.gates, statistics.kind, Runs::One);
    }
    Ok(args.gate.report(gates))
}

/// Writes the same to files of several formats, all or none.
fn write_files(names: &[String], render: impl Fn(Format) -> Vec<u8>) -> anyhow::Result<()> {
    let mut files = names.iter().map(|name| Output::create(name)).collect::<Result<Vec<_>, _>>()?;
    for file in &mut files {
        file.write(&render(file.format)).map_err(|error| Outside(error.into()))?;
    }
    for file in files {
        file.finish().map_err(|error| Outside(error.into()))?;
    }
    Ok(())
}
