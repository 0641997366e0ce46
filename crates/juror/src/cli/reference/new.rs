//! `juror reference new`: makes a reference from templates.

use std::num::NonZero;
use std::path::Path;

use clap::Args;
use juror_document::Problems;
use juror_files::load;
use juror_reference::{Asking, Choice, Doubt, Made, Templates};
use juror_report::yaml_of_json;
use juror_run::Output;

use super::super::model_args::parse_count;
use super::super::{boolish, check_outputs, count};
use super::ask_args::AskArgs;
use crate::exit::{Exit, Outside};
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

    /// Write the reference here, in YAML or JSON by the ending; - is standard output, in YAML.
    #[arg(short, long, value_name = "FILE", default_value = "-", env = "JUROR_OUTPUT")]
    output: String,

    /// The most questions of a template that has no `limit` of its own.
    #[arg(long, value_name = "N", default_value = "10", value_parser = parse_count::<NonZero<usize>>)]
    limit: NonZero<usize>,

    /// Seed for choosing questions: the same seed chooses the same questions.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// The most rows of a result, in a template that has no `most_rows` of its own.
    #[arg(long, value_name = "N", default_value = "100", value_parser = parse_count::<NonZero<usize>>)]
    most_rows: NonZero<usize>,

    /// Print errors only, and queries that fail.
    #[arg(short, long, env = "JUROR_QUIET", value_parser = boolish())]
    quiet: bool,

    #[command(flatten)]
    ask: AskArgs,
}

pub(super) fn run(args: &NewArgs) -> anyhow::Result<Exit> {
    check_outputs(args.ask.inputs().chain([&args.templates]), [&args.output], false)?;
    let form = Form::of_output(&args.output)?;
    let output = Output::create_text(&args.output)?;
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
    // Without those questions the reference is incomplete.
    warn_all(&made.located_doubts(&document, Doubt::is_failure));
    if !args.quiet {
        warn_all(&made.located_doubts(&document, |doubt| !doubt.is_failure()));
    }
    if made.n_questions() == 0 {
        output::print_note("no question was made, and nothing was written");
        return Ok(exit_of(&made));
    }
    made.check()?;
    let written = output.write_whole(form.text_of(&made).as_bytes());
    written.map_err(|error| Outside(error.into()))?;
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

/// Prints all doubts that are kept, and the number of the others.
fn warn_all(doubts: &Problems) {
    for doubt in &doubts.errors {
        output::warn(&doubt.to_string());
    }
    if doubts.n_more > 0 {
        output::warn(&format!("and {} more", doubts.n_more));
    }
}

/// How a reference is written.
#[derive(Clone, Copy)]
enum Form {
    Json,
    Yaml,
}

impl Form {
    /// Reads the ending of a name.
    fn of_output(name: &str) -> anyhow::Result<Form> {
        let ending = Path::new(name).extension().unwrap_or_default().to_ascii_lowercase();
        match ending.to_str() {
            _ if name == "-" => Ok(Form::Yaml),
            Some("json") => Ok(Form::Json),
            Some("yaml" | "yml") => Ok(Form::Yaml),
            _ => anyhow::bail!(
                "{name}: a reference is written in YAML or JSON\n  hint: end the name with .yaml, .yml or .json"
            ),
        }
    }

    fn text_of(self, made: &Made) -> String {
        match self {
            Form::Json => made.json() + "\n",
            Form::Yaml => yaml_of_json(&made.json()),
        }
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
