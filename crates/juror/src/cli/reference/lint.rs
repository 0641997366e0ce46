//! `juror reference lint`: looks through a reference for what gives trouble later.

use clap::Args;
use juror_document::{Problem, UnplacedProblem};
use juror_files::load;
use juror_graph::QueryOptions;
use juror_read::read_reference;
use juror_reference::lint;

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
    let (steps, found) = lint(&dataset, &profile.kind_names, &QueryOptions::default());
    let found: Vec<UnplacedProblem> = found
        .iter()
        .map(|(at, lint)| {
            let step = &steps[*at];
            let id = &dataset.questions[step.question].id;
            let problem = Problem::BadSetting {
                message: format!("{id}: {lint}"),
                hint: lint.hint().map(str::to_owned),
            };
            let path = step.path.key("args").key("query");
            UnplacedProblem { offset: document.offset_of(step.written.get()), path, problem }
        })
        .collect();
    let (n, n_steps) = (found.len(), steps.len());
    let problems = document.locate(found.into_iter().collect());
    for problem in &problems.errors {
        output::print_quoting(&format!("{problem}\n"))?;
    }
    if !args.quiet {
        let queries = if n_steps == 1 { "1 query".into() } else { format!("{n_steps} queries") };
        output::print_note(&format!("{} in {queries}", count(n, "doubt")));
    }
    Ok(if n == 0 { Exit::Done } else { Exit::GateNotMet })
}
