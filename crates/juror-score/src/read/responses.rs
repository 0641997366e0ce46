//! Recorded responses: what a subject did with each question.

use std::borrow::Cow;

use hashbrown::{HashMap, HashSet};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::document::{Document, Found};
use super::problem::{Path, Problem, Problems};
use crate::json;
use crate::object::{MapOnly, Object};
use crate::question::Question;
use crate::skim;
use crate::trajectory::{Ending, Step, Trajectory, Usage};

/// The responses of a file, by question.
#[derive(Debug, Default)]
pub struct Responses<'a> {
    by_question: HashMap<Cow<'a, str>, Response<'a>>,
    missing: Trajectory<'a>,
    /// Records that could not be read and the like; none of them stops a run.
    pub problems: Problems,
}

#[derive(Debug)]
struct Response<'a> {
    trajectory: Trajectory<'a>,
    /// Where it stands in the file.
    at: &'a str,
}

impl<'a> Responses<'a> {
    /// What the subject did with a question.
    pub fn of(&self, question: &Question<'_>) -> &Trajectory<'a> {
        match self.by_question.get(question.id.as_ref()) {
            Some(response) => &response.trajectory,
            None => &self.missing,
        }
    }

    /// What the subject did with every question that has a response, in any order.
    pub fn trajectories_mut(&mut self) -> impl Iterator<Item = &mut Trajectory<'a>> {
        self.by_question.values_mut().map(|response| &mut response.trajectory)
    }

    /// Whether a question has a response.
    pub fn has(&self, question: &Question<'_>) -> bool {
        self.by_question.contains_key(question.id.as_ref())
    }

    /// Whether any response holds an answer.
    pub fn have_answers(&self) -> bool {
        self.by_question.values().any(|response| response.trajectory.answer.is_some())
    }

    /// How many questions have a response.
    pub fn len(&self) -> usize {
        self.by_question.len()
    }

    /// Whether no question has one.
    pub fn is_empty(&self) -> bool {
        self.by_question.is_empty()
    }

    /// The responses to questions a dataset does not have, in the order of the file.
    pub fn unknown(&self, document: &Document, questions: &[Question<'_>]) -> Problems {
        let known: HashSet<&str> = questions.iter().map(|question| question.id.as_ref()).collect();
        let mut found: Vec<Found> = self
            .by_question
            .iter()
            .filter(|(id, _)| !known.contains(id.as_ref()))
            .map(|(id, response)| Found {
                offset: document.offset_of(response.at),
                path: Path::default(),
                problem: Problem::UnknownQuestion(id.to_string()),
            })
            .collect();
        found.sort_by_key(|found| found.offset);
        document.locate(found)
    }
}

/// Reads responses: a JSON object by question id, a list, or one a line; YAML of the same shapes.
/// A record that cannot be read is a problem of its own and an error response to its question;
/// only a file that is not what it says fails as a whole.
pub fn read_responses(document: &Document) -> Result<Responses<'_>, Problems> {
    let mut reader = Reader { document, responses: Responses::default(), found: Vec::new() };
    for problem in document.bad_lines() {
        reader.responses.problems.push(problem.clone());
    }
    if document.is_lines() {
        reader.lines();
    } else {
        reader.whole()?;
    }
    let Reader { mut responses, found, .. } = reader;
    responses.problems.extend(document.locate(found));
    responses.problems.errors.sort_by_key(|error| (error.place.line, error.place.column));
    Ok(responses)
}

struct Reader<'a> {
    document: &'a Document,
    responses: Responses<'a>,
    found: Vec<Found>,
}

impl<'a> Reader<'a> {
    fn lines(&mut self) {
        const SAMPLE: usize = 64;
        const MOST: usize = 1 << 16;
        for (index, line) in self.document.lines().enumerate() {
            if index == SAMPLE {
                // Tables that grow leave gaps in memory behind them, as large as they are.
                let length = self.document.offset_of(line) / SAMPLE;
                let n_lines = self.document.json().len() / length;
                self.responses.by_question.reserve((n_lines + n_lines / 8).min(MOST));
            }
            self.record(line.trim_ascii(), None, Path::default());
        }
    }

    fn whole(&mut self) -> Result<(), Problems> {
        let text = self.document.json();
        match text.trim_ascii_start().as_bytes().first() {
            Some(b'[') => self.list(text),
            Some(b'{') => self.object(text),
            _ => {
                let is_null = text.trim_ascii() == "null" || text.trim_ascii().is_empty();
                let found = if is_null { "nothing" } else { "something else" };
                let expected = "an object or a list of responses";
                let problem = Problem::WrongType { expected, found };
                Err(self.document.locate(vec![Found { offset: 0, path: Path::default(), problem }]))
            }
        }
    }

    fn list(&mut self, text: &'a str) -> Result<(), Problems> {
        let records: Vec<&'a RawValue> =
            skim::from_str(text).map_err(|error| self.document.syntax_error(text, &error))?;
        for (index, record) in records.into_iter().enumerate() {
            self.record(record.get(), None, Path::default().index(index));
        }
        Ok(())
    }

    fn object(&mut self, text: &'a str) -> Result<(), Problems> {
        let fields: Object<'a> = match skim::from_str(text) {
            Ok(fields) => fields,
            // Several objects one after another: a file of lines under another name.
            Err(_) if self.looks_like_lines() => {
                self.lines();
                return Ok(());
            }
            Err(error) => return Err(self.document.syntax_error(text, &error)),
        };
        if fields.get("question_id").is_some_and(|id| json::scalar_text(id).is_some()) {
            self.record(text.trim_ascii(), None, Path::default());
            return Ok(());
        }
        for (id, record) in fields.iter() {
            let path = Path::default().key(&id);
            self.record(record.get(), Some(id), path);
        }
        Ok(())
    }

    fn looks_like_lines(&self) -> bool {
        let mut lines = self.document.lines();
        let whole = |line: &str| serde_json::from_str::<Object>(line).is_ok();
        lines.next().is_some_and(whole) && lines.next().is_some()
    }

    /// One record; `id` is known when records stand by id.
    fn record(&mut self, text: &'a str, id: Option<Cow<'a, str>>, path: Path) {
        match skim::from_str::<MapOnly<ResponseForm>>(text) {
            Ok(MapOnly(form)) => {
                let own = form.question_id.and_then(json::scalar_text);
                match id.or(own) {
                    Some(id) => self.put(id, form.read(), text, &path),
                    None => {
                        let problem =
                            Problem::MissingField { field: "question_id", of: "response" };
                        self.problem(text, path, problem);
                    }
                }
            }
            Err(error) => self.unreadable(text, id, &error),
        }
    }

    fn unreadable(&mut self, text: &'a str, id: Option<Cow<'a, str>>, error: &serde_json::Error) {
        let found = self.document.complaint(text, error);
        let own = || {
            let fields: Object<'a> = serde_json::from_str(text).ok()?;
            json::scalar_text(fields.get("question_id")?)
        };
        if let Some(id) = id.or_else(own) {
            let message = format!("the response could not be read: {}", found.problem);
            let message = serde_json::Value::from(message).to_string();
            let ending = Ending::Failed(Cow::Owned(message));
            let trajectory = Trajectory { ending, ..Trajectory::default() };
            self.responses.by_question.insert(id, Response { trajectory, at: text });
        }
        self.found.push(found);
    }

    fn put(&mut self, id: Cow<'a, str>, trajectory: Trajectory<'a>, at: &'a str, path: &Path) {
        let before = self.responses.by_question.insert(id.clone(), Response { trajectory, at });
        if before.is_some() {
            self.problem(at, path.clone(), Problem::DuplicateResponse(id.into_owned()));
        }
    }

    fn problem(&mut self, at: &'a str, path: Path, problem: Problem) {
        self.found.push(Found { offset: self.document.offset_of(at), path, problem });
    }
}

#[derive(Deserialize)]
struct ResponseForm<'a> {
    #[serde(borrow)]
    question_id: Option<&'a RawValue>,
    #[serde(borrow)]
    status: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    #[serde(borrow)]
    actual_answer: Option<&'a RawValue>,
    #[serde(borrow)]
    actual_steps: Option<Vec<Object<'a>>>,
    #[serde(borrow)]
    input_tokens: Option<&'a RawValue>,
    #[serde(borrow)]
    output_tokens: Option<&'a RawValue>,
    #[serde(borrow)]
    total_tokens: Option<&'a RawValue>,
    #[serde(borrow)]
    elapsed_sec: Option<&'a RawValue>,
}

impl<'a> ResponseForm<'a> {
    fn read(self) -> Trajectory<'a> {
        let says_error = self.status.is_some_and(|status| status.get() == "\"error\"");
        let ending = match self.error {
            Some(error) => Ending::Failed(Cow::Borrowed(error.get())),
            None if says_error => Ending::Failed(Cow::Borrowed("\"no error message\"")),
            None => Ending::Responded,
        };
        Trajectory {
            ending,
            answer: self.actual_answer,
            steps: self.actual_steps.map(|steps| steps.into_iter().map(Step::new).collect()),
            usage: Usage {
                input_tokens: self.input_tokens,
                output_tokens: self.output_tokens,
                total_tokens: self.total_tokens,
                elapsed_sec: self.elapsed_sec,
            },
        }
    }
}
