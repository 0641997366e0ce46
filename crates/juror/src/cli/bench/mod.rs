//! `juror bench`: an agent, queries, virtual tools, and the scores.

#![expect(clippy::doc_markdown, reason = "these comments are the help that users read")]

mod agent;
mod outputs;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use clap::{Args, ValueEnum};
use juror_run::bench::{
    Agent, Bench, Journal, JudgeWord, Manner, Offers, Open, Results, Selected, Serving, SolveJudge,
    Told, Wanted, folder_of_run, query_line, run as run_bench, select_queries,
};
use juror_run::{Interrupt, Settings, TellTrouble, Tools, open_tools};

use self::outputs::Outputs;
use super::tool_args::ToolArgs;
use super::{boolish, check_outputs};
use crate::environment::Environment;
use crate::exit::{Exit, Outside};
use crate::talk;

const EXAMPLES: &str = "\
Examples:
  juror bench --queries solvable_queries --set G1_instruction --tools toolenv/tools \\
      --cache tool_response_cache --agent 'command:python my_agent.py'
  juror bench --queries solvable_queries --set G3_instruction --tools toolenv/tools \\
      --agent chat --method DFS_woFilter_w2 -c juror.yaml
  juror bench --queries G1_instruction.json --tools toolenv/tools --agent recorded:answers.json

Agents:
  chat              the built-in agent, on the model of llm.generation
  command:COMMAND   a command that is spoken to by lines of JSON
  http://…          a server that is asked by POST
  recorded:PLACE    answers given before: a file of converted answers or of results, a folder of
                    agents' logs, or another run's folder

A run is kept in a folder: the same command goes on where it ended, whatever ended it. Folders of
runs can be judged and compared: see `juror judge --help`.";

/// Try an agent on queries, against virtual tools: what it solved, which APIs it called, what it
/// cost.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct BenchArgs {
    /// Folder of query sets, as StableToolBench has it, or a file of queries.
    #[arg(long, value_name = "PLACE", env = "JUROR_QUERIES")]
    queries: String,

    /// Set of queries, such as G1_instruction. May be repeated.
    #[arg(long = "set", value_name = "NAME")]
    sets: Vec<String>,

    /// File of query ids to take, in place of the one beside the set.
    #[arg(long, value_name = "FILE")]
    ids: Option<String>,

    /// Take only this query. May be repeated.
    #[arg(long = "query-id", value_name = "ID")]
    query_ids: Vec<String>,

    /// Take no more than this many queries of a set.
    #[arg(long, value_name = "N")]
    limit: Option<usize>,

    /// Who is tried; see below.
    #[arg(long, value_name = "AGENT", env = "JUROR_AGENT")]
    agent: String,

    /// What the agent is called in results [default: from --agent].
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// How the built-in agent goes about a query; for recorded logs, theirs.
    #[arg(long, value_name = "METHOD", default_value = "CoT@1")]
    method: String,

    /// How much of the pool the agent sees: everything through a search, the best N for the
    /// query, or the query's own APIs.
    #[arg(long, value_name = "search|top:N|own", default_value = "search")]
    pool: Open,

    /// Steps of the built-in agent: thoughts, names and arguments are one each.
    #[arg(long, value_name = "N", default_value_t = 50)]
    max_steps: usize,

    /// How often the built-in agent may ask its model for a query.
    #[arg(long, value_name = "N", default_value_t = 200)]
    max_queries: usize,

    /// Characters of a reply that the built-in agent sees.
    #[arg(long, value_name = "N", default_value_t = 1024)]
    max_observation: usize,

    /// Queries at a time.
    #[arg(short, long, value_name = "N", default_value = "4", env = "JUROR_JOBS")]
    jobs: std::num::NonZero<u16>,

    /// Seconds an agent may take for a query.
    #[arg(long, value_name = "SECONDS", default_value = "600", env = "JUROR_AGENT_TIMEOUT")]
    agent_timeout: std::num::NonZero<u32>,

    /// Address of a running `juror serve`, in place of one inside this process.
    #[arg(long, value_name = "URL")]
    server: Option<String>,

    /// Who judges whether a query is solved [default: the model of llm.generation, or nobody if
    /// none is configured].
    #[arg(long, value_name = "WHO", env = "JUROR_JUDGE")]
    judge: Option<JudgeArg>,

    /// How often a model judges each answer; overrides the settings.
    #[arg(long, value_name = "N")]
    repeats: Option<std::num::NonZero<u32>>,

    /// Folder to keep the run in [default: .juror/runs/ and the name of the result file].
    #[arg(long, value_name = "FOLDER", env = "JUROR_RUN")]
    run: Option<String>,

    /// Try queries again that ended with an error.
    #[arg(long, env = "JUROR_RETRY_ERRORS", value_parser = boolish())]
    retry_errors: bool,

    /// Go on with a run though something about it changed.
    #[arg(long, env = "JUROR_RESUME_CHANGED", value_parser = boolish())]
    resume_changed: bool,

    /// File to write the results to [default: results/tools/ and a name made of agent and sets].
    #[arg(short, long, value_name = "FILE")]
    output: Option<String>,

    /// File to write all answers to, in the published converted form.
    #[arg(long, value_name = "JSON")]
    converted: Option<String>,

    /// File to write what was judged to, as the public evaluation has it.
    #[arg(long, value_name = "JSON")]
    pass_rate: Option<String>,

    /// The same as a table, with tabs between cells.
    #[arg(long, value_name = "CSV")]
    pass_rate_csv: Option<String>,

    /// Say nothing but errors and the summary.
    #[arg(short, long, env = "JUROR_QUIET", value_parser = boolish())]
    quiet: bool,

    #[command(flatten)]
    tools: ToolArgs,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum JudgeArg {
    /// The model of llm.generation.
    Model,
    /// Rules that guess by the answer's form, without a model; labelled so in results.
    Heuristic,
    /// Nobody: only calls are scored.
    None,
}

impl From<JudgeArg> for JudgeWord {
    fn from(word: JudgeArg) -> JudgeWord {
        match word {
            JudgeArg::Model => JudgeWord::Model,
            JudgeArg::Heuristic => JudgeWord::Heuristic,
            JudgeArg::None => JudgeWord::Nobody,
        }
    }
}

pub(super) fn run(args: &BenchArgs) -> anyhow::Result<Exit> {
    let environment = Environment::read();
    let (settings, _) = args.tools.settings(&environment)?;
    let wanted = Wanted {
        place: args.queries.clone(),
        sets: args.sets.clone(),
        filter: args.ids.clone(),
        ids: args.query_ids.clone(),
        limit: args.limit,
    };
    let (queries, problems) = select_queries(&wanted)?;
    talk::warn_all(&problems);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Outside(error.into()))?;
    runtime.block_on(bench(args, &settings, &environment, &queries))
}

async fn bench(
    args: &BenchArgs,
    settings: &Settings,
    environment: &Environment,
    queries: &[Selected],
) -> anyhow::Result<Exit> {
    let started = Instant::now();
    let get = |name: &str| environment.get(name);
    let tell: TellTrouble = Arc::new(|text: &str| talk::warn(text));
    let repeats = args.repeats.map(std::num::NonZero::get);
    let word = args.judge.map(JudgeWord::from);
    let judge = SolveJudge::new(word, settings, &get, repeats, tell.clone())?;
    let name = args.name.clone().unwrap_or_else(|| agent_name(&args.agent));
    let manner = Manner { agent: &args.agent, method: Some(&args.method), open: args.pool };
    let default_output = || manner.result_file(&name, queries, args.limit);
    let output = args.output.clone().unwrap_or_else(default_output);
    let outputs = Outputs::begin(args, &output, &judge)?;
    let tools = open_tools(settings, &get, &tell)?;
    for problem in &tools.problems {
        talk::warn(problem);
    }
    let folder = args.run.clone().map_or_else(|| folder_of_run(&output), PathBuf::from);
    let offers = Arc::new(Offers::new(tools.documentation.clone()));
    let serving = serve(args, &tools, &folder, tell).await?;
    let agent = agent::make(args, settings, environment, &serving, offers.len())?;
    let journal = match agent {
        Agent::Recorded(_) => None,
        _ => {
            Some(Journal::open(&folder, &manner.identity(settings, queries), args.resume_changed)?)
        }
    };
    let interrupt = Interrupt::listen(|| std::process::exit(Exit::OutsideFailed as i32));
    let bench = Bench {
        queries,
        agent: &agent,
        open: args.pool,
        offers: &offers,
        serving: &serving,
        journal: journal.as_ref(),
        judge: &judge,
        jobs: usize::from(args.jobs.get()),
        retry_errors: args.retry_errors,
        interrupt: &interrupt,
    };
    let mut n_done = 0;
    let mut stopped = None;
    let judged = run_bench(&bench, |told| match told {
        Told::Known(_) => n_done += 1,
        Told::Tried(own) => {
            n_done += 1;
            if !args.quiet {
                talk::say(&query_line(own, &judge, n_done, queries.len()).to_string());
            }
        }
        Told::Left(why) => stopped = Some(why.to_owned()),
    })
    .await
    .map_err(|error| Outside(error.into()))?;
    let config = manner.config(queries);
    let results = Results { name, config, judge: &judge, judged: &judged, took: started.elapsed() };
    outputs.write(&results, &offers, args.pool)?;
    if let Some(why) = stopped {
        talk::say(&format!("stopped: {why}; run the same command again to go on"));
        return Ok(Exit::OutsideFailed);
    }
    let has_error = judged.iter().any(|own| own.error().is_some());
    Ok(if has_error { Exit::OutsideFailed } else { Exit::Done })
}

async fn serve(
    args: &BenchArgs,
    tools: &Tools,
    folder: &Path,
    tell: TellTrouble,
) -> anyhow::Result<Serving> {
    let run = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    match &args.server {
        Some(address) => Serving::elsewhere(address, run).map_err(anyhow::Error::msg),
        None => {
            let serving = Serving::start(tools, run, tell).await;
            serving.map_err(|error| Outside(error.into()).into())
        }
    }
}

fn agent_name(agent: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    let name = match agent.split_once(':') {
        Some(("command", command)) => command.split_whitespace().last().unwrap_or("command"),
        Some(("recorded", place)) => place,
        _ => agent,
    };
    let stem = Path::new(name).file_stem().map_or(name.into(), |stem| stem.to_string_lossy());
    stem.chars().map(plain).collect()
}
