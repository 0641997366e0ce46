//! Collects the records of a file, with every problem.

use std::borrow::Cow;

use hashbrown::HashMap;
use juror_document::{
    DatasetError, Document, FoundProblems, NotNumber, Path, Problem, Problems, Segment,
    UnplacedProblem, lines_of,
};
use juror_json::{self as json, Object};
use serde_json::value::RawValue;

use super::parts::about_lines;
use super::record::{ResponseRecord, read_record, trial_of};
use super::{RepeatedIds, Response, Responses};
use crate::read::keys::{Oddities, Of, misspelt};
use crate::stats::Number;
use crate::trajectory::{Ending, Status, Trajectory};

pub(super) struct ResponseReader<'a> {
    document: &'a Document,
    repeated_ids: RepeatedIds,
    pub(super) responses: Responses<'a>,
    found: FoundProblems,
    passed_over: Oddities<'a>,
    /// The number of records that are responses, readable or not.
    n_responses: usize,
    /// The first record that is not empty and not a response.
    first_other: Option<(&'a str, Path)>,
    /// Keys used twice in a record, by the first segment of the record's path.
    repeated_in: HashMap<Option<Segment>, RepeatedKeys>,
    /// Those of them that are reported.
    repeated: Vec<DatasetError>,
}

/// Keys used twice in a record, or in several records of the same id.
struct RepeatedKeys {
    first: Problem,
    /// Those that are not reported yet.
    pending: Vec<DatasetError>,
}

impl<'a> ResponseReader<'a> {
    pub(super) fn new(document: &'a Document, repeated_ids: RepeatedIds) -> ResponseReader<'a> {
        ResponseReader {
            document,
            repeated_ids,
            responses: Responses::default(),
            found: FoundProblems::default(),
            passed_over: Oddities::default(),
            n_responses: 0,
            first_other: None,
            repeated_in: HashMap::new(),
            repeated: Vec::new(),
        }
    }

    /// Returns the responses. Fails if the file has records and none of them is a response: it is
    /// probably the wrong file, and every question would silently count as unanswered.
    pub(super) fn finish(self) -> Result<Responses<'a>, Problems> {
        let ResponseReader { document, mut responses, mut found, passed_over, .. } = self;
        if let (0, Some((record, path))) = (self.n_responses, self.first_other) {
            let fields: Option<Object<'_>> = serde_json::from_str(record).ok();
            let near = fields.and_then(|fields| misspelt(Of::Response, &fields).next());
            let problem = Problem::NoResponses { found: describe_record(record), near };
            let offset = document.offset_of(record);
            return Err(document.locate(UnplacedProblem { offset, path, problem }.into()));
        }
        responses.number_trials();
        found.extend(passed_over.mistakes(document));
        responses.passed_over = passed_over;
        let mut problems = document.locate(found);
        let mut errors = std::mem::take(&mut problems.errors);
        errors.extend(document.bad_lines().iter().cloned());
        errors.extend(document.hints());
        errors.extend(self.repeated);
        errors.sort_by_key(|error| (error.place.line, error.place.column));
        responses.problems = problems;
        // Sorted first, so that the problems of the first lines are kept if there are too many.
        for error in errors {
            responses.problems.push(error);
        }
        Ok(responses)
    }

    /// Reads one record per line.
    pub(super) fn lines(&mut self) {
        let text = self.document.json();
        // A table that grows leaves gaps of its former sizes in memory.
        self.responses.by_question.reserve(about_lines(text));
        for line in lines_of(text) {
            self.take(line, read_record(line), None, Path::default());
        }
    }

    /// Reads a file that is one value.
    pub(super) fn whole(&mut self) -> Result<(), Problems> {
        let text = self.document.json();
        match text.trim_ascii_start().as_bytes().first() {
            Some(b'[') => self.list(text),
            Some(b'{') => self.object(text),
            _ => {
                let is_null = text.trim_ascii() == "null" || text.trim_ascii().is_empty();
                let found = if is_null { "nothing" } else { "something else" };
                let expected = "an object or a list of responses";
                let problem = Problem::WrongType { expected, found };
                let found = UnplacedProblem { offset: 0, path: Path::default(), problem };
                Err(self.document.locate(found.into()))
            }
        }
    }

    fn list(&mut self, text: &'a str) -> Result<(), Problems> {
        let document = self.document;
        let records: Vec<&'a RawValue> =
            document.parse(text).map_err(|(text, error)| document.syntax_error(text, &error))?;
        for (index, record) in records.into_iter().enumerate() {
            self.record(record.get(), None, Path::default().index(index));
        }
        Ok(())
    }

    fn object(&mut self, text: &'a str) -> Result<(), Problems> {
        let document = self.document;
        let fields: Object<'a> = match document.parse(text) {
            Ok(fields) => fields,
            // Several objects one after another: a file of lines with another extension.
            Err(_) if self.looks_like_lines() => {
                self.lines();
                return Ok(());
            }
            Err((text, error)) => return Err(document.syntax_error(text, &error)),
        };
        if fields.get("question_id").is_some_and(|id| json::scalar_text(id).is_some()) {
            let text = document.with_quotes(text).unwrap_or(text);
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
        let whole = |line| self.document.parse::<Object<'_>>(line).is_ok();
        lines.next().is_some_and(whole) && lines.next().is_some()
    }

    /// Reads one record; `id` is known if records are stored by id.
    fn record(&mut self, text: &'a str, id: Option<Cow<'a, str>>, path: Path) {
        self.take(text, read_record(text), id, path);
    }

    /// Adds a record that was read.
    pub(super) fn take(
        &mut self,
        text: &'a str,
        record: Result<ResponseRecord<'a>, serde_json::Error>,
        id: Option<Cow<'a, str>>,
        path: Path,
    ) {
        if let Some(problem) = self.repeated_key(&path) {
            self.n_responses += 1;
            self.failed(text, id, path, &problem);
            return;
        }
        match record {
            Ok(mut record) => {
                record.id = id.or(record.id);
                self.note(&record, text, &path);
                match record.id {
                    Some(id) => self.put(id, record.trajectory, text, path),
                    None => {
                        let problem =
                            Problem::MissingField { field: "question_id", of: "response" };
                        self.problem(text, path, problem);
                    }
                }
            }
            Err(error) => {
                if let Some(text) = self.document.with_quotes(text) {
                    return self.take(text, read_record(text), id, path);
                }
                // A broken object was probably meant to be a response.
                if text.starts_with('{') {
                    self.n_responses += 1;
                } else if text != "null" {
                    self.first_other.get_or_insert((text, path.clone()));
                }
                self.unreadable(text, id, path, &error);
            }
        }
    }

    /// Records what is odd about a readable record: unknown keys, statuses, and numbers.
    fn note(&mut self, record: &ResponseRecord<'a>, text: &'a str, path: &Path) {
        if record.says_something && record.id.is_some() {
            self.n_responses += 1;
        } else if record.says_something || !record.unknown.is_empty() {
            self.first_other.get_or_insert((text, path.clone()));
        }
        if let Some(trial) = record.no_trial {
            self.passed_over.no_trial(trial.get(), || path.key("trial"));
        }
        let steps = record.trajectory.steps.as_deref().unwrap_or_default();
        for (step, key) in &record.unknown {
            let place = |step: &usize| path.key("actual_steps").index(*step);
            let path = || step.as_ref().map_or_else(|| path.clone(), place).key(key);
            match step {
                None => self.passed_over.key(Of::Response, key, |key| record.has(key), path),
                Some(index) => {
                    let has = |key: &str| steps[*index].fields.get(key).is_some();
                    self.passed_over.key(Of::Step, key, has, path);
                }
            }
        }
        for (index, step) in steps.iter().enumerate() {
            if step.status == Status::Other
                && let Some(status) = step.fields.get("status")
            {
                let word = status.get().trim_matches('"');
                let place = || path.key("actual_steps").index(index).key("status");
                self.passed_over.no_status(word, place);
            }
        }
        for (name, value) in record.trajectory.usage.iter() {
            // The document reports `NaN` and infinities itself.
            let is_reported = matches!(value.get(), "\"NaN\"" | "\"Infinity\"" | "\"-Infinity\"");
            let found = match value.get().as_bytes() {
                _ if is_reported => continue,
                [b'"' | b't' | b'f' | b'[' | b'{', ..] => NotNumber::Other(json::kind_of(value)),
                [b'-' | b'0'..=b'9', ..] => match Number::from_json(value.get()) {
                    None => NotNumber::TooLarge,
                    Some(number) => {
                        if number.value < 0.0 {
                            self.passed_over.negative(name, value.get(), || path.key(name));
                        }
                        continue;
                    }
                },
                _ => continue,
            };
            self.passed_over.no_number(name, found, value.get(), || path.key(name));
        }
    }

    fn unreadable(
        &mut self,
        text: &'a str,
        id: Option<Cow<'a, str>>,
        path: Path,
        error: &serde_json::Error,
    ) {
        let mut found = self.document.complaint(text, error);
        found.path = path.clone();
        self.failed(text, id, path, &found.problem);
        self.found.push(found);
    }

    /// Returns the first key that is used twice in a YAML record, if any. Nobody knows which value was
    /// meant, and no score may rest on a guess.
    fn repeated_key(&mut self, record: &Path) -> Option<Problem> {
        let all = self.document.repeated_keys();
        if all.is_empty() {
            return None;
        }
        if self.repeated_in.is_empty() {
            self.repeated_in = by_record(all, record.0.len());
        }
        let found = self.repeated_in.get_mut(&record.0.first().cloned())?;
        self.repeated.append(&mut found.pending);
        Some(found.first.clone())
    }

    /// Adds an error response for a record that could not be read, if its question is known.
    fn failed(&mut self, text: &'a str, id: Option<Cow<'a, str>>, path: Path, why: &Problem) {
        let fields: Object<'a> = serde_json::from_str(text).unwrap_or_default();
        let own = || json::scalar_text(fields.get("question_id")?);
        if let Some(id) = id.or_else(own) {
            let trial = fields.get("trial").and_then(trial_of);
            let message = format!("the response could not be read: {why}");
            let message = serde_json::Value::from(message).to_string();
            let ending = Ending::Failed(Cow::Owned(message));
            let trajectory = Trajectory { trial, ending, ..Trajectory::default() };
            // What is wrong with the record is reported already.
            self.responses.put(id, Response { trajectory, at: text, path }, self.repeated_ids);
        }
    }

    fn put(&mut self, id: Cow<'a, str>, trajectory: Trajectory<'a>, at: &'a str, path: Path) {
        let response = Response { trajectory, at, path: path.clone() };
        if let Some(problem) = self.responses.put(id, response, self.repeated_ids) {
            self.problem(at, path, problem);
        }
    }

    fn problem(&mut self, at: &'a str, path: Path, problem: Problem) {
        self.found.push(UnplacedProblem { offset: self.document.offset_of(at), path, problem });
    }
}

/// Groups keys that are used twice by the first segment of their records' paths, if records have
/// one, so that each is visited once, however many records there are.
fn by_record(all: &[DatasetError], depth: usize) -> HashMap<Option<Segment>, RepeatedKeys> {
    let mut by_record: HashMap<Option<Segment>, RepeatedKeys> = HashMap::new();
    for error in all.iter().filter(|error| error.place.path.0.len() > depth) {
        let record = error.place.path.0.first().filter(|_| depth > 0).cloned();
        let new = || RepeatedKeys { first: error.problem.clone(), pending: Vec::new() };
        by_record.entry(record).or_insert_with(new).pending.push(error.clone());
    }
    by_record
}

/// Describes a record that is not a response.
fn describe_record(record: &str) -> String {
    const MOST: usize = 8;
    let Ok(fields) = serde_json::from_str::<Object<'_>>(record) else {
        let kind = serde_json::from_str::<&RawValue>(record).map_or("no JSON", json::kind_of);
        return format!("is {kind}");
    };
    let keys: Vec<String> = fields.iter().take(MOST).map(|(key, _)| format!("`{key}`")).collect();
    let more = if fields.iter().count() > MOST { " …" } else { "" };
    format!("has {}{more}", keys.join(", "))
}
