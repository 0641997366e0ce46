//! Answers that were given before: a file of converted answers, or a folder of agents' logs.

use std::collections::HashMap;
use std::path::Path;

use juror_score::Layout;
use juror_score::read::Problems;
use juror_score::tool::answer::{Messages, Recorded, answer_id, read_answers};
use serde_json::value::RawValue;

use super::agent::{fill_from_log, nothing};
use super::journal::Attempted;
use super::queries::Selected;
use crate::input::{LoadError, load};

/// Answers by the ids of their queries.
#[derive(Debug, Default)]
pub struct RecordedAnswers(HashMap<String, Given>);

#[derive(Debug)]
enum Given {
    /// An answer and its details.
    Answer(String, String),
    /// An agent's log, and its method.
    Log(Vec<u8>, String),
}

impl RecordedAnswers {
    /// Reads a file, or the logs of a method in a folder; what cannot be read is told.
    pub fn load(place: &str, method: &str) -> Result<(RecordedAnswers, Problems), LoadError> {
        let path = Path::new(place);
        if path.is_dir() {
            let failed = |error| LoadError::Io { name: place.to_owned(), error };
            return RecordedAnswers::load_logs(path, method)
                .map(|answers| (answers, Problems::default()))
                .map_err(failed);
        }
        let document = load(place)?;
        let (answers, problems) = read_answers(&document);
        let given = |(id, recorded): (std::borrow::Cow<'_, str>, Recorded<'_>)| {
            let mut details = String::new();
            recorded.answer.write_details(Messages::Objects, Layout::LINE, &mut details);
            let text = recorded.answer.final_text().into_owned();
            (id.into_owned(), Given::Answer(text, details))
        };
        Ok((RecordedAnswers(answers.into_iter().map(given).collect()), problems))
    }

    fn load_logs(folder: &Path, method: &str) -> std::io::Result<RecordedAnswers> {
        let mut logs = HashMap::new();
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if let Some(id) = answer_id(&name, method) {
                let log = std::fs::read(entry.path())?;
                logs.insert(id.to_owned(), Given::Log(log, method.to_owned()));
            }
        }
        Ok(RecordedAnswers(logs))
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
            Some(Given::Answer(text, details)) => {
                attempted.final_answer = (!text.is_empty()).then(|| text.clone());
                attempted.answer_details = RawValue::from_string(details.clone()).ok();
            }
            Some(Given::Log(log, method)) => {
                fill_from_log(&mut attempted, log.clone(), method);
                if attempted.answer_details.is_none() {
                    attempted.error = Some("the agent's log cannot be read".into());
                }
            }
        }
        attempted
    }
}
