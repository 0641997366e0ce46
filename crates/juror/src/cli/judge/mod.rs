//! `juror judge`: judges recorded answers of agents.

#![expect(clippy::doc_markdown, reason = "these comments are the help that users read")]

mod final_answer;
mod items;
mod pass_rate;
mod preference;

use clap::{Args, Subcommand};
use juror_bench::{AnswerFiles, Count, Item, QuerySelection, select_queries};
use juror_files::{load, load_settings};
use juror_models::Models;
use juror_report::calls_table;
use juror_run::{Environment, Interrupt, Output, Settings, ask_each, models_for};
use juror_toolbench::IdFilter;
use juror_toolbench::answer::Answers;

use self::items::print_answers;
use super::model_args::{self, ModelArgs};
use super::{boolish, count};
use crate::exit::{Exit, Outside};
use crate::output;
use crate::progress::Progress;

/// Judge recorded answers of agents: what they solve, and which agent does better.
#[derive(Args)]
pub(super) struct JudgeArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    PassRate(pass_rate::PassRateArgs),
    Preference(preference::PreferenceArgs),
    FinalAnswer(final_answer::FinalAnswerArgs),
}

pub(super) fn run(args: &JudgeArgs) -> anyhow::Result<Exit> {
    match &args.command {
        Command::PassRate(args) => pass_rate::run(args),
        Command::Preference(args) => preference::run(args),
        Command::FinalAnswer(args) => final_answer::run(args),
    }
}

/// What is judged, and how; the same for all of these commands.
#[derive(Args)]
struct CommonArgs {
    /// How the agent went about queries, where a folder of logs is judged: CoT@1, ….
    #[arg(long, value_name = "METHOD", env = "JUROR_METHOD")]
    method: Option<String>,

    /// The queries that count: a file, or a folder of sets. Those without an answer are unsolved.
    /// When left out, the queries that have an answer count.
    #[arg(long, value_name = "PLACE", env = "JUROR_QUERIES")]
    queries: Option<String>,

    /// The set of a folder of queries, such as G1_instruction.
    #[arg(long, value_name = "NAME", env = "JUROR_SET", requires = "queries")]
    set: Option<String>,

    /// File with the ids of queries to take: a list, or an object by id. Without --queries these
    /// count, answered or not [default: the one beside the set].
    #[arg(long, value_name = "FILE", env = "JUROR_IDS")]
    ids: Option<String>,

    /// The file to write, in JSON; `-` is standard output.
    #[arg(short, long, value_name = "JSON")]
    output: Option<String>,

    /// Settings file in YAML; see docs/formats.md.
    #[arg(short, long, value_name = "FILE", env = "JUROR_CONFIG")]
    config: Option<String>,

    /// Print the summary as JSON, every query with its verdict and the reason.
    #[arg(long, env = "JUROR_JSON", value_parser = boolish())]
    json: bool,

    /// Print errors only.
    #[arg(short, long, env = "JUROR_QUIET", value_parser = boolish())]
    quiet: bool,

    #[command(flatten)]
    ask: ModelArgs,
}

impl CommonArgs {
    fn settings(&self) -> anyhow::Result<Settings> {
        Ok(match &self.config {
            None => Settings::default(),
            Some(name) => Settings::read(&load_settings(name)?)?,
        })
    }

    /// Returns the queries that count, as far as the arguments specify them.
    fn wanted(&self) -> anyhow::Result<Count> {
        let Some(place) = self.queries.clone() else {
            let Some(file) = &self.ids else { return Ok(Count::Answered) };
            let (filter, problems) = IdFilter::read(&load(file)?);
            if !problems.is_empty() {
                return Err(problems.into());
            }
            if filter.is_empty() {
                output::warn(&format!("{file}: no query is taken: the list of ids is empty"));
            }
            return Ok(Count::Ids(filter.ids().map(Into::into).collect()));
        };
        let sets = self.set.iter().cloned().collect();
        let filter = self.ids.clone();
        let wanted = QuerySelection { place, sets, filter, ..QuerySelection::default() };
        let selection = select_queries(&wanted)?;
        for problem in &selection.problems {
            output::warn(problem);
        }
        Ok(Count::Queries(selection.queries))
    }

    fn answers(&self, place: &str) -> anyhow::Result<AnswerFiles> {
        Ok(AnswerFiles::load(place, self.method.as_deref())?)
    }

    /// Returns the answers to judge, at least one, and reports those that do not count.
    fn items<'a>(
        &self,
        place: &str,
        count: &'a Count,
        answers: &'a Answers<'a>,
    ) -> anyhow::Result<Vec<Item<'a>>> {
        let items = juror_bench::items(count, &[(place, answers)])?;
        anyhow::ensure!(!items.is_empty(), "{place}: there is no answer to judge");
        print_answers(&items, answers, self.quiet);
        Ok(items)
    }

    /// Opens the models, and returns the location of kept replies.
    fn models(&self, settings: &Settings, hint: &str) -> anyhow::Result<(Models, Option<String>)> {
        anyhow::ensure!(!self.ask.no_model, "--no-model: there is no model to judge with{hint}");
        let environment = Environment::read(output::warn);
        models_for(settings, &environment, self.ask.options(), model_args::warn_unless(self.quiet))
            .map_err(|error| anyhow::anyhow!("{error}{hint}"))
    }

    /// Asks about each of `n` queries, many at a time.
    fn ask_each<T, F: Future<Output = T>>(
        &self,
        n: usize,
        models: &Models,
        ask: impl Fn(usize) -> F,
    ) -> anyhow::Result<Vec<T>> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let interrupt = Interrupt::listen(|| std::process::exit(Exit::OutsideFailed as i32));
        let mut progress = Progress::new(self.quiet, ["query", "queries"]);
        let tell = |event| progress.update(event);
        let done = runtime.block_on(ask_each(n, models, &interrupt, ask, tell));
        progress.end();
        Ok(done)
    }

    /// Prints a summary for people or for machines, and the calls made.
    fn print(&self, text: &str, json: &serde_json::Value) -> anyhow::Result<()> {
        if self.json {
            output::print_data(&format!("{json:#}\n"))?;
        } else if !self.quiet {
            let is_taken = self.output.as_deref() == Some("-");
            if is_taken {
                output::print_note(text);
            } else {
                output::print_data(&format!("{text}\n"))?;
            }
        }
        Ok(())
    }

    /// Prints the calls that were or would be made.
    fn print_calls(&self, models: &Models) {
        let rows = model_args::rows(&models.tally());
        if (!self.quiet || self.ask.dry_run) && !self.json && !rows.is_empty() {
            output::print_note(calls_table(&rows, juror_report::Palette::Plain).trim_end());
        }
    }

    /// Ends a command that had to stop or only counted calls; returns `None` if it ran to its end.
    fn end_early(&self, models: &Models, cache: Option<&str>, n: usize) -> Option<Exit> {
        if let Some(stop) = models.stopped() {
            self.print_calls(models);
            model_args::print_stop(&stop, cache);
            output::print_note("no file was written");
            return Some(Exit::OutsideFailed);
        }
        self.ask.dry_run.then(|| {
            output::print_note(&format!("{} to judge; nothing was sent", queries(n)));
            self.print_calls(models);
            Exit::Done
        })
    }
}

/// `1 query`, `2 queries`.
fn queries(n: usize) -> String {
    if n == 1 { "1 query".into() } else { format!("{n} queries") }
}

/// Reads answers, and reports and counts what cannot be read.
fn read<'a>(files: &'a AnswerFiles, n_problems: &mut usize) -> anyhow::Result<Answers<'a>> {
    let (answers, told) = files.read();
    *n_problems += told.len();
    for problem in told {
        output::print_note(&format!("error: {problem}"));
    }
    anyhow::ensure!(!answers.is_empty() || *n_problems == 0, "there is no answer that can be read");
    Ok(answers)
}

/// Starts a file, if one is wanted and calls are not merely counted.
fn begin(name: Option<&String>, dry_run: bool) -> anyhow::Result<Option<TextFile>> {
    let Some(name) = name.filter(|_| !dry_run) else { return Ok(None) };
    Ok(Some(TextFile::create(name)?))
}

/// A file with any extension that appears complete or not at all.
struct TextFile(Output);

impl TextFile {
    fn create(name: &str) -> anyhow::Result<TextFile> {
        Ok(TextFile(Output::create_text(name)?))
    }

    fn write(mut self, text: &str) -> Result<(), Outside> {
        let outside = |error| Outside(anyhow::Error::new(error));
        self.0.write(text.as_bytes()).map_err(outside)?;
        self.0.finish().map_err(outside)
    }
}

/// Returns the default name of an agent: that of the file or folder with its answers.
fn stem(place: &str) -> String {
    let path = std::path::Path::new(place);
    let name = if path.is_dir() { path.file_name() } else { path.file_stem() };
    name.map_or_else(|| "agent".to_owned(), |name| name.to_string_lossy().into_owned())
}

/// Printed instead of a rate if there is no verdict.
const NOT_KNOWN: &str = "not known, since nothing could be judged";

/// Says how many have no verdict, to follow the counts of those that have one.
fn unjudged(n: usize) -> String {
    if n == 0 { String::new() } else { format!(", {n} unjudged") }
}

/// Says that some have no verdict and are left out.
fn left_out(n: usize) -> String {
    if n == 0 {
        return String::new();
    }
    format!("\n{n} left out: the judge could not be asked")
}

/// Formats a share as a percentage.
fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}
