//! Asks a graph many queries.

use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use hashbrown::HashMap;
use juror_graph::{
    Answer, Graph, Query, QueryFailure, QueryLimits, QueryOptions, Refusal, with_room,
};
use juror_score::KindNames;

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
        /// How long it took.
        time: Duration,
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
/// each. One that fails does not stop the others.
pub fn ask_all<'q>(
    graph: &Graph,
    queries: impl IntoIterator<Item = &'q str>,
    options: &AskOptions,
    progress: &mut dyn FnMut(Asking),
) -> Vec<Arc<Asked>> {
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
    let answers = ask_distinct(graph, &distinct, options, progress);
    places.into_iter().map(|at| Arc::clone(&answers[at])).collect()
}

fn ask_distinct(
    graph: &Graph,
    queries: &[&str],
    options: &AskOptions,
    progress: &mut dyn FnMut(Asking),
) -> Vec<Arc<Asked>> {
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..options.jobs.get().min(queries.len()) {
            let (sender, next) = (sender.clone(), &next);
            let work = move || {
                while let Some(text) = queries.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if sender.send((*text, ask(graph, text, options))).is_err() {
                        break;
                    }
                }
            };
            scope.spawn(|| with_room(work));
        }
        drop(sender);
        let mut answers: HashMap<&str, Arc<Asked>> = HashMap::new();
        let mut asking = Asking { all: queries.len(), ..Asking::default() };
        for (text, asked) in receiver {
            asking.done += 1;
            asking.failed += usize::from(asked.answer().is_none());
            answers.insert(text, Arc::new(asked));
            progress(asking);
        }
        // Every query was sent back, or its thread has panicked, which the scope passes on.
        queries.iter().filter_map(|text| answers.remove(text)).collect()
    })
}

/// Asks one query.
fn ask(graph: &Graph, text: &str, options: &AskOptions) -> Asked {
    let query = match Query::parse(text, &options.query) {
        Ok(query) => query,
        Err(refusal) => return Asked::Refused(refusal),
    };
    let began = Instant::now();
    match graph.ask(&query, &options.limits) {
        Ok(answer) => Asked::Answered { query: Box::new(query), answer, time: began.elapsed() },
        Err(failure) => Asked::Failed(failure),
    }
}
