//! The cases of an evaluation: every answer to every question, in the order of results.

use std::num::NonZero;

use juror_score::Case;
use juror_score::read::{Dataset, Responses};

/// The position of each case among questions and answers.
pub(super) struct Cases {
    /// `None` if no question has several answers: then a case is at the position of its question.
    several: Option<Vec<CaseAt>>,
}

/// A case: a question, and one of its answers.
struct CaseAt {
    question: usize,
    /// The trial of the answer; `None` for the first answer, and for questions without any.
    further: Option<NonZero<u32>>,
}

impl Cases {
    /// Finds all cases.
    pub(super) fn of(dataset: &Dataset<'_>, responses: &Responses<'_>) -> Cases {
        if !responses.have_trials() {
            return Cases { several: None };
        }
        let cases = dataset.questions.iter().enumerate().flat_map(|(question, own)| {
            let further = responses.further_trials(own).map(Some);
            [None].into_iter().chain(further).map(move |further| CaseAt { question, further })
        });
        Cases { several: Some(cases.collect()) }
    }

    /// Returns the number of cases, given that of the questions.
    pub(super) fn len(&self, n_questions: usize) -> usize {
        self.several.as_ref().map_or(n_questions, Vec::len)
    }

    /// Returns the case at a position.
    pub(super) fn get<'r>(
        &self,
        index: usize,
        dataset: &'r Dataset<'_>,
        responses: &'r Responses<'_>,
    ) -> Case<'r> {
        let CaseAt { question, further } = match &self.several {
            Some(several) => &several[index],
            None => &CaseAt { question: index, further: None },
        };
        let question = &dataset.questions[*question];
        let trajectory = match further {
            Some(trial) => responses.of_trial(question, *trial),
            None => responses.of(question),
        };
        Case { question, trajectory }
    }
}
