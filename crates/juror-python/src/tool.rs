//! Rules of the tool benchmark: names, keys of replies, calls.

use juror_document::{DatasetError, Document, Format, Path, Problem};
use juror_toolbench::answer::read_answer;
use juror_toolbench::names::Letters;
use juror_toolbench::{
    CallScore, Called, FolderNames, Query, argument_key, called_apis as calls_of, names,
    read_queries,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping, PyString};
use serde_json::value::RawValue;

use crate::pieces::{finished, json_of};
use crate::problem::{InputProblem, Refusal};
use crate::to_json::Written;

/// The key that replies to a call are kept under: of a JSON text what it says, of an object the
/// object itself, both as Python prints them.
#[pyfunction]
pub(crate) fn tool_cache_key(tool_input: &Bound<'_, PyAny>) -> PyResult<String> {
    let mut written = Written::default();
    written.keeps_nan = true;
    written.value(tool_input);
    let json = finished(written, tool_input.py())?;
    let is_text = tool_input.is_instance_of::<PyString>();
    if !is_text && tool_input.cast::<PyMapping>().is_err() {
        return Err(PyValueError::new_err("the input of a tool is a mapping or a JSON text"));
    }
    let key = match serde_json::from_str::<&RawValue>(&json) {
        Ok(raw) => argument_key(raw),
        // With `nan`, which Python's JSON allows, an object is not JSON for others.
        Err(_) => juror_json::python::str_of_json(&json).ok(),
    };
    key.ok_or_else(|| PyValueError::new_err("the input of the tool is not JSON"))
}

/// A raw name as the public server writes it.
#[pyfunction]
pub(crate) fn standardize(name: &str) -> String {
    names::standardize(name)
}

/// A standardized name, made different from words that Python keeps for itself.
#[pyfunction]
pub(crate) fn change_name(name: &str) -> String {
    names::change_name(name)
}

/// A category as it is called in folders.
#[pyfunction]
pub(crate) fn standardize_category(category: &str) -> String {
    names::standardize_category(category)
}

/// A category with one `_` for any run of separators.
#[pyfunction]
pub(crate) fn normalize_category(category: &str) -> String {
    names::merge_category(category)
}

/// The name of an API as public agents call it: API first, its last 64 characters.
#[pyfunction]
pub(crate) fn official_function_name(tool_name: &str, api_name: &str) -> String {
    names::official_name(tool_name, api_name)
}

/// A name with `_` for what function names must not contain.
#[pyfunction]
#[pyo3(signature = (name, max_length=64, ascii_only=false))]
pub(crate) fn sanitize_name(name: &str, max_length: usize, ascii_only: bool) -> String {
    let letters = if ascii_only { Letters::Ascii } else { Letters::Any };
    names::sanitize(name, letters, max_length)
}

/// A parameter's name that does not begin with `_`.
#[pyfunction]
pub(crate) fn sanitize_param_name(name: &str) -> String {
    names::sanitize_parameter(name)
}

/// The file of a reply cache that has the replies of an API.
#[pyfunction]
pub(crate) fn tool_cache_file(category: &str, tool_name: &str, api_name: &str) -> String {
    FolderNames::as_requested(category, tool_name, api_name).cache_file()
}

/// Reads a query with its correct APIs: a query, or the pairs alone.
fn query_of(query: &Bound<'_, PyAny>) -> PyResult<Query> {
    let py = query.py();
    let json = match query.cast::<PyMapping>() {
        Ok(_) => format!("[{}]", json_of(query)?),
        Err(_) => format!(r#"[{{"relevant APIs":{}}}]"#, json_of(query)?),
    };
    let refuse = |problems| Refusal::dataset(&problems, false).into_error(py);
    let document = Document::new("query", json.into_bytes(), Format::Json).map_err(refuse)?;
    let (mut queries, mut problems) = read_queries(&document);
    // Calls are counted whatever the query's text, and so even without one.
    let text = Path::default().index(0).key("query");
    let is_of_text = |error: &DatasetError| match error.problem {
        Problem::MissingField { field, .. } | Problem::MisspeltField { field, .. } => {
            field == "query"
        }
        _ => error.place.path == text,
    };
    problems.errors.retain(|error| !is_of_text(error));
    if queries.is_empty() || !problems.is_empty() {
        return Err(refuse(problems));
    }
    Ok(queries.remove(0))
}

/// Reads the calls of an answer: an answer, or the pairs alone.
fn with_calls<T>(
    query: &Query,
    answer: &Bound<'_, PyAny>,
    make: impl FnOnce(&[Called<'_>]) -> T,
) -> PyResult<T> {
    if answer.cast::<PyMapping>().is_err() {
        let mut called = Vec::new();
        for pair in answer.try_iter()? {
            let (tool, api): (String, String) = pair?.extract()?;
            called.push(Called::Api(tool.into(), api.into()));
        }
        return Ok(make(&called));
    }
    let json = json_of(answer)?;
    let answer_of = |py: Python<'_>| {
        let problem = InputProblem {
            message: "expected an answer with `answer_details`".into(),
            place: None,
            path: String::new(),
            hint: Some("or the list of pairs that were called".into()),
        };
        Refusal::Dataset(vec![problem], 0).into_error(py)
    };
    let read = read_answer(&json).ok_or_else(|| answer_of(answer.py()))?;
    let registry = query.registry();
    Ok(make(&calls_of(&read, &[&registry])))
}

/// The share of a query's right APIs that an answer called; 0.0 where none is right.
#[pyfunction]
pub(crate) fn api_call_score(query: &Bound<'_, PyAny>, answer: &Bound<'_, PyAny>) -> PyResult<f64> {
    let query = query_of(query)?;
    let score = with_calls(&query, answer, |called| CallScore::of(called, &query.gold))?;
    Ok(score.score().unwrap_or(0.0))
}

/// The same with everything that was counted for it.
#[pyfunction]
pub(crate) fn api_call_details<'py>(
    query: &Bound<'py, PyAny>,
    answer: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyDict>> {
    let query = query_of(query)?;
    let shown = |called: &Called<'_>| match called {
        Called::Api(tool, api) => Some((tool.to_string(), api.to_string())),
        Called::Unknown(_) => None,
    };
    let (score, calls) = with_calls(&query, answer, |called| {
        let calls: Vec<_> = called.iter().map(shown).collect();
        (CallScore::of(called, &query.gold), calls)
    })?;
    let details = PyDict::new(answer.py());
    details.set_item("api_call_score", score.score().unwrap_or(0.0))?;
    details.set_item("applicable", score.score().is_some())?;
    details.set_item("precision", score.precision())?;
    details.set_item("other_calls", score.n_other_calls)?;
    details.set_item("called_apis", calls)?;
    Ok(details)
}
