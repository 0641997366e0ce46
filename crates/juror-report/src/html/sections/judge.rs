//! How far the judge can be trusted: with itself, with people, and with texts that imitate it.

use super::{Cell, Table};
use crate::amount::{Amounts, NONE, percent};
use crate::comparison::count;
use crate::html::index::{Index, flag};
use crate::html::page::{PageRun, PageSource};
use crate::questions_table::calibrated_lines;

/// Tables of agreement, and sentences.
pub(super) fn judge(source: &PageSource<'_>, index: &Index<'_>) -> (Vec<Table>, Vec<String>) {
    let runs = source.runs.iter().enumerate();
    let tables =
        runs.filter_map(|(at, run)| repeats(&source.run_name(at), run)).collect::<Vec<_>>();
    let mut notes = Vec::new();
    for run in &source.runs {
        notes.extend(calibrated_lines(run.statistics).lines().map(str::to_owned));
    }
    let flagged = index.n_flagged(flag::IMITATES);
    if flagged > 0 {
        notes.push(format!("{} questions have texts that imitate verdicts.", count(flagged)));
    }
    let is_judged = |run: &PageRun<'_>| {
        let names = run.statistics.micro.keys();
        names.filter_map(|name| juror_score::metric(name)).any(|info| info.is_judged)
    };
    if !source.runs.iter().any(is_judged) {
        notes.push("No model judged these answers.".into());
    } else if tables.is_empty() {
        notes.push(
            "The judge was asked once about each answer; judge.repeats asks several times and \
             tells how often it contradicts itself."
                .into(),
        );
    }
    (tables, notes)
}

fn repeats(run: &str, own: &PageRun<'_>) -> Option<Table> {
    if own.statistics.judge.is_empty() {
        return None;
    }
    let titles =
        ["metric", "verdicts each", "answers", "not unanimous", "ICC", "SE", "SE with one verdict"];
    let mut cells = vec![Cell::text(titles[0])];
    cells.extend(titles[1..].iter().map(|title| Cell::number(title)));
    let rows = own.statistics.judge.iter().map(|(name, judge)| {
        let amounts = Amounts::of_metric(name);
        let number = |value: Option<f64>| {
            Cell::number(&value.map_or(NONE.into(), |value| amounts.value(value)))
        };
        vec![
            Cell::text(name),
            Cell::number(&count(judge.repeats)),
            Cell::number(&count(judge.answers)),
            Cell::number(&percent(judge.flip_rate)),
            Cell::number(&judge.icc.map_or(NONE.into(), |icc| format!("{icc:.3}"))),
            number(judge.se),
            number(judge.se_without_repeats),
        ]
    });
    Some(Table {
        caption: format!(
            "Several verdicts on the same answer: {run}; SE takes answers as independent, unlike \
             the intervals above"
        ),
        titles: cells,
        rows: rows.collect(),
    })
}
