//! `juror aggregate`: statistics of existing results.

use std::collections::HashSet;

use clap::Args;
use juror_compare::RunCount;
use juror_document::Document;
use juror_files::load;
use juror_pages::{ToldResults, judge_of_questions, plan_beside};
use juror_run::{Calibrating, Plan, Totals, load_calibrations};
use juror_score::{JudgedBy, Profile, ScoreTable, ScoredItem};

use super::gate::GateArgs;
use super::totals_args::{TotalsArgs, counted};
use super::{RuleArgs, profile_name, title};
use crate::exit::Exit;
use crate::output;

const EXAMPLES: &str = "\
Examples:
  juror aggregate results.json
  juror aggregate monday.jsonl tuesday.jsonl -a week.yaml
  juror aggregate results.jsonl --fail-under steps_score=0.9 --max-errors 2%

Results of several files are taken together, as if they were one. Several results of a question are
several answers to it.";

/// Statistics of results that were written earlier.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct AggregateArgs {
    /// Results of `juror eval`, or of the Python library, in JSON, JSONL or YAML.
    #[arg(value_name = "RESULTS", required = true)]
    results: Vec<String>,

    #[command(flatten)]
    rules: RuleArgs,

    #[command(flatten)]
    totals: TotalsArgs,

    #[command(flatten)]
    gate: GateArgs,
}

pub(super) fn run(args: &AggregateArgs) -> anyhow::Result<Exit> {
    args.totals.check(args.results.iter().chain(&args.rules.config))?;
    let settings = args.rules.settings()?;
    let calibrations = load_calibrations(&settings.judge.calibration)?;
    let mut plan = settings.plan();
    args.gate.add_to(&mut plan)?;
    let documents: Vec<Document> =
        args.results.iter().map(|name| load(name)).collect::<Result<_, _>>()?;
    if let Some(profile) = rules_of_runs(&args.results, &plan)? {
        plan = plan.by(&profile);
    }
    let judges = documents.iter().filter(|_| !calibrations.is_empty()).map(judge_of_questions);
    let judge = one_judge(judges.collect());
    let ToldResults { aggregator, n_results, problems } = ToldResults::read(&documents, &plan)?;
    drop(documents);
    if !args.totals.quiet {
        output::warn_all(&problems);
        tell_repeated("", aggregator.scores());
    }
    let mut totals = Totals::of(&aggregator, &plan.gates);
    Calibrating::by_judge(&calibrations, judge.as_ref())
        .apply(&mut totals.statistics, aggregator.scores());
    let Totals { aggregates, statistics, gates } = &totals;
    args.totals.put(aggregates, statistics, || {
        let rules = profile_name(aggregator.profile());
        title(rules, &counted(n_results, statistics.questions), aggregates)
    })?;
    GateArgs::tell_unchecked(&plan.gates, statistics.kind, RunCount::One);
    Ok(args.gate.report(gates))
}

/// Returns the rules of the runs in whose folders the files are, if the user chose none. Results of
/// different rules cannot be taken together.
fn rules_of_runs(names: &[String], plan: &Plan) -> anyhow::Result<Option<Profile>> {
    let mut known: Option<(&String, Profile)> = None;
    for name in names {
        let Some(Plan { profile, .. }) = plan_beside(name, plan) else { continue };
        match &known {
            Some((first, other)) => anyhow::ensure!(
                other.scores_like(&profile),
                "{first} and {name} cannot be taken together: the rules of their runs differ, {} and {}\n  hint: --profile reads all by the same rules",
                profile_name(other),
                profile_name(&profile)
            ),
            None => known = Some((name, profile)),
        }
    }
    Ok(known.map(|(_, profile)| profile))
}

/// Returns the judge of all files, if it is the same in each.
fn one_judge(judges: Vec<Option<JudgedBy>>) -> Option<JudgedBy> {
    let both = |(one, other): (JudgedBy, JudgedBy)| one.agrees_with(&other).then_some(one);
    judges.into_iter().reduce(|one, other| one.zip(other).and_then(both)).flatten()
}

/// Says that results count as several answers to a question though no `trial` tells them apart: a file
/// that was given twice looks the same.
pub(super) fn tell_repeated(place: &str, scores: &ScoreTable) {
    let mut seen = HashSet::new();
    let mut again: Vec<&ScoredItem> = Vec::new();
    for item in scores.items().iter().filter(|item| !item.id.is_empty()) {
        if !seen.insert((item.group, &*item.id, item.trial)) {
            again.push(item);
        }
    }
    if let Some(first) = again.first() {
        let (n, have) = match again.len() {
            1 => ("1 result".to_owned(), "has"),
            n => (format!("{n} results"), "have"),
        };
        output::warn(&format!(
            "{place}{n} {have} the id of an earlier one, such as `{}`: they count as further answers to the \
             same questions\n  hint: leave one of them out if a file was given twice",
            first.id
        ));
    }
}
