//! Quality gates: requirements that statistics must meet for a command to exit with 0.

use clap::Args;
use juror_compare::{
    Condition, Gate, GateOutcome, GateVerdict, Gates, Kind, LevelLimit, Limit, RunCount, Share,
    Unchecked, worst,
};
use juror_files::load_settings;
use juror_run::{Plan, Settings};

use crate::boolish;
use crate::exit::Exit;
use crate::output;

/// Gates of a pipeline.
#[derive(Args, Default)]
#[command(next_help_heading = "Gates")]
pub struct GateArgs {
    /// Exit with 1 when a metric's mean over all questions is below a value. May repeat.
    #[arg(long, value_name = "METRIC=VALUE", env = "JUROR_FAIL_UNDER", value_parser = parse_limit)]
    fail_under: Vec<(String, f64)>,

    /// Exit with 1 when a metric's mean over all questions is above a value. May repeat.
    #[arg(long, value_name = "METRIC=VALUE", env = "JUROR_FAIL_OVER", value_parser = parse_limit)]
    fail_over: Vec<(String, f64)>,

    /// The share of the questions to which a gated metric applies that must have a verdict on it,
    /// 0.95 when neither this nor the settings say: failed and missing responses have none.
    #[arg(long, value_name = "SHARE", env = "JUROR_COVERAGE")]
    coverage: Option<Share>,

    /// Exit with 1 when more responses failed or are missing: a count, or a percentage such as 2%.
    #[arg(long, value_name = "N|N%", env = "JUROR_MAX_ERRORS")]
    max_errors: Option<Limit>,

    /// Read `gates:` and `coverage:` from this file too; see docs/formats.md.
    #[arg(long, value_name = "FILE", env = "JUROR_GATES")]
    gates: Option<String>,

    /// Exit with 4 when the data cannot tell whether a gate is met.
    #[arg(long, env = "JUROR_STRICT", value_parser = boolish())]
    strict: bool,
}

/// Parses `METRIC=VALUE`.
pub fn parse_limit(text: &str) -> Result<(String, f64), String> {
    let (metric, value) = text.split_once('=').ok_or("expected METRIC=VALUE")?;
    let number = value.parse::<f64>().ok().filter(|number| number.is_finite());
    let number = number.ok_or_else(|| format!("`{value}` is not a number"))?;
    Ok((metric.to_owned(), number))
}

impl GateArgs {
    /// Adds the gates to a plan, which already has those of the settings.
    pub fn add_to(&self, plan: &mut Plan) -> anyhow::Result<()> {
        for (option, gate) in self.own_gates() {
            plan.add_gate(gate).map_err(|error| anyhow::anyhow!(
                "{option}: {error}\n  hint: see docs/metrics.md; outputs of custom evaluations are metrics too"
            ))?;
        }
        self.add_rest(&mut plan.gates)
    }

    /// Adds the gates to those of the settings, for commands that know any metric.
    pub fn add_to_gates(&self, gates: &mut Gates) -> anyhow::Result<()> {
        for (option, gate) in self.own_gates() {
            let is_known = |metric: &str| juror_score::metric(metric).is_some();
            if let Some(metric) = gate.metric().filter(|metric| !is_known(metric)) {
                anyhow::bail!("{option}: `{metric}` is not a metric\n  hint: see docs/metrics.md");
            }
            gates.gates.push(gate);
        }
        self.add_rest(gates)
    }

    /// Refuses gates of options on metrics that runs of a kind cannot have: nobody would check them.
    pub fn check_kind(&self, kind: Kind) -> anyhow::Result<()> {
        for (option, gate) in self.own_gates() {
            if let Some(why) = gate.unchecked(kind, RunCount::Several) {
                let metric = gate.metric().unwrap_or_default();
                anyhow::bail!(
                    "{option}: `{metric}` cannot be checked: {why}\n  hint: see docs/metrics.md"
                );
            }
        }
        Ok(())
    }

    /// Tells of the gates of settings and files that are not checked.
    pub fn tell_unchecked(gates: &Gates, kind: Kind, runs: RunCount) {
        for (gate, why) in gates.unchecked(kind, runs) {
            let hint = match why {
                Unchecked::TakesTwoRuns => "\n  hint: `juror compare` checks it",
                Unchecked::OtherKind(_) => "",
            };
            output::print_note(&format!("gate not checked: {gate}: {why}{hint}"));
        }
    }

    /// The gates of options, each with the option's name.
    fn own_gates(&self) -> impl Iterator<Item = (&'static str, Gate)> {
        let under = self.fail_under.iter().map(|(metric, least)| {
            ("--fail-under", Gate::on_mean(metric, LevelLimit::Min(*least)))
        });
        let over = self
            .fail_over
            .iter()
            .map(|(metric, most)| ("--fail-over", Gate::on_mean(metric, LevelLimit::Max(*most))));
        under.chain(over)
    }

    fn add_rest(&self, gates: &mut Gates) -> anyhow::Result<()> {
        gates.gates.extend(self.max_errors.map(|most| Gate::blocking(Condition::Errors { most })));
        if let Some(name) = &self.gates {
            let file = Settings::read(&load_settings(name)?)?;
            anyhow::ensure!(
                !file.gates.is_empty(),
                "{name}: there are no gates in this file\n  hint: write them in a list under `gates:`"
            );
            let own = file.meant_gates();
            gates.gates.extend(own.gates);
            gates.coverage = file.coverage.map_or(gates.coverage, |_| own.coverage);
        }
        gates.coverage = self.coverage.unwrap_or(gates.coverage);
        Ok(())
    }

    /// Prints the gates that are not met, and returns how the command ends.
    pub fn report(&self, outcomes: &[GateOutcome]) -> Exit {
        GateArgs::tell_unmet(outcomes, "");
        self.exit_of(worst(outcomes))
    }

    /// Prints the gates that a candidate does not meet.
    pub fn report_of(candidate: &str, outcomes: &[GateOutcome]) {
        GateArgs::tell_unmet(outcomes, &format!(" by {candidate}"));
    }

    fn tell_unmet(outcomes: &[GateOutcome], by: &str) {
        for outcome in outcomes {
            let said = match outcome.verdict {
                GateVerdict::Pass => continue,
                GateVerdict::Block => format!("gate not met{by}"),
                GateVerdict::Warn => format!("warning: gate not met{by}"),
                GateVerdict::Inconclusive => format!("gate is inconclusive{by}"),
            };
            output::print_note(&format!("{said}: {}{}", in_words(outcome), hint(outcome)));
        }
    }

    /// How a command ends with a verdict.
    pub fn exit_of(&self, verdict: GateVerdict) -> Exit {
        match verdict {
            GateVerdict::Pass | GateVerdict::Warn => Exit::Done,
            GateVerdict::Block => Exit::GateNotMet,
            GateVerdict::Inconclusive if self.strict => Exit::Inconclusive,
            GateVerdict::Inconclusive => Exit::Done,
        }
    }
}

/// Returns the gate and how it came out, without saying twice what was asked.
pub fn in_words(outcome: &GateOutcome) -> String {
    format!("{}: {}", outcome.gate, outcome.found)
}

fn hint(outcome: &GateOutcome) -> &'static str {
    if outcome.lacks_coverage {
        "\n  hint: the mean is of those alone; --coverage asks for another share"
    } else {
        ""
    }
}
