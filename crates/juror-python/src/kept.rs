//! Results of files, which become Python's objects when somebody looks at them.
//!
//! Nearly all of a result repeats its inputs. So what is kept is how each result is built, and the
//! texts of the inputs; most results of a large evaluation are never looked at one by one.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, TryRecvError};
use std::sync::{Mutex, PoisonError};

use juror_run::{Interrupt, LoadError, Plan};
use juror_score::Aggregator;
use pyo3::exceptions::{PyIndexError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::PyList;

use crate::aggregates::{plan_of, to_python};
use crate::build::{Pantry, build};
use crate::evaluation::GarbagePause;
use crate::from_json::Builder;
use crate::problem::Refusal;
use crate::recipe::{Inputs, Recipe};

/// What an evaluation of files came to.
pub(crate) struct Harvest {
    /// How results are built, a few questions each.
    pub(crate) recipes: Vec<Recipe>,
    /// What their statistics are made of, by the rules they were judged by.
    pub(crate) aggregator: Aggregator,
    pub(crate) plan: Plan,
}

/// The texts of the inputs. Large ones are copied out of their files after the results were handed
/// out, and whoever looks first waits for that.
enum Texts {
    Coming(Receiver<Result<Inputs, LoadError>>),
    Here(Inputs),
    Lost,
}

/// Results that are built when they are looked at.
#[pyclass(frozen, module = "juror._juror")]
pub(crate) struct Kept {
    harvest: Box<Harvest>,
    /// The number of the first result of each recipe.
    firsts: Vec<usize>,
    n_results: usize,
    texts: Mutex<Texts>,
    /// The process whose thread keeps the texts.
    process: u32,
    /// Told when nobody wants the texts any more.
    unwanted: Interrupt,
}

impl Drop for Kept {
    fn drop(&mut self) {
        self.unwanted.set();
    }
}

impl Kept {
    pub(crate) fn new(
        harvest: Box<Harvest>,
        texts: Receiver<Result<Inputs, LoadError>>,
        unwanted: Interrupt,
    ) -> Kept {
        let (mut firsts, mut n_results) = (Vec::with_capacity(harvest.recipes.len()), 0);
        for recipe in &harvest.recipes {
            firsts.push(n_results);
            n_results += recipe.starts.len();
        }
        let (texts, process) = (Mutex::new(Texts::Coming(texts)), std::process::id());
        Kept { harvest, firsts, n_results, texts, process, unwanted }
    }

    fn inputs(&self, py: Python<'_>) -> PyResult<Inputs> {
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
            Texts::Here(inputs) => Ok(inputs.clone()),
            Texts::Coming(_) | Texts::Lost => {
                let why = "the texts of these results could not be kept: evaluate the files again";
                Err(PyRuntimeError::new_err(why))
            }
        }
    }

    /// What the engine has kept; nothing where it ended without a word.
    fn wait_for(
        &self,
        py: Python<'_>,
        coming: &mut Receiver<Result<Inputs, LoadError>>,
    ) -> PyResult<Option<Result<Inputs, LoadError>>> {
        match coming.try_recv() {
            Ok(kept) => return Ok(Some(kept)),
            Err(TryRecvError::Disconnected) => return Ok(None),
            Err(TryRecvError::Empty) => {}
        }
        if std::process::id() != self.process {
            // A process that was forked has no threads of the one it comes from.
            let why = "these results were not looked at before the process was forked: \
                hand on `list(results)`";
            return Err(PyRuntimeError::new_err(why));
        }
        // Moved, not shared: only one thread may wait at a time.
        Ok(py.detach(move || coming.recv().ok()))
    }
}

#[pymethods]
impl Kept {
    fn __len__(&self) -> usize {
        self.n_results
    }

    /// Statistics of the results as they were made, if they were made by these rules.
    #[pyo3(signature = (config=None, profile=None))]
    fn aggregates<'py>(
        &self,
        py: Python<'py>,
        config: Option<&Bound<'py, PyAny>>,
        profile: Option<&str>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Harvest { recipes, aggregator, plan } = &*self.harvest;
        let wanted = plan_of(config, profile)?;
        let is_same =
            wanted.profile == plan.profile && wanted.custom_metrics == plan.custom_metrics;
        // Statistics name templates by texts, also those whose ids are numbers in the results.
        let has_odd_ids = recipes.iter().any(|recipe| recipe.has_odd_ids);
        if !is_same || has_odd_ids {
            return Ok(None);
        }
        let aggregates = py.detach(|| aggregator.finish());
        to_python(py, &aggregates, &HashMap::new()).map(Some)
    }

    /// Makes the results from one number up to another.
    fn make<'py>(
        &self,
        py: Python<'py>,
        start: usize,
        stop: usize,
    ) -> PyResult<Bound<'py, PyList>> {
        if start > stop || stop > self.n_results {
            return Err(PyIndexError::new_err("there is no such result"));
        }
        let pantry = Pantry { inputs: self.inputs(py)?, reference: None, responses: None };
        let (results, mut builder) = (PyList::empty(py), Builder::new(py));
        let _pause = GarbagePause::new(py)?;
        for index in start..stop {
            let at = self.firsts.partition_point(|first| *first <= index) - 1;
            let recipe = &self.harvest.recipes[at];
            let steps = recipe.steps_of(index - self.firsts[at]);
            build(&mut builder, steps, recipe, &pantry, &results)?;
        }
        Ok(results)
    }
}
