//! The command line. Each command has a file of its name.

mod agent_args;
mod aggregate;
mod answer_correctness;
mod ask;
mod bench;
mod cache;
mod calibrate;
mod compare;
mod completions;
mod convert;
mod demo;
mod eval;
mod export;
mod gate;
#[cfg(feature = "graph")]
mod graph_args;
mod import;
mod judge;
mod junit;
mod label;
mod live_args;
mod mcp;
mod merge;
mod model_args;
#[cfg(not(feature = "graph"))]
mod no_graph;
mod page;
mod plan;
#[cfg(feature = "graph")]
mod reference;
mod report;
mod runs;
mod schema;
mod serve;
mod store;
mod tool_args;
mod tools;
mod trace_args;
mod validate;
mod view;

use std::ffi::OsString;
use std::fmt::Display;
use std::path::{Path, PathBuf};

pub use agent_args::live_agent;
use clap::{Args, Parser, Subcommand};
use juror_document::{Document, Problems};
use juror_files::load_settings;
use juror_pages::FileKind;
use juror_run::{Plan, Settings};
use juror_score::read::RepeatedIds;
use juror_score::{Aggregates, Profile};
use serde_json::value::RawValue;

#[cfg(not(feature = "graph"))]
use self::no_graph::{graph_args, reference};
use crate::exit::Exit;

const ABOUT: &str =
    "Tells whether a question-answering system or a tool-using agent is right and took
the right steps: scores for each question, statistics, why each missed, and what it cost.";

const EXAMPLES: &str = "\
Examples:
  juror demo                                     a worked example, no files needed
  juror eval reference.yaml responses.jsonl      judge recorded answers
  juror eval reference.yaml --agent openai:URL   ask an agent, and judge its answers
  juror import trace.jsonl -o responses.jsonl    what your framework recorded, as responses
  juror compare runs/main runs/pr-412            did the change make it better?
  juror report runs/main -o report.html          every question of a run, in a browser
  juror view runs                                all runs of a folder, live, in a browser
  juror validate reference.yaml responses.jsonl  check files before a long run
  juror reference check reference.yaml --graph graph.ttl   are expected results still true?
  juror serve --tools tools --cache cache        answer tool calls of agents, offline

Exit codes:
  0   done
  1   done, and a quality gate (--fail-under, --gates, …) was not met
  2   asked wrongly: arguments, settings or dataset; nothing was written
  3   something outside failed; results are incomplete
  4   done, and with --strict: the data cannot tell whether a gate is met
  70  a bug in juror

Options can also be set by environment variables, such as JUROR_PROFILE; --help names each.";

/// The whole command line.
#[derive(Parser)]
#[command(name = "juror", version, about = ABOUT, after_help = EXAMPLES, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Eval(Box<eval::EvalArgs>),
    Ask(Box<ask::AskArgs>),
    Compare(compare::CompareArgs),
    Aggregate(aggregate::AggregateArgs),
    Merge(merge::MergeArgs),
    AnswerCorrectness(answer_correctness::AnswerCorrectnessArgs),
    Validate(validate::ValidateArgs),
    Reference(reference::ReferenceArgs),
    Bench(Box<bench::BenchArgs>),
    Convert(convert::ConvertArgs),
    Import(import::ImportArgs),
    Judge(judge::JudgeArgs),
    Label(label::LabelArgs),
    Calibrate(calibrate::CalibrateArgs),
    Plan(plan::PlanArgs),
    Report(report::ReportRunsArgs),
    Export(export::ExportArgs),
    Runs(runs::RunsArgs),
    View(view::ViewArgs),
    Serve(serve::ServeArgs),
    Mcp(mcp::McpArgs),
    Tools(tools::ToolsArgs),
    Demo(demo::DemoArgs),
    Cache(cache::CacheArgs),
    Store(store::StoreArgs),
    Schema(schema::SchemaArgs),
    Completions(completions::CompletionsArgs),
}

/// Runs the requested command.
pub(crate) fn run(arguments: Vec<OsString>, program: &[OsString]) -> anyhow::Result<Exit> {
    let words: Vec<OsString> = std::iter::once("juror".into()).chain(arguments).collect();
    let line: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let cli = match Cli::try_parse_from(words) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version go to standard output and are not errors; clap tells them apart.
            let _ = error.print();
            return Ok(if error.use_stderr() { Exit::AskedWrongly } else { Exit::Done });
        }
    };
    match cli.command {
        Command::Eval(args) => eval::run(&args, &line),
        Command::Ask(args) => ask::run(&args, &line),
        Command::Compare(args) => compare::run(&args),
        Command::Aggregate(args) => aggregate::run(&args),
        Command::Merge(args) => merge::run(&args),
        Command::AnswerCorrectness(args) => answer_correctness::run(&args),
        Command::Validate(args) => validate::run(&args),
        Command::Reference(args) => reference::run(&args),
        Command::Bench(args) => bench::run(&args, line),
        Command::Convert(args) => convert::run(&args),
        Command::Import(args) => import::run(&args),
        Command::Judge(args) => judge::run(&args),
        Command::Label(args) => label::run(&args),
        Command::Calibrate(args) => calibrate::run(&args),
        Command::Plan(args) => plan::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Export(args) => export::run(&args),
        Command::Runs(args) => runs::run(&args),
        Command::View(args) => view::run(&args),
        Command::Serve(args) => serve::run(&args),
        Command::Mcp(args) => mcp::run(&args),
        Command::Tools(args) => tools::run(&args),
        Command::Demo(args) => demo::run(&args, program),
        Command::Cache(args) => cache::run(&args),
        Command::Store(args) => store::run(&args),
        Command::Schema(args) => schema::run(&args),
        Command::Completions(args) => completions::run(&args),
    }
}

/// The rules of judgement, as given on the command line.
#[derive(Args)]
struct RuleArgs {
    /// Settings file in YAML; see docs/formats.md.
    #[arg(short, long, value_name = "FILE", env = "JUROR_CONFIG", alias = "config-yaml-file-path")]
    config: Option<String>,

    /// Set of rules: 5, the published document, or 6, the library's newer release. Overrides the
    /// settings [default: 5, or the profile that the results indicate].
    #[arg(long, value_name = "5|6", env = "JUROR_PROFILE")]
    profile: Option<ProfileArg>,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum ProfileArg {
    #[value(name = "5", help = "The published document")]
    Five,
    #[value(name = "6", help = "The library's newer release")]
    Six,
}

impl RuleArgs {
    /// Combines settings and arguments.
    fn settings(&self) -> anyhow::Result<Settings> {
        let mut settings = match &self.config {
            None => Settings::default(),
            Some(name) => Settings::read(&load_settings(name)?)?,
        };
        settings.profile = match self.profile {
            Some(ProfileArg::Five) => Some(juror_run::ProfileNumber::Five),
            Some(ProfileArg::Six) => Some(juror_run::ProfileNumber::Six),
            None => settings.profile,
        };
        Ok(settings)
    }

    fn plan(&self) -> anyhow::Result<Plan> {
        Ok(self.settings()?.plan())
    }
}

/// How responses are read.
#[derive(Args, Clone, Copy, Default)]
struct ResponseArgs {
    /// Take several responses with the same id for several answers to the question, in the order of
    /// the file. Without this, a `trial` tells them apart, and otherwise the last one counts.
    #[arg(long, env = "JUROR_TRIALS_IN_RESPONSES", value_parser = boolish())]
    trials_in_responses: bool,
}

impl ResponseArgs {
    /// Returns what several responses with the same id are.
    fn repeated_ids(self) -> RepeatedIds {
        if self.trials_in_responses { RepeatedIds::Trials } else { RepeatedIds::LastCounts }
    }
}

/// Parses `1`, `true`, `yes`, `on` and their opposites, for flags set by the environment.
fn boolish() -> clap::builder::BoolishValueParser {
    clap::builder::BoolishValueParser::new()
}

/// Refuses outputs that would overwrite an input or each other. The folder in which a run is to be kept
/// counts as an input.
fn check_outputs<'n>(
    inputs: impl IntoIterator<Item = &'n String>,
    outputs: impl IntoIterator<Item = &'n String>,
    prints_data: bool,
) -> anyhow::Result<()> {
    let place = |name: &String| {
        let path = Path::new(name);
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new(".")).canonicalize();
        path.canonicalize().ok().or_else(|| Some(folder.ok()?.join(path.file_name()?)))
    };
    let inputs: Vec<_> = inputs.into_iter().filter(|name| *name != "-").filter_map(place).collect();
    let mut taken = Vec::new();
    let mut on_stdout = usize::from(prints_data);
    for name in outputs {
        if name == "-" {
            on_stdout += 1;
            anyhow::ensure!(on_stdout < 2, "only one thing can go to standard output");
            continue;
        }
        let place = place(name);
        let is = |known: &PathBuf| Some(known) == place.as_ref();
        anyhow::ensure!(!inputs.iter().any(is), "{name}: the output is also an input");
        let folder = place.as_deref().and_then(Path::parent);
        anyhow::ensure!(
            !inputs.iter().any(|input| input.is_dir() && Some(input.as_path()) == folder),
            "{name}: the output is in the folder of an input or of the run, and could replace a part of it\n  hint: write it elsewhere"
        );
        anyhow::ensure!(!taken.iter().any(is), "{name}: two outputs go to the same file");
        taken.extend(place);
    }
    Ok(())
}

/// Returns the name of a set of rules in a title.
fn profile_name(profile: &Profile) -> &'static str {
    if profile.scores_like(&Profile::V5) {
        "profile 5"
    } else if profile.scores_like(&Profile::V6) {
        "profile 6"
    } else {
        "rules of your own"
    }
}

/// Returns the first line of a summary.
fn title(rules: &str, counted: &str, aggregates: &Aggregates) -> String {
    let templates = count(aggregates.per_template.len(), "template");
    let errors = count(aggregates.micro.n_errors, "error");
    format!("{rules} · {counted} in {templates} · {errors}")
}

/// Quotes a word for a shell.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/\\:._-+,=@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Fails with the place if a document is not JSON.
pub(crate) fn check_json(document: &Document) -> Result<(), Problems> {
    if document.is_lines() {
        return Ok(());
    }
    let read: Result<&RawValue, _> = document.parse(document.json());
    read.map(drop).map_err(|(text, error)| document.syntax_error(text, &error))
}

/// Returns what results a document has: of questions or of attempts; `None` if it has none.
pub(crate) fn results_kind(document: &Document) -> Option<juror_compare::Kind> {
    match FileKind::of(document) {
        Some(FileKind::Results) => Some(juror_compare::Kind::Eval),
        Some(FileKind::AgentResults) => Some(juror_compare::Kind::Bench),
        _ => None,
    }
}

/// `1 question`, `2 questions`.
pub(crate) fn count<N: Copy + Display + PartialEq + From<u8>>(n: N, noun: &str) -> String {
    if n == N::from(1) { format!("1 {noun}") } else { format!("{n} {noun}s") }
}
