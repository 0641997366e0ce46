//! The cases of an evaluation: every answer to every question, in the order of results.

use std::num::NonZero;

use juror_score::Case;
use juror_score::read::{Dataset, Responses};

/// The position of each case among questions and answers.
pub(super) struct Cases {
    /// `None` if no question has several answers: then a case is at the position of its question.
    several: Option<Vec<CaseAt>>,
}

/// A question, and the trial of its answer: `None` for its first answer, or if it has none.
type CaseAt = (usize, Option<NonZero<u32>>);

impl Cases {
    /// Finds all cases.
    pub(super) fn of(dataset: &Dataset<'_>, responses: &Responses<'_>) -> Cases {
        if !responses.have_trials() {
            return Cases { several: None };
        }
        let cases = dataset.questions.iter().enumerate().flat_map(|(question, own)| {
            let further = responses.further_trials(own).map(Some);
            [None].into_iter().chain(further).map(move |trial| (question, trial))
        });
        Cases { several: Some(cases.collect()) }
    }

    /// Returns the number of cases, given that of the questions.
    pub(super) fn len(&self, n_questions: usize) -> usize {
        self.several.as_ref().map_or(n_questions, Vec::len)
    }

    /// Returns the question of a case, and which of its answers it is.
    pub(super) fn place(&self, index: usize) -> (usize, u32) {
        let (question, trial) = self.several.as_ref().map_or((index, None), |all| all[index]);
        (question, trial.map_or(0, NonZero::get))
    }

    /// Returns the case at a position.
    pub(super) fn get<'r>(
        &self,
        index: usize,
        dataset: &'r Dataset<'_>,
        responses: &'r Responses<'_>,
    ) -> Case<'r> {
        let (question, trial) = self.several.as_ref().map_or((index, None), |all| all[index]);
        let question = &dataset.questions[question];
        let trajectory = match trial {
            Some(trial) => responses.of_trial(question, trial),
            None => responses.of(question),
        };
        Case { question, trajectory }
    }
}
