//! Scores every question of a dataset, in order, on several threads.

use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
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
        let n_threads = plan.threads.clamp(1, n_questions.div_ceil(CHUNK).max(1));
        let mut aggregator = plan.aggregator();
        let mut questions = Vec::with_capacity(n_questions);
        let mut n_errors = 0;
        thread::scope(|scope| {
            // Thread t scores chunks t, t + n, t + 2n …, and its channel holds only a few of them:
            // reading the channels in turn yields the order of the dataset with little memory.
            let channels: Vec<(Receiver<_>, Sender<_>)> = (0..n_threads)
                .map(|first| {
                    let (sender, receiver) = sync_channel(W::AHEAD);
                    let (give_back, used) = channel();
                    scope.spawn(move || self.work(first, n_threads, &sender, &used));
                    (receiver, give_back)
                })
                .collect();
            for index in 0..n_questions.div_ceil(CHUNK) {
                let (receiver, give_back) = &channels[index % n_threads];
                if interrupt.is_set() {
                    return Err(EvaluationError::Interrupted);
                }
                // A worker sends all of its chunks before it ends.
                let Ok(mut chunk) = receiver.recv() else { break };
                take(&mut chunk.buffer)?;
                aggregator.merge(chunk.aggregator);
                n_errors += chunk.questions.iter().filter(|own| own.is_error).count();
                questions.extend(chunk.questions);
                // A worker that has ended needs no more buffers.
                let _ = give_back.send(chunk.buffer);
                tell(Event::Judged { questions: questions.len(), errors: n_errors });
            }
            Ok(())
        })?;
        Ok((aggregator, questions))
    }

    fn work(
        &self,
        first: usize,
        n_threads: usize,
        sender: &SyncSender<Chunk<W::Buffer>>,
        used: &Receiver<W::Buffer>,
    ) {
        let n_chunks = self.evaluation.n_cases().div_ceil(CHUNK);
        for index in (first..n_chunks).step_by(n_threads) {
            // Buffers are reused, because fresh memory is expensive.
            let buffer = used.try_recv().unwrap_or_else(|_| self.writer.buffer());
            // The receiver is gone if an output failed: there is nothing left to do.
            if sender.send(self.chunk(index, buffer)).is_err() {
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
