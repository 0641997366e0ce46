//! `juror plan`: how many questions it takes to find a difference.

mod places;

use std::num::NonZero;

use clap::Args;
use juror_compare::{ASSUMED_CORRELATION, PlanOptions, Planning, ScoreSpread};
use juror_report::{plan_rows, plan_table};
use juror_score::Unit;

use self::places::Places;
use super::label::parse_share;
use super::model_args::parse_count;
use super::{RuleArgs, boolish};
use crate::exit::Exit;
use crate::output;

const EXAMPLES: &str = "\
Examples:
  juror plan reference.yaml --detect 0.03                 before the first run: by an assumption
  juror plan runs/monday --detect 0.03                    by the spread of a run
  juror plan runs/monday runs/tuesday --detect 0.03       by the differences of two runs
  juror plan larger.yaml runs/monday --metric answer_f1   what would another reference find?
  juror plan runs/bench --detect 0.05 --trials 5          with five attempts at each query

Two runs tell most: differences between them vary less than scores do. With one run, Juror assumes
that another would correlate with it by --correlation, from question to question. The table says of
every number what it rests on.";

/// How many questions, or answers to each, it takes to find a difference; and what those at hand
/// find.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct PlanArgs {
    /// A reference or queries, and up to two runs: folders, or results of `juror eval` or `juror
    /// bench`.
    #[arg(value_name = "REFERENCE|RUN", required = true, num_args = 1..=3)]
    places: Vec<String>,

    /// The difference to find: a number, or a percentage of the run's mean, such as 5%.
    #[arg(long, value_name = "D", allow_negative_numbers = true, value_parser = parse_difference)]
    detect: Option<Difference>,

    /// The metric [default: the one that says best whether answers are right].
    #[arg(long, value_name = "METRIC")]
    metric: Option<String>,

    /// How likely the difference is to be found.
    #[arg(long, value_name = "SHARE", default_value = "0.8", value_parser = parse_inner_share)]
    power: f64,

    /// The confidence of the comparison.
    #[arg(long, value_name = "SHARE", default_value = "0.95", value_parser = parse_inner_share)]
    confidence: f64,

    /// How many answers to each question [default: as many as the run has].
    #[arg(long, value_name = "K", value_parser = parse_count::<NonZero<u32>>)]
    trials: Option<NonZero<u32>>,

    /// How far two runs correlate from question to question, if there is only one run.
    #[arg(long, value_name = "R", default_value_t = ASSUMED_CORRELATION, value_parser = parse_share)]
    correlation: f64,

    #[command(flatten)]
    rules: RuleArgs,

    /// Print the plan as JSON.
    #[arg(long, env = "JUROR_JSON", value_parser = boolish())]
    json: bool,
}

/// A difference, as it is asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Difference {
    Absolute(f64),
    /// In percent of the mean.
    Percent(f64),
}

fn parse_difference(text: &str) -> Result<Difference, String> {
    let number = |text: &str| {
        text.trim().parse::<f64>().ok().filter(|number| number.is_finite() && *number > 0.0)
    };
    let difference = match text.strip_suffix('%') {
        Some(percent) => number(percent).map(Difference::Percent),
        None => number(text).map(Difference::Absolute),
    };
    difference.ok_or_else(|| format!("expected a number above 0, or a percentage, found `{text}`"))
}

fn is_fraction(metric: &str) -> bool {
    juror_score::metric(metric).is_some_and(|info| info.unit == Unit::Fraction)
}

/// Parses a number between 0 and 1.
fn parse_inner_share(text: &str) -> Result<f64, String> {
    let share = text.parse::<f64>().ok().filter(|share| *share > 0.0 && *share < 1.0);
    share.ok_or_else(|| format!("expected a share between 0 and 1, found `{text}`"))
}

pub(super) fn run(args: &PlanArgs) -> anyhow::Result<Exit> {
    let places = Places::open(&args.places, &args.rules.plan()?)?;
    let metric = places.metric(args.metric.as_deref())?;
    let spread = places.spread(&metric, args.correlation)?;
    if args.trials.is_some_and(|trials| trials.get() > 1) && spread.variance_within.is_none() {
        anyhow::bail!(
            "--trials: it is not known how far answers to the same question vary\n  hint: name a run with several answers to each question"
        );
    }
    let options = PlanOptions {
        detect: args.detect.map(|detect| detect.of(&metric, &spread)).transpose()?,
        power: args.power,
        confidence: args.confidence,
        trials: args.trials.map(NonZero::get),
        at_hand: places.reference.as_ref().map(|own| own.at_hand(&metric)).transpose()?,
    };
    let mut plan = Planning::of(&metric, spread, options)?;
    let rows = plan_rows(&plan, &places.sources());
    plan.rests_on = rows.iter().map(|row| (row.key, row.rests_on.clone())).collect();
    if args.json {
        // Numbers and texts always serialize.
        let text = serde_json::to_string_pretty(&plan).unwrap_or_default();
        output::print_data(&format!("{text}\n"))?;
    } else {
        output::print_data(&plan_table(&plan, &rows, output::palette()))?;
    }
    Ok(Exit::Done)
}

impl Difference {
    /// Returns the difference in the unit of a metric, which must be able to differ by so much.
    fn of(self, metric: &str, spread: &ScoreSpread) -> anyhow::Result<f64> {
        let amount = self.meant(spread)?;
        let is_share = spread.mean.is_none() || is_fraction(metric);
        anyhow::ensure!(
            !is_share || amount <= 1.0,
            "--detect: `{metric}` is from 0 to 1, and cannot differ by {amount}\n  hint: write 0.03, or 3% of the run's mean"
        );
        Ok(amount)
    }

    fn meant(self, spread: &ScoreSpread) -> anyhow::Result<f64> {
        match (self, spread.mean) {
            (Difference::Absolute(amount), _) => Ok(amount),
            (Difference::Percent(percent), Some(mean)) if mean != 0.0 => {
                Ok(mean.abs() * percent / 100.0)
            }
            (Difference::Percent(_), _) => anyhow::bail!(
                "--detect: there is no mean to take a percentage of\n  hint: write a number, such as 0.03, or name a run"
            ),
        }
    }
}
