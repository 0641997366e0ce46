//! `compare`: how runs differ from a baseline.

use juror_compare::{CompareOptions, ComparedRun, Comparison, Gates, Incomparable, compare};
use juror_pages::calibrated_means;
use juror_read::OwnMetrics;
use juror_report::{
    ComparisonFormat, ComparisonView, Palette, Threshold, comparison_html, comparison_json,
    comparison_junit, comparison_markdown, comparison_text, comparison_tsv,
};
use juror_run::load_calibrations;
use juror_score::ScoreTable;
use pyo3::prelude::*;

use crate::aggregates::plan_of;
use crate::gates::{Asked, Outcomes};
use crate::input::settings;
use crate::output::{as_text, made, unknown_ending, write_file};
use crate::problem::{InputProblem, Refusal};
use crate::runs::{Rules, Run};

/// What Python's readers write to have all flips listed.
const ALL_FLIPS: &str = "flips=\"all\"";

/// A comparison, and what its reports are made from.
#[pyclass(frozen, module = "juror._juror")]
pub(crate) struct Compared {
    comparison: Comparison,
    /// The numbers of the baseline and of all candidates.
    scores: Vec<ScoreTable>,
    options: CompareOptions,
    view: ComparisonView,
    own: OwnMetrics,
}

/// What to compare, and what to put up with.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Choices {
    /// The metrics to compare; all if there are none.
    metrics: Vec<String>,
    /// The names of the user's own metrics.
    own: Vec<String>,
    confidence: f64,
    by_template: bool,
    allow_mismatch: bool,
    allow_incomplete: bool,
    /// How many questions that flipped are listed; all if left out.
    flips: Option<usize>,
}

/// Compares runs with the first of them.
#[pyfunction]
#[pyo3(signature = (runs, gates, config, profile, choices))]
#[expect(clippy::needless_pass_by_value, reason = "Python's objects become Rust's on the way in")]
pub(crate) fn compare_runs<'py>(
    py: Python<'py>,
    runs: Vec<Bound<'py, PyAny>>,
    gates: Option<&Bound<'py, PyAny>>,
    config: Option<&Bound<'py, PyAny>>,
    profile: Option<&str>,
    choices: Choices,
) -> PyResult<Compared> {
    let own = OwnMetrics { names: choices.own.clone() };
    let mut plan = plan_of(config, profile)?;
    let calibrations = load_calibrations(&settings(config)?.judge.calibration);
    let calibrations = calibrations.map_err(|error| Refusal::File(error).into_error(py))?;
    let asked = Asked { gates, coverage: None }.add_to(&mut plan.gates, &own)?;
    let rules = Rules { plan, own };
    let runs = Run::read_all(py, &runs, &rules)?;
    let sides: Vec<ComparedRun<'_>> = runs.iter().map(Run::side).collect();
    let options = choices.options(&sides, rules.plan.gates);
    let compared = py.detach(|| compare_all(&sides, &options));
    let mut comparison = compared.map_err(|error| refuse(py, &error))?;
    let means = |run: &ComparedRun<'_>| calibrated_means(*run, &calibrations, options.confidence);
    comparison.add_calibrated(sides.iter().map(means));
    Outcomes::of_comparison(&comparison).tell_unchecked(py, &asked)?;
    let view = choices.view();
    for (compared, run) in comparison.candidates.iter_mut().zip(&runs[1..]) {
        for flips in &mut compared.flips {
            run.explain(flips.broken.iter_mut().take(view.flips));
        }
    }
    let scores = runs.into_iter().map(Run::into_scores).collect();
    Ok(Compared { comparison, scores, options, view, own: rules.own })
}

impl Choices {
    fn options(&self, runs: &[ComparedRun<'_>], gates: Gates) -> CompareOptions {
        CompareOptions {
            confidence: self.confidence,
            allow_mismatch: self.allow_mismatch,
            allow_incomplete: self.allow_incomplete,
            metrics: self.metrics.iter().flat_map(|name| columns_of(name, runs)).collect(),
            by_group: self.by_template,
            gates,
        }
    }

    fn view(&self) -> ComparisonView {
        ComparisonView {
            flips: self.flips.unwrap_or(usize::MAX),
            by_group: self.by_template,
            all_metrics: !self.metrics.is_empty(),
            all_flips: ALL_FLIPS,
        }
    }
}

/// The columns that are meant by a metric: its own, or those of a metric that has several numbers.
fn columns_of(name: &str, runs: &[ComparedRun<'_>]) -> Vec<String> {
    let own = OwnMetrics { names: vec![name.to_owned()] };
    let columns = runs.iter().flat_map(|run| run.scores.columns());
    let filled = columns.filter(|column| !column.values().is_empty());
    let mut names: Vec<String> = filled.map(|column| column.name.to_string()).collect();
    names.retain(|column| own.has(column));
    names.sort_unstable();
    names.dedup();
    if names.is_empty() || names.iter().any(|column| column == name) {
        vec![name.to_owned()]
    } else {
        names
    }
}

fn compare_all(
    runs: &[ComparedRun<'_>],
    options: &CompareOptions,
) -> Result<Comparison, Incomparable> {
    compare(runs[0], &runs[1..], options)
}

fn refuse(py: Python<'_>, error: &Incomparable) -> PyErr {
    Refusal::Comparison(InputProblem::without_place(&error.notice())).into_error(py)
}

impl Compared {
    fn markdown_text(&self, name: Option<&str>) -> String {
        comparison_markdown(&self.comparison, &self.view, name)
    }

    fn junit_bytes(&self, threshold: Option<&Threshold>) -> Vec<u8> {
        let scores: Vec<&ScoreTable> = self.scores.iter().collect();
        comparison_junit(&self.comparison, &scores, threshold)
    }

    /// The runs as they were compared.
    fn sides(&self) -> Vec<ComparedRun<'_>> {
        let candidates = self.comparison.candidates.iter().map(|candidate| &candidate.run);
        let facts = std::iter::once(&self.comparison.baseline).chain(candidates);
        facts.zip(&self.scores).map(|(facts, scores)| ComparedRun { facts, scores }).collect()
    }
}

#[pymethods]
impl Compared {
    /// The comparison as a dict.
    fn data<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        made(py, &self.comparison)
    }

    /// The comparison as JSON.
    fn json(&self) -> String {
        as_text(comparison_json(&self.comparison))
    }

    /// The comparison as terminals show it.
    fn text(&self) -> String {
        comparison_text(&self.comparison, &self.view, Palette::Plain)
    }

    /// The comparison as notebooks show it.
    fn html(&self) -> String {
        comparison_html(&self.comparison, &self.view)
    }

    /// The comparison as a comment for a pull request.
    #[pyo3(signature = (name=None))]
    fn markdown(&self, name: Option<&str>) -> String {
        self.markdown_text(name)
    }

    /// The comparison as a test report. A question fails below a threshold, if one is given.
    #[pyo3(signature = (threshold=None))]
    fn junit(&self, threshold: Option<(String, f64)>) -> String {
        let threshold = threshold.map(|(metric, value)| Threshold { metric, value });
        as_text(self.junit_bytes(threshold.as_ref()))
    }

    /// Writes a file, whose ending picks the format.
    fn save(&self, py: Python<'_>, path: &str) -> PyResult<()> {
        let format = ComparisonFormat::from_name(path)
            .ok_or_else(|| unknown_ending(path, ComparisonFormat::ENDINGS))?;
        let bytes = match format {
            ComparisonFormat::Json => comparison_json(&self.comparison),
            ComparisonFormat::Markdown => self.markdown_text(None).into_bytes(),
            ComparisonFormat::Junit => self.junit_bytes(None),
            ComparisonFormat::Tsv => comparison_tsv(&self.comparison),
        };
        write_file(py, path, &bytes)
    }

    /// Checks gates, or those that were checked: the outcomes for each candidate. `own` names metrics of
    /// the user's own.
    #[pyo3(signature = (gates, config, coverage, own))]
    fn check<'py>(
        &self,
        py: Python<'py>,
        gates: Option<&Bound<'py, PyAny>>,
        config: Option<&Bound<'py, PyAny>>,
        coverage: Option<&str>,
        own: Vec<String>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut wanted = match (config, gates) {
            (Some(_), _) => plan_of(config, None)?.gates,
            (None, Some(_)) => Gates { gates: Vec::new(), ..self.options.gates.clone() },
            (None, None) => self.options.gates.clone(),
        };
        let names = self.own.names.iter().cloned().chain(own).collect();
        let asked = Asked { gates, coverage }.add_to(&mut wanted, &OwnMetrics { names })?;
        let options = CompareOptions { gates: wanted, ..self.options.clone() };
        let again = py.detach(|| compare_all(&self.sides(), &options));
        let comparison = again.map_err(|error| refuse(py, &error))?;
        Outcomes::of_comparison(&comparison).told(py, &asked)
    }
}
