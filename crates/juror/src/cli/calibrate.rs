//! `juror calibrate`: how far a judge agrees with people, and its mean without its errors.

use clap::Args;
use juror_compare::{Calibration, CheckedJudge, JudgedScores, check_judge};
use juror_files::load;
use juror_labels::{Join, Joined, read_labels};
use juror_report::calibration_table;
use juror_run::Output;
use juror_score::statistics::CONFIDENCE;

use super::label::{open_run, tell_problems};
use super::{boolish, check_outputs, count};
use crate::exit::{Exit, Outside};
use crate::output;

const EXAMPLES: &str = "\
Examples:
  juror label runs/monday -o labels.jsonl        then people fill in `label`
  juror calibrate runs/monday labels.jsonl -o calibration.json

Then, in the settings, so that reports of the same judge show corrected means too:
  judge:
    calibration: calibration.json

Only answers that were drawn at random say how often the judge errs. The others show where. A score
above 0.5 passes an answer, one below fails it. Labels of several people are told apart by `by`.";

/// Compare a judge with people's labels: agreement, error rates, and the mean without its errors.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct CalibrateArgs {
    /// Folder of a run, or results of `juror eval` or `juror bench`.
    #[arg(value_name = "RUN")]
    run: String,

    /// File of `juror label`, with labels filled in.
    #[arg(value_name = "LABELS")]
    labels: String,

    /// Write the calibration here, for `judge.calibration` of the settings.
    #[arg(short, long, value_name = "JSON")]
    output: Option<String>,

    /// The metric that people checked [default: the one that the labels name].
    #[arg(long, value_name = "METRIC")]
    metric: Option<String>,

    /// Take labels that were made for another judge of the same answers, such as before a change of
    /// its prompt.
    #[arg(long)]
    other_judge: bool,

    /// Print the calibration as JSON.
    #[arg(long, env = "JUROR_JSON", value_parser = boolish())]
    json: bool,

    /// Print errors only.
    #[arg(short, long, env = "JUROR_QUIET", value_parser = boolish())]
    quiet: bool,
}

pub(super) fn run(args: &CalibrateArgs) -> anyhow::Result<Exit> {
    check_outputs([&args.run, &args.labels], &args.output, args.json)?;
    let run = open_run(&args.run)?;
    if !args.quiet {
        tell_problems(&run);
    }
    let document = load(&args.labels)?;
    let named = args.metric.clone().or_else(|| metric_of(&document));
    let metric = run.metric(named.as_deref())?;
    let join = Join { run: &run, metric: &metric, takes_other_judges: args.other_judge };
    let joined = join.join(&document);
    if !args.quiet {
        output::warn_all(&joined.problems);
        warn_of_other_judges(&joined, &args.run);
    }
    anyhow::ensure!(
        !joined.labelled.is_empty(),
        "{}: no label can be used\n  hint: fill in `label` of some lines, and take the run that they were made from",
        args.labels
    );
    let checked = check(&joined, &metric, &args.run);
    // Numbers and texts always serialize.
    let json = serde_json::to_string_pretty(&checked).unwrap_or_default() + "\n";
    if let Some(name) = &args.output {
        write(name, &json)?;
    }
    if args.json {
        output::print_data(&json)?;
    } else if !args.quiet && args.output.as_deref() != Some("-") {
        output::print_data(&calibration_table(&checked, output::palette()))?;
    }
    Ok(Exit::Done)
}

/// The metric that the labels are about, if it is one.
fn metric_of(document: &juror_document::Document) -> Option<String> {
    let mut look = juror_document::Look::new(document);
    let labels = read_labels(document, &mut look);
    let mut metrics: Vec<String> = labels.into_iter().filter_map(|label| label.metric).collect();
    metrics.dedup();
    metrics.into_iter().next()
}

fn check(joined: &Joined, metric: &str, run: &str) -> CheckedJudge {
    let now = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    let calibration = Calibration {
        format: Calibration::FORMAT.into(),
        metric: metric.to_owned(),
        judge: joined.judge.clone(),
        made: now,
        run: run.to_owned(),
        pairs: Vec::new(),
    };
    let scores = JudgedScores { values: &joined.scores, clusters: &joined.clusters };
    let mut checked = check_judge(calibration, &joined.labelled, scores, CONFIDENCE);
    checked.labels.left_out = joined.n_left_out;
    checked
}

fn warn_of_other_judges(joined: &Joined, run: &str) {
    if joined.n_of_other_judges > 0 {
        let answers = count(joined.n_of_other_judges, "answer");
        output::warn(&format!("{run}: {answers} of another judge than most are left out"));
    }
}

fn write(name: &str, text: &str) -> anyhow::Result<()> {
    let mut file = Output::create_text(name)?;
    file.write(text.as_bytes()).map_err(|error| Outside(error.into()))?;
    file.finish().map_err(|error| Outside(error.into()))?;
    Ok(())
}
