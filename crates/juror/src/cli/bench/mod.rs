//! `juror bench`: an agent, queries, virtual tools, and the scores.

#![expect(clippy::doc_markdown, reason = "these comments are the help that users read")]

mod merge;
mod outputs;

use std::net::Ipv4Addr;
use std::num::NonZero;
use std::sync::Arc;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand, ValueEnum};
use juror_bench::{
    BenchError, BenchOptions, BenchPlan, BenchTotals, Benchmark, JudgeWord, Pool, QuerySelection,
};
use juror_compare::{Calibration, Gates, Kind, RunCount};
use juror_pages::{JudgeReplies, ScoredRun};
use juror_run::{AskOptions, Calibrating, Environment, Interrupt, Settings, load_calibrations};
use juror_runs::{DEFAULT_RUNS, Resume, RunPlace, Shard};

use self::outputs::Outputs;
use super::agent_args::{AGENTS, AgentArgs};
use super::gate::GateArgs;
use super::junit::JunitArgs;
use super::merge::parse_shard;
use super::model_args::{parse_count, parse_dollars, parse_seconds};
use super::page::{PageArgs, replies};
use super::tool_args::ToolArgs;
use super::{boolish, check_outputs};
use crate::exit::{Exit, Outside};
use crate::{output, progress};

const EXAMPLES: &str = "\
Examples:
  juror bench --queries solvable_queries --set G1_instruction --tools toolenv/tools \\
      --cache tool_response_cache --agent 'command:python my_agent.py'
  juror bench --queries solvable_queries --set G3_instruction --tools toolenv/tools \\
      --agent chat --method DFS_woFilter_w2 -c juror.yaml
  juror bench --queries solvable_queries --set G1_instruction --tools toolenv/tools \\
      --agent chat --trials 5
  juror bench --queries G1_instruction.json --tools toolenv/tools --agent recorded:answers.json \\
      -o results.json -o report.md -o report.junit.xml
  juror bench --queries solvable_queries --set G1_instruction --tools toolenv/tools \\
      --agent chat --shard 3/10 --run runs/3
  juror bench merge runs/* --run runs/all

";

/// What else there is to say about agents.
const KEPT: &str = "
  recorded:PLACE        answers given before: a file of converted answers or of results, a folder of
                        agents' logs, or another run's folder

A run is kept in a folder. The same command resumes an interrupted run, whatever ended it, and says
so; after a finished run it tries the agent again, in a new folder. Folders of runs can be judged
and compared: see `juror judge --help`.";

/// Try an agent on queries, against virtual tools: what it solved, which APIs it called, what it
/// cost.
#[derive(Args)]
#[command(after_help = [EXAMPLES, AGENTS, KEPT].concat(), subcommand_negates_reqs = true,
    args_conflicts_with_subcommands = true)]
#[expect(clippy::struct_excessive_bools, reason = "they are switches of the command line")]
pub(super) struct BenchArgs {
    #[command(subcommand)]
    command: Option<Command>,

    /// Folder of query sets, as StableToolBench has it, or a file of queries.
    #[arg(long, value_name = "PLACE", env = "JUROR_QUERIES", required = true)]
    queries: Option<String>,

    /// Set of queries, such as G1_instruction. May be repeated.
    #[arg(long = "set", value_name = "NAME", env = "JUROR_SET", value_delimiter = ',')]
    sets: Vec<String>,

    /// File of query ids to take, in place of the one beside the set.
    #[arg(long, value_name = "FILE", env = "JUROR_IDS")]
    ids: Option<String>,

    /// Take only this query. May be repeated.
    #[arg(long = "query-id", value_name = "ID")]
    query_ids: Vec<String>,

    /// Take no more than this many queries of a set.
    #[arg(long, value_name = "N", env = "JUROR_LIMIT")]
    limit: Option<usize>,

    /// Take only one of several shards of all of these: 3/10 is the third of ten. auto/10 takes the
    /// number from `JOB_COMPLETION_INDEX` or `SLURM_ARRAY_TASK_ID`.
    #[arg(long, value_name = "I/N", env = "JUROR_SHARD", value_parser = parse_shard)]
    shard: Option<Shard>,

    /// Who is tried; see below.
    #[arg(long, value_name = "AGENT", env = "JUROR_AGENT", required = true)]
    agent: Option<String>,

    /// What the agent is called in results [default: from --agent].
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// How much of the pool the agent sees: everything through a search, the best N for the
    /// query, or the query's own APIs.
    #[arg(long, value_name = "search|top:N|own", default_value = "search", env = "JUROR_POOL")]
    pool: Pool,

    /// Queries at a time.
    #[arg(short, long, value_name = "N", default_value = "4", env = "JUROR_JOBS", value_parser = parse_count::<NonZero<u16>>)]
    jobs: NonZero<u16>,

    /// Address of a running `juror serve`, in place of one inside this process.
    #[arg(long, value_name = "URL", env = "JUROR_SERVER")]
    server: Option<String>,

    /// Token that the running server asks for: env:NAME for what a variable holds. Agents are told
    /// it, as a header to send with their calls.
    #[arg(long, value_name = "TOKEN", env = "JUROR_SERVER_TOKEN", hide_env_values = true)]
    server_token: Option<String>,

    /// Who judges whether a query is solved [default: the model of llm.judge or llm.generation, or
    /// nobody if none is configured].
    #[arg(long, value_name = "WHO", env = "JUROR_JUDGE")]
    judge: Option<JudgeArg>,

    /// How often a model judges each answer; overrides the settings.
    #[arg(long, value_name = "N", env = "JUROR_REPEATS", value_parser = parse_count::<NonZero<u32>>)]
    repeats: Option<NonZero<u32>>,

    /// Calls at a time to models, by the built-in agent and the judge together; overrides the
    /// settings.
    #[arg(long, value_name = "N", env = "JUROR_CONCURRENCY", value_parser = parse_count::<NonZero<usize>>)]
    concurrency: Option<NonZero<usize>>,

    /// Seconds a reply of a model may take, from when its turn has come; overrides the settings.
    #[arg(long, value_name = "SECONDS", env = "JUROR_CALL_TIMEOUT", value_parser = parse_seconds)]
    timeout: Option<f64>,

    /// Stop asking models before this much is spent, by the built-in agent and the judge together;
    /// overrides the settings.
    #[arg(long, value_name = "USD", env = "JUROR_MAX_COST", value_parser = parse_dollars)]
    max_cost: Option<f64>,

    /// Folder to keep the run in; a finished run in it is refused [default: a name of time, agent
    /// and id in .juror/runs, or where `runs.folder` of the settings says].
    #[arg(long, value_name = "FOLDER", env = "JUROR_RUN", value_parser = NonEmptyStringValueParser::new())]
    run: Option<String>,

    /// Start over; with --run, replace the run in that folder.
    #[arg(long, env = "JUROR_FRESH", value_parser = boolish(),
        conflicts_with_all = ["retry_errors", "resume_changed"])]
    fresh: bool,

    /// Go on with the last run of this kind, finished or not, and try queries again that ended
    /// with an error.
    #[arg(long, env = "JUROR_RETRY_ERRORS", value_parser = boolish())]
    retry_errors: bool,

    /// Go on with an unfinished run though something about it changed.
    #[arg(long, env = "JUROR_RESUME_CHANGED", value_parser = boolish())]
    resume_changed: bool,

    /// File to write the results to [default: results/tools/ and a name made of agent and sets]; or
    /// a report for people (.html .md) or pipelines (.junit.xml). May be repeated.
    #[arg(short, long = "output", value_name = "FILE")]
    outputs: Vec<String>,

    #[command(flatten)]
    page: PageArgs,

    #[command(flatten)]
    junit: JunitArgs,

    /// Write statistics here: means with intervals and coverage; the ending picks the format (.json
    /// .jsonl .yaml .tsv). May repeat.
    #[arg(short, long = "statistics", value_name = "FILE", env = "JUROR_STATISTICS")]
    statistics: Vec<String>,

    /// File to write all answers to, in the published converted form.
    #[arg(long, value_name = "JSON")]
    converted: Option<String>,

    /// File to write what was judged to, as the public evaluation has it.
    #[arg(long, value_name = "JSON")]
    pass_rate: Option<String>,

    /// The same as a table, with tabs between cells.
    #[arg(long, value_name = "CSV")]
    pass_rate_csv: Option<String>,

    /// Print the summary as JSON.
    #[arg(long, env = "JUROR_JSON", value_parser = boolish())]
    json: bool,

    /// Say nothing but errors and the summary.
    #[arg(short, long, env = "JUROR_QUIET", value_parser = boolish())]
    quiet: bool,

    #[command(flatten)]
    how: AgentArgs,

    #[command(flatten)]
    tools: ToolArgs,

    #[command(flatten)]
    gate: GateArgs,
}

#[derive(Subcommand)]
enum Command {
    Merge(merge::MergeArgs),
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum JudgeArg {
    /// The model of llm.judge or llm.generation.
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

pub(super) fn run(args: &BenchArgs, line: Vec<String>) -> anyhow::Result<Exit> {
    if let Some(Command::Merge(args)) = &args.command {
        return merge::run(args, &line);
    }
    let environment = Environment::read(output::warn);
    let options = args.options(&environment, line)?;
    let mut gates = options.settings.meant_gates();
    args.gate.check_kind(Kind::Bench)?;
    args.gate.add_to_gates(&mut gates)?;
    let calibrations = load_calibrations(&options.settings.judge.calibration)?;
    let replies = replies(options.settings.clone(), None);
    let quiet = args.quiet;
    let listener = Arc::new(move |event| progress::show(&event, quiet));
    let plan = options.resolve(environment, listener).map_err(error_of)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Outside(error.into()))?;
    runtime.block_on(bench(args, plan, &Checks { gates, calibrations, replies }))
}

/// What the numbers of a run are checked by, and where the replies of its judge are.
struct Checks {
    gates: Gates,
    calibrations: Vec<Calibration>,
    replies: JudgeReplies,
}

async fn bench(args: &BenchArgs, plan: BenchPlan, checks: &Checks) -> anyhow::Result<Exit> {
    let mut outputs = Outputs::begin(args, &plan)?;
    let benchmark = Benchmark::open(plan).await.map_err(error_of)?;
    outputs::check_ids(args, benchmark.queries())?;
    let interrupt = Interrupt::listen(|| std::process::exit(Exit::OutsideFailed as i32));
    let outcome = benchmark.run(&interrupt).await.map_err(error_of)?;
    print_known_errors(outcome.tried.n_known_failed, args.retry_errors);
    if let Some(why) = &outcome.tried.stopped {
        output::print_note(&format!(
            "stopped: {why}; no result file is written: run the same command again to continue"
        ));
        return Ok(Exit::OutsideFailed);
    }
    let results = outcome.results();
    results.warnings().iter().for_each(|warning| output::warn(&warning.to_string()));
    if let Some(unjudged) = outcome.unjudged() {
        output::warn(&unjudged.to_string());
    }
    let report = results.report();
    let mut totals = BenchTotals::of(&report);
    let judge = results.judge.judged_by();
    Calibrating::by_judge(&checks.calibrations, judge.as_ref())
        .apply(&mut totals.statistics, &totals.scores);
    let checked = totals.check(&checks.gates);
    outputs.write_reports(&results, &totals, &checked)?;
    let pages = std::mem::take(&mut outputs.pages);
    let shown = results.run.clone().unwrap_or_else(|| outputs.result_file().to_owned());
    outputs.write(&results, &report, &totals, benchmark.catalog(), args)?;
    let (n_errors, n_all) = (outcome.tried.n_failed, benchmark.queries().len());
    if outcome.is_kept() && !args.quiet && n_errors > 0 {
        let what = if benchmark.has_trials() { "attempts" } else { "queries" };
        output::print_note(&format!(
            "{n_errors} of {n_all} {what} ended with an error: --retry-errors tries them again"
        ));
    }
    outcome.complete(&results, &report, &totals).map_err(error_of)?;
    if let Some(news) = outcome.news().filter(|_| !args.quiet) {
        output::print_note(&news);
    }
    if !pages.is_empty() {
        // Those of a run in a database are still here.
        let folder = outcome.run_folder().map(|folder| folder.display().to_string());
        let run = ScoredRun::read(&folder.unwrap_or(shown), &Settings::default().plan())
            .map_err(|error| Outside(error.into()))?;
        let pages_of_run = args.page.of(&run).with_replies(&checks.replies);
        let pages_of_run = pages_of_run.with_statistics(totals.statistics);
        let page = pages_of_run.of_run(&checks.gates, &checked);
        pages.write(&page, args.quiet)?;
    }
    GateArgs::tell_unchecked(&checks.gates, Kind::Bench, RunCount::One);
    let exit = args.gate.report(&checked);
    Ok(if outcome.has_errors() { Exit::OutsideFailed } else { exit })
}

/// Returns the error with the exit code of its kind.
pub(super) fn error_of(error: BenchError) -> anyhow::Error {
    if error.is_outside() { Outside(error.into()).into() } else { error.into() }
}

/// Reports queries that ended with an error in an earlier run and were not retried.
fn print_known_errors(n: usize, retry_errors: bool) {
    match (n, retry_errors) {
        (0, _) => {}
        // All errors of the agent are retried, so these are the judge's.
        (_, true) => output::print_note(&format!(
            "{n} of the queries tried earlier were judged again, and the judge failed again"
        )),
        (_, false) => output::print_note(&format!(
            "{n} of the queries tried earlier ended with an error: --retry-errors tries them again"
        )),
    }
}

impl BenchArgs {
    fn options(
        &self,
        environment: &Environment,
        command: Vec<String>,
    ) -> anyhow::Result<BenchOptions> {
        let (settings, _) = self.tools.settings(environment)?;
        let agent = self.agent.as_deref().unwrap_or_default();
        Ok(BenchOptions {
            run: self.place(&settings),
            settings,
            queries: self.query_selection(),
            agent: self.how.options(agent, self.name.as_ref(), environment, &command)?,
            pool: self.pool,
            judge: self.judge.map(JudgeWord::from),
            repeats: self.repeats.map(NonZero::get),
            ask: AskOptions {
                max_cost: self.max_cost,
                concurrency: self.concurrency.map(NonZero::get),
                timeout: self.timeout,
                ..AskOptions::default()
            },
            server: self.server.clone(),
            server_token: self.server_token.clone(),
            host: Ipv4Addr::LOCALHOST.into(),
            reply_options: self.tools.of_replies(),
            resume: Resume {
                fresh: self.fresh,
                retry_errors: self.retry_errors,
                even_if_changed: self.resume_changed,
            },
            jobs: usize::from(self.jobs.get()),
            trials: self.how.trials,
            command,
        })
    }

    fn place(&self, settings: &Settings) -> RunPlace {
        match &self.run {
            Some(folder) => RunPlace::Named(folder.into()),
            None => {
                RunPlace::Within(settings.runs.folder.as_deref().unwrap_or(DEFAULT_RUNS).into())
            }
        }
    }

    fn query_selection(&self) -> QuerySelection {
        QuerySelection {
            place: self.queries.clone().unwrap_or_default(),
            sets: self.sets.clone(),
            filter: self.ids.clone(),
            ids: self.query_ids.clone(),
            limit: self.limit,
            shard: self.shard,
        }
    }
}
