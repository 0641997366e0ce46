//! The files and the summary of a run.

use std::collections::HashSet;
use std::path::Path;

use juror_bench::{BenchPlan, BenchTotals, Judged, Results, Selected, SolveJudge};
use juror_compare::{ByMetric, GateOutcome};
use juror_models::Cost;
use juror_report::{
    ReportFormat, RunReport, SetRow, Threshold, agents_table, calibrated_lines, render_run,
    render_statistics, visible,
};
use juror_run::{Output, OutputError};
use juror_toolbench::judged::{write_judgements, write_judgements_csv};
use juror_toolbench::result::Report;
use juror_tools::Catalog;
use serde_json::{Value, json};

use super::{BenchArgs, check_outputs};
use crate::cli::page::{PageFiles, is_page};
use crate::exit::Outside;
use crate::output;

/// Files that appear complete or not at all.
pub(super) struct Outputs {
    name: String,
    results: Vec<Output>,
    /// Reports of one HTML file, made from the run when it is complete.
    pub(super) pages: PageFiles,
    reports: Vec<(ReportFormat, Output)>,
    threshold: Option<Threshold>,
    converted: Option<Output>,
    pass_rate: Option<Output>,
    pass_rate_csv: Option<Output>,
    statistics: Vec<Output>,
}

impl Outputs {
    /// Starts all files, so that a missing folder is noticed before the work, not after it.
    pub(super) fn begin(args: &BenchArgs, plan: &BenchPlan) -> anyhow::Result<Outputs> {
        let is_report = |name: &String| is_page(name) || ReportFormat::from_name(name).is_some();
        let (reports, mut results): (Vec<_>, Vec<_>) =
            args.outputs.iter().cloned().partition(is_report);
        let is_default = results.is_empty();
        if is_default {
            results.push(plan.result_file());
        }
        let more = [&args.converted, &args.pass_rate, &args.pass_rate_csv];
        let files =
            more.into_iter().flatten().chain(&args.statistics).chain(&results).chain(&reports);
        check_outputs(args.queries.iter().chain(&args.run), files, true)?;
        let is_judged = !matches!(plan.judge(), SolveJudge::Nobody);
        anyhow::ensure!(
            is_judged || (args.pass_rate.is_none() && args.pass_rate_csv.is_none()),
            "no judge says what is solved, so there is no pass rate to write\n  hint: configure a model, or try --judge heuristic"
        );
        check_ids(args, plan.queries())?;
        if is_default && let Some(folder) = Path::new(&results[0]).parent() {
            // If this fails, creating the file reports why.
            let _ = std::fs::create_dir_all(folder);
        }
        let text = |name: &Option<String>| name.as_deref().map(Output::create_text).transpose();
        let (pages, reports) = PageFiles::begin(&reports)?;
        Ok(Outputs {
            pages,
            results: create_all(&results).map_err(OutputError::or_report)?,
            reports: create_reports(&reports)?,
            threshold: args.junit.threshold(|name| juror_score::metric(name).is_some())?,
            name: results.swap_remove(0),
            converted: text(&args.converted)?,
            pass_rate: text(&args.pass_rate)?,
            pass_rate_csv: text(&args.pass_rate_csv)?,
            statistics: create_all(&args.statistics)?,
        })
    }

    /// The file of results.
    pub(super) fn result_file(&self) -> &str {
        &self.name
    }

    /// Writes the reports for people and pipelines.
    pub(super) fn write_reports(
        &mut self,
        results: &Results<'_>,
        totals: &BenchTotals,
        gates: &[GateOutcome],
    ) -> Result<(), Outside> {
        let why = |own: &Judged<'_>| own.error().unwrap_or(&own.solves.reason).to_owned();
        let report = RunReport {
            name: &results.name,
            scores: &totals.scores,
            statistics: &totals.statistics,
            gates,
            threshold: self.threshold.as_ref(),
            reasons: &results.judged.iter().map(why).collect::<Vec<_>>(),
            moved: &[],
        };
        for (format, file) in self.reports.drain(..) {
            write(file, &render_run(&report, format))?;
        }
        Ok(())
    }

    /// Writes all other files, and prints the summary.
    pub(super) fn write(
        self,
        results: &Results<'_>,
        report: &Report<'_>,
        totals: &BenchTotals,
        catalog: &Catalog,
        args: &BenchArgs,
    ) -> anyhow::Result<()> {
        let pool = args.pool;
        let replaces = Path::new(&self.name).is_file();
        let bytes = results.to_json(report)?;
        self.results.into_iter().try_for_each(|file| write(file, &bytes))?;
        if let Some(file) = self.converted {
            write(file, results.converted(catalog, pool).as_bytes())?;
        }
        if self.pass_rate.is_some() || self.pass_rate_csv.is_some() {
            let judgements = results.judgements(catalog, pool);
            if let Some(file) = self.pass_rate {
                write(file, write_judgements(&judgements).as_bytes())?;
            }
            if let Some(file) = self.pass_rate_csv {
                write(file, write_judgements_csv(&judgements, &results.name).as_bytes())?;
            }
        }
        for file in self.statistics {
            let bytes = render_statistics(&totals.statistics, file.format);
            write(file, &bytes)?;
        }
        if args.json {
            output::print_data(&format!("{:#}\n", summary_json(results, report, totals)))?;
        } else {
            output::print_data(&summary(results, report, totals))?;
        }
        let earlier = if replaces { ", in place of earlier ones" } else { "" };
        output::print_note(&format!("results are in {}{earlier}", self.name));
        Ok(())
    }
}

/// Checks that ids are unique, because the files of the public evaluation identify queries by id
/// alone.
pub(super) fn check_ids(args: &BenchArgs, queries: &[Selected]) -> anyhow::Result<()> {
    let more = [&args.converted, &args.pass_rate, &args.pass_rate_csv];
    let Some(file) = more.into_iter().flatten().next() else { return Ok(()) };
    let mut seen = HashSet::new();
    match queries.iter().find(|own| !seen.insert(&own.id)) {
        None => Ok(()),
        Some(own) => anyhow::bail!(
            "{file}: two {} the id `{}`, and this file could hold only one\n  hint: {}",
            if own.trial.is_some() { "answers are to" } else { "queries have" },
            own.id,
            if own.trial.is_some() { "`juror judge` takes several" } else { "one set at a time" },
        ),
    }
}

fn create_all(names: &[String]) -> Result<Vec<Output>, OutputError> {
    names.iter().map(|name| Output::create(name)).collect()
}

fn create_reports(names: &[String]) -> Result<Vec<(ReportFormat, Output)>, OutputError> {
    let create = |name: &String| Some((ReportFormat::from_name(name)?, Output::create_text(name)));
    names.iter().filter_map(create).map(|(format, file)| Ok((format, file?))).collect()
}

fn write(mut file: Output, bytes: &[u8]) -> Result<(), Outside> {
    let outside = |error| Outside(anyhow::Error::new(error));
    file.write(bytes).map_err(outside)?;
    file.finish().map_err(outside)
}

fn summary(results: &Results<'_>, report: &Report<'_>, totals: &BenchTotals) -> String {
    let is_judged = !matches!(results.judge, SolveJudge::Nobody);
    let sets = results.sets(report);
    let (none, all) = (ByMetric::default(), &totals.statistics);
    let mut rows: Vec<SetRow<'_>> = sets
        .iter()
        .map(|(set, summary)| {
            let statistics = all.groups.get(set).unwrap_or(&none);
            SetRow { name: set.clone(), summary, statistics }
        })
        .collect();
    let name = if rows.is_empty() { results.config_text("test_set") } else { "all sets".into() };
    rows.push(SetRow { name, summary: &report.summary, statistics: &all.micro });
    let table = agents_table(&rows, all, is_judged, output::palette());
    // An agent may give its own name.
    let name = visible(&results.name);
    let calibrated = calibrated_lines(all);
    format!("{name}\n\n{table}\n{calibrated}{}{}\n", used(results), judged_by(results))
}

/// The summary for machines, with the means of judged metrics without the judge's errors.
fn summary_json(results: &Results<'_>, report: &Report<'_>, totals: &BenchTotals) -> Value {
    let mut summary = results.summary_json(report);
    let calibrated = &totals.statistics.calibrated;
    if !calibrated.is_empty() {
        summary["calibrated"] = json!(calibrated);
    }
    summary
}

/// Describes what the agent used, if it reports it.
fn used(results: &Results<'_>) -> String {
    let replies = results.tool_replies();
    let calls = match replies.get("none") {
        Some(n_none) => {
            let n_calls: usize = replies.values().sum();
            format!("{n_none} of {n_calls} calls had no known reply\n")
        }
        None => String::new(),
    };
    let tokens = results.agent_tokens();
    let usd = results.agent_usd().map(|usd| format!(", {usd:.4} USD")).unwrap_or_default();
    if tokens == 0 && usd.is_empty() {
        return calls;
    }
    format!("{calls}the agent used {tokens} tokens{usd}\n")
}

/// Returns whether no answer required asking the judge, for example because all gave up.
fn has_asked_nobody(results: &Results<'_>) -> bool {
    let has_failed = results.judged.iter().any(|own| own.solves.failure.is_some());
    results.judge_cost() == Cost::default() && !has_failed
}

/// Describes who judged, and how consistently.
fn judged_by(results: &Results<'_>) -> String {
    match results.judge {
        SolveJudge::Nobody => "nobody judged what is solved; see --judge".into(),
        SolveJudge::Heuristic => {
            "solved by the heuristic: a guess from the form of answers, no judgement".into()
        }
        SolveJudge::Model { models, .. } if has_asked_nobody(results) => {
            format!("{} would judge, and no answer had to be asked about", models.chat_name())
        }
        SolveJudge::Model { models, repeats, .. } => {
            let noise = match repeats {
                1 => String::new(),
                _ => format!(
                    " {repeats} times, judge noise {:.1} %",
                    100.0 * results.pass_rate().judge_noise
                ),
            };
            let cost = results.judge_cost().usd();
            let cost = cost.map(|usd| format!(" for {usd:.4} USD")).unwrap_or_default();
            let unjudged = match results.n_unjudged() {
                0 => String::new(),
                n => format!(
                    "\n{n} unjudged and left out of the percentages and SoPR: the judge could not be asked; judge again with `juror judge pass-rate`, or --retry-errors"
                ),
            };
            format!("judged by {}{noise}{cost}{unjudged}", models.chat_name())
        }
    }
}
