//! Single rules, for users who do not need a whole evaluation.

use juror_document::{Document, Format};
use juror_read::{read_reference, read_responses};
use juror_run::reserved_key;
use juror_score::compare::{DocumentId, compare_sparql_results as compare_results};
use juror_score::{Rules, explain_matching, match_steps as match_all, retrieval};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use serde_json::value::RawValue;

use crate::evaluation::profile_number;
use crate::problem::{InputProblem, Refusal};
use crate::to_json::Written;

/// Returns the JSON of an object, or the exception for what cannot be read.
pub(crate) fn json_of(value: &Bound<'_, PyAny>) -> PyResult<String> {
    let mut written = Written::default();
    written.value(value);
    finished(written, value.py())
}

/// Returns the JSON that was written, unless something could not be.
pub(crate) fn finished<'py>(written: Written<'py>, py: Python<'py>) -> PyResult<String> {
    if !written.problems.is_empty() {
        let problems =
            written.problems.iter().map(|found| InputProblem::of_object(py, found)).collect();
        return Err(Refusal::Dataset(problems, 0).into_error(py));
    }
    Ok(String::from_utf8(written.fill(py).json)?)
}

/// Returns a SPARQL result: a string as it is, an object as JSON.
fn result_text(value: &Bound<'_, PyAny>) -> PyResult<String> {
    match value.cast::<PyString>() {
        Ok(text) => Ok(text.to_string_lossy().into_owned()),
        Err(_) => json_of(value),
    }
}

/// Compares two SPARQL results in JSON; 1.0 if they agree by the rules, else 0.0.
///
/// Results in XML, CSV or TSV are compared as outputs of steps, by `match_steps`.
#[pyfunction]
#[pyo3(signature = (reference_sparql_result, actual_sparql_result, required_vars=None, results_are_ordered=false, ignore_duplicates=true))]
pub(crate) fn compare_sparql_results(
    py: Python<'_>,
    reference_sparql_result: &Bound<'_, PyAny>,
    actual_sparql_result: &Bound<'_, PyAny>,
    required_vars: Option<Vec<String>>,
    results_are_ordered: bool,
    ignore_duplicates: bool,
) -> PyResult<f64> {
    let reference = result_text(reference_sparql_result)?;
    let actual = result_text(actual_sparql_result)?;
    let rules = Rules {
        required_columns: required_vars.map(|names| names.into_iter().map(Into::into).collect()),
        ordered: results_are_ordered,
        ignore_duplicates,
    };
    Ok(py.detach(|| compare_results(&reference, &actual, &rules)))
}

/// Returns comparable ids of documents: `1` equals `1.0`, but not `"1"`.
fn ids(items: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    let mut ids = Vec::new();
    for item in items.try_iter()? {
        let json = json_of(&item?)?;
        let raw: &RawValue = serde_json::from_str(&json)
            .map_err(|error| PyValueError::new_err(format!("`{json}` is not an id: {error}")))?;
        ids.push(format!("{:?}", DocumentId::from_json(raw)));
    }
    Ok(ids)
}

/// The share of the first k relevant documents among the first k retrieved ones.
#[pyfunction]
#[pyo3(signature = (relevant_docs, retrieved_docs, k=10))]
pub(crate) fn recall_at_k(
    relevant_docs: &Bound<'_, PyAny>,
    retrieved_docs: &Bound<'_, PyAny>,
    k: i64,
) -> PyResult<f64> {
    Ok(retrieval::recall_at_k(&ids(relevant_docs)?, &ids(retrieved_docs)?, k))
}

/// The mean, over the relevant documents, of the precision at the rank where each was found.
#[pyfunction]
pub(crate) fn average_precision(
    relevant_docs: &Bound<'_, PyAny>,
    retrieved_docs: &Bound<'_, PyAny>,
) -> PyResult<f64> {
    Ok(retrieval::average_precision(&ids(relevant_docs)?, &ids(retrieved_docs)?))
}

/// The mean, over the relevant documents that were found, of the precision at their rank.
#[pyfunction]
pub(crate) fn average_precision_over_hits(
    relevant_docs: &Bound<'_, PyAny>,
    retrieved_docs: &Bound<'_, PyAny>,
) -> PyResult<f64> {
    Ok(retrieval::average_precision_over_hits(&ids(relevant_docs)?, &ids(retrieved_docs)?))
}

/// How well retrieved texts agree with the expected ones, by text distance.
#[pyfunction]
pub(crate) fn compare_contexts<'py>(
    reference_contexts: &Bound<'py, PyAny>,
    actual_contexts: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyDict>> {
    let py = actual_contexts.py();
    let reference_contexts: Vec<String> = reference_contexts.extract()?;
    let actual_contexts: Vec<String> = actual_contexts.extract()?;
    let scores = py.detach(|| {
        let reference: Vec<&str> = reference_contexts.iter().map(String::as_str).collect();
        let actual: Vec<&str> = actual_contexts.iter().map(String::as_str).collect();
        retrieval::compare_contexts(&reference, &actual)
    });
    let scores = scores.map_err(|error| PyValueError::new_err(error.to_string()))?;
    let dict = PyDict::new(py);
    dict.set_item("retrieval_context_recall", scores.recall)?;
    dict.set_item("retrieval_context_precision", scores.precision)?;
    dict.set_item("retrieval_context_f1", scores.f1)?;
    Ok(dict)
}

/// An expected step, the actual step found for it, and their similarity.
type Pair = (usize, usize, usize, f64);

/// An expected step that was missed, its name, and why.
type Missed = (usize, usize, String, String);

/// Finds the expected steps among the actual ones: the score, the pairs of group, expected step,
/// actual step and similarity, and on request what was missed.
#[pyfunction]
#[pyo3(signature = (reference_steps, actual_steps, profile="5", explain=false))]
pub(crate) fn match_steps(
    py: Python<'_>,
    reference_steps: &Bound<'_, PyAny>,
    actual_steps: &Bound<'_, PyAny>,
    profile: &str,
    explain: bool,
) -> PyResult<(f64, Vec<Pair>, Vec<Missed>)> {
    let profile = profile_number(profile)?.profile();
    // A dataset of one question, and its response.
    let reference = format!(
        r#"[{{"template_id":"","questions":[{{"id":"","question_text":"","reference_steps":{}}}]}}]"#,
        json_of(reference_steps)?
    );
    let responses = format!(r#"[{{"question_id":"","actual_steps":{}}}]"#, json_of(actual_steps)?);
    let read = |name: &str, json: String| {
        Document::new(name, json.into_bytes(), Format::Json)
            .map_err(|problems| Refusal::dataset(&problems, false))
    };
    let found = py.detach(|| {
        let (reference, responses) = (read("reference", reference)?, read("responses", responses)?);
        let refuse = |problems| Refusal::dataset(&problems, false);
        let dataset = read_reference(&reference).map_err(refuse)?;
        let responses = read_responses(&responses).map_err(refuse)?;
        // Oddities, such as an unknown status, do not prevent the comparison.
        let wrong = responses.problems.such(|problem| !problem.is_warning() && !problem.is_note());
        if !wrong.is_empty() {
            return Err(refuse(wrong));
        }
        let question = &dataset.questions[0];
        let groups = question.groups.as_deref().unwrap_or_default();
        let steps = responses.of(question).steps.as_deref().unwrap_or_default();
        Ok(match_all(groups, steps, &profile).map(|matching| {
            let explained = explain.then(|| explain_matching(groups, steps, &matching, &profile));
            (matching, explained.unwrap_or_default())
        }))
    });
    let found = found.map_err(|refusal| refusal.into_error(py))?;
    let (matching, explained) = found.map_err(|error| PyValueError::new_err(error.to_string()))?;
    let pairs = matching.pairs.iter();
    let pairs = pairs.map(|pair| (pair.group, pair.expected, pair.actual, pair.similarity));
    let missed = explained.into_iter().map(|miss| (miss.group, miss.expected, miss.name, miss.why));
    Ok((matching.score, pairs.collect(), missed.collect()))
}

/// Why a metric of the user's own cannot have a name, if it cannot.
#[pyfunction]
pub(crate) fn metric_name_problem(name: &str) -> Option<String> {
    if name.trim().is_empty() {
        return Some("a metric needs a name".into());
    }
    let key = reserved_key(name)?;
    Some(if key == name {
        format!("`{name}` is a key of the results already")
    } else {
        format!("`{name}` cannot be told from the key `{key}` of the results")
    })
}
