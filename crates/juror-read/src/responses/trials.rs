//! Several answers to the same question.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::num::NonZero;

use hashbrown::hash_map::Entry;
use juror_document::Problem;
use juror_score::{Question, Trajectory};

use super::{Kept, Response, Responses};

/// What several responses with the same id are, unless they have a `trial`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RepeatedIds {
    /// A mistake; the last one counts.
    #[default]
    LastCounts,
    /// Several answers to the question, numbered in the order of the file.
    Trials,
}

/// The answers to a question after the first, by trial.
pub(super) type FurtherAnswers<'a, T> = BTreeMap<NonZero<u32>, Response<'a, T>>;

impl<'a> Responses<'a> {
    /// Returns what the subject did with a question in one of its further trials; in any other, its
    /// first answer.
    pub fn of_trial(&self, question: &Question<'_>, trial: NonZero<u32>) -> &Trajectory<'a> {
        let further = self.further.get(question.id.as_ref());
        let found = further.and_then(|answers| answers.get(&trial));
        found.map_or_else(|| self.of(question), |response| &response.trajectory)
    }
}

impl<'a, T: Kept> Responses<'a, T> {
    /// Whether any question has several answers.
    pub fn have_trials(&self) -> bool {
        !self.further.is_empty()
    }

    /// Returns the trials of the question of an id after its first answer, in order.
    pub fn further_trials(&self, id: &str) -> impl Iterator<Item = NonZero<u32>> {
        self.further.get(id).into_iter().flat_map(BTreeMap::keys).copied()
    }

    /// Returns which trial the first answer to the question of an id is, if it says so.
    pub fn first_trial(&self, id: &str) -> Option<NonZero<u32>> {
        self.by_question.get(id)?.trajectory.trial()
    }

    /// Iterates over all responses, in any order.
    pub(super) fn all(&self) -> impl Iterator<Item = (&Cow<'a, str>, &Response<'a, T>)> {
        let further = self.further.iter();
        let further =
            further.flat_map(|(id, own)| own.values().map(move |response| (id, response)));
        self.by_question.iter().chain(further)
    }

    /// Adds a response. Returns a problem if it takes the place of another.
    pub(super) fn put(
        &mut self,
        id: Cow<'a, str>,
        response: Response<'a, T>,
        repeated_ids: RepeatedIds,
    ) -> Option<Problem> {
        match self.by_question.entry(id) {
            Entry::Vacant(place) => {
                place.insert(response);
                None
            }
            Entry::Occupied(first) => {
                let id = first.key().clone();
                self.put_further(id, response, repeated_ids)
            }
        }
    }

    /// Adds a response to a question that has one.
    fn put_further(
        &mut self,
        id: Cow<'a, str>,
        mut response: Response<'a, T>,
        repeated_ids: RepeatedIds,
    ) -> Option<Problem> {
        let first = self.by_question.get_mut(&id)?;
        let further = self.further.get_mut(&id);
        if repeated_ids == RepeatedIds::Trials && response.trajectory.trial().is_none() {
            let last = further.as_ref().and_then(|answers| answers.keys().next_back());
            let last = last.copied().max(Some(first.number()));
            response.trajectory.set_trial(last.map(|last| last.saturating_add(1)));
        }
        let trial = response.number();
        let taken = match further {
            _ if first.number() == trial => Some(first),
            Some(further) => further.get_mut(&trial),
            None => None,
        };
        match taken {
            Some(taken) => Some(taken.replace(response, id)),
            None => {
                self.further.entry(id).or_default().insert(trial, response);
                None
            }
        }
    }

    /// Gives every one of several answers its number, and puts the first trial first.
    pub(super) fn number_trials(&mut self) {
        for (id, further) in &mut self.further {
            let Some(first) = self.by_question.get_mut(id) else { continue };
            let trial = first.number();
            if let Some(lowest) = further.first_entry().filter(|own| *own.key() < trial) {
                let lowest = lowest.remove();
                further.insert(trial, std::mem::replace(first, lowest));
            }
            first.trajectory.set_trial(Some(first.number()));
            for (trial, response) in further {
                response.trajectory.set_trial(Some(*trial));
            }
        }
    }
}

impl<'a, T: Kept> Response<'a, T> {
    /// Returns the number of its trial; an answer without one is the first.
    fn number(&self) -> NonZero<u32> {
        self.trajectory.trial().unwrap_or(NonZero::<u32>::MIN)
    }

    /// Replaces it by a later response, and says so.
    fn replace(&mut self, later: Response<'a, T>, id: Cow<'a, str>) -> Problem {
        let trial = later.trajectory.trial();
        *self = later;
        let question = id.into_owned();
        match trial {
            Some(trial) => Problem::DuplicateTrial { question, trial: trial.get() },
            None => Problem::DuplicateResponse(question),
        }
    }
}
