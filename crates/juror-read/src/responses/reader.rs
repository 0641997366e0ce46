//! Collects the records of a file, with every problem.

use std::borrow::Cow;

use hashbrown::HashMap;
use juror_document::{
    DatasetError, Document, FoundProblems, NotNumber, Offsets, Path, Problem, Problems, QuotedLine,
    Segment, UnplacedProblem, complaint, lines_of,
};
use juror_json::{self as json, Object};
use juror_score::{Ending, Number, Status, Trajectory};
use serde_json::value::RawValue;

use super::parts::about_lines;
use super::record::{ResponseRecord, read_record, trial_of};
use super::{Kept, RepeatedIds, Response, Responses};
use crate::keys::{Oddities, Of, misspelt};

pub(crate) struct ResponseReader<'a, T> {
    document: &'a Document,
    repeated_ids: RepeatedIds,
    pub(super) responses: Responses<'a, T>,
    found: FoundProblems,
    passed_over: Oddities,
    /// The number of records that are responses, readable or not.
    n_responses: usize,
    /// What is wrong with the first record that is not empty and not a response.
    first_other: Option<UnplacedProblem>,
    /// The hint about the first `NaN`, if lines are quoted one by one.
    first_word: Option<UnplacedProblem>,
    /// Keys used twice in a record, by the first segment of the record's path.
    repeated_in: HashMap<Option<Segment>, RepeatedKeys>,
    /// Those of them that are reported.
    repeated: Vec<DatasetError>,
}

/// Where a record is.
#[derive(Clone, Copy)]
struct RecordPlace<'a, 't, 'p> {
    /// Its text as it was read: with `NaN` and infinities in quotes, if it has any.
    text: &'t str,
    /// Its text in the file.
    at: &'a str,
    path: &'p Path,
    offsets: &'p dyn Offsets,
}

/// Keys used twice in a record, or in several records of the same id.
struct RepeatedKeys {
    first: Problem,
    /// Those that are not reported yet.
    pending: Vec<DatasetError>,
}

impl<'a, T: Kept> ResponseReader<'a, T> {
    pub(crate) fn new(document: &'a Document, repeated_ids: RepeatedIds) -> ResponseReader<'a, T> {
        ResponseReader {
            document,
            repeated_ids,
            responses: Responses::default(),
            found: FoundProblems::default(),
            passed_over: Oddities::default(),
            n_responses: 0,
            first_other: None,
            first_word: None,
            repeated_in: HashMap::new(),
            repeated: Vec::new(),
        }
    }

    /// Returns the responses. Fails if the file has records and none of them is a response: it is
    /// probably the wrong file, and every question would silently count as unanswered.
    pub(crate) fn finish(self) -> Result<Responses<'a, T>, Problems> {
        let ResponseReader { document, mut responses, mut found, passed_over, .. } = self;
        if let (0, Some(problem)) = (self.n_responses, self.first_other) {
            return Err(document.locate(problem.into()));
        }
        responses.number_trials();
        found.extend(passed_over.mistakes());
        responses.passed_over = passed_over;
        let mut problems = document.locate(found);
        let mut errors = std::mem::take(&mut problems.errors);
        errors.extend(document.bad_lines().iter().cloned());
        errors.extend(document.hints());
        errors.extend(
            self.first_word.into_iter().flat_map(|hint| document.locate(hint.into()).errors),
        );
        errors.extend(self.repeated);
        errors.sort_by_key(|error| (error.place.line, error.place.column));
        responses.problems = problems;
        // Sorted first, so that the problems of the first lines are kept if there are too many.
        for error in errors {
            responses.problems.push(error);
        }
        Ok(responses)
    }

    /// Adds a line of a large file that was read, or could not be. If that is because of a `NaN`, reads
    /// it once more with quotes, which are forgotten afterwards.
    pub(crate) fn take_line(
        &mut self,
        line: &'a str,
        record: Result<ResponseRecord<'a>, serde_json::Error>,
    ) where
        T: for<'t> From<Trajectory<'t>>,
    {
        let path = &Path::default();
        if record.is_err()
            && let Some(quoted) = QuotedLine::of(line, self.document)
        {
            self.first_word.get_or_insert_with(|| quoted.hint());
            let place = RecordPlace { text: quoted.text(), at: line, path, offsets: &quoted };
            return self.add(read_record(quoted.text()), place, None, |id| id.into_owned().into());
        }
        let place = RecordPlace { text: line, at: line, path, offsets: self.document };
        self.add(record, place, None, |id| id);
    }

    /// Adds a record. `own` makes its id one that lives as long as the file.
    fn add<'t>(
        &mut self,
        record: Result<ResponseRecord<'t>, serde_json::Error>,
        place: RecordPlace<'a, 't, '_>,
        id: Option<Cow<'a, str>>,
        own: impl Fn(Cow<'t, str>) -> Cow<'a, str>,
    ) where
        T: From<Trajectory<'t>>,
    {
        match record {
            Ok(record) => {
                self.note(&record, id.is_some(), place);
                match id.or(record.id.map(own)) {
                    Some(id) => self.put(id, record.trajectory.into(), place),
                    None => {
                        let problem =
                            Problem::MissingField { field: "question_id", of: "response" };
                        self.problem(place, problem);
                    }
                }
            }
            Err(error) => {
                // A broken object was probably meant to be a response.
                if place.text.starts_with('{') {
                    self.n_responses += 1;
                } else if place.text != "null" {
                    self.first_other.get_or_insert_with(|| no_response(place));
                }
                let mut found = complaint(place.text, &error, place.offsets);
                found.path = place.path.clone();
                self.failed(place, id, own, &found.problem);
                self.found.push(found);
            }
        }
    }

    /// Records what is odd about a readable record: unknown keys, statuses, and numbers.
    fn note(
        &mut self,
        record: &ResponseRecord<'_>,
        is_by_id: bool,
        place: RecordPlace<'_, '_, '_>,
    ) {
        let RecordPlace { path, offsets, .. } = place;
        let has_id = is_by_id || record.id.is_some();
        if record.says_something && has_id {
            self.n_responses += 1;
        } else if record.says_something || !record.unknown.is_empty() {
            self.first_other.get_or_insert_with(|| no_response(place));
        }
        if let Some(trial) = record.no_trial {
            let place = || (offsets.offset_of(trial.get()), path.key("trial"));
            self.passed_over.no_trial(place);
        }
        let steps = record.trajectory.steps.as_deref().unwrap_or_default();
        for (step, key) in &record.unknown {
            let place = |step: &usize| path.key("actual_steps").index(*step);
            let path = || step.as_ref().map_or_else(|| path.clone(), place).key(key);
            match step {
                None => {
                    let has = |key: &str| record.has(key) || key == "question_id" && has_id;
                    self.passed_over.key(Of::Response, key, has, offsets, path);
                }
                Some(index) => {
                    let has = |key: &str| steps[*index].fields.get(key).is_some();
                    self.passed_over.key(Of::Step, key, has, offsets, path);
                }
            }
        }
        for (index, step) in steps.iter().enumerate() {
            if step.status == Status::Other
                && let Some(status) = step.fields.get("status")
            {
                let word = status.get().trim_matches('"');
                let path = || path.key("actual_steps").index(index).key("status");
                self.passed_over.no_status(word, || (offsets.offset_of(word), path()));
            }
        }
        for (name, value) in record.trajectory.usage.iter() {
            // The document reports `NaN` and infinities itself.
            let is_reported = matches!(value.get(), "\"NaN\"" | "\"Infinity\"" | "\"-Infinity\"");
            let place = || (offsets.offset_of(value.get()), path.key(name));
            let found = match value.get().as_bytes() {
                _ if is_reported => continue,
                [b'"' | b't' | b'f' | b'[' | b'{', ..] => NotNumber::Other(json::kind_of(value)),
                [b'-' | b'0'..=b'9', ..] => match Number::from_json(value.get()) {
                    None => NotNumber::TooLarge,
                    Some(number) => {
                        if number.value < 0.0 {
                            self.passed_over.negative(name, value.get(), place);
                        }
                        continue;
                    }
                },
                _ => continue,
            };
            self.passed_over.no_number(name, found, place);
        }
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
    fn failed<'t>(
        &mut self,
        place: RecordPlace<'a, 't, '_>,
        id: Option<Cow<'a, str>>,
        own: impl Fn(Cow<'t, str>) -> Cow<'a, str>,
        why: &Problem,
    ) where
        T: From<Trajectory<'t>>,
    {
        let fields: Object<'t> = serde_json::from_str(place.text).unwrap_or_default();
        let in_record = || json::scalar_text(fields.get("question_id")?).map(own);
        if let Some(id) = id.or_else(in_record) {
            let trial = fields.get("trial").and_then(trial_of);
            let trajectory = Trajectory { trial, ..failed_trajectory(why) };
            let response = place.response(trajectory.into());
            // What is wrong with the record is reported already.
            self.responses.put(id, response, self.repeated_ids);
        }
    }

    fn put(&mut self, id: Cow<'a, str>, trajectory: T, place: RecordPlace<'a, '_, '_>) {
        let response = place.response(trajectory);
        if let Some(problem) = self.responses.put(id, response, self.repeated_ids) {
            self.problem(place, problem);
        }
    }

    fn problem(&mut self, place: RecordPlace<'_, '_, '_>, problem: Problem) {
        self.found.push(place.problem(problem));
    }
}

impl<'a> ResponseReader<'a, Trajectory<'a>> {
    /// Reads one record per line.
    pub(super) fn lines(&mut self) {
        let text = self.document.json();
        // A table that grows leaves gaps of its former sizes in memory.
        self.responses.by_question.reserve(about_lines(text));
        for line in lines_of(text) {
            self.take(line, read_record(line), None, &Path::default());
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
            self.record(record.get(), None, &Path::default().index(index));
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
            self.record(text.trim_ascii(), None, &Path::default());
            return Ok(());
        }
        for (id, record) in fields.iter() {
            let path = Path::default().key(&id);
            self.record(record.get(), Some(id), &path);
        }
        Ok(())
    }

    fn looks_like_lines(&self) -> bool {
        let mut lines = self.document.lines();
        let whole = |line| self.document.parse::<Object<'_>>(line).is_ok();
        lines.next().is_some_and(whole) && lines.next().is_some()
    }

    /// Reads one record; `id` is known if records are stored by id.
    fn record(&mut self, text: &'a str, id: Option<Cow<'a, str>>, path: &Path) {
        self.take(text, read_record(text), id, path);
    }

    /// Adds a record that was read.
    pub(super) fn take(
        &mut self,
        text: &'a str,
        record: Result<ResponseRecord<'a>, serde_json::Error>,
        id: Option<Cow<'a, str>>,
        path: &Path,
    ) {
        let offsets = self.document;
        let place = |text| RecordPlace { text, at: text, path, offsets };
        if let Some(problem) = self.repeated_key(path) {
            self.n_responses += 1;
            self.failed(place(text), id, |id| id, &problem);
            return;
        }
        let quoted = record.is_err().then(|| self.document.with_quotes(text)).flatten();
        match quoted {
            Some(text) => self.add(read_record(text), place(text), id, |id| id),
            None => self.add(record, place(text), id, |id| id),
        }
    }
}

impl<'a> RecordPlace<'a, '_, '_> {
    fn response<T>(self, trajectory: T) -> Response<'a, T> {
        Response { trajectory, at: self.at, path: self.path.clone() }
    }

    fn problem(self, problem: Problem) -> UnplacedProblem {
        let offset = self.offsets.offset_of(self.text);
        UnplacedProblem { offset, path: self.path.clone(), problem }
    }
}

/// Returns the trajectory of a response that could not be read.
pub(crate) fn failed_trajectory(why: &Problem) -> Trajectory<'static> {
    let message = format!("the response could not be read: {why}");
    let message = serde_json::Value::from(message).to_string();
    Trajectory { ending: Ending::Failed(Cow::Owned(message)), ..Trajectory::default() }
}

/// Describes a record that is no response, for a file that has none.
fn no_response(place: RecordPlace<'_, '_, '_>) -> UnplacedProblem {
    let fields: Option<Object<'_>> = serde_json::from_str(place.text).ok();
    let near = fields.and_then(|fields| misspelt(Of::Response, &fields).next());
    place.problem(Problem::NoResponses { found: describe_record(place.text), near })
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
