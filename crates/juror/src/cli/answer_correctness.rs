//! `juror answer-correctness`: judges the answers of a table.

use std::fs::File;
use std::io::Write;

use clap::Args;
use csv::{ReaderBuilder, StringRecord, Terminator, Writer, WriterBuilder};
use futures_util::stream::{FuturesOrdered, StreamExt as _};
use juror_files::{end_of_links, load_text};
use juror_judge::{BLANK, ClaimsError, Correctness, JudgedClaims, Repeat};
use juror_models::{CallError, Models, Stop};
use juror_report::calls_table;
use juror_run::{
    Environment, Event, Interrupt, OutputError, Watch, correctness, models_for, ticks,
};
use juror_runs::is_in_run;
use juror_score::AskedLike;

use super::model_args::{self, ModelArgs};
use super::{RuleArgs, boolish, check_outputs, count};
use crate::exit::{Exit, Outside};
use crate::output;
use crate::progress::{Progress, STOPPING};

const EXAMPLES: &str = "\
Examples:
  OPENAI_API_KEY=… juror answer-correctness -i answers.tsv -o judged.tsv
  juror answer-correctness -i answers.tsv -o judged.tsv -c juror.yaml

The input is a table with tabs between fields and the columns `Question`, `Reference answer` and
`Actual answer`, in any order and among others. The output has a row for each, in the same order,
with `#Reference`, `#PTarget`, `#Matching`, `Reasoning` and `Error`.

Rows are written as they are judged. Replies are kept, so that the same command again asks only
what is missing.";

/// The columns of the input.
const INPUTS: [&str; 3] = ["Question", "Reference answer", "Actual answer"];

/// The columns of the output.
const OUTPUTS: [&str; 5] = ["#Reference", "#PTarget", "#Matching", "Reasoning", "Error"];

/// Judge the answers of a table: claims in the reference answer, in the answer, and matching.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct AnswerCorrectnessArgs {
    /// The table to judge; `-` is standard input.
    #[arg(
        short,
        long,
        value_name = "IN.tsv",
        visible_alias = "in-file",
        alias = "input-tsv-file-path"
    )]
    input: String,

    /// The table to write; `-` is standard output.
    #[arg(
        short,
        long,
        value_name = "OUT.tsv",
        visible_alias = "out-file",
        alias = "output-tsv-file-path"
    )]
    output: String,

    #[command(flatten)]
    rules: RuleArgs,

    #[command(flatten)]
    ask: ModelArgs,

    /// Print errors only.
    #[arg(short, long, env = "JUROR_QUIET", value_parser = boolish())]
    quiet: bool,
}

/// A row to judge: its three texts, or what is wrong with it.
type Row = Result<[String; 3], String>;

pub(super) fn run(args: &AnswerCorrectnessArgs) -> anyhow::Result<Exit> {
    let output = (!args.ask.dry_run).then_some(&args.output);
    check_outputs([&args.input].into_iter().chain(&args.rules.config), output, false)?;
    let settings = args.rules.settings()?;
    model_args::warn_of_profile(&settings, args.quiet);
    let enabled = settings.answer_correctness.as_ref().and_then(|own| own.enabled);
    anyhow::ensure!(
        enabled != Some(false),
        "the settings turn answer_correctness off\n  hint: this command judges nothing else"
    );
    anyhow::ensure!(!args.ask.no_model, "--no-model: this command does nothing but ask a model");
    let profile = settings.plan().profile;
    let rows = read_rows(&args.input)?;
    let judge = correctness(&settings, &profile)?;
    let environment = Environment::read(output::warn);
    let options = args.ask.options();
    let (models, cache) =
        models_for(&settings, &environment, options, model_args::warn_unless(args.quiet))?;
    let mut table = Table {
        progress: Progress::new(args.quiet, ["row", "rows"]),
        judge: &judge,
        models: &models,
        keeps_reason: profile.asked_like == AskedLike::Release5,
        interrupt: Interrupt::listen(|| std::process::exit(Exit::OutsideFailed as i32)),
    };
    let outcome = if args.ask.dry_run {
        table.judge(&rows, |_| Ok(()))?
    } else {
        let mut writer = begin(&args.output)?;
        let outcome = table.judge(&rows, |row| write(&mut writer, row))?;
        writer.flush()?;
        outcome
    };
    if !args.quiet || args.ask.dry_run {
        let tally = model_args::rows(&models.tally());
        let rows = count(outcome.n_rows, "row");
        if args.ask.dry_run {
            output::print_note(&format!("{rows} to judge; nothing was sent"));
        } else {
            output::print_note(&format!("{rows} judged, {} with errors", outcome.n_errors));
        }
        if !tally.is_empty() {
            output::print_note(calls_table(&tally, juror_report::Palette::Plain).trim_end());
        }
    }
    if let Some(stop) = models.stopped() {
        model_args::print_stop(&stop, cache.as_deref());
        return Ok(Exit::OutsideFailed);
    }
    Ok(if outcome.n_outside > 0 { Exit::OutsideFailed } else { Exit::Done })
}

/// Reads the rows of a table.
fn read_rows(name: &str) -> anyhow::Result<Vec<Row>> {
    let text = load_text(name)?;
    let mut reader =
        ReaderBuilder::new().delimiter(b'\t').flexible(true).from_reader(text.as_bytes());
    let header = reader.headers()?.clone();
    let place = |column: &str| header.iter().position(|name| name == column);
    let missing: Vec<&str> = INPUTS.into_iter().filter(|column| place(column).is_none()).collect();
    anyhow::ensure!(
        missing.is_empty(),
        "{name}:1: the column `{}` is missing\n  hint: columns present: {}",
        missing.join("`, `"),
        header.iter().collect::<Vec<_>>().join(", ")
    );
    let places: Vec<usize> = INPUTS.iter().filter_map(|column| place(column)).collect();
    let read = |record: Result<StringRecord, csv::Error>| {
        let record = record.map_err(|error| format!("the row cannot be read: {error}"))?;
        let field = |at: usize| match record.get(places[at]) {
            Some(text) => Ok(text.to_owned()),
            None => Err(format!("the row has no field for `{}`", INPUTS[at])),
        };
        Ok([field(0)?, field(1)?, field(2)?])
    };
    Ok(reader.records().map(read).collect())
}

/// The judge of a table, and how its rows are written.
struct Table<'t> {
    progress: Progress,
    judge: &'t Correctness,
    models: &'t Models,
    /// Whether an error row still includes the model's reason.
    keeps_reason: bool,
    interrupt: Interrupt,
}

/// The outcome of judging a table.
#[derive(Default)]
struct Outcome {
    n_rows: usize,
    n_errors: usize,
    n_outside: usize,
}

impl Table<'_> {
    /// Judges rows, many at a time, and passes each to `write` in the order of the table.
    fn judge(
        &mut self,
        rows: &[Row],
        mut write: impl FnMut([String; 5]) -> anyhow::Result<()>,
    ) -> anyhow::Result<Outcome> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let mut outcome = Outcome::default();
        let Table { progress, judge, models, interrupt, .. } = self;
        let (judge, models, keeps_reason) = (*judge, *models, self.keeps_reason);
        // Rows that wait to be written do not count towards the calls in flight.
        let window = 4 * models.concurrency();
        runtime.block_on(async {
            let mut waiting = rows.iter();
            progress.update(Event::Started { questions: rows.len() });
            let (watch, mut ticks) = (Watch::begin(models), ticks());
            let mut asked: FuturesOrdered<_> =
                waiting.by_ref().take(window).map(|row| judge_row(judge, models, row)).collect();
            let mut interrupted = false;
            loop {
                let judged = tokio::select! {
                    biased;
                    next = asked.next() => match next { Some(judged) => judged, None => break },
                    _ = ticks.tick() => {
                        let begun = rows.len() - waiting.len();
                        let asking = watch.asking(outcome.n_rows, begun, waiting.len());
                        progress.update(Event::Asked(asking));
                        continue;
                    }
                    () = interrupt.wait(), if !interrupted => {
                        interrupted = true;
                        models.stop(Stop::Interrupted);
                        output::print_note(STOPPING);
                        continue;
                    }
                };
                // Wait for calls in flight, so that their replies are kept.
                if interrupted {
                    continue;
                }
                outcome.n_rows += 1;
                let is_outside = matches!(&judged, Err(error) if error.is_outside());
                outcome.n_outside += usize::from(is_outside);
                outcome.n_errors += usize::from(!matches!(judged, Ok(Ok(_))));
                write(cells(judged, keeps_reason))?;
                asked.extend(waiting.next().map(|row| judge_row(judge, models, row)));
            }
            Ok::<(), anyhow::Error>(())
        })?;
        progress.end();
        Ok(outcome)
    }
}

async fn judge_row(
    judge: &Correctness,
    models: &Models,
    row: &Row,
) -> Result<Result<JudgedClaims, ClaimsError>, CallError> {
    let failed = |problem: &str| ClaimsError { problem: problem.into(), reason: String::new() };
    match row {
        Err(why) => Ok(Err(failed(why))),
        Ok(texts) => {
            let texts = texts.each_ref().map(String::as_str);
            match judge.claims(texts, models, Repeat::FIRST).await {
                None => Ok(Err(failed(BLANK))),
                Some(answer) => answer.outcome,
            }
        }
    }
}

/// Returns the cells of a row; an error row includes the model's reason if wanted.
fn cells(
    judged: Result<Result<JudgedClaims, ClaimsError>, CallError>,
    keeps_reason: bool,
) -> [String; 5] {
    let error = |reason: String, problem: String| {
        [String::new(), String::new(), String::new(), reason, problem]
    };
    match judged {
        Ok(Ok(JudgedClaims { claims, reason })) => [
            claims.reference.to_string(),
            claims.actual.to_string(),
            claims.matching.to_string(),
            reason,
            String::new(),
        ],
        Ok(Err(unusable)) => {
            let reason = if keeps_reason { unusable.reason } else { String::new() };
            error(reason, unusable.problem)
        }
        Err(outside) => error(String::new(), outside.to_string()),
    }
}

/// Starts the output with its header.
fn begin(name: &str) -> anyhow::Result<Writer<Box<dyn Write>>> {
    if name != "-" && is_in_run(&end_of_links(std::path::Path::new(name))) {
        return Err(OutputError::InRun(name.to_owned()).into());
    }
    let failed = |error: std::io::Error| anyhow::anyhow!("{name}: cannot write: {error}");
    let folder = std::path::Path::new(name).parent();
    if let Some(folder) = folder.filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    let file: Box<dyn Write> = match name {
        "-" => Box::new(std::io::stdout()),
        _ => Box::new(File::create(name).map_err(failed)?),
    };
    let mut writer =
        WriterBuilder::new().delimiter(b'\t').terminator(Terminator::CRLF).from_writer(file);
    write(&mut writer, OUTPUTS.map(str::to_owned))?;
    Ok(writer)
}

/// Writes a row at once, so that no judgement is lost.
fn write(writer: &mut Writer<Box<dyn Write>>, cells: [String; 5]) -> anyhow::Result<()> {
    let outside = |error: std::io::Error| Outside(anyhow::anyhow!("cannot write a row: {error}"));
    writer.write_record(cells).map_err(|error| outside(error.into()))?;
    writer.flush().map_err(outside)?;
    Ok(())
}
