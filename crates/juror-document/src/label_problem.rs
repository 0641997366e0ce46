//! What can be wrong with a label that a person gave to an answer.

use std::fmt;

use crate::notice::{Phrase, option};
use crate::phrase;

/// Why a label is left out.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LabelProblem {
    /// Nobody has filled it in.
    Empty,
    /// It is neither a number from 0 to 1 nor a known word.
    Unusable {
        /// What it is.
        found: String,
    },
    /// The run has no such answer.
    UnknownAnswer {
        /// The answer, by the id of its question.
        answer: String,
    },
    /// The run has the answer, but the judge gave it no score.
    NoVerdict {
        /// The answer, by the id of its question.
        answer: String,
        /// The metric that has no number.
        metric: String,
    },
    /// The system has answered differently since.
    OtherAnswer {
        /// The answer, by the id of its question.
        answer: String,
    },
    /// The same person labelled the same answer again.
    Repeated {
        /// The answer, by the id of its question.
        answer: String,
    },
    /// It is about another metric.
    OtherMetric {
        /// That metric.
        metric: String,
    },
    /// Another judge's verdict was checked.
    OtherJudge {
        /// The answer, by the id of its question.
        answer: String,
    },
}

impl fmt::Display for LabelProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LabelProblem::Empty => f.write_str("the label is empty, and is left out"),
            LabelProblem::Unusable { found } => {
                write!(f, "the label is {found}, and is left out")
            }
            LabelProblem::UnknownAnswer { answer } => {
                write!(f, "the run has no answer to `{answer}`; the label is left out")
            }
            LabelProblem::NoVerdict { answer, metric } => {
                write!(f, "the answer to `{answer}` has no {metric}; the label is left out")
            }
            LabelProblem::OtherAnswer { answer } => {
                write!(
                    f,
                    "the run has another answer to `{answer}` than the one that was labelled; the label is left out"
                )
            }
            LabelProblem::Repeated { answer } => {
                write!(f, "the answer to `{answer}` has a later label of this person, which counts")
            }
            LabelProblem::OtherMetric { metric } => {
                write!(f, "the label is about `{metric}`, and is left out")
            }
            LabelProblem::OtherJudge { answer } => {
                write!(f, "the label of `{answer}` is for another judge, and is left out")
            }
        }
    }
}

impl LabelProblem {
    /// What to do about it.
    pub(crate) fn hint(&self) -> Option<Phrase> {
        let hint = match self {
            LabelProblem::Unusable { .. } => {
                "write a number from 0 to 1, or one of pass, fail, right, wrong, solved, unsolved, \
                 true, false, yes, no, unsure"
                    .into()
            }
            LabelProblem::UnknownAnswer { .. } => {
                "check that labels and run belong together".into()
            }
            LabelProblem::OtherAnswer { .. } => {
                "use the run that the labels were made from, or label the new answer".into()
            }
            LabelProblem::Repeated { .. } => "tell people apart by `by`".into(),
            LabelProblem::OtherMetric { .. } => {
                phrase![option("metric"), " says which one is meant"]
            }
            LabelProblem::OtherJudge { .. } => phrase![
                option("other-judge"),
                " takes labels of the same answers: what people say does not depend on the judge"
            ],
            LabelProblem::Empty | LabelProblem::NoVerdict { .. } => return None,
        };
        Some(hint)
    }
}
