//! `juror bench`: an agent, queries, virtual tools, and the scores.

#![expect(clippy::doc_markdown, reason = "these comments are the help that users read")]

mod agent;
mod outputs;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use clap::{Args, ValueEnum};
use juror_agents::chat_agent::Method;
use juror_agents::read_secret;
use juror_models::Models;
use juror_run::bench::{
    Agent, Bench, Journal, JudgeWord, Manner, Pool, Provenance, Results, Selected, Serving,
    SolveJudge, Wanted, check_run, choose_folder, ignored_by_server, plain, run as run_bench,
    select_queries, shown_agent, unused_token, without_tools,
};
use juror_run::{
    AskOptions, Environment, Interrupt, Manifest, Resume, Settings, TellTrouble, Tools,
    models_if_any, open_tools,
};

use self::agent::Around;
use self::outputs::Outputs;
use super::ask::{parse_count, parse_dollars, parse_seconds};
use super::tool_args::ToolArgs;
use super::{boolish, check_outputs};
use crate::exit::{Exit, Outside};
use crate::{progress, talk};

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

A run is kept in a folder. The same command goes on with a run that was cut off, whatever ended it,
and says so; after one that is finished it tries the agent anew, in a folder of its own. Folders of
runs can be judged and compared: see `juror judge --help`.";

/// Try an agent on queries, against virtual tools: what it solved, which APIs it called, what it
/// cost.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
#[expect(clippy::struct_excessive_bools, reason = "they are switches of the command line")]
pub(super) struct BenchArgs {
    /// Folder of query sets, as StableToolBench has it, or a file of queries.
    #[arg(long, value_name = "PLACE", env = "JUROR_QUERIES")]
    queries: String,

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

    /// Who is tried; see below.
    #[arg(long, value_name = "AGENT", env = "JUROR_AGENT")]
    agent: String,

    /// What the agent is called in results [default: from --agent].
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// How the built-in agent goes about a query; for recorded logs, theirs.
    #[arg(long, value_name = "METHOD", default_value = "CoT@1", env = "JUROR_METHOD")]
    method: String,

    /// How much of the pool the agent sees: everything through a search, the best N for the
    /// query, or the query's own APIs.
    #[arg(long, value_name = "search|top:N|own", default_value = "search", env = "JUROR_POOL")]
    pool: Pool,

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
    #[arg(short, long, value_name = "N", default_value = "4", env = "JUROR_JOBS", value_parser = parse_count::<std::num::NonZero<u16>>)]
    jobs: std::num::NonZero<u16>,

    /// Seconds an agent may take to start, and for each query.
    #[arg(long, value_name = "SECONDS", default_value = "600", env = "JUROR_AGENT_TIMEOUT", value_parser = parse_count::<std::num::NonZero<u32>>)]
    agent_timeout: std::num::NonZero<u32>,

    /// Header to send to an agent at http://…, as `Name: value`. Words such as env:NAME stand for
    /// what variables hold; no value is ever shown or written down. May be repeated.
    #[arg(long = "agent-header", value_name = "HEADER")]
    agent_headers: Vec<String>,

    /// Address of a running `juror serve`, in place of one inside this process.
    #[arg(long, value_name = "URL", env = "JUROR_SERVER")]
    server: Option<String>,

    /// Token that the running server asks for: env:NAME for what a variable holds. Agents are told
    /// it, as a header to send with their calls.
    #[arg(long, value_name = "TOKEN", env = "JUROR_SERVER_TOKEN", hide_env_values = true)]
    server_token: Option<String>,

    /// Who judges whether a query is solved [default: the model of llm.generation, or nobody if
    /// none is configured].
    #[arg(long, value_name = "WHO", env = "JUROR_JUDGE")]
    judge: Option<JudgeArg>,

    /// How often a model judges each answer; overrides the settings.
    #[arg(long, value_name = "N", env = "JUROR_REPEATS", value_parser = parse_count::<std::num::NonZero<u32>>)]
    repeats: Option<std::num::NonZero<u32>>,

    /// Calls at a time to models, by the built-in agent and the judge together; overrides the
    /// settings.
    #[arg(long, value_name = "N", env = "JUROR_CONCURRENCY", value_parser = parse_count::<std::num::NonZero<usize>>)]
    concurrency: Option<std::num::NonZero<usize>>,

    /// Seconds a reply of a model may take, from when its turn has come; overrides the settings.
    #[arg(long, value_name = "SECONDS", env = "JUROR_CALL_TIMEOUT", value_parser = parse_seconds)]
    timeout: Option<f64>,

    /// Stop asking models before this much is spent, by the built-in agent and the judge together;
    /// overrides the settings.
    #[arg(long, value_name = "USD", env = "JUROR_MAX_COST", value_parser = parse_dollars)]
    max_cost: Option<f64>,

    /// Folder to keep the run in; a finished run in it is refused [default: .juror/runs/ and a
    /// name of time, agent and identity].
    #[arg(long, value_name = "FOLDER", env = "JUROR_RUN")]
    run: Option<String>,

    /// Begin anew, whatever was tried before; with --run, in place of the run in that folder.
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

    /// Variable of the environment that is meant for the agent. May be repeated. A key, such as
    /// OPENAI_API_KEY, reaches a command only if it is named here; of all other variables, those
    /// named here alone tell runs apart [default: all but those of terminals and sessions].
    #[arg(long, value_name = "NAME", env = "JUROR_AGENT_ENV", value_delimiter = ',')]
    agent_env: Vec<String>,

    /// Take the built-in agent's model at what it said in earlier runs, and keep what it says.
    #[arg(long, env = "JUROR_REPLAY_AGENT", value_parser = boolish())]
    replay_agent: bool,

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

    /// Print the summary as JSON.
    #[arg(long, env = "JUROR_JSON", value_parser = boolish())]
    json: bool,

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
    let environment = Environment::read(talk::warn);
    let (mut settings, _) = args.tools.settings(&environment)?;
    if args.server.is_some() {
        settings.tools.leave_to_server();
    }
    let selection = select_queries(&args.wanted())?;
    for problem in &selection.told {
        talk::warn(problem);
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Outside(error.into()))?;
    runtime.block_on(bench(args, &settings, &environment, &selection.queries))
}

async fn bench(
    args: &BenchArgs,
    settings: &Settings,
    environment: &Environment,
    queries: &[Selected],
) -> anyhow::Result<Exit> {
    let started = Instant::now();
    let tell: TellTrouble = Arc::new(|text: &str| talk::warn(text));
    if args.is_chat() {
        // A method that there is not is told before a model that there is not.
        args.method.parse::<Method>()?;
    }
    let models = args.models(settings, environment, &tell)?;
    let repeats = args.repeats.map(std::num::NonZero::get);
    let judge =
        SolveJudge::new(args.judge.map(JudgeWord::from), settings, models.as_ref(), repeats)?;
    args.warn_of_odd_choices(&judge, environment);
    args.warn_of_no_tools(settings);
    let name = args.name.clone().unwrap_or_else(|| agent_name(&args.agent, &args.method));
    let more = args.limits(models.as_deref());
    let manner = args.manner(&name, &more);
    let reach = agent::reach(args, settings, environment)?;
    let default_output = || manner.result_file(queries, &args.wanted());
    let output = args.output.clone().unwrap_or_else(default_output);
    let outputs = Outputs::begin(args, &output, &judge, queries)?;
    let tools = open_tools(settings, environment, &tell)?;
    for problem in &tools.problems {
        talk::warn(&problem.to_string());
    }
    let provenance = Provenance::new(settings, &tools, queries, args.server.is_some());
    let run = manner.run(settings, queries, &provenance, &reach).with("judge", judge.described());
    let place = args.place(&run)?;
    let folder = &place.folder;
    let catalog = &tools.catalog;
    let serving = serve(args, &tools, folder, environment, tell.clone()).await?;
    let around = Around { models, serving: &serving, tool_count: catalog.n_apis(), settings, tell };
    let agent = agent::make(args, around, environment).await?;
    let agent = agent.paired(queries).map_err(|why| anyhow::anyhow!("{}: {why}", args.agent))?;
    let trials = match &agent {
        Agent::Recorded(answers) => answers.trials(queries),
        _ => Vec::new(),
    };
    let queries = if trials.is_empty() { queries } else { &trials };
    outputs::check_ids(args, queries)?;
    // What it says of itself, unless users know better.
    let called = args.name.clone().or(agent.name().map(Into::into)).unwrap_or(name.clone());
    let journal = match agent {
        Agent::Recorded(_) => None,
        _ => Some(Journal::open(folder, run, args.resume())?),
    };
    if let Some(journal) = journal.as_ref().filter(|journal| journal.n_done() > 0) {
        tell_resumed(journal, queries);
    }
    let interrupt = Interrupt::listen(|| std::process::exit(Exit::OutsideFailed as i32));
    let bench = Bench {
        queries,
        agent: &agent,
        pool: args.pool,
        catalog,
        serving: &serving,
        journal: journal.as_ref(),
        judge: &judge,
        jobs: usize::from(args.jobs.get()),
        retry_errors: args.retry_errors,
        interrupt: &interrupt,
    };
    let tried = run_bench(&bench, |event| progress::show(&event, args.quiet)).await;
    let tried = tried.map_err(|error| Outside(error.into()))?;
    tell_known_errors(tried.n_known_failed, args.retry_errors);
    if let Some(why) = tried.stopped {
        talk::say(&format!(
            "stopped: {why}; no results are written: run the same command again to go on"
        ));
        return Ok(Exit::OutsideFailed);
    }
    let config = manner.config(queries);
    let results = Results {
        name: called,
        config,
        provenance: &provenance,
        run: journal.as_ref().map(|journal| journal.folder().display().to_string()),
        judge: &judge,
        judged: &tried.judged,
        took: started.elapsed(),
    };
    results.warnings().iter().for_each(|warning| talk::warn(&warning.to_string()));
    outputs.write(&results, catalog, args)?;
    if journal.is_some() && !args.quiet && tried.n_failed > 0 {
        let (n_errors, n_all) = (tried.n_failed, queries.len());
        talk::say(&format!(
            "{n_errors} of {n_all} queries ended with an error: --retry-errors tries them again"
        ));
    }
    if let Some(journal) = &journal {
        journal.complete().map_err(|error| Outside(error.into()))?;
    }
    let has_error =
        tried.judged.iter().any(|own| own.error().is_some()) || !results.failed_calls().is_empty();
    Ok(if has_error { Exit::OutsideFailed } else { Exit::Done })
}

/// Says that a run is gone on with, and what that means.
fn tell_resumed(journal: &Journal, queries: &[Selected]) {
    let is_known = |own: &&Selected| journal.get(&own.set, &own.id).is_some();
    let (n_known, n_all) = (queries.iter().filter(is_known).count(), queries.len());
    let folder = journal.folder().display();
    talk::say(&format!("goes on with {folder}: {n_known} of {n_all} queries were tried"));
}

/// Says what became of queries that ended with an error earlier, and were not tried again.
fn tell_known_errors(n: usize, retry_errors: bool) {
    match (n, retry_errors) {
        (0, _) => {}
        // All that the agent failed on is tried again.
        (_, true) => talk::say(&format!(
            "{n} of the queries tried earlier were judged again, and the judge failed again"
        )),
        (_, false) => talk::say(&format!(
            "{n} of the queries tried earlier ended with an error: --retry-errors tries them again"
        )),
    }
}

/// The folder of a run. One that was made for it goes again if nothing came to lie in it.
struct Place {
    folder: PathBuf,
    is_new: bool,
}

impl Drop for Place {
    fn drop(&mut self) {
        if self.is_new {
            // A folder that holds something is not removed.
            let _ = std::fs::remove_dir(&self.folder);
        }
    }
}

impl BenchArgs {
    /// One queue for all that asks the model of `llm.generation`, so that one ceiling holds.
    fn models(
        &self,
        settings: &Settings,
        environment: &Environment,
        tell: &TellTrouble,
    ) -> anyhow::Result<Option<Arc<Models>>> {
        let is_judge = matches!(self.judge, None | Some(JudgeArg::Model));
        if !self.is_chat() && !is_judge {
            return Ok(None);
        }
        let options = AskOptions {
            max_cost: self.max_cost,
            concurrency: self.concurrency.map(std::num::NonZero::get),
            timeout: self.timeout,
            ..AskOptions::default()
        };
        let models = models_if_any(settings, environment, options, tell.clone())?;
        Ok(models.map(|(models, _)| Arc::new(models)))
    }

    /// The queries to take.
    fn wanted(&self) -> Wanted {
        Wanted {
            place: self.queries.clone(),
            sets: self.sets.clone(),
            filter: self.ids.clone(),
            ids: self.query_ids.clone(),
            limit: self.limit,
        }
    }

    fn resume(&self) -> Resume {
        Resume {
            fresh: self.fresh,
            retry_errors: self.retry_errors,
            even_if_changed: self.resume_changed,
        }
    }

    /// The folder of the run: the one that was named, if it may be used, or one that is chosen.
    fn place(&self, run: &Manifest) -> anyhow::Result<Place> {
        let named = self.run.as_ref().map(PathBuf::from);
        if self.is_recorded() {
            // Recorded answers keep no run: only a name is needed.
            let folder = named.unwrap_or_else(|| plain(&run.name).into());
            return Ok(Place { folder, is_new: false });
        }
        if let Some(folder) = named {
            check_run(&folder, run, self.resume())?;
            return Ok(Place { folder, is_new: false });
        }
        let chosen = choose_folder(run, self.resume());
        if let Some(passed_over) = &chosen.passed_over {
            talk::say(&passed_over.notice().to_string());
        } else if chosen.is_new && (self.retry_errors || self.resume_changed) {
            talk::say("begins anew: there is no earlier run of this name to go on with");
        }
        Ok(Place { folder: chosen.folder, is_new: chosen.is_new })
    }

    /// Tells that an agent that is tried has nothing to call.
    fn warn_of_no_tools(&self, settings: &Settings) {
        let needs_tools = self.server.is_none() && !self.is_recorded();
        if needs_tools && let Some(warning) = without_tools(settings) {
            talk::warn(&warning.to_string());
        }
    }

    /// Tells of options that say nothing, or are hardly meant together.
    fn warn_of_odd_choices(&self, judge: &SolveJudge, environment: &Environment) {
        // A variable may be set for other runs.
        let is_named = self.server_token != environment.get("JUROR_SERVER_TOKEN");
        if self.server.is_none() && self.server_token.is_some() && is_named {
            talk::warn(&unused_token().to_string());
        }
        if self.server.is_some()
            && let Some(warning) = ignored_by_server(&self.tools.of_replies())
        {
            talk::warn(&warning.to_string());
        }
        if self.is_chat()
            && let Some(model) = judge.model()
        {
            talk::warn(&format!(
                "{model} judges itself: it is both the agent's model and the judge\n  hint: judge by another with --judge none, then `juror judge pass-rate` on the run's folder with other settings"
            ));
        }
    }

    /// Whether nobody is tried, since the answers are there.
    fn is_recorded(&self) -> bool {
        self.agent.trim().starts_with("recorded:")
    }

    /// Whether the built-in agent is tried.
    fn is_chat(&self) -> bool {
        self.agent.trim() == "chat"
    }

    /// How the agent is tried.
    fn manner<'m>(&'m self, name: &'m str, more: &'m [(&'m str, String)]) -> Manner<'m> {
        let has_method = self.is_chat() || self.agent.starts_with("recorded:");
        let method = has_method.then_some(self.method.as_str());
        Manner { name, agent: &self.agent, method, pool: self.pool, more }
    }

    /// What the built-in agent asks, and how far it goes; of others nothing is known.
    fn limits(&self, models: Option<&Models>) -> Vec<(&'static str, String)> {
        if !self.is_chat() {
            return Vec::new();
        }
        let mut limits = vec![
            ("model", models.map(|models| models.chat_name().to_owned()).unwrap_or_default()),
            ("max_steps", self.max_steps.to_string()),
            ("max_queries", self.max_queries.to_string()),
            ("max_observation", self.max_observation.to_string()),
        ];
        // What was said earlier may not pass for what is said now.
        limits.extend(self.replay_agent.then(|| ("replays", "true".to_owned())));
        limits
    }
}

async fn serve(
    args: &BenchArgs,
    tools: &Tools,
    folder: &Path,
    environment: &Environment,
    tell: TellTrouble,
) -> anyhow::Result<Serving> {
    let run = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    match &args.server {
        Some(address) => {
            let token = args.server_token.as_deref();
            let token = token.map(|token| read_secret(token, |name| environment.get(name)));
            let token =
                token.transpose().map_err(|why| anyhow::anyhow!("--server-token: {why}"))?;
            let serving = Serving::elsewhere(address, token, &run).await;
            serving.map_err(|error| Outside(anyhow::Error::msg(error)).into())
        }
        None => {
            let serving = Serving::start(tools, run, tell).await;
            serving.map_err(|error| Outside(error.into()).into())
        }
    }
}

/// What of a command says most: the first word that names a script, else the program.
fn script_of(command: &str) -> String {
    const ENDINGS: [&str; 7] = ["py", "js", "mjs", "ts", "sh", "rb", "jar"];
    let words = shlex::split(command).unwrap_or_default();
    let is_script = |word: &&String| {
        let ending = Path::new(word).extension().and_then(|ending| ending.to_str());
        ending.is_some_and(|ending| ENDINGS.contains(&ending))
    };
    words.iter().find(is_script).or(words.first()).cloned().unwrap_or_else(|| "command".into())
}

/// What an agent is called when nobody says.
fn agent_name(agent: &str, method: &str) -> String {
    let name = match agent.split_once(':') {
        Some(("command", command)) => script_of(command),
        Some(("recorded", place)) => place.to_owned(),
        None if agent == "chat" => return plain(&format!("chat_{method}")),
        // Many agents answer at the same path.
        Some(("http" | "https", _)) => {
            let shown = shown_agent(agent);
            let address = shown.split_once("://").map_or(&*shown, |(_, address)| address);
            return plain(address.trim_end_matches('/'));
        }
        _ => shown_agent(agent),
    };
    let stem = Path::new(&name).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    plain(&stem.unwrap_or(name))
}

#[cfg(test)]
mod tests {
    use super::{BenchArgs, agent_name};
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        bench: BenchArgs,
    }

    #[test]
    fn a_replayed_agent_is_another_run() {
        let limits = |more: &[&str]| {
            let words = ["bench", "--queries", "q.json", "--agent", "chat"];
            let line = Line::try_parse_from(words.iter().chain(more)).unwrap_or_else(|error| {
                panic!("{error}");
            });
            line.bench.limits(None)
        };
        assert_eq!(limits(&[]), limits(&["--jobs", "2"]));
        assert_ne!(limits(&[]), limits(&["--replay-agent"]));
    }

    #[test]
    fn an_agent_is_called_by_what_says_most_of_it() {
        for (agent, name) in [
            ("chat", "chat_CoT@1"),
            ("command:python3 my/agent.py --model gpt-4.1", "agent"),
            ("command:uv run 'my agent.py'", "my_agent"),
            ("command:/opt/bin/answerer -v", "answerer"),
            ("command:", "command"),
            ("recorded:answers/G1.json", "G1"),
            ("http://127.0.0.1:9000/answer", "127.0.0.1_9000_answer"),
            ("http://127.0.0.1:9001/answer/", "127.0.0.1_9001_answer"),
            ("https://me:pw@host.example", "host.example"),
            ("http://host/answer?token=x", "host_answer_token____"),
        ] {
            assert_eq!(agent_name(agent, "CoT@1"), name, "{agent}");
        }
    }
}
