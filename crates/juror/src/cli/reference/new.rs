//! `juror reference new`: makes a reference from templates.

use std::num::NonZero;

use clap::Args;
use juror_document::Format;
use juror_files::load;
use juror_reference::{Asking, Choice, Made, Templates};
use juror_report::yaml_of_json;

use super::super::graph_args::put;
use super::super::model_args::parse_count;
use super::super::{boolish, check_outputs, count};
use super::ask_args::AskArgs;
use crate::exit::Exit;
use crate::output;
use crate::progress::Progress;

const EXAMPLES: &str = "\
Examples:
  A template is a question with names in braces, a query for their values, and the queries of its
  expected steps:
    - template_id: taxa-in-house
      values: SELECT ?house ?house_name { ?house <https://example.org/name> ?house_name }
      question_text: Which taxa grow in the {house_name}?
      reference_answer: In the {house_name} grow {taxon}.
      reference_steps:
      - - name: sparql_query
          args:
            query: SELECT ?taxon { ?taxon <https://example.org/growsIn> {house} }

  juror reference new templates.yaml --graph graph.ttl -o reference.yaml
  juror reference new templates.yaml --graph https://example.org/sparql --limit 50 -o new.json

docs/references.md explains each part; `juror schema templates` is for editors.";

/// Make a reference from templates: the graph gives the values that questions name, and the results
/// that are expected.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct NewArgs {
    /// Templates, in YAML or JSON.
    #[arg(value_name = "TEMPLATES")]
    templates: String,

    /// Write the reference here, in YAML or JSON by the ending; - is standard output.
    #[arg(short, long, value_name = "FILE", default_value = "-", env = "JUROR_OUTPUT")]
    output: String,

    /// The most questions of a template that has no `limit` of its own.
    #[arg(long, value_name = "N", default_value = "10", value_parser = parse_count::<NonZero<usize>>)]
    limit: NonZero<usize>,

    /// Seed of what is drawn: the same seed chooses the same questions.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// The most rows of a result, in a template that has no `most_rows` of its own.
    #[arg(long, value_name = "N", default_value = "100", value_parser = parse_count::<NonZero<usize>>)]
    most_rows: NonZero<usize>,

    /// Print errors only.
    #[arg(short, long, env = "JUROR_QUIET", value_parser = boolish())]
    quiet: bool,

    #[command(flatten)]
    ask: AskArgs,
}

pub(super) fn run(args: &NewArgs) -> anyhow::Result<Exit> {
    check_outputs([&args.templates], [&args.output], false)?;
    let document = load(&args.templates)?;
    // What is wrong with templates is said before a graph is loaded.
    let templates = Templates::read(&document, &args.ask.options()?)?;
    let (mut graph, options) = args.ask.open(args.quiet)?;
    let choice =
        Choice { seed: args.seed, limit: args.limit.get(), most_rows: args.most_rows.get() };
    let mut progress = Progress::new(args.quiet, ["query", "queries"]);
    let made = templates.make(&mut graph, &options, &choice, &mut |asking: Asking| {
        progress.count(asking.done, asking.all, || count(asking.failed, "failure"));
    });
    progress.end();
    args.ask.graph.keep(&mut graph, args.quiet);
    let made = made?;
    if !args.quiet {
        for doubt in &made.located_doubts(&document).errors {
            output::warn(&doubt.to_string());
        }
    }
    if made.n_questions() == 0 {
        output::print_note("no question was made, and nothing was written");
        return Ok(exit_of(&made));
    }
    put(&args.output, &text_of(&made, &args.output))?;
    if !args.quiet {
        let (n, of) =
            (count(made.n_questions(), "question"), count(made.templates.len(), "template"));
        let place = if args.output == "-" {
            String::new()
        } else {
            format!("; written to {}", args.output)
        };
        output::print_note(&format!("{n} of {of}{place}"));
    }
    Ok(exit_of(&made))
}

fn text_of(made: &Made, name: &str) -> String {
    match Format::from_name(name) {
        Some(Format::Json | Format::JsonLines) => made.json() + "\n",
        Some(Format::Yaml) | None => yaml_of_json(&made.json()),
    }
}

fn exit_of(made: &Made) -> Exit {
    if made.is_outside {
        Exit::OutsideFailed
    } else if made.has_failures || made.n_questions() == 0 {
        Exit::GateNotMet
    } else {
        Exit::Done
    }
}
