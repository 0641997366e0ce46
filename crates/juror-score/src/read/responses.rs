//! Recorded responses: what a subject did with each question.

use std::borrow::Cow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use hashbrown::{HashMap, HashSet};
use juror_document::{
    DatasetError, Document, NotNumber, Path, Problem, Problems, Segment, UnplacedProblem, lines_of,
};
use juror_json::{self as json, Object};
use serde_json::value::RawValue;

use super::form::form;
use super::keys::{Of, PassedOver, misspelt, unknown_keys};
use crate::question::Question;
use crate::stats::Number;
use crate::trajectory::{Ending, Status, Step, Trajectory, Usage};

/// The responses of a file, by question.
#[derive(Debug, Default)]
pub struct Responses<'a> {
    by_question: HashMap<Cow<'a, str>, Response<'a>>,
    missing: Trajectory<'a>,
    /// Records that could not be read and the like; none of them stops a run.
    pub problems: Problems,
    passed_over: PassedOver<'a>,
}

#[derive(Debug)]
struct Response<'a> {
    trajectory: Trajectory<'a>,
    /// Where it stands in the file.
    at: &'a str,
    path: Path,
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

    /// Keys that Juror does not use and that are like none that it does: as a rule the user's own.
    pub fn other_keys(&self, document: &Document) -> Problems {
        document.locate(self.passed_over.others(document))
    }

    /// The responses to questions a dataset does not have, in the order of the file.
    pub fn unknown(&self, document: &Document, questions: &[Question<'_>]) -> Problems {
        let known: HashSet<&str> = questions.iter().map(|question| question.id.as_ref()).collect();
        let mut found: Vec<UnplacedProblem> = self
            .by_question
            .iter()
            .filter(|(id, _)| !known.contains(id.as_ref()))
            .map(|(id, response)| UnplacedProblem {
                offset: document.offset_of(response.at),
                path: response.path.clone(),
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
    let mut reader = Reader::new(document);
    if document.is_lines() {
        reader.lines();
    } else {
        reader.whole()?;
    }
    reader.finish()
}

/// A large file of responses in parts, which several threads may read.
pub(super) struct Parts<'a> {
    document: &'a Document,
    texts: Vec<&'a str>,
    /// The first that nobody has taken.
    next: AtomicUsize,
    records: Mutex<Vec<PartRecords<'a>>>,
    /// What all parts came to; whoever reads the last one puts them together.
    responses: OnceLock<Result<Responses<'a>, Problems>>,
}

/// The number of a part, and its records.
type PartRecords<'a> = (usize, Vec<(&'a str, Result<Record<'a>, serde_json::Error>)>);

impl<'a> Parts<'a> {
    /// The parts of a document; `None` where it is small or not made of lines.
    pub(super) fn of(document: &'a Document) -> Option<Parts<'a>> {
        let texts = document.is_lines().then(|| parts_of(document.json()))?;
        let (next, records, responses) = (AtomicUsize::new(0), Mutex::default(), OnceLock::new());
        (texts.len() > 1).then_some(Parts { document, texts, next, records, responses })
    }

    pub(super) fn len(&self) -> usize {
        self.texts.len()
    }

    /// Reads parts until all are taken.
    pub(super) fn read(&self) {
        while let index = self.next.fetch_add(1, Ordering::Relaxed)
            && let Some(part) = self.texts.get(index)
        {
            // Fresh memory is dear: as much as is needed, and at once.
            let mut records = Vec::with_capacity(about_lines(part));
            records.extend(lines_of(part).map(|line| (line, read(line))));
            // Whoever panicked has pushed nothing, and its panic goes on where it is joined.
            let mut all = self.records.lock().unwrap_or_else(PoisonError::into_inner);
            all.push((index, records));
            if all.len() == self.texts.len() {
                self.responses.get_or_init(|| self.put_together(std::mem::take(&mut *all)));
            }
        }
    }

    /// The responses; all parts must have been read.
    pub(super) fn into_responses(self) -> Result<Responses<'a>, Problems> {
        self.responses.into_inner().expect("all parts were read")
    }

    fn put_together(&self, mut parts: Vec<PartRecords<'a>>) -> Result<Responses<'a>, Problems> {
        let mut reader = Reader::new(self.document);
        parts.sort_unstable_by_key(|(index, _)| *index);
        let n_records = parts.iter().map(|(_, records)| records.len()).sum();
        reader.responses.by_question.reserve(n_records);
        for (line, record) in parts.into_iter().flat_map(|(_, records)| records) {
            reader.take(line, record, None, Path::default());
        }
        reader.finish()
    }
}

struct Reader<'a> {
    document: &'a Document,
    responses: Responses<'a>,
    found: Vec<UnplacedProblem>,
    passed_over: PassedOver<'a>,
    /// How many records are responses, readable or not.
    n_responses: usize,
    /// The first record that has something in it and is none.
    first_other: Option<(&'a str, Path)>,
    /// Keys that are used twice in the records, by the first part of the records' paths.
    repeated_in: HashMap<Option<Segment>, Repeated>,
    /// Those of them that are told.
    repeated: Vec<DatasetError>,
}

/// Keys that are used twice in a record, or in several of one id.
struct Repeated {
    first: Problem,
    /// Those that are not told yet.
    untold: Vec<DatasetError>,
}

impl<'a> Reader<'a> {
    fn new(document: &'a Document) -> Reader<'a> {
        Reader {
            document,
            responses: Responses::default(),
            found: Vec::new(),
            passed_over: PassedOver::default(),
            n_responses: 0,
            first_other: None,
            repeated_in: HashMap::new(),
            repeated: Vec::new(),
        }
    }

    /// What was read. Where there is something, and nothing of it is a response, the file is another
    /// one than was meant: every question would be as good as unanswered, without a word.
    fn finish(self) -> Result<Responses<'a>, Problems> {
        let Reader { document, mut responses, mut found, passed_over, .. } = self;
        if let (0, Some((record, path))) = (self.n_responses, self.first_other) {
            let fields: Option<Object<'_>> = serde_json::from_str(record).ok();
            let near = fields.and_then(|fields| misspelt(Of::Response, &fields).next());
            let problem = Problem::NoResponses { found: what_is_in(record), near };
            let offset = document.offset_of(record);
            return Err(document.locate(vec![UnplacedProblem { offset, path, problem }]));
        }
        found.extend(passed_over.mistakes(document));
        responses.passed_over = passed_over;
        let mut problems = document.locate(found);
        let mut errors = std::mem::take(&mut problems.errors);
        errors.extend(document.bad_lines().iter().cloned());
        errors.extend(document.hints());
        errors.extend(self.repeated);
        errors.sort_by_key(|error| (error.place.line, error.place.column));
        responses.problems = problems;
        // Sorted first: where there are too many, those of the first lines are told.
        for error in errors {
            responses.problems.push(error);
        }
        Ok(responses)
    }

    /// One record a line.
    fn lines(&mut self) {
        let text = self.document.json();
        // Tables that grow leave gaps in memory behind them, as large as they are.
        self.responses.by_question.reserve(about_lines(text));
        for line in lines_of(text) {
            self.take(line, read(line), None, Path::default());
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
                Err(self.document.locate(vec![UnplacedProblem {
                    offset: 0,
                    path: Path::default(),
                    problem,
                }]))
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
            // Several objects one after another: a file of lines under another name.
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

    /// One record; `id` is known when records stand by id.
    fn record(&mut self, text: &'a str, id: Option<Cow<'a, str>>, path: Path) {
        self.take(text, read(text), id, path);
    }

    fn take(
        &mut self,
        text: &'a str,
        record: Result<Record<'a>, serde_json::Error>,
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
                    return self.take(text, read(text), id, path);
                }
                // Of what was meant to be a response, another word is said.
                if text.starts_with('{') {
                    self.n_responses += 1;
                } else if text != "null" {
                    self.first_other.get_or_insert((text, path.clone()));
                }
                self.unreadable(text, id, path, &error);
            }
        }
    }

    /// Takes note of what deserves a word in a record that could be read.
    fn note(&mut self, record: &Record<'a>, text: &'a str, path: &Path) {
        if record.says_something && record.id.is_some() {
            self.n_responses += 1;
        } else if record.says_something || !record.unknown.is_empty() {
            self.first_other.get_or_insert((text, path.clone()));
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
            // Numbers that are none, such as NaN, are told of otherwise.
            let is_told = matches!(value.get(), "\"NaN\"" | "\"Infinity\"" | "\"-Infinity\"");
            let found = match value.get().as_bytes() {
                _ if is_told => continue,
                [b'"' | b't' | b'f' | b'[' | b'{', ..] => NotNumber::Other(json::kind_of(value)),
                [b'-' | b'0'..=b'9', ..] if Number::from_json(value.get()).is_none() => {
                    NotNumber::TooLarge
                }
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

    /// A key that is used twice somewhere in a record of YAML. Which value was meant is anybody's
    /// guess, and no score may rest on it.
    fn repeated_key(&mut self, record: &Path) -> Option<Problem> {
        let all = self.document.repeated_keys();
        if all.is_empty() {
            return None;
        }
        if self.repeated_in.is_empty() {
            self.repeated_in = by_record(all, record.0.len());
        }
        let found = self.repeated_in.get_mut(&record.0.first().cloned())?;
        self.repeated.append(&mut found.untold);
        Some(found.first.clone())
    }

    /// Takes note of a response that could not be read, if its question is known.
    fn failed(&mut self, text: &'a str, id: Option<Cow<'a, str>>, path: Path, why: &Problem) {
        let own = || {
            let fields: Object<'a> = serde_json::from_str(text).ok()?;
            json::scalar_text(fields.get("question_id")?)
        };
        if let Some(id) = id.or_else(own) {
            let message = format!("the response could not be read: {why}");
            let message = serde_json::Value::from(message).to_string();
            let ending = Ending::Failed(Cow::Owned(message));
            let trajectory = Trajectory { ending, ..Trajectory::default() };
            self.responses.by_question.insert(id, Response { trajectory, at: text, path });
        }
    }

    fn put(&mut self, id: Cow<'a, str>, trajectory: Trajectory<'a>, at: &'a str, path: Path) {
        let response = Response { trajectory, at, path: path.clone() };
        let before = self.responses.by_question.insert(id.clone(), response);
        if before.is_some() {
            self.problem(at, path, Problem::DuplicateResponse(id.into_owned()));
        }
    }

    fn problem(&mut self, at: &'a str, path: Path, problem: Problem) {
        self.found.push(UnplacedProblem { offset: self.document.offset_of(at), path, problem });
    }
}

/// Keys that are used twice inside records, by the first part of the records' paths, if they have
/// one: each is looked at once, however many records there are.
fn by_record(all: &[DatasetError], depth: usize) -> HashMap<Option<Segment>, Repeated> {
    let mut by_record: HashMap<Option<Segment>, Repeated> = HashMap::new();
    for error in all.iter().filter(|error| error.place.path.0.len() > depth) {
        let record = error.place.path.0.first().filter(|_| depth > 0).cloned();
        let first = || Repeated { first: error.problem.clone(), untold: Vec::new() };
        by_record.entry(record).or_insert_with(first).untold.push(error.clone());
    }
    by_record
}

/// What a record that is no response has, in words.
fn what_is_in(record: &str) -> String {
    const MOST: usize = 8;
    let Ok(fields) = serde_json::from_str::<Object<'_>>(record) else {
        let kind = serde_json::from_str::<&RawValue>(record).map_or("no JSON", json::kind_of);
        return format!("is {kind}");
    };
    let keys: Vec<String> = fields.iter().take(MOST).map(|(key, _)| format!("`{key}`")).collect();
    let more = if fields.iter().count() > MOST { " …" } else { "" };
    format!("has {}{more}", keys.join(", "))
}

/// About how many lines a text has at most, by the length of the first ones; none where there are
/// few.
fn about_lines(text: &str) -> usize {
    const SAMPLE: usize = 64;
    const MOST: usize = 1 << 16;
    let Some(line) = lines_of(text).nth(SAMPLE) else { return 0 };
    let length = (line.as_ptr() as usize - text.as_ptr() as usize) / SAMPLE;
    let n_lines = text.len() / length;
    (n_lines + n_lines / 8).min(MOST)
}

/// The parts of a large text, cut at the ends of lines; one otherwise.
fn parts_of(text: &str) -> Vec<&str> {
    const LARGE: usize = 8 << 20;
    const MOST: usize = 8;
    let least = if text.len() < LARGE { text.len() } else { text.len() / MOST };
    let mut parts = Vec::with_capacity(MOST);
    let mut rest = text;
    while let Some(end) = rest.as_bytes().get(least..).and_then(|rest| memchr::memchr(b'\n', rest))
    {
        let (part, after) = rest.split_at(least + end + 1);
        parts.push(part);
        rest = after;
    }
    parts.push(rest);
    parts
}

/// A record, and the id of its question if it has one.
struct Record<'a> {
    id: Option<Cow<'a, str>>,
    trajectory: Trajectory<'a>,
    /// Whether it has a key of responses besides the id.
    says_something: bool,
    /// Which keys of responses it has, as the form says it.
    met: u32,
    /// The keys that nobody knows, each with the step that has it if it is one's.
    unknown: Vec<(Option<usize>, &'a str)>,
}

impl Record<'_> {
    /// Whether a key is there, of those that a misspelt one may stand for.
    fn has(&self, key: &str) -> bool {
        let is_own = |(step, own): &(Option<usize>, &str)| step.is_none() && *own == key;
        match key {
            // Where nothing is in these, another key may have what was meant for them.
            "actual_answer" => self.trajectory.answer.is_some(),
            "actual_steps" => self.trajectory.steps.is_some(),
            "question_id" => self.id.is_some(),
            _ => {
                let known = ResponseForm::KEYS.iter().position(|known| *known == key);
                known.is_some_and(|at| self.met >> at & 1 == 1) || self.unknown.iter().any(is_own)
            }
        }
    }
}

/// How many steps a response may have whatever its length, and how much text stands for one in a
/// longer response: a step takes far more memory than `{}`.
const MOST_STEPS: usize = 1 << 16;
const BYTES_A_STEP: usize = 16;

fn read(text: &str) -> Result<Record<'_>, serde_json::Error> {
    let mut form: ResponseForm<'_> = json::from_str(text)?;
    let n_steps = form.actual_steps.as_ref().map_or(0, Vec::len);
    if n_steps > MOST_STEPS.max(text.len() / BYTES_A_STEP) {
        let message = format!("expected at most {MOST_STEPS} steps, or steps that say something");
        return Err(serde::de::Error::custom(message));
    }
    let says_something = form.met.count_ones() > u32::from(form.question_id.is_some());
    let mut unknown: Vec<_> =
        form.unknown.drain(..).take(Problems::MOST).map(|key| (None, key)).collect();
    for (index, step) in form.actual_steps.iter().flatten().enumerate() {
        unknown.extend(unknown_keys(step).map(|key| (Some(index), key)));
    }
    let (id, met) = (form.question_id.and_then(json::scalar_text), form.met);
    Ok(Record { id, trajectory: form.read(), says_something, met, unknown })
}

form! {
    ResponseForm<'a> {
        question_id: &'a RawValue,
        status: &'a RawValue,
        error: &'a RawValue,
        actual_answer: &'a RawValue,
        actual_steps: Vec<Object<'a>>,
        input_tokens: &'a RawValue,
        output_tokens: &'a RawValue,
        total_tokens: &'a RawValue,
        elapsed_sec: &'a RawValue,
    }
}

impl<'a> ResponseForm<'a> {
    fn read(self) -> Trajectory<'a> {
        let says_error = self.status.is_some_and(|status| json::is_word(status, "error"));
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::read::read_both;
    use juror_document::Format;

    #[test]
    fn a_large_file_is_read_in_parts_as_if_it_were_one() {
        let answer = "x".repeat(1 << 16);
        let mut lines: Vec<String> = (0..160)
            .map(|id| format!(r#"{{"question_id": {id}, "actual_answer": "{answer}{id}"}}"#))
            .collect();
        lines[40] = "{".into();
        lines[80] = String::new();
        lines[120] = lines[3].replace(&answer, "later");
        lines[159] = lines[3].replace(&answer, "last");
        let text = lines.join("\n");
        assert_eq!(parts_of(&text).concat(), text);
        assert_eq!(parts_of(&text).len(), 8);
        let document =
            Document::new("r.jsonl", text.into_bytes(), Format::JsonLines).expect("a text");
        let reference = Document::new("r.json", b"[]".to_vec(), Format::Json).expect("a text");
        for n_threads in 1..4 {
            let (_, responses) = read_both(&reference, &document, n_threads);
            let responses = responses.expect("responses");
            assert_eq!(responses.len(), 156);
            let last = &responses.by_question["3"].trajectory;
            assert_eq!(last.answer.map(RawValue::get), Some("\"last3\""));
            let places: Vec<usize> =
                responses.problems.errors.iter().map(|error| error.place.line).collect();
            assert_eq!(places, [41, 121, 160]);
        }
    }

    proptest! {
        #[test]
        fn parts_are_whole_lines(
            lengths in prop::collection::vec(0..1_usize << 20, 0..24),
            end in prop::sample::select(vec!["\n", "\r\n"]),
            is_cut: bool,
        ) {
            let mut text: String =
                lengths.iter().map(|length| "x".repeat(*length) + end).collect();
            if is_cut {
                text.truncate(text.len().saturating_sub(end.len()));
            }
            let parts = parts_of(&text);
            prop_assert!(parts.concat() == text);
            prop_assert!(parts.len() <= 9);
            prop_assert!(parts[..parts.len() - 1].iter().all(|part| part.ends_with('\n')));
        }
    }

    fn places(document: &Document, questions: &[Question<'_>]) -> Vec<(usize, usize)> {
        let responses = read_responses(document).expect("responses");
        let mut problems = responses.problems.clone();
        problems.extend(responses.unknown(document, questions));
        problems.errors.iter().map(|error| (error.place.line, error.place.column)).collect()
    }

    #[test]
    fn a_short_response_has_no_end_of_steps() {
        let record = |id: &str, step: &str, n: usize| {
            format!(r#"{{"question_id": "{id}", "actual_steps": [{}]}}"#, vec![step; n].join(","))
        };
        let text = [
            record("few", "{}", MOST_STEPS),
            record("many", "{}", MOST_STEPS + 1),
            record("long", r#"{"name": "search"}"#, MOST_STEPS + 1),
        ];
        let document =
            Document::new("r.jsonl", text.join("\n").into(), Format::JsonLines).expect("a text");
        let responses = read_responses(&document).expect("responses");
        let failed = |id: &str| responses.by_question[id].trajectory.ending.is_error();
        assert_eq!((failed("few"), failed("many"), failed("long")), (false, true, false));
        let told = responses.problems.errors[0].to_string();
        assert!(told.starts_with("r.jsonl:2:1: expected at most 65536 steps"), "{told}");
    }

    #[test]
    fn a_status_says_error_however_it_is_written() {
        let text = [
            r#"{"question_id": "q", "status": "\u0065rror"}"#,
            r#"{"question_id": "\u0072", "st\u0061tus": "success", "actual_steps": ["#,
            r#"{"\u006eame": "s", "status": "\u0073uccess"}, {"name": "s", "status": "e\u0072ror"}]}"#,
        ];
        let text = format!("{}\n{}{}\n", text[0], text[1], text[2]);
        let document = Document::new("r.jsonl", text.into(), Format::JsonLines).expect("a text");
        let responses = read_responses(&document).expect("responses");
        assert!(responses.by_question["q"].trajectory.ending.is_error());
        let other = &responses.by_question["r"].trajectory;
        let steps = other.steps.as_deref().expect("steps");
        assert!(!other.ending.is_error());
        assert_eq!((steps[0].status, steps[1].status), (Status::Success, Status::Error));
        assert_eq!(steps[0].name, "s");
        assert!(responses.problems.is_empty(), "{}", responses.problems);
        assert!(responses.other_keys(&document).is_empty());
    }

    #[test]
    fn problems_of_the_first_lines_are_told_whatever_their_kind() {
        let mut text = b"{\n\n{}\n".to_vec();
        text.extend(b"\xff\n".repeat(Problems::MOST + 10));
        let document = Document::new("r.jsonl", text, Format::JsonLines).expect("a document");
        let responses = read_responses(&document).expect("responses");
        let lines: Vec<usize> =
            responses.problems.errors.iter().map(|error| error.place.line).collect();
        assert_eq!(lines[..3], [1, 3, 4]);
        assert_eq!((lines.len(), responses.problems.n_more), (Problems::MOST, 12));
    }

    #[test]
    fn problems_in_yaml_have_the_place_of_their_record() {
        let text = b"- question_id: q1\n  actual_steps: wrong\n- question_id: q2\n".to_vec();
        let document = Document::new("r.yaml", text, Format::Yaml).expect("a document");
        // Of q1 it is told that it cannot be read, and of both that nobody asked for them.
        assert_eq!(places(&document, &[]), [(1, 3), (1, 3), (3, 3)]);
        let text = b"q1: wrong\nq2: {actual_answer: x}\n".to_vec();
        let document = Document::new("r.yaml", text, Format::Yaml).expect("a document");
        assert_eq!(places(&document, &[])[0].0, 1);
        assert_eq!(places(&document, &[])[2].0, 2);
    }

    #[test]
    fn a_key_that_is_used_twice_in_yaml_is_told_where_it_stands() {
        let text = "- question_id: q1\n  actual_steps:\n  - name: a\n    output: x\n    output: y\n- question_id: q2\n  actual_steps: wrong\n- question_id: q3\n";
        let document = Document::new("r.yaml", text.into(), Format::Yaml).expect("a document");
        let responses = read_responses(&document).expect("responses");
        let told: Vec<String> = responses.problems.errors.iter().map(ToString::to_string).collect();
        assert!(told[0].starts_with("r.yaml:5:5: the key `output` is used twice"), "{told:?}");
        assert!(told[1].starts_with("r.yaml:6:3: invalid type"), "{told:?}");
        assert_eq!(told.len(), 2);
        let failed =
            |id: &str| matches!(responses.by_question[id].trajectory.ending, Ending::Failed(_));
        assert_eq!((failed("q1"), failed("q2"), failed("q3")), (true, true, false));
    }

    #[test]
    fn many_keys_that_are_used_twice_are_each_looked_at_once() {
        let record = |id: usize| format!("- question_id: q{id}\n  x: 1\n  x: 2\n");
        let text: String = (0..60_000).map(record).collect();
        let document = Document::new("r.yaml", text.into(), Format::Yaml).expect("a document");
        let responses = read_responses(&document).expect("responses");
        assert_eq!((responses.len(), responses.problems.len()), (60_000, 60_000));
        let is_failed = |response: &Response| response.trajectory.ending.is_error();
        assert!(responses.by_question.values().all(is_failed));
        let same = "q1: {x: 1, x: 2}\n".repeat(3);
        let document = Document::new("r.yaml", same.into(), Format::Yaml).expect("a document");
        assert_eq!(document.repeated_keys().len(), 5, "and the id, twice");
        let told = read_responses(&document).expect("responses").problems;
        assert_eq!(told.len(), 3, "each once: {told}");
    }

    fn told_of(text: &str) -> Vec<String> {
        let document = Document::new("r.json", text.into(), Format::Json).expect("a document");
        let problems = read_responses(&document).expect("responses").problems;
        let first_line = |error: &DatasetError| error.problem.hint().unwrap_or_default();
        problems.errors.iter().map(first_line).collect()
    }

    #[test]
    fn a_key_that_is_there_is_not_what_another_one_means() {
        let record = r#"[{"question_id": "q", "status": "success", "error": null,
            "actual_answer": "x", "stats": {}, "errors": [], "total_token": 1}]"#;
        assert_eq!(told_of(record), ["did you mean `total_tokens`?"]);
        let without = record.replace(r#""status": "success", "error": null,"#, "");
        assert_eq!(told_of(&without).len(), 3);
    }

    #[test]
    fn whether_a_key_is_a_mistake_depends_on_its_own_record() {
        let good = r#"{"question_id": "q1", "actual_answer": "x", "reference_answer": "x"}"#;
        let wrong = r#"{"question_id": "q2", "reference_answer": "x", "status": "success"}"#;
        let hint = ["did you mean `actual_answer`?"];
        assert_eq!(told_of(&format!("[{good}, {wrong}]")), hint);
        assert_eq!(told_of(&format!("[{wrong}, {good}]")), hint);
        // Juror's own results are responses again.
        let result = wrong.replace('{', r#"{"template_id": "t", "steps_score": 1.0, "#);
        assert_eq!(told_of(&format!("[{result}, {good}]")), [""; 0]);
    }

    #[test]
    fn a_question_that_is_answered_twice_in_yaml_is_told_as_in_json() {
        let text = "q1: {}\nq2: {}\nq1: {}\n";
        let document = Document::new("r.yaml", text.into(), Format::Yaml).expect("a document");
        assert_eq!(read_responses(&document).expect("responses").problems.errors.len(), 1);
        assert_eq!(places(&document, &[])[0], (3, 5));
    }

    #[test]
    fn words_for_numbers_that_are_none_are_read_as_texts() {
        let record = r#"{"question_id": "q1", "elapsed_sec": NaN, "input_tokens": -Infinity, "actual_steps": [{"name": "a", "args": {"x": [Infinity]}}]}"#;
        let texts = [
            (Format::JsonLines, format!("{{\"question_id\": \"q0\"}}\n{record}\n{{\"question_id\": \"q2\", \"total_tokens\": NaN}}\n")),
            (Format::Json, format!("[\n{record}\n]")),
            (Format::Json, format!("{{\"q1\":\n{record}\n}}")),
            (Format::Yaml, "- question_id: q1\n  elapsed_sec: .nan\n  input_tokens: -.inf\n  actual_steps: [{name: a, args: {x: [.inf]}}]\n".into()),
        ];
        for (format, text) in texts {
            let document = Document::new("r", text.clone().into(), format).expect("a document");
            let responses = read_responses(&document).expect("responses");
            let trajectory = &responses.by_question["q1"].trajectory;
            assert!(!trajectory.ending.is_error(), "{text}");
            let usage = trajectory.usage;
            assert_eq!(usage.elapsed_sec.map(RawValue::get), Some("\"NaN\""));
            assert_eq!(usage.input_tokens.map(RawValue::get), Some("\"-Infinity\""));
            let steps = trajectory.steps.as_deref().unwrap_or_default();
            assert_eq!(steps[0].arg("x").map(RawValue::get), Some("[\"Infinity\"]"));
            let told: Vec<String> =
                responses.problems.errors.iter().map(ToString::to_string).collect();
            assert_eq!(told.len(), 1, "{told:?}");
            assert!(told[0].starts_with("r:2:"), "{told:?}");
            assert!(responses.problems.errors[0].problem.is_warning());
        }
    }

    #[test]
    fn a_status_that_is_no_known_word_is_told_of_once() {
        let step = |status: &str| format!(r#"{{"name": "s", "output": "x", "status": {status}}}"#);
        let steps = [r#""ok""#, r#""success""#, "null", r#""ok""#, r#""error""#, r#""SUCCESS""#];
        let steps = steps.map(step).join(", ");
        let text = format!("{{\"question_id\": \"q1\", \"actual_steps\": [{steps}]}}\n");
        let document = Document::new("r.jsonl", text.into(), Format::JsonLines).expect("lines");
        let responses = read_responses(&document).expect("responses");
        let told = responses.problems.errors.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(told.len(), 2, "{told:?}");
        let first = "unknown status `ok` of a step, which can match nothing, here and 1 times more";
        assert!(told[0].contains(first), "{told:?}");
        assert!(told[0].ends_with("hint: write `success` or `error`, or leave it out"), "{told:?}");
        assert!(told[1].contains("`SUCCESS`"), "{told:?}");
        assert!(responses.problems.errors.iter().all(|error| error.problem.is_warning()));
    }

    #[test]
    fn responses_whose_keys_are_all_misspelt_are_told_what_was_meant() {
        let told = |line: &str| {
            let text = format!("{line}\n").into_bytes();
            let document = Document::new("r.jsonl", text, Format::JsonLines).expect("lines");
            read_responses(&document).expect_err("no responses").to_string()
        };
        let answer = told(r#"{"question_id": "norway", "answer": "Oslo"}"#);
        assert!(answer.ends_with("hint: did you mean `actual_answer` by `answer`?"), "{answer}");
        let steps = told(r#"{"question_id": "norway", "actual_step": []}"#);
        assert!(steps.ends_with("did you mean `actual_steps` by `actual_step`?"), "{steps}");
        let other = told(r#"{"question_id": "norway", "moose": 1}"#);
        assert!(other.contains("hint: looked for"), "{other}");
    }

    #[test]
    fn a_number_that_is_too_large_to_count_is_told_of() {
        let text = "{\"question_id\": \"q1\", \"output_tokens\": 1e400, \"input_tokens\": 5}\n";
        let document = Document::new("r.jsonl", text.into(), Format::JsonLines).expect("lines");
        let responses = read_responses(&document).expect("responses");
        let told = responses.problems.to_string();
        let wanted = "`output_tokens` is too large a number, and is left out of the statistics";
        assert!(told.contains(wanted) && !told.contains("hint"), "{told}");
    }

    #[test]
    fn a_record_with_such_a_word_and_another_mistake_is_told_as_others_are() {
        let text = "{\"question_id\": \"q1\", \"a\": NaN, \"actual_steps\": 5}\n{\"b\": NaN, x}\n";
        let document = Document::new("r.jsonl", text.into(), Format::JsonLines).expect("lines");
        let responses = read_responses(&document).expect("responses");
        let told = responses.problems.errors.iter();
        let places: Vec<_> = told.map(|error| (error.place.line, error.place.column)).collect();
        assert_eq!(places, [(1, 28), (1, 49), (2, 12)]);
    }

    #[test]
    fn a_small_file_is_one_part() {
        assert_eq!(parts_of("{}\n{}\n"), ["{}\n{}\n"]);
        assert_eq!(parts_of(""), [""]);
        let one_line = "x".repeat(9 << 20);
        assert_eq!(parts_of(&one_line).len(), 1);
    }
}
