//! `compute_aggregates`: statistics of results.

use std::collections::HashMap;

use juror_document::{Document, Problems};
use juror_files::load;
use juror_json::Object;
use juror_report::{Format, render_aggregates};
use juror_run::Plan;
use juror_score::read::read_results;
use juror_score::{Aggregates, Aggregator, KeyPart, split_key};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping, PyString};

use crate::evaluation::{Log, profile_number};
use crate::from_json::Builder;
use crate::input::{path_of, settings};
use crate::observe::Observer;
use crate::problem::{InputProblem, Refusal};

/// How many results are added before other Python threads get a turn.
const TURN: usize = 1000;

/// Folds results into statistics. `metrics` names metrics of the user's own: such a name, and each
/// key that begins with it and `_`, counts.
#[pyfunction]
#[pyo3(signature = (results, config=None, profile=None, *, metrics=Vec::new()))]
pub(crate) fn compute_aggregates<'py>(
    py: Python<'py>,
    results: &Bound<'py, PyAny>,
    config: Option<&Bound<'py, PyAny>>,
    profile: Option<&str>,
    metrics: Vec<String>,
) -> PyResult<Bound<'py, PyAny>> {
    let (aggregator, templates) = collect(py, results, plan_of(config, profile)?, metrics)?;
    let aggregates = py.detach(|| aggregator.finish());
    to_python(py, &aggregates, &templates)
}

/// Collected results, and the template names that are not strings, by the strings that stand for
/// them.
pub(crate) type Collected<'py> = (Aggregator, HashMap<String, Bound<'py, PyAny>>);

/// Collects results, given as objects or as a path.
pub(crate) fn collect<'py>(
    py: Python<'py>,
    results: &Bound<'py, PyAny>,
    plan: Plan,
    metrics: Vec<String>,
) -> PyResult<Collected<'py>> {
    let own = Own { names: metrics };
    if let Some(path) = path_of(results)? {
        let custom = plan.custom_metrics;
        let read = py.detach(|| {
            of_file(
                &path,
                |keys| {
                    let custom = own.add_to(custom, keys);
                    Aggregator::with_needs(&plan.profile, &custom, &plan.custom_needs)
                },
                !own.names.is_empty(),
            )
        });
        let (aggregator, problems) = read.map_err(|refusal| refusal.into_error(py))?;
        tell(py, &problems)?;
        return Ok((aggregator, HashMap::new()));
    }
    let results = items(results)?;
    let keys = if own.names.is_empty() { Vec::new() } else { keys_of(&results)? };
    let custom = own.add_to(plan.custom_metrics, keys);
    let mut aggregator = Aggregator::with_needs(&plan.profile, &custom, &plan.custom_needs);
    let mut observer = Observer { aggregator: &mut aggregator, templates: HashMap::new() };
    let mut problems = Vec::new();
    for (index, result) in results.iter().enumerate() {
        if let Err(message) = observer.add(result)? {
            problems.push(InputProblem {
                message,
                place: None,
                path: format!("[{index}]"),
                hint: None,
            });
        }
        if index % TURN == TURN - 1 {
            py.check_signals()?;
            py.detach(|| ());
        }
    }
    let templates = observer.templates;
    if !problems.is_empty() && problems.len() == results.len() {
        return Err(Refusal::Dataset(problems, 0).into_error(py));
    }
    let log = Log::new(py)?;
    for problem in &problems {
        log.write(&problem.to_string(), false)?;
    }
    Ok((aggregator, templates))
}

/// Returns the plan whose rules statistics follow.
pub(crate) fn plan_of(config: Option<&Bound<'_, PyAny>>, profile: Option<&str>) -> PyResult<Plan> {
    let mut settings = settings(config)?;
    settings.profile = profile.map(profile_number).transpose()?.or(settings.profile);
    Ok(settings.plan())
}

/// The user's own metrics.
struct Own {
    names: Vec<String>,
}

impl Own {
    fn has(&self, key: &str) -> bool {
        let of = |name: &String| {
            let rest = key.strip_prefix(name.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
        };
        self.names.iter().any(of) && split_key(key).1 != Some(KeyPart::Error)
    }

    /// Returns the metrics of the settings, then the user's own metrics that results have.
    fn add_to(&self, mut custom: Vec<String>, keys: Vec<String>) -> Vec<String> {
        let mut own: Vec<String> = keys.into_iter().filter(|key| self.has(key)).collect();
        own.retain(|key| !custom.contains(key) && juror_score::question_metric(key).is_none());
        custom.append(&mut own);
        custom
    }
}

fn of_file(
    name: &str,
    make: impl FnOnce(Vec<String>) -> Aggregator,
    needs_keys: bool,
) -> Result<(Aggregator, Problems), Refusal> {
    let document = load(name).map_err(Refusal::File)?;
    let keys = if needs_keys { keys_of_document(&document) } else { Vec::new() };
    let mut aggregator = make(keys);
    let refuse = |problems: &Problems| Refusal::dataset(problems, true);
    let read = read_results(&document, &mut aggregator);
    let (n_results, problems) = read.map_err(|problems| refuse(&problems))?;
    if n_results == 0 && !problems.is_empty() {
        return Err(refuse(&problems));
    }
    Ok((aggregator, problems))
}

/// Returns the distinct keys of all results in a file, in order.
fn keys_of_document(document: &Document) -> Vec<String> {
    let text = document.json();
    let results: Vec<Object<'_>> = serde_json::from_str(text).unwrap_or_else(|_| {
        let lines = serde_json::Deserializer::from_str(text).into_iter();
        lines.map_while(Result::ok).collect()
    });
    let keys = results.iter().flat_map(|result| result.iter().map(|(key, _)| key.into_owned()));
    distinct(keys)
}

fn keys_of(results: &[Bound<'_, PyAny>]) -> PyResult<Vec<String>> {
    let mut keys = Vec::new();
    for result in results {
        if let Ok(result) = result.cast::<PyMapping>() {
            for key in result.keys()?.iter() {
                if let Ok(key) = key.cast::<PyString>() {
                    keys.push(key.to_string_lossy().into_owned());
                }
            }
        }
    }
    Ok(distinct(keys.into_iter()))
}

fn distinct(keys: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = std::collections::HashSet::new();
    keys.filter(|key| seen.insert(key.clone())).collect()
}

/// Returns results one by one: those of a list or any other iterable, or a single result.
fn items<'py>(results: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    if results.cast::<PyMapping>().is_ok() {
        return Ok(vec![results.clone()]);
    }
    results.try_iter()?.collect()
}

fn tell(py: Python<'_>, problems: &Problems) -> PyResult<()> {
    let log = Log::new(py)?;
    for error in &problems.errors {
        log.write(&InputProblem::of(error, true).to_string(), false)?;
    }
    if problems.n_more > 0 {
        log.write(&format!("and {} more", problems.n_more), false)?;
    }
    Ok(())
}

/// Returns the documented dict; templates keep the names they were given.
pub(crate) fn to_python<'py>(
    py: Python<'py>,
    aggregates: &Aggregates,
    templates: &HashMap<String, Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let json = render_aggregates(aggregates, Format::JsonLines);
    let made = Builder::new(py).value(&String::from_utf8_lossy(&json))?;
    if !templates.is_empty() {
        let named = PyDict::new(py);
        for (name, summary) in made.get_item("per_template")?.cast_into::<PyDict>()?.iter() {
            let given = templates.get(&name.to_string()).unwrap_or(&name);
            named.set_item(given, summary)?;
        }
        made.set_item("per_template", named)?;
    }
    Ok(made)
}
