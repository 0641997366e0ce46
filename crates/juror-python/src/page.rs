//! `report`: runs as one HTML file.

use juror_compare::{CompareOptions, ComparedRun, Gates, Kind, RunFacts, compare};
use juror_document::{Document, Format};
use juror_pages::{JudgeReplies, RunPages, ScoredRun, judge_of_attempts, judge_of_questions};
use juror_read::OwnMetrics;
use juror_report::{Page, PageOptions};
use juror_run::Environment;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyMapping;

use crate::aggregates::{items, plan_of, tell};
use crate::input::{path_of, settings};
use crate::lazy_results::LazyResults;
use crate::output::write_file;
use crate::pieces::json_of;
use crate::problem::{InputProblem, Refusal};
use crate::runs::Rules;

/// What a report keeps, and what it puts up with.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct PageChoices {
    /// The names of the user's own metrics.
    own: Vec<String>,
    redact: bool,
    /// In bytes.
    max_size: Option<usize>,
    allow_mismatch: bool,
}

/// Writes runs as one HTML file, and returns what was left out, if anything.
#[pyfunction]
#[pyo3(signature = (path, runs, config, profile, choices))]
#[expect(clippy::needless_pass_by_value, reason = "Python's objects become Rust's on the way in")]
pub(crate) fn write_report<'py>(
    py: Python<'py>,
    path: &str,
    runs: Vec<Bound<'py, PyAny>>,
    config: Option<&Bound<'py, PyAny>>,
    profile: Option<&str>,
    choices: PageChoices,
) -> PyResult<Option<String>> {
    let rules = Rules { plan: plan_of(config, profile)?, own: OwnMetrics { names: choices.own } };
    let read = |(at, given)| read(py, given, &format!("results {}", at + 1), &rules);
    let runs: Vec<ScoredRun> = runs.iter().enumerate().map(read).collect::<PyResult<_>>()?;
    let options = PageOptions {
        max_size: choices.max_size.unwrap_or(PageOptions::MAX_SIZE),
        redact: choices.redact,
    };
    let environment = Environment::read(|_| {});
    let replies = JudgeReplies { settings: settings(config)?, environment, cache: None };
    let page = py.detach(|| {
        let pages = RunPages::new(&runs, options).with_replies(&replies);
        page_of(&pages, &runs, choices.allow_mismatch)
    });
    let page = page.map_err(|problem| Refusal::Comparison(problem).into_error(py))?;
    write_file(py, path, page.html.as_bytes())?;
    Ok(page.note)
}

fn page_of(
    pages: &RunPages<'_>,
    runs: &[ScoredRun],
    allow_mismatch: bool,
) -> Result<Page, InputProblem> {
    let [baseline, candidates @ ..] = runs else {
        return Ok(pages.of_run(&Gates::default(), &[]));
    };
    if candidates.is_empty() {
        return Ok(pages.of_run(&Gates::default(), &[]));
    }
    let options =
        CompareOptions { allow_mismatch, allow_incomplete: true, ..CompareOptions::default() };
    let sides: Vec<ComparedRun<'_>> = candidates.iter().map(side).collect();
    let comparison = compare(side(baseline), &sides, &options)
        .map_err(|error| InputProblem::without_place(&error.notice()))?;
    Ok(pages.of_comparison(&comparison, &Gates::default()))
}

fn side(run: &ScoredRun) -> ComparedRun<'_> {
    ComparedRun { facts: &run.facts, scores: &run.scores }
}

/// Reads a run with everything that a report shows of it: a path, or results in memory.
fn read(
    py: Python<'_>,
    given: &Bound<'_, PyAny>,
    name: &str,
    rules: &Rules,
) -> PyResult<ScoredRun> {
    if let Some(path) = path_of(given)? {
        let read = py.detach(|| ScoredRun::read_with(&path, &rules.plan, &rules.own));
        let run = read.map_err(|error| Refusal::run(error).into_error(py))?;
        tell(py, &run.problems, true)?;
        return Ok(run);
    }
    let (text, kind, format) = text_of(given)?;
    let refuse = |problems| Refusal::dataset(&problems, false).into_error(py);
    let document = Document::new(name, text.into_bytes(), format).map_err(refuse)?;
    let judged_by = match kind {
        Kind::Eval => judge_of_questions(&document),
        Kind::Bench => judge_of_attempts(&document),
    };
    let facts = RunFacts { judged_by, ..RunFacts::of_file(name, kind) };
    let plan = rules.plan.clone();
    let run = ScoredRun::of_results(facts, document, plan, &rules.own).map_err(refuse)?;
    tell(py, &run.problems, false)?;
    Ok(run)
}

/// Results in memory as text: one a line, or the file of a benchmark.
fn text_of(given: &Bound<'_, PyAny>) -> PyResult<(String, Kind, Format)> {
    if let Ok(file) = given.cast::<PyMapping>()
        && file.contains("results")?
    {
        return Ok((json_of(given)?, Kind::Bench, Format::Json));
    }
    let results = match given.cast::<LazyResults>() {
        Ok(lazy) => {
            let n_results = lazy.get().scores().0.items().len();
            items(lazy.get().make(lazy.py(), 0, n_results)?.as_any())?
        }
        Err(_) => items(given)?,
    };
    if results.is_empty() {
        return Err(PyValueError::new_err("there are no results to report"));
    }
    let mut text = String::new();
    for result in &results {
        text.push_str(&json_of(result)?);
        text.push('\n');
    }
    let is_attempt = results[0].contains("query_id")? && !results[0].contains("template_id")?;
    let kind = if is_attempt { Kind::Bench } else { Kind::Eval };
    Ok((text, kind, Format::JsonLines))
}
