//! `juror judge`: judge recorded answers of agents.

#![expect(clippy::doc_markdown, reason = "these comments are the help that users read")]

mod final_answer;
mod pass_rate;
mod preference;

use std::collections::HashMap;

use clap::{Args, Subcommand};
use juror_judge::Models;
use juror_report::calls_table;
use juror_run::bench::{Selected, Wanted, select_queries};
use juror_run::{AnswerFiles, Interrupt, Output, Settings, ask_each, load_settings, models_for};
use juror_score::tool::Query;
use juror_score::tool::answer::{Answers, Recorded};

use super::ask::{self, AskArgs};
use super::{boolish, count};
use crate::environment::Environment;
use crate::exit::{Exit, Outside};
use crate::progress::Progress;
use crate::talk;

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

    /// File with the ids of queries to take: a list, or an object by id [default: the one beside
    /// the set].
    #[arg(long, value_name = "FILE", env = "JUROR_IDS", requires = "queries")]
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
    ask: AskArgs,
}

/// A query that counts.
struct Item<'a> {
    id: String,
    text: String,
    /// What is known of it, where queries were given.
    query: Option<&'a Query>,
}

impl CommonArgs {
    fn settings(&self) -> anyhow::Result<Settings> {
        Ok(match &self.config {
            None => Settings::default(),
            Some(name) => Settings::read(&load_settings(name)?)?,
        })
    }

    /// The queries of the files that were named, if any.
    fn queries(&self) -> anyhow::Result<Option<Vec<Selected>>> {
        let Some(place) = self.queries.clone() else { return Ok(None) };
        let sets = self.set.iter().cloned().collect();
        let wanted = Wanted { place, sets, filter: self.ids.clone(), ..Wanted::default() };
        let selection = select_queries(&wanted)?;
        for problem in &selection.told {
            talk::warn(problem);
        }
        Ok(Some(selection.queries))
    }

    fn answers(&self, place: &str) -> anyhow::Result<AnswerFiles> {
        Ok(AnswerFiles::load(place, self.method.as_deref())?)
    }

    /// Whom to ask, and where replies are kept.
    fn models(&self, settings: &Settings, hint: &str) -> anyhow::Result<(Models, Option<String>)> {
        anyhow::ensure!(!self.ask.no_model, "--no-model: there is nobody to judge{hint}");
        let environment = Environment::read();
        let lookup = |name: &str| environment.get(name);
        models_for(settings, &lookup, self.ask.options(), ask::teller(self.quiet))
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
        let mut progress = Progress::new(self.quiet);
        let tell = |event| progress.tell(event);
        let done = runtime.block_on(ask_each(n, models, &interrupt, ask, tell));
        progress.end();
        Ok(done)
    }

    /// Prints a summary: what was found, for people or for machines, and what was asked.
    fn print(&self, text: &str, json: &serde_json::Value) -> anyhow::Result<()> {
        if self.json {
            talk::data(&format!("{json:#}\n"))?;
        } else if !self.quiet {
            let is_taken = self.output.as_deref() == Some("-");
            if is_taken { talk::say(text) } else { talk::data(&format!("{text}\n"))? }
        }
        Ok(())
    }

    /// What calls there were, or would be.
    fn tell_calls(&self, models: &Models) {
        let rows = ask::rows(&models.tally());
        if (!self.quiet || self.ask.dry_run) && !self.json && !rows.is_empty() {
            talk::say(calls_table(&rows, juror_report::Palette::Plain).trim_end());
        }
    }

    /// Ends a command that had to stop or only counted; nothing where it was seen through.
    fn end_early(&self, models: &Models, cache: Option<&str>, n: usize) -> Option<Exit> {
        if let Some(stop) = models.stopped() {
            self.tell_calls(models);
            ask::tell_stop(&stop, cache);
            talk::say("no file was written");
            return Some(Exit::OutsideFailed);
        }
        self.ask.dry_run.then(|| {
            talk::say(&format!("{} to judge; nothing was sent", queries(n)));
            self.tell_calls(models);
            Exit::Done
        })
    }
}

/// `1 query`, `2 queries`.
fn queries(n: usize) -> String {
    if n == 1 { "1 query".into() } else { format!("{n} queries") }
}

/// Reads answers and tells what cannot be read; how many problems there were.
fn read<'a>(files: &'a AnswerFiles, n_problems: &mut usize) -> anyhow::Result<Answers<'a>> {
    let (answers, told) = files.read();
    *n_problems += told.len();
    for problem in told {
        talk::say(&format!("error: {problem}"));
    }
    anyhow::ensure!(!answers.is_empty() || *n_problems == 0, "there is no answer that can be read");
    Ok(answers)
}

/// Answers by id; of an id that comes twice, the last. A query whose answer is nothing has none.
fn by_id<'m>(answers: &'m Answers<'_>) -> HashMap<&'m str, &'m Recorded<'m>> {
    let given = answers.iter().filter(|(_, recorded)| !recorded.answer.is_nothing());
    given.map(|(id, recorded)| (&**id, recorded)).collect()
}

/// The queries that count: those selected, else those of the answers in the order they come.
fn items<'a>(selected: Option<&'a [Selected]>, answers: &[&Answers<'_>]) -> Vec<Item<'a>> {
    let mut known: HashMap<&str, &Recorded<'_>> = HashMap::new();
    let mut ids = Vec::new();
    for (id, recorded) in answers.iter().copied().flatten() {
        if known.insert(id, recorded).is_none() {
            ids.push(&**id);
        }
    }
    let recorded_text = |id: &str| known.get(id)?.query.text().map(std::borrow::Cow::into_owned);
    match selected {
        None => ids
            .into_iter()
            .map(|id| Item {
                id: id.to_owned(),
                text: recorded_text(id).unwrap_or_default(),
                query: None,
            })
            .collect(),
        Some(selected) => {
            let item = |one: &'a Selected| Item {
                id: one.id.clone(),
                text: Some(one.query.text.clone())
                    .filter(|text| !text.is_empty())
                    .or_else(|| recorded_text(&one.id))
                    .unwrap_or_default(),
                query: Some(&one.query),
            };
            selected.iter().map(item).collect()
        }
    }
}

/// Says how many answers belong to no query that counts.
fn tell_unselected(items: &[Item<'_>], answers: &Answers<'_>, quiet: bool) {
    let ids: std::collections::HashSet<&str> = items.iter().map(|item| &*item.id).collect();
    let n_others = answers.iter().filter(|(id, _)| !ids.contains(&**id)).count();
    if n_others > 0 && !quiet {
        talk::warn(&format!("{} to other queries left out", count(n_others, "answer")));
    }
}

/// Begins a file, where one is wanted and calls are not only counted.
fn begin(name: Option<&String>, dry_run: bool) -> anyhow::Result<Option<TextFile>> {
    let Some(name) = name.filter(|_| !dry_run) else { return Ok(None) };
    Ok(Some(TextFile::create(name)?))
}

/// A file of any ending that appears whole or not at all.
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

/// What an agent is called when nobody says: the file or folder its answers are in.
fn stem(place: &str) -> String {
    let path = std::path::Path::new(place);
    let name = if path.is_dir() { path.file_name() } else { path.file_stem() };
    name.map_or_else(|| "agent".to_owned(), |name| name.to_string_lossy().into_owned())
}

/// A share as a percentage.
fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}
