//! Runs as Python gives them: paths of run folders and files of results, or results in memory.

use std::thread;

use juror_compare::{ComparedRun, Flip, Kind, RunFacts};
use juror_document::{Document, Format, Notice};
use juror_pages::{JudgeForm, ScoredRun, UnreadableRun, explain_result, one_judge, release_of};
use juror_read::OwnMetrics;
use juror_run::Plan;
use juror_score::{JudgedBy, Judgement, Profile, ScoreTable};
use juror_toolbench::result::read_result_file;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyMapping};

use crate::aggregates::{collect_objects, items, tell};
use crate::evaluation::Log;
use crate::input::path_of;
use crate::lazy_results::LazyResults;
use crate::pieces::json_of;
use crate::problem::{InputProblem, Refusal};

/// The rules by which results are read.
pub(crate) struct Rules {
    /// For results that do not name theirs.
    pub(crate) plan: Plan,
    pub(crate) own: OwnMetrics,
}

/// A run: what identifies it, its numbers, and what explains them.
pub(crate) enum Run<'py> {
    Stored(Box<ScoredRun>),
    Given(Box<GivenRun<'py>>),
}

/// Results in memory.
pub(crate) struct GivenRun<'py> {
    facts: RunFacts,
    scores: ScoreTable,
    results: Given<'py>,
    profile: Profile,
}

enum Given<'py> {
    /// Results, and the position of the one behind each row of scores.
    Objects(Vec<Bound<'py, PyAny>>, Vec<usize>),
    /// Results of files that nobody has looked at.
    Lazy(Bound<'py, LazyResults>),
}

impl<'py> Run<'py> {
    /// Reads a run.
    pub(crate) fn read(
        py: Python<'py>,
        given: Bound<'py, PyAny>,
        rules: &Rules,
    ) -> PyResult<Run<'py>> {
        let mut runs = Run::read_all(py, &[given], rules)?;
        Ok(runs.remove(0))
    }

    /// Reads runs. Files are read on threads of their own, while Python may do something else.
    pub(crate) fn read_all(
        py: Python<'py>,
        given: &[Bound<'py, PyAny>],
        rules: &Rules,
    ) -> PyResult<Vec<Run<'py>>> {
        let paths: Vec<Option<String>> = given.iter().map(path_of).collect::<PyResult<_>>()?;
        let stored = py.detach(|| read_stored(&paths, rules));
        let runs = given.iter().zip(stored).enumerate();
        runs.map(|(at, (given, stored))| match stored {
            Some(read) => {
                let run = read.map_err(|error| Refusal::run(error).into_error(py))?;
                tell(py, &run.problems, true)?;
                Ok(Run::Stored(Box::new(run)))
            }
            None => {
                let run = GivenRun::read(given, &format!("results {}", at + 1), rules)?;
                Ok(Run::Given(Box::new(run)))
            }
        })
        .collect()
    }

    /// What comparison sees of it.
    pub(crate) fn side(&self) -> ComparedRun<'_> {
        match self {
            Run::Stored(run) => run.side(),
            Run::Given(run) => ComparedRun { facts: &run.facts, scores: &run.scores },
        }
    }

    /// Tells in the log of a run that is not finished, or whose results are not those that it had.
    pub(crate) fn tell_state(&self, py: Python<'_>) -> PyResult<()> {
        let RunFacts { source, is_complete, damage, .. } = self.side().facts;
        let state = match damage {
            Some(damage) => format!("`{source}` is damaged: {damage}"),
            None if *is_complete => return Ok(()),
            None => format!("`{source}` is not finished: this is what there is of it"),
        };
        Log::new(py)?.write(&state, false)
    }

    /// Refuses a run whose results are not those that it had when it ended.
    pub(crate) fn check_undamaged(&self, py: Python<'_>) -> PyResult<()> {
        let RunFacts { source, damage: Some(damage), .. } = self.side().facts else {
            return Ok(());
        };
        let notice = Notice::new(format!("`{source}` is damaged: {damage}"));
        let notice = notice.hint(
            "run the same command again with `fresh=True`, or give its results.jsonl, whose lines \
             are taken for all that there is",
        );
        Err(Refusal::Dataset(vec![InputProblem::without_place(&notice)], 0).into_error(py))
    }

    /// Says why questions have the scores that they have, where their results tell.
    pub(crate) fn explain<'f>(&self, flips: impl IntoIterator<Item = &'f mut Flip>) {
        match self {
            Run::Stored(run) => run.explain(flips),
            Run::Given(run) => flips.into_iter().for_each(|flip| flip.why = run.why(flip.row)),
        }
    }

    /// Its numbers alone.
    pub(crate) fn into_scores(self) -> ScoreTable {
        match self {
            Run::Stored(run) => run.scores,
            Run::Given(run) => run.scores,
        }
    }
}

fn read_stored(
    paths: &[Option<String>],
    rules: &Rules,
) -> Vec<Option<Result<ScoredRun, UnreadableRun>>> {
    thread::scope(|scope| {
        let read = |path| ScoredRun::read_with(path, &rules.plan, &rules.own);
        let threads: Vec<_> = paths
            .iter()
            .map(|path| path.as_ref().map(|path| scope.spawn(move || read(path))))
            .collect();
        let join = |thread: thread::ScopedJoinHandle<'_, _>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        threads.into_iter().map(|thread| thread.map(join)).collect()
    })
}

impl<'py> GivenRun<'py> {
    fn read(given: &Bound<'py, PyAny>, name: &str, rules: &Rules) -> PyResult<GivenRun<'py>> {
        let facts = |kind| RunFacts::of_file(name, kind);
        if let Ok(lazy) = given.cast::<LazyResults>() {
            let (scores, profile) = lazy.get().scores();
            let release = Some(release_of(profile));
            return Ok(GivenRun {
                facts: RunFacts { release, ..facts(Kind::Eval) },
                scores: scores.clone(),
                profile: profile.clone(),
                results: Given::Lazy(lazy.clone()),
            });
        }
        let given = Parts::of(given)?;
        if given.is_of_agent() {
            return given.read_attempts(facts(Kind::Bench));
        }
        let results = given.results;
        let collected = collect_objects(given.py, &results, rules.plan.clone(), &rules.own)?;
        let (aggregator, rows) = (collected.aggregator, collected.rows);
        let mut facts = RunFacts { judged_by: judge_of(&results)?, ..facts(Kind::Eval) };
        if rules.plan.profile_of_6.is_some() {
            facts.release = aggregator.told_rules().release();
        }
        let (profile, scores) = (aggregator.profile().clone(), aggregator.into_scores());
        Ok(GivenRun { facts, scores, results: Given::Objects(results, rows), profile })
    }

    /// Why the result behind a row has its score. What cannot be told is left out.
    fn why(&self, row: usize) -> Option<String> {
        let result = match &self.results {
            Given::Objects(results, rows) => results.get(*rows.get(row)?)?.clone(),
            Given::Lazy(lazy) => lazy.get().make(lazy.py(), row, row + 1).ok()?.get_item(0).ok()?,
        };
        explain_result(&json_of(&result).ok()?, &self.profile)
    }
}

/// Who judged results in memory, as far as they say; `None` if they were judged by several.
fn judge_of(results: &[Bound<'_, PyAny>]) -> PyResult<Option<JudgedBy>> {
    let mut judges: Vec<JudgedBy> = Vec::new();
    let mut last: Option<Bound<'_, PyAny>> = None;
    for result in results {
        let Ok(fields) = result.cast::<PyMapping>() else { continue };
        if !fields.contains(Judgement::JUDGED_BY)? {
            continue;
        }
        let told = fields.get_item(Judgement::JUDGED_BY)?;
        // Most results of a run say the same.
        if last.as_ref().is_some_and(|known| known.eq(&told).unwrap_or(false)) {
            continue;
        }
        let form = serde_json::from_str::<JudgeForm>(&json_of(&told)?).ok();
        judges.extend(form.and_then(JudgeForm::judge));
        last = Some(told);
    }
    Ok(one_judge(judges))
}

/// The parts of results in memory.
struct Parts<'py> {
    py: Python<'py>,
    /// How an agent was run, in what `juror.bench` returns.
    metadata: Option<Bound<'py, PyAny>>,
    results: Vec<Bound<'py, PyAny>>,
}

impl<'py> Parts<'py> {
    fn of(given: &Bound<'py, PyAny>) -> PyResult<Parts<'py>> {
        let py = given.py();
        if let Ok(file) = given.cast::<PyMapping>()
            && file.contains("results")?
        {
            let metadata = file.get_item("metadata").unwrap_or_else(|_| PyDict::new(py).into_any());
            let results = items(&file.get_item("results")?)?;
            return Ok(Parts { py, metadata: Some(metadata), results });
        }
        Ok(Parts { py, metadata: None, results: items(given)? })
    }

    /// Whether the results are of an agent's attempts, which have no templates.
    fn is_of_agent(&self) -> bool {
        let has = |result: &Bound<'py, PyAny>, key| result.contains(key).unwrap_or(false);
        let is_attempt = |result: &Bound<'py, PyAny>| {
            let is_known = has(result, "template_id") || has(result, "query_id");
            is_known.then(|| !has(result, "template_id"))
        };
        self.results.iter().find_map(is_attempt).unwrap_or(self.metadata.is_some())
    }

    /// Reads them as a file of attempts would be read.
    fn read_attempts(self, mut facts: RunFacts) -> PyResult<GivenRun<'py>> {
        let py = self.py;
        let results = self.results.iter().map(slim).collect::<PyResult<Vec<_>>>()?;
        let file = PyDict::new(py);
        file.set_item("metadata", self.metadata)?;
        file.set_item("results", PyList::new(py, &results)?)?;
        let json = json_of(file.as_any())?.into_bytes();
        let refuse = |problems| Refusal::dataset(&problems, false).into_error(py);
        let document = Document::new(&facts.source, json, Format::Json).map_err(refuse)?;
        let (file, problems) = read_result_file(&document);
        if file.results.is_empty() && !problems.is_empty() {
            return Err(refuse(problems));
        }
        tell(py, &problems, false)?;
        let mut scores = ScoreTable::of_attempts();
        file.results.iter().for_each(|card| scores.push_attempt(card));
        if !file.framework.is_empty() {
            facts.name = file.framework;
        }
        let is_read = |at: &usize| results[*at].is_instance_of::<PyDict>();
        let rows = (0..results.len()).filter(is_read).collect();
        let (results, profile) = (Given::Objects(results, rows), Profile::V5);
        Ok(GivenRun { facts, scores, results, profile })
    }
}

/// Returns a result without the conversation and the tools, which are large and not needed here.
fn slim<'py>(result: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    const GOLD: &str = "gold_answer";
    let Ok(fields) = result.cast::<PyMapping>() else { return Ok(result.clone()) };
    let slim = PyDict::new(result.py());
    slim.update(fields)?;
    for large in ["system_answer", "query_text"] {
        if slim.contains(large)? {
            slim.del_item(large)?;
        }
    }
    if let Some(gold) = slim.get_item(GOLD)?
        && let Ok(relevant) = gold.get_item("relevant_apis")
    {
        let only = PyDict::new(result.py());
        only.set_item("relevant_apis", relevant)?;
        slim.set_item(GOLD, only)?;
    }
    Ok(slim.into_any())
}
