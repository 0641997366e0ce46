//! `unmet_gates`: what is asked of results before they may pass.

use juror_score::{Gate, Gates, Limit, Share};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::aggregates::{collect, plan_of};

/// Why results do not pass, none where they do. `fail_under` has the least mean of each metric.
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
    let plan = plan_of(config, profile)?;
    let least = |(metric, least): (String, f64)| {
        let is_known = juror_score::metric(&metric).is_some()
            || plan.custom_metrics.contains(&metric)
            || metrics.iter().any(|own| metric.starts_with(own.as_str()));
        match (is_known, least.is_finite()) {
            (false, _) => Err(PyValueError::new_err(format!("`{metric}` is not a metric"))),
            (_, false) => Err(PyValueError::new_err(format!("`{metric}`: {least} is no number"))),
            _ => Ok(Gate { metric, least }),
        }
    };
    let share = coverage.map(str::parse::<Share>).transpose();
    let share = share.map_err(|error| PyValueError::new_err(error.to_string()))?;
    let max_errors = max_errors.map(str::parse::<Limit>).transpose();
    let gates = Gates {
        metrics: fail_under.into_iter().map(least).collect::<PyResult<_>>()?,
        coverage: share.unwrap_or(plan.coverage),
        max_errors: max_errors.map_err(|error| PyValueError::new_err(error.to_string()))?,
    };
    let (aggregates, _) = collect(py, results, plan, metrics)?;
    Ok(gates.unmet(&aggregates.micro).iter().map(ToString::to_string).collect())
}
