//! Answers that were given before.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use juror_score::tool::answer::{Answer, Thoughts, convert};

use super::agent::nothing;
use super::journal::{Attempted, read_attempts};
use super::queries::Selected;
use crate::answers::{AnswerFiles, AnswersError, log_files};
use crate::input::load;

/// Answers by the ids of their queries.
#[derive(Debug, Default)]
pub struct RecordedAnswers(HashMap<String, Given>);

#[derive(Debug)]
enum Given {
    /// All that became of a query of another run.
    Attempt(Box<Attempted>),
    /// An answer from a file.
    Answer(Arc<Answer<'static>>),
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
        if Path::new(place).is_dir() {
            return RecordedAnswers::load_logs(place, method);
        }
        let files = AnswerFiles::load(place, method)?;
        let (answers, told) = files.read();
        let given = answers.into_iter().map(|(id, recorded)| {
            (id.into_owned(), Given::Answer(Arc::new(recorded.answer.into_owned())))
        });
        Ok((RecordedAnswers(given.collect()), told))
    }

    /// Logs are converted one by one on all cores, and none is kept.
    fn load_logs(
        folder: &str,
        method: Option<&str>,
    ) -> Result<(RecordedAnswers, Vec<String>), AnswersError> {
        let read = |(id, path): &(String, String)| -> Result<(String, Given), String> {
            let log = load(path).map_err(|error| error.to_string())?;
            let recorded = convert(&log, method.unwrap_or_default(), Thoughts::Dropped);
            let answer = recorded.map_err(|problems| problems.to_string())?.answer.into_owned();
            Ok((id.clone(), Given::Answer(Arc::new(answer))))
        };
        let logs = log_files(folder, method)?;
        let n_cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let mut answers = HashMap::with_capacity(logs.len());
        let mut told = Vec::new();
        std::thread::scope(|scope| {
            let read_all = |part: &[(String, String)]| part.iter().map(read).collect::<Vec<_>>();
            let parts = logs.chunks(logs.len().div_ceil(n_cores).max(1));
            let work: Vec<_> = parts.map(|part| scope.spawn(move || read_all(part))).collect();
            for outcome in work.into_iter().flat_map(|part| {
                part.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            }) {
                match outcome {
                    Ok((id, given)) => drop(answers.insert(id, given)),
                    Err(why) => told.push(why),
                }
            }
        });
        Ok((RecordedAnswers(answers), told))
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
            Some(Given::Answer(answer)) => attempted.answer = Some(answer.clone()),
            Some(Given::Attempt(known)) => {
                let Attempted { set, query_id, query, .. } = attempted;
                attempted = Attempted { set, query_id, query, ..(**known).clone() };
            }
        }
        attempted
    }
}
