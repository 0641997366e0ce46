//! A run as people see it who check its judge: questions, answers, scores, and who gave them.

use std::collections::HashMap;
use std::hash::Hash;

use juror_compare::Kind;
use juror_document::{Document, Look, Problems};
use juror_files::load;
use juror_json::Object;
use juror_pages::{JudgeForm, UnreadableRun, judge_of_attempts};
use juror_runs::{RunFile, RunKind, StoredRun};
use juror_score::{JudgedBy, Scorecard, metric};
use juror_toolbench::result::read_each_result;
use serde_json::Value;

use crate::judged_answer::{JudgedAnswer, attempt_answer, question_answer};
use crate::records::records;

/// A run with the judges' scores of each answer.
#[derive(Debug)]
pub struct JudgedRun {
    /// The folder or file, as the user named it.
    pub source: String,
    /// What its rows are.
    pub kind: Kind,
    /// Its answers, in order.
    pub answers: Vec<JudgedAnswer>,
    /// What could not be read.
    pub problems: Problems,
    /// What is wrong with the files of a complete run.
    pub damage: Option<String>,
}

/// Why answers cannot be labelled for a metric, in words and with a hint.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotJudged(String);

/// The metrics that stand for a run if none is named, the first that it has.
const PREFERRED: [&str; 3] = ["sopr_score", "answer_f1", "answer_relevance"];

impl JudgedRun {
    /// Reads a run in a folder or a database.
    pub fn open(folder: &str) -> Result<JudgedRun, UnreadableRun> {
        let stored = StoredRun::at(folder)?;
        let results = stored.needed(RunFile::Results)?;
        let document = load(&results.display().to_string())?;
        let run = match stored.manifest.kind {
            RunKind::Eval => of_questions(&document),
            RunKind::Bench => {
                let judge = stored.manifest.judge().and_then(described_judge);
                of_attempts(&document, judge.as_ref())
            }
        };
        Ok(JudgedRun { damage: stored.damage_within(), ..run.named(&stored.place())? })
    }

    /// Reads a file of results.
    pub fn of_results(document: &Document, kind: Kind) -> Result<JudgedRun, Problems> {
        let run = match kind {
            Kind::Eval => of_questions(document),
            Kind::Bench => of_attempts(document, judge_of_attempts(document).as_ref()),
        };
        run.named(document.name())
    }

    /// Fails if nothing could be read.
    fn named(self, source: &str) -> Result<JudgedRun, Problems> {
        if self.answers.is_empty() && !self.problems.is_empty() {
            return Err(self.problems);
        }
        Ok(JudgedRun { source: source.to_owned(), ..self })
    }

    /// Returns the metric that is meant: the named one, or the first that says whether answers are
    /// right. Fails if no answer has a judge's score for it.
    pub fn metric(&self, named: Option<&str>) -> Result<String, NotJudged> {
        let known = self.judged_metrics();
        let is_known = |name: &str| known.iter().any(|known| known == name);
        let preferred = PREFERRED.into_iter().find(|name| is_known(name));
        let source = &self.source;
        match named.or(preferred).or(known.first().map(String::as_str)) {
            Some(metric) if is_known(metric) => Ok(metric.to_owned()),
            Some(metric) => {
                Err(NotJudged(format!("{source}: {}{}", lack_of(metric), hint(&known))))
            }
            None => {
                Err(NotJudged(format!("{source}: no answer has a judge's score{}", hint(&known))))
            }
        }
    }

    /// Returns the metrics for which some answer has a judge's score.
    pub fn judged_metrics(&self) -> Vec<String> {
        let mut known: Vec<String> = Vec::new();
        for (name, _) in self.answers.iter().flat_map(|answer| &answer.scores) {
            if !known.contains(name) {
                known.push(name.clone());
            }
        }
        known
    }

    /// The number of each answer's question: several answers to a question have the same.
    pub fn question_numbers(&self) -> Vec<usize> {
        numbers(self.answers.iter().map(|answer| (&*answer.group, &*answer.id)))
    }

    /// The number of each answer's template or set.
    pub fn group_numbers(&self) -> Vec<usize> {
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
    JudgedRun { source: String::new(), kind: Kind::Eval, answers, problems, damage: None }
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
    JudgedRun { source: String::new(), kind: Kind::Bench, answers, problems, damage: None }
}
