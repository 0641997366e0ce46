//! `juror compare`: did a change make it better?

#![expect(clippy::doc_markdown, reason = "these comments are the help that users read")]

use std::thread;

use clap::{Args, ValueEnum};
use juror_compare::{CompareOptions, ComparedRun, Comparison, RunCount, compare};
use juror_pages::{ScoredRun, calibrated_means};
use juror_report::{
    ComparisonFormat, ComparisonView, Threshold, comparison_json, comparison_junit,
    comparison_markdown, comparison_text, comparison_tsv, is_unchanged,
};
use juror_run::{Output, Plan, load_calibrations};
use juror_score::ScoreTable;

use super::aggregate::tell_repeated;
use super::gate::{GateArgs, parse_limit};
use super::page::{PageArgs, PageFiles, RepliesArgs};
use super::{RuleArgs, boolish, check_outputs};
use crate::exit::{Exit, Outside};
use crate::output;

const EXAMPLES: &str = "\
Examples:
  Two runs, question by question; the first is the baseline:
    juror compare runs/main runs/pr-412

  Files of results do as well, of `juror eval` or of `juror bench`:
    juror compare before.jsonl after.jsonl

  In a pipeline: fail if the steps score may have fallen by more than 0.02, and comment on it:
    juror compare runs/main runs/pr-412 --gates gates.yaml -o comment.md -o compare.junit.xml

  To look at, in a browser: what broke, and how the answers differ:
    juror compare runs/main runs/pr-412 -o changes.html

  Three models against one baseline, p-values adjusted for three candidates:
    juror compare runs/small runs/medium runs/large runs/huge

  With the means that people would give, if the settings name a `judge.calibration`:
    juror compare runs/main runs/pr-412 -c juror.yaml

Questions are joined by template and id; those of one template count as a cluster. `better` is the
probability that the second run is better, `MDE` the least difference that would have been found.";

/// Compare runs with a baseline: how each metric changed, how sure that is, and what broke.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
#[expect(clippy::struct_excessive_bools, reason = "they are switches of the command line")]
pub(super) struct CompareArgs {
    /// The baseline, then one run or more: folders of runs, or files of results.
    #[arg(value_name = "RUN", required = true, num_args = 2..)]
    runs: Vec<String>,

    #[command(flatten)]
    rules: RuleArgs,

    #[command(flatten)]
    gate: GateArgs,

    /// Write the comparison here; the ending picks the format (.html .json .md .junit.xml .tsv). May
    /// repeat.
    #[arg(short, long = "output", value_name = "FILE", env = "JUROR_OUTPUT")]
    outputs: Vec<String>,

    #[command(flatten)]
    page: PageArgs,

    #[command(flatten)]
    replies: RepliesArgs,

    /// Compare this metric alone. May repeat.
    #[arg(long = "metric", value_name = "METRIC", env = "JUROR_METRIC")]
    metrics: Vec<String>,

    /// Also compare by template (or set).
    #[arg(long, value_name = "WHAT", env = "JUROR_BY")]
    by: Option<ByWord>,

    /// The confidence of intervals.
    #[arg(long, value_name = "SHARE", default_value_t = 0.95, env = "JUROR_CONFIDENCE", value_parser = parse_confidence)]
    confidence: f64,

    /// How many questions that broke or were fixed are listed, or `all`.
    #[arg(long, value_name = "N|all", default_value = "5", env = "JUROR_FLIPS", value_parser = parse_flips)]
    flips: usize,

    /// Compare the questions that both runs have in common, though references or rules differ.
    #[arg(long, env = "JUROR_ALLOW_MISMATCH", value_parser = boolish())]
    allow_mismatch: bool,

    /// Compare what there is of runs that are not finished.
    #[arg(long, env = "JUROR_ALLOW_INCOMPLETE", value_parser = boolish())]
    allow_incomplete: bool,

    /// In JUnit files, a question fails when its score is below this. By default it fails only when
    /// a gate on it is not met.
    #[arg(long, value_name = "METRIC=VALUE", env = "JUROR_JUNIT_THRESHOLD", value_parser = parse_threshold)]
    junit_threshold: Option<Threshold>,

    /// The name of the comparison, by which a bot finds its earlier comment; the names of the runs
    /// when left out.
    #[arg(long, value_name = "NAME", env = "JUROR_NAME")]
    name: Option<String>,

    /// Write and print nothing when nothing moved.
    #[arg(long, env = "JUROR_ONLY_CHANGES", value_parser = boolish())]
    only_changes: bool,

    /// Print the comparison as JSON.
    #[arg(long, env = "JUROR_JSON", value_parser = boolish())]
    json: bool,

    /// Print errors only.
    #[arg(short, long, env = "JUROR_QUIET", value_parser = boolish())]
    quiet: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum ByWord {
    #[value(name = "template", alias = "set", help = "A table for each template or set")]
    Template,
}

fn parse_confidence(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| (0.5..1.0).contains(number));
    number.ok_or_else(|| format!("`{text}` is not a confidence from 0.5 to below 1, such as 0.95"))
}

fn parse_threshold(text: &str) -> Result<Threshold, String> {
    let (metric, value) = parse_limit(text)?;
    Ok(Threshold { metric, value })
}

fn parse_flips(text: &str) -> Result<usize, String> {
    match text {
        "all" => Ok(usize::MAX),
        _ => text.parse().map_err(|_| format!("`{text}` is neither a number nor `all`")),
    }
}

/// Returns the format of a file; `-` is JSON.
fn format_of(name: &str) -> anyhow::Result<ComparisonFormat> {
    let format = match name {
        "-" => Some(ComparisonFormat::Json),
        _ => ComparisonFormat::from_name(name),
    };
    format.ok_or_else(|| {
        let endings = ComparisonFormat::ENDINGS;
        anyhow::anyhow!(
            "{name}: the format of a comparison is picked by the ending\n  hint: use {endings}, .html"
        )
    })
}

/// Starts all files, so that a missing folder is noticed before the work.
fn files(names: &[String]) -> anyhow::Result<Vec<(ComparisonFormat, Output)>> {
    names.iter().map(|name| Ok((format_of(name)?, Output::create_text(name)?))).collect()
}

pub(super) fn run(args: &CompareArgs) -> anyhow::Result<Exit> {
    check_outputs(args.runs.iter().chain(&args.rules.config), &args.outputs, args.json)?;
    let (pages, others) = PageFiles::begin(&args.outputs)?;
    let files = files(&others)?;
    let calibrations = load_calibrations(&args.rules.settings()?.judge.calibration)?;
    let (plan, options) = args.options()?;
    let runs = read_all(&args.runs, &plan)?;
    if !args.quiet {
        // Of results that are gone or changed, the comparison tells itself.
        for run in &runs {
            output::warn_all(&run.problems);
            if run.manifest.is_none() {
                tell_repeated(&format!("{}: ", run.facts.source), &run.scores);
            }
        }
    }
    let [baseline, candidates @ ..] = &runs[..] else { return Ok(Exit::AskedWrongly) };
    args.gate.check_kind(baseline.facts.kind)?;
    let sides: Vec<ComparedRun<'_>> = candidates.iter().map(ScoredRun::side).collect();
    let mut comparison = compare(baseline.side(), &sides, &options)
        .map_err(|error| anyhow::anyhow!("{}", error.notice()))?;
    let means = |run: &ScoredRun| calibrated_means(run.side(), &calibrations, options.confidence);
    comparison.add_calibrated(runs.iter().map(means));
    GateArgs::tell_unchecked(&options.gates, baseline.facts.kind, RunCount::Several);
    explain(&mut comparison, candidates, args.flips);
    let scores: Vec<&ScoreTable> = runs.iter().map(|run| &run.scores).collect();
    let exit = args.report(&comparison, &scores, files)?;
    let is_left_out = args.only_changes && is_unchanged(&comparison, &args.view());
    if !pages.is_empty() && !is_left_out {
        let replies = args.replies.with(args.rules.settings()?);
        let page = args.page.of_comparison(&runs, &replies, &comparison, &options.gates);
        pages.write(&page, args.quiet)?;
    }
    // The program ends here, and the system reclaims memory faster than dropping would.
    std::mem::forget(runs);
    Ok(exit)
}

impl CompareArgs {
    fn options(&self) -> anyhow::Result<(Plan, CompareOptions)> {
        let mut plan = self.rules.plan()?;
        self.gate.add_to_gates(&mut plan.gates)?;
        for name in &self.metrics {
            if juror_score::metric(name).is_none() && !plan.custom_metrics.contains(name) {
                plan.custom_metrics.push(name.clone());
            }
        }
        let options = CompareOptions {
            confidence: self.confidence,
            allow_mismatch: self.allow_mismatch,
            allow_incomplete: self.allow_incomplete,
            metrics: self.metrics.clone(),
            by_group: self.by.is_some(),
            gates: plan.gates.clone(),
        };
        Ok((plan, options))
    }

    fn report(
        &self,
        comparison: &Comparison,
        scores: &[&ScoreTable],
        files: Vec<(ComparisonFormat, Output)>,
    ) -> Result<Exit, Outside> {
        let exit = self.gate.exit_of(comparison.verdict);
        if self.only_changes && is_unchanged(comparison, &self.view()) {
            return Ok(exit);
        }
        for (format, mut file) in files {
            let bytes = self.render(comparison, scores, format);
            let written = file.write(&bytes).and_then(|()| file.finish());
            written.map_err(|error| Outside(error.into()))?;
        }
        if self.json {
            let bytes = comparison_json(comparison);
            output::print_data(&String::from_utf8_lossy(&bytes))?;
        } else if self.quiet {
            for candidate in &comparison.candidates {
                GateArgs::report_of(&candidate.run.name, &candidate.gates);
            }
        } else if !self.outputs.iter().any(|name| name == "-") {
            let text = comparison_text(comparison, &self.view(), output::palette());
            output::print_data(&text)?;
        }
        Ok(exit)
    }

    fn render(
        &self,
        comparison: &Comparison,
        scores: &[&ScoreTable],
        format: ComparisonFormat,
    ) -> Vec<u8> {
        match format {
            ComparisonFormat::Json => comparison_json(comparison),
            ComparisonFormat::Markdown => {
                comparison_markdown(comparison, &self.view(), self.name.as_deref()).into_bytes()
            }
            ComparisonFormat::Junit => {
                comparison_junit(comparison, scores, self.junit_threshold.as_ref())
            }
            ComparisonFormat::Tsv => comparison_tsv(comparison),
        }
    }

    fn view(&self) -> ComparisonView {
        let all_metrics = !self.metrics.is_empty();
        ComparisonView {
            flips: self.flips,
            by_group: self.by.is_some(),
            all_metrics,
            ..ComparisonView::default()
        }
    }
}

/// Reads all runs, each on a thread of its own.
pub(super) fn read_all(names: &[String], plan: &Plan) -> anyhow::Result<Vec<ScoredRun>> {
    thread::scope(|scope| {
        let threads: Vec<_> =
            names.iter().map(|name| scope.spawn(move || ScoredRun::read(name, plan))).collect();
        let join = |thread: thread::ScopedJoinHandle<'_, _>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        threads.into_iter().map(join).map(|read| Ok(read?)).collect()
    })
}

/// Warns of what could not be read, and of files that are no longer what they were.
pub(super) fn tell_problems(run: &ScoredRun) {
    output::warn_all(&run.problems);
    if let Some(damage) = &run.facts.damage {
        output::warn(&format!("{} is damaged: {damage}", run.facts.source));
    }
}

/// Says of the questions that are listed why they have the scores they have now.
fn explain(comparison: &mut Comparison, candidates: &[ScoredRun], n_listed: usize) {
    for (compared, run) in comparison.candidates.iter_mut().zip(candidates) {
        for flips in &mut compared.flips {
            run.explain(flips.broken.iter_mut().take(n_listed));
        }
    }
}
