//! Answers that were given before.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use juror_score::tool::answer::Answer;

use super::agent::nothing;
use super::journal::{Attempted, read_attempts};
use super::queries::Selected;
use crate::answers::{AnswerFiles, AnswersError};

/// Answers by the ids of their queries.
#[derive(Debug, Default)]
pub struct RecordedAnswers {
    /// Of files, which know ids alone.
    answers: HashMap<String, Arc<Answer<'static>>>,
    /// All that became of the queries of another run, by their sets and ids.
    attempts: HashMap<(String, String), Attempted>,
}

impl RecordedAnswers {
    /// Loads another run, a file of converted answers or of results, or the logs of a method in a
    /// folder; what cannot be read is told.
    pub fn load(
        place: &str,
        method: Option<&str>,
    ) -> Result<(RecordedAnswers, Vec<String>), AnswersError> {
        if let Some(attempts) = read_attempts(Path::new(place))? {
            let key = |own: Attempted| ((own.set.clone(), own.query_id.clone()), own);
            let attempts = attempts.into_iter().map(key).collect();
            return Ok((RecordedAnswers { attempts, ..RecordedAnswers::default() }, Vec::new()));
        }
        let (answers, told) = AnswerFiles::load(place, method)?.into_answers();
        let given = answers.into_iter().filter(|(_, answer)| !answer.is_nothing());
        let given = given.map(|(id, answer)| (id, Arc::new(answer)));
        Ok((RecordedAnswers { answers: given.collect(), ..RecordedAnswers::default() }, told))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.answers.is_empty() && self.attempts.is_empty()
    }

    /// What was answered to a query.
    pub(super) fn attempt(&self, selected: &Selected) -> Attempted {
        let none = nothing(selected);
        if let Some(known) = self.attempts.get(&(selected.set.clone(), selected.id.clone())) {
            return Attempted { query: none.query, ..known.clone() };
        }
        Attempted { answer: self.answers.get(&selected.id).cloned(), ..none }
    }
}
