//! Scores every question of a dataset, in order, on several threads.

use std::collections::BTreeMap;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

use juror_read::CaseRoom;
use juror_score::{Aggregator, Finding, Judgement, Record, TooLarge, Verdict};

use super::{Evaluation, EvaluationError, RecordWriter};
use crate::event::Event;
use crate::interrupt::Interrupt;

/// How many questions a thread scores at a time.
const CHUNK: usize = 16;

/// The scores of a question that the summary needs.
#[derive(Clone, Debug)]
pub struct QuestionSummary {
    /// The position of its case.
    pub index: usize,
    /// The steps score, if there is one.
    pub steps_score: Option<f64>,
    /// The correctness of the answer, if judged.
    pub answer_f1: Option<f64>,
    /// Whether the response is an error.
    pub is_error: bool,
    /// Whether a metric could not be computed.
    pub has_failure: bool,
    /// The first part that exceeded a limit.
    pub too_large: Option<TooLarge>,
}

/// The questions to score, and the writer of their records.
pub(super) struct Scoring<'s, W> {
    pub(super) evaluation: &'s Evaluation<'s>,
    /// The judgements by position of the question; empty without judges.
    pub(super) judgements: &'s [Judgement],
    pub(super) writer: W,
}

impl<W: RecordWriter> Scoring<'_, W> {
    /// Scores on all threads. `take` receives the buffers in the order of the dataset, each with a
    /// few records, and leaves them empty. Returns the aggregator, and every question in the order
    /// of the dataset.
    pub(super) fn run(
        &self,
        interrupt: &Interrupt,
        mut take: impl FnMut(&mut W::Buffer) -> Result<(), EvaluationError>,
        mut tell: impl FnMut(Event),
    ) -> Result<(Aggregator, Vec<QuestionSummary>), EvaluationError> {
        let n_questions = self.evaluation.n_cases();
        tell(Event::Started { questions: n_questions });
        let plan = self.evaluation.plan;
        let n_chunks = n_questions.div_ceil(CHUNK);
        let n_threads = plan.threads.clamp(1, n_chunks.max(1));
        let mut aggregator = plan.aggregator();
        let mut questions = Vec::with_capacity(n_questions);
        let mut n_errors = 0;
        let (give_back, buffers) = channel();
        let to_do = &Mutex::new(ToDo { chunks: 0..n_chunks, buffers });
        thread::scope(|scope| {
            // Sent before any thread ends, so they arrive.
            (0..n_chunks.min(n_threads * W::AHEAD)).for_each(|_| drop(give_back.send(None)));
            let (sender, receiver) = channel();
            for sender in vec![sender; n_threads] {
                scope.spawn(move || self.work(to_do, &sender));
            }
            let mut done = InOrder { receiver, early: BTreeMap::new() };
            for index in 0..n_chunks {
                if interrupt.is_set() {
                    return Err(EvaluationError::Interrupted);
                }
                // All chunks arrive before the threads end.
                let Some(mut chunk) = done.take(index) else { break };
                take(&mut chunk.buffer)?;
                aggregator.merge(chunk.aggregator);
                n_errors += chunk.questions.iter().filter(|own| own.is_error).count();
                questions.extend(chunk.questions);
                // If no thread is left, nobody needs buffers.
                let _ = give_back.send(Some(chunk.buffer));
                tell(Event::Done { questions: questions.len(), errors: n_errors });
            }
            // However this ends, threads that wait for a buffer learn that there will be none.
            drop(give_back);
            Ok(())
        })?;
        Ok((aggregator, questions))
    }

    /// Scores chunks until none is left. A panic is passed on, or everybody would wait for its chunk.
    fn work(&self, to_do: &Mutex<ToDo<W::Buffer>>, done: &Sender<Done<W::Buffer>>) {
        while let Some((index, buffer)) = next_of(to_do) {
            let score = || {
                let buffer = buffer.unwrap_or_else(|| self.writer.buffer());
                self.chunk(index, buffer)
            };
            // The receiver is gone if an output failed: there is nothing left to do.
            if done.send((index, catch_unwind(AssertUnwindSafe(score)))).is_err() {
                return;
            }
        }
    }

    fn chunk(&self, index: usize, mut buffer: W::Buffer) -> Chunk<W::Buffer> {
        let (evaluation, plan) = (self.evaluation, self.evaluation.plan);
        let start = index * CHUNK;
        let end = (start + CHUNK).min(evaluation.n_cases());
        let (mut aggregator, mut questions) = (plan.aggregator(), Vec::with_capacity(CHUNK));
        for index in start..end {
            let room = CaseRoom::default();
            let case = evaluation.case(index, &room);
            let record = plan.score(&case.case()).with(self.judgements.get(index));
            self.writer.write(&record, index, &mut buffer);
            aggregator.add(&record);
            questions.push(QuestionSummary::of(&record, index));
        }
        Chunk { buffer, aggregator, questions }
    }
}

/// The chunks that no thread has taken yet, and the buffers that they may be written into.
///
/// There are few buffers, so threads cannot run far ahead of the one that takes the results. A thread
/// has its buffer before it knows its chunk, and chunks are taken in order: the chunk that is waited
/// for has a buffer, or will get the next one.
struct ToDo<B> {
    chunks: Range<usize>,
    /// Buffers are reused, because fresh memory is expensive; `None` stands for one yet to be made.
    buffers: Receiver<Option<B>>,
}

/// Takes the next chunk, and a buffer for it, as soon as there is one.
fn next_of<B>(to_do: &Mutex<ToDo<B>>) -> Option<(usize, Option<B>)> {
    let mut to_do = to_do.lock().unwrap_or_else(PoisonError::into_inner);
    let buffer = to_do.buffers.recv().ok()?;
    Some((to_do.chunks.next()?, buffer))
}

/// The position of a chunk, and the chunk, unless scoring it panicked.
type Done<B> = (usize, thread::Result<Chunk<B>>);

/// Chunks in the order of the dataset, whichever is done first.
struct InOrder<B> {
    receiver: Receiver<Done<B>>,
    early: BTreeMap<usize, Chunk<B>>,
}

impl<B> InOrder<B> {
    /// Waits for a chunk; `None` if it will never come.
    fn take(&mut self, index: usize) -> Option<Chunk<B>> {
        loop {
            if let Some(chunk) = self.early.remove(&index) {
                return Some(chunk);
            }
            let (index, chunk) = self.receiver.recv().ok()?;
            self.early.insert(index, chunk.unwrap_or_else(|panic| resume_unwind(panic)));
        }
    }
}

/// A few scored questions.
struct Chunk<B> {
    buffer: B,
    aggregator: Aggregator,
    questions: Vec<QuestionSummary>,
}

impl QuestionSummary {
    fn of(record: &Record<'_>, index: usize) -> QuestionSummary {
        let answer_f1 = |claims: &Finding| claims.verdict.claim_scores().map(|[.., f1]| f1);
        QuestionSummary {
            index,
            steps_score: record.verdict("steps_score").and_then(Verdict::number),
            answer_f1: record.claims().and_then(answer_f1),
            is_error: record.case.trajectory.ending.is_error(),
            has_failure: record.findings().any(|finding| finding.failure().is_some()),
            too_large: record.too_large.first().copied(),
        }
    }
}
