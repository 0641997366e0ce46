//! A run as people see it who check its judge: questions, answers, scores, and who gave them.

use std::collections::HashMap;
use std::hash::Hash;
use std::path::Path;

use juror_compare::Kind;
use juror_document::{Document, Look, Problems};
use juror_files::load;
use juror_json::Object;
use juror_pages::{JudgeForm, judge_of_attempts};
use juror_runs::{RunFile, RunKind, StoredRun};
use juror_score::{JudgedBy, Scorecard, metric};
use juror_toolbench::result::read_each_result;
use serde_json::Value;

use super::judged_answer::{JudgedAnswer, attempt_answer, question_answer};
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
                Some(Kind::Bench) => of_attempts(&document, judge_of_attempts(&document).as_ref()),
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

fn described_judge(told: Value) -> Option<JudgedBy> {
    serde_json::from_value::<JudgeForm>(told).ok()?.judge()
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
