//! `juror eval`: judge recorded answers.

use std::thread;

use clap::Args;
use juror_document::{Document, Problems};
use juror_models::{Recorded, Stop};
use juror_report::{
    Format, Highlights, WorstQuestion, calls_table, render_aggregates, summary, text_of_json,
};
use juror_run::{
    Docket, Input as RunInput, Interrupt, Judged, Judgements, Judges, Outcome, Output, OutputError,
    Plan, Resume, RunFolder, RunInfo, Settings, evaluate, judge_all, load, tell_too_large,
};
use juror_score::read::{Dataset, Responses, read_both};
use juror_score::{
    Case, Ending, Finding, Judgement, KeyPart, Miss, Question, Record, Unmet, explain, score,
};
use serde::Serialize;
use serde_json::value::RawValue;

use super::ask::{self, AskArgs, parse_count};
use super::gate::{self, GateArgs};
use super::validate::{Kind, kind_of};
use super::{RuleArgs, boolish, check_outputs, count, profile_name, title};
use crate::exit::{Exit, Outside};
use crate::output;
use crate::progress::Progress;

const EXAMPLES: &str = "\
Examples:
  Scores at a glance, the worst questions and why each missed:
    juror eval reference.yaml responses.jsonl

  The same to files, by the rules of the library's newer release:
    juror eval reference.json responses.jsonl --profile 6 -o results.json -a aggregates.yaml

  Results that say of every expected step why it was missed:
    juror eval reference.yaml responses.jsonl -o results.json --explain

  With a model (OPENAI_API_KEY, or llm: in settings) answers are judged too. What would it cost?
    juror eval reference.yaml responses.jsonl -c juror.yaml --dry-run

  A long judged run that can be interrupted and resumed by the same command:
    juror eval reference.yaml responses.jsonl -c juror.yaml --run runs/monday

  In a pipeline: fail when fewer than 90 % of the steps are found:
    my-agent --answers | juror eval reference.yaml - --fail-under steps_score=0.9

REFERENCE is a list of templates in YAML or JSON, or a template or question a line (JSONL).
RESPONSES is a JSON object by question id, a JSON list, or one response a line (JSONL).
Both may be compressed (.gz, .zst); - is standard input.";

/// Judge recorded answers: scores per question, statistics, and a summary.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct EvalArgs {
    /// Reference questions with expected answers and steps.
    #[arg(value_name = "REFERENCE")]
    reference: String,

    /// What the system answered, and the steps it took.
    #[arg(value_name = "RESPONSES")]
    responses: String,

    #[command(flatten)]
    rules: RuleArgs,

    #[command(flatten)]
    report: ReportArgs,

    #[command(flatten)]
    gate: GateArgs,

    #[command(flatten)]
    ask: AskArgs,

    #[command(flatten)]
    run: RunArgs,
}

/// Where a run is kept.
#[derive(Args, Clone, Default)]
#[command(next_help_heading = "Runs")]
pub(super) struct RunArgs {
    /// Keep the run in this folder: the same command goes on with a run that was cut off. One that
    /// is finished is refused, unless --fresh or --retry-errors is given.
    #[arg(long = "run", value_name = "FOLDER", env = "JUROR_RUN")]
    folder: Option<String>,

    /// Begin the run anew, in place of the one that the folder holds.
    #[arg(long, env = "JUROR_FRESH", value_parser = boolish(), requires = "folder",
        conflicts_with_all = ["resume_changed", "retry_errors"])]
    fresh: bool,

    /// Go on with a run though settings or inputs have changed.
    #[arg(long, env = "JUROR_RESUME_CHANGED", value_parser = boolish(), requires = "folder")]
    resume_changed: bool,
}

/// What is made of the judged questions.
#[derive(Args, Default)]
pub(super) struct ReportArgs {
    /// Write results here; the ending picks the format (.json .jsonl .yaml .tsv). May repeat.
    #[arg(short, long = "output", value_name = "FILE", env = "JUROR_OUTPUT")]
    outputs: Vec<String>,

    /// Write aggregates here, formats as for results. May repeat.
    #[arg(short, long = "aggregates", value_name = "FILE", env = "JUROR_AGGREGATES")]
    aggregates: Vec<String>,

    /// Say in the results why each expected step was missed: in its `missed`.
    #[arg(long, env = "JUROR_EXPLAIN", value_parser = boolish(), requires = "outputs")]
    explain: bool,

    /// How many of the worst questions the summary explains.
    #[arg(long, value_name = "N", default_value_t = 5, env = "JUROR_WORST")]
    worst: usize,

    /// How many threads judge; all cores by default.
    #[arg(short = 'j', long, value_name = "N", env = "JUROR_JOBS", value_parser = parse_count::<std::num::NonZero<usize>>)]
    jobs: Option<std::num::NonZero<usize>>,

    /// Print the summary as JSON.
    #[arg(long, env = "JUROR_JSON", value_parser = boolish())]
    json: bool,

    /// Print errors only.
    #[arg(short, long, env = "JUROR_QUIET", value_parser = boolish())]
    quiet: bool,
}

impl ReportArgs {
    /// A summary that explains every question that is not perfect.
    pub(super) fn summary_only(json: bool) -> ReportArgs {
        ReportArgs { worst: usize::MAX, json, ..ReportArgs::default() }
    }
}

pub(super) fn run(args: &EvalArgs) -> anyhow::Result<Exit> {
    let inputs = [&args.reference, &args.responses];
    let outputs = args.report.outputs.iter().chain(&args.report.aggregates);
    check_outputs(inputs.into_iter().chain(&args.rules.config), outputs, args.report.json)?;
    let settings = args.rules.settings()?;
    let (reference, responses) = load_both(&args.reference, &args.responses)?;
    let work = Work {
        reference: &reference,
        responses: &responses,
        settings: &settings,
        report: &args.report,
        gate: &args.gate,
        ask: &args.ask,
        run: &args.run,
        recorded: None,
    };
    let exit = work.judge();
    // The program ends here: the system takes everything back faster than we could hand it back.
    std::mem::forget((reference, responses));
    exit
}

/// Everything an evaluation is made of.
pub(super) struct Work<'w> {
    pub(super) reference: &'w Document,
    pub(super) responses: &'w Document,
    pub(super) settings: &'w Settings,
    pub(super) report: &'w ReportArgs,
    pub(super) gate: &'w GateArgs,
    pub(super) ask: &'w AskArgs,
    pub(super) run: &'w RunArgs,
    /// Replies to use in place of any model.
    pub(super) recorded: Option<Recorded>,
}

impl Work<'_> {
    /// Judges one file by another; everything that can be wrong with them is told before any work.
    pub(super) fn judge(&self) -> anyhow::Result<Exit> {
        let (reference, responses, args) = (self.reference, self.responses, self.report);
        let mut plan = self.settings.plan();
        if let Some(jobs) = args.jobs {
            plan.threads = jobs.get();
        }
        plan.explain = args.explain;
        let gates = self.gate.gates(&plan)?;
        let (mut dataset, answers) = match read_both(reference, responses, plan.threads) {
            (Ok(dataset), Ok(answers)) => (dataset, answers),
            _ if kind_of(reference) == Some(Kind::Responses) => anyhow::bail!(
                "{}: this looks like responses\n  hint: the reference comes first: juror eval REFERENCE RESPONSES",
                reference.name()
            ),
            (dataset, answers) => (dataset?, answers?),
        };
        dataset.heed(reference, &plan.profile);
        let recorded = self.recorded.clone();
        let judges = self.ask.judges(self.settings, &plan.profile, recorded, args.quiet)?;
        if self.ask.dry_run {
            return self.count_calls(judges.as_ref(), &plan, &dataset, &answers);
        }
        let mut outputs = create_all(&args.outputs)?;
        let aggregate_files = create_all(&args.aggregates)?;
        let mut folder = self.open_run(judges.as_ref())?;
        let problems = problems_to_tell(&dataset, &answers, responses);
        if !args.quiet {
            output::warn_all(&problems);
            if dataset.questions.is_empty() {
                output::warn(&format!("{}: the dataset has no questions", reference.name()));
            } else if !dataset.questions.iter().any(|question| answers.has(question)) {
                output::warn(&format!("{}: no response answers a question", responses.name()));
            }
        }
        let interrupt = Interrupt::listen(|| std::process::exit(Exit::OutsideFailed as i32));
        let mut progress = Progress::new(args.quiet, ["question", "questions"]);
        let judgements = match &judges {
            None => Judgements::default(),
            Some(judges) => {
                let docket = docket(judges, &plan, &dataset, &answers);
                let tell = |event| progress.update(event);
                judge_all(&docket, folder.as_mut(), &interrupt, tell)
                    .map_err(|error| Outside(error.into()))?
            }
        };
        let cache = judges.as_ref().and_then(|judges| judges.cache.as_deref());
        if judgements.stopped == Some(Stop::Interrupted) {
            progress.end();
            self.tell_unfinished(&judgements, &dataset, cache);
            return Ok(Exit::OutsideFailed);
        }
        let evaluation = evaluate(
            &plan,
            &dataset,
            &answers,
            &judgements.of_questions,
            &mut outputs,
            &interrupt,
            |event| progress.update(event),
        );
        progress.end();
        let outcome = evaluation.map_err(|error| Outside(error.into()))?;
        finish(outputs, aggregate_files, &outcome).map_err(|error| Outside(error.into()))?;
        if let Some(run) = folder.as_mut().filter(|_| judgements.n_unfinished == 0) {
            run.complete().map_err(|error| Outside(error.into()))?;
        }
        let shown = Shown {
            args,
            plan: &plan,
            dataset: &dataset,
            answers: &answers,
            outcome: &outcome,
            judgements: &judgements,
            unmet: gates.unmet(&outcome.aggregates.micro),
        };
        shown.print(&problems)?;
        let exit = gate::pass(&shown.unmet);
        if !args.quiet {
            let (all, limits) = (&outcome.judged, &plan.profile.limits);
            let explain = "`--explain`";
            if let Some(word) = tell_too_large(all, &dataset, &answers, limits, explain) {
                output::warn(&word);
            }
            self.tell_unjudged(&judgements, judges.is_some(), &dataset, &answers);
        }
        std::mem::forget((dataset, answers, outcome));
        Ok(self.incomplete(&judgements, cache).unwrap_or(exit))
    }

    /// Prints what asking would take.
    fn count_calls(
        &self,
        judges: Option<&Judges>,
        plan: &Plan,
        dataset: &Dataset<'_>,
        answers: &Responses<'_>,
    ) -> anyhow::Result<Exit> {
        let Some(judges) = judges else {
            output::print_data("no model is configured: nothing would be asked\n")?;
            return Ok(Exit::Done);
        };
        let docket = docket(judges, plan, dataset, answers);
        let counted = judge_all(&docket, None, &Interrupt::default(), |_| {})?;
        if self.report.json {
            let json = serde_json::to_string_pretty(&ask::json_calls(&counted.tally));
            output::print_data(&format!("{}\n", json.unwrap_or_default()))?;
            return Ok(Exit::Done);
        }
        let total = counted.tally.total();
        output::print_data(&calls_table(&ask::rows(&counted.tally), output::palette()))?;
        let cost = if total.priced {
            format!("about {:.4} USD", total.usd)
        } else {
            "the price of a model is not known (see llm.prices)".into()
        };
        output::print_data(&format!(
            "\n{} would be sent, {} known already; {cost}\nA token is taken for 4 characters and a reply for 200 tokens. Nothing was sent.\n",
            count(usize::try_from(total.counted).unwrap_or(usize::MAX), "call"),
            total.known
        ))?;
        Ok(Exit::Done)
    }

    fn open_run(&self, judges: Option<&Judges>) -> anyhow::Result<Option<RunFolder>> {
        let Some(folder) = &self.run.folder else { return Ok(None) };
        let input = |document: &Document| RunInput::new(document.name(), document.json());
        let info = RunInfo {
            reference: input(self.reference),
            responses: input(self.responses),
            judges: judges.map(|judges| judges.identity.clone()).unwrap_or_default(),
            aspects: judges.map(|judges| judges.panel.aspects()).unwrap_or_default(),
            settings: self.settings.written.clone(),
        };
        let resume = Resume {
            fresh: self.run.fresh,
            retry_errors: self.ask.retry_errors,
            even_if_changed: self.run.resume_changed,
        };
        let run = RunFolder::open(folder, &info, resume)?;
        if run.n_done() > 0 && !self.report.quiet {
            let done = count(run.n_done(), "question");
            output::print_note(&format!("going on with {folder}: {done} judged already"));
        }
        Ok(Some(run))
    }

    fn tell_unfinished(&self, judgements: &Judgements, dataset: &Dataset<'_>, cache: Option<&str>) {
        let n_all = dataset.questions.len();
        let n_done = n_all - judgements.n_unfinished;
        output::print_note(&format!(
            "{n_done} of {n_all} questions are judged; no output was written"
        ));
        ask::print_stop(&Stop::Interrupted, cache.or(self.run.folder.as_deref()));
    }

    /// Says what the means leave out, and that answers are not judged without a model.
    fn tell_unjudged(
        &self,
        judgements: &Judgements,
        is_judged: bool,
        dataset: &Dataset<'_>,
        answers: &Responses<'_>,
    ) {
        if !is_judged && !self.ask.no_model && answers.have_answers() {
            output::print_note(
                "no model is configured: answers are not judged (docs/models.md says how)",
            );
        }
        // A question that ended in an error is counted as one already.
        let is_unjudged = |(judgement, question): &(&Judgement, &Question<'_>)| {
            !answers.of(question).ending.is_error() && judgement.has_failure()
        };
        let judged = judgements.of_questions.iter().zip(&dataset.questions);
        let n_unjudged = judged.filter(is_unjudged).count();
        if n_unjudged > 0 && judgements.n_failed_outside == 0 {
            let questions = count(n_unjudged, "question");
            output::warn(&format!(
                "no verdict on something of {questions}: means are of the others; see the `_error` keys of the results"
            ));
        }
    }

    /// How a run ends that lacks something for a reason outside.
    fn incomplete(&self, judgements: &Judgements, cache: Option<&str>) -> Option<Exit> {
        if let Some(stop) = &judgements.stopped {
            ask::print_stop(stop, cache);
            return Some(Exit::OutsideFailed);
        }
        if judgements.n_failed_outside > 0 {
            let questions = count(judgements.n_failed_outside, "question");
            let reason = judgements.reason();
            let hint = if judgements.is_replay {
                "judge again with a key, and export the replies anew".to_owned()
            } else {
                let hint = ask::MORE_TIME;
                let more_time = judgements.is_late().then(|| format!("{hint}, then "));
                format!(
                    "{}run the same command again{}{}",
                    more_time.unwrap_or_default(),
                    if self.run.folder.is_some() { " with --retry-errors" } else { "" },
                    if cache.is_some() { "; replies that came are kept" } else { "" }
                )
            };
            output::print_note(&format!(
                "error: models failed on {questions}: {reason}\n  hint: {hint}; the `_error` keys of the results have all reasons"
            ));
            return Some(Exit::OutsideFailed);
        }
        None
    }
}

fn docket<'d>(
    judges: &'d Judges,
    plan: &'d Plan,
    dataset: &'d Dataset<'d>,
    responses: &'d Responses<'d>,
) -> Docket<'d> {
    Docket { judges, profile: &plan.profile, dataset, responses, threads: plan.threads }
}

/// Both files, at the same time unless one of them is standard input.
fn load_both(reference: &str, responses: &str) -> anyhow::Result<(Document, Document)> {
    anyhow::ensure!(
        !(reference == "-" && responses == "-"),
        "only one of REFERENCE and RESPONSES can be standard input"
    );
    let (reference, responses) = thread::scope(|scope| {
        let reference = scope.spawn(|| load(reference));
        let responses = load(responses);
        (reference.join(), responses)
    });
    let reference = reference.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    Ok((reference?, responses?))
}

fn create_all(names: &[String]) -> Result<Vec<Output>, OutputError> {
    names.iter().map(|name| Output::create(name)).collect()
}

/// What deserves a word but stops nothing.
fn problems_to_tell(
    dataset: &Dataset<'_>,
    answers: &Responses<'_>,
    responses: &Document,
) -> Problems {
    let mut problems = dataset.warnings.clone();
    problems.extend(answers.problems.clone());
    problems.extend(answers.unknown(responses, &dataset.questions));
    problems
}

/// Everything is written before anything takes its place, so that a failure leaves no mixture.
fn finish(
    outputs: Vec<Output>,
    mut aggregate_files: Vec<Output>,
    outcome: &Outcome,
) -> Result<(), OutputError> {
    for file in &mut aggregate_files {
        file.write(&render_aggregates(&outcome.aggregates, file.format))?;
    }
    let mut all: Vec<Output> = outputs.into_iter().chain(aggregate_files).collect();
    all.iter_mut().try_for_each(Output::flush)?;
    all.into_iter().try_for_each(Output::finish)
}

/// What the summary is made of.
struct Shown<'s> {
    args: &'s ReportArgs,
    plan: &'s Plan,
    dataset: &'s Dataset<'s>,
    answers: &'s Responses<'s>,
    outcome: &'s Outcome,
    judgements: &'s Judgements,
    unmet: Vec<Unmet>,
}

impl Shown<'_> {
    fn print(&self, problems: &Problems) -> Result<(), Outside> {
        let data_on_stdout =
            self.args.outputs.iter().chain(&self.args.aggregates).any(|name| name == "-");
        if self.args.json {
            // A summary of numbers and texts is always JSON.
            let json = serde_json::to_string_pretty(&self.json(problems)).unwrap_or_default();
            return output::print_data(&format!("{json}\n"));
        } else if !self.args.quiet && !data_on_stdout {
            return output::print_data(&summary(&self.highlights(), output::palette()));
        }
        Ok(())
    }

    fn highlights(&self) -> Highlights<'_> {
        let below = self.below_best();
        let worst = below.iter().take(self.args.worst).map(|judged| self.worst(judged)).collect();
        let n_missing = self
            .dataset
            .questions
            .iter()
            .filter(|question| matches!(self.answers.of(question).ending, Ending::Missing));
        let questions = count(self.dataset.questions.len(), "question");
        let mut title = title(&self.plan.profile, &questions, &self.outcome.aggregates);
        let n_missing = n_missing.count();
        if n_missing > 0 {
            title = format!("{title} ({n_missing} without a response)");
        }
        let n_more = below.len().saturating_sub(self.args.worst);
        let calls = ask::rows(&self.judgements.tally);
        Highlights { title, aggregates: &self.outcome.aggregates, worst, n_more, calls }
    }

    /// The questions that are not perfect, errors first, then by score.
    fn below_best(&self) -> Vec<&Judged> {
        let is_below = |judged: &&Judged| {
            let low = |score: Option<f64>| score.is_some_and(|score| score < 1.0);
            judged.is_error
                || judged.has_failure
                || low(judged.steps_score)
                || low(judged.answer_f1)
        };
        let mut below: Vec<&Judged> = self.outcome.judged.iter().filter(is_below).collect();
        let rank = |judged: &Judged| {
            let lowest = [judged.steps_score, judged.answer_f1].into_iter().flatten();
            let lowest = lowest.min_by(f64::total_cmp);
            if judged.is_error { -1.0 } else { lowest.unwrap_or(-0.5) }
        };
        below.sort_by(|a, b| rank(a).total_cmp(&rank(b)));
        below
    }

    /// A question that did not do well, scored again to tell why.
    fn worst(&self, judged: &Judged) -> WorstQuestion {
        let question = &self.dataset.questions[judged.index];
        let case = Case { question, trajectory: self.answers.of(question) };
        let judgement = self.judgements.of_questions.get(judged.index);
        let record = score(&case, &self.plan.profile).with(judgement);
        let reason = record.claims().and_then(|claims| claims.reason.clone()).unwrap_or_default();
        let error = match &case.trajectory.ending {
            Ending::Responded => failures_in_words(&record),
            Ending::Failed(message) => Some(text_of_json(message).into_owned()),
            Ending::Missing => Some("no response".into()),
        };
        WorstQuestion {
            id: question.id.to_string(),
            text: text_of_json(question.text.get()).into_owned(),
            is_error: judged.is_error,
            score: judged.steps_score.filter(|_| !judged.is_error),
            answer: judged.answer_f1.filter(|f1| *f1 < 1.0).map(|f1| (f1, reason)),
            error,
            misses: if judged.is_error { Vec::new() } else { explain(&record, &self.plan.profile) },
        }
    }

    fn json(&self, problems: &Problems) -> JsonSummary {
        let highlights = self.highlights();
        let aggregates = render_aggregates(&self.outcome.aggregates, Format::JsonLines);
        JsonSummary {
            profile: profile_name(&self.plan.profile),
            questions: self.dataset.questions.len(),
            errors: self.outcome.aggregates.micro.n_errors,
            warnings: problems.errors.iter().map(ToString::to_string).collect(),
            gates_not_met: self.unmet.iter().map(ToString::to_string).collect(),
            worst: highlights.worst.iter().map(JsonWorst::of).collect(),
            calls: ask::json_calls(&self.judgements.tally),
            aggregates: serde_json::from_slice(aggregates.trim_ascii()).unwrap_or_default(),
        }
    }
}

/// What could not be found out about a question: the first of what is computed, else all that
/// judges lack.
fn failures_in_words(record: &Record<'_>) -> Option<String> {
    let failure = |finding: &Finding| {
        let message = &finding.failure()?.message;
        Some(format!("{}: {message}", finding.aspect.name()))
    };
    let of_judge = |finding: &Finding| {
        let message = &finding.failure()?.message;
        Some(format!("{}: {message}", finding.aspect.key(KeyPart::Error)))
    };
    let judged: Vec<String> = record.judged().iter().filter_map(of_judge).collect();
    let computed = record.computed.iter().find_map(failure);
    computed.or((!judged.is_empty()).then(|| judged.join("; ")))
}

/// The summary for machines.
#[derive(Serialize)]
struct JsonSummary {
    profile: &'static str,
    questions: usize,
    errors: usize,
    warnings: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    gates_not_met: Vec<String>,
    worst: Vec<JsonWorst>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    calls: Vec<ask::JsonCalls>,
    aggregates: Box<RawValue>,
}

#[derive(Serialize)]
struct JsonWorst {
    question_id: String,
    steps_score: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    answer_f1: Option<f64>,
    error: Option<String>,
    misses: Vec<JsonMiss>,
}

#[derive(Serialize)]
struct JsonMiss {
    group: usize,
    step: usize,
    name: String,
    why: String,
}

impl JsonWorst {
    fn of(worst: &WorstQuestion) -> JsonWorst {
        let miss = |miss: &Miss| JsonMiss {
            group: miss.group,
            step: miss.expected,
            name: miss.name.clone(),
            why: miss.why.clone(),
        };
        JsonWorst {
            question_id: worst.id.clone(),
            steps_score: worst.score,
            answer_f1: worst.answer.as_ref().map(|(f1, _)| *f1),
            error: worst.error.clone(),
            misses: worst.misses.iter().map(miss).collect(),
        }
    }
}
