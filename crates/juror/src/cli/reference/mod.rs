//! `juror reference`: keeps the expected results of a reference true.

mod ask_args;
mod check;
mod lint;
mod new;
mod refresh;

use clap::{Args, Subcommand};

use crate::exit::Exit;

const EXAMPLES: &str = "\
Examples:
  Are the recorded results still what the graph gives? Exit code 1 if not:
    juror reference check reference.yaml --graph graph.ttl
    juror reference check reference.yaml --graph https://example.org/sparql --slow 5

  What would change, and then the file with fresh results:
    juror reference refresh reference.yaml --graph graph.ttl
    juror reference refresh reference.yaml --graph graph.ttl -o reference.yaml

  A whole reference from templates, ten questions each:
    juror reference new templates.yaml --graph graph.ttl -o reference.yaml

  What will give trouble later: orders, limits, numbers as texts, answers beside the point:
    juror reference lint reference.yaml

docs/references.md says how to write, keep and check a reference.";

/// Keep expected results true: make, check and refresh them by the graph they are taken from.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ReferenceArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    New(new::NewArgs),
    Check(check::CheckArgs),
    Refresh(refresh::RefreshArgs),
    Lint(lint::LintArgs),
}

pub(super) fn run(args: &ReferenceArgs) -> anyhow::Result<Exit> {
    match &args.command {
        Command::New(args) => new::run(args),
        Command::Check(args) => check::run(args),
        Command::Refresh(args) => refresh::run(args),
        Command::Lint(args) => lint::run(args),
    }
}
