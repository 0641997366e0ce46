//! `juror bench`: an agent, queries, virtual tools, and the scores.

#![expect(clippy::doc_markdown, reason = "these comments are the help that users read")]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use futures_util::{StreamExt, stream};
use juror_judge::{Models, PassRateJudge, http_client};
use juror_run::bench::{
    Agent, Attempted, Bench, Chat, Journal, Offers, Open, RecordedAnswers, Selected, Serving, Told,
    Wanted, answer, answer_text, call_score, select_queries,
};
use juror_run::subject::chat_agent::{AgentLimits, ChatAgent, Method, prompts};
use juror_run::subject::{CommandAgent, CommandSetup, RemoteAgent};
use juror_run::{
    AskOptions, Interrupt, Output, Settings, TellTrouble, Tools, models_for, open_tools,
    pass_rate_judge,
};
use juror_score::tool::CallScore;
use juror_score::tool::answer::Answer;
use juror_score::tool::judged::{GiveUp, Progress, Status, begin, guess_status};
use juror_score::tool::result::{Evaluation, Metadata, Report, file_name};
use juror_serve::{Event, Limits, Listing, Server, ServerSetup, StatusCode};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::tool_args::ToolArgs;
use super::{boolish, count};
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
  recorded:PLACE    answers given before: a converted file, or a folder of agents' logs

A run is kept in a folder: the same command goes on where it ended, whatever ended it.";

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

/// Who judges whether a query is solved.
enum Judge {
    Model { judge: PassRateJudge, models: Box<Models>, repeats: u32 },
    Heuristic,
    Nobody,
}

impl Judge {
    fn new(
        args: &BenchArgs,
        settings: &Settings,
        environment: &Environment,
    ) -> anyhow::Result<Judge> {
        let has_model = settings.llm.as_ref().is_some_and(|llm| llm.generation.is_some())
            || environment.get("OPENAI_API_KEY").is_some();
        match args.judge {
            Some(JudgeArg::None) => Ok(Judge::Nobody),
            Some(JudgeArg::Heuristic) => Ok(Judge::Heuristic),
            None if !has_model => Ok(Judge::Nobody),
            None | Some(JudgeArg::Model) => {
                let tell = Arc::new(|text: &str| talk::warn(text));
                let get = |name: &str| environment.get(name);
                let (models, _) = models_for(settings, &get, AskOptions::default(), tell)?;
                let repeats = args.repeats.or(settings.judge.repeats);
                let repeats = repeats.map_or(1, std::num::NonZero::get);
                let judge = pass_rate_judge(settings)?;
                Ok(Judge::Model { judge, models: Box::new(models), repeats })
            }
        }
    }

    fn as_str(&self) -> &'static str {
        match self {
            Judge::Model { .. } => "model",
            Judge::Heuristic => "heuristic",
            Judge::Nobody => "none",
        }
    }

    fn model(&self) -> Option<&str> {
        match self {
            Judge::Model { models, .. } => Some(models.chat_name()),
            Judge::Heuristic | Judge::Nobody => None,
        }
    }

    /// Whether an answer solves its query, and why.
    async fn verdict(&self, query: &str, did: Option<&Answer<'_>>, call_score: f64) -> Verdict {
        if let Judge::Model { judge, models, repeats } = self {
            let judged = judge.judge(query, did, models, *repeats).await;
            let scores = judged.statuses.iter().map(|outcome| outcome.status.score());
            return Verdict {
                status: judged.majority(),
                score: scores.sum::<f64>() / f64::from(*repeats),
                reason: judged.reason.clone().unwrap_or_default(),
                usd: judged.cost.usd(),
                failed: (judged.n_failed() > 0).then(|| "the judge gave no verdict".to_owned()),
            };
        }
        let (status, reason) = match (begin(did, GiveUp::Said), did, self) {
            (Progress::Done(outcome), ..) => {
                (outcome.status, outcome.basis.reason().unwrap_or_default())
            }
            (Progress::Ask(_), Some(did), Judge::Heuristic) => {
                let status = guess_status(&did.final_text(), did.has_finish(), call_score);
                (status, "guessed by rules from the form of the answer".into())
            }
            (Progress::Ask(_), ..) => (Status::Unsure, "nobody judged it".into()),
        };
        Verdict { status, score: status.score(), reason, usd: None, failed: None }
    }
}

/// Whether an answer solves its query.
struct Verdict {
    status: Status,
    score: f64,
    reason: String,
    usd: Option<f64>,
    /// What went wrong.
    failed: Option<String>,
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
    let tell: TellTrouble = Arc::new(|text: &str| talk::warn(text));
    let tools = open_tools(settings, &|name| environment.get(name), &tell)?;
    for problem in &tools.problems {
        talk::warn(problem);
    }
    let name = args.name.clone().unwrap_or_else(|| agent_name(&args.agent));
    let output = args.output.clone().unwrap_or_else(|| default_output(args, &name));
    let folder = args.run.clone().map_or_else(|| default_run(&output), PathBuf::from);
    let journal = Journal::open(&folder, &identity(args, settings, queries), args.resume_changed)?;
    let offers = Arc::new(Offers::new(tools.documentation.clone()));
    let serving = serve(args, &tools, &folder).await?;
    let agent = make_agent(args, settings, environment, &serving, offers.len())?;
    let judge = Judge::new(args, settings, environment)?;
    let interrupt = Interrupt::listen(|| std::process::exit(Exit::OutsideFailed as i32));
    let bench = Bench {
        queries,
        agent: &agent,
        open: args.pool,
        offers: &offers,
        serving: &serving,
        journal: &journal,
        jobs: usize::from(args.jobs.get()),
        retry_errors: args.retry_errors,
        interrupt: &interrupt,
    };
    let mut n_done = 0;
    let mut stopped = None;
    let attempted = juror_run::bench::run(&bench, |told| match told {
        Told::Known(_) => n_done += 1,
        Told::Tried(attempted) => {
            n_done += 1;
            if !args.quiet {
                talk::say(&line_of(attempted, n_done, queries.len()));
            }
        }
        Told::Left(why) => stopped = Some(why.to_owned()),
    })
    .await
    .map_err(|error| Outside(error.into()))?;
    let judged = evaluate(&judge, queries, &attempted, &offers).await;
    write_results(args, &judge, &name, &output, &judged, started.elapsed())?;
    let n_open = attempted.iter().filter(|attempted| attempted.is_none()).count();
    if let Some(why) = stopped {
        let open = if n_open == 1 { "1 query is".into() } else { format!("{n_open} queries are") };
        talk::say(&format!("stopped: {why}; {open} open: run the same command again to go on"));
        return Ok(Exit::OutsideFailed);
    }
    let has_error = judged.iter().any(|own| own.error().is_some());
    Ok(if has_error { Exit::OutsideFailed } else { Exit::Done })
}

/// What decides what comes of a run, besides the weather.
fn identity(args: &BenchArgs, settings: &Settings, queries: &[Selected]) -> Value {
    let ids: Vec<String> = queries.iter().map(|own| format!("{}/{}", own.set, own.id)).collect();
    json!({"agent": args.agent, "method": args.method, "pool": args.pool.to_string(),
        "queries": ids, "tools": settings.tools.folder, "settings": settings.written})
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

fn default_output(args: &BenchArgs, name: &str) -> String {
    let sets = if args.sets.is_empty() {
        let stem = Path::new(&args.queries).file_stem().unwrap_or_default();
        stem.to_string_lossy().into_owned()
    } else {
        args.sets.join("_")
    };
    let n_tools = match args.pool {
        Open::Top(n) => Some(n),
        Open::Search | Open::Own => None,
    };
    format!("results/tools/{}", file_name(name, &sets, n_tools, args.limit))
}

fn default_run(output: &str) -> PathBuf {
    let stem = Path::new(output).file_stem().unwrap_or_default();
    Path::new(".juror/runs").join(stem)
}

async fn serve(args: &BenchArgs, tools: &Tools, folder: &Path) -> anyhow::Result<Serving> {
    let run = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let client = http_client().map_err(anyhow::Error::msg)?;
    if let Some(address) = &args.server {
        let address = address.trim_end_matches('/').to_owned();
        return Ok(Serving { address, run, server: None, client });
    }
    let listener = TcpListener::bind("127.0.0.1:0").await.map_err(|error| Outside(error.into()))?;
    let address = format!("http://{}", listener.local_addr()?);
    let log = Arc::new(|event: &Event<'_>| {
        if let Event::Trouble(text) = event {
            talk::warn(text);
        }
    });
    let server = Server::new(ServerSetup {
        tools: tools.virtual_tools.clone(),
        unknown: if tools.replays { StatusCode::NOT_FOUND } else { StatusCode::OK },
        listing: Listing::new(tools.documentation.clone()),
        token: None,
        limits: Limits::default(),
        log,
    });
    tokio::spawn(server.clone().serve(listener, std::future::pending()));
    Ok(Serving { address, run, server: Some(server), client })
}

fn make_agent(
    args: &BenchArgs,
    settings: &Settings,
    environment: &Environment,
    serving: &Serving,
    tool_count: usize,
) -> anyhow::Result<Agent> {
    let timeout = Duration::from_secs(u64::from(args.agent_timeout.get()));
    let agent = args.agent.trim();
    if agent == "chat" {
        let method: Method = args.method.parse()?;
        let options = AskOptions::default();
        let tell = Arc::new(|text: &str| talk::warn(text));
        let (models, _) = models_for(settings, &|name| environment.get(name), options, tell)?;
        let limits = AgentLimits { max_steps: args.max_steps, max_queries: args.max_queries };
        return Ok(Agent::Chat(Box::new(Chat {
            agent: ChatAgent { method, limits, prompts: prompts() },
            models,
            longest_observation: args.max_observation,
            timeout,
        })));
    }
    if agent.starts_with("http://") || agent.starts_with("https://") {
        let agent = RemoteAgent::new(agent, timeout).map_err(anyhow::Error::msg)?;
        return Ok(Agent::Remote(agent));
    }
    match agent.split_once(':') {
        Some(("command", command)) => {
            let words: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
            anyhow::ensure!(
                !words.is_empty(),
                "which command?\n  hint: --agent 'command:python my_agent.py'"
            );
            let processes = usize::from(args.jobs.get());
            let tools_url = serving.tools_url();
            let setup = CommandSetup { words, timeout, tools_url, tool_count, processes };
            Ok(Agent::Command(CommandAgent::new(setup)))
        }
        Some(("recorded", place)) => {
            let (answers, problems) = RecordedAnswers::load(place, &args.method)?;
            talk::warn_all(&problems);
            anyhow::ensure!(
                !answers.is_empty(),
                "{place}: no answers are found here\n  hint: a file of converted answers, or a folder of logs with --method"
            );
            Ok(Agent::Recorded(answers))
        }
        _ => anyhow::bail!(
            "there is no agent `{agent}`\n  hint: chat, command:COMMAND, http://… or recorded:PLACE"
        ),
    }
}

fn line_of(attempted: &Attempted, n_done: usize, n_all: usize) -> String {
    let what = match (&attempted.error, &attempted.final_answer) {
        (Some(error), _) => format!("error: {error}"),
        (None, Some(_)) => "answered".into(),
        (None, None) => "no answer".into(),
    };
    let calls = count(attempted.calls.len(), "call");
    format!(
        "[{n_done}/{n_all}] {}: {what}, {calls}, {:.2} s",
        attempted.query_id, attempted.seconds
    )
}

/// What became of a query, and its scores.
struct Judged<'a> {
    selected: &'a Selected,
    attempted: Option<&'a Attempted>,
    /// What the agent did, on its own.
    answer: Option<Answer<'static>>,
    calls: CallScore,
    verdict: Verdict,
    seconds: f64,
}

impl Judged<'_> {
    fn error(&self) -> Option<&String> {
        let of_agent = self.attempted.and_then(|attempted| attempted.error.as_ref());
        of_agent.or(self.verdict.failed.as_ref())
    }
}

/// How many answers are judged side by side; a model has limits of its own.
const SIDE_BY_SIDE: usize = 64;

async fn evaluate<'a>(
    judge: &Judge,
    queries: &'a [Selected],
    attempted: &'a [Option<Attempted>],
    offers: &Offers,
) -> Vec<Judged<'a>> {
    let one = |(selected, attempted): (&'a Selected, &'a Option<Attempted>)| async move {
        let start = Instant::now();
        let attempted = attempted.as_ref();
        let text = attempted.and_then(answer_text);
        let did = attempted.and_then(|attempted| answer(attempted, text.as_deref()));
        let calls = match attempted {
            Some(attempted) => call_score(selected, attempted, did.as_ref(), offers.registry()),
            None => CallScore::of(&[], &selected.query.gold),
        };
        let score = calls.score().unwrap_or(0.0);
        let verdict = judge.verdict(&selected.query.text, did.as_ref(), score).await;
        let answer = did.map(Answer::into_owned);
        let seconds = start.elapsed().as_secs_f64();
        Judged { selected, attempted, answer, calls, verdict, seconds }
    };
    stream::iter(queries.iter().zip(attempted)).map(one).buffered(SIDE_BY_SIDE).collect().await
}

/// A result file with what only Juror tells.
#[derive(Serialize)]
struct ResultFile<'a> {
    #[serde(flatten)]
    report: Report<'a>,
    juror: Value,
}

fn write_results(
    args: &BenchArgs,
    judge: &Judge,
    name: &str,
    output: &str,
    judged: &[Judged<'_>],
    took: Duration,
) -> anyhow::Result<()> {
    let evaluations: Vec<Evaluation<'_>> = judged
        .iter()
        .map(|own| Evaluation {
            query: &own.selected.query,
            answer: own.answer.as_ref(),
            status: own.verdict.status,
            sopr_score: own.verdict.score,
            calls: own.calls,
            method: judge.as_str(),
            reason: own.verdict.reason.clone(),
            error: own.error().cloned(),
            evaluation_seconds: own.seconds,
            answer_seconds: own.attempted.map(|attempted| attempted.seconds),
        })
        .collect();
    let config = [
        ("test_set", json!(args.sets.join(","))),
        ("num_queries", json!(judged.len())),
        ("evaluator_model", json!(judge.model())),
        ("evaluation_method", json!(judge.as_str())),
        ("agent", json!(args.agent)),
        ("method", json!(args.method)),
        ("pool", json!(args.pool.to_string())),
    ];
    let now = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC);
    let metadata = Metadata {
        framework: name.to_owned(),
        config: config.into_iter().map(|(key, value)| (key.to_owned(), value)).collect(),
        overall_time: took.as_secs_f64(),
        timestamp: now.strftime("%Y-%m-%d %H:%M:%S").to_string(),
    };
    let report = Report::new(metadata, evaluations);
    let summary = summary_text(judge, name, &report);
    let file = ResultFile { report, juror: extras(judged) };
    if args.output.is_none()
        && let Some(folder) = Path::new(output).parent()
    {
        // If it cannot be made, creating the file says why.
        let _ = std::fs::create_dir_all(folder);
    }
    let mut out = Output::create(output)?;
    let mut bytes = serde_json::to_vec_pretty(&file)?;
    bytes.push(b'\n');
    out.write(&bytes).map_err(|error| Outside(error.into()))?;
    out.finish().map_err(|error| Outside(error.into()))?;
    talk::data(&summary)?;
    talk::say(&format!("results are in {output}"));
    Ok(())
}

/// Where tool replies came from, tokens, costs and errors.
fn extras(judged: &[Judged<'_>]) -> Value {
    let attempted = || judged.iter().filter_map(|own| own.attempted);
    let mut replies = std::collections::BTreeMap::<&str, usize>::new();
    for call in attempted().flat_map(|attempted| &attempted.calls) {
        *replies.entry(&call.source).or_default() += 1;
    }
    let prices: Vec<f64> = attempted().filter_map(|attempted| attempted.usd).collect();
    let usd = (!prices.is_empty()).then(|| prices.iter().sum::<f64>());
    let tokens: u64 = attempted().map(|attempted| attempted.tokens).sum();
    let judge_prices: Vec<f64> = judged.iter().filter_map(|own| own.verdict.usd).collect();
    let judge_usd = (!judge_prices.is_empty()).then(|| judge_prices.iter().sum::<f64>());
    json!({"version": env!("CARGO_PKG_VERSION"), "tool_replies": replies,
        "agent_tokens": tokens, "agent_usd": usd, "judge_usd": judge_usd,
        "open_queries": judged.iter().filter(|own| own.attempted.is_none()).count()})
}

fn summary_text(judge: &Judge, name: &str, report: &Report<'_>) -> String {
    let summary = &report.summary;
    let by = match judge {
        Judge::Nobody => None,
        Judge::Heuristic => Some("the heuristic".to_owned()),
        Judge::Model { models, repeats, .. } => {
            Some(format!("{}, judged {repeats}×", models.chat_name()))
        }
    };
    let solved = match by {
        None => "solved            not judged (--judge)\n".to_owned(),
        Some(by) => format!(
            "solved            {:.1} % ({} of {}), by {by}\nunsure            {}\nSoPR              {:.3}\n",
            summary.solved_percentage,
            summary.solved_count,
            summary.total_evaluations,
            summary.unsure_count,
            summary.average_sopr_score
        ),
    };
    format!(
        "{name} · {}\n\n{solved}API Call Score    {:.3}\nFinish            {:.1} % ({} of {})\nerrors            {}\n",
        count_queries(summary.total_queries),
        summary.average_api_call_score,
        summary.finish_percentage,
        summary.finish_count,
        summary.total_evaluations,
        summary.error_count
    )
}

fn count_queries(n: usize) -> String {
    if n == 1 { "1 query".into() } else { format!("{n} queries") }
}
