//! The command line. Each command has a file of its name.

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
#[cfg(feature = "graph")]
mod graph_args;
#[cfg(feature = "graph")]
mod graph_cache;
mod health;
mod import;
mod judge;
mod label;
mod mcp;
mod merge;
#[cfg(not(feature = "graph"))]
mod no_graph;
mod plan;
#[cfg(feature = "graph")]
mod reference;
mod report;
mod runs;
mod schema;
mod serve;
mod store;
mod tools;
mod totals_args;
mod validate;
mod view;

use std::ffi::OsString;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use juror_args::{
    ResponseArgs, RuleArgs, agent_args, boolish, check_is_lines, check_outputs, count, environment,
    gate, junit, live_args, model_args, page, tool_args, trace_args,
};
use juror_document::{Document, Problems};
use juror_pages::FileKind;
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
    Health(health::HealthArgs),
    Mcp(mcp::McpArgs),
    Tools(tools::ToolsArgs),
    Demo(demo::DemoArgs),
    Cache(cache::CacheArgs),
    Store(store::StoreArgs),
    Schema(schema::SchemaArgs),
    Completions(completions::CompletionsArgs),
}

/// Returns the whole command line, with all options and their help.
pub(crate) fn command() -> clap::Command {
    Cli::command()
}

fn parse(words: &[OsString]) -> Result<Cli, clap::Error> {
    let mut command = environment::without_empty(command());
    let mut matches = command.try_get_matches_from_mut(words).map_err(|mut error| {
        environment::name_variable(&mut error, &mut command, words);
        error
    })?;
    Cli::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut command))
}

/// Runs the requested command.
pub(crate) fn run(arguments: Vec<OsString>, program: &[OsString]) -> anyhow::Result<Exit> {
    let words: Vec<OsString> = std::iter::once("juror".into()).chain(arguments).collect();
    let line: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let cli = match parse(&words) {
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
        Command::Health(args) => health::run(&args),
        Command::Mcp(args) => mcp::run(&args),
        Command::Tools(args) => tools::run(&args),
        Command::Demo(args) => demo::run(&args, program),
        Command::Cache(args) => cache::run(&args),
        Command::Store(args) => store::run(&args),
        Command::Schema(args) => schema::run(&args),
        Command::Completions(args) => completions::run(&args),
    }
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
