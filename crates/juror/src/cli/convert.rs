//! `juror convert`: converts agents' logs to a file of converted answers.

#![expect(clippy::doc_markdown, reason = "these comments are the help that users read")]

use clap::Args;
use juror_bench::log_files;
use juror_files::load;
use juror_run::Output;
use juror_toolbench::answer::{AnswersFile, Thoughts, convert};

use super::{boolish, count};
use crate::exit::{Exit, Outside};
use crate::output;
use crate::progress::Progress;

const EXAMPLES: &str = "\
Examples:
  juror convert answer/my_agent/G1_instruction --method CoT@1 -o my_agent/G1_instruction.json
  juror convert answer/my_agent/G1_instruction --method DFS_woFilter_w2 -o - | jq 'keys'

Agents of ToolBench and StableToolBench write one log a query, called <id>_<method>.json. The file
that is written holds all of them by the ids of their queries, in the published form, which
`juror judge` and the public evaluation read. The same logs always give the same file: where the
public converter draws lots, for queries that were not answered, the first try and the oldest
branch are taken.

A log that cannot be read is told and left out; the exit code is then 3.";

/// Convert agents' logs to one file of answers.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ConvertArgs {
    /// Folder of logs, one a query.
    #[arg(value_name = "ANSWER_DIR")]
    folder: String,

    /// How the agent went about queries, as the names of its logs say: CoT@1, DFS_woFilter_w2, ….
    #[arg(long, value_name = "METHOD", env = "JUROR_METHOD")]
    method: String,

    /// The file to write; `-` is standard output.
    #[arg(short, long, value_name = "FILE")]
    output: String,

    /// Keep what the agent said beside its calls, which the published form leaves out.
    #[arg(long, env = "JUROR_THOUGHTS", value_parser = boolish())]
    thoughts: bool,

    /// Print errors only.
    #[arg(short, long, env = "JUROR_QUIET", value_parser = boolish())]
    quiet: bool,
}

pub(super) fn run(args: &ConvertArgs) -> anyhow::Result<Exit> {
    let logs = log_files(&args.folder, Some(&args.method))?;
    let mut output = Output::create_text(&args.output)?;
    let (file, n_unreadable) = convert_all(args, &logs);
    anyhow::ensure!(n_unreadable < logs.len(), "{}: none of the logs can be read", args.folder);
    let outside = |error| Outside(anyhow::Error::new(error));
    output.write(file.finish().as_bytes()).map_err(outside)?;
    output.finish().map_err(outside)?;
    if !args.quiet {
        let n_converted = logs.len() - n_unreadable;
        output::print_note(&format!(
            "{} converted, {n_unreadable} unreadable",
            count(n_converted, "answer")
        ));
    }
    Ok(if n_unreadable > 0 { Exit::OutsideFailed } else { Exit::Done })
}

/// Returns the file, and how many logs cannot be read.
fn convert_all(args: &ConvertArgs, logs: &[(String, String)]) -> (AnswersFile, usize) {
    let thoughts = if args.thoughts { Thoughts::Kept } else { Thoughts::Dropped };
    let mut file = AnswersFile::default();
    let mut n_unreadable = 0;
    let mut progress = Progress::new(args.quiet, ["log", "logs"]);
    for (at, (id, path)) in logs.iter().enumerate() {
        if let Err(error) = add(&mut file, id, path, &args.method, thoughts) {
            n_unreadable += 1;
            output::print_error(&error);
        }
        progress.count(at + 1, logs.len(), || count(n_unreadable, "error"));
    }
    progress.end();
    (file, n_unreadable)
}

fn add(
    file: &mut AnswersFile,
    id: &str,
    path: &str,
    method: &str,
    thoughts: Thoughts,
) -> anyhow::Result<()> {
    let document = load(path)?;
    file.push(id, &convert(&document, method, thoughts)?);
    Ok(())
}
