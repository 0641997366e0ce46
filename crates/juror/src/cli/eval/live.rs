//! `juror eval --agent`: asks a live agent every question, then judges its answers.
//!
//! One run holds both: `attempts.jsonl` gets a response the moment it exists, `records.jsonl` each
//! judgement. The agent stands for the responses in what identifies the run.

use std::num::NonZero;
use std::path::Path;

use juror_ask::{Asked, QuestionSelection, ResponseLog, select_questions};
use juror_document::{Document, Format};
use juror_files::load;
use juror_read::read_reference;
use juror_run::{KnownJudgement, Settings, SubjectIdentity};
use juror_runs::{RunFile, RunFolder, RunLog, RunLogError, RunPlace, read_manifest};
use serde_json::Value;

use super::super::live_args::{
    LiveWork, ask_all, error_of, is_done, start_first, start_if_needed, start_runtime, tell_errors,
};
use super::{EvalArgs, FreshReference, Work, print_place};
use crate::exit::{Exit, Outside};

/// How many questions are asked at a time, unless the user says.
const JOBS: usize = 4;

/// Asks an agent, and judges its answers.
pub(super) fn run(
    args: &EvalArgs,
    agent: &str,
    settings: &Settings,
    line: &[String],
) -> anyhow::Result<Exit> {
    anyhow::ensure!(
        !args.ask.dry_run,
        "--dry-run: what an agent answers is not known before it is asked\n  hint: record its answers with juror ask, and count the calls that judge them"
    );
    anyhow::ensure!(
        !args.trace.is_given(),
        "--map and --question-id are for traces, not for an agent that is asked\n  hint: --limit asks only the first questions; juror ask --question-id asks single ones"
    );
    anyhow::ensure!(
        !args.rerun_actual,
        "--rerun-actual is for responses that were recorded\n  hint: record the agent's answers with juror ask first"
    );
    // Loaded once, since it may be standard input.
    let given = load(&args.reference)?;
    let fresh = args.graph.is_given().then(|| FreshReference::ask(args, settings, &given));
    let mut fresh = fresh.transpose()?;
    fresh.iter_mut().try_for_each(|own| own.mark(None))?;
    let reference = fresh.as_ref().map_or(&given, FreshReference::document);
    let dataset = read_reference(reference)?;
    let limit = args.limit.map(NonZero::get);
    let wanted = QuestionSelection { limit, ..QuestionSelection::default() };
    let questions = select_questions(&dataset.questions, &wanted);
    let work = LiveWork {
        agent,
        name: args.run.name.as_ref(),
        args: &args.live,
        settings,
        models: args.ask.options(),
        jobs: args.report.jobs.map_or(JOBS, NonZero::get),
        quiet: args.report.quiet,
        line,
    };
    let questions = questions.map_err(|why| anyhow::anyhow!("{why}"))?;
    let runtime = start_runtime()?;
    let (questioning, name) = work.prepare(questions, &runtime)?;
    let identity = without_questions(questioning.identity());
    let subject = SubjectIdentity { name: &name, identity: &identity };
    let place = args.run.place_of_agent(settings);
    let named = match &place {
        RunPlace::Named(place) => Some(RunFolder::at(place)?),
        RunPlace::Within(_) | RunPlace::Nowhere => None,
    };
    let is_new = refuse_attempts(named.as_ref())?;
    let resume = args.run.resume(args.ask.retry_errors);
    if let (Some(folder), false, false) = (&named, is_new, resume.fresh) {
        ResponseLog::check(&RunFile::Attempts.path_in(folder.path()))?;
    }
    drop(named);
    let replaces = !is_new && (resume.fresh || resume.retry_errors);
    let questioning = start_first(questioning, &runtime, replaces)?;

    let nothing = Document::new(&name, Vec::new(), Format::JsonLines)?;
    let graph = fresh.as_ref().map(FreshReference::about);
    let of_agent = |work| Work { subject: Some(subject), limit, graph, ..work };
    let log = of_agent(args.work(reference, &nothing, settings, line)).begin(&place)?;
    let attempts = RunFile::Attempts.path_in(log.folder());
    let mut responses = ResponseLog::open_in(log.run_folder(), resume.fresh)?;
    if resume.retry_errors {
        responses.forget_errors();
    }
    let asked_for = questioning.questions().to_vec();
    let asked = start_if_needed(questioning, &runtime, &responses).and_then(|questioning| {
        // Without the agent, there is soon no folder either.
        if !args.report.quiet {
            print_place(&log, &place);
        }
        ask_all(questioning, &runtime, &responses, args.report.quiet)
    });
    let asked = match asked {
        Ok(asked) => asked,
        Err(error) => {
            drop(responses);
            discard_if_empty(log, is_new);
            return Err(error);
        }
    };
    let is_done = is_done(&asked);
    if is_done {
        responses.put_in_order(&asked_for).map_err(error_of)?;
    } else {
        drop(responses);
    }
    let responses = load(&attempts.display().to_string()).map_err(|error| Outside(error.into()))?;
    let work = of_agent(args.work(reference, &responses, settings, line));
    let models = is_done.then(|| left_to_spend(args, settings, &asked)).transpose();
    let Ok(Some(models)) = models else {
        if has_lines(&attempts) {
            work.keep_unfinished(&log)?;
        }
        return models.map(|_| Exit::OutsideFailed);
    };
    let blame = |fresh: &FreshReference| fresh.blame(args, settings, &responses);
    let blamed = fresh.as_ref().map(blame).transpose()?;
    let work = Work { ask: &models, graph: blamed.as_ref(), ..work };
    let exit = work.run_in(&place, Some(log))?;
    let mut is_incomplete = tell_errors(&asked);
    if let Some((fresh, graph)) = fresh.as_ref().zip(blamed.as_ref()) {
        fresh.tell_moved(graph, args.report.quiet);
        is_incomplete |= fresh.is_incomplete();
    }
    Ok(if is_incomplete { Exit::OutsideFailed } else { exit })
}

/// Returns what identifies the agent; the questions identify the reference.
fn without_questions(identity: &Value) -> Value {
    let mut identity = identity.clone();
    if let Some(parts) = identity.as_object_mut() {
        parts.remove("queries");
    }
    identity
}

/// Returns whether a place holds no run yet. Fails if it has a file of attempts all the same: it
/// belongs to somebody else.
fn refuse_attempts(named: Option<&RunFolder>) -> Result<bool, RunLogError> {
    let Some(folder) = named.map(RunFolder::path) else { return Ok(true) };
    let is_new = read_manifest(folder)?.is_none();
    let path = RunFile::Attempts.path_in(folder);
    if is_new && has_lines(&path) {
        let why = "there is no run.json beside it".to_owned();
        return Err(RunLogError::Damaged { path, line: 1, column: None, why });
    }
    Ok(is_new)
}

fn has_lines(path: &Path) -> bool {
    path.metadata().is_ok_and(|about| about.len() > 0)
}

/// Removes a new run in which nothing happened, so that an agent that could not be started leaves
/// nothing behind.
fn discard_if_empty(log: RunLog<KnownJudgement>, is_new: bool) {
    let journals = [RunFile::Attempts, RunFile::Records].map(|file| file.path_in(log.folder()));
    if is_new && !journals.iter().any(|path| has_lines(path)) {
        // A file that stays does no harm: the next run resumes it.
        let _ = log.discard();
    }
}

/// Returns the options for judging, with what the built-in agent spent taken off the limit on costs.
fn left_to_spend(
    args: &EvalArgs,
    settings: &Settings,
    asked: &Asked,
) -> anyhow::Result<super::ModelArgs> {
    let mut models = args.ask.clone();
    let most = models.max_cost.or(settings.llm.as_ref().and_then(|llm| llm.max_cost_usd));
    // What other agents say they cost is not Juror's money to count.
    let spent = asked.usd.filter(|_| args.agent.as_deref() == Some("chat"));
    if let (Some(most), Some(spent)) = (most, spent) {
        if spent >= most {
            let why = "the agent reached the cost limit\n  hint: run the same command with a higher --max-cost to have its answers judged";
            return Err(Outside(anyhow::anyhow!(why)).into());
        }
        models.max_cost = Some(most - spent);
    }
    Ok(models)
}
