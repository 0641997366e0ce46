//! Answers that were given before.

use std::collections::HashMap;
use std::path::Path;

use super::agent::{fill_from_answer, nothing};
use super::journal::{Attempted, read_attempts};
use super::queries::Selected;
use crate::answers::{AnswerFiles, AnswersError};

/// Answers by the ids of their queries.
#[derive(Debug, Default)]
pub struct RecordedAnswers(HashMap<String, Given>);

#[derive(Debug)]
enum Given {
    /// All that became of a query of another run.
    Attempt(Box<Attempted>),
    /// An answer from a file.
    Answer(Box<juror_score::tool::answer::Answer<'static>>),
}

impl RecordedAnswers {
    /// Loads another run, a file of converted answers or of results, or the logs of a method in a
    /// folder; what cannot be read is told.
    pub fn load(
        place: &str,
        method: Option<&str>,
    ) -> Result<(RecordedAnswers, Vec<String>), AnswersError> {
        if let Some(attempts) = read_attempts(Path::new(place))? {
            let given = |own: Attempted| (own.query_id.clone(), Given::Attempt(Box::new(own)));
            return Ok((RecordedAnswers(attempts.into_iter().map(given).collect()), Vec::new()));
        }
        let files = AnswerFiles::load(place, method)?;
        let (answers, told) = files.read();
        let given = answers.into_iter().map(|(id, recorded)| {
            (id.into_owned(), Given::Answer(Box::new(recorded.answer.into_owned())))
        });
        Ok((RecordedAnswers(given.collect()), told))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What was answered to a query.
    pub(super) fn attempt(&self, selected: &Selected) -> Attempted {
        let mut attempted = nothing(selected);
        match self.0.get(&selected.id) {
            None => {}
            Some(Given::Answer(answer)) => fill_from_answer(&mut attempted, answer),
            Some(Given::Attempt(known)) => {
                let Attempted { set, query_id, query, .. } = attempted;
                attempted = Attempted { set, query_id, query, ..(**known).clone() };
            }
        }
        attempted
    }
}
