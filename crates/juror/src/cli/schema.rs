//! `juror schema`: prints the schemas of files, for editors and for programs that read them.

use clap::{Args, ValueEnum};
use juror_compare::{calibration_schema, comparison_schema, plan_schema, statistics_schema};
use juror_labels::label_schema;
#[cfg(feature = "graph")]
use juror_reference::template_schema;
use juror_run::settings_schema;
use juror_runs::run_schema;

use crate::exit::Exit;
use crate::output;

const EXAMPLES: &str = "\
Examples:
  juror schema > juror.schema.json
  # then, at the top of juror.yaml:
  # yaml-language-server: $schema=juror.schema.json

  juror schema run > run.schema.json";

/// Print the JSON Schema of a file: of settings and templates, for editors, or of what Juror writes.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct SchemaArgs {
    /// The file.
    #[arg(value_name = "FILE", default_value = "settings")]
    file: SchemaArg,
}

#[derive(Clone, Copy, ValueEnum)]
enum SchemaArg {
    /// The settings file.
    Settings,
    /// `run.json` in the folder of a run.
    Run,
    /// Statistics: `--statistics`, and `statistics.json` in the folder of a run.
    Statistics,
    /// A comparison of runs.
    Compare,
    /// A line of `juror label`.
    Label,
    /// The file of `juror calibrate`.
    Calibration,
    /// What `juror plan --json` prints.
    Plan,
    /// The templates of `juror reference new`.
    #[cfg(feature = "graph")]
    Templates,
}

pub(super) fn run(args: &SchemaArgs) -> anyhow::Result<Exit> {
    let schema = match args.file {
        SchemaArg::Settings => settings_schema(),
        SchemaArg::Run => run_schema(),
        SchemaArg::Statistics => statistics_schema(),
        SchemaArg::Compare => comparison_schema(),
        SchemaArg::Label => label_schema(),
        SchemaArg::Calibration => calibration_schema(),
        SchemaArg::Plan => plan_schema(),
        #[cfg(feature = "graph")]
        SchemaArg::Templates => template_schema(),
    };
    output::print_data(&format!("{schema:#}\n"))?;
    Ok(Exit::Done)
}
