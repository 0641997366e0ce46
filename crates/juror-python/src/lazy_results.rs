//! Results of files, which become Python's objects only when somebody looks at them.
//!
//! Nearly all of a result repeats its inputs. So only the plan of each result and the texts of the
//! inputs are kept; most results of a large evaluation are never looked at one by one.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, TryRecvError};
use std::sync::{Mutex, PoisonError};

use juror_files::LoadError;
use juror_run::{Interrupt, Plan};
use juror_score::{Aggregator, Profile, ScoreTable};
use pyo3::exceptions::{PyIndexError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::PyList;

use crate::aggregates::{plan_of, to_python};
use crate::build::{Inputs, build};
use crate::build_plan::{BuildPlan, Documents};
use crate::evaluation::GarbagePause;
use crate::from_json::Builder;
use crate::problem::Refusal;

/// Results that are not built yet.
pub(crate) struct Unbuilt {
    /// The plans, each for a few results.
    pub(crate) build_plans: Vec<BuildPlan>,
    /// The data behind the statistics.
    pub(crate) aggregator: Aggregator,
    /// The rules that the results were scored by.
    pub(crate) plan: Plan,
}

/// The texts of the inputs. Large ones are copied from their files after the results were returned;
/// the first access to a result waits for that.
enum Texts {
    Coming(Receiver<Result<Documents, LoadError>>),
    Here(Documents),
    Lost,
}

/// Results that are built when they are looked at.
#[pyclass(frozen, module = "juror._juror")]
pub(crate) struct LazyResults {
    unbuilt: Box<Unbuilt>,
    /// The index of the first result of each plan.
    firsts: Vec<usize>,
    n_results: usize,
    texts: Mutex<Texts>,
    /// The process whose thread holds the texts.
    process: u32,
    /// Set when the texts are no longer needed.
    unwanted: Interrupt,
}

impl Drop for LazyResults {
    fn drop(&mut self) {
        self.unwanted.set();
    }
}

impl LazyResults {
    pub(crate) fn new(
        unbuilt: Box<Unbuilt>,
        texts: Receiver<Result<Documents, LoadError>>,
        unwanted: Interrupt,
    ) -> LazyResults {
        let (mut firsts, mut n_results) = (Vec::with_capacity(unbuilt.build_plans.len()), 0);
        for plan in &unbuilt.build_plans {
            firsts.push(n_results);
            n_results += plan.starts.len();
        }
        let (texts, process) = (Mutex::new(Texts::Coming(texts)), std::process::id());
        LazyResults { unbuilt, firsts, n_results, texts, process, unwanted }
    }

    /// The numbers of all results, and the profile they were computed by.
    pub(crate) fn scores(&self) -> (&ScoreTable, &Profile) {
        (self.unbuilt.aggregator.scores(), &self.unbuilt.plan.profile)
    }

    fn documents(&self, py: Python<'_>) -> PyResult<Documents> {
        let texts = self.texts.lock_py_attached(py);
        let mut texts = texts.unwrap_or_else(PoisonError::into_inner);
        if let Texts::Coming(coming) = &mut *texts {
            *texts = match self.wait_for(py, coming)? {
                Some(kept) => {
                    Texts::Here(kept.map_err(|error| Refusal::File(error).into_error(py))?)
                }
                None => Texts::Lost,
            };
        }
        match &*texts {
            Texts::Here(documents) => Ok(documents.clone()),
            Texts::Coming(_) | Texts::Lost => {
                let why = "the texts of these results could not be kept: evaluate the files again";
                Err(PyRuntimeError::new_err(why))
            }
        }
    }

    /// Returns what the engine has kept; `None` if it ended without keeping anything.
    fn wait_for(
        &self,
        py: Python<'_>,
        coming: &mut Receiver<Result<Documents, LoadError>>,
    ) -> PyResult<Option<Result<Documents, LoadError>>> {
        match coming.try_recv() {
            Ok(kept) => return Ok(Some(kept)),
            Err(TryRecvError::Disconnected) => return Ok(None),
            Err(TryRecvError::Empty) => {}
        }
        if std::process::id() != self.process {
            // A forked process does not have its parent's threads.
            let why = "these results were not looked at before the process was forked: \
                hand on `list(results)`";
            return Err(PyRuntimeError::new_err(why));
        }
        // Moved, not shared: only one thread may wait at a time.
        Ok(py.detach(move || coming.recv().ok()))
    }
}

#[pymethods]
impl LazyResults {
    fn __len__(&self) -> usize {
        self.n_results
    }

    /// Whether the results were made by these rules, so that what was computed with them holds.
    #[pyo3(signature = (config=None, profile=None))]
    fn has_rules(
        &self,
        config: Option<&Bound<'_, PyAny>>,
        profile: Option<&str>,
    ) -> PyResult<bool> {
        let Unbuilt { build_plans, plan, .. } = &*self.unbuilt;
        let wanted = plan_of(config, profile)?;
        let is_same =
            wanted.profile == plan.profile && wanted.custom_metrics == plan.custom_metrics;
        // Statistics name templates by strings, even those whose ids are numbers in the results.
        let has_odd_ids = build_plans.iter().any(|plan| plan.has_odd_ids);
        Ok(is_same && !has_odd_ids)
    }

    /// Statistics of the results as they were made.
    fn aggregates<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let aggregates = py.detach(|| self.unbuilt.aggregator.finish());
        to_python(py, &aggregates, &HashMap::new())
    }

    /// Makes the results from one number up to another.
    pub(crate) fn make<'py>(
        &self,
        py: Python<'py>,
        start: usize,
        stop: usize,
    ) -> PyResult<Bound<'py, PyList>> {
        if start > stop || stop > self.n_results {
            return Err(PyIndexError::new_err("there is no such result"));
        }
        let documents = self.documents(py)?;
        let inputs = Inputs { documents, reference: None, responses: None };
        let (results, mut builder) = (PyList::empty(py), Builder::new(py));
        let _pause = GarbagePause::new(py)?;
        for index in start..stop {
            let at = self.firsts.partition_point(|first| *first <= index) - 1;
            let plan = &self.unbuilt.build_plans[at];
            let steps = plan.steps_of(index - self.firsts[at]);
            build(&mut builder, steps, plan, &inputs, &results)?;
        }
        Ok(results)
    }
}
