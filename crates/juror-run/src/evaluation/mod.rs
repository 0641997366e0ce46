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

use juror_document::{Document, Notice, Problems};
use juror_models::{Stop, Tally};
use juror_runs::{RunLog, RunLogError, RunPlace};
use juror_score::read::{Dataset, ReadOptions, Responses, read_both};
use juror_score::{Case, Question};

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
    pub dataset: Dataset<'e>,
    /// The responses to them.
    pub responses: Responses<'e>,
    cases: Cases,
    inputs: Inputs<'e>,
    /// How many questions the reference has, whether or not they count.
    n_in_reference: usize,
    /// The questions of other shards.
    others: Vec<Question<'e>>,
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
        let options = ReadOptions { n_threads: plan.threads, repeated_ids: plan.repeated_ids };
        match read_both(inputs.reference, inputs.responses, options) {
            (Ok(mut dataset), Ok(responses)) => {
                dataset.check_outputs(inputs.reference, &plan.profile);
                let n_in_reference = dataset.questions.len();
                dataset.questions.truncate(plan.limit.unwrap_or(usize::MAX));
                let shard = plan.shard.map(|shard| shard.take_out(&mut dataset.questions));
                let others = shard.unwrap_or_default();
                let cases = Cases::of(&dataset, &responses);
                Ok(Evaluation { plan, dataset, responses, cases, inputs, n_in_reference, others })
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
        let responses = &self.responses;
        self.dataset.questions.retain(|question| responses.has(question));
        self.cases = Cases::of(&self.dataset, &self.responses);
        self
    }

    /// Returns oddities of the reference that do not prevent the evaluation.
    pub fn reference_problems(&self) -> &Problems {
        &self.dataset.warnings
    }

    /// Returns oddities of the responses that do not prevent the evaluation. Checks all responses.
    pub fn response_problems(&self) -> Problems {
        let mut problems = self.responses.problems.clone();
        let questions = self.dataset.questions.iter().chain(&self.others);
        problems.extend(self.responses.unknown(self.inputs.responses, questions));
        problems
    }

    /// Returns warnings that users should see before anything is asked or scored.
    pub fn warnings(&self) -> Vec<Warning> {
        Warning::about_inputs(self, self.inputs)
    }

    /// Returns the number of cases: one for each question, or for each of its answers if it has
    /// several.
    pub fn n_cases(&self) -> usize {
        self.cases.len(self.dataset.questions.len())
    }

    /// Returns a question and a response to it, by the position of the case.
    pub fn case(&self, index: usize) -> Case<'_> {
        self.cases.get(index, &self.dataset, &self.responses)
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
        home.folder().map(|folder| info.open_log(folder, options.resume)).transpose()
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
        self.score(&judgements, sink, &Interrupt::default(), |_| {}).map(drop)
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
