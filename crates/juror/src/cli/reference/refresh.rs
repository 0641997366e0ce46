//! `juror reference refresh`: puts fresh results into a reference.

use std::path::Path;

use clap::Args;
use juror_args::is_stream;
use juror_document::{Document, Format};
use juror_files::load;
use juror_read::read_reference;
use juror_reference::{Refreshed, answers_in_doubt, diff, emptied, left_in_words, no_queries};
use juror_run::Output;

use super::super::graph_args::unwritable;
use super::super::{boolish, check_outputs, count};
use super::ask_args::AskArgs;
use crate::exit::{Exit, Outside};
use crate::output;

/// Put the results that the graph gives now into the file, and leave everything else as it is written.
///
/// Without -o, prints what would change. Steps that have a query and no output get one.
#[derive(Args)]
pub(super) struct RefreshArgs {
    /// Reference questions with expected steps.
    #[arg(value_name = "REFERENCE")]
    reference: String,

    /// Write the refreshed reference here, in the format that it has; the same file is replaced when all
    /// is known.
    #[arg(short, long, value_name = "FILE", env = "JUROR_OUTPUT")]
    output: Option<String>,

    /// Print errors and warnings only.
    #[arg(short, long, env = "JUROR_QUIET", value_parser = boolish())]
    quiet: bool,

    #[command(flatten)]
    ask: AskArgs,
}

pub(super) fn run(args: &RefreshArgs) -> anyhow::Result<Exit> {
    // The reference itself may be replaced.
    check_outputs(args.ask.inputs(), &args.output, false)?;
    let document = load(&args.reference)?;
    let output = args.output.as_ref().map(|name| begin(name, &document)).transpose()?;
    let dataset = read_reference(&document)?;
    let (mut graph, options) = args.ask.open(args.quiet)?;
    let (both, asked) = ((&document, &dataset), (&mut graph, &options));
    let reviewed = args.ask.graph.review(both, asked, None, args.quiet)?;
    let refreshed = reviewed.refresh(&document, &dataset).map_err(|error| unwritable(&error))?;
    if reviewed.is_empty() {
        output::warn(&no_queries(document.name()));
    }
    let words = ["the output stays as it is", "outputs stay as they are"];
    let left = left_in_words((&document, &dataset), &reviewed, &refreshed, words);
    for told in &left {
        output::warn(told);
    }
    let told = [
        emptied(&dataset, &reviewed, &refreshed),
        answers_in_doubt(&reviewed.answers_in_doubt(&dataset)),
    ];
    told.iter().flatten().for_each(|told| output::warn(told));
    match output {
        Some(file) => {
            file.write_whole(refreshed.text.as_bytes()).map_err(|error| Outside(error.into()))?;
        }
        None => output::print_quoting(&diff(document.text(), &refreshed.text, document.name()))?,
    }
    if !args.quiet {
        output::print_note(&in_words(&refreshed, args.output.as_deref()));
    }
    Ok(match refreshed.left.is_empty() {
        true => Exit::Done,
        false if reviewed.has_outside_failure() => Exit::OutsideFailed,
        false => Exit::GateNotMet,
    })
}

/// Begins the file, before any query is asked. The text stays as it is written, and so its format does.
fn begin(name: &str, reference: &Document) -> anyhow::Result<Output> {
    let (format, ending) = match reference.format() {
        Format::Json => ("JSON", ".json"),
        Format::JsonLines => ("JSON lines", ".jsonl"),
        Format::Yaml => ("YAML", ".yaml"),
    };
    anyhow::ensure!(
        is_stream(name) || is_read_as(name, reference),
        "{name}: the reference is in {format}, and is written as it is\n  hint: end the name with {ending}"
    );
    Ok(Output::create_text(name)?)
}

/// Whether a file of this name is read in the format of the reference. Nothing is compressed here.
fn is_read_as(name: &str, reference: &Document) -> bool {
    let ending = |name| Path::new(name).extension().unwrap_or_default().to_ascii_lowercase();
    let (own, other) = (ending(name), ending(reference.name()));
    match Format::from_name(name) {
        _ if own == "gz" || own == "zst" => false,
        Some(format) => format == reference.format(),
        None => own == other,
    }
}

fn in_words(refreshed: &Refreshed, output: Option<&str>) -> String {
    let n_left = refreshed.left.len();
    let counted = [
        (refreshed.replaced.len(), "replaced"),
        (refreshed.filled.len(), "filled in"),
        (n_left, if n_left == 1 { "left as it was" } else { "left as they were" }),
    ];
    let counted = counted.iter().filter(|(n, _)| *n > 0);
    let counted: Vec<String> =
        counted.map(|(n, what)| format!("{} {what}", count(*n, "output"))).collect();
    let counted = if counted.is_empty() { "no output changes".into() } else { counted.join(", ") };
    match output {
        Some(name) => format!("{counted}; written to {name}"),
        None => format!("{counted}; nothing was written: name the file with -o"),
    }
}
