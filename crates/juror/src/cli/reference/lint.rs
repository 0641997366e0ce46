//! `juror reference lint`: looks through a reference for what gives trouble later.

use clap::Args;
use juror_document::{DatasetError, Problem, Problems};
use juror_files::load;
use juror_graph::QueryOptions;
use juror_read::read_reference;
use juror_reference::{Doubted, lint};

use super::super::{RuleArgs, boolish, count};
use crate::exit::Exit;
use crate::output;

/// Look through the queries and results of a reference for what gives trouble later; asks no graph.
#[derive(Args)]
pub(super) struct LintArgs {
    /// Reference questions with expected steps.
    #[arg(value_name = "REFERENCE")]
    reference: String,

    #[command(flatten)]
    rules: RuleArgs,

    /// Print nothing if there is nothing to say.
    #[arg(short, long, env = "JUROR_QUIET", value_parser = boolish())]
    quiet: bool,
}

pub(super) fn run(args: &LintArgs) -> anyhow::Result<Exit> {
    let profile = args.rules.plan()?.profile;
    let document = load(&args.reference)?;
    let dataset = read_reference(&document)?;
    let options = QueryOptions::default();
    let (n_steps, found) = lint(&document, &dataset, &profile.kind_names, &options);
    let n = found.len();
    let mut problems = Problems::default();
    for Doubted { question, place, lint } in found {
        let message = format!("{question}: {lint}");
        let hint = lint.hint().map(str::to_owned);
        problems.push(DatasetError { place, problem: Problem::BadSetting { message, hint } });
    }
    for problem in &problems.errors {
        output::print_quoting(&format!("{problem}\n"))?;
    }
    if problems.n_more > 0 {
        output::print_quoting(&format!("and {} more\n", problems.n_more))?;
    }
    if !args.quiet {
        let queries = if n_steps == 1 { "1 query".into() } else { format!("{n_steps} queries") };
        output::print_note(&format!("{} in {queries}", count(n, "doubt")));
    }
    Ok(if n == 0 { Exit::Done } else { Exit::GateNotMet })
}
