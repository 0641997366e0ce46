//! Recorded responses: what a subject did with each question.

mod parts;
mod reader;
mod record;
#[cfg(test)]
mod tests;
mod trials;

use std::borrow::Cow;

use hashbrown::{HashMap, HashSet};
use juror_document::{Document, Path, Problem, Problems, UnplacedProblem};
use reader::ResponseReader;
use trials::FurtherAnswers;

use super::keys::Oddities;
use crate::question::Question;
use crate::trajectory::Trajectory;

pub(super) use parts::ResponseParts;
pub(super) use record::read_record;
pub use record::read_response;
pub use trials::RepeatedIds;

/// The responses of a file, by question.
#[derive(Debug, Default)]
pub struct Responses<'a> {
    /// The answer to each question; its first, if there are several.
    by_question: HashMap<Cow<'a, str>, Response<'a>>,
    /// The other answers to questions that have several.
    further: HashMap<Cow<'a, str>, FurtherAnswers<'a>>,
    missing: Trajectory<'a>,
    /// Problems such as records that could not be read; none of them stops a run.
    pub problems: Problems,
    passed_over: Oddities<'a>,
}

#[derive(Debug)]
struct Response<'a> {
    trajectory: Trajectory<'a>,
    /// The text of the record.
    at: &'a str,
    path: Path,
}

impl<'a> Responses<'a> {
    /// Returns what the subject did with a question; the first time, if it was asked several times.
    pub fn of(&self, question: &Question<'_>) -> &Trajectory<'a> {
        match self.by_question.get(question.id.as_ref()) {
            Some(response) => &response.trajectory,
            None => &self.missing,
        }
    }

    /// Iterates over the trajectories of all responses, in any order.
    pub fn trajectories_mut(&mut self) -> impl Iterator<Item = &mut Trajectory<'a>> {
        let further = self.further.values_mut().flat_map(FurtherAnswers::values_mut);
        let all = self.by_question.values_mut().chain(further);
        all.map(|response| &mut response.trajectory)
    }

    /// Whether a question has a response.
    pub fn has(&self, question: &Question<'_>) -> bool {
        self.by_question.contains_key(question.id.as_ref())
    }

    /// Whether any response has an answer.
    pub fn have_answers(&self) -> bool {
        self.all().any(|(_, response)| response.trajectory.answer.is_some())
    }

    /// The number of questions that have a response.
    pub fn n_questions(&self) -> usize {
        self.by_question.len()
    }

    /// The number of responses.
    pub fn len(&self) -> usize {
        self.by_question.len() + self.further.values().map(FurtherAnswers::len).sum::<usize>()
    }

    /// Whether there are no responses.
    pub fn is_empty(&self) -> bool {
        self.by_question.is_empty()
    }

    /// Returns unknown keys that resemble no known one; usually the user's own.
    pub fn other_keys(&self, document: &Document) -> Problems {
        document.locate(self.passed_over.others(document).into_iter().collect())
    }

    /// Returns the responses to questions that are not in the dataset, in the order of the file.
    pub fn unknown(&self, document: &Document, questions: &[Question<'_>]) -> Problems {
        let known: HashSet<&str> = questions.iter().map(|question| question.id.as_ref()).collect();
        let mut found: Vec<UnplacedProblem> = self
            .all()
            .filter(|(id, _)| !known.contains(id.as_ref()))
            .map(|(id, response)| UnplacedProblem {
                offset: document.offset_of(response.at),
                path: response.path.clone(),
                problem: Problem::UnknownQuestion(id.to_string()),
            })
            .collect();
        found.sort_by_key(|found| found.offset);
        document.locate(found.into_iter().collect())
    }
}

/// Reads responses: a JSON object by question id, a list, or one per line; or YAML of the same
/// shapes.
///
/// A record that cannot be read becomes a problem and an error response to its question. Only a file
/// that has none of these shapes fails as a whole.
pub fn read_responses(document: &Document) -> Result<Responses<'_>, Problems> {
    read_responses_as(document, RepeatedIds::default())
}

/// Like [`read_responses`], with a rule for several responses with the same id.
pub fn read_responses_as(
    document: &Document,
    repeated_ids: RepeatedIds,
) -> Result<Responses<'_>, Problems> {
    let mut reader = ResponseReader::new(document, repeated_ids);
    if document.is_lines() {
        reader.lines();
    } else {
        reader.whole()?;
    }
    reader.finish()
}
