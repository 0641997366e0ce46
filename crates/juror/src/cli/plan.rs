//! `juror plan`: how many questions it takes to find a difference.

use std::num::NonZero;
use std::path::Path;

use clap::Args;
use juror_compare::{
    ASSUMED_CORRELATION, AtHand, Kind, PlanOptions, Planning, ScoreSpread, Statistics, headline,
};
use juror_files::load;
use juror_report::{PlanSources, plan_rows, plan_table};
use juror_run::ScoredRun;
use juror_score::read::read_reference;
use juror_score::statistics::CONFIDENCE;
use juror_score::{Traits, Unit, metric as metric_info};
use juror_toolbench::read_queries;

use super::ask::parse_count;
use super::label::parse_share;
use super::validate::{Kind as FileKind, kind_of};
use super::{RuleArgs, boolish, check_json};
use crate::exit::Exit;
use crate::labels::JudgedRun;
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
    #[arg(long, value_name = "D", value_parser = parse_difference)]
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

/// Parses a number between 0 and 1.
fn parse_inner_share(text: &str) -> Result<f64, String> {
    let share = text.parse::<f64>().ok().filter(|share| *share > 0.0 && *share < 1.0);
    share.ok_or_else(|| format!("expected a share between 0 and 1, found `{text}`"))
}

pub(super) fn run(args: &PlanArgs) -> anyhow::Result<Exit> {
    let places = Places::open(args)?;
    let metric = places.metric(args.metric.as_deref())?;
    let spread = places.spread(&metric, args.correlation)?;
    if args.trials.is_some_and(|trials| trials.get() > 1) && spread.variance_within.is_none() {
        anyhow::bail!(
            "--trials: it is not known how far answers to the same question vary\n  hint: name a run with several answers to each question"
        );
    }
    let options = PlanOptions {
        detect: args.detect.map(|detect| detect.meant(&spread)).transpose()?,
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

/// What the user named.
struct Places {
    runs: Vec<ScoredRun>,
    reference: Option<Questions>,
}

/// A file of questions: its name, and what each question has, by group.
struct Questions {
    name: String,
    questions: Vec<(String, Traits)>,
    group: &'static str,
}

impl Places {
    fn open(args: &PlanArgs) -> anyhow::Result<Places> {
        let plan = args.rules.plan()?;
        let mut places = Places { runs: Vec::new(), reference: None };
        for name in &args.places {
            match Questions::read(name)? {
                Some(questions) => {
                    anyhow::ensure!(
                        places.reference.is_none(),
                        "{name}: one reference is enough\n  hint: name one reference and up to two runs"
                    );
                    places.reference = Some(questions);
                }
                None => {
                    let run = ScoredRun::read(name, &plan)?;
                    output::warn_all(&run.problems);
                    places.runs.push(run);
                }
            }
        }
        places.check()?;
        Ok(places)
    }

    fn check(&self) -> anyhow::Result<()> {
        match &self.runs[..] {
            [] | [_] => Ok(()),
            [a, b] if a.facts.kind == b.facts.kind => Ok(()),
            [a, b] => anyhow::bail!(
                "{} and {} are runs of different kinds\n  hint: name two evaluations, or two benchmarks",
                a.facts.source,
                b.facts.source
            ),
            _ => anyhow::bail!(
                "these are more than two runs\n  hint: name one, or the two to compare"
            ),
        }
    }

    /// The metric to plan for.
    fn metric(&self, named: Option<&str>) -> anyhow::Result<String> {
        let Some(run) = self.runs.first() else {
            let metric = named.unwrap_or("score");
            let is_score = metric_info(metric).is_none_or(|info| info.unit == Unit::Fraction);
            anyhow::ensure!(
                is_score,
                "--metric: without a run nothing is known about `{metric}`\n  hint: name a run"
            );
            return Ok(metric.to_owned());
        };
        let has =
            |name: &str| run.scores.column(name).is_some_and(|column| !column.values().is_empty());
        let usual = || headline(&Statistics::of(&run.scores, CONFIDENCE)).map(str::to_owned);
        match named.map(str::to_owned).or_else(usual) {
            Some(metric) if has(&metric) => Ok(metric),
            Some(metric) => {
                let known = run.scores.columns().iter().filter(|own| !own.values().is_empty());
                let known: Vec<&str> = known.map(|column| &*column.name).collect();
                let (source, known) = (&run.facts.source, known.join(", "));
                anyhow::bail!("{source}: no question has `{metric}`\n  hint: it has {known}")
            }
            None => anyhow::bail!(
                "{}: no metric says whether answers are right\n  hint: name one with --metric",
                run.facts.source
            ),
        }
    }

    fn spread(&self, metric: &str, correlation: f64) -> anyhow::Result<ScoreSpread> {
        let spread = match &self.runs[..] {
            [] => ScoreSpread::assumed(),
            [run] => ScoreSpread::of_run(&run.scores, metric, correlation)?,
            [a, b, ..] => ScoreSpread::of_pair(&a.scores, &b.scores, metric)?,
        };
        Ok(spread.with_verdicts(&self.verdicts(metric)?))
    }

    /// The judge's verdicts on each answer of the first run; empty if it was asked once, or not at
    /// all.
    fn verdicts(&self, metric: &str) -> anyhow::Result<Vec<Vec<f64>>> {
        let is_judged = metric_info(metric).is_none_or(|info| info.is_judged);
        let Some(run) = self.runs.first().filter(|_| is_judged) else { return Ok(Vec::new()) };
        let answers = JudgedRun::open(&run.facts.source)?.answers;
        let verdicts = answers.iter().map(|answer| answer.repeats(metric).to_vec());
        Ok(verdicts.filter(|verdicts| !verdicts.is_empty()).collect())
    }

    fn sources(&self) -> PlanSources {
        let of_runs = self.runs.first().map(|run| match run.facts.kind {
            Kind::Eval => "template",
            Kind::Bench => "set",
        });
        let group = of_runs.or(self.reference.as_ref().map(|own| own.group));
        PlanSources {
            runs: self.runs.iter().map(|run| run.facts.source.clone()).collect(),
            reference: self.reference.as_ref().map(|own| own.name.clone()),
            group: group.unwrap_or("template"),
        }
    }
}

impl Questions {
    /// Reads a file of questions; `None` if it is something else.
    fn read(name: &str) -> anyhow::Result<Option<Questions>> {
        if Path::new(name).is_dir() {
            return Ok(None);
        }
        let document = load(name)?;
        check_json(&document)?;
        let questions = |questions, group| Questions { name: name.to_owned(), questions, group };
        Ok(match kind_of(&document) {
            Some(FileKind::Reference) => {
                let dataset = read_reference(&document)?;
                let own = dataset.questions.iter().map(|question| {
                    let answer = question.answer.is_some();
                    let steps = question.groups.is_some();
                    (question.template.to_string(), Traits { answer, steps, ..Traits::NONE })
                });
                Some(questions(own.collect(), "template"))
            }
            Some(FileKind::Queries) => {
                let (queries, problems) = read_queries(&document);
                output::warn_all(&problems);
                let own = queries.iter().map(|_| (name.to_owned(), Traits::NONE));
                Some(questions(own.collect(), "set"))
            }
            Some(FileKind::Results | FileKind::AgentResults) => None,
            _ => anyhow::bail!(
                "{name}: this is neither a reference nor a run\n  hint: name a reference, the folder of a run, or results"
            ),
        })
    }

    /// The questions that can have a metric.
    fn at_hand(&self, metric: &str) -> anyhow::Result<AtHand> {
        let needs = metric_info(metric).map_or(Traits::NONE, |info| info.needs);
        let can_have = |own: &&(String, Traits)| {
            (!needs.answer || own.1.answer) && (!needs.steps || own.1.steps)
        };
        let own: Vec<&(String, Traits)> = self.questions.iter().filter(can_have).collect();
        anyhow::ensure!(!own.is_empty(), "{}: no question can have `{metric}`", self.name);
        let mut groups: Vec<&str> = own.iter().map(|(group, _)| group.as_str()).collect();
        groups.sort_unstable();
        groups.dedup();
        Ok(AtHand { questions: own.len(), groups: groups.len() })
    }
}
