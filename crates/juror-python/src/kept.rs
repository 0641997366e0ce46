//! Results of files, which become Python's objects when somebody looks at them.
//!
//! Nearly all of a result repeats its inputs. So what is kept is how each result is built, and the
//! texts of the inputs; most results of a large evaluation are never looked at one by one.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;

use juror_run::{Interrupt, LoadError, Plan};
use juror_score::Aggregates;
use pyo3::exceptions::PyIndexError;
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
    /// Their statistics, by the rules they were judged by.
    pub(crate) aggregates: Aggregates,
    pub(crate) plan: Plan,
}

/// The engine's thread, which ends with the inputs in memory of their own.
pub(crate) type Engine = JoinHandle<Option<Result<Inputs, LoadError>>>;

/// The texts of the inputs. Large ones are copied out of their files after the results were handed
/// out, and whoever looks first waits for that.
enum Texts {
    Coming(Engine),
    Here(Inputs),
    Lost(String),
}

/// Results that are built when they are looked at.
#[pyclass(frozen, module = "juror._juror")]
pub(crate) struct Kept {
    harvest: Box<Harvest>,
    /// The number of the first result of each recipe.
    firsts: Vec<usize>,
    n_results: usize,
    texts: Mutex<Texts>,
    /// Told when nobody wants the texts any more.
    unwanted: Interrupt,
}

impl Drop for Kept {
    fn drop(&mut self) {
        self.unwanted.set();
    }
}

impl Kept {
    pub(crate) fn new(harvest: Box<Harvest>, engine: Engine, unwanted: Interrupt) -> Kept {
        let (mut firsts, mut n_results) = (Vec::with_capacity(harvest.recipes.len()), 0);
        for recipe in &harvest.recipes {
            firsts.push(n_results);
            n_results += recipe.starts.len();
        }
        Kept { harvest, firsts, n_results, texts: Mutex::new(Texts::Coming(engine)), unwanted }
    }

    fn inputs(&self, py: Python<'_>) -> PyResult<Inputs> {
        let texts = self.texts.lock_py_attached(py);
        let mut texts = texts.unwrap_or_else(PoisonError::into_inner);
        let lost = || Texts::Lost("juror's engine ended too early: a bug".into());
        *texts = match std::mem::replace(&mut *texts, lost()) {
            Texts::Coming(engine) => match py.detach(|| engine.join()) {
                Ok(Some(Ok(inputs))) => Texts::Here(inputs),
                Ok(Some(Err(error))) => Texts::Lost(error.to_string()),
                Ok(None) | Err(_) => lost(),
            },
            settled => settled,
        };
        match &*texts {
            Texts::Here(inputs) => Ok(inputs.clone()),
            Texts::Lost(why) => Err(Refusal::Failed(why.clone()).into_error(py)),
            Texts::Coming(_) => Err(Refusal::Failed(String::new()).into_error(py)),
        }
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
        let Harvest { recipes, aggregates, plan } = &*self.harvest;
        let wanted = plan_of(config, profile)?;
        let is_same =
            wanted.profile == plan.profile && wanted.custom_metrics == plan.custom_metrics;
        // Statistics name templates by texts, also those whose ids are numbers in the results.
        let has_odd_ids = recipes.iter().any(|recipe| recipe.has_odd_ids);
        if !is_same || has_odd_ids {
            return Ok(None);
        }
        to_python(py, aggregates, &HashMap::new()).map(Some)
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
        let pause = GarbagePause::new(py)?;
        let made = (start..stop).try_for_each(|index| {
            let at = self.firsts.partition_point(|first| *first <= index) - 1;
            let recipe = &self.harvest.recipes[at];
            let steps = recipe.steps_of(index - self.firsts[at]);
            build(&mut builder, steps, recipe, &pantry, &results)
        });
        pause.end()?;
        made.map(|()| results)
    }
}
