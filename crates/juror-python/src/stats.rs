//! Statistical methods on Python's numbers: the engine of `juror.stats`.
//!
//! Each function reads its arguments, computes without holding Python, and returns a dict.

mod arguments;

use juror_score::statistics::{
    AlphaLevel, Design, GateLevel, Interval, JudgedCounts, MarginVerdict, PairedCounts, Refused,
    agreement, alpha, benjamini_hochberg, corrected_rate, fleiss_kappa, holm, judge_noise,
    least_detectable, macro_mean, margin_verdict, mcnemar, mean, newcombe, paired, pass_at_k,
    pass_hat_k, prediction_powered, proportion, questions_needed, repeats_needed,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Serialize;
use serde_json::{Value, json};

use crate::output::made;
use arguments::Place::{self, Named};
use arguments::{
    any_numbers, clusters, count, counts, even, inner_share, named_rows, number, numbers, part,
    ratings, refusal, rows, same_length,
};

type Made<'py> = PyResult<Bound<'py, PyAny>>;

/// Returns a result as a dict. The arguments are sound, so only their size can be in the way.
fn made_unless_too_large(py: Python<'_>, result: Option<impl Serialize>) -> Made<'_> {
    let too_large = || PyValueError::new_err("the numbers are too large to compute with");
    made(py, &result.ok_or_else(too_large)?)
}

/// A mean with its standard error and interval.
#[pyfunction]
#[pyo3(signature = (values, clusters=None, confidence=0.95))]
pub(crate) fn stats_mean<'py>(
    py: Python<'py>,
    values: &Bound<'py, PyAny>,
    clusters: Option<&Bound<'py, PyAny>>,
    confidence: f64,
) -> Made<'py> {
    let values = numbers(Named("values"), values)?;
    let clusters = self::clusters(clusters, ("values", values.len()))?;
    let confidence = inner_share("confidence", confidence)?;
    made_unless_too_large(py, py.detach(|| mean(&values, clusters.as_deref(), confidence)))
}

/// Intervals of a proportion.
#[pyfunction]
#[pyo3(signature = (successes, n, confidence=0.95))]
pub(crate) fn stats_proportion<'py>(
    py: Python<'py>,
    successes: &Bound<'py, PyAny>,
    n: &Bound<'py, PyAny>,
    confidence: f64,
) -> Made<'py> {
    let (successes, n) = (count(Named("successes"), successes)?, count(Named("n"), n)?);
    part(("successes", successes), ("n", n))?;
    if n == 0 {
        return Err(refusal("n", "expected at least 1"));
    }
    let confidence = inner_share("confidence", confidence)?;
    let whole = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
    made_unless_too_large(py, proportion(whole(successes), whole(n), confidence))
}

/// The mean of templates' means.
#[pyfunction]
pub(crate) fn stats_macro<'py>(py: Python<'py>, templates: &Bound<'py, PyAny>) -> Made<'py> {
    let templates = named_rows(Named("templates"), templates)?;
    made_unless_too_large(py, py.detach(|| macro_mean(&templates)))
}

/// Two runs on the same questions.
#[pyfunction]
#[pyo3(signature = (a, b, clusters=None, confidence=0.95))]
pub(crate) fn stats_paired<'py>(
    py: Python<'py>,
    a: &Bound<'py, PyAny>,
    b: &Bound<'py, PyAny>,
    clusters: Option<&Bound<'py, PyAny>>,
    confidence: f64,
) -> Made<'py> {
    let (a, b) = (numbers(Named("a"), a)?, numbers(Named("b"), b)?);
    same_length(("a", a.len()), ("b", b.len()))?;
    let clusters = self::clusters(clusters, ("a", a.len()))?;
    let confidence = inner_share("confidence", confidence)?;
    made_unless_too_large(py, py.detach(|| paired(&a, &b, clusters.as_deref(), confidence)))
}

/// Two runs on the same questions, each right or wrong.
#[pyfunction]
pub(crate) fn stats_mcnemar<'py>(
    py: Python<'py>,
    lost: &Bound<'py, PyAny>,
    won: &Bound<'py, PyAny>,
) -> Made<'py> {
    made(py, &mcnemar(count(Named("lost"), lost)?, count(Named("won"), won)?))
}

/// The difference of two proportions of the same questions.
#[pyfunction]
#[pyo3(signature = (both, lost, won, neither, confidence=0.95))]
pub(crate) fn stats_newcombe<'py>(
    py: Python<'py>,
    both: &Bound<'py, PyAny>,
    lost: &Bound<'py, PyAny>,
    won: &Bound<'py, PyAny>,
    neither: &Bound<'py, PyAny>,
    confidence: f64,
) -> Made<'py> {
    let counts = PairedCounts {
        both: count(Named("both"), both)?,
        lost: count(Named("lost"), lost)?,
        won: count(Named("won"), won)?,
        neither: count(Named("neither"), neither)?,
    };
    if counts == PairedCounts::default() {
        return Err(PyValueError::new_err("there are no questions: all counts are 0"));
    }
    made_unless_too_large(py, newcombe(counts, inner_share("confidence", confidence)?))
}

/// Adjusted p of several comparisons.
#[pyfunction]
pub(crate) fn stats_multiplicity<'py>(py: Python<'py>, p: &Bound<'py, PyAny>) -> Made<'py> {
    let p = any_numbers(Named("p"), p)?;
    if let Some(at) = p.iter().position(|p| !(0.0..=1.0).contains(p)) {
        let place = format!("p[{at}]");
        return Err(refusal(
            place,
            format_args!("expected a number from 0 to 1, found `{}`", p[at]),
        ));
    }
    made(py, &json!({"holm": holm(&p), "benjamini_hochberg": benjamini_hochberg(&p)}))
}

/// The chance that any of `k` trials succeeds, and that all do.
#[pyfunction]
pub(crate) fn stats_trials<'py>(
    py: Python<'py>,
    trials: &Bound<'py, PyAny>,
    successes: &Bound<'py, PyAny>,
    k: &Bound<'py, PyAny>,
) -> Made<'py> {
    let (n, c) = (count(Named("trials"), trials)?, count(Named("successes"), successes)?);
    let k = count(Named("k"), k)?;
    part(("successes", c), ("trials", n))?;
    if k == 0 {
        return Err(refusal("k", "expected at least 1"));
    }
    if n > u64::from(u32::MAX) {
        return Err(refusal("trials", format_args!("expected at most {}, found `{n}`", u32::MAX)));
    }
    made(py, &json!({"pass_at_k": pass_at_k(n, c, k), "pass_hat_k": pass_hat_k(n, c, k)}))
}

/// The noise of a judge, apart from how questions differ.
#[pyfunction]
pub(crate) fn stats_judge_noise<'py>(py: Python<'py>, verdicts: &Bound<'py, PyAny>) -> Made<'py> {
    let verdicts = even(Named("verdicts"), rows(Named("verdicts"), verdicts)?)?;
    made_unless_too_large(py, py.detach(|| judge_noise(&verdicts)))
}

/// The agreement of two judges.
#[pyfunction]
pub(crate) fn stats_agreement<'py>(py: Python<'py>, table: &Bound<'py, PyAny>) -> Made<'py> {
    let table = counted(Named("table"), table)?;
    if table.len() != table[0].len() {
        let problem = format!("expected as many columns as rows, found {}", table[0].len());
        return Err(refusal("table", format_args!("{problem} for {} rows", table.len())));
    }
    made_unless_too_large(py, agreement(&table))
}

/// The agreement of several judges who each judge everything.
#[pyfunction]
pub(crate) fn stats_fleiss<'py>(py: Python<'py>, table: &Bound<'py, PyAny>) -> Made<'py> {
    let table = counted(Named("table"), table)?;
    let judges = |row: &Vec<u64>| row.iter().fold(0, |sum: u64, count| sum.saturating_add(*count));
    let n = judges(&table[0]);
    if let Some(at) = table.iter().position(|row| judges(row) != n) {
        let problem = format!("{} judges, but {n} in the first row", judges(&table[at]));
        return Err(refusal(format_args!("table[{at}]"), problem));
    }
    made(py, &json!({"kappa": fleiss_kappa(&table)}))
}

/// Reads a table that counts something.
fn counted(place: Place<'_>, table: &Bound<'_, PyAny>) -> PyResult<Vec<Vec<u64>>> {
    let table = counts(place, table)?;
    if table.iter().flatten().all(|count| *count == 0) {
        return Err(refusal(place, "all counts are 0"));
    }
    Ok(table)
}

/// Krippendorff's alpha at every level.
#[pyfunction]
pub(crate) fn stats_alpha<'py>(py: Python<'py>, ratings: &Bound<'py, PyAny>) -> Made<'py> {
    let ratings = self::ratings(Named("ratings"), ratings)?;
    let of = |level| alpha(&ratings, level);
    let found = py.detach(|| {
        json!({
            "nominal": of(AlphaLevel::Nominal),
            "ordinal": of(AlphaLevel::Ordinal),
            "interval": of(AlphaLevel::Interval),
            "ratio": of(AlphaLevel::Ratio),
        })
    });
    made(py, &found)
}

/// A pass rate without the judge's errors.
#[pyfunction]
#[pyo3(signature = (judge_passes, n, human_passes, judge_agrees_on_passes, human_fails, judge_agrees_on_fails, confidence=0.95))]
#[expect(clippy::too_many_arguments, reason = "Python's callers name them")]
pub(crate) fn stats_corrected_rate<'py>(
    py: Python<'py>,
    judge_passes: &Bound<'py, PyAny>,
    n: &Bound<'py, PyAny>,
    human_passes: &Bound<'py, PyAny>,
    judge_agrees_on_passes: &Bound<'py, PyAny>,
    human_fails: &Bound<'py, PyAny>,
    judge_agrees_on_fails: &Bound<'py, PyAny>,
    confidence: f64,
) -> Made<'py> {
    let counts = JudgedCounts {
        judge_passes: count(Named("judge_passes"), judge_passes)?,
        n: count(Named("n"), n)?,
        human_passes: count(Named("human_passes"), human_passes)?,
        judge_agrees_on_passes: count(Named("judge_agrees_on_passes"), judge_agrees_on_passes)?,
        human_fails: count(Named("human_fails"), human_fails)?,
        judge_agrees_on_fails: count(Named("judge_agrees_on_fails"), judge_agrees_on_fails)?,
    };
    check_parts(&counts)?;
    made(py, &outcome(corrected_rate(&counts, inner_share("confidence", confidence)?)))
}

fn check_parts(counts: &JudgedCounts) -> PyResult<()> {
    part(("judge_passes", counts.judge_passes), ("n", counts.n))?;
    let agreed = ("judge_agrees_on_passes", counts.judge_agrees_on_passes);
    part(agreed, ("human_passes", counts.human_passes))?;
    let agreed = ("judge_agrees_on_fails", counts.judge_agrees_on_fails);
    part(agreed, ("human_fails", counts.human_fails))
}

/// Returns a result, or why there is none, with the same keys.
fn outcome(found: Result<impl Serialize, Refused>) -> Value {
    let keys = ["raw", "rate", "se", "interval", "sensitivity", "specificity"];
    let (mut outcome, reason) = match found {
        Ok(found) => (json!(found), None),
        Err(refused) => {
            let nothing = keys.into_iter().map(|key| (key.to_owned(), Value::Null));
            (Value::Object(nothing.collect()), Some(refused.to_string()))
        }
    };
    outcome["refused"] = json!(reason.is_some());
    outcome["reason"] = json!(reason);
    outcome
}

/// A judge on everything, corrected by people on some.
#[pyfunction]
#[pyo3(signature = (judge_all, judge_labelled, human_labelled, confidence=0.95))]
pub(crate) fn stats_prediction_powered<'py>(
    py: Python<'py>,
    judge_all: &Bound<'py, PyAny>,
    judge_labelled: &Bound<'py, PyAny>,
    human_labelled: &Bound<'py, PyAny>,
    confidence: f64,
) -> Made<'py> {
    let all = numbers(Named("judge_all"), judge_all)?;
    let judge = numbers(Named("judge_labelled"), judge_labelled)?;
    let human = numbers(Named("human_labelled"), human_labelled)?;
    same_length(("judge_labelled", judge.len()), ("human_labelled", human.len()))?;
    let confidence = inner_share("confidence", confidence)?;
    made_unless_too_large(py, py.detach(|| prediction_powered(&all, &judge, &human, confidence)))
}

/// How many questions or repeats a difference takes, and what difference so many questions find.
#[pyfunction]
#[pyo3(signature = (delta=None, *, variance_of_differences, variance_within=0.0, repeats=1, deff=1.0, power=0.8, significance=0.05, questions=None))]
#[expect(clippy::too_many_arguments, reason = "Python's callers name them")]
pub(crate) fn stats_planning(
    py: Python<'_>,
    delta: Option<f64>,
    variance_of_differences: f64,
    variance_within: f64,
    repeats: i64,
    deff: f64,
    power: f64,
    significance: f64,
    questions: Option<i64>,
) -> Made<'_> {
    let design = Design {
        variance_of_differences: at_least_0("variance_of_differences", variance_of_differences)?,
        variance_within: at_least_0("variance_within", variance_within)?,
        repeats: u32::try_from(at_least_1("repeats", repeats)?).unwrap_or(u32::MAX),
        deff: above_0("deff", deff)?,
        power: inner_share("power", power)?,
        significance: inner_share("significance", significance)?,
    };
    // What matters is how far the runs are apart, not which is ahead.
    let delta = delta.map(|delta| above_0("delta", delta.abs())).transpose()?;
    let questions = questions.map(|questions| at_least_1("questions", questions)).transpose()?;
    if delta.is_none() && questions.is_none() {
        return Err(PyValueError::new_err("expected `delta`, `questions` or both, found neither"));
    }
    let needed = delta.zip(questions).map(|(delta, n)| repeats_needed(delta, n, &design));
    let plan = json!({
        "questions": delta.and_then(|delta| questions_needed(delta, &design)),
        "delta": questions.and_then(|questions| least_detectable(questions, &design)),
        "repeats": needed.flatten(),
    });
    made(py, &plan)
}

fn at_least_0(place: &str, number: f64) -> PyResult<f64> {
    if number.is_finite() && number >= 0.0 {
        return Ok(number);
    }
    Err(refusal(place, format_args!("expected a number from 0 up, found `{number}`")))
}

fn above_0(place: &str, number: f64) -> PyResult<f64> {
    if number.is_finite() && number > 0.0 {
        return Ok(number);
    }
    Err(refusal(place, format_args!("expected a number above 0, found `{number}`")))
}

fn at_least_1(place: &str, number: i64) -> PyResult<u64> {
    let found = u64::try_from(number).ok().filter(|number| *number > 0);
    found.ok_or_else(|| refusal(place, format_args!("expected at least 1, found `{number}`")))
}

/// What an interval says about a margin.
#[pyfunction]
#[pyo3(signature = (interval, max_drop, level="block"))]
pub(crate) fn stats_gate<'py>(
    py: Python<'py>,
    interval: Option<&Bound<'py, PyAny>>,
    max_drop: &Bound<'py, PyAny>,
    level: &str,
) -> Made<'py> {
    let max_drop = at_least_0("max_drop", number(Named("max_drop"), max_drop)?)?;
    let level = match level {
        "warn" => GateLevel::Warn,
        "block" => GateLevel::Block,
        _ => {
            let problem = format!("expected `warn` or `block`, found `{level}`");
            return Err(refusal("level", problem));
        }
    };
    let interval = interval.map(read_interval).transpose()?;
    let verdict = interval.map(|interval| margin_verdict(interval, max_drop, level));
    made(py, &json!({"verdict": verdict.unwrap_or(MarginVerdict::Inconclusive)}))
}

fn read_interval(interval: &Bound<'_, PyAny>) -> PyResult<Interval> {
    match numbers(Named("interval"), interval)?[..] {
        [low, high] if low <= high => Ok(Interval { low, high }),
        [low, high] => Err(refusal("interval", format_args!("`{low}` is above `{high}`"))),
        _ => Err(refusal("interval", "expected two numbers")),
    }
}
