//! `juror import`: traces of other systems as responses.

use clap::Args;
use juror_files::load;
use juror_run::{Output, OutputError};

use super::trace_args::{Import, TraceArgs, questions};
use super::{boolish, check_is_lines, check_outputs};
use crate::exit::{Exit, Outside};
use crate::output;

const EXAMPLES: &str = "\
Examples:
  What a framework recorded, as responses:
    juror import traces.jsonl -o responses.jsonl

  What was recognized, what became a step, what was left out and why:
    juror import traces.jsonl -o responses.jsonl --explain

  Spans and log records in two files, joined to questions by their texts:
    juror import spans.jsonl logs.json -o responses.jsonl --reference reference.yaml

  Tools called otherwise than the reference calls them:
    echo 'tools: {search_documents: retrieval}' > map.yaml
    juror import messages.json -o responses.jsonl --map map.yaml

The dialect is recognized by the content: OTLP (JSON or protobuf; GenAI conventions, OpenInference,
Traceloop, Vercel AI SDK and others), messages of OpenAI, Anthropic, Gemini, Bedrock, LangChain,
pydantic-ai and LlamaIndex, exports of LangSmith, Langfuse, Phoenix and the Agents SDK, MCP logs,
Inspect logs, sessions of Claude Code and Codex, data sets of ragas and deepeval. docs/traces.md
says what is read of each. Files may be compressed (.gz, .zst); - is standard input.";

/// Read traces of agent frameworks as responses.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ImportArgs {
    /// Traces, in any dialect; spans of one trace may be in several files.
    #[arg(value_name = "TRACE", required = true)]
    traces: Vec<String>,

    /// The file of responses to write (.jsonl); `-` is standard output.
    #[arg(short, long, value_name = "FILE")]
    output: String,

    /// Join conversations to the questions of this reference: by id, else by equal text.
    #[arg(long, value_name = "REFERENCE", env = "JUROR_REFERENCE")]
    reference: Option<String>,

    #[command(flatten)]
    trace: TraceArgs,

    /// Say which dialect was recognized, what became a step, what was left out, what is odd.
    #[arg(long, env = "JUROR_EXPLAIN", value_parser = boolish())]
    explain: bool,

    /// Print errors only.
    #[arg(short, long, env = "JUROR_QUIET", value_parser = boolish())]
    quiet: bool,
}

pub(super) fn run(args: &ImportArgs) -> anyhow::Result<Exit> {
    let inputs = args.traces.iter().chain(&args.reference).chain(args.trace.map());
    check_outputs(inputs, [&args.output], false)?;
    check_is_lines(&args.output, "responses")?;
    let n_stdin = args.traces.iter().chain(&args.reference).filter(|name| *name == "-").count();
    anyhow::ensure!(n_stdin < 2, "only one input can be standard input");
    let rules = args.trace.rules()?;
    let known = match &args.reference {
        Some(name) => Some(questions(&load(name)?)?),
        None => None,
    };
    let mut import = Import::begin(rules, known);
    let mut file = ResponseFile { output: Output::create_text(&args.output)?, failed: None };
    for name in &args.traces {
        import.read(name, &mut |line| file.push(&line))?;
    }
    let imported = import.finish(&mut |line| file.push(&line))?;
    file.finish().map_err(|error| Outside(error.into()))?;
    let told = match (args.explain, args.quiet) {
        (true, _) => imported.told() + &imported.report.explain() + &imported.unjoined(),
        (false, false) => imported.told() + &imported.unjoined() + &imported.warnings(),
        (false, true) => String::new(),
    };
    if !told.is_empty() {
        output::print_note(told.trim_end());
    }
    Ok(Exit::Done)
}

/// The file that is written. The first failure is told at the end.
struct ResponseFile {
    output: Output,
    failed: Option<OutputError>,
}

impl ResponseFile {
    fn push(&mut self, line: &str) {
        if self.failed.is_none() {
            self.failed = self.output.write(line.as_bytes()).err();
        }
    }

    fn finish(self) -> Result<(), OutputError> {
        match self.failed {
            Some(error) => Err(error),
            None => self.output.finish(),
        }
    }
}
