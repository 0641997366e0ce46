//! Judging every question of a dataset, in order, on several threads.

use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread;

use juror_report::{Columns, Format, write_result};
use juror_score::read::{Dataset, Responses};
use juror_score::{
    Aggregates, Aggregator, Case, Finding, Judgement, Limits, Record, Score, TooLarge, Verdict,
    Whose,
};

use crate::columns::metrics_of_steps;
use crate::event::Event;
use crate::interrupt::Interrupt;
use crate::output::{Output, OutputError};
use crate::plan::Plan;

/// How many questions are judged at a time by one thread.
const CHUNK: usize = 16;

/// How many bytes of results a buffer holds before it has to grow.
const BUFFER: usize = 1 << 18;

/// What is remembered of a judged question.
#[derive(Clone, Debug)]
pub struct Judged {
    /// Its position in the dataset.
    pub index: usize,
    /// Its steps score, if it has one.
    pub steps_score: Option<f64>,
    /// How right its answer is, if that was judged.
    pub answer_f1: Option<f64>,
    /// Whether it ended in an error.
    pub is_error: bool,
    /// Whether a metric of it could not be computed.
    pub has_failure: bool,
    /// The first of it that met a limit.
    pub too_large: Option<TooLarge>,
}

/// Says what met a limit, if anything did: without a word it would be scored as if it were something
/// else. `explain` is how to ask for an explanation.
pub fn tell_too_large(
    judged: &[Judged],
    dataset: &Dataset<'_>,
    responses: &Responses<'_>,
    limits: &Limits,
    explain: &str,
) -> Option<String> {
    let mut all = judged.iter().filter_map(|judged| Some((judged.index, judged.too_large?)));
    let (index, TooLarge { place, excess }) = all.next()?;
    let question = &dataset.questions[index];
    let told = excess.told(limits);
    let what = match place {
        Whose::Actual(step) => {
            let steps = responses.of(question).steps.as_deref().unwrap_or_default();
            let id = steps.get(step).map(|own| own.id(step)).unwrap_or_default();
            let id = id.trim_matches('"');
            format!("step `{id}` returned {told}; what cannot be read matches nothing")
        }
        Whose::Expected { group, step } => {
            let (step, group) = (step + 1, group + 1);
            format!("expected step {step} of group {group} is {told}; nothing matches it")
        }
        Whose::Question => {
            format!("its steps have {told}; they need not be paired the best way")
        }
    };
    let others = match all.count() {
        0 => String::new(),
        1 => " (also in 1 other question)".to_owned(),
        n => format!(" (also in {n} other questions)"),
    };
    let raise = if excess.can_be_raised() {
        "; raise the limit where references and answers can be trusted"
    } else {
        ""
    };
    Some(format!(
        "question `{}`: {what}{others}\n  hint: {explain} tells why expected steps were not found{raise}",
        question.id,
    ))
}

/// Why an evaluation did not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum EvaluateError {
    /// An output could not be written.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// The user wanted to stop.
    #[error("interrupted: nothing was written")]
    Interrupted,
}

/// The outcome of an evaluation.
#[derive(Debug)]
pub struct Outcome {
    /// The statistics.
    pub aggregates: Aggregates,
    /// Every question, in the order of the dataset.
    pub judged: Vec<Judged>,
}

/// Judges every question, takes in what models found out about it, and appends each result to every
/// output, in the order of the dataset.
pub fn evaluate(
    plan: &Plan,
    dataset: &Dataset<'_>,
    responses: &Responses<'_>,
    judgements: &[Judgement],
    outputs: &mut [Output],
    interrupt: &Interrupt,
    tell: impl FnMut(Event),
) -> Result<Outcome, EvaluateError> {
    let formats: Vec<Format> = outputs.iter().map(|output| output.format).collect();
    let mut columns = Columns { custom: plan.custom_metrics.clone(), of_steps: Vec::new() };
    if formats.contains(&Format::Tsv) {
        columns.of_steps = metrics_of_steps(plan, dataset, responses, judgements);
    }
    for output in &mut *outputs {
        output.write(&output.format.opening(&columns))?;
    }
    let work = EachRecord {
        plan,
        dataset,
        responses,
        judgements,
        new: || formats.iter().map(|_| Vec::with_capacity(BUFFER)).collect(),
        add: |record: &Record<'_>, index, buffers: &mut Vec<Vec<u8>>| {
            for (format, out) in formats.iter().zip(buffers) {
                write_result(record, &plan.profile, &columns, *format, index, out);
            }
        },
        // Results that wait take memory as large as the questions.
        ahead: 2,
    };
    let take = |buffers: &mut Vec<Vec<u8>>| {
        for (output, bytes) in outputs.iter_mut().zip(buffers) {
            output.write(bytes)?;
            bytes.clear();
        }
        Ok(())
    };
    let (aggregator, judged) = work.run(interrupt, take, tell)?;
    for output in outputs {
        output.write(output.format.closing(dataset.questions.len()))?;
    }
    Ok(Outcome { aggregates: aggregator.finish(), judged })
}

/// Judging every question, and making something of each record on the thread that judged it.
pub struct EachRecord<'w, New, Add> {
    /// By which rules.
    pub plan: &'w Plan,
    /// The questions.
    pub dataset: &'w Dataset<'w>,
    /// What was answered.
    pub responses: &'w Responses<'w>,
    /// What models found out, by the position of the question; nothing where none was asked.
    pub judgements: &'w [Judgement],
    /// Makes an empty buffer.
    pub new: New,
    /// Adds to a buffer what is made of a record, whose position comes with it.
    pub add: Add,
    /// How many buffers a thread may have filled before the first of them is taken.
    pub ahead: usize,
}

impl<B: Send, New, Add> EachRecord<'_, New, Add>
where
    New: Fn() -> B + Sync,
    Add: Fn(&Record<'_>, usize, &mut B) + Sync,
{
    /// Does it on all threads; `take` is given the buffers in the order of the dataset, each with a
    /// few records, and leaves them empty to be filled again. Returns what statistics are made of,
    /// and every question in the order of the dataset.
    pub fn run(
        &self,
        interrupt: &Interrupt,
        mut take: impl FnMut(&mut B) -> Result<(), EvaluateError>,
        mut tell: impl FnMut(Event),
    ) -> Result<(Aggregator, Vec<Judged>), EvaluateError> {
        let n_questions = self.dataset.questions.len();
        tell(Event::Started { questions: n_questions });
        let n_threads = self.plan.threads.clamp(1, n_questions.div_ceil(CHUNK).max(1));
        let mut aggregator = self.plan.aggregator();
        let mut judged = Vec::with_capacity(n_questions);
        let mut n_errors = 0;
        thread::scope(|scope| {
            // Thread t judges chunks t, t + n, t + 2n …, and its channel holds a few of them at
            // most: reading the channels in turn gives the order of the dataset in little memory.
            let channels: Vec<(Receiver<Chunk<B>>, Sender<B>)> = (0..n_threads)
                .map(|first| {
                    let (sender, receiver) = sync_channel(self.ahead);
                    let (give_back, used) = channel();
                    scope.spawn(move || self.work(first, n_threads, &sender, &used));
                    (receiver, give_back)
                })
                .collect();
            for index in 0..n_questions.div_ceil(CHUNK) {
                let (receiver, give_back) = &channels[index % n_threads];
                if interrupt.is_set() {
                    return Err(EvaluateError::Interrupted);
                }
                // A worker sends every chunk of its own before it ends.
                let Ok(mut chunk) = receiver.recv() else { break };
                take(&mut chunk.buffer)?;
                aggregator.merge(&chunk.aggregator);
                n_errors += chunk.judged.iter().filter(|judged| judged.is_error).count();
                judged.extend(chunk.judged);
                // A worker that has ended needs no more buffers.
                let _ = give_back.send(chunk.buffer);
                tell(Event::Judged { questions: judged.len(), errors: n_errors });
            }
            Ok(())
        })?;
        Ok((aggregator, judged))
    }

    fn work(
        &self,
        first: usize,
        n_threads: usize,
        sender: &SyncSender<Chunk<B>>,
        used: &Receiver<B>,
    ) {
        let n_chunks = self.dataset.questions.len().div_ceil(CHUNK);
        for index in (first..n_chunks).step_by(n_threads) {
            // Buffers come back after they were taken: fresh memory is dear.
            let buffer = used.try_recv().unwrap_or_else(|_| (self.new)());
            // The receiver is gone when an output failed: there is nothing left to do.
            if sender.send(self.chunk(index, buffer)).is_err() {
                return;
            }
        }
    }

    fn chunk(&self, index: usize, buffer: B) -> Chunk<B> {
        let start = index * CHUNK;
        let end = (start + CHUNK).min(self.dataset.questions.len());
        let mut chunk =
            Chunk { buffer, aggregator: self.plan.aggregator(), judged: Vec::with_capacity(CHUNK) };
        for (index, question) in (start..).zip(&self.dataset.questions[start..end]) {
            let case = Case { question, trajectory: self.responses.of(question) };
            let record = self.plan.score(&case).with(self.judgements.get(index));
            (self.add)(&record, index, &mut chunk.buffer);
            chunk.aggregator.add(&record);
            chunk.judged.push(Judged::of(&record, index));
        }
        chunk
    }
}

/// The outcome of a few questions.
struct Chunk<B> {
    buffer: B,
    aggregator: Aggregator,
    judged: Vec<Judged>,
}

impl Judged {
    fn of(record: &Record<'_>, index: usize) -> Judged {
        let answer_f1 = |claims: &Finding| match &claims.verdict {
            Verdict::Scored(Score::Claims(claims)) => Some(claims.scores()[2]),
            _ => None,
        };
        Judged {
            index,
            steps_score: record.verdict("steps_score").and_then(Verdict::number),
            answer_f1: record.claims().and_then(answer_f1),
            is_error: record.case.trajectory.ending.is_error(),
            has_failure: record.findings().any(|finding| finding.failure().is_some()),
            too_large: record.too_large.first().copied(),
        }
    }
}
