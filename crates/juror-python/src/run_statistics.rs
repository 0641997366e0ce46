//! `statistics`: means with intervals, of one run.

use juror_compare::Statistics;
use juror_read::OwnMetrics;
use juror_report::{Format, Palette, render_statistics, statistics_html, statistics_text};
use pyo3::prelude::*;

use crate::aggregates::plan_of;
use crate::output::{as_text, made, unknown_ending, write_file};
use crate::runs::{Rules, Run};

/// The statistics of a run.
#[pyclass(frozen, module = "juror._juror")]
pub(crate) struct RunStatistics {
    statistics: Statistics,
}

/// Computes the statistics of a run. `own` names metrics of the user's own.
#[pyfunction]
#[pyo3(signature = (results, config, profile, own, confidence))]
pub(crate) fn run_statistics<'py>(
    py: Python<'py>,
    results: Bound<'py, PyAny>,
    config: Option<&Bound<'py, PyAny>>,
    profile: Option<&str>,
    own: Vec<String>,
    confidence: f64,
) -> PyResult<RunStatistics> {
    let rules = Rules { plan: plan_of(config, profile)?, own: OwnMetrics { names: own } };
    let run = Run::read(py, results, &rules)?;
    run.tell_state(py)?;
    let side = run.side();
    let statistics = py.detach(|| Statistics::of_run(side, confidence));
    Ok(RunStatistics { statistics })
}

#[pymethods]
impl RunStatistics {
    /// The statistics as a dict.
    fn data<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        made(py, &self.statistics)
    }

    /// The statistics as JSON.
    fn json(&self) -> String {
        as_text(render_statistics(&self.statistics, Format::Json))
    }

    /// The statistics as a table for terminals.
    fn text(&self) -> String {
        statistics_text(&self.statistics, Palette::Plain)
    }

    /// The statistics as notebooks show them.
    fn html(&self) -> String {
        statistics_html(&self.statistics)
    }

    /// Writes a file, whose ending picks the format.
    fn save(&self, py: Python<'_>, path: &str) -> PyResult<()> {
        let format =
            Format::from_name(path).ok_or_else(|| unknown_ending(path, Format::ENDINGS))?;
        write_file(py, path, &render_statistics(&self.statistics, format))
    }
}
