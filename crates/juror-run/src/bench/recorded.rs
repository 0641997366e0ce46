//! Answers that were given before.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use juror_score::tool::answer::{Answer, Recorded};

use super::agent::nothing;
use super::journal::{Attempted, read_attempts};
use super::queries::Selected;
use crate::answers::{AnswerFiles, AnswersError};

/// Answers by their queries.
#[derive(Debug, Default)]
pub struct RecordedAnswers {
    /// Of files, by sets, where there are several, and ids. There may be several of a query.
    answers: HashMap<(String, String), Vec<Option<Arc<Answer<'static>>>>>,
    has_sets: bool,
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
        let (recorded, told) = AnswerFiles::load(place, method)?.into_recorded();
        Ok((RecordedAnswers::of(recorded), told))
    }

    fn of(recorded: Vec<(String, Recorded<'static>)>) -> RecordedAnswers {
        let sets: HashSet<&str> =
            recorded.iter().filter_map(|(_, own)| own.set.as_deref()).collect();
        let mut all = RecordedAnswers { has_sets: sets.len() > 1, ..RecordedAnswers::default() };
        for (id, Recorded { set, answer, .. }) in recorded {
            let set = set.filter(|_| all.has_sets).unwrap_or_default().into_owned();
            let given = (!answer.is_nothing()).then(|| Arc::new(answer));
            all.answers.entry((set, id)).or_default().push(given);
        }
        all
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        let has_none = |answers: &Vec<Option<_>>| answers.iter().all(Option::is_none);
        self.answers.values().all(has_none) && self.attempts.is_empty()
    }

    /// The queries, each as often as it was answered.
    pub fn trials(&self, queries: &[Selected]) -> Vec<Selected> {
        let trials = |own: &Selected| match self.of_query(own).len() {
            0 | 1 => vec![own.clone()],
            n => (1..=n).map(|trial| Selected { trial: Some(trial), ..own.clone() }).collect(),
        };
        queries.iter().flat_map(trials).collect()
    }

    fn of_query(&self, selected: &Selected) -> &[Option<Arc<Answer<'static>>>] {
        let set = if self.has_sets { selected.set.clone() } else { String::new() };
        self.answers.get(&(set, selected.id.clone())).map(Vec::as_slice).unwrap_or_default()
    }

    /// What was answered to a query.
    pub(super) fn attempt(&self, selected: &Selected) -> Attempted {
        let none = nothing(selected);
        if let Some(known) = self.attempts.get(&(selected.set.clone(), selected.id.clone())) {
            return Attempted { query: none.query, ..known.clone() };
        }
        let at = selected.trial.map_or(0, |trial| trial - 1);
        Attempted { answer: self.of_query(selected).get(at).cloned().flatten(), ..none }
    }
}
