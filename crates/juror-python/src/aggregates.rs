//! `compute_aggregates`: statistics of results.

use std::collections::{HashMap, HashSet};

use juror_document::{Problem, Problems};
use juror_files::load;
use juror_pages::{ToldResults, plan_beside};
use juror_read::OwnMetrics;
use juror_report::{Format, render_aggregates};
use juror_run::Plan;
use juror_score::{Aggregates, Aggregator};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping, PyString};

use crate::evaluation::{Log, profile_number};
use crate::from_json::Builder;
use crate::input::{path_of, settings};
use crate::observe::Observer;
use crate::problem::{InputProblem, Refusal, hint_of};

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
    let own = OwnMetrics { names: metrics };
    let collected = collect(py, results, plan_of(config, profile)?, &own)?;
    let aggregates = py.detach(|| collected.aggregator.finish());
    to_python(py, &aggregates, &collected.templates)
}

/// Collected results.
pub(crate) struct Collected<'py> {
    pub(crate) aggregator: Aggregator,
    /// Template names that are not strings, by the strings that stand for them.
    pub(crate) templates: HashMap<String, Bound<'py, PyAny>>,
    /// The position of the result behind each row; empty for results of a file.
    pub(crate) rows: Vec<usize>,
}

/// Collects results, given as objects or as a path.
pub(crate) fn collect<'py>(
    py: Python<'py>,
    results: &Bound<'py, PyAny>,
    plan: Plan,
    own: &OwnMetrics,
) -> PyResult<Collected<'py>> {
    let Some(path) = path_of(results)? else {
        return collect_objects(py, &items(results)?, plan, own);
    };
    let read = py.detach(|| of_file(&path, plan, own));
    let (aggregator, problems) = read.map_err(|refusal| refusal.into_error(py))?;
    tell(py, &problems, true)?;
    Ok(Collected { aggregator, templates: HashMap::new(), rows: Vec::new() })
}

/// Collects results that are objects. One that cannot be read is told, unless none can.
pub(crate) fn collect_objects<'py>(
    py: Python<'py>,
    results: &[Bound<'py, PyAny>],
    mut plan: Plan,
    own: &OwnMetrics,
) -> PyResult<Collected<'py>> {
    if !own.names.is_empty() {
        plan.custom_metrics = own.add_to(plan.custom_metrics, keys_of(results)?);
    }
    let mut read = Objects::read(py, results, &plan)?;
    let told = read.aggregator.told_rules();
    if let Some(profile) = plan.profile_for(told) {
        read = Objects::read(py, results, &plan.by(profile))?;
    }
    if !read.unread.is_empty() && read.rows.is_empty() {
        return Err(Refusal::Dataset(read.unread, 0).into_error(py));
    }
    read.tell(py, plan.n_unsure(told))?;
    let Objects { aggregator, templates, rows, .. } = read;
    Ok(Collected { aggregator, templates, rows })
}

/// Results that are objects, as they were read.
struct Objects<'py> {
    aggregator: Aggregator,
    templates: HashMap<String, Bound<'py, PyAny>>,
    /// The position of the result behind each row.
    rows: Vec<usize>,
    /// Results that cannot be read.
    unread: Vec<InputProblem>,
    /// Numbers that their metrics cannot have.
    outside: Problems,
}

impl<'py> Objects<'py> {
    fn read(py: Python<'py>, results: &[Bound<'py, PyAny>], plan: &Plan) -> PyResult<Self> {
        let mut aggregator = plan.aggregator();
        let mut observer = Observer {
            aggregator: &mut aggregator,
            templates: HashMap::new(),
            outside: Problems::default(),
        };
        let (mut rows, mut unread) = (Vec::with_capacity(results.len()), Vec::new());
        for (index, result) in results.iter().enumerate() {
            match observer.add(index, result)? {
                Ok(()) => rows.push(index),
                Err(message) => {
                    let path = format!("[{index}]");
                    unread.push(InputProblem { message, place: None, path, hint: None });
                }
            }
            if index % TURN == TURN - 1 {
                py.check_signals()?;
                py.detach(|| ());
            }
        }
        let Observer { templates, outside, .. } = observer;
        Ok(Objects { aggregator, templates, rows, unread, outside })
    }

    /// Tells in the log what is wrong with results, and of failed ones with numbers of which nobody
    /// knows whether they count.
    fn tell(&self, py: Python<'_>, n_unsure: usize) -> PyResult<()> {
        let log = Log::new(py)?;
        for problem in &self.unread {
            log.write(&problem.to_string(), false)?;
        }
        if n_unsure > 0 {
            let problem = Problem::UnknownProfile { n: n_unsure };
            let (message, hint) = (problem.to_string(), hint_of(&problem));
            let told = InputProblem { message, place: None, path: String::new(), hint };
            log.write(&told.to_string(), false)?;
        }
        tell(py, &self.outside, false)
    }
}

/// Returns the plan whose rules statistics follow.
pub(crate) fn plan_of(config: Option<&Bound<'_, PyAny>>, profile: Option<&str>) -> PyResult<Plan> {
    let mut settings = settings(config)?;
    settings.profile = profile.map(profile_number).transpose()?.or(settings.profile);
    Ok(settings.plan())
}

fn of_file(
    name: &str,
    mut plan: Plan,
    own: &OwnMetrics,
) -> Result<(Aggregator, Problems), Refusal> {
    let document = load(name).map_err(Refusal::File)?;
    if let Some(Plan { profile, .. }) = plan_beside(name, &plan) {
        plan = plan.by(&profile);
    }
    plan.custom_metrics = own.add_from(plan.custom_metrics, &document);
    let read = ToldResults::read(&[document], &plan);
    let read = read.map_err(|problems| Refusal::dataset(&problems, true))?;
    Ok((read.aggregator, read.problems))
}

/// Returns the distinct keys of all results, in order.
fn keys_of(results: &[Bound<'_, PyAny>]) -> PyResult<Vec<String>> {
    let (mut keys, mut seen) = (Vec::new(), HashSet::new());
    for result in results {
        let Ok(result) = result.cast::<PyMapping>() else { continue };
        for key in result.keys()?.iter() {
            let Ok(key) = key.cast_into::<PyString>() else { continue };
            let key = key.to_string_lossy();
            if !seen.contains(&*key) {
                seen.insert(key.to_string());
                keys.push(key.into_owned());
            }
        }
    }
    Ok(keys)
}

/// Returns results one by one: those of a list or any other iterable, or a single result.
pub(crate) fn items<'py>(results: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    if results.cast::<PyMapping>().is_ok() {
        return Ok(vec![results.clone()]);
    }
    results.try_iter()?.collect()
}

/// Tells of results that cannot be read, in the log.
pub(crate) fn tell(py: Python<'_>, problems: &Problems, is_file: bool) -> PyResult<()> {
    let log = Log::new(py)?;
    for error in &problems.errors {
        log.write(&InputProblem::of(error, is_file).to_string(), false)?;
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
