//! `juror report`: shows runs of earlier days as one HTML file.

use clap::Args;
use juror_compare::{CompareOptions, Gates, compare};
use juror_pages::{ScoredRun, calibrated_means};
use juror_run::load_calibrations;

use super::compare::{read_all, tell_problems};
use super::page::{PageArgs, PageFiles, RepliesArgs, is_page};
use super::{RuleArgs, boolish, check_outputs};
use crate::exit::Exit;
use crate::output;

const EXAMPLES: &str = "\
Examples:
  A run of an earlier day, as a file that opens in any browser, offline:
    juror report runs/monday -o report.html

  Two runs side by side, question by question; the first is the baseline:
    juror report runs/main runs/pr-412 -o changes.html

  To pass on without answers, outputs and reasons:
    juror report runs/monday -o report.html --redact

  Files of results do as well, of `juror eval` or of `juror bench`:
    juror report results.jsonl -o report.html

`juror eval`, `juror bench` and `juror compare` write the same report with -o report.html.";

/// Show runs as one HTML file: verdict, metrics, templates, and every question with what differs.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ReportRunsArgs {
    /// Folders of runs, or files of results. With several, the first is the baseline.
    #[arg(value_name = "RUN", required = true)]
    runs: Vec<String>,

    /// Write the report here (.html). May repeat.
    #[arg(short, long = "output", value_name = "FILE", required = true, env = "JUROR_OUTPUT")]
    outputs: Vec<String>,

    #[command(flatten)]
    rules: RuleArgs,

    #[command(flatten)]
    page: PageArgs,

    #[command(flatten)]
    replies: RepliesArgs,

    /// Show the questions that runs have in common, though references or rules differ.
    #[arg(long, env = "JUROR_ALLOW_MISMATCH", value_parser = boolish())]
    allow_mismatch: bool,

    /// Print errors only.
    #[arg(short, long, env = "JUROR_QUIET", value_parser = boolish())]
    quiet: bool,
}

pub(super) fn run(args: &ReportRunsArgs) -> anyhow::Result<Exit> {
    check_outputs(args.runs.iter().chain(&args.rules.config), &args.outputs, false)?;
    if let Some(name) = args.outputs.iter().find(|name| !is_page(name)) {
        anyhow::bail!(
            "{name}: a report is an HTML file\n  hint: use .html; `juror compare` writes other formats"
        );
    }
    let (files, _) = PageFiles::begin(&args.outputs)?;
    let settings = args.rules.settings()?;
    let calibrations = load_calibrations(&settings.judge.calibration)?;
    let runs = read_all(&args.runs, &settings.plan())?;
    let replies = args.replies.with(settings);
    if !args.quiet {
        runs.iter().for_each(tell_problems);
    }
    let page = match &runs[..] {
        [only] => {
            let pages = args.page.of(only).with_statistics(only.statistics(&calibrations));
            pages.with_replies(&replies).of_run(&Gates::default(), &[])
        }
        [baseline, candidates @ ..] => {
            let mut comparison = args.compare(baseline, candidates)?;
            let confidence = comparison.confidence;
            let means = |run: &ScoredRun| calibrated_means(run.side(), &calibrations, confidence);
            comparison.add_calibrated(runs.iter().map(means));
            args.page.of_comparison(&runs, &replies, &comparison, &Gates::default())
        }
        [] => return Ok(Exit::AskedWrongly),
    };
    files.write(&page, args.quiet)?;
    if !args.quiet {
        output::print_note(&format!("the report is in {}", args.outputs.join(", ")));
    }
    std::mem::forget(runs);
    Ok(Exit::Done)
}

impl ReportRunsArgs {
    /// Compares what there is, also of runs that are not finished: the report says so.
    fn compare(
        &self,
        baseline: &ScoredRun,
        candidates: &[ScoredRun],
    ) -> anyhow::Result<juror_compare::Comparison> {
        let options = CompareOptions {
            allow_mismatch: self.allow_mismatch,
            allow_incomplete: true,
            ..CompareOptions::default()
        };
        let sides: Vec<_> = candidates.iter().map(ScoredRun::side).collect();
        compare(baseline.side(), &sides, &options)
            .map_err(|error| anyhow::anyhow!("{}", error.notice()))
    }
}
