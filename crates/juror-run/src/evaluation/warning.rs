//! Warnings about an evaluation that do not prevent it.

use std::fmt;

use juror_document::{Notice, option_as, phrase};
use juror_read::CaseRoom;
use juror_score::{Judgement, TooLarge, Whose};

use super::{Evaluation, Inputs, Judgements, QuestionSummary};

/// A warning about an evaluation that does not prevent it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Warning {
    /// The reference has no questions.
    NoQuestions {
        /// The reference, as the user named it.
        reference: String,
    },
    /// No response answers any of the questions.
    NothingAnswered {
        /// The responses, as the user named them.
        responses: String,
    },
    /// Steps are expected, but no response says which were taken.
    NoSteps {
        /// The responses, as the user named them.
        responses: String,
    },
    /// A question exceeded a limit, which affects its score.
    TooLarge {
        /// The first such question.
        question: String,
        /// What is too large, and the consequence for the score.
        what: String,
        /// How many other questions exceed a limit.
        n_others: usize,
        /// Whether raising a limit would help.
        can_be_raised: bool,
    },
    /// Judges reached no verdict for reasons that lie in the data.
    NoVerdict {
        /// How many questions lack a verdict.
        n_questions: usize,
    },
}

impl Warning {
    pub(super) fn about_inputs(evaluation: &Evaluation<'_>, inputs: Inputs<'_>) -> Vec<Warning> {
        let (questions, answers) = (&evaluation.questions, &evaluation.answers);
        if questions.is_empty() && !evaluation.others.is_empty() {
            return Vec::new();
        }
        if questions.is_empty() {
            return vec![Warning::NoQuestions { reference: inputs.reference.name().to_owned() }];
        }
        if !questions.ids().any(|id| answers.has(id)) {
            let responses = inputs.responses.name().to_owned();
            return vec![Warning::NothingAnswered { responses }];
        }
        if answers.have_answers() && !answers.have_steps() && expects_steps(evaluation) {
            return vec![Warning::NoSteps { responses: inputs.responses.name().to_owned() }];
        }
        Vec::new()
    }

    pub(super) fn about_scores(
        evaluation: &Evaluation<'_>,
        questions: &[QuestionSummary],
        judgements: &Judgements,
    ) -> Vec<Warning> {
        let too_large = Warning::too_large(evaluation, questions);
        too_large.into_iter().chain(Warning::no_verdict(evaluation, judgements)).collect()
    }

    fn too_large(evaluation: &Evaluation<'_>, questions: &[QuestionSummary]) -> Option<Warning> {
        let mut all = questions.iter().filter_map(|own| Some((own.index, own.too_large?)));
        let (index, first) = all.next()?;
        Some(Warning::TooLarge {
            question: evaluation.case(index, &CaseRoom::default()).case().question.id.to_string(),
            what: what_is_too_large(evaluation, index, first),
            n_others: all.count(),
            can_be_raised: first.excess.can_be_raised(),
        })
    }

    /// Returns `None` if models failed: that is reported on its own, and covers this.
    fn no_verdict(evaluation: &Evaluation<'_>, judgements: &Judgements) -> Option<Warning> {
        // A question that ended in an error is already counted as one.
        let lacks_verdict = |(index, judgement): &(usize, &Judgement)| {
            let is_error =
                |room: &CaseRoom| evaluation.case(*index, room).case().trajectory.ending.is_error();
            judgement.has_failure() && !is_error(&CaseRoom::default())
        };
        let judged = judgements.of_questions.iter().enumerate();
        let n_questions = judged.filter(lacks_verdict).count();
        let is_told = n_questions > 0 && judgements.failures().is_none();
        is_told.then_some(Warning::NoVerdict { n_questions })
    }

    /// The warning and what to do about it.
    pub fn notice(&self) -> Notice {
        let notice = Notice::new(self.to_string());
        let Warning::TooLarge { can_be_raised, .. } = self else { return notice };
        let hint = phrase![
            option_as("explain", "explain=True"),
            " tells why expected steps were not found",
            if *can_be_raised {
                "; raise the limit where references and answers can be trusted"
            } else {
                ""
            }
        ];
        notice.hint(hint)
    }
}

fn expects_steps(evaluation: &Evaluation<'_>) -> bool {
    (0..evaluation.n_cases()).any(|index| {
        let room = CaseRoom::default();
        let case = evaluation.case(index, &room);
        case.case().question.groups.as_deref().is_some_and(|groups| !groups.is_empty())
    })
}

fn what_is_too_large(evaluation: &Evaluation<'_>, index: usize, own: TooLarge) -> String {
    let told = own.excess.describe(&evaluation.plan.profile.limits);
    match own.place {
        Whose::Actual(step) => {
            let room = CaseRoom::default();
            let case = evaluation.case(index, &room);
            let steps = case.case().trajectory.steps.as_deref().unwrap_or_default();
            let id = steps.get(step).map(|own| own.id(step)).unwrap_or_default();
            let id = id.trim_matches('"');
            format!("step `{id}` returned {told}; what cannot be read matches nothing")
        }
        Whose::Expected { group, step } => {
            let (step, group) = (step + 1, group + 1);
            format!("expected step {step} of group {group} is {told}; nothing matches it")
        }
        Whose::Question => format!("its steps have {told}, so their pairing may not be the best"),
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::NoQuestions { reference } => {
                write!(f, "{reference}: the dataset has no questions")
            }
            Warning::NothingAnswered { responses } => {
                write!(f, "{responses}: no response answers a question")
            }
            Warning::NoSteps { responses } => {
                write!(f, "{responses}: no response has `actual_steps`, so steps are not scored")
            }
            Warning::TooLarge { question, what, n_others, .. } => {
                write!(f, "question `{question}`: {what}")?;
                match n_others {
                    0 => Ok(()),
                    1 => f.write_str(" (also in 1 other question)"),
                    n => write!(f, " (also in {n} other questions)"),
                }
            }
            Warning::NoVerdict { n_questions } => write!(
                f,
                "{n_questions} {} a verdict; means cover the others; see the `_error` keys of the results",
                if *n_questions == 1 { "question lacks" } else { "questions lack" }
            ),
        }
    }
}
