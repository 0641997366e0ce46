//! The index of a page: what its table of questions shows, filters and sorts.

use juror_compare::{Comparison, RunFacts, item_scores};
use juror_score::{Better, ScoreTable, Unit, metric};
use serde::Serialize;

use super::chunks::QuestionFacts;
use super::page::PageSource;
use super::rows::QuestionRow;
use crate::comparison::label;

/// What is remarkable about a question.
pub(crate) mod flag {
    /// It lost score in some candidate.
    pub(crate) const BROKEN: u8 = 1;
    /// It gained score in some candidate.
    pub(crate) const FIXED: u8 = 2;
    /// A judge is unsure, or its repeats differ.
    pub(crate) const UNSURE: u8 = 4;
    /// A text imitates a verdict.
    pub(crate) const IMITATES: u8 = 8;
    /// Some answers to it are right, and others are not.
    pub(crate) const SOMETIMES: u8 = 16;
    /// The page does not have all of it.
    pub(crate) const SHORTENED: u8 = 32;
}

/// How a run dealt with a question.
const ANSWERED: u8 = 0;
const FAILED: u8 = 1;
const ABSENT: u8 = 2;

/// The index, as the page's script reads it.
#[derive(Serialize)]
pub(crate) struct Index<'p> {
    format: &'static str,
    kind: juror_compare::Kind,
    runs: Vec<IndexRun<'p>>,
    headline: Option<&'p str>,
    groups: Vec<&'p str>,
    metrics: Vec<IndexMetric<'p>>,
    chunk: usize,
    notes: &'p [String],
    questions: Questions<'p>,
}

impl Index<'_> {
    /// How many questions have a flag, as the table counts them.
    pub(crate) fn n_flagged(&self, bit: u8) -> usize {
        self.questions.flags.iter().filter(|flags| *flags & bit != 0).count()
    }

    /// How many questions failed in some run, as the table counts them.
    pub(crate) fn n_failed(&self) -> usize {
        let Questions { id, status, .. } = &self.questions;
        (0..id.len()).filter(|at| status.iter().any(|run| run[*at] == FAILED)).count()
    }
}

#[derive(Serialize)]
struct IndexRun<'p> {
    label: String,
    name: &'p str,
    id: Option<&'p str>,
    began: Option<&'p str>,
}

#[derive(Serialize)]
struct IndexMetric<'p> {
    key: &'p str,
    unit: Option<&'static str>,
    better: Option<Better>,
    judged: bool,
}

#[derive(Serialize)]
struct Questions<'p> {
    id: Vec<&'p str>,
    text: Vec<&'p str>,
    group: Vec<usize>,
    scores: Vec<Vec<Vec<Option<f64>>>>,
    status: Vec<Vec<u8>>,
    flags: Vec<u8>,
    trials: Option<Vec<Vec<usize>>>,
}

/// What the index is made from.
pub(crate) struct IndexParts<'p> {
    pub(crate) source: &'p PageSource<'p>,
    pub(crate) headline: Option<&'p str>,
    pub(crate) rows: &'p [QuestionRow<'p>],
    pub(crate) facts: &'p [QuestionFacts],
    pub(crate) chunk: usize,
    pub(crate) notes: &'p [String],
}

impl<'p> IndexParts<'p> {
    /// Makes the index.
    pub(crate) fn index(&self) -> Index<'p> {
        let source = self.source;
        let mut groups: indexmap::IndexSet<&str> = indexmap::IndexSet::new();
        let group = self.rows.iter().map(|row| groups.insert_full(row.group).0).collect();
        let names = metric_names(source, self.headline);
        let scores = names.iter().map(|name| self.scores(name)).collect();
        let is_one = |row: &QuestionRow<'_>| row.answers.iter().all(|answers| answers.len() <= 1);
        let n_answers = |run: usize| self.rows.iter().map(move |row| row.answers[run].len());
        let trials = (!self.rows.iter().all(is_one))
            .then(|| (0..source.runs.len()).map(|run| n_answers(run).collect()).collect());
        Index {
            format: "juror.report/1",
            kind: source.kind(),
            runs: source
                .runs
                .iter()
                .enumerate()
                .map(|(at, run)| index_run(source, at, run.facts))
                .collect(),
            headline: self.headline,
            groups: groups.into_iter().collect(),
            metrics: names.into_iter().map(index_metric).collect(),
            chunk: self.chunk,
            notes: self.notes,
            questions: Questions {
                id: self.rows.iter().map(|row| row.id).collect(),
                text: self.facts.iter().map(|facts| &*facts.text).collect(),
                group,
                scores,
                status: (0..source.runs.len()).map(|run| self.status(run)).collect(),
                flags: self.flags(),
                trials,
            },
        }
    }

    /// The scores of a metric, by run and question: means over answers.
    fn scores(&self, name: &str) -> Vec<Vec<Option<f64>>> {
        let of_run = |(run, scores): (usize, &ScoreTable)| {
            let by_item = scores_by_item(scores, name);
            let mean = |row: &QuestionRow<'_>| mean(&by_item, &row.answers[run]);
            self.rows.iter().map(mean).collect()
        };
        self.source.runs.iter().map(|run| run.scores).enumerate().map(of_run).collect()
    }

    fn status(&self, run: usize) -> Vec<u8> {
        let items = self.source.runs[run].scores.items();
        let status = |row: &QuestionRow<'_>| match &row.answers[run][..] {
            [] => ABSENT,
            answers if answers.iter().all(|at| items[*at].is_error) => FAILED,
            _ => ANSWERED,
        };
        self.rows.iter().map(status).collect()
    }

    fn flags(&self) -> Vec<u8> {
        let mut flags: Vec<u8> = self.facts.iter().map(|facts| facts.flags).collect();
        if let Some(comparison) = self.source.comparison {
            mark_flips(self.rows, comparison, &mut flags);
        }
        if let Some(name) = self.headline {
            for (run, page_run) in self.source.runs.iter().enumerate() {
                let by_item = scores_by_item(page_run.scores, name);
                for (row, flags) in self.rows.iter().zip(&mut flags) {
                    let is_right = |at: &usize| by_item[*at].is_some_and(|score| score >= 1.0);
                    let n_right = row.answers[run].iter().filter(|at| is_right(at)).count();
                    if n_right > 0 && n_right < row.answers[run].len() {
                        *flags |= flag::SOMETIMES;
                    }
                }
            }
        }
        flags
    }
}

fn mark_flips(rows: &[QuestionRow<'_>], comparison: &Comparison, flags: &mut [u8]) {
    let mut bits: hashbrown::HashMap<(&str, &str), u8> = hashbrown::HashMap::new();
    for flips in comparison.candidates.iter().filter_map(|candidate| candidate.flips.first()) {
        for (list, bit) in [(&flips.broken, flag::BROKEN), (&flips.fixed, flag::FIXED)] {
            for flip in list {
                *bits.entry((&flip.group, &flip.id)).or_default() |= bit;
            }
        }
    }
    for (row, flags) in rows.iter().zip(flags) {
        *flags |= bits.get(&(row.group, row.id)).copied().unwrap_or(0);
    }
}

/// The score of each item: the mean of its numbers, if it has any.
pub(crate) fn scores_by_item(scores: &ScoreTable, name: &str) -> Vec<Option<f64>> {
    let mut by_item = vec![None; scores.items().len()];
    if let Some(column) = scores.column(name) {
        for (item, score) in item_scores(column) {
            by_item[item] = Some(score);
        }
    }
    by_item
}

fn mean(by_item: &[Option<f64>], answers: &[usize]) -> Option<f64> {
    let known = answers.iter().filter_map(|at| by_item[*at]);
    let (sum, n) = known.fold((0.0, 0), |(sum, n), score| (sum + score, n + 1));
    (n > 0).then(|| sum / f64::from(n))
}

/// The metrics that some run has a number for, the headline first.
fn metric_names<'p>(source: &'p PageSource<'p>, headline: Option<&'p str>) -> Vec<&'p str> {
    let mut names: indexmap::IndexSet<&str> = headline.into_iter().collect();
    for run in &source.runs {
        let columns = run.scores.columns().iter().filter(|column| !column.values().is_empty());
        names.extend(columns.map(|column| &*column.name));
    }
    names.into_iter().collect()
}

fn index_metric(key: &str) -> IndexMetric<'_> {
    let info = metric(key);
    IndexMetric {
        key,
        unit: info.map(|info| unit_word(info.unit)),
        better: info.map(|info| info.better),
        judged: info.is_none_or(|info| info.is_judged),
    }
}

fn unit_word(unit: Unit) -> &'static str {
    match unit {
        Unit::Fraction => "fraction",
        Unit::Cosine => "cosine",
        Unit::Tokens => "tokens",
        Unit::Seconds => "seconds",
        Unit::Dollars => "usd",
        Unit::Count => "count",
    }
}

fn index_run<'p>(source: &PageSource<'_>, at: usize, facts: &'p RunFacts) -> IndexRun<'p> {
    let label = if source.runs.len() > 1 { label(at) } else { String::new() };
    let name = if facts.name.trim().is_empty() { &facts.source } else { &facts.name };
    IndexRun { label, name, id: facts.id.as_deref(), began: facts.began.as_deref() }
}

/// The beginning of a text on one line, for the table. The page itself shows what hides or steers text,
/// here as in ids.
pub(crate) fn beginning(text: &str) -> String {
    const CHARACTERS: usize = 200;
    let mut words = String::new();
    for word in text.split_whitespace() {
        if !words.is_empty() {
            words.push(' ');
        }
        words.push_str(word);
        if words.len() > 4 * CHARACTERS {
            break;
        }
    }
    match words.char_indices().nth(CHARACTERS) {
        Some((end, _)) => format!("{}…", &words[..end]),
        None => words,
    }
}
