//! Inputs that may be larger than memory.
//!
//! A question or response takes several times more memory once it is read than what is needed to
//! find it again. So files of lines from some size on are read twice: first from front to end, which
//! finds every problem and leaves an index of ids and places; then question by question, each when it
//! is scored. The text stays in the mapped file, and the system keeps as much of it in memory as there
//! is room for.
//!
//! What comes out is the same either way, to the byte.

mod questions;
mod responses;
#[cfg(test)]
mod tests;

use std::num::NonZero;
use std::ops::Deref;
use std::sync::OnceLock;
use std::thread;

use juror_document::{Document, Problems};
use juror_score::{Case, Profile, Question, Trajectory};

use crate::both::{ReadOptions, read_both};
use crate::reference::{Dataset, read_reference};
use crate::responses::{Deferred, Responses, read_responses_as};

pub use questions::QuestionIndex;

/// Smaller files of lines are kept in memory: reading them once is faster than twice.
pub const KEPT_BELOW: usize = 256 << 20;

/// The questions of a reference: kept in memory, or read when they are needed.
#[derive(Debug)]
pub enum Questions<'a> {
    /// In memory.
    Kept(Dataset<'a>),
    /// In a file of lines.
    Indexed(QuestionIndex<'a>),
}

/// The responses of a file: kept in memory, or read when they are needed.
#[derive(Debug)]
pub enum Answers<'a> {
    /// In memory.
    Kept(Responses<'a>),
    /// In a file of lines.
    Deferred(Responses<'a, Deferred>),
}

/// Something that is kept, or was read just now.
#[derive(Debug)]
pub enum Held<'r, T> {
    /// Kept by somebody else.
    Kept(&'r T),
    /// Read for whoever holds it.
    Read(T),
}

impl<T> Deref for Held<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        match self {
            Held::Kept(kept) => kept,
            Held::Read(read) => read,
        }
    }
}

/// Room for the texts of one case that cannot be read as they are, because they have a `NaN`.
#[derive(Debug, Default)]
pub struct CaseRoom {
    question: OnceLock<String>,
    response: OnceLock<String>,
}

/// A question and a response to it.
#[derive(Debug)]
pub struct ReadCase<'r> {
    question: Held<'r, Question<'r>>,
    trajectory: Held<'r, Trajectory<'r>>,
}

impl<'r> ReadCase<'r> {
    /// Reads a question, and one of the responses to it: that of a further trial, or else the first.
    /// Returns `None` if a file has changed since it was read first. Each case needs room of its own.
    pub fn of(
        questions: &'r Questions<'_>,
        answers: &'r Answers<'_>,
        (index, trial): (usize, Option<NonZero<u32>>),
        room: &'r CaseRoom,
    ) -> Option<ReadCase<'r>> {
        let question = match questions {
            Questions::Kept(dataset) => Held::Kept(&dataset.questions[index]),
            Questions::Indexed(indexed) => Held::Read(indexed.read(index, &room.question)?),
        };
        let trajectory = match (answers, trial) {
            (Answers::Kept(responses), None) => Held::Kept(responses.of(&question)),
            (Answers::Kept(responses), Some(trial)) => {
                Held::Kept(responses.of_trial(&question, trial))
            }
            (Answers::Deferred(responses), trial) => {
                Held::Read(responses.read(&question.id, trial, &room.response)?)
            }
        };
        Some(ReadCase { question, trajectory })
    }

    /// A case without anything, in place of one that cannot be read any more.
    pub fn empty() -> ReadCase<'r> {
        let question = Held::Read(questions::empty());
        ReadCase { question, trajectory: Held::Read(Trajectory::default()) }
    }

    /// Returns the case.
    #[inline]
    pub fn case(&self) -> Case<'_> {
        Case { question: &self.question, trajectory: &self.trajectory }
    }
}

impl Questions<'_> {
    /// The number of questions.
    #[inline]
    pub fn len(&self) -> usize {
        match self {
            Questions::Kept(dataset) => dataset.questions.len(),
            Questions::Indexed(indexed) => indexed.questions.len(),
        }
    }

    /// Whether there are no questions.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the id of a question.
    #[inline]
    pub fn id(&self, index: usize) -> &str {
        match self {
            Questions::Kept(dataset) => &dataset.questions[index].id,
            Questions::Indexed(indexed) => &indexed.questions[index].id,
        }
    }

    /// Iterates over the ids of all questions, in order.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|index| self.id(index))
    }

    /// Reads a question; returns `None` if the file has changed since it was read first.
    pub fn read<'r>(&'r self, index: usize, room: &'r CaseRoom) -> Option<Held<'r, Question<'r>>> {
        Some(match self {
            Questions::Kept(dataset) => Held::Kept(&dataset.questions[index]),
            Questions::Indexed(indexed) => Held::Read(indexed.read(index, &room.question)?),
        })
    }

    /// Problems of the reference that do not prevent scoring.
    pub fn warnings(&self) -> &Problems {
        match self {
            Questions::Kept(dataset) => &dataset.warnings,
            Questions::Indexed(indexed) => &indexed.warnings,
        }
    }

    /// Leaves out all questions but the first ones.
    pub fn truncate(&mut self, n: usize) {
        match self {
            Questions::Kept(dataset) => dataset.questions.truncate(n),
            Questions::Indexed(indexed) => indexed.questions.truncate(n),
        }
    }

    /// Keeps the questions at some positions, and returns the ids of the others.
    pub fn keep(&mut self, is_kept: impl Fn(usize) -> bool) -> Vec<Box<str>> {
        let left_out = (0..self.len()).filter(|at| !is_kept(*at));
        let others = left_out.map(|at| Box::from(self.id(at))).collect();
        let mut positions = 0..;
        let mut keeps_next = || positions.next().is_some_and(&is_kept);
        match self {
            Questions::Kept(dataset) => dataset.questions.retain(|_| keeps_next()),
            Questions::Indexed(indexed) => indexed.questions.retain(|_| keeps_next()),
        }
        others
    }

    /// Leaves out questions by their ids.
    pub fn retain(&mut self, is_kept: impl Fn(&str) -> bool) {
        match self {
            Questions::Kept(dataset) => dataset.questions.retain(|own| is_kept(&own.id)),
            Questions::Indexed(indexed) => indexed.questions.retain(|own| is_kept(&own.id)),
        }
    }
}

impl Answers<'_> {
    /// Whether there is a response to the question of an id.
    pub fn has(&self, id: &str) -> bool {
        match self {
            Answers::Kept(responses) => responses.answers(id),
            Answers::Deferred(responses) => responses.answers(id),
        }
    }

    /// Whether any response has an answer.
    pub fn have_answers(&self) -> bool {
        match self {
            Answers::Kept(responses) => responses.have_answers(),
            Answers::Deferred(responses) => responses.have_answers(),
        }
    }

    /// Whether any response says which steps were taken.
    pub fn have_steps(&self) -> bool {
        match self {
            Answers::Kept(responses) => responses.have_steps(),
            Answers::Deferred(responses) => responses.have_steps(),
        }
    }

    /// Whether any question has several answers.
    pub fn have_trials(&self) -> bool {
        match self {
            Answers::Kept(responses) => responses.have_trials(),
            Answers::Deferred(responses) => responses.have_trials(),
        }
    }

    /// Returns the trials of the question of an id after its first answer, in order.
    pub fn further_trials(&self, id: &str) -> Vec<NonZero<u32>> {
        match self {
            Answers::Kept(responses) => responses.further_trials(id).collect(),
            Answers::Deferred(responses) => responses.further_trials(id).collect(),
        }
    }

    /// Returns which trial the first answer to the question of an id is, if it says so.
    pub fn first_trial(&self, id: &str) -> Option<NonZero<u32>> {
        match self {
            Answers::Kept(responses) => responses.first_trial(id),
            Answers::Deferred(responses) => responses.first_trial(id),
        }
    }

    /// Problems such as records that could not be read; none of them stops a run.
    pub fn problems(&self) -> &Problems {
        match self {
            Answers::Kept(responses) => &responses.problems,
            Answers::Deferred(responses) => &responses.problems,
        }
    }

    /// Returns the responses to questions of other ids than these, in the order of the file.
    pub fn unknown<'q>(
        &self,
        document: &Document,
        known: impl Iterator<Item = &'q str>,
    ) -> Problems {
        match self {
            Answers::Kept(responses) => responses.unknown_among(document, known),
            Answers::Deferred(responses) => responses.unknown_among(document, known),
        }
    }
}

/// Reads a reference and responses on several threads, and keeps in memory what is small or not a file
/// of lines. Warnings are those by the rules of a profile.
pub fn read_inputs<'a>(
    reference: &'a Document,
    responses: &'a Document,
    profile: &Profile,
    options: ReadOptions,
) -> (Result<Questions<'a>, Problems>, Result<Answers<'a>, Problems>) {
    let ReadOptions { n_threads, repeated_ids, kept_below } = options;
    let is_large = |document: &Document| {
        document.is_lines() && kept_below.is_some_and(|least| document.json().len() >= least)
    };
    let checked = |mut dataset: Dataset<'a>| {
        dataset.check_outputs(reference, profile);
        Questions::Kept(dataset)
    };
    let index = || questions::read(reference, profile, n_threads).map(Questions::Indexed);
    let defer = || responses::read(responses, repeated_ids, n_threads).map(Answers::Deferred);
    match (is_large(reference), is_large(responses)) {
        (false, false) => {
            let (questions, answers) = read_both(reference, responses, options);
            (questions.map(checked), answers.map(Answers::Kept))
        }
        (true, true) => (index(), defer()),
        (true, false) => beside(n_threads, index, || {
            read_responses_as(responses, repeated_ids).map(Answers::Kept)
        }),
        (false, true) => {
            let (answers, questions) =
                beside(n_threads, defer, || read_reference(reference).map(checked));
            (questions, answers)
        }
    }
}

/// Does two things, at the same time if there may be several threads.
fn beside<A, B: Send>(
    n_threads: usize,
    one: impl FnOnce() -> A,
    other: impl FnOnce() -> B + Send,
) -> (A, B) {
    if n_threads < 2 {
        return (one(), other());
    }
    thread::scope(|scope| {
        let other = scope.spawn(other);
        (one(), other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}
