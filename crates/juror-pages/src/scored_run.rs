//! Reads runs and files of results for comparison.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use juror_compare::{
    ByMetric, CalibratedMetric, Calibration, ComparedRun, Flip, Kind, RunFacts, Statistics,
};
use juror_document::{Document, Problems};
use juror_files::load;
use juror_json::{Object, scalar_text, text_of};
use juror_read::{OwnMetrics, ResultCase};
use juror_run::{Calibrating, Plan, ProfileNumber, Settings, scoring_rules};
use juror_runs::{Manifest, RunFile, RunKind, RunReadError, StoredRun, is_shared, shown};
use juror_score::statistics::CONFIDENCE;
use juror_score::{JudgedBy, Profile, Release, ScoreTable, explain, score};
use juror_toolbench::result::read_result_file;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::damage::damage;
use crate::result_judge::{JudgeForm, judge_of_attempts, judge_of_results};
use crate::told_results::{ToldResults, plan_beside, release_of};

/// A run as comparison sees it: what identifies it, and its numbers.
pub struct ScoredRun {
    /// What identifies it.
    pub facts: RunFacts,
    /// Its numbers.
    pub scores: ScoreTable,
    /// Results that could not be read, and other oddities.
    pub problems: Problems,
    /// What a run says about itself; `None` for a file of results.
    pub manifest: Option<Manifest>,
    /// The attempts of a benchmark in a database.
    pub(crate) attempts: Option<Arc<Document>>,
    /// The results, for explanations.
    document: Document,
    profile: Profile,
}

/// Why a run or a file of results cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UnreadableRun {
    /// The file cannot be opened.
    #[error(transparent)]
    File(#[from] juror_files::LoadError),
    /// The folder holds no run that can be read.
    #[error(transparent)]
    Run(#[from] RunReadError),
    /// Nothing in it can be read.
    #[error(transparent)]
    Results(#[from] Problems),
}

impl UnreadableRun {
    /// Returns whether something outside failed, rather than the request being wrong.
    pub fn is_outside(&self) -> bool {
        matches!(self, UnreadableRun::Run(error) if error.is_outside())
    }
}

impl ScoredRun {
    /// Reads a run in a folder or a database, or a file of results.
    pub fn read(name: &str, plan: &Plan) -> Result<ScoredRun, UnreadableRun> {
        ScoredRun::read_with(name, plan, &OwnMetrics::default())
    }

    /// Reads a run whose results may have metrics of the user's own.
    pub fn read_with(
        name: &str,
        plan: &Plan,
        metrics: &OwnMetrics,
    ) -> Result<ScoredRun, UnreadableRun> {
        if is_shared(Path::new(name)) || Path::new(name).is_dir() {
            ScoredRun::read_run(name, plan, metrics)
        } else {
            let document = load(name)?;
            let kind = kind_of(&document);
            let judged_by = match kind {
                Kind::Eval => judge_of_questions(&document),
                Kind::Bench => judge_of_attempts(&document),
            };
            let own = plan_beside(name, plan);
            let release = own.as_ref().map(|own| release_of(&own.profile));
            let facts = RunFacts { judged_by, release, ..RunFacts::of_file(name, kind) };
            let plan = own.unwrap_or_else(|| plan.clone());
            Ok(ScoredRun::of_results(facts, document, plan, metrics)?)
        }
    }

    /// Reads the results of a run in a folder or a database, by the rules that the run had.
    fn read_run(name: &str, plan: &Plan, metrics: &OwnMetrics) -> Result<ScoredRun, UnreadableRun> {
        let run = StoredRun::at(name)?;
        let results = run.needed(RunFile::Results)?;
        let own = plan_of(&run.manifest, plan);
        let document = load(&results.display().to_string())?;
        let mut facts = facts_of(&shown(Path::new(name)).display().to_string(), &run.manifest);
        facts.judged_by = match facts.kind {
            Kind::Eval => judge_of_questions(&document),
            Kind::Bench => described_judge(&run.manifest),
        };
        let mut scored = ScoredRun::of_results(facts, document, own, metrics)?;
        let trials = run.manifest.trials().and_then(|trials| u32::try_from(trials).ok());
        scored.scores.owe(trials.unwrap_or(1));
        let damage = damage(&run.manifest, &scored.scores);
        scored.facts.damage = damage.or_else(|| run.damage_within());
        // What was fetched from a database goes with `run`, unless it is loaded.
        let is_wanted = is_shared(Path::new(name)) && scored.facts.kind == Kind::Bench;
        let attempts = is_wanted.then(|| run.attempts_path()).flatten();
        let attempts = attempts.and_then(|path| load(&path.display().to_string()).ok());
        let attempts = attempts.map(Arc::new);
        Ok(ScoredRun { manifest: Some(run.manifest), attempts, ..scored })
    }

    /// Reads results of `juror eval`, of `juror bench`, or of the libraries they replace.
    pub fn of_results(
        facts: RunFacts,
        document: Document,
        mut plan: Plan,
        metrics: &OwnMetrics,
    ) -> Result<ScoredRun, Problems> {
        plan.custom_metrics = metrics.add_from(plan.custom_metrics, &document);
        match facts.kind {
            Kind::Eval => ScoredRun::of_questions(facts, document, &plan),
            Kind::Bench => ScoredRun::of_attempts(facts, document, plan),
        }
    }

    fn of_questions(
        mut facts: RunFacts,
        document: Document,
        plan: &Plan,
    ) -> Result<ScoredRun, Problems> {
        let ToldResults { aggregator, problems, .. } =
            ToldResults::read(std::slice::from_ref(&document), plan)?;
        if plan.profile_of_6.is_some() {
            facts.release = aggregator.told_rules().release();
        }
        let (profile, scores) = (aggregator.profile().clone(), aggregator.into_scores());
        Ok(ScoredRun { facts, scores, problems, manifest: None, attempts: None, document, profile })
    }

    fn of_attempts(facts: RunFacts, document: Document, plan: Plan) -> Result<ScoredRun, Problems> {
        let (file, problems) = read_result_file(&document);
        if file.results.is_empty() && !problems.is_empty() {
            return Err(problems);
        }
        let mut scores = ScoreTable::of_attempts();
        file.results.iter().for_each(|card| scores.push_attempt(card));
        let (manifest, profile) = (None, plan.profile);
        Ok(ScoredRun { facts, scores, problems, manifest, attempts: None, document, profile })
    }

    /// What comparison sees of it.
    pub fn side(&self) -> ComparedRun<'_> {
        ComparedRun { facts: &self.facts, scores: &self.scores }
    }

    /// Computes its statistics, with the means that people would give where its judge was checked by
    /// them.
    pub fn statistics(&self, calibrations: &[Calibration]) -> Statistics {
        statistics_of(self.side(), calibrations, CONFIDENCE)
    }

    /// The rules by which it was scored.
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// The results, each with the id of its question or query, in order.
    pub fn results(&self) -> Vec<(Cow<'_, str>, &str)> {
        let with_id = |text| Some((id_in(text, self.facts.kind)?, text));
        results_in(&self.document).into_iter().filter_map(with_id).collect()
    }

    /// Says why questions have the scores that they have, where their results tell.
    pub fn explain<'f>(&self, flips: impl IntoIterator<Item = &'f mut Flip>) {
        let mut wanted: HashMap<String, Vec<&mut Flip>> = HashMap::new();
        for flip in flips {
            wanted.entry(flip.id.clone()).or_default().push(flip);
        }
        let kind = self.facts.kind;
        for text in results_in(&self.document) {
            let Some(id) = id_in(text, kind) else { continue };
            let Some(same_id) = wanted.get_mut(&*id) else { continue };
            let group = group_in(text, kind);
            // Questions of several templates or sets may have the same id.
            let is_own = |other: &str| group.as_ref().is_none_or(|own| own == other);
            for flip in same_id.extract_if(.., |flip| is_own(&flip.group)) {
                flip.why = explain_result(text, &self.profile);
            }
            if same_id.is_empty() {
                wanted.remove(&*id);
            }
            if wanted.is_empty() {
                break;
            }
        }
    }
}

/// Computes the means of a run without its judge's errors, for metrics that have a calibration.
pub fn calibrated_means(
    run: ComparedRun<'_>,
    calibrations: &[Calibration],
    confidence: f64,
) -> ByMetric<CalibratedMetric> {
    if calibrations.is_empty() {
        return ByMetric::default();
    }
    statistics_of(run, calibrations, confidence).calibrated
}

fn statistics_of(
    run: ComparedRun<'_>,
    calibrations: &[Calibration],
    confidence: f64,
) -> Statistics {
    let mut statistics = Statistics::of_run(run, confidence);
    let judge = run.facts.judged_by.as_ref();
    Calibrating::by_judge(calibrations, judge).apply(&mut statistics, run.scores);
    statistics
}

/// The plan by which a run was made: its rules, and the metrics of its custom evaluations.
pub(crate) fn plan_of(run: &Manifest, otherwise: &Plan) -> Plan {
    let Some(rules) = run.rules() else { return otherwise.clone() };
    let mut settings: Settings = serde_json::from_value(rules.clone()).unwrap_or_default();
    settings.profile = Some(match release_in(rules) {
        Release::Five => ProfileNumber::Five,
        Release::Six => ProfileNumber::Six,
    });
    let written = run.settings.as_ref().and_then(|written| written.get("custom_evaluations"));
    let custom = written.and_then(|custom| serde_json::from_value(custom.clone()).ok());
    settings.custom_evaluations = custom.unwrap_or_default();
    let mut plan = settings.plan();
    let more = otherwise.custom_metrics.iter().filter(|name| !plan.custom_metrics.contains(name));
    let more: Vec<String> = more.cloned().collect();
    plan.custom_metrics.extend(more);
    plan
}

/// The profile that stored rules are based on.
fn release_in(rules: &Value) -> Release {
    let is_of_6 = rules.get("asked_like_release").is_some_and(|release| release == 6);
    if is_of_6 { Release::Six } else { Release::Five }
}

/// Who judged a benchmark, as its manifest says.
fn described_judge(run: &Manifest) -> Option<JudgedBy> {
    serde_json::from_value::<JudgeForm>(run.judge()?).ok()?.judge()
}

/// What identifies a run that has a manifest.
fn facts_of(source: &str, run: &Manifest) -> RunFacts {
    let question = |(name, hash): (&str, &str)| {
        let (group, id) = match run.kind {
            RunKind::Eval => ("", name),
            RunKind::Bench => name.split_once('/').unwrap_or(("", name)),
        };
        ((group.to_owned(), id.to_owned()), hash.to_owned())
    };
    RunFacts {
        name: run.name.clone(),
        source: source.to_owned(),
        id: Some(run.short_id().to_owned()),
        began: Some(run.began.clone()),
        kind: match run.kind {
            RunKind::Eval => Kind::Eval,
            RunKind::Bench => Kind::Bench,
        },
        is_complete: run.is_complete,
        reference: run.reference_hash(),
        rules: run.rules().map(|rules| scoring_rules(rules).to_string()),
        release: run.rules().map(release_in),
        judge: run.judge().map(|judge| judge.to_string()),
        judged_by: None,
        damage: None,
        questions: run.question_hashes().into_iter().map(question).collect(),
    }
}

/// Returns who judged all results of questions in a file; `None` if they do not say, or were judged by
/// several.
pub fn judge_of_questions(document: &Document) -> Option<JudgedBy> {
    judge_of_results(results_in(document))
}

/// The texts of all results: lines, items of a list, or those of a result file.
fn results_in(document: &Document) -> Vec<&str> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Results<'a> {
        #[serde(borrow)]
        List(Vec<&'a RawValue>),
        #[serde(borrow)]
        File(ResultFile<'a>),
    }
    #[derive(Deserialize)]
    struct ResultFile<'a> {
        #[serde(borrow)]
        results: Vec<&'a RawValue>,
    }
    if document.is_lines() {
        return document.lines().collect();
    }
    match serde_json::from_str(document.json()) {
        Ok(Results::List(results) | Results::File(ResultFile { results })) => {
            results.into_iter().map(RawValue::get).collect()
        }
        Err(_) => document.values(),
    }
}

/// The id of a result, without reading the rest of it: ids come first.
fn id_in(text: &str, kind: Kind) -> Option<Cow<'_, str>> {
    let key = match kind {
        Kind::Eval => "\"question_id\"",
        Kind::Bench => "\"query_id\"",
    };
    scalar_in(text, key)
}

/// The template or set of a result, likewise; `None` if it does not say.
fn group_in(text: &str, kind: Kind) -> Option<Cow<'_, str>> {
    let key = match kind {
        Kind::Eval => "\"template_id\"",
        Kind::Bench => "\"test_set\"",
    };
    scalar_in(text, key)
}

/// The first value of a key, which is given with its quotes.
fn scalar_in<'t>(text: &'t str, key: &str) -> Option<Cow<'t, str>> {
    let after = memchr::memmem::find(text.as_bytes(), key.as_bytes())? + key.len();
    let value = text[after..].trim_start().strip_prefix(':')?;
    let mut values = serde_json::Deserializer::from_str(value).into_iter::<&RawValue>();
    scalar_text(values.next()?.ok()?)
}

/// Whether results are of questions or of attempts. Only results of attempts begin without a
/// template.
fn kind_of(document: &Document) -> Kind {
    let text = document.json();
    let find = |key: &str| memchr::memmem::find(text.as_bytes(), key.as_bytes());
    match (find("\"template_id\""), find("\"query_id\"")) {
        (None, Some(_)) => Kind::Bench,
        (Some(template), Some(query)) if query < template => Kind::Bench,
        _ => Kind::Eval,
    }
}

/// Returns the first reason that a result gives or implies for its score: its error, a step that was
/// missed, or the words of a judge.
pub fn explain_result(json: &str, profile: &Profile) -> Option<String> {
    let result: Object<'_> = juror_json::from_str(json).ok()?;
    let text = |key: &str| Some(text_of(result.get_set(key)?)?.into_owned());
    let of_judge = || {
        let evaluation: Object<'_> =
            juror_json::from_str(result.get_set("evaluation")?.get()).ok()?;
        Some(text_of(evaluation.get_set("reason")?)?.into_owned())
    };
    let found = text("error")
        .or_else(|| first_miss(json, profile))
        .or_else(|| text("answer_correctness_reason"))
        .or_else(of_judge);
    found.filter(|why| !why.is_empty())
}

/// Scores a result again, to say which expected step was missed. The search runs from the last group to
/// the first, so the last group with a miss is the one at which it ended.
pub(crate) fn first_miss(json: &str, profile: &Profile) -> Option<String> {
    let result = ResultCase::read(json, &[])?;
    let case = result.case();
    let record = score(&case, profile);
    let misses = explain(&record, profile).into_iter();
    let miss = misses.max_by_key(|miss| (miss.group, Reverse(miss.expected)))?;
    Some(format!("{}: {}", miss.name, miss.why))
}
