//! The findings of models about a dataset.

use std::fmt;

use juror_models::{Stop, Tally};
use juror_score::{Cause, Judgement, Why};

/// The findings of models about a dataset.
#[derive(Debug, Default)]
pub struct Judgements {
    /// The judgement of each question, in the order of the dataset; empty without judges.
    pub of_questions: Vec<Judgement>,
    /// How many questions are unfinished because asking stopped.
    pub n_unfinished: usize,
    /// The calls made.
    pub tally: Tally,
    /// Why asking stopped, if it did.
    pub stopped: Option<Stop>,
    /// How many questions are done, in one way or another.
    pub(super) n_done: usize,
    /// How many questions lack something for an external reason.
    n_failed_outside: usize,
    /// The position of the first such question, and its reason.
    outside: Option<(usize, Why)>,
    pub(super) is_replay: bool,
}

/// Questions that lack something because models failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelFailures {
    /// The number of questions.
    pub n_questions: usize,
    /// The reason for the first of them, on one line.
    pub reason: String,
    /// Whether the reason is that a reply timed out.
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
    /// Creates empty judgements for this many questions.
    pub(super) fn empty(n_questions: usize) -> Judgements {
        let of_questions = vec![Judgement::default(); n_questions];
        Judgements { of_questions, ..Judgements::default() }
    }

    /// Returns how many questions models failed on, and why; `None` if there are none.
    pub fn failures(&self) -> Option<ModelFailures> {
        let (_, why) = self.outside.as_ref()?;
        Some(ModelFailures {
            n_questions: self.n_failed_outside,
            reason: why.message.split_whitespace().collect::<Vec<_>>().join(" "),
            is_late: why.cause == Cause::Late,
            is_replay: self.is_replay,
        })
    }

    /// Stores the judgement of a question.
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
