//! The cases of an evaluation: every answer to every question, in the order of results.

use std::num::NonZero;

use juror_read::{Answers, Questions};

/// The position of each case among questions and answers.
pub(super) struct Cases {
    /// `None` if no question has several answers: then a case is at the position of its question.
    several: Option<Vec<CaseAt>>,
}

/// A question, and the trial of its answer: `None` for its first answer, or if it has none.
pub(super) type CaseAt = (usize, Option<NonZero<u32>>);

impl Cases {
    /// Finds all cases.
    pub(super) fn of(questions: &Questions<'_>, answers: &Answers<'_>) -> Cases {
        if !answers.have_trials() {
            return Cases { several: None };
        }
        let cases = questions.ids().enumerate().flat_map(|(question, id)| {
            let further = answers.further_trials(id).into_iter().map(Some);
            [None].into_iter().chain(further).map(move |trial| (question, trial))
        });
        Cases { several: Some(cases.collect()) }
    }

    /// Returns the number of cases, given that of the questions.
    pub(super) fn len(&self, n_questions: usize) -> usize {
        self.several.as_ref().map_or(n_questions, Vec::len)
    }

    /// Returns the question at a position, and which of its answers.
    pub(super) fn at(&self, index: usize) -> CaseAt {
        self.several.as_ref().map_or((index, None), |all| all[index])
    }

    /// Returns the question of a case, and which of its answers it is.
    pub(super) fn place(&self, index: usize) -> (usize, u32) {
        let (question, trial) = self.at(index);
        (question, trial.map_or(0, NonZero::get))
    }
}
