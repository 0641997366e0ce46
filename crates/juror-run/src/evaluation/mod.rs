//! Evaluates recorded responses: read, judge, score, write.
//!
//! [`Evaluation::open`] reads a reference and the responses to it. [`Evaluation::run`] has judges
//! ask models about every question, scores all of them, and hands the records to a [`Sink`] in the
//! order of the dataset. The command line's sink writes files, Python's builds objects; everything
//! else is shared.

mod case_key;
mod cases;
mod columns;
mod error;
mod files;
mod identity;
mod judged_log;
mod judgements;
mod judging;
mod partial_file;
mod reason;
mod reports;
mod scoring;
mod sink;
mod warning;

use std::num::NonZero;
use std::sync::atomic::{AtomicBool, Ordering};

use juror_document::{Document, Notice, Problems};
use juror_models::{Stop, Tally};
use juror_read::{Answers, CaseRoom, Questions, ReadCase, ReadOptions, read_inputs};
use juror_runs::{RunLog, RunLogError, RunPlace};

use cases::Cases;
pub use error::{EvaluationError, Unreadable};
pub use files::{ResultFiles, Totals};
pub use identity::SubjectIdentity;
use judged_log::RunInfo;
pub use judged_log::{JudgedLine, KnownJudgement, RunOptions};
pub use judgements::{Judgements, ModelFailures};
use judging::judge_all;
pub use partial_file::PartialFile;
pub use reports::ReportOptions;
pub use scoring::QuestionSummary;
use scoring::Scoring;
pub use sink::{RecordWriter, Sink};
pub use warning::Warning;

use crate::event::Event;
use crate::interrupt::Interrupt;
use crate::models::Judges;
use crate::plan::Plan;

/// The inputs of an evaluation.
#[derive(Clone, Copy)]
pub struct Inputs<'e> {
    /// The questions, with expected answers and steps.
    pub reference: &'e Document,
    /// The responses to evaluate.
    pub responses: &'e Document,
}

/// A reference and the responses to it, read and ready to be judged.
pub struct Evaluation<'e> {
    /// The rules.
    pub plan: &'e Plan,
    /// The questions.
    pub questions: Questions<'e>,
    /// The responses to them.
    pub answers: Answers<'e>,
    cases: Cases,
    inputs: Inputs<'e>,
    /// How many questions the reference has, whether or not they count.
    n_in_reference: usize,
    /// Whether something could not be read a second time.
    has_changed: AtomicBool,
    /// The ids of the questions of other shards.
    others: Vec<Box<str>>,
}

/// The judges, and the log of their judgements.
#[derive(Clone, Copy, Default)]
pub struct Judging<'j> {
    /// The judges; without them, only what needs no model is scored.
    pub judges: Option<&'j Judges>,
    /// The log of the run.
    pub log: Option<&'j RunLog<KnownJudgement>>,
}

/// The outcome of an evaluation.
#[derive(Debug)]
pub struct Outcome<P> {
    /// The product of the sink.
    pub product: P,
    /// Every answer to every question, in the order of the dataset.
    pub questions: Vec<QuestionSummary>,
    /// The findings of models.
    pub judgements: Judgements,
    /// Warnings about the scores.
    pub warnings: Vec<Warning>,
}

impl<'e> Evaluation<'e> {
    /// Reads both inputs; fails with all of their problems.
    pub fn open(plan: &'e Plan, inputs: Inputs<'e>) -> Result<Evaluation<'e>, Unreadable> {
        let options = ReadOptions {
            n_threads: plan.threads,
            repeated_ids: plan.repeated_ids,
            kept_below: plan.kept_below,
        };
        match read_inputs(inputs.reference, inputs.responses, &plan.profile, options) {
            (Ok(mut questions), Ok(answers)) => {
                let n_in_reference = questions.len();
                questions.truncate(plan.limit.unwrap_or(usize::MAX));
                let others = plan.shard.map(|shard| questions.keep(|at| shard.has(at)));
                let others = others.unwrap_or_default();
                let (cases, has_changed) = (Cases::of(&questions, &answers), AtomicBool::default());
                Ok(Evaluation {
                    plan,
                    questions,
                    answers,
                    cases,
                    inputs,
                    n_in_reference,
                    has_changed,
                    others,
                })
            }
            (reference, responses) => {
                Err(Unreadable { reference: reference.err(), responses: responses.err() })
            }
        }
    }

    /// Returns how many questions of the reference do not count, because the plan has a limit.
    pub fn n_left_out(&self) -> usize {
        self.n_in_reference.saturating_sub(self.plan.limit.unwrap_or(usize::MAX))
    }

    /// Leaves out questions without a response: those that an agent was not asked before it stopped.
    #[must_use]
    pub fn answered(mut self) -> Evaluation<'e> {
        let answers = &self.answers;
        self.questions.retain(|id| answers.has(id));
        self.cases = Cases::of(&self.questions, &self.answers);
        self
    }

    /// Returns oddities of the reference that do not prevent the evaluation.
    pub fn reference_problems(&self) -> &Problems {
        self.questions.warnings()
    }

    /// Returns oddities of the responses that do not prevent the evaluation. Checks all responses.
    pub fn response_problems(&self) -> Problems {
        let mut problems = self.answers.problems().clone();
        let known = self.questions.ids().chain(self.others.iter().map(AsRef::as_ref));
        problems.extend(self.answers.unknown(self.inputs.responses, known));
        problems
    }

    /// Returns warnings that users should see before anything is asked or scored.
    pub fn warnings(&self) -> Vec<Warning> {
        Warning::about_inputs(self, self.inputs)
    }

    /// Returns the number of cases: one for each question, or for each of its answers if it has
    /// several.
    pub fn n_cases(&self) -> usize {
        self.cases.len(self.questions.len())
    }

    /// Returns a question and a response to it, by the position of the case. Large inputs are read again
    /// for that, into room that no other case uses.
    pub fn case<'r>(&'r self, index: usize, room: &'r CaseRoom) -> ReadCase<'r> {
        let at = self.cases.at(index);
        ReadCase::of(&self.questions, &self.answers, at, room).unwrap_or_else(|| {
            self.has_changed.store(true, Ordering::Relaxed);
            ReadCase::empty()
        })
    }

    /// Returns which of several answers to its question a case has; `None` if it has the only one.
    fn trial(&self, index: usize) -> Option<NonZero<u32>> {
        let (question, trial) = self.cases.at(index);
        trial.or_else(|| self.answers.first_trial(self.questions.id(question)))
    }

    /// Returns the number of questions without a response.
    pub fn n_unanswered(&self) -> usize {
        self.questions.ids().filter(|id| !self.answers.has(id)).count()
    }

    /// Fails if something could not be read a second time.
    fn check_unchanged(&self) -> Result<(), EvaluationError> {
        let has_changed = self.has_changed.load(Ordering::Relaxed);
        if has_changed { Err(EvaluationError::InputsChanged) } else { Ok(()) }
    }

    /// Returns the position of each case in the whole list, of which this may be a shard: that of its
    /// question, with room for all answers to it.
    fn positions(&self) -> Vec<u64> {
        const MOST_ANSWERS: u64 = 1 << 32;
        let position = |index| {
            let (question, answer) = self.cases.place(index);
            let question = self.plan.shard.map_or(question, |shard| shard.position(question));
            question as u64 * MOST_ANSWERS + u64::from(answer)
        };
        (0..self.n_cases()).map(position).collect()
    }

    /// Starts the log of this evaluation, or resumes it; `None` if it is to be stored nowhere.
    /// Tells what the user should know about the choice of the folder.
    pub fn open_log(
        &self,
        options: &RunOptions<'_>,
        tell: impl FnOnce(&Notice),
    ) -> Result<Option<RunLog<KnownJudgement>>, RunLogError> {
        if *options.place == RunPlace::Nowhere {
            return Ok(None);
        }
        let info = RunInfo::new(self, options);
        let home = info.home(options)?;
        home.notice().map(tell);
        let folder = home.run_folder().cloned();
        folder.map(|folder| info.open_log(folder, options.resume)).transpose()
    }

    /// Counts the calls that judging would make; the judges' models must be in counting mode.
    pub fn count_calls(&self, judges: &Judges) -> Result<Tally, EvaluationError> {
        let judging = Judging { judges: Some(judges), log: None };
        Ok(self.judge(judging, &Interrupt::default(), |_| {})?.tally)
    }

    /// Judges and scores every question. The run is marked complete once the sink has all records,
    /// unless judging stopped early. After an interrupt, the records go where the sink says: it may
    /// have files that tell how far the run came.
    pub fn run<S: Sink>(
        &self,
        judging: Judging<'_>,
        sink: S,
        interrupt: &Interrupt,
        mut tell: impl FnMut(Event),
    ) -> Result<Outcome<S::Product>, EvaluationError> {
        let judgements = self.judge(judging, interrupt, &mut tell)?;
        let n_unfinished = judgements.n_unfinished;
        if judgements.stopped == Some(Stop::Interrupted) {
            if let Some(sink) = sink.after_interrupt() {
                // The next interrupt ends the process.
                self.score(&judgements, sink, &Interrupt::default(), tell)?;
                judging.log.map_or(Ok(()), RunLog::publish_results)?;
            }
            return Err(EvaluationError::InterruptedJudging { n_unfinished });
        }
        let (product, questions) = self.score(&judgements, sink, interrupt, tell)?;
        if let Some(log) = judging.log.filter(|_| n_unfinished == 0) {
            log.complete(self.n_cases(), judgements.unjudged())?;
        }
        let warnings = Warning::about_scores(self, &questions, &judgements);
        Ok(Outcome { product, questions, judgements, warnings })
    }

    /// Scores every question of a run that stops before its answers are judged, with the judgements
    /// that are known: nobody is asked. The records go where they go after an interrupt, and the run
    /// stays incomplete.
    pub fn score_unfinished<S: Sink>(
        &self,
        judging: Judging<'_>,
        sink: S,
    ) -> Result<(), EvaluationError> {
        let Some(sink) = sink.after_interrupt() else { return Ok(()) };
        if let Some(judges) = judging.judges {
            judges.models.stop(Stop::Interrupted);
        }
        let judgements = self.judge(judging, &Interrupt::default(), |_| {})?;
        self.score(&judgements, sink, &Interrupt::default(), |_| {})?;
        Ok(judging.log.map_or(Ok(()), RunLog::publish_results)?)
    }

    /// Scores every question, and passes the records to a sink.
    fn score<S: Sink>(
        &self,
        judgements: &Judgements,
        mut sink: S,
        interrupt: &Interrupt,
        tell: impl FnMut(Event),
    ) -> Result<(S::Product, Vec<QuestionSummary>), EvaluationError> {
        let judgements = &judgements.of_questions;
        let writer = sink.begin(self, judgements)?;
        let scoring = Scoring { evaluation: self, judgements, writer };
        let (aggregator, questions) = scoring.run(interrupt, |buffer| sink.take(buffer), tell)?;
        self.check_unchanged()?;
        Ok((sink.end(aggregator)?, questions))
    }

    fn judge(
        &self,
        judging: Judging<'_>,
        interrupt: &Interrupt,
        tell: impl FnMut(Event),
    ) -> Result<Judgements, EvaluationError> {
        match judging.judges {
            None => Ok(Judgements::default()),
            Some(judges) => judge_all(self, judges, judging.log, interrupt, tell),
        }
    }
}

#[cfg(test)]
mod tests;
