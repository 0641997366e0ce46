//! What models found out about a dataset.

use std::fmt;

use juror_models::{Stop, Tally};
use juror_score::{Cause, Judgement, Why};

/// What models found out about a dataset.
#[derive(Debug, Default)]
pub struct Judgements {
    /// What was found out about each question, in the order of the dataset; empty without judges.
    pub of_questions: Vec<Judgement>,
    /// How many questions are not finished because asking had stopped.
    pub n_unfinished: usize,
    /// The calls that were made.
    pub tally: Tally,
    /// Why asking stopped, if it did.
    pub stopped: Option<Stop>,
    /// How many questions are done with, one way or another.
    pub(super) n_done: usize,
    /// How many questions lack something for a reason outside.
    n_failed_outside: usize,
    /// Of the first of those, its position and the reason.
    outside: Option<(usize, Why)>,
    pub(super) is_replay: bool,
}

/// Questions that lack something because models failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelFailures {
    /// How many.
    pub n_questions: usize,
    /// Why the first of them does, on one line.
    pub reason: String,
    /// Whether the reason is that a reply did not come in time.
    pub is_late: bool,
    /// Whether only recorded replies could be used.
    pub is_replay: bool,
}

impl fmt::Display for ModelFailures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let questions = if self.n_questions == 1 { "question" } else { "questions" };
        write!(f, "models failed on {} {questions}: {}", self.n_questions, self.reason)
    }
}

impl Judgements {
    /// None yet, for so many questions.
    pub(super) fn empty(n_questions: usize) -> Judgements {
        let of_questions = vec![Judgement::default(); n_questions];
        Judgements { of_questions, ..Judgements::default() }
    }

    /// On how many questions models failed, and why; `None` if they failed on none.
    pub fn failures(&self) -> Option<ModelFailures> {
        let (_, why) = self.outside.as_ref()?;
        Some(ModelFailures {
            n_questions: self.n_failed_outside,
            reason: why.message.split_whitespace().collect::<Vec<_>>().join(" "),
            is_late: why.cause == Cause::Late,
            is_replay: self.is_replay,
        })
    }

    /// Puts in the judgement of a question.
    pub(super) fn put(&mut self, index: usize, judgement: Judgement) {
        if let Some(why) = judgement.outside() {
            self.fail_outside(index, why.clone());
        }
        self.of_questions[index] = judgement;
        self.n_done += 1;
    }

    fn fail_outside(&mut self, index: usize, why: Why) {
        self.n_failed_outside += 1;
        if self.outside.as_ref().is_none_or(|(first, _)| index < *first) {
            self.outside = Some((index, why));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_of_a_failed_run_is_the_first_one_outside() {
        let mut judgements = Judgements::default();
        let why = |message: &str, cause| Why { message: message.into(), cause };
        judgements.fail_outside(7, why("no reply within 60 s", Cause::Late));
        assert!(judgements.failures().expect("a failure").is_late);
        let words = "status 400:\tno\n  reply within 60 s";
        judgements.fail_outside(2, why(words, Cause::Outside));
        judgements.fail_outside(4, why("status 500", Cause::Outside));
        let failures = judgements.failures().expect("failures");
        let told = "models failed on 3 questions: status 400: no reply within 60 s";
        assert_eq!(failures.to_string(), told);
        assert!(!failures.is_late, "whatever the words are");
    }
}
