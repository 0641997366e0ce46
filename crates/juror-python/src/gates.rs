//! `unmet_gates`: checks whether results meet requirements.

use juror_compare::{Condition, Gate, GateVerdict, LevelLimit, Limit, Share};
use juror_run::Totals;
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
        if !least.is_finite() {
            return Err(PyValueError::new_err(format!("`{metric}`: {least} is no number")));
        }
        let is_own = metrics.iter().any(|own| metric.starts_with(own.as_str()));
        let gate = Gate::on_mean(metric, LevelLimit::Min(least));
        if is_own {
            plan.gates.gates.push(gate);
        } else {
            plan.add_gate(gate).map_err(refuse)?;
        }
    }
    let coverage = coverage.map(str::parse::<Share>).transpose().map_err(refuse)?;
    plan.gates.coverage = coverage.unwrap_or(plan.gates.coverage);
    let most = max_errors.map(str::parse::<Limit>).transpose().map_err(refuse)?;
    let of_errors = most.map(|most| Gate::blocking(Condition::Errors { most }));
    plan.gates.gates.extend(of_errors);
    let gates = plan.gates.clone();
    let (aggregator, _) = collect(py, results, plan, metrics)?;
    let totals = Totals::of(&aggregator, &gates);
    let not_met = totals.gates.into_iter().filter(|gate| gate.verdict == GateVerdict::Block);
    Ok(not_met.map(|gate| gate.why).collect())
}

#[expect(clippy::needless_pass_by_value, reason = "this is given to `map_err`")]
fn refuse(error: impl ToString) -> PyErr {
    PyValueError::new_err(error.to_string())
}
