//! The findings of models about a dataset.

use std::fmt;

use juror_models::{Stop, Tally};
use juror_runs::Unjudged;
use juror_score::{Cause, Finding, Judgement, Verdict, Why};

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
    /// Whether no judged metric has a verdict on any answer.
    pub is_total: bool,
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
        write!(f, "models failed on {} {questions}: {}", self.n_questions, self.reason)?;
        if self.is_total {
            f.write_str("; no answer is judged, so judged metrics have no verdicts")?;
        }
        Ok(())
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
            is_total: self.unjudged().is_some_and(|unjudged| unjudged.answers == unjudged.of),
            reason: on_one_line(&why.message),
            is_late: why.cause == Cause::Late,
            is_replay: self.is_replay,
        })
    }

    /// Returns how many answers that judges looked at have no verdict at all, and the first reason;
    /// `None` if there are none.
    pub fn unjudged(&self) -> Option<Unjudged> {
        let looked_at = self.of_questions.iter().filter(|own| !own.findings.is_empty());
        let (mut answers, mut of, mut reason) = (0, 0, None);
        for judgement in looked_at {
            of += 1;
            let is_scored = |finding: &Finding| matches!(finding.verdict, Verdict::Scored(_));
            let first = judgement.failures().next();
            if let Some((_, why)) = first.filter(|_| !judgement.findings.iter().any(is_scored)) {
                answers += 1;
                reason.get_or_insert_with(|| on_one_line(&why.message));
            }
        }
        reason.map(|reason| Unjudged { answers, of, reason })
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

fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use juror_score::Aspect;

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

    #[test]
    fn answers_without_any_verdict_are_counted_with_the_first_reason() {
        let finding = |verdict| Finding::new(Aspect::Metric("answer_relevance"), verdict);
        let failed = || finding(Verdict::failed("status\n500"));
        let judgement = |findings| Judgement { findings, ..Judgement::default() };
        let mut judgements = Judgements {
            of_questions: vec![
                Judgement::default(),
                judgement(vec![failed(), failed()]),
                judgement(vec![failed(), finding(Verdict::scored(1.0))]),
            ],
            ..Judgements::default()
        };
        let told = Unjudged { answers: 1, of: 2, reason: "status 500".into() };
        assert_eq!(judgements.unjudged(), Some(told));
        judgements.of_questions.remove(1);
        assert_eq!(judgements.unjudged(), None);
    }
}
