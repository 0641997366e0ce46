//! Gates: whether results, or the change from one run to another, meet requirements.

use juror_compare::{
    Comparison, Condition, Gate, GateOutcome, GateVerdict, GatedRun, Gates, LevelLimit, Limit,
    RunFacts, Share, Statistics,
};
use juror_document::Notice;
use juror_read::OwnMetrics;
use juror_run::{Settings, Totals};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Serialize;

use crate::aggregates::{collect, plan_of};
use crate::evaluation::Log;
use crate::input::{path_of, settings_with};
use crate::output::made;
use crate::problem::Refusal;
use crate::runs::{Rules, Run};

/// Gates as Python's callers ask for them.
pub(crate) struct Asked<'a, 'py> {
    /// The path of a file, or a mapping with `gates` and `coverage`.
    pub(crate) gates: Option<&'a Bound<'py, PyAny>>,
    /// The share of questions that must have a verdict.
    pub(crate) coverage: Option<&'a str>,
}

impl Asked<'_, '_> {
    /// Adds the gates to those of the settings, and returns them. They may be on metrics of the user's
    /// own.
    pub(crate) fn add_to(&self, gates: &mut Gates, own: &OwnMetrics) -> PyResult<Vec<Gate>> {
        let given = self.settings(own)?;
        let asked = given.meant_gates().gates;
        gates.gates.extend(asked.iter().cloned());
        let coverage = self.coverage.map(str::parse::<Share>).transpose().map_err(refuse)?;
        gates.coverage = coverage.or(given.coverage).unwrap_or(gates.coverage);
        Ok(asked)
    }

    fn settings(&self, own: &OwnMetrics) -> PyResult<Settings> {
        let Some(given) = self.gates else { return Ok(Settings::default()) };
        let settings = settings_with(given, "gates", own)?;
        match path_of(given)? {
            Some(path) if settings.gates.is_empty() => {
                let notice = Notice::new(format!("{path}: there are no gates in this file"));
                let notice = notice.hint("write them in a list under `gates:`");
                Err(Refusal::setup(&notice).into_error(given.py()))
            }
            _ => Ok(settings),
        }
    }
}

/// How gates came out.
pub(crate) struct Outcomes<'o>(Vec<NamedOutcome<'o>>);

/// How a gate came out, and for which candidate of a comparison.
#[derive(Serialize)]
struct NamedOutcome<'o> {
    #[serde(skip_serializing_if = "Option::is_none")]
    candidate: Option<&'o str>,
    #[serde(flatten)]
    outcome: &'o GateOutcome,
}

impl<'o> Outcomes<'o> {
    /// Those of one run.
    fn of_run(outcomes: &'o [GateOutcome]) -> Outcomes<'o> {
        let named = |outcome| NamedOutcome { candidate: None, outcome };
        Outcomes(outcomes.iter().map(named).collect())
    }

    /// Those of all candidates of a comparison.
    pub(crate) fn of_comparison(comparison: &'o Comparison) -> Outcomes<'o> {
        let candidates = comparison.candidates.iter();
        let of = candidates.flat_map(|own| {
            let RunFacts { name, source, .. } = &own.run;
            let candidate = Some(if name.is_empty() { source } else { name }.as_str());
            own.gates.iter().map(move |outcome| NamedOutcome { candidate, outcome })
        });
        Outcomes(of.collect())
    }

    /// Returns a list of dicts, and tells of the gates that were asked for but not checked. If nothing
    /// was checked, that is an error.
    pub(crate) fn told<'py>(&self, py: Python<'py>, asked: &[Gate]) -> PyResult<Bound<'py, PyAny>> {
        if self.0.is_empty() {
            return Err(Refusal::setup(&why_nothing(asked)).into_error(py));
        }
        self.tell_unchecked(py, asked)?;
        made(py, &self.0)
    }

    /// Tells in the log of the gates that were asked for but not checked.
    pub(crate) fn tell_unchecked(&self, py: Python<'_>, asked: &[Gate]) -> PyResult<()> {
        let log = Log::new(py)?;
        for gate in asked {
            let words = gate.to_string();
            if self.0.iter().all(|own| own.outcome.gate != words) {
                log.write(&why_not(gate).to_string(), false)?;
            }
        }
        Ok(())
    }
}

/// Says why a gate is not checked.
fn why_not(gate: &Gate) -> Notice {
    if gate.needs_baseline() {
        let notice = Notice::new(format!("`{gate}` is not checked: it takes two runs"));
        notice.hint("give `juror.compare(before, after)` in place of results")
    } else {
        Notice::new(format!("`{gate}` is not checked: these results cannot have the metric"))
    }
}

fn why_nothing(asked: &[Gate]) -> Notice {
    match asked {
        [] => {
            let hint = "give them as `gates=`, or in the settings of `config=`";
            Notice::new("there are no gates to check").hint(hint)
        }
        [first, ..] => why_not(first),
    }
}

/// Checks gates on one run. `own` names metrics of the user's own.
#[pyfunction]
#[pyo3(signature = (results, gates, config, profile, coverage, own, confidence))]
#[expect(clippy::too_many_arguments, reason = "Python's callers name them")]
pub(crate) fn check_gates<'py>(
    py: Python<'py>,
    results: Bound<'py, PyAny>,
    gates: Option<&Bound<'py, PyAny>>,
    config: Option<&Bound<'py, PyAny>>,
    profile: Option<&str>,
    coverage: Option<&str>,
    own: Vec<String>,
    confidence: f64,
) -> PyResult<Bound<'py, PyAny>> {
    let mut rules = Rules { plan: plan_of(config, profile)?, own: OwnMetrics { names: own } };
    let asked = Asked { gates, coverage }.add_to(&mut rules.plan.gates, &rules.own)?;
    let run = Run::read(py, results, &rules)?;
    run.check_undamaged(py)?;
    run.tell_state(py)?;
    let (side, gates) = (run.side(), &rules.plan.gates);
    let outcomes = py.detach(|| {
        let (statistics, unseen) =
            (&Statistics::of(side.scores, confidence), side.unseen_questions());
        gates.check(GatedRun::new(statistics, side.scores).without(&unseen))
    });
    Outcomes::of_run(&outcomes).told(py, &asked)
}

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
    let own = OwnMetrics { names: metrics };
    for (metric, least) in fail_under {
        if !least.is_finite() {
            return Err(PyValueError::new_err(format!("`{metric}`: {least} is not a number")));
        }
        let is_own = own.has(&metric);
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
    let collected = collect(py, results, plan, &own)?;
    let totals = Totals::of(&collected.aggregator, &gates);
    let not_met = totals.gates.into_iter().filter(|gate| gate.verdict == GateVerdict::Block);
    Ok(not_met.map(|gate| gate.why).collect())
}

#[expect(clippy::needless_pass_by_value, reason = "this is given to `map_err`")]
fn refuse(error: impl ToString) -> PyErr {
    PyValueError::new_err(error.to_string())
}
