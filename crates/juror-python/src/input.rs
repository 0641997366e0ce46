//! Inputs from users: paths, or Python's objects.

use std::path::PathBuf;

use juror_document::{Document, Format, Problems};
use juror_files::{Lent, LoadError, load_settings, load_to_keep};
use juror_read::OwnMetrics;
use juror_run::Settings;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyMapping, PyString};

use crate::escape::push_text;
use crate::known::Known;
use crate::problem::{InputProblem, Refusal, Segment};
use crate::to_json::{Filled, Written};

/// The source of a document.
pub(crate) enum Source {
    /// A file, which Python does not read.
    File(String),
    /// JSON that was made from objects.
    Objects {
        /// The name in messages.
        name: &'static str,
        json: Vec<u8>,
    },
}

impl Source {
    pub(crate) fn is_file(&self) -> bool {
        matches!(self, Source::File(_))
    }

    /// Returns the document, and what must be kept of its file, if it has one.
    pub(crate) fn document(self) -> Result<(Document, Option<Lent>), LoadError> {
        match self {
            Source::File(name) => load_to_keep(&name),
            Source::Objects { name, json } => Ok((Document::new(name, json, Format::Json)?, None)),
        }
    }
}

/// An input with its known objects.
pub(crate) struct Input<'py> {
    pub(crate) source: Source,
    pub(crate) known: Option<Known<'py>>,
    /// The parts that could not be read.
    pub(crate) problems: Vec<InputProblem>,
    /// Something that deserves a warning, although nothing is wrong.
    pub(crate) hint: Option<InputProblem>,
}

/// Objects as JSON, or the name of a file.
enum Taken<'py> {
    File(String),
    Objects(Written<'py>),
}

impl<'py> Input<'py> {
    /// Reads a reference dataset: a path, or templates.
    pub(crate) fn reference(value: &Bound<'py, PyAny>) -> PyResult<Input<'py>> {
        Ok(Input::new("reference", take_reference(value)?, value.py()))
    }

    /// Reads responses: a path, objects by question id, or a list. One that cannot be read becomes
    /// an error of its question.
    pub(crate) fn responses(value: &Bound<'py, PyAny>) -> PyResult<Input<'py>> {
        Ok(Input::new("responses", take_responses(value)?, value.py()))
    }

    /// Reads both: the JSON of one is completed while the objects of the other are visited.
    pub(crate) fn both(
        reference: &Bound<'py, PyAny>,
        responses: &Bound<'py, PyAny>,
    ) -> PyResult<(Input<'py>, Input<'py>)> {
        let py = reference.py();
        let (reference, responses) = match take_reference(reference)? {
            Taken::File(name) => (Input::file(name), take_responses(responses)?),
            Taken::Objects(written) => {
                let found = ObjectProblems::of(&written, py);
                let (filled, responses) = written.fill_while(py, || take_responses(responses));
                (Input::objects("reference", filled, found), responses?)
            }
        };
        Ok((reference, Input::new("responses", responses, py)))
    }

    fn new(name: &'static str, taken: Taken<'py>, py: Python<'py>) -> Input<'py> {
        match taken {
            Taken::File(name) => Input::file(name),
            Taken::Objects(written) => {
                let found = ObjectProblems::of(&written, py);
                Input::objects(name, written.fill(py), found)
            }
        }
    }

    fn file(name: String) -> Input<'py> {
        Input { source: Source::File(name), known: None, problems: Vec::new(), hint: None }
    }

    fn objects(name: &'static str, filled: Filled<'py>, found: ObjectProblems) -> Input<'py> {
        let Filled { json, known } = filled;
        let ObjectProblems { problems, hint } = found;
        Input { source: Source::Objects { name, json }, known: Some(known), problems, hint }
    }
}

/// Problems of objects, to be reported.
struct ObjectProblems {
    problems: Vec<InputProblem>,
    hint: Option<InputProblem>,
}

impl ObjectProblems {
    fn of(written: &Written<'_>, py: Python<'_>) -> ObjectProblems {
        let located = |found| InputProblem::of_object(py, found);
        ObjectProblems {
            problems: written.problems.iter().map(located).collect(),
            hint: written.not_number.as_ref().map(located),
        }
    }
}

fn take_reference<'py>(value: &Bound<'py, PyAny>) -> PyResult<Taken<'py>> {
    if let Some(path) = path_of(value)? {
        return Ok(Taken::File(path));
    }
    let mut written = Written::default();
    written.value(&whole(value)?);
    Ok(Taken::Objects(written))
}

fn take_responses<'py>(value: &Bound<'py, PyAny>) -> PyResult<Taken<'py>> {
    if let Some(path) = path_of(value)? {
        return Ok(Taken::File(path));
    }
    let value = whole(value)?;
    let mut written = Written::default();
    if let Ok(mapping) = value.cast::<PyMapping>() {
        if mapping.get_item("question_id").is_ok_and(|id| !id.is_instance_of::<PyDict>()) {
            record(&mut written, &value, None)?;
        } else {
            records_by_id(&mut written, mapping)?;
        }
    } else if let Ok(list) = value.cast_exact::<PyList>() {
        records(&mut written, list)?;
    } else {
        written.value(&value);
    }
    Ok(Taken::Objects(written))
}

/// Returns the name of a file, if a value is one.
pub(crate) fn path_of(value: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    if value.is_instance_of::<PyString>() || value.hasattr("__fspath__")? {
        let path: PathBuf = value.extract()?;
        return Ok(Some(path.to_string_lossy().into_owned()));
    }
    Ok(None)
}

/// Turns anything that can be iterated over only once, such as a generator, into a list.
fn whole<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let is_whole = value.is_exact_instance_of::<PyList>() || value.cast::<PyMapping>().is_ok();
    if is_whole || value.is_none() {
        return Ok(value.clone());
    }
    let Ok(items) = value.try_iter() else { return Ok(value.clone()) };
    let items: Vec<Bound<'py, PyAny>> = items.collect::<PyResult<_>>()?;
    Ok(PyList::new(value.py(), items)?.into_any())
}

fn records_by_id<'py>(written: &mut Written<'py>, mapping: &Bound<'py, PyMapping>) -> PyResult<()> {
    written.json.push(b'{');
    for (index, item) in mapping.items()?.iter().enumerate() {
        let (id, response): (Bound<'py, PyAny>, Bound<'py, PyAny>) = item.extract()?;
        if index > 0 {
            written.json.push(b',');
        }
        let mark = written.mark();
        written.key(&id);
        if written.failed_since(&mark) {
            // No question has such an id; the problem is reported.
            written.json.truncate(written.json.len() - 2);
            push_text(&id.str()?.to_string_lossy(), &mut written.json);
        }
        written.json.push(b':');
        let mut outcome = Ok(());
        let segment = || Segment::Object(id.clone().unbind());
        written.at(segment, |written| outcome = record(written, &response, Some(())));
        outcome?;
    }
    written.json.push(b'}');
    Ok(())
}

fn records<'py>(written: &mut Written<'py>, list: &Bound<'py, PyList>) -> PyResult<()> {
    written.json.push(b'[');
    for (index, response) in list.iter().enumerate() {
        if index > 0 {
            written.json.push(b',');
        }
        let mut outcome = Ok(());
        written.at(|| Segment::Index(index), |written| outcome = record(written, &response, None));
        outcome?;
    }
    written.json.push(b']');
    Ok(())
}

/// Writes one response. Whatever cannot be read of it becomes the error of its question.
fn record<'py>(
    written: &mut Written<'py>,
    response: &Bound<'py, PyAny>,
    by_id: Option<()>,
) -> PyResult<()> {
    response.py().check_signals()?;
    let mark = written.mark();
    written.value(response);
    if !written.failed_since(&mark) {
        return Ok(());
    }
    let found = written.take_back(&mark);
    let words =
        found.iter().map(|found| format!("{} at {}", found.message, found.path(response.py())));
    let words: Vec<String> = words.collect();
    written.json.push(b'{');
    let id = response.get_item("question_id");
    if let (None, Ok(id)) = (by_id, id) {
        written.json.extend_from_slice(b"\"question_id\":");
        written.value(&id);
        written.json.push(b',');
    }
    written.json.extend_from_slice(b"\"error\":");
    push_text(&format!("the response could not be read: {}", words.join("; ")), &mut written.json);
    written.json.push(b'}');
    // The result has it as an error; the log gets it, too.
    written.problems.extend(found);
    Ok(())
}

/// Reads settings: a path, a mapping, or none.
pub(crate) fn settings(config: Option<&Bound<'_, PyAny>>) -> PyResult<Settings> {
    match config {
        Some(config) => settings_with(config, "config", &OwnMetrics::default()),
        None => Ok(Settings::default()),
    }
}

/// Loads a file of settings.
pub(crate) fn settings_document(py: Python<'_>, path: &str) -> PyResult<Document> {
    load_settings(path).map_err(|error| match error {
        LoadError::Text(problems) => Refusal::settings(&problems, true).into_error(py),
        error @ LoadError::Io { .. } => Refusal::File(error).into_error(py),
    })
}

/// Reads settings whose gates may be on metrics of the user's own. `name` is that of the argument.
pub(crate) fn settings_with(
    config: &Bound<'_, PyAny>,
    name: &str,
    metrics: &OwnMetrics,
) -> PyResult<Settings> {
    let py = config.py();
    if let Some(path) = path_of(config)? {
        let document = settings_document(py, &path)?;
        let refuse = |problems: Problems| Refusal::settings(&problems, true).into_error(py);
        return Settings::read_with(&document, metrics).map_err(refuse);
    }
    let mut written = Written::default();
    written.value(config);
    if !written.problems.is_empty() {
        let problems =
            written.problems.iter().map(|found| InputProblem::of_object(py, found)).collect();
        return Err(Refusal::Settings(problems, 0).into_error(py));
    }
    let refuse = |problems: Problems| Refusal::settings(&problems, false).into_error(py);
    let json = written.fill(py).json;
    let document = Document::new(name, json, Format::Json).map_err(refuse)?;
    Settings::read_with(&document, metrics).map_err(refuse)
}
