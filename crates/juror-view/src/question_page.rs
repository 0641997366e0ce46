//! A question over all runs.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use askama::Template;
use hyper::StatusCode;
use juror_compare::{Kind, RunFacts, item_scores};
use juror_document::{Document, Format};
use juror_pages::ScoredRun;
use juror_read::OwnMetrics;
use juror_report::{StripCell, metric_value, question_strip, visible};
use juror_runs::{RunFile, RunKind};
use juror_score::ScoreTable;
use juror_serve::url_parts::field;

use crate::address;
use crate::list_page::COLUMNS;
use crate::reply::{self, Reply};
use crate::run_list::ListedRun;
use crate::stamp::Stamp;
use crate::viewer::Viewer;

/// How many outcomes are remembered.
const MOST_KNOWN: usize = 20_000;

#[derive(Template)]
#[template(path = "question.html")]
struct QuestionPage {
    title: String,
    question: String,
    group: String,
    metric: String,
    strip: String,
    rows: Vec<Row>,
}

struct Row {
    id: String,
    address: String,
    name: String,
    began: String,
    outcome: String,
}

/// A question, and the metric by which it is looked at.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Asked {
    question: String,
    /// Its template or set; empty for any.
    group: String,
    metric: Option<String>,
}

/// What came of a question in a run.
#[derive(Clone, Debug, PartialEq)]
struct Outcome {
    cell: StripCell,
    group: String,
    metric: String,
}

/// Outcomes that were looked up: results are large, and are read again only if they changed.
#[derive(Default)]
pub(crate) struct Outcomes(Mutex<HashMap<(String, Asked), (Stamp, Outcome)>>);

impl Viewer {
    pub(crate) fn question_history(&self, query: &str, question: &str) -> Reply {
        let asked = Asked {
            question: question.to_owned(),
            group: field(query, "group").unwrap_or_default(),
            metric: field(query, "metric").filter(|name| !name.is_empty()),
        };
        let mut runs = self.runs.read().unwrap_or_default();
        runs.retain(|run| run.known.as_ref().is_ok_and(|own| own.is_complete));
        runs.reverse();
        let outcomes: Vec<Outcome> = runs.iter().map(|run| self.outcome(run, &asked)).collect();
        let cells: Vec<StripCell> = outcomes.iter().map(|own| own.cell).collect();
        let mut rows: Vec<Row> =
            runs.iter().zip(&outcomes).map(|(run, outcome)| row(run, outcome, question)).collect();
        rows.reverse();
        let mut metrics: Vec<&str> = outcomes.iter().map(|own| own.metric.as_str()).collect();
        metrics.retain(|name| !name.is_empty());
        metrics.dedup();
        let page = QuestionPage {
            title: "History of a question".into(),
            strip: question_strip(&cells, &format!("{question} over {} runs", cells.len())),
            question: visible(question),
            group: visible(&asked.group),
            metric: metrics.join(", "),
            rows,
        };
        // The template only writes to memory.
        reply::page(StatusCode::OK, page.render().unwrap_or_default())
    }

    fn outcome(&self, run: &ListedRun, asked: &Asked) -> Outcome {
        let stamp = Stamp::of(&run.folder, &[RunFile::Results]);
        let key = (run.id.clone(), asked.clone());
        let locked = || self.outcomes.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = locked().get(&key).filter(|(known, _)| *known == stamp).cloned();
        if let Some((_, outcome)) = known {
            return outcome;
        }
        let outcome = self.look_up(run, asked).unwrap_or(Outcome {
            cell: StripCell::Absent,
            group: String::new(),
            metric: String::new(),
        });
        let mut known = locked();
        if known.len() >= MOST_KNOWN {
            known.clear();
        }
        known.insert(key, (stamp, outcome.clone()));
        outcome
    }

    /// Reads only the lines that may be about the question.
    fn look_up(&self, run: &ListedRun, asked: &Asked) -> Option<Outcome> {
        let path = RunFile::Results.path_in(&run.folder);
        let document = juror_files::load(&path.display().to_string()).ok()?;
        let is_plain = asked.question.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let may_be = |line: &&str| !is_plain || line.contains(&asked.question);
        let lines: Vec<&str> = document.lines().filter(may_be).collect();
        let text = lines.join("\n").into_bytes();
        let few = Document::new("results.jsonl", text, Format::JsonLines).ok()?;
        let kind = match run.known.as_ref().ok()?.kind {
            RunKind::Eval => Kind::Eval,
            RunKind::Bench => Kind::Bench,
        };
        let facts = RunFacts::of_file(&run.id, kind);
        let scored =
            ScoredRun::of_results(facts, few, self.plan.clone(), &OwnMetrics::default()).ok()?;
        outcome_in(&scored.scores, asked)
    }
}

/// The mean score of all answers to the question.
fn outcome_in(scores: &ScoreTable, asked: &Asked) -> Option<Outcome> {
    let is_it = |at: &usize| {
        let item = &scores.items()[*at];
        let is_group = asked.group.is_empty() || scores.group_of(item) == asked.group;
        *item.id == *asked.question && is_group
    };
    let own: Vec<usize> = (0..scores.items().len()).filter(is_it).collect();
    let group = scores.group_of(&scores.items()[*own.first()?]).to_owned();
    let usual = || COLUMNS.into_iter().find(|name| scores.column(name).is_some());
    let metric = asked.metric.as_deref().or_else(usual).unwrap_or_default();
    let numbers: Vec<f64> = scores
        .column(metric)
        .into_iter()
        .flat_map(item_scores)
        .filter(|(at, _)| own.contains(at))
        .map(|(_, score)| score)
        .collect();
    let cell = match numbers.len() {
        0 => StripCell::Failed,
        n => StripCell::Scored(numbers.iter().sum::<f64>() / n as f64),
    };
    Some(Outcome { cell, group, metric: metric.to_owned() })
}

fn row(run: &ListedRun, outcome: &Outcome, question: &str) -> Row {
    let (name, began) = match &run.known {
        Ok(own) => (visible(&own.name), visible(&own.minute())),
        Err(_) => (String::new(), String::new()),
    };
    Row {
        id: visible(&run.id),
        address: address::of_question(&run.id, &outcome.group, question),
        name,
        began,
        outcome: match outcome.cell {
            StripCell::Scored(score) => metric_value(&outcome.metric, score),
            StripCell::Failed => "no score".into(),
            StripCell::Absent => "not in this run".into(),
        },
    }
}
