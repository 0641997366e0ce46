//! Recorded responses: what a subject did with each question.

mod kept;
mod parts;
mod reader;
mod record;
#[cfg(test)]
mod tests;
mod trials;

use std::borrow::Cow;
use std::num::NonZero;

use hashbrown::{HashMap, HashSet};
use juror_document::{Document, Path, Problem, Problems, UnplacedProblem};
use juror_score::{Question, Trajectory};
use trials::FurtherAnswers;

use crate::keys::Oddities;

pub use kept::{Deferred, Kept};
pub(super) use parts::ResponseParts;
pub(super) use reader::{ResponseReader, failed_trajectory};
pub use record::read_response;
pub(super) use record::{ResponseRecord, read_record};
pub use trials::RepeatedIds;

/// The responses of a file, by question: their trajectories, or what stands for them until they are
/// read again.
#[derive(Debug)]
pub struct Responses<'a, T = Trajectory<'a>> {
    /// The answer to each question; its first, if there are several.
    by_question: HashMap<Cow<'a, str>, Response<'a, T>>,
    /// The other answers to questions that have several.
    further: HashMap<Cow<'a, str>, FurtherAnswers<'a, T>>,
    missing: Trajectory<'a>,
    /// Problems such as records that could not be read; none of them stops a run.
    pub problems: Problems,
    passed_over: Oddities,
}

impl<T> Default for Responses<'_, T> {
    fn default() -> Self {
        Responses {
            by_question: HashMap::new(),
            further: HashMap::new(),
            missing: Trajectory::default(),
            problems: Problems::default(),
            passed_over: Oddities::default(),
        }
    }
}

#[derive(Debug)]
struct Response<'a, T = Trajectory<'a>> {
    trajectory: T,
    /// The text of the record.
    at: &'a str,
    path: Path,
}

impl<'a> Responses<'a> {
    /// Returns what the subject did with a question; the first time, if it was asked several times.
    #[inline]
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
    #[inline]
    pub fn has(&self, question: &Question<'_>) -> bool {
        self.answers(&question.id)
    }
}

impl<'a, T: Kept> Responses<'a, T> {
    /// Whether there is a response to the question of an id.
    #[inline]
    pub fn answers(&self, id: &str) -> bool {
        self.by_question.contains_key(id)
    }

    /// Whether any response has an answer.
    pub fn have_answers(&self) -> bool {
        self.all().any(|(_, response)| response.trajectory.has_answer())
    }

    /// Whether any response says which steps were taken.
    pub fn have_steps(&self) -> bool {
        self.all().any(|(_, response)| response.trajectory.has_steps())
    }

    /// Returns the text of a response, and what is kept of it: the first to a question, or that of a
    /// further trial if there is one.
    pub(super) fn kept_of(&self, id: &str, trial: Option<NonZero<u32>>) -> Option<(&'a str, &T)> {
        let further = trial.and_then(|trial| self.further.get(id)?.get(&trial));
        let response = further.or_else(|| self.by_question.get(id))?;
        Some((response.at, &response.trajectory))
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
        document.locate(self.passed_over.others().into_iter().collect())
    }

    /// Returns the responses to questions that are not in the dataset, in the order of the file.
    pub fn unknown(&self, document: &Document, questions: &[Question<'_>]) -> Problems {
        self.unknown_among(document, questions.iter().map(|question| question.id.as_ref()))
    }

    /// Returns the responses to questions of other ids, in the order of the file.
    pub fn unknown_among<'q>(
        &self,
        document: &Document,
        ids: impl Iterator<Item = &'q str>,
    ) -> Problems {
        let known: HashSet<&str> = ids.collect();
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
