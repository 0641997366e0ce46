//! Evaluates on threads that do not use Python.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, SyncSender};
use std::thread::{self, JoinHandle};

use juror_document::{Document, Problems, Spelling};
use juror_files::{Lent, LoadError};
use juror_models::Tell;
use juror_run::{
    AskOptions, Environment, Evaluation, EvaluationError, Event, Inputs, Interrupt, Judgements,
    Judges, Judging, Outcome, Plan, Settings, Unreadable, Warning, judges,
};

use crate::build_plan::{BuildPlan, Documents};
use crate::build_sink::BuildSink;
use crate::input::Source;
use crate::lazy_results::Unbuilt;
use crate::problem::{InputProblem, Refusal};

/// The inputs and options of an evaluation.
pub(crate) struct Work {
    pub(crate) reference: Loading,
    pub(crate) responses: Source,
    pub(crate) how: How,
    /// Set when the texts of the inputs are no longer needed.
    pub(crate) unwanted: Interrupt,
}

/// A document being loaded on a thread of its own.
///
/// The thread is started by whoever starts the engine, not by the engine. With two processors, one
/// is still busy with the starting thread, and a thread started by the engine would wait behind it.
pub(crate) struct Loading {
    is_file: bool,
    thread: JoinHandle<Loaded>,
}

/// A document, and what must be kept of its file.
type Loaded = Result<(Document, Option<Lent>), LoadError>;

impl Loading {
    pub(crate) fn begin(source: Source) -> io::Result<Loading> {
        let is_file = source.is_file();
        let thread = thread::Builder::new().name("juror".into()).spawn(|| source.document())?;
        Ok(Loading { is_file, thread })
    }

    fn wait(self) -> Loaded {
        self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

/// The options of an evaluation.
pub(crate) struct How {
    /// Objects of the reference that could not be read.
    pub(crate) problems: Vec<InputProblem>,
    pub(crate) settings: Settings,
    pub(crate) plan: Plan,
    /// Whether models may be asked.
    pub(crate) may_ask: bool,
    pub(crate) wants_progress: bool,
    pub(crate) interrupt: Interrupt,
}

/// A message from the engine while it works.
pub(crate) enum Message {
    /// A line for the log.
    Log {
        text: String,
        /// Whether something failed.
        is_failure: bool,
    },
    /// The progress.
    Event(Event),
    /// The documents that plans refer to.
    Documents(Documents),
    /// A plan for the next results.
    Results(BuildPlan),
    /// Everything is done. Results of files are not built yet.
    Done(Option<Box<Unbuilt>>),
    /// The evaluation was interrupted.
    Interrupted,
    /// The evaluation could not start, or failed.
    Refused(Refusal),
}

/// The channel for messages.
#[derive(Clone, Copy)]
struct Messages<'m>(&'m SyncSender<Message>);

impl Messages<'_> {
    /// Sends a message; returns whether the receiver still exists.
    fn send(self, message: Message) -> bool {
        self.0.send(message).is_ok()
    }

    fn log(self, text: String, is_failure: bool) {
        // If the receiver is gone, nobody needs the line.
        self.send(Message::Log { text, is_failure });
    }
}

/// Does the work, and sends everything as messages. Ends early if it is interrupted or the receiver
/// is gone. When all is done, keeps the texts that results of files need.
pub(crate) fn run(
    work: Work,
    messages: &SyncSender<Message>,
    used: &Receiver<BuildPlan>,
    texts: &Sender<Result<Documents, LoadError>>,
) {
    let Work { reference, responses, how, unwanted } = work;
    let messages = Messages(messages);
    let outcome = load_both(reference, responses).and_then(|(documents, lent)| {
        let check = || [&lent.0, &lent.1].into_iter().flatten().try_for_each(Lent::check);
        // If a file was truncated, that is the cause of whatever went wrong.
        let is_done = evaluate(how, &documents, &check, messages, used)
            .map_err(|refusal| check().map_or_else(Refusal::File, |()| refusal))?;
        Ok(is_done.then_some((documents, lent)))
    });
    match outcome {
        // Only results of two files are built later.
        Ok(Some((documents, _))) if !documents.are_both_files() => {}
        Ok(Some((documents, lent))) => {
            // If the results were dropped, nobody waits for the texts.
            let _ = texts.send(keep(documents, lent, &unwanted));
        }
        Ok(None) => {
            messages.send(Message::Interrupted);
        }
        Err(refusal) => {
            messages.send(Message::Refused(refusal));
        }
    }
}

/// Evaluates everything; returns whether it finished.
fn evaluate(
    how: How,
    documents: &Documents,
    check: &dyn Fn() -> Result<(), LoadError>,
    messages: Messages<'_>,
    used: &Receiver<BuildPlan>,
) -> Result<bool, Refusal> {
    let How { problems, settings, plan, may_ask, wants_progress, interrupt } = how;
    let evaluation = open(documents, problems, &plan)?;
    if !messages.send(Message::Documents(documents.clone())) {
        return Ok(false);
    }
    let tell = |event| {
        // Waking another thread takes time, so the many events of scoring are sent only to those
        // who want progress.
        let is_sent = wants_progress || !matches!(event, Event::Done { .. });
        if is_sent && !messages.send(Message::Event(event)) {
            interrupt.set();
        }
    };
    let outcome = thread::scope(|scope| {
        // Looking for responses without a question takes a while, and does not affect scores.
        let warning = scope.spawn(|| log_warnings(&evaluation, documents, messages));
        let judges = if may_ask {
            // Users should know what is wrong before they pay.
            warning.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            make_judges(&settings, &plan, messages)?
        } else {
            None
        };
        let judging = Judging { judges: judges.as_ref(), log: None };
        let sink = BuildSink::new(documents, &plan, messages.0, used);
        match evaluation.run(judging, sink, &interrupt, tell) {
            Ok(outcome) => Ok(Some(outcome)),
            Err(EvaluationError::Interrupted | EvaluationError::InterruptedJudging { .. }) => {
                Ok(None)
            }
            Err(error) => Err(Refusal::Failed(error.to_string())),
        }
    })?;
    let Some(Outcome { product, judgements, warnings, .. }) = outcome else { return Ok(false) };
    check().map_err(Refusal::File)?;
    for warning in &warnings {
        messages.log(
            warning.notice().spelled(Spelling::Python),
            matches!(warning, Warning::TooLarge { .. }),
        );
    }
    log_failures(&judgements, messages);
    // Dropping the inputs takes a while, and nobody has to wait for it.
    Ok(messages.send(Message::Done(product)))
}

/// What must be kept of each input's file.
type BothLent = (Option<Lent>, Option<Lent>);

fn load_both(reference: Loading, responses: Source) -> Result<(Documents, BothLent), Refusal> {
    let are_files = (reference.is_file, responses.is_file());
    let responses = responses.document();
    let (reference, lent_reference) = reference.wait().map_err(Refusal::File)?;
    let (responses, lent_responses) = responses.map_err(Refusal::File)?;
    let documents =
        Documents { reference: Arc::new(reference), responses: Arc::new(responses), are_files };
    Ok((documents, (lent_reference, lent_responses)))
}

/// Returns the documents in memory of their own.
fn keep(
    mut documents: Documents,
    lent: BothLent,
    unwanted: &Interrupt,
) -> Result<Documents, LoadError> {
    let keep = |lent: Option<Lent>| lent.map(|lent| lent.keep(|| unwanted.is_set())).transpose();
    let (reference, responses) = thread::scope(|scope| {
        let reference = scope.spawn(|| keep(lent.0));
        let responses = keep(lent.1);
        (reference.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), responses)
    });
    if let Some(document) = reference? {
        documents.reference = Arc::new(document);
    }
    if let Some(document) = responses? {
        documents.responses = Arc::new(document);
    }
    Ok(documents)
}

fn open<'e>(
    documents: &'e Documents,
    problems: Vec<InputProblem>,
    plan: &'e Plan,
) -> Result<Evaluation<'e>, Refusal> {
    let inputs = Inputs { reference: &documents.reference, responses: &documents.responses };
    match Evaluation::open(plan, inputs) {
        Ok(evaluation) if problems.is_empty() => Ok(evaluation),
        Ok(_) => Err(Refusal::Dataset(problems, 0)),
        Err(unreadable) => Err(all_problems(unreadable, documents.are_files, problems)),
    }
}

/// Returns all problems of both inputs. An object that could not be read is `null` in the document,
/// and problems with that say nothing new.
fn all_problems(
    unreadable: Unreadable,
    are_files: (bool, bool),
    mut all: Vec<InputProblem>,
) -> Refusal {
    let of_objects: Vec<String> = all.iter().map(|problem| problem.path.clone()).collect();
    let is_new = |problem: &InputProblem| {
        !of_objects.iter().any(|path| problem.path.starts_with(path.as_str()))
    };
    let mut n_more = 0;
    let Unreadable { reference, responses } = unreadable;
    for (problems, is_file) in [(reference, are_files.0), (responses, are_files.1)] {
        let Some(problems) = problems else { continue };
        let located = problems.errors.iter().map(|error| InputProblem::of(error, is_file));
        all.extend(located.filter(is_new));
        n_more += problems.n_more;
    }
    Refusal::Dataset(all, n_more)
}

/// Logs oddities of the inputs.
fn log_warnings(evaluation: &Evaluation<'_>, documents: &Documents, messages: Messages<'_>) {
    let (is_file, responses_are_file) = documents.are_files;
    log_problems(evaluation.reference_problems(), is_file, messages);
    log_problems(&evaluation.response_problems(), responses_are_file, messages);
    for warning in &evaluation.warnings() {
        messages.log(warning.notice().spelled(Spelling::Python), false);
    }
}

fn log_problems(problems: &Problems, is_file: bool, messages: Messages<'_>) {
    for kind in problems.folded(Problems::FEW) {
        for error in &kind.first {
            messages.log(InputProblem::of(error, is_file).to_string(), false);
        }
        if kind.n_more > 0 {
            messages.log(format!("and {} more like this", kind.n_more), false);
        }
    }
}

fn make_judges(
    settings: &Settings,
    plan: &Plan,
    messages: Messages<'_>,
) -> Result<Option<Judges>, Refusal> {
    let sender = messages.0.clone();
    let tell: Tell = Arc::new(move |text: &str| Messages(&sender).log(text.to_owned(), false));
    if let Some(word) = settings.word_on_profile() {
        tell(&word.spelled(Spelling::Python));
    }
    let environment = Environment::read(|problem| tell(problem));
    judges(settings, &plan.profile, &environment, AskOptions::default(), tell)
        .map_err(|error| Refusal::setup(&error.0))
}

/// Logs what models failed to do.
fn log_failures(judgements: &Judgements, messages: Messages<'_>) {
    if let Some(stop) = &judgements.stopped {
        messages.log(format!("{stop}; nothing more was asked"), true);
    }
    if let Some(failures) = judgements.failures() {
        let where_to_look = "the `_error` keys of the results have all reasons";
        messages.log(format!("{failures}; {where_to_look}"), true);
    }
}
