//! Answers recorded earlier.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use juror_runs::RunLog;
use juror_toolbench::answer::{Answer, Recorded};
use juror_toolbench::{Place, Places, UnclearSet};

use crate::answers::{AnswerFiles, AnswersError};
use crate::attempt::Attempt;
use crate::queries::Selected;

/// Recorded answers, by query.
#[derive(Debug, Default)]
pub struct RecordedAnswers {
    /// Answers from files, by id and by set if known. A query may have several.
    answers: HashMap<Key, Vec<Given>>,
    /// Attempts from another run, by set and id. There are several if the run has trials.
    attempts: HashMap<Key, Vec<Attempt>>,
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
            return Ok((RecordedAnswers::of_run(attempts), Vec::new()));
        }
        let (recorded, told) = AnswerFiles::load(place, method)?.into_recorded();
        Ok((RecordedAnswers::of(recorded), told))
    }

    fn of_run(mut attempts: Vec<Attempt>) -> RecordedAnswers {
        attempts.sort_by_key(Attempt::trial_number);
        let mut all = RecordedAnswers::default();
        for attempt in attempts {
            let key = (attempt.set.clone(), attempt.query_id.clone());
            all.attempts.entry(key).or_default().push(attempt);
        }
        all
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

    /// Returns the queries, each repeated once per answer. Attempts keep the numbers of their
    /// trials.
    pub fn trials(&self, queries: &[Selected]) -> Vec<Selected> {
        let trials = |own: &Selected| -> Vec<Selected> {
            let with = |trial| Selected { trial, ..own.clone() };
            match (self.attempts_at(own), self.answers_to(own).len()) {
                ([], 0 | 1) => vec![own.clone()],
                ([], n) => (1..=n).map(|trial| with(Some(trial))).collect(),
                ([attempt], _) => vec![with(attempt.trial)],
                (several, _) => several.iter().map(|own| with(Some(own.trial_number()))).collect(),
            }
        };
        queries.iter().flat_map(trials).collect()
    }

    fn answers_to(&self, selected: &Selected) -> &[Given] {
        let key = (selected.set.clone(), selected.id.clone());
        self.answers.get(&key).map(Vec::as_slice).unwrap_or_default()
    }

    fn attempts_at(&self, selected: &Selected) -> &[Attempt] {
        let key = (selected.set.clone(), selected.id.clone());
        self.attempts.get(&key).map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns the recorded attempt at a query.
    pub(super) fn attempt(&self, selected: &Selected) -> Attempt {
        let none = Attempt::new(selected);
        let trial = selected.trial.unwrap_or(1);
        let mut attempts = self.attempts_at(selected).iter();
        if let Some(known) = attempts.find(|own| own.trial_number() == trial) {
            let Attempt { set, trial, query, .. } = none;
            return Attempt { set, trial, query, ..known.clone() };
        }
        match trial.checked_sub(1).and_then(|at| self.answers_to(selected).get(at)) {
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
