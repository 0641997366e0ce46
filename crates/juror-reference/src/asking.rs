//! Asks a graph many queries.

use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use hashbrown::HashMap;
use juror_graph::{
    Answer, LoadError, Query, QueryFailure, QueryLimits, QueryOptions, Refusal, with_room,
};
use juror_score::KindNames;

use crate::asked_graph::AskedGraph;
use crate::known::KnownAnswers;

/// How queries are asked.
#[derive(Clone, Debug)]
pub struct AskOptions {
    /// How they are read.
    pub query: QueryOptions,
    /// What each may take.
    pub limits: QueryLimits,
    /// How many are asked at a time.
    pub jobs: NonZero<usize>,
    /// Which names of steps stand for queries.
    pub names: KindNames,
}

impl Default for AskOptions {
    fn default() -> AskOptions {
        AskOptions {
            query: QueryOptions::default(),
            limits: QueryLimits::default(),
            jobs: NonZero::<usize>::MIN,
            names: KindNames::NONE,
        }
    }
}

/// How far asking is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Asking {
    /// The queries that were asked.
    pub done: usize,
    /// All of them.
    pub all: usize,
    /// Those without an answer.
    pub failed: usize,
    /// Those whose answer was known, so that the graph was not asked.
    pub known: usize,
}

/// What came of a query.
#[derive(Clone, Debug)]
pub enum Asked {
    /// It was not asked.
    Refused(Refusal),
    /// It has no answer.
    Failed(QueryFailure),
    /// It was answered.
    Answered {
        /// The query.
        query: Box<Query>,
        /// The answer.
        answer: Answer,
        /// How long it took, when the graph was asked.
        time: Duration,
        /// Whether it was known, so that the graph was not asked.
        is_known: bool,
    },
}

impl Asked {
    /// Returns the answer, if there is one.
    pub fn answer(&self) -> Option<&Answer> {
        match self {
            Asked::Answered { answer, .. } => Some(answer),
            _ => None,
        }
    }

    /// Whether the query says in which order rows come.
    pub(crate) fn is_ordered(&self) -> bool {
        matches!(self, Asked::Answered { query, .. } if query.is_ordered())
    }

    /// Whether something outside is at fault that there is no answer.
    pub fn is_outside(&self) -> bool {
        matches!(self, Asked::Failed(failure) if failure.is_outside())
    }

    /// Returns why there is no answer, and what to do about it.
    pub fn problem(&self) -> Option<(String, Option<String>)> {
        match self {
            Asked::Refused(refusal) => Some((refusal.to_string(), refusal.hint())),
            Asked::Failed(failure) => {
                Some((failure.to_string(), failure.hint().map(str::to_owned)))
            }
            Asked::Answered { .. } => None,
        }
    }
}

/// Asks all queries, each text once, and several at a time. Calls `progress` after
/// each. One that fails does not stop the others. The graph is opened only if there is a query whose answer
/// is not known.
pub fn ask_all<'q>(
    graph: &mut AskedGraph,
    queries: impl IntoIterator<Item = &'q str>,
    options: &AskOptions,
    progress: &mut dyn FnMut(Asking),
) -> Result<Vec<Arc<Asked>>, LoadError> {
    let mut positions: HashMap<&str, usize> = HashMap::new();
    let mut distinct = Vec::new();
    let places: Vec<usize> = queries
        .into_iter()
        .map(|text| {
            *positions.entry(text).or_insert_with(|| {
                distinct.push(text);
                distinct.len() - 1
            })
        })
        .collect();
    let answers = ask_distinct(graph, &distinct, options, progress)?;
    Ok(places.into_iter().map(|at| Arc::clone(&answers[at])).collect())
}

fn ask_distinct(
    graph: &mut AskedGraph,
    queries: &[&str],
    options: &AskOptions,
    progress: &mut dyn FnMut(Asking),
) -> Result<Vec<Arc<Asked>>, LoadError> {
    let mut asking = Asking { all: queries.len(), ..Asking::default() };
    let mut tell = |has_answer: bool, is_known: bool| {
        asking.done += 1;
        asking.failed += usize::from(!has_answer);
        asking.known += usize::from(is_known);
        progress(asking);
    };
    let known = graph.known();
    let looked_up = work_off(
        queries,
        options.jobs,
        |text| look_up(known, text, options),
        |found| match found {
            LookedUp::Done(asked) => tell(asked.answer().is_some(), asked.answer().is_some()),
            LookedUp::Open(_) => {}
        },
    );
    let open: Vec<&Query> = looked_up.iter().filter_map(LookedUp::open).collect();
    let answers = if open.is_empty() {
        Vec::new()
    } else {
        graph.with(|graph| {
            let ask = |query: &&Query| timed(|| graph.ask(query, &options.limits));
            work_off(&open, options.jobs, ask, |(answer, _)| tell(answer.is_ok(), false))
        })?
    };
    let mut answers = answers.into_iter();
    let asked = looked_up.into_iter().filter_map(|found| match found {
        LookedUp::Done(asked) => Some(asked),
        LookedUp::Open(query) => answers.next().map(|(answer, time)| match answer {
            Ok(answer) => Asked::Answered { query, answer, time, is_known: false },
            Err(failure) => Asked::Failed(failure),
        }),
    });
    let asked: Vec<Arc<Asked>> = asked.map(Arc::new).collect();
    graph.learn(&asked, &options.limits, asking);
    Ok(asked)
}

/// What is known of a query before the graph is asked.
enum LookedUp {
    /// It need not be asked.
    Done(Asked),
    Open(Box<Query>),
}

impl LookedUp {
    fn open(&self) -> Option<&Query> {
        match self {
            LookedUp::Done(_) => None,
            LookedUp::Open(query) => Some(query),
        }
    }
}

fn look_up(known: Option<&KnownAnswers>, text: &str, options: &AskOptions) -> LookedUp {
    let query = match Query::parse(text, &options.query) {
        Ok(query) => Box::new(query),
        Err(refusal) => return LookedUp::Done(Asked::Refused(refusal)),
    };
    match known.and_then(|known| known.get(&query, &options.limits)) {
        Some((answer, time)) => {
            LookedUp::Done(Asked::Answered { query, answer, time, is_known: true })
        }
        None => LookedUp::Open(query),
    }
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let began = Instant::now();
    (work(), began.elapsed())
}

/// Works on all items, several at a time, with room for queries. Calls `done` after each, in any order,
/// and returns what came of them in theirs.
fn work_off<T: Sync, R: Send>(
    items: &[T],
    jobs: NonZero<usize>,
    work: impl Fn(&T) -> R + Sync,
    mut done: impl FnMut(&R),
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..jobs.get().min(items.len()) {
            let (sender, next, work) = (sender.clone(), &next, &work);
            let work_on = move || loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(item) = items.get(at) else { break };
                if sender.send((at, work(item))).is_err() {
                    break;
                }
            };
            scope.spawn(|| with_room(work_on));
        }
        drop(sender);
        let mut all: Vec<Option<R>> = items.iter().map(|_| None).collect();
        for (at, result) in receiver {
            done(&result);
            all[at] = Some(result);
        }
        // Every item was sent back, or its thread has panicked, which the scope passes on.
        all.into_iter().flatten().collect()
    })
}
