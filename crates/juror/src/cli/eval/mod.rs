//! `juror eval`: judges recorded answers.

#[cfg(feature = "graph")]
mod graph;
mod keep;
mod live;
mod moved;
mod page;
mod summary;

use std::num::NonZero;
use std::thread;

use anyhow::Context as _;
use clap::Args;
use juror_compare::RunCount;
use juror_document::{Document, Notice, Problems};
use juror_files::load;
use juror_models::Recorded;
use juror_pages::FileKind;
use juror_read::{KEPT_BELOW, RepeatedIds};
use juror_report::calls_table;
use juror_run::{
    AnswerOverlap, Evaluation, EvaluationError, Inputs, Interrupt, Judgements, Judges, Judging,
    KnownJudgement, ModelFailures, Outcome, Plan, ReportOptions, ResultFiles, RunOptions, Settings,
    SubjectIdentity, Totals, Warning, load_calibrations,
};
use juror_runs::{RunLog, RunPlace, Shard};

#[cfg(feature = "graph")]
use self::graph::FreshReference;
pub(super) use self::keep::RunArgs;
use self::keep::{print_place, print_unfinished};
pub(super) use self::moved::FreshGraph;
use self::page::EvalPage;
use self::summary::Summary;
use super::agent_args::{AGENTS, has_option};
use super::gate::GateArgs;
#[cfg(not(feature = "graph"))]
use super::graph_args::FreshReference;
use super::graph_args::GraphArgs;
use super::junit::JunitArgs;
use super::live_args::LiveArgs;
use super::merge::parse_shard;
use super::model_args::{self, ModelArgs, parse_count};
use super::page::{PageArgs, PageFiles, replies};
use super::trace_args::{TraceArgs, holds_trace};
use super::{ResponseArgs, RuleArgs, boolish, check_outputs, count};
use crate::exit::{Exit, Outside};
use crate::output;
use crate::progress::Progress;

const EXAMPLES: &str = "\
Examples:
  Scores at a glance, the worst questions and why each missed:
    juror eval reference.yaml responses.jsonl

  The same to files, by the rules of the library's newer release:
    juror eval reference.json responses.jsonl --profile 6 -o results.json -a aggregates.yaml

  A first measure of answers without a model: the words that they share with reference answers:
    juror eval reference.yaml responses.jsonl --answer-overlap

  Results that say of every expected step why it was missed:
    juror eval reference.yaml responses.jsonl -o results.json --explain

  With a model (OPENAI_API_KEY, or llm: in settings) answers are judged too. What would it cost?
    juror eval reference.yaml responses.jsonl -c juror.yaml --dry-run

  A long judged run that can be interrupted and resumed by the same command:
    juror eval reference.yaml responses.jsonl -c juror.yaml --run runs/monday

  To look at, in a browser: every question, and what differs:
    juror eval reference.yaml responses.jsonl -o report.html

  For a pull request and a pipeline: the worst questions, and each question as a test:
    juror eval reference.yaml responses.jsonl -o report.md -o report.junit.xml

  Ask an agent first, three times; the same command resumes an interrupted run:
    juror eval reference.yaml --agent openai:http://127.0.0.1:8000/v1 --trials 3 --run runs/live

  A first look at an agent, on ten questions:
    juror eval reference.yaml --agent python:my_agent:answer --limit 10

  Several answers to each question, one after another in the file:
    juror eval reference.yaml responses.jsonl --trials-in-responses -o results.json

  Expected results as the graph gives them now, so that a graph that moved is not the agent's fault:
    juror eval reference.yaml responses.jsonl --graph https://example.org/sparql

  On ten machines, a tenth of the questions each; then all of them together:
    juror eval reference.jsonl responses.jsonl --shard 3/10 --partial p3
    juror merge p* -a aggregates.json -s statistics.json

  In a pipeline: fail when fewer than 90 % of the steps are found:
    my-agent --answers | juror eval reference.yaml - --fail-under steps_score=0.9

REFERENCE is a list of templates in YAML or JSON, or a template or question a line (JSONL).
RESPONSES is a JSON object by question id, a JSON list, or one response a line (JSONL). Several
answers to a question are told apart by a `trial`: 1, 2 and so on. A trace of an agent framework
is read as `juror import` reads it (docs/traces.md).
Both may be compressed (.gz, .zst); - is standard input.

";

const LIVE: &str = "

An agent's answers are kept in the folder of the run, below .juror/runs unless --run says otherwise.";

/// Printed if there are answers to judge, but no model to ask.
const NOT_JUDGED: &str = "no model is configured: answers are not judged (docs/models.md says how)";

/// Judge recorded answers, or those of a live agent: scores per question, statistics, and a summary.
#[derive(Args)]
#[command(after_help = [EXAMPLES, AGENTS, LIVE].concat())]
pub(super) struct EvalArgs {
    /// Reference questions with expected answers and steps.
    #[arg(value_name = "REFERENCE")]
    reference: String,

    /// What the system answered, and the steps it took.
    #[arg(value_name = "RESPONSES", required_unless_present = "agent", conflicts_with = "agent")]
    responses: Option<String>,

    /// Ask this agent for its answers, in place of RESPONSES; see below.
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,

    /// Ask the agent only the first N questions; the others do not count.
    #[arg(long, value_name = "N", env = "JUROR_LIMIT", value_parser = parse_count::<NonZero<usize>>)]
    limit: Option<NonZero<usize>>,

    #[command(flatten)]
    rules: RuleArgs,

    /// Compare the words of answers with those of reference answers, without a model: overlap, not
    /// correctness.
    #[arg(long, env = "JUROR_ANSWER_OVERLAP", value_parser = boolish())]
    answer_overlap: bool,

    #[command(flatten)]
    read: ResponseArgs,

    #[command(flatten)]
    trace: TraceArgs,

    #[command(flatten)]
    report: ReportArgs,

    #[command(flatten)]
    gate: GateArgs,

    #[command(flatten)]
    ask: ModelArgs,

    /// How often a model is asked for every verdict; overrides judge.repeats of the settings
    /// [default: 1].
    #[arg(long, value_name = "N", env = "JUROR_REPEATS", help_heading = "Models", value_parser = parse_count::<NonZero<u32>>)]
    repeats: Option<NonZero<u32>>,

    #[command(flatten)]
    run: RunArgs,

    #[command(flatten)]
    live: LiveArgs,

    #[command(flatten)]
    graph: GraphArgs,

    /// Run the agent's own queries, where a response has a query and no output.
    #[arg(long, requires = "graphs", env = "JUROR_RERUN_ACTUAL", help_heading = "Graph", value_parser = boolish())]
    rerun_actual: bool,
}

/// What is made of the judged questions.
#[derive(Args, Default)]
pub(super) struct ReportArgs {
    /// Write results here; the ending picks the format (.json .jsonl .yaml .tsv), or a report for
    /// people (.html .md) or pipelines (.junit.xml). May repeat.
    #[arg(short, long = "output", value_name = "FILE", env = "JUROR_OUTPUT")]
    outputs: Vec<String>,

    /// Write aggregates here, formats as for results. May repeat.
    #[arg(short, long = "aggregates", value_name = "FILE", env = "JUROR_AGGREGATES")]
    aggregates: Vec<String>,

    /// Write statistics here: means with intervals and coverage; formats as for results. May repeat.
    #[arg(short, long = "statistics", value_name = "FILE", env = "JUROR_STATISTICS")]
    statistics: Vec<String>,

    /// Evaluate only one of several shards of the questions: 3/10 is the third of ten. auto/10 takes
    /// the number from `JOB_COMPLETION_INDEX` or `SLURM_ARRAY_TASK_ID`.
    #[arg(long, value_name = "I/N", env = "JUROR_SHARD", value_parser = parse_shard, conflicts_with = "agent")]
    shard: Option<Shard>,

    /// Write the numbers of this shard here, for `juror merge`.
    #[arg(long, value_name = "FILE", env = "JUROR_PARTIAL")]
    partial: Option<String>,

    #[command(flatten)]
    junit: JunitArgs,

    #[command(flatten)]
    page: PageArgs,

    /// Say in the results why each expected step was missed: in its `missed`.
    #[arg(long, env = "JUROR_EXPLAIN", value_parser = boolish())]
    explain: bool,

    /// How many of the worst questions the summary explains.
    #[arg(long, value_name = "N", default_value_t = 5, env = "JUROR_WORST")]
    worst: usize,

    /// How many threads judge; all cores by default. With --agent, also how many questions are asked
    /// at a time [default: 4].
    #[arg(short = 'j', long, value_name = "N", env = "JUROR_JOBS", value_parser = parse_count::<NonZero<usize>>)]
    jobs: Option<NonZero<usize>>,

    /// Print the summary as JSON.
    #[arg(long, env = "JUROR_JSON", value_parser = boolish())]
    json: bool,

    /// Print errors only.
    #[arg(short, long, env = "JUROR_QUIET", value_parser = boolish())]
    quiet: bool,
}

impl ReportArgs {
    /// Returns the names of all files to write.
    fn files(&self) -> impl Iterator<Item = &String> {
        let files = self.outputs.iter().chain(&self.aggregates).chain(&self.statistics);
        files.chain(&self.partial)
    }

    /// Returns options for a summary that explains every imperfect question.
    pub(super) fn summary_only(json: bool) -> ReportArgs {
        ReportArgs { worst: usize::MAX, json, ..ReportArgs::default() }
    }
}

pub(super) fn run(args: &EvalArgs, line: &[String]) -> anyhow::Result<Exit> {
    let inputs = std::iter::once(&args.reference).chain(&args.responses);
    let inputs = inputs.chain(&args.rules.config).chain(&args.run.folder);
    check_outputs(inputs, args.report.files(), args.report.json)?;
    let mut settings = args.rules.settings()?;
    settings.judge.repeats = args.repeats.or(settings.judge.repeats);
    if args.answer_overlap {
        settings.answer_overlap = Some(AnswerOverlap { enabled: Some(true) });
    }
    if let Some(agent) = &args.agent {
        return live::run(args, agent, &settings, line);
    }
    anyhow::ensure!(
        !has_option(line, "--limit"),
        "--limit is for agents that are asked, and RESPONSES are answers that were recorded\n  hint: name an agent with --agent, or take the questions out of REFERENCE"
    );
    if args.live.how.trials.get() > 1 && !args.report.quiet {
        output::warn(
            "--trials has no effect on recorded answers\n  hint: ask an agent with --agent; several recorded answers are told apart by their `trial`",
        );
    }
    let responses = args.responses.as_deref().unwrap_or_default();
    let (reference, responses) = load_both(args, responses)?;
    if args.graph.is_given() {
        return run_with_graph(args, &settings, (reference, responses), line);
    }
    let exit = args.work(&reference, &responses, &settings, line).run();
    // The program ends here, and the system reclaims memory faster than dropping would.
    std::mem::forget((reference, responses));
    exit
}

/// Judges by the results that a graph gives now.
fn run_with_graph(
    args: &EvalArgs,
    settings: &Settings,
    (reference, mut responses): (Document, Document),
    line: &[String],
) -> anyhow::Result<Exit> {
    let mut fresh = FreshReference::ask(args, settings, &reference)?;
    if args.rerun_actual {
        responses = fresh.rerun_actual(args, &responses)?;
    }
    let graph = fresh.blame(args, settings, &responses)?;
    fresh.mark(Some(&graph))?;
    let work = args.work(fresh.document(), &responses, settings, line);
    let exit = Work { graph: Some(&graph), ..work }.run()?;
    fresh.tell_moved(&graph, args.report.quiet);
    Ok(if fresh.is_incomplete() { Exit::OutsideFailed } else { exit })
}

impl EvalArgs {
    fn work<'w>(
        &'w self,
        reference: &'w Document,
        responses: &'w Document,
        settings: &'w Settings,
        line: &'w [String],
    ) -> Work<'w> {
        Work {
            reference,
            responses,
            repeated_ids: self.read.repeated_ids(),
            settings,
            report: &self.report,
            gate: &self.gate,
            ask: &self.ask,
            run: &self.run,
            line,
            recorded: None,
            subject: None,
            limit: None,
            graph: None,
        }
    }
}

/// The inputs and options of an evaluation.
pub(super) struct Work<'w> {
    pub(super) reference: &'w Document,
    pub(super) responses: &'w Document,
    /// What several responses with the same id are.
    pub(super) repeated_ids: RepeatedIds,
    pub(super) settings: &'w Settings,
    pub(super) report: &'w ReportArgs,
    pub(super) gate: &'w GateArgs,
    pub(super) ask: &'w ModelArgs,
    pub(super) run: &'w RunArgs,
    /// The command line; empty if there is none to keep.
    pub(super) line: &'w [String],
    /// Recorded replies to use instead of any model.
    pub(super) recorded: Option<Recorded>,
    /// The agent that is asked for the responses; `None` if they were recorded.
    pub(super) subject: Option<SubjectIdentity<'w>>,
    /// How many questions of the reference count, from the first on.
    pub(super) limit: Option<usize>,
    /// The graph that expected results are taken from.
    pub(super) graph: Option<&'w FreshGraph>,
}

impl Work<'_> {
    /// Runs the evaluation; reports all problems of the inputs before any work.
    pub(super) fn run(&self) -> anyhow::Result<Exit> {
        self.run_in(&self.run.place(self.settings)?, None)
    }

    /// Begins the run of an agent that is yet to be asked, or resumes it.
    fn begin(&self, place: &RunPlace) -> anyhow::Result<RunLog<KnownJudgement>> {
        let (plan, args) = (self.plan()?, self.report);
        // What is wrong with options and outputs is said before anybody is asked.
        self.report_options(&plan)?;
        let (_, outputs) = PageFiles::begin(&args.outputs)?;
        drop(ResultFiles::create(&outputs, &args.aggregates, &args.statistics)?);
        let evaluation = self.open(&plan)?;
        // Judges warn when they are at work.
        let judges = self.ask.judges(self.settings, &plan.profile, None, true)?;
        let log = self.open_log(&evaluation, place, judges.as_ref())?;
        log.context("the run of an agent is kept in a folder")
    }

    /// Scores what an agent answered before asking stopped, into the folder of its run. Nobody is
    /// asked, and the run stays unfinished.
    fn keep_unfinished(&self, log: &RunLog<KnownJudgement>) -> anyhow::Result<()> {
        let plan = self.plan()?;
        let evaluation = self.open(&plan)?.answered();
        let judges = self.ask.judges(self.settings, &plan.profile, None, true)?;
        let mut files = ResultFiles::default();
        files.keep_in(log.folder()).map_err(|error| Outside(error.into()))?;
        let judging = Judging { judges: judges.as_ref(), log: Some(log) };
        evaluation.score_unfinished(judging, files).map_err(|error| Outside(error.into()))?;
        if !self.report.quiet {
            let n_answers = count(evaluation.n_cases(), "answer");
            let folder = log.place();
            output::print_note(&format!(
                "results of {n_answers} are in {folder}; no answer was judged, and no other output was written"
            ));
        }
        Ok(())
    }

    /// The same in a place, with the log of a run that has begun already, if there is one.
    fn run_in(
        &self,
        place: &RunPlace,
        begun: Option<RunLog<KnownJudgement>>,
    ) -> anyhow::Result<Exit> {
        let args = self.report;
        anyhow::ensure!(
            !args.explain || !args.outputs.is_empty() || *place != RunPlace::Nowhere,
            "--explain: there are no results to explain\n  hint: write them with -o FILE, or keep the run with --run FOLDER"
        );
        let plan = self.plan()?;
        let reports = self.report_options(&plan)?;
        let evaluation = self.open(&plan)?;
        let recorded = self.recorded.clone();
        let judges = self.ask.judges(self.settings, &plan.profile, recorded, args.quiet)?;
        let judges = judges.as_ref();
        if self.ask.dry_run {
            return self.count_calls(&evaluation, judges);
        }
        let (pages, outputs) = PageFiles::begin(&args.outputs)?;
        let mut files = ResultFiles::create(&outputs, &args.aggregates, &args.statistics)?;
        if let Some(name) = &args.partial {
            files.add_partial(evaluation.begin_partial(name, judges)?);
        }
        let log = match begun {
            Some(log) => Some(log),
            None => {
                let log = self.open_log(&evaluation, place, judges)?;
                log.iter().filter(|_| !args.quiet).for_each(|log| print_place(log, place));
                log
            }
        };
        if let Some(log) = &log {
            files.keep_in(log.folder()).map_err(|error| Outside(error.into()))?;
        }
        let about = (reports.name.as_str(), self.about(judges));
        let page = EvalPage::begin(pages, log.as_ref(), about, &mut files)?;
        files.report_as(reports);
        let problems = all_problems(&evaluation);
        if !args.quiet {
            output::warn_all(&problems);
            evaluation.warnings().iter().for_each(warn);
        }
        let interrupt = Interrupt::listen(|| std::process::exit(Exit::OutsideFailed as i32));
        let mut progress = Progress::new(args.quiet, ["question", "questions"]);
        let judging = Judging { judges, log: log.as_ref() };
        let outcome = evaluation.run(judging, files, &interrupt, |event| progress.update(event));
        progress.end();
        if let Some(news) = log.as_ref().and_then(RunLog::news).filter(|_| !args.quiet) {
            output::print_note(&news);
        }
        let exit = match outcome {
            Ok(outcome) => {
                let replies = replies(self.settings.clone(), self.ask.cache.clone());
                page.write(args, &replies, &plan, &outcome.product)?;
                self.report(&evaluation, outcome, &problems, judges)?
            }
            Err(EvaluationError::InterruptedJudging { n_unfinished }) => {
                let n_all = evaluation.n_cases();
                let n_done = n_all - n_unfinished;
                print_unfinished(n_done, n_all, cache_of(judges), log.as_ref());
                Exit::OutsideFailed
            }
            Err(error) => return Err(Outside(error.into()).into()),
        };
        std::mem::forget(evaluation);
        Ok(exit)
    }

    /// Prints the summary and warnings, and returns how the command ends.
    fn report(
        &self,
        evaluation: &Evaluation<'_>,
        outcome: Outcome<Totals>,
        problems: &Problems,
        judges: Option<&Judges>,
    ) -> Result<Exit, Outside> {
        let summary =
            Summary { args: self.report, evaluation, outcome: &outcome, graph: self.graph };
        summary.print(problems)?;
        let kind = outcome.product.statistics.kind;
        GateArgs::tell_unchecked(&evaluation.plan.gates, kind, RunCount::One);
        let exit = self.gate.report(&outcome.product.gates);
        if !self.report.quiet {
            outcome.warnings.iter().for_each(warn);
            if judges.is_none() && !self.ask.no_model && evaluation.answers.have_answers() {
                output::print_note(NOT_JUDGED);
            }
        }
        let exit = self.report_failures(&outcome.judgements, judges).unwrap_or(exit);
        std::mem::forget(outcome);
        Ok(exit)
    }

    /// Builds the plan from settings and arguments.
    fn plan(&self) -> anyhow::Result<Plan> {
        let mut plan = self.settings.plan();
        plan.threads = self.report.jobs.map_or(plan.threads, NonZero::get);
        plan.repeated_ids = self.repeated_ids;
        plan.limit = self.limit;
        plan.kept_below = Some(KEPT_BELOW);
        plan.shard = self.report.shard;
        plan.explain = self.report.explain;
        plan.calibrations = load_calibrations(&self.settings.judge.calibration)?;
        self.gate.add_to(&mut plan)?;
        Ok(plan)
    }

    fn report_options(&self, plan: &Plan) -> anyhow::Result<ReportOptions> {
        let asked = self.subject.map(|subject| subject.name);
        let name = self.run.name.as_deref().or(asked).unwrap_or(self.responses.name()).to_owned();
        let threshold = self.report.junit.threshold(|metric| plan.has_metric(metric))?;
        Ok(ReportOptions { name, threshold })
    }

    /// Says what is judged and by whom, for reports.
    fn about(&self, judges: Option<&Judges>) -> Vec<(String, String)> {
        let profile = match self.settings.profile {
            Some(juror_run::ProfileNumber::Six) => "profile 6",
            Some(juror_run::ProfileNumber::Five) | None => "profile 5",
        };
        let judge = judges.map(|judges| judges.models.chat_name().to_owned());
        let told = [
            Some(("reference", self.reference.name().to_owned())),
            self.graph.map(|graph| ("graph", graph.about.clone())),
            Some(match self.subject {
                Some(subject) => ("agent", subject.name.to_owned()),
                None => ("responses", self.responses.name().to_owned()),
            }),
            Some(("rules", profile.to_owned())),
            Some(("judged by", judge.unwrap_or_else(|| "rules alone, no model".to_owned()))),
        ];
        told.into_iter().flatten().map(|(key, value)| (key.to_owned(), value)).collect()
    }

    fn open<'e>(&'e self, plan: &'e Plan) -> anyhow::Result<Evaluation<'e>> {
        let inputs = Inputs { reference: self.reference, responses: self.responses };
        Evaluation::open(plan, inputs).map_err(|unreadable| {
            if FileKind::of(self.reference) == Some(FileKind::Responses) {
                return anyhow::anyhow!(
                    "{}: this looks like responses\n  hint: the reference comes first: juror eval REFERENCE RESPONSES",
                    self.reference.name()
                );
            }
            unreadable.first().into()
        })
    }

    /// Prints the calls that judging would make.
    fn count_calls(
        &self,
        evaluation: &Evaluation<'_>,
        judges: Option<&Judges>,
    ) -> anyhow::Result<Exit> {
        let Some(judges) = judges else {
            output::print_data("no model is configured: nothing would be asked\n")?;
            return Ok(Exit::Done);
        };
        let tally = evaluation.count_calls(judges)?;
        if self.report.json {
            let json = serde_json::to_string_pretty(&model_args::json_calls(&tally));
            output::print_data(&format!("{}\n", json.unwrap_or_default()))?;
            return Ok(Exit::Done);
        }
        let total = tally.total();
        output::print_data(&calls_table(&model_args::rows(&tally), output::palette()))?;
        let cost = if total.priced {
            format!("about {:.4} USD", total.usd)
        } else {
            "the price of a model is not known (see llm.prices)".into()
        };
        output::print_data(&format!(
            "\n{} would be sent, {} known already; {cost}\nEstimated at 4 characters per token and 200 tokens per reply. Nothing was sent.\n",
            count(usize::try_from(total.counted).unwrap_or(usize::MAX), "call"),
            total.known
        ))?;
        Ok(Exit::Done)
    }

    fn open_log(
        &self,
        evaluation: &Evaluation<'_>,
        place: &RunPlace,
        judges: Option<&Judges>,
    ) -> anyhow::Result<Option<RunLog<KnownJudgement>>> {
        let options = RunOptions {
            place,
            resume: self.run.resume(self.ask.retry_errors),
            name: self.run.name.as_deref(),
            command: self.line,
            settings: self.settings,
            judges,
            subject: self.subject,
        };
        let quiet = self.report.quiet;
        let tell = |notice: &Notice| {
            if !quiet {
                output::print_note(&notice.to_string());
            }
        };
        Ok(evaluation.open_log(&options, tell)?)
    }

    /// Prints what results lack because models failed, and returns how the command then ends.
    fn report_failures(&self, judgements: &Judgements, judges: Option<&Judges>) -> Option<Exit> {
        let cache = cache_of(judges);
        if let Some(stop) = &judgements.stopped {
            model_args::print_stop(stop, cache);
            return Some(Exit::OutsideFailed);
        }
        let failures = judgements.failures()?;
        let hint = self.after_failures(&failures, cache);
        output::print_note(&format!(
            "error: {failures}\n  hint: {hint}; the `_error` keys of the results have all reasons"
        ));
        Some(Exit::OutsideFailed)
    }

    /// Returns what to do after models failed.
    fn after_failures(&self, failures: &ModelFailures, cache: Option<&str>) -> String {
        if failures.is_replay {
            return "judge again with a key, then export the replies again".to_owned();
        }
        let more_time = if failures.is_late { model_args::MORE_TIME } else { "" };
        let then = if failures.is_late { ", then " } else { "" };
        let place = self.run.place(self.settings);
        let is_kept = self.subject.is_some() || place.is_ok_and(|own| own != RunPlace::Nowhere);
        let retry = if is_kept { " with --retry-errors" } else { "" };
        let kept = if cache.is_some() { "; replies received so far are kept" } else { "" };
        format!("{more_time}{then}run the same command again{retry}{kept}")
    }
}

/// Returns the location of the judges' kept replies.
fn cache_of(judges: Option<&Judges>) -> Option<&str> {
    judges.and_then(|judges| judges.cache.as_deref())
}

/// Prints a warning about an evaluation.
fn warn(warning: &Warning) {
    output::warn(&warning.notice().to_string());
}

/// Returns the oddities of both inputs.
fn all_problems(evaluation: &Evaluation<'_>) -> Problems {
    let mut problems = evaluation.reference_problems().clone();
    problems.extend(evaluation.response_problems());
    problems
}

/// Loads both files, concurrently unless one of them is standard input.
fn load_both(args: &EvalArgs, responses: &str) -> anyhow::Result<(Document, Document)> {
    anyhow::ensure!(
        !(args.reference == "-" && responses == "-"),
        "only one of REFERENCE and RESPONSES can be standard input"
    );
    if holds_trace(responses)? {
        let reference = load(&args.reference)?;
        let (responses, told) = args.trace.responses(responses, &reference)?;
        if !args.report.quiet {
            output::print_note(told.trim_end());
        }
        return Ok((reference, responses));
    }
    let (reference, responses) = thread::scope(|scope| {
        let reference = scope.spawn(|| load(&args.reference));
        let responses = load(responses);
        (reference.join(), responses)
    });
    let reference = reference.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    Ok((reference?, responses?))
}
