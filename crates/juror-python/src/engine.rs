//! Judging, on threads that know nothing of Python.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, SyncSender};
use std::thread::{self, JoinHandle};

use juror_document::{Document, Problems};
use juror_models::{Stop, Tell};
use juror_report::tell_result;
use juror_run::{
    AskOptions, Docket, EachRecord, Environment, EvaluateError, Event, Interrupt, Judged,
    Judgements, Judges, Lent, LoadError, Plan, Settings, judge_all, judges, tell_too_large,
};
use juror_score::read::{Dataset, Responses, read_both};
use juror_score::{Judgement, Limits, Record};

use crate::input::Source;
use crate::kept::Harvest;
use crate::problem::{Refusal, Told};
use crate::recipe::{Inputs, Recipe, Writer};

/// What is judged, and how.
pub(crate) struct Work {
    pub(crate) reference: Loading,
    pub(crate) responses: Source,
    pub(crate) how: How,
    /// Set when nobody wants the texts of the inputs any more.
    pub(crate) unwanted: Interrupt,
}

/// A document that a thread of its own loads.
///
/// It is begun by who begins the engine, and not by the engine: where there are two processors, one
/// is still busy with who began the engine, and a thread that the engine began would wait behind it.
pub(crate) struct Loading {
    is_file: bool,
    thread: JoinHandle<Loaded>,
}

/// A document, and what has to be kept of it.
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

/// How inputs are judged.
pub(crate) struct How {
    /// What could not be read of the objects of the reference.
    pub(crate) problems: Vec<Told>,
    pub(crate) settings: Settings,
    pub(crate) plan: Plan,
    /// Whether models may be asked.
    pub(crate) may_ask: bool,
    /// Whether somebody wants to know how far it has come.
    pub(crate) is_told: bool,
    pub(crate) interrupt: Interrupt,
}

/// How many recipes a thread may have written before the first of them is taken.
const AHEAD: usize = 16;

/// What the engine says while it works.
pub(crate) enum Message {
    /// Something users should know; `true` if something failed.
    Word(String, bool),
    /// How far it has come.
    Event(Event),
    /// What recipes speak of.
    Inputs(Inputs),
    /// The next results.
    Results(Recipe),
    /// What files came to, in place of results.
    Harvest(Box<Harvest>),
    /// All is done.
    Done,
    /// It ended because it was told to.
    Interrupted,
    /// It could not begin.
    Refused(Refusal),
}

/// Does the work, and says everything to `say`. Ends early when it is told to, and where nobody
/// listens to single results any more. When all is said, what results of files need is kept.
pub(crate) fn run(
    work: Work,
    say: &SyncSender<Message>,
    used: &Receiver<Recipe>,
    texts: &Sender<Result<Inputs, LoadError>>,
) {
    let Work { reference, responses, how, unwanted } = work;
    let outcome = load_both(reference, responses).and_then(|(inputs, lent)| {
        let check = || [&lent.0, &lent.1].into_iter().flatten().try_for_each(Lent::check);
        // Whatever is wrong with a file that was cut short, that is why.
        let is_done = judge(how, &inputs, &check, say, used)
            .map_err(|refusal| check().map_or_else(Refusal::File, |()| refusal))?;
        Ok(is_done.then_some((inputs, lent)))
    });
    // Where nobody listens, nobody misses it.
    match outcome {
        // Only results of two files are built later than now.
        Ok(Some((inputs, _))) if inputs.are_files != (true, true) => {}
        Ok(Some((inputs, lent))) => {
            let _ = texts.send(keep(inputs, lent, &unwanted));
        }
        Ok(None) => {
            send(say, Message::Interrupted);
        }
        Err(refusal) => {
            send(say, Message::Refused(refusal));
        }
    }
}

/// Judges everything; returns whether it came to its end, which is said then.
fn judge(
    how: How,
    inputs: &Inputs,
    check: &dyn Fn() -> Result<(), LoadError>,
    say: &SyncSender<Message>,
    used: &Receiver<Recipe>,
) -> Result<bool, Refusal> {
    let How { problems, settings, plan, may_ask, is_told, interrupt } = how;
    let (mut dataset, answers) = read_inputs(inputs, problems, plan.threads)?;
    dataset.heed(&inputs.reference, &plan.profile);
    if !send(say, Message::Inputs(inputs.clone())) {
        return Ok(false);
    }
    let (plan, dataset, responses) = (&plan, &dataset, &answers);
    let judgements = thread::scope(|scope| {
        // Looking for responses to no question takes a while, and scores do not depend on it.
        let teller = scope.spawn(|| tell_problems(dataset, responses, inputs, say));
        let judges = if may_ask {
            // Nobody should pay before knowing what is wrong.
            teller.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            make_judges(&settings, plan, say)?
        } else {
            None
        };
        let judgements = match &judges {
            None => Judgements::default(),
            Some(judges) => ask(judges, plan, dataset, responses, &interrupt, say)?,
        };
        if judgements.stopped == Some(Stop::Interrupted) {
            return Ok(None);
        }
        let scoring = Scoring { plan, dataset, responses, inputs, is_told };
        let is_done = scoring.run(&judgements.of_questions, &interrupt, say, used)?;
        Ok(is_done.then_some(judgements))
    })?;
    let Some(judgements) = judgements else { return Ok(false) };
    check().map_err(Refusal::File)?;
    tell_failures(&judgements, say);
    // Letting go of what was read takes a while, and nobody has to wait for it.
    Ok(send(say, Message::Done))
}

fn send(say: &SyncSender<Message>, message: Message) -> bool {
    say.send(message).is_ok()
}

/// What has to be kept of each input.
type BothLent = (Option<Lent>, Option<Lent>);

fn load_both(reference: Loading, responses: Source) -> Result<(Inputs, BothLent), Refusal> {
    let are_files = (reference.is_file, responses.is_file());
    let responses = responses.document();
    let (reference, lent_reference) = reference.wait().map_err(Refusal::File)?;
    let (responses, lent_responses) = responses.map_err(Refusal::File)?;
    let inputs =
        Inputs { reference: Arc::new(reference), responses: Arc::new(responses), are_files };
    Ok((inputs, (lent_reference, lent_responses)))
}

/// The inputs in memory of their own.
fn keep(mut inputs: Inputs, lent: BothLent, unwanted: &Interrupt) -> Result<Inputs, LoadError> {
    let keep = |lent: Option<Lent>| lent.map(|lent| lent.keep(unwanted)).transpose();
    let (reference, responses) = thread::scope(|scope| {
        let reference = scope.spawn(|| keep(lent.0));
        let responses = keep(lent.1);
        (reference.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), responses)
    });
    if let Some(document) = reference? {
        inputs.reference = Arc::new(document);
    }
    if let Some(document) = responses? {
        inputs.responses = Arc::new(document);
    }
    Ok(inputs)
}

fn read_inputs(
    inputs: &Inputs,
    told: Vec<Told>,
    n_threads: usize,
) -> Result<(Dataset<'_>, Responses<'_>), Refusal> {
    match read_both(&inputs.reference, &inputs.responses, n_threads) {
        (Ok(dataset), Ok(answers)) if told.is_empty() => Ok((dataset, answers)),
        (dataset, answers) => {
            let (reference, responses) = (dataset.err(), answers.err());
            Err(all_problems(reference, responses, inputs.are_files, told))
        }
    }
}

/// Everything wrong with both inputs. What could not be read as an object stands as `null` in its
/// place, and complaints about that say nothing new.
fn all_problems(
    reference: Option<Problems>,
    responses: Option<Problems>,
    are_files: (bool, bool),
    mut told: Vec<Told>,
) -> Refusal {
    let of_objects: Vec<String> = told.iter().map(|told| told.path.clone()).collect();
    let is_new = |told: &Told| !of_objects.iter().any(|path| told.path.starts_with(path.as_str()));
    let mut n_more = 0;
    let inputs = [(reference, are_files.0), (responses, are_files.1)];
    for (problems, is_file) in inputs.into_iter().filter_map(|(p, is_file)| Some((p?, is_file))) {
        told.extend(problems.errors.iter().map(|error| Told::of(error, is_file)).filter(is_new));
        n_more += problems.n_more;
    }
    Refusal::Dataset(told, n_more)
}

/// Says what deserves a word but stops nothing.
fn tell_problems(
    dataset: &Dataset<'_>,
    answers: &Responses<'_>,
    inputs: &Inputs,
    say: &SyncSender<Message>,
) {
    let tell = |problems: &Problems, is_file| {
        for kind in problems.folded(Problems::FEW) {
            for error in &kind.first {
                send(say, Message::Word(Told::of(error, is_file).to_string(), false));
            }
            if kind.n_more > 0 {
                let word = format!("and {} more like this", kind.n_more);
                send(say, Message::Word(word, false));
            }
        }
    };
    let (is_file, responses_are_file) = inputs.are_files;
    tell(&dataset.warnings, is_file);
    tell(&answers.problems, responses_are_file);
    tell(&answers.unknown(&inputs.responses, &dataset.questions), responses_are_file);
    let any_answer = dataset.questions.iter().any(|question| answers.has(question));
    if !dataset.questions.is_empty() && !any_answer {
        send(say, Message::Word("no response answers a question".into(), false));
    }
}

fn make_judges(
    settings: &Settings,
    plan: &Plan,
    say: &SyncSender<Message>,
) -> Result<Option<Judges>, Refusal> {
    let words = say.clone();
    let tell: Tell = Arc::new(move |word: &str| {
        send(&words, Message::Word(word.to_owned(), false));
    });
    settings.word_on_profile().into_iter().for_each(|word| tell(word));
    let environment = Environment::read(|problem| tell(problem));
    judges(settings, &plan.profile, &environment, AskOptions::default(), tell)
        .map_err(|error| Refusal::setup(&error.0))
}

fn ask(
    judges: &Judges,
    plan: &Plan,
    dataset: &Dataset<'_>,
    answers: &Responses<'_>,
    interrupt: &Interrupt,
    say: &SyncSender<Message>,
) -> Result<Judgements, Refusal> {
    let docket = Docket {
        judges,
        profile: &plan.profile,
        dataset,
        responses: answers,
        threads: plan.threads,
    };
    let tell = |event| {
        // Nobody waits for the outcome any more.
        if !send(say, Message::Event(event)) {
            interrupt.set();
        }
    };
    judge_all(&docket, None, interrupt, tell).map_err(|error| Refusal::Failed(error.to_string()))
}

/// Everything that is scored.
struct Scoring<'s> {
    plan: &'s Plan,
    dataset: &'s Dataset<'s>,
    responses: &'s Responses<'s>,
    inputs: &'s Inputs,
    /// Whether somebody wants to know how far it has come.
    is_told: bool,
}

impl Scoring<'_> {
    /// Scores all questions and sends how their results are built; returns whether it came to its
    /// end. Recipes that were used come back.
    fn run(
        &self,
        judgements: &[Judgement],
        interrupt: &Interrupt,
        say: &SyncSender<Message>,
        used: &Receiver<Recipe>,
    ) -> Result<bool, Refusal> {
        let Scoring { plan, dataset, responses, inputs, .. } = *self;
        let are_files = inputs.are_files == (true, true);
        let mut recipes = Vec::new();
        let each = EachRecord {
            plan,
            dataset,
            responses,
            judgements,
            new: Recipe::default,
            add: |record: &Record<'_>, _, recipe: &mut Recipe| {
                tell_result(record, &plan.profile, &mut Writer::new(inputs, recipe));
            },
            ahead: AHEAD,
        };
        let take = |recipe: &mut Recipe| {
            if are_files {
                let next = Recipe::as_large_as(recipe);
                recipes.push(std::mem::replace(recipe, next));
                return Ok(());
            }
            let next = used.try_recv().unwrap_or_default();
            let is_heard = send(say, Message::Results(std::mem::replace(recipe, next)));
            is_heard.then_some(()).ok_or(EvaluateError::Interrupted)
        };
        let tell = |event| {
            // Waking another thread takes time, so only who wants to know is told.
            if self.is_told || matches!(event, Event::Started { .. }) {
                send(say, Message::Event(event));
            }
        };
        match each.run(interrupt, take, tell) {
            Ok((aggregator, judged)) if are_files => {
                self.tell_too_large(&judged, &plan.profile.limits, say);
                let harvest = Harvest { recipes, aggregator, plan: plan.clone() };
                Ok(send(say, Message::Harvest(Box::new(harvest))))
            }
            Ok((_, judged)) => {
                self.tell_too_large(&judged, &plan.profile.limits, say);
                Ok(true)
            }
            Err(EvaluateError::Interrupted) => Ok(false),
            Err(error) => Err(Refusal::Failed(error.to_string())),
        }
    }

    fn tell_too_large(&self, judged: &[Judged], limits: &Limits, say: &SyncSender<Message>) {
        let explain = "`explain=True`";
        if let Some(word) = tell_too_large(judged, self.dataset, self.responses, limits, explain) {
            send(say, Message::Word(word, true));
        }
    }
}

/// Says what models could not do.
fn tell_failures(judgements: &Judgements, say: &SyncSender<Message>) {
    if let Some(stop) = &judgements.stopped {
        send(say, Message::Word(format!("{stop}; nothing more was asked"), true));
    }
    if judgements.n_failed_outside > 0 {
        let reason = judgements.reason();
        let word = format!(
            "models failed on {} questions: {reason}; the `_error` keys of the results have all reasons",
            judgements.n_failed_outside
        );
        send(say, Message::Word(word, true));
    }
}
