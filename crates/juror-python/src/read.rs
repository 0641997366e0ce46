//! Reads and checks datasets and responses, and returns them as Python's objects.

use juror_document::{Document, Problems};
use juror_json::Object;
use juror_read::{read_reference as check_reference, read_responses as check_responses};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use serde_json::value::RawValue;

use crate::evaluation::Log;
use crate::from_json::Builder;
use crate::input::{Input, path_of, settings, settings_document};
use crate::known::Known;
use crate::problem::{InputProblem, Refusal};

/// A reference dataset as a list of templates; fails with every problem of it.
#[pyfunction]
pub(crate) fn read_reference<'py>(
    py: Python<'py>,
    reference: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyList>> {
    let read = Read::new(py, Input::reference(reference)?)?;
    let checked = py.detach(|| check_reference(&read.document).map(|dataset| dataset.warnings));
    read.settle(checked, false)?;
    let templates = PyList::empty(py);
    let by_id = PyDict::new(py);
    for value in read.items() {
        let value = read.value(value)?;
        if value.contains("questions")? {
            templates.append(value)?;
        } else {
            add_question(&templates, &by_id, &value)?;
        }
    }
    Ok(templates)
}

/// Adds a question that names its template to that template.
fn add_question<'py>(
    templates: &Bound<'py, PyList>,
    by_id: &Bound<'py, PyDict>,
    question: &Bound<'py, PyAny>,
) -> PyResult<()> {
    let id = question.get_item("template_id")?;
    question.del_item("template_id")?;
    if let Some(questions) = by_id.get_item(&id)? {
        return questions.cast::<PyList>()?.append(question);
    }
    let py = question.py();
    let (template, questions) = (PyDict::new(py), PyList::new(py, [question])?);
    template.set_item("template_id", &id)?;
    template.set_item("questions", &questions)?;
    by_id.set_item(id, questions)?;
    templates.append(template)
}

/// Logged if a mapping by question id cannot hold all responses.
const ONE_ANSWER: &str = "questions have several answers, and only the last of each is returned: \
    give the responses to `run_evaluation` as they are";

/// Responses by question id. A record that cannot be read is reported in the log, or with `strict`
/// ends the reading, with all others like it.
#[pyfunction]
#[pyo3(signature = (responses, *, strict=false))]
pub(crate) fn read_responses<'py>(
    py: Python<'py>,
    responses: &Bound<'py, PyAny>,
    strict: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let read = Read::new(py, Input::responses(responses)?)?;
    let checked = py.detach(|| {
        let responses = check_responses(&read.document)?;
        Ok((responses.have_trials(), responses.problems))
    });
    let have_trials = checked.as_ref().is_ok_and(|(have_trials, _)| *have_trials);
    read.settle(checked.map(|(_, problems)| problems), strict)?;
    if have_trials {
        Log::new(py)?.write(ONE_ANSWER, false)?;
    }
    let by_id = PyDict::new(py);
    let whole: Option<Object<'_>> = serde_json::from_str(read.document.json_as_read()).ok();
    match whole.filter(|fields| fields.get("question_id").is_none()) {
        Some(fields) => {
            for (id, record) in fields.iter() {
                by_id.set_item(&*id, read.record(record, Some(&id))?)?;
            }
        }
        None => {
            for record in read.items() {
                let record = read.record(record, None)?;
                if let Ok(id) = record.get_item("question_id") {
                    by_id.set_item(id, record)?;
                }
            }
        }
    }
    Ok(by_id)
}

/// The settings of a file as Python's objects, checked.
#[pyfunction]
pub(crate) fn read_settings<'py>(
    py: Python<'py>,
    path: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    settings(Some(path))?;
    let Some(name) = path_of(path)? else { return Ok(path.clone()) };
    let document = settings_document(py, &name)?;
    Builder::new(py).value(document.json())
}

/// A document with its known objects.
struct Read<'py> {
    py: Python<'py>,
    document: Document,
    known: Option<Known<'py>>,
    problems: Vec<InputProblem>,
    hint: Option<InputProblem>,
    is_file: bool,
}

impl<'py> Read<'py> {
    fn new(py: Python<'py>, input: Input<'py>) -> PyResult<Read<'py>> {
        let Input { source, known, problems, hint } = input;
        let is_file = source.is_file();
        let document = py.detach(|| source.document());
        let (document, _) = document.map_err(|error| Refusal::File(error).into_error(py))?;
        Ok(Read { py, document, known, problems, hint, is_file })
    }

    /// Raises problems of the whole, and logs problems of parts; with `strict`, raises all.
    fn settle(&self, checked: Result<Problems, Problems>, strict: bool) -> PyResult<()> {
        let located = |problems: &Problems| -> Vec<InputProblem> {
            let objects = self.problems.iter().cloned();
            let others = problems.errors.iter().map(|error| InputProblem::of(error, self.is_file));
            objects.chain(others).collect()
        };
        match checked {
            Err(problems) => {
                Err(Refusal::Dataset(located(&problems), problems.n_more).into_error(self.py))
            }
            Ok(problems) if strict && !located(&problems).is_empty() => {
                Err(Refusal::Dataset(located(&problems), problems.n_more).into_error(self.py))
            }
            Ok(problems) => {
                let log = Log::new(self.py)?;
                let hint = self.hint.iter().cloned();
                let mut words = hint.chain(located(&problems));
                words.try_for_each(|problem| log.write(&problem.to_string(), false))
            }
        }
    }

    /// Returns the values of the file: the items of a list, or one per line. Whatever is not JSON
    /// is left out.
    fn items(&self) -> Vec<&RawValue> {
        let text = self.document.json_as_read();
        if let Ok(items) = serde_json::from_str::<Vec<&RawValue>>(text) {
            return items;
        }
        let is_one = serde_json::from_str::<&RawValue>(text).is_ok();
        let lines = if is_one { vec![text] } else { text.lines().collect() };
        lines.into_iter().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    fn value(&self, value: &RawValue) -> PyResult<Bound<'py, PyAny>> {
        let text = self.document.json_as_read();
        let start = value.get().as_ptr() as usize - text.as_ptr() as usize;
        Builder::new(self.py).part(text, start, self.known.as_ref())
    }

    /// Returns a response; anything else becomes the error of its question.
    fn record(&self, record: &RawValue, id: Option<&str>) -> PyResult<Bound<'py, PyAny>> {
        let value = self.value(record)?;
        if record.get().starts_with('{') {
            return Ok(value);
        }
        let error = PyDict::new(self.py);
        if let Some(id) = id {
            error.set_item("question_id", PyString::new(self.py, id))?;
        }
        error.set_item("status", "error")?;
        error.set_item("error", "the response could not be read: expected an object")?;
        Ok(error.into_any())
    }
}
