//! Answers that were given before.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use juror_toolbench::answer::{Answer, Recorded};

use super::attempt::Attempt;
use super::queries::Selected;
use crate::answers::{AnswerFiles, AnswersError};
use crate::places::{Place, Places, UnclearSet};
use crate::run_log::RunLog;

/// Answers by their queries.
#[derive(Debug, Default)]
pub struct RecordedAnswers {
    /// Answers of files, by ids and by sets if those are known. There may be several to a query.
    answers: HashMap<Key, Vec<Given>>,
    /// All that became of the queries of another run, by their sets and ids.
    attempts: HashMap<Key, Attempt>,
}

/// A query's set and id.
type Key = (String, String);

/// What a file says of a query.
#[derive(Debug)]
struct Given {
    answer: Option<Arc<Answer<'static>>>,
    /// Why there is no answer. Beside an answer a file may tell what went wrong with its judge,
    /// which is not the agent's error.
    error: Option<String>,
}

impl RecordedAnswers {
    /// Loads another run, a file of converted answers or of results, or the logs of a method in a
    /// folder. The second part says what cannot be read.
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

    /// The same by the queries that are asked now, whose sets may be named otherwise.
    pub fn paired(self, queries: &[Selected]) -> Result<RecordedAnswers, UnclearSet> {
        let places = Places::of(queries.iter().map(|own| (&*own.set, &*own.id)));
        let answers = by_place(self.answers, &places)?;
        Ok(RecordedAnswers { answers, attempts: by_place(self.attempts, &places)? })
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        let says_nothing = |given: &Given| given.answer.is_none() && given.error.is_none();
        self.answers.values().flatten().all(says_nothing) && self.attempts.is_empty()
    }

    /// The queries, each as often as it was answered.
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

    /// What was answered to a query.
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
    // Errors must not depend on the order of a hash map.
    given.sort_by(|(one, _), (other, _)| one.cmp(other));
    let keys: Vec<Place<'_>> = given.iter().map(|((set, id), _)| (&**set, &**id)).collect();
    let found = places.of_answers(&keys)?;
    let owned = |(set, id): Place<'_>| (set.to_owned(), id.to_owned());
    let paired = found.into_iter().zip(given);
    Ok(paired.filter_map(|(place, (_, own))| Some((owned(place?), own))).collect())
}
