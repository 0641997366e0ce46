//! `juror label`: a file of answers for people to label.

#![expect(clippy::doc_markdown, reason = "these comments are the help that users read")]

use clap::Args;
use juror_compare::{Choice, Sample};
use juror_files::load;
use juror_labels::{Chosen, JudgedRun, choose};
use juror_pages::UnreadableRun;
use juror_run::Output;
use juror_runs::is_shared;

use super::{boolish, check_is_lines, check_json, check_outputs, count, results_kind};
use crate::exit::{Exit, Outside};
use crate::output;

const EXAMPLES: &str = "\
Examples:
  juror label runs/monday -o labels.jsonl
  juror label results.jsonl -o labels.jsonl --n 200 --share-random 0.75
  juror label results.jsonl -o labels.jsonl --metric answer_relevance

Each line is an answer with its question and, if there is one, the reference answer. People fill in
`label`: a number from 0 (wrong) to 1 (right), or a word (pass, fail, right, wrong, solved,
unsolved, true, false, yes, no, unsure); and `by`, their name, if several label. The judge's verdict
is not in the file, nor the name of the system.

A share of the answers is drawn at random: only these say how often the judge errs. The others are
those in most doubt: questions on which repeated verdicts, or several answers, have different
scores, then scores near the middle.
Then: juror calibrate RUN labels.jsonl";

/// Make a file of answers for people to label, to check the judge of a run.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct LabelArgs {
    /// Folder of a run, or results of `juror eval` or `juror bench`.
    #[arg(value_name = "RUN")]
    run: String,

    /// File to write the lines to (.jsonl); - is standard output. A file that exists is not replaced.
    #[arg(short, long, value_name = "FILE")]
    output: String,

    /// How many answers.
    #[arg(long = "n", value_name = "N", default_value_t = 100)]
    n: usize,

    /// The share of them that is drawn at random.
    #[arg(long, value_name = "SHARE", default_value = "0.5", value_parser = parse_share)]
    share_random: f64,

    /// The judged metric that people check [default: sopr_score, answer_f1 or answer_relevance, the
    /// first that the run has].
    #[arg(long, value_name = "METRIC")]
    metric: Option<String>,

    /// Seed of what is drawn: the same seed chooses the same answers.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Print errors only.
    #[arg(short, long, env = "JUROR_QUIET", value_parser = boolish())]
    quiet: bool,
}

/// Parses a number from 0 to 1.
pub(super) fn parse_share(text: &str) -> Result<f64, String> {
    let share = text.parse::<f64>().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| format!("expected a share from 0 to 1, found `{text}`"))
}

pub(super) fn run(args: &LabelArgs) -> anyhow::Result<Exit> {
    check_outputs([&args.run], [&args.output], false)?;
    check_is_lines(&args.output, "labels")?;
    anyhow::ensure!(
        args.output == "-" || !std::path::Path::new(&args.output).exists(),
        "{}: it is there already, and may hold labels of people\n  hint: choose another name",
        args.output
    );
    anyhow::ensure!(args.n > 0, "--n: there is nothing to choose\n  hint: 100 is a good number");
    let run = open_run(&args.run)?;
    if !args.quiet {
        tell_problems(&run);
    }
    let metric = run.metric(args.metric.as_deref())?;
    let file = Output::create_text(&args.output)?;
    let choice = Choice { n: args.n, random_share: args.share_random, seed: args.seed };
    let chosen = choose(&run, &metric, choice);
    let text: String = chosen.iter().map(|own| own.line(&run, &metric).text() + "\n").collect();
    file.write_whole(text.as_bytes()).map_err(|error| Outside(error.into()))?;
    if !args.quiet {
        say(&chosen, &metric, &args.output);
    }
    Ok(Exit::Done)
}

/// Warns of what could not be read, and of files that are no longer what they were.
pub(super) fn tell_problems(run: &JudgedRun) {
    output::warn_all(&run.problems);
    if let Some(damage) = &run.damage {
        output::warn(&format!("{} is damaged: {damage}", run.source));
    }
}

/// Reads a run in a folder or a database, or a file of results.
pub(super) fn open_run(name: &str) -> anyhow::Result<JudgedRun> {
    let path = std::path::Path::new(name);
    if is_shared(path) || path.is_dir() {
        return JudgedRun::open(name).map_err(|error| match error {
            UnreadableRun::Results(problems) => problems.into(),
            other => other.into(),
        });
    }
    let document = load(name)?;
    check_json(&document)?;
    let Some(kind) = results_kind(&document) else {
        anyhow::bail!(
            "{name}: these are not results\n  hint: name a run's folder, or a file that `juror eval -o` or `juror bench -o` wrote"
        );
    };
    Ok(JudgedRun::of_results(&document, kind)?)
}

fn say(chosen: &[Chosen<'_>], metric: &str, name: &str) {
    let n_random = chosen.iter().filter(|own| own.sample == Sample::Random).count();
    let others = count(chosen.len() - n_random, "disagreement");
    let name = if name == "-" { "standard output" } else { name };
    output::print_note(&format!(
        "{} to label for {metric} in {name}: {n_random} random, {others}",
        count(chosen.len(), "answer")
    ));
}
