//! `juror schema`: prints the schema that helps editors with settings.

use clap::Args;
use juror_run::settings_schema;

use crate::exit::Exit;
use crate::output;

const EXAMPLES: &str = "\
Example:
  juror schema > juror.schema.json
  # then, at the top of juror.yaml:
  # yaml-language-server: $schema=juror.schema.json";

/// Print the JSON Schema of the settings file, for editors.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct SchemaArgs {}

pub(super) fn run(_: &SchemaArgs) -> anyhow::Result<Exit> {
    output::print_data(&format!("{:#}\n", settings_schema()))?;
    Ok(Exit::Done)
}
