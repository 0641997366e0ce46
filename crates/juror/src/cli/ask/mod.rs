//! `juror ask`: asks a live agent every question of a reference.

use std::fs::OpenOptions;
use std::io::Write;
use std::num::NonZero;
use std::path::Path;

use anyhow::Context as _;
use clap::Args;
use juror_args::is_stream;
use juror_ask::{Asked, QuestionSelection, ResponseFile, ResponseLog, select_questions};
use juror_files::{load, load_settings};
use juror_read::read_reference;
use juror_run::{AskOptions, Output, Settings};
use juror_runs::Resume;

use super::agent_args::AGENTS;
use super::live_args::{
    LiveArgs, LiveWork, ask_all, error_of, is_done, start_first, start_runtime, tell_errors,
};
use super::model_args::{parse_count, parse_dollars, parse_seconds};
use super::{boolish, check_is_lines, check_outputs, count};
use crate::exit::Exit;
use crate::output;

const EXAMPLES: &str = "\
Examples:
  An endpoint that speaks OpenAI's protocol:
    juror ask reference.yaml --agent openai:http://127.0.0.1:8000/v1 -o responses.jsonl

  A function in a Python module of this folder, three answers to each question:
    juror ask reference.yaml --agent python:my_agent:answer --trials 3 -o responses.jsonl

  A command that reads and writes lines of JSON, on the first ten questions:
    juror ask reference.yaml --agent 'command:node agent.js' --limit 10 -o responses.jsonl

  Answers that are judged as they are, and not kept:
    juror ask reference.yaml --agent chat | juror eval reference.yaml -

";

const AFTER: &str = "

Each response is written as soon as it exists. If the command is cut off, run it again: it asks only
what is still open. FILE.run.json beside the responses says whose they are, so that no two agents
share a file. `juror eval REFERENCE --agent …` asks and judges in one go.";

/// Ask a live agent every question of a reference, and record its answers and steps.
#[derive(Args)]
#[command(after_help = [EXAMPLES, AGENTS, AFTER].concat())]
#[expect(clippy::struct_excessive_bools, reason = "they are switches of the command line")]
pub(super) struct AskArgs {
    /// Questions, with or without expected answers and steps.
    #[arg(value_name = "REFERENCE")]
    reference: String,

    /// The agent to ask; see below.
    #[arg(long, value_name = "AGENT", env = "JUROR_AGENT")]
    agent: String,

    /// File of responses, one a line (.jsonl); - is standard output.
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: String,

    /// What the agent is called [default: from --agent].
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// Settings file in YAML: models of the built-in agent, tools; see docs/formats.md.
    #[arg(short, long, value_name = "FILE", env = "JUROR_CONFIG")]
    config: Option<String>,

    /// Ask only this question. May be repeated.
    #[arg(long = "question-id", value_name = "ID")]
    question_ids: Vec<String>,

    /// Ask no more than this many questions.
    #[arg(long, value_name = "N", env = "JUROR_LIMIT")]
    limit: Option<usize>,

    /// Questions at a time.
    #[arg(short, long, value_name = "N", default_value = "4", env = "JUROR_JOBS", value_parser = parse_count::<NonZero<u16>>)]
    jobs: NonZero<u16>,

    /// Calls at a time to the built-in agent's model; overrides the settings.
    #[arg(long, value_name = "N", env = "JUROR_CONCURRENCY", value_parser = parse_count::<NonZero<usize>>)]
    concurrency: Option<NonZero<usize>>,

    /// Seconds a reply of its model may take, from when its turn has come; overrides the settings.
    #[arg(long, value_name = "SECONDS", env = "JUROR_CALL_TIMEOUT", value_parser = parse_seconds)]
    timeout: Option<f64>,

    /// Stop asking its model before this much is spent; overrides the settings.
    #[arg(long, value_name = "USD", env = "JUROR_MAX_COST", value_parser = parse_dollars)]
    max_cost: Option<f64>,

    /// Ask all questions again, and replace the responses in the file.
    #[arg(long, env = "JUROR_FRESH", value_parser = boolish(),
        conflicts_with_all = ["retry_errors", "resume_changed"])]
    fresh: bool,

    /// Ask again what ended with an error.
    #[arg(long, env = "JUROR_RETRY_ERRORS", value_parser = boolish())]
    retry_errors: bool,

    /// Continue a file although something about the agent or the questions has changed.
    #[arg(long, env = "JUROR_RESUME_CHANGED", value_parser = boolish())]
    resume_changed: bool,

    /// Print errors only.
    #[arg(short, long, env = "JUROR_QUIET", value_parser = boolish())]
    quiet: bool,

    #[command(flatten)]
    live: LiveArgs,
}

pub(super) fn run(args: &AskArgs, line: &[String]) -> anyhow::Result<Exit> {
    let inputs = std::iter::once(&args.reference).chain(&args.config);
    check_outputs(inputs, [&args.output], false)?;
    check_is_lines(&args.output, "responses")?;
    Output::check_folder(&args.output)?;
    let settings = match &args.config {
        None => Settings::default(),
        Some(name) => Settings::read(&load_settings(name)?)?,
    };
    let reference = load(&args.reference)?;
    let dataset = read_reference(&reference)?;
    let wanted = QuestionSelection { ids: args.question_ids.clone(), limit: args.limit };
    let questions = select_questions(&dataset.questions, &wanted);
    let questions = questions.map_err(|why| anyhow::anyhow!("{}: {why}", args.reference))?;
    let work = LiveWork {
        agent: &args.agent,
        name: args.name.as_ref(),
        args: &args.live,
        settings: &settings,
        models: args.models(),
        jobs: usize::from(args.jobs.get()),
        quiet: args.quiet,
        line,
    };
    let runtime = start_runtime()?;
    let (questioning, name) = work.prepare(questions, &runtime)?;
    let path = Path::new(&args.output);
    if let Some(stream) =
        stream_to(path).with_context(|| format!("{}: cannot write", args.output))?
    {
        let asked = ask_all(questioning, &runtime, &stream, args.quiet)?;
        return Ok(args.report(&asked));
    }
    let replaces = args.fresh && path.exists();
    let questioning = start_first(questioning, &runtime, replaces)?;
    let identity = (name.as_str(), questioning.identity());
    let file = ResponseFile::open(path, identity, line, args.resume()).map_err(error_of)?;
    let questions = questioning.questions().to_vec();
    let asked = match ask_all(questioning, &runtime, &file.log, args.quiet) {
        Ok(asked) => asked,
        Err(error) => {
            file.discard_if_empty();
            return Err(error);
        }
    };
    if asked.stopped.is_none() {
        file.complete(&questions).map_err(error_of)?;
    }
    Ok(args.report(&asked))
}

impl AskArgs {
    fn resume(&self) -> Resume {
        Resume {
            fresh: self.fresh,
            retry_errors: self.retry_errors,
            even_if_changed: self.resume_changed,
        }
    }

    fn models(&self) -> AskOptions {
        AskOptions {
            max_cost: self.max_cost,
            concurrency: self.concurrency.map(NonZero::get),
            timeout: self.timeout,
            ..AskOptions::default()
        }
    }

    /// Says what became of the questions, and returns how the command ends.
    fn report(&self, asked: &Asked) -> Exit {
        if !is_done(asked) {
            return Exit::OutsideFailed;
        }
        if self.output != "-" && !self.quiet {
            let responses = count(asked.n_all, "response");
            output::print_note(&format!("{responses} in {}", self.output));
        }
        if tell_errors(asked) { Exit::OutsideFailed } else { Exit::Done }
    }
}

/// Returns where responses go if that is no file to go on with: standard output, a pipe, a device.
fn stream_to(path: &Path) -> std::io::Result<Option<ResponseLog>> {
    if path == Path::new("-") {
        return Ok(Some(ResponseLog::stream(print_line)));
    }
    if !path.to_str().is_some_and(is_stream) {
        return Ok(None);
    }
    let file = OpenOptions::new().write(true).open(path)?;
    Ok(Some(ResponseLog::stream(move |line| (&file).write_all(format!("{line}\n").as_bytes()))))
}

fn print_line(line: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()
}
