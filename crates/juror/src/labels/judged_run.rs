//! A run as people see it who check its judge: questions, answers, scores, and who gave them.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;
use std::path::Path;

use juror_compare::{JudgeId, Kind};
use juror_document::{Document, Look, Problems};
use juror_files::load;
use juror_json::{self as json, Object};
use juror_run::judge_id;
use juror_runs::{RunFile, RunKind, StoredRun};
use juror_score::{JudgedBy, Judgement, Number, Scorecard, Unit, metric, split_key};
use juror_toolbench::result::read_each_result;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::records::records;
use crate::cli::{check_json, results_kind};

/// A run with the judges' scores of each answer.
pub(crate) struct JudgedRun {
    /// The folder or file, as the user named it.
    pub(crate) source: String,
    /// What its rows are.
    pub(crate) kind: Kind,
    /// Its answers, in order.
    pub(crate) answers: Vec<JudgedAnswer>,
    /// What could not be read.
    pub(crate) problems: Problems,
}

/// An answer, and what judges said about it.
#[derive(Clone, Debug, Default)]
pub(crate) struct JudgedAnswer {
    /// The template or set of its question.
    pub(crate) group: String,
    /// The id of its question.
    pub(crate) id: String,
    /// Which of several answers it is.
    pub(crate) trial: Option<u32>,
    /// The question.
    pub(crate) question: String,
    /// The expected answer.
    pub(crate) reference_answer: Option<String>,
    /// The answer; `None` if there is none.
    pub(crate) answer: Option<String>,
    /// What judges found, by metric.
    scores: Vec<(String, f64)>,
    /// What they found each time, if they were asked several times, by metric.
    repeats: Vec<(String, Vec<f64>)>,
    /// Who judged.
    judged_by: Option<JudgedBy>,
}

impl JudgedAnswer {
    /// The judge's score for a metric.
    pub(crate) fn score(&self, metric: &str) -> Option<f64> {
        self.scores.iter().find(|(name, _)| name == metric).map(|(_, score)| *score)
    }

    /// The scores that the judge gave if it was asked several times; else empty.
    pub(crate) fn repeats(&self, metric: &str) -> &[f64] {
        let own = self.repeats.iter().find(|(name, _)| name == metric);
        own.map_or(&[], |(_, scores)| scores)
    }

    /// Who decided a metric, if that is known.
    pub(crate) fn judge(&self, metric: &str) -> Option<JudgeId> {
        self.judged_by.as_ref().map(|by| judge_id(by, metric))
    }
}

/// The metrics that stand for a run if none is named, the first that it has.
const PREFERRED: [&str; 3] = ["sopr_score", "answer_f1", "answer_relevance"];

impl JudgedRun {
    /// Reads the folder of a run, or a file of results.
    pub(crate) fn open(name: &str) -> anyhow::Result<JudgedRun> {
        let path = Path::new(name);
        let run = if path.is_dir() {
            let stored = StoredRun::open(path)?;
            let results = stored.needed(RunFile::Results)?;
            let document = load(&results.display().to_string())?;
            match stored.manifest.kind {
                RunKind::Eval => of_questions(&document),
                RunKind::Bench => {
                    let judge = stored.manifest.judge().and_then(described_judge);
                    of_attempts(&document, judge.as_ref())
                }
            }
        } else {
            let document = load(name)?;
            check_json(&document)?;
            match results_kind(&document) {
                Some(Kind::Eval) => of_questions(&document),
                Some(Kind::Bench) => of_attempts(&document, judge_of_file(&document).as_ref()),
                None => anyhow::bail!(
                    "{name}: these are no results\n  hint: name a run's folder, or a file that `juror eval -o` or `juror bench -o` wrote"
                ),
            }
        };
        if run.answers.is_empty() && !run.problems.is_empty() {
            return Err(run.problems.into());
        }
        Ok(JudgedRun { source: name.to_owned(), ..run })
    }

    /// Returns the metric that is meant: the named one, or the first that says whether answers are
    /// right. Fails if no answer has a judge's score for it.
    pub(crate) fn metric(&self, named: Option<&str>) -> anyhow::Result<String> {
        let known = self.judged_metrics();
        let is_known = |name: &str| known.iter().any(|known| known == name);
        let preferred = PREFERRED.into_iter().find(|name| is_known(name));
        match named.or(preferred).or(known.first().map(String::as_str)) {
            Some(metric) if is_known(metric) => Ok(metric.to_owned()),
            Some(metric) => anyhow::bail!("{}: {}{}", self.source, lack_of(metric), hint(&known)),
            None => anyhow::bail!(
                "{}: no answer has a judge's score\n  hint: judge the answers first: docs/models.md says how",
                self.source
            ),
        }
    }

    fn judged_metrics(&self) -> Vec<String> {
        let mut known: Vec<String> = Vec::new();
        for (name, _) in self.answers.iter().flat_map(|answer| &answer.scores) {
            if !known.contains(name) {
                known.push(name.clone());
            }
        }
        known
    }

    /// The number of each answer's question: several answers to a question have the same.
    pub(crate) fn question_numbers(&self) -> Vec<usize> {
        numbers(self.answers.iter().map(|answer| (&*answer.group, &*answer.id)))
    }

    /// The number of each answer's template or set.
    pub(crate) fn group_numbers(&self) -> Vec<usize> {
        numbers(self.answers.iter().map(|answer| &*answer.group))
    }
}

/// Numbers names in the order of their first appearance.
fn numbers<N: Hash + Eq>(names: impl Iterator<Item = N>) -> Vec<usize> {
    let mut known: HashMap<N, usize> = HashMap::new();
    names
        .map(|name| {
            let next = known.len();
            *known.entry(name).or_insert(next)
        })
        .collect()
}

fn lack_of(name: &str) -> String {
    match metric(name) {
        Some(info) if !info.is_judged => {
            format!("`{name}` is computed, so there is no judge to check")
        }
        _ => format!("no answer has a judge's `{name}`"),
    }
}

fn hint(known: &[String]) -> String {
    if known.is_empty() {
        return "\n  hint: judge the answers first: docs/models.md says how".into();
    }
    format!("\n  hint: judges gave {}", known.join(", "))
}

/// Reads results of `juror eval`.
fn of_questions(document: &Document) -> JudgedRun {
    let mut look = Look::new(document);
    let records = records(document, &mut look, "a result");
    let answers = records.iter().map(|record| question_answer(&record.fields)).collect();
    let problems = look.problems();
    JudgedRun { source: String::new(), kind: Kind::Eval, answers, problems }
}

fn question_answer(fields: &Object<'_>) -> JudgedAnswer {
    let text = |key: &str| Some(json::text_or_json(fields.get_set(key)?).into_owned());
    let id = |key: &str| fields.get_set(key).and_then(json::scalar_text).map(Into::into);
    let number = |(key, raw): (std::borrow::Cow<'_, str>, &RawValue)| {
        let number = Number::from_json(raw.get()).filter(|_| is_judged_score(&key))?;
        Some((key.into_owned(), number.value))
    };
    JudgedAnswer {
        group: id("template_id").unwrap_or_default(),
        id: id("question_id").unwrap_or_default(),
        trial: fields.get("trial").and_then(|raw| raw.get().parse().ok()),
        question: text("question_text").unwrap_or_default(),
        reference_answer: text("reference_answer"),
        answer: text("actual_answer"),
        scores: fields.iter().filter_map(number).collect(),
        repeats: repeats_in(fields),
        judged_by: fields.get_set(Judgement::JUDGED_BY).and_then(judged_by),
    }
}

/// The lists of scores in a result, or in the evaluation of an attempt.
fn repeats_in(fields: &Object<'_>) -> Vec<(String, Vec<f64>)> {
    let own = |(key, raw): (std::borrow::Cow<'_, str>, &RawValue)| {
        let (metric, scores) = (key.strip_suffix("_repeats")?, juror_json::from_str(raw.get()));
        let scores: Vec<Option<f64>> = scores.ok()?;
        Some((metric.to_owned(), scores.into_iter().flatten().collect()))
    };
    fields.iter().filter_map(own).collect()
}

/// Whether a key of a result is a judge's score. Keys that Juror does not know may be outputs of
/// custom evaluations.
fn is_judged_score(key: &str) -> bool {
    let is_score = |unit: Unit| matches!(unit, Unit::Fraction | Unit::Cosine);
    match metric(key) {
        Some(info) => info.is_judged && is_score(info.unit),
        None => key != "trial" && !key.ends_with("_count") && split_key(key).1.is_none(),
    }
}

/// `judged_by` of a result, or of a benchmark.
#[derive(Deserialize)]
struct JudgeForm {
    model: Option<String>,
    method: Option<String>,
    embedding: Option<String>,
    #[serde(default)]
    prompts: BTreeMap<String, String>,
}

impl JudgeForm {
    /// Who judged; rules that guess are told by the name of the method.
    fn judge(self) -> Option<JudgedBy> {
        let model = self.model.or(self.method.filter(|method| method != "none"))?;
        Some(JudgedBy { model, embedding: self.embedding, prompts: self.prompts })
    }
}

fn judged_by(raw: &RawValue) -> Option<JudgedBy> {
    serde_json::from_str::<JudgeForm>(raw.get()).ok()?.judge()
}

fn described_judge(told: Value) -> Option<JudgedBy> {
    serde_json::from_value::<JudgeForm>(told).ok()?.judge()
}

/// Who judged, as the metadata of a result file say.
fn judge_of_file(document: &Document) -> Option<JudgedBy> {
    let file: Value = serde_json::from_str(document.json()).ok()?;
    let text = |place: &str| Some(file.pointer(place)?.as_str()?.to_owned());
    let prompts = file.pointer("/juror/judge_prompts").cloned();
    let form = JudgeForm {
        model: text("/metadata/config/evaluator_model"),
        method: text("/metadata/config/evaluation_method"),
        embedding: None,
        prompts: prompts.and_then(|own| serde_json::from_value(own).ok()).unwrap_or_default(),
    };
    form.judge()
}

/// Reads results of `juror bench`.
fn of_attempts(document: &Document, judge: Option<&JudgedBy>) -> JudgedRun {
    let mut answers = Vec::new();
    let each = |card: Scorecard<'static>, fields: &Object<'_>| {
        answers.push(attempt_answer(&card, fields, judge));
    };
    let (_, problems) = read_each_result(document, each);
    JudgedRun { source: String::new(), kind: Kind::Bench, answers, problems }
}

fn attempt_answer(
    card: &Scorecard<'_>,
    fields: &Object<'_>,
    judge: Option<&JudgedBy>,
) -> JudgedAnswer {
    let text = |raw: &RawValue| json::text_or_json(raw).into_owned();
    let answered: Option<Object<'_>> =
        fields.get_set("system_answer").and_then(|raw| juror_json::from_str(raw.get()).ok());
    let answer = answered.and_then(|own| own.get_set("final_answer").map(text));
    let evaluated: Option<Object<'_>> =
        fields.get_set("evaluation").and_then(|raw| juror_json::from_str(raw.get()).ok());
    let scores = ["sopr_score", "answer_status"].into_iter();
    let scores = scores.filter_map(|name| Some((name.to_owned(), card.number(name)?)));
    JudgedAnswer {
        group: card.group.to_string(),
        id: card.id.to_string(),
        trial: card.trial.and_then(|trial| u32::try_from(trial).ok()),
        question: fields
            .get_set("query_text")
            .or(fields.get_set("query"))
            .map(text)
            .unwrap_or_default(),
        reference_answer: None,
        answer: answer.filter(|answer| !answer.is_empty()),
        scores: scores.collect(),
        repeats: evaluated.as_ref().map(repeats_in).unwrap_or_default(),
        judged_by: judge.cloned(),
    }
}
