//! Answers recorded earlier.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use juror_runs::RunLog;
use juror_toolbench::answer::{Answer, Recorded};

use super::attempt::Attempt;
use super::queries::Selected;
use crate::answers::{AnswerFiles, AnswersError};
use crate::places::{Place, Places, UnclearSet};

/// Recorded answers, by query.
#[derive(Debug, Default)]
pub struct RecordedAnswers {
    /// Answers from files, by id and by set if known. A query may have several.
    answers: HashMap<Key, Vec<Given>>,
    /// Attempts from another run, by set and id.
    attempts: HashMap<Key, Attempt>,
}

/// A query's set and id.
type Key = (String, String);

/// A recorded answer to a query.
#[derive(Debug)]
struct Given {
    answer: Option<Arc<Answer<'static>>>,
    /// Why there is no answer. A file may report an error next to an answer, but then it is the
    /// judge's, not the agent's.
    error: Option<String>,
}

impl RecordedAnswers {
    /// Loads another run, a file of converted answers or of results, or the logs of a method in a
    /// folder. The second part of the result describes what cannot be read.
    pub fn load(
        place: &str,
        method: Option<&str>,
    ) -> Result<(RecordedAnswers, Vec<String>), AnswersError> {
        if let Some(attempts) = RunLog::<Attempt>::read(Path::new(place))? {
            let key = |own: Attempt| ((own.set.clone(), own.query_id.clone()), own);
            let attempts = attempts.into_iter().map(key).collect();
            return Ok((RecordedAnswers { attempts, ..RecordedAnswers::default() }, Vec::new()));
        }
        let (recorded, told) = AnswerFiles::load(place, method)?.into_recorded();
        Ok((RecordedAnswers::of(recorded), told))
    }

    fn of(recorded: Vec<(String, Recorded<'static>)>) -> RecordedAnswers {
        let mut all = RecordedAnswers::default();
        for (id, Recorded { set, answer, error, .. }) in recorded {
            let given = if answer.is_nothing() {
                Given { answer: None, error: error.map(Into::into) }
            } else {
                Given { answer: Some(Arc::new(answer)), error: None }
            };
            let set = set.unwrap_or_default().into_owned();
            all.answers.entry((set, id)).or_default().push(given);
        }
        all
    }

    /// Assigns the answers to these queries, whose sets may have other names.
    pub fn paired(self, queries: &[Selected]) -> Result<RecordedAnswers, UnclearSet> {
        let places = Places::of(queries.iter().map(|own| (&*own.set, &*own.id)));
        let answers = by_place(self.answers, &places)?;
        Ok(RecordedAnswers { answers, attempts: by_place(self.attempts, &places)? })
    }

    /// Returns whether there are no answers.
    pub fn is_empty(&self) -> bool {
        let says_nothing = |given: &Given| given.answer.is_none() && given.error.is_none();
        self.answers.values().flatten().all(says_nothing) && self.attempts.is_empty()
    }

    /// Returns the queries, each repeated once per answer.
    pub fn trials(&self, queries: &[Selected]) -> Vec<Selected> {
        let trials = |own: &Selected| match self.of_query(own).len() {
            0 | 1 => vec![own.clone()],
            n => (1..=n).map(|trial| Selected { trial: Some(trial), ..own.clone() }).collect(),
        };
        queries.iter().flat_map(trials).collect()
    }

    fn of_query(&self, selected: &Selected) -> &[Given] {
        let key = (selected.set.clone(), selected.id.clone());
        self.answers.get(&key).map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns the recorded attempt at a query.
    pub(super) fn attempt(&self, selected: &Selected) -> Attempt {
        let none = Attempt::new(selected);
        if let Some(known) = self.attempts.get(&(selected.set.clone(), selected.id.clone())) {
            return Attempt { query: none.query, set: none.set, ..known.clone() };
        }
        let at = selected.trial.map_or(0, |trial| trial - 1);
        match self.of_query(selected).get(at) {
            Some(Given { answer, error }) => {
                Attempt { recorded: answer.clone(), error: error.clone(), ..none }
            }
            None => none,
        }
    }
}

fn by_place<T>(given: HashMap<Key, T>, places: &Places<'_>) -> Result<HashMap<Key, T>, UnclearSet> {
    let mut given: Vec<(Key, T)> = given.into_iter().collect();
    // Sort first: errors must not depend on the order of a hash map.
    given.sort_by(|(one, _), (other, _)| one.cmp(other));
    let keys: Vec<Place<'_>> = given.iter().map(|((set, id), _)| (&**set, &**id)).collect();
    let found = places.of_answers(&keys)?;
    let owned = |(set, id): Place<'_>| (set.to_owned(), id.to_owned());
    let paired = found.into_iter().zip(given);
    Ok(paired.filter_map(|(place, (_, own))| Some((owned(place?), own))).collect())
}
