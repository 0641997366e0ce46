//! `juror demo`: runs the example, from inside the program.

mod bench;
#[cfg(feature = "graph")]
mod graph;
mod scripted_agent;

use std::ffi::OsString;
use std::path::Path;

use anyhow::Context;
use clap::Args;
use juror_document::{Document, Format};
use juror_models::Recorded;
use juror_read::RepeatedIds;
use juror_run::Settings;

#[cfg(feature = "graph")]
use self::graph::run as graph_demo;
use super::eval::{self, ReportArgs, RunArgs};
use super::gate::GateArgs;
#[cfg(not(feature = "graph"))]
use super::graph_args::demo as graph_demo;
use super::model_args::ModelArgs;
use super::{boolish, quoted};
use crate::exit::Exit;
use crate::output;

const REFERENCE: &str = include_str!("../../../demo/reference.yaml");
const RESPONSES: &str = include_str!("../../../demo/responses.jsonl");
const GRAPH: &str = include_str!("../../../demo/graph.ttl");
const TEMPLATES: &str = include_str!("../../../demo/templates.yaml");
const REPLIES: &str = include_str!("../../../demo/replies.jsonl");
const SETTINGS: &str = include_str!("../../../demo/juror.yaml");

const ABOUT: &str = "\
Judge a worked example from inside the program: no files, no key, no network.

No model is asked. The verdicts that a model would give come from replies recorded earlier, which
were written by hand for this example.

With --bench an agent is tried on queries with tools instead: it follows a script, makes real calls
to tools that are served inside the program, and is judged by a rule of thumb.

With --graph the expected results are compared with a graph that has moved since they were recorded.

With --write FOLDER the example's files are put there, to look at and to play with.";

/// Printed before the summary, so that nobody takes its numbers for those of a live model.
const RECORDED: &str = "no model is asked: verdicts come from replies recorded earlier, \
    written by hand for this example";

/// Judge a worked example from inside the program.
#[derive(Args)]
#[command(long_about = ABOUT)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub(super) struct DemoArgs {
    /// Try an agent on queries, instead of judging recorded answers.
    #[arg(long, env = "JUROR_DEMO_BENCH", value_parser = boolish())]
    bench: bool,

    /// Compare expected results with a graph that has moved, instead of judging recorded answers.
    #[arg(long, env = "JUROR_DEMO_GRAPH", conflicts_with_all = ["bench", "json", "write"], value_parser = boolish())]
    graph: bool,

    /// Be the agent that --bench tries.
    #[arg(long, hide = true)]
    agent: bool,

    /// Write the example's files to this folder instead of judging them.
    #[arg(long, value_name = "FOLDER", env = "JUROR_DEMO_WRITE")]
    write: Option<String>,

    /// Print the summary as JSON.
    #[arg(long, env = "JUROR_JSON", value_parser = boolish())]
    json: bool,
}

pub(super) fn run(args: &DemoArgs, program: &[OsString]) -> anyhow::Result<Exit> {
    if args.agent {
        scripted_agent::run(std::io::stdin().lock(), &mut std::io::stdout().lock())?;
        return Ok(Exit::Done);
    }
    anyhow::ensure!(args.write.as_deref() != Some(""), "--write: which folder?");
    match &args.write {
        Some(folder) if args.bench => bench::write(Path::new(folder)),
        Some(folder) => write(Path::new(folder)),
        None if args.bench => {
            anyhow::ensure!(
                !args.json,
                "--bench prints no JSON\n  hint: its result file, which it names, is JSON"
            );
            bench::run(program)
        }
        None if args.graph => graph_demo(),
        None => judge(args),
    }
}

fn judge(args: &DemoArgs) -> anyhow::Result<Exit> {
    let embedded = |name: &str, text: &str, format| Document::new(name, text.into(), format);
    let reference = embedded("reference.yaml", REFERENCE, Format::Yaml)?;
    let responses = embedded("responses.jsonl", RESPONSES, Format::JsonLines)?;
    let settings = Settings::read(&embedded("juror.yaml", SETTINGS, Format::Yaml)?)?;
    let recorded =
        Recorded::read(REPLIES).map_err(|why| anyhow::anyhow!("replies.jsonl: {why}"))?;
    let work = eval::Work {
        reference: &reference,
        responses: &responses,
        repeated_ids: RepeatedIds::default(),
        settings: &settings,
        report: &ReportArgs::summary_only(args.json),
        gate: &GateArgs::default(),
        ask: &ModelArgs::default(),
        run: &RunArgs::default(),
        line: &[],
        recorded: Some(recorded),
        subject: None,
        limit: None,
        graph: None,
    };
    output::print_note(RECORDED);
    let exit = work.run()?;
    if !args.json {
        output::print_note(
            "\nThese were the files of `juror demo --write FOLDER`; now try your own:",
        );
        output::print_note("  juror eval REFERENCE RESPONSES");
        output::print_note("To see an agent tried on queries with tools: juror demo --bench");
    }
    Ok(exit)
}

/// Writes the example's files into a folder, without changing existing files.
fn write(folder: &Path) -> anyhow::Result<Exit> {
    let files = [
        ("reference.yaml", REFERENCE),
        ("responses.jsonl", RESPONSES),
        ("juror.yaml", SETTINGS),
        ("replies.jsonl", REPLIES),
        ("graph.ttl", GRAPH),
        ("templates.yaml", TEMPLATES),
    ];
    let written = write_missing(folder, &files)?;
    let [reference, responses, settings, replies, ..] =
        files.map(|(name, _)| quoted(&folder.join(name).display().to_string()));
    output::print_note(&format!("{written}; judge them by the recorded replies with"));
    output::print_note(&format!(
        "  juror eval {reference} {responses} -c {settings} --cache {replies} --cache-mode read-only"
    ));
    Ok(Exit::Done)
}

/// Writes those files that are missing, and says where all of them are. Fails if one is there with other
/// contents: they may be somebody's work.
fn write_missing(folder: &Path, files: &[(&str, &str)]) -> anyhow::Result<String> {
    let is_there = |name: &str| folder.join(name).exists();
    let is_same = |(name, text): &(&str, &str)| {
        std::fs::read(folder.join(name)).is_ok_and(|own| own == text.as_bytes())
    };
    if let Some((name, _)) = files.iter().find(|own| is_there(own.0) && !is_same(own)) {
        let path = folder.join(name);
        anyhow::bail!(
            "{}: it is there already, with other contents\n  hint: choose another folder",
            path.display()
        );
    }
    let missing: Vec<_> = files.iter().copied().filter(|(name, _)| !is_there(name)).collect();
    put(folder, &missing).with_context(|| format!("{}: cannot write", folder.display()))?;
    let folder = folder.display();
    Ok(if missing.is_empty() {
        format!("{folder} has these files already, unchanged")
    } else {
        format!("written to {folder}")
    })
}

fn put(folder: &Path, files: &[(&str, &str)]) -> std::io::Result<()> {
    for (name, text) in files {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap_or(folder))?;
        std::fs::write(path, text)?;
    }
    Ok(())
}
