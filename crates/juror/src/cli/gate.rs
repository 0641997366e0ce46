//! Quality gates: requirements that statistics must meet for a command to exit with 0.

use clap::Args;
use juror_run::Plan;
use juror_score::{Gate, Limit, Share, Unmet};

use crate::exit::Exit;
use crate::output;

/// Gates of a pipeline.
#[derive(Args, Default)]
#[command(next_help_heading = "Gates")]
pub(super) struct GateArgs {
    /// Exit with 1 when a metric's mean over all questions is below a value. May repeat.
    #[arg(long, value_name = "METRIC=VALUE", env = "JUROR_FAIL_UNDER", value_parser = parse_gate)]
    fail_under: Vec<Gate>,

    /// The share of the questions to which a gated metric applies that must have a verdict on it,
    /// 0.95 when neither this nor the settings say: failed and missing responses have none.
    #[arg(long, value_name = "SHARE", env = "JUROR_COVERAGE")]
    coverage: Option<Share>,

    /// Exit with 1 when more responses failed or are missing: a count, or a percentage such as 2%.
    #[arg(long, value_name = "N|N%", env = "JUROR_MAX_ERRORS")]
    max_errors: Option<Limit>,
}

fn parse_gate(text: &str) -> Result<Gate, String> {
    let (metric, least) = text.split_once('=').ok_or("expected METRIC=VALUE")?;
    let number = least.parse::<f64>().ok().filter(|number| number.is_finite());
    let least = number.ok_or_else(|| format!("`{least}` is not a number"))?;
    Ok(Gate { metric: metric.to_owned(), least })
}

impl GateArgs {
    /// Adds the gates to a plan, which already has those of the settings.
    pub(super) fn add_to(&self, plan: &mut Plan) -> anyhow::Result<()> {
        for gate in &self.fail_under {
            plan.add_gate(gate.clone()).map_err(|error| anyhow::anyhow!(
                "--fail-under: {error}\n  hint: see docs/metrics.md; outputs of custom evaluations are metrics too"
            ))?;
        }
        plan.gates.coverage = self.coverage.unwrap_or(plan.gates.coverage);
        plan.gates.max_errors = self.max_errors;
        Ok(())
    }
}

/// Prints the gates that are not met, and returns how the command ends.
pub(super) fn report(unmet: &[Unmet]) -> Exit {
    for reason in unmet {
        output::print_note(&format!("gate not met: {reason}{}", hint(reason)));
    }
    if unmet.is_empty() { Exit::Done } else { Exit::GateNotMet }
}

fn hint(reason: &Unmet) -> &'static str {
    match reason {
        Unmet::Uncovered { .. } => {
            "\n  hint: the mean is of those alone; --coverage asks for another share"
        }
        _ => "",
    }
}
