//! `unmet_gates`: checks whether results meet requirements.

use juror_score::{Gate, Limit, Share};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::aggregates::{collect, plan_of};

/// The gates that results do not meet, in words. `fail_under` has the least mean of each metric.
#[pyfunction]
#[pyo3(signature = (results, fail_under, coverage=None, max_errors=None, config=None, profile=None, *, metrics=Vec::new()))]
#[expect(clippy::too_many_arguments, reason = "Python's callers name them")]
pub(crate) fn unmet_gates<'py>(
    py: Python<'py>,
    results: &Bound<'py, PyAny>,
    fail_under: Vec<(String, f64)>,
    coverage: Option<&str>,
    max_errors: Option<&str>,
    config: Option<&Bound<'py, PyAny>>,
    profile: Option<&str>,
    metrics: Vec<String>,
) -> PyResult<Vec<String>> {
    let mut plan = plan_of(config, profile)?;
    for (metric, least) in fail_under {
        let gate = Gate { metric, least };
        if metrics.iter().any(|own| gate.metric.starts_with(own.as_str())) {
            plan.gates.metrics.push(gate);
        } else {
            plan.add_gate(gate).map_err(refuse)?;
        }
    }
    let is_number = |gate: &&Gate| gate.least.is_finite();
    if let Some(Gate { metric, least }) = plan.gates.metrics.iter().find(|gate| !is_number(gate)) {
        return Err(PyValueError::new_err(format!("`{metric}`: {least} is no number")));
    }
    let coverage = coverage.map(str::parse::<Share>).transpose().map_err(refuse)?;
    plan.gates.coverage = coverage.unwrap_or(plan.gates.coverage);
    plan.gates.max_errors = max_errors.map(str::parse::<Limit>).transpose().map_err(refuse)?;
    let gates = plan.gates.clone();
    let (aggregates, _) = collect(py, results, plan, metrics)?;
    Ok(gates.unmet(&aggregates.micro).iter().map(ToString::to_string).collect())
}

#[expect(clippy::needless_pass_by_value, reason = "this is given to `map_err`")]
fn refuse(error: impl ToString) -> PyErr {
    PyValueError::new_err(error.to_string())
}
