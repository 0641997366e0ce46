//! `juror export`: writes the scores of a run for other systems.

use clap::{Args, ValueEnum};
use juror_pages::ScoredRun;
use juror_report::{Evaluated, ExportFormat, export};
use juror_run::Output;

use super::compare::tell_problems;
use super::{RuleArgs, boolish, check_outputs, count};
use crate::exit::{Exit, Outside};
use crate::output;

const EXAMPLES: &str = "\
Examples:
  Scores as log records of OpenTelemetry, beside the traces that were judged:
    juror import traces.jsonl -o responses.jsonl
    juror eval reference.yaml responses.jsonl --run runs/monday
    juror export runs/monday --to otlp -o scores.jsonl

  Each line is a request that a collector takes:
    head -1 scores.jsonl | curl -s http://localhost:4318/v1/logs \\
      -H 'Content-Type: application/json' --data-binary @-

  Annotations of spans, as Phoenix takes them:
    juror export runs/monday --to openinference -o annotations.json
    curl -s http://localhost:6006/v1/span_annotations \\
      -H 'Content-Type: application/json' --data-binary @annotations.json

  A table for a spreadsheet:
    juror export results.jsonl --to csv -o scores.csv

Scores name the trace and the span that were judged if the responses have trace_id and span_id,
as those of `juror import` do.";

/// Write the scores of a run for other systems: as OTLP log records, annotations, or a table.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ExportArgs {
    /// The folder of a run, or a file of results.
    #[arg(value_name = "RUN")]
    run: String,

    /// The form of the scores.
    #[arg(long, value_name = "FORMAT", env = "JUROR_EXPORT_TO")]
    to: To,

    /// Write them here; `-` is standard output.
    #[arg(short, long = "output", value_name = "FILE", default_value = "-", env = "JUROR_OUTPUT")]
    output: String,

    #[command(flatten)]
    rules: RuleArgs,

    /// Print errors only.
    #[arg(short, long, env = "JUROR_QUIET", value_parser = boolish())]
    quiet: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum To {
    /// OTLP log records in JSON, a line per answer: events `gen_ai.evaluation.result`
    Otlp,
    /// Annotations of spans and traces, in one JSON object
    Openinference,
    /// Comma-separated values, a row per answer
    Csv,
}

impl To {
    fn format(self) -> ExportFormat {
        match self {
            To::Otlp => ExportFormat::Otlp,
            To::Openinference => ExportFormat::OpenInference,
            To::Csv => ExportFormat::Csv,
        }
    }
}

pub(super) fn run(args: &ExportArgs) -> anyhow::Result<Exit> {
    check_outputs([&args.run].into_iter().chain(&args.rules.config), [&args.output], false)?;
    let plan = args.rules.plan()?;
    let mut file = Output::create_text(&args.output)?;
    let run = ScoredRun::read(&args.run, &plan)?;
    if !args.quiet {
        tell_problems(&run);
    }
    let answers = run.evaluated();
    let bytes = export(&run.exported(), &answers, args.to.format());
    let written = file.write(&bytes).and_then(|()| file.finish());
    written.map_err(|error| Outside(error.into()))?;
    if !args.quiet {
        args.tell(&answers);
    }
    Ok(Exit::Done)
}

impl ExportArgs {
    /// Says how much was written, and what cannot be shown beside a trace.
    fn tell(&self, answers: &[Evaluated<'_>]) {
        let n_scores = answers.iter().flat_map(|answer| &answer.evaluations).count();
        let (scores, of) = (count(n_scores, "score"), count(answers.len(), "answer"));
        if self.output != "-" {
            output::print_note(&format!("{scores} of {of} are in {}", self.output));
        }
        let n_bare = answers.iter().filter(|answer| answer.trace_id.is_none()).count();
        if n_bare > 0 && !matches!(self.to, To::Csv) {
            output::print_note(&format!(
                "{} without a trace: the responses have no `trace_id`, as those of `juror import` do",
                count(n_bare, "answer")
            ));
        }
    }
}
