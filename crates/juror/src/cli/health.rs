//! `juror health`: asks a server of Juror whether it is up.
//!
//! Images that contain the program and nothing else have no other way to ask.

use std::time::Duration;

use anyhow::anyhow;
use clap::Args;
use juror_serve::{Unwell, ask_health, host_and_port};

use super::model_args::parse_duration;
use crate::exit::{Exit, Outside};
use crate::output;

const EXAMPLES: &str = "\
Examples:
  juror health                          is `juror serve` up at its usual port?
  juror health http://127.0.0.1:8090    is `juror view`?

Prints what the server says of itself and ends with 0; ends with 3 if it does not answer, or answers
anything else. It needs no token. docs/containers.md has images that check themselves with it.";

/// Ask `juror serve` or `juror view` whether it is up.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct HealthArgs {
    /// Address of the server.
    #[arg(value_name = "URL", default_value = "http://127.0.0.1:8080", env = "JUROR_HEALTH_URL", value_parser = host_and_port)]
    server: String,

    /// Seconds the server may take to connect, and to reply.
    #[arg(long, value_name = "SECONDS", default_value = "5", env = "JUROR_HEALTH_TIMEOUT", value_parser = parse_duration)]
    timeout: Duration,
}

pub(super) fn run(args: &HealthArgs) -> anyhow::Result<Exit> {
    let server = &args.server;
    let said = ask_health(server, args.timeout).map_err(|unwell| {
        Outside(match unwell {
            Unwell::NoAnswer(error) => anyhow!("http://{server} does not answer: {error}"),
            Unwell::Other(first) => anyhow!(
                "something answers at http://{server}, but not as a server of Juror that is well: {first}\n  hint: is it `juror serve` or `juror view` that listens there?"
            ),
        })
    })?;
    output::print_data(&format!("{}\n", said.trim_end()))?;
    Ok(Exit::Done)
}
