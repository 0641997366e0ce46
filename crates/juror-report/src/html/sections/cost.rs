//! What answers and verdicts took: tokens, time and money.

use juror_compare::MetricStatistics;
use juror_score::{Unit, metric};

use super::{Cell, Figure, Table, view_address};
use crate::amount::{Amounts, NONE};
use crate::html::chart::{ScatterPoint, scatter};
use crate::html::page::PageSource;

/// How many groups are listed.
const LISTED: usize = 200;

/// The metrics that costs are told by, the first that a run has.
const COSTS: [&str; 5] =
    ["agent_usd", "total_tokens", "agent_tokens", "elapsed_sec", "system_answer_time"];

fn is_cost(name: &str) -> bool {
    metric(name)
        .is_some_and(|info| matches!(info.unit, Unit::Tokens | Unit::Seconds | Unit::Dollars))
}

/// What each run took by purpose, and the last run by group.
pub(super) fn tables(source: &PageSource<'_>, noun: &str) -> Vec<Table> {
    by_purpose(source).into_iter().chain(by_group(source, noun)).collect()
}

fn by_purpose(source: &PageSource<'_>) -> Option<Table> {
    let mut names: indexmap::IndexSet<&str> = indexmap::IndexSet::new();
    for run in &source.runs {
        names.extend(run.statistics.micro.keys().map(String::as_str).filter(|name| is_cost(name)));
    }
    if names.is_empty() {
        return None;
    }
    let mut titles = vec![Cell::text("of what")];
    for at in 0..source.runs.len() {
        let run = if source.runs.len() > 1 {
            format!("{}: ", source.run_name(at))
        } else {
            String::new()
        };
        titles.push(Cell::number(&format!("{run}mean")));
        titles.push(Cell::number(&format!("{run}sum")));
    }
    let row = |name: &str| {
        let mut cells = vec![Cell::text(name)];
        for run in &source.runs {
            cells.extend(mean_and_sum(name, run.statistics.micro.get(name)));
        }
        cells
    };
    let rows = names.into_iter().map(row).collect();
    Some(Table { caption: "By purpose".into(), titles, rows })
}

fn mean_and_sum(name: &str, own: Option<&MetricStatistics>) -> [Cell; 2] {
    let amounts = Amounts::of_metric(name);
    let text =
        |value: Option<f64>| Cell::number(&value.map_or(NONE.into(), |value| amounts.value(value)));
    [text(own.map(|own| own.mean)), text(own.map(|own| own.mean * own.n_scored as f64))]
}

fn by_group(source: &PageSource<'_>, noun: &str) -> Option<Table> {
    let run = source.runs.last()?;
    let names: Vec<&str> =
        run.statistics.micro.keys().map(String::as_str).filter(|name| is_cost(name)).collect();
    if names.is_empty() || run.statistics.groups.len() < 2 {
        return None;
    }
    let mut titles = vec![Cell::text(noun)];
    titles.extend(names.iter().map(|name| Cell::number(name)));
    let rows = run.statistics.groups.iter().take(LISTED).map(|(group, own)| {
        let mut cells = vec![Cell::link(group, view_address(&[("group", group)]))];
        cells.extend(names.iter().map(|name| mean_and_sum(name, own.get(*name))[0].clone()));
        cells
    });
    let of = source.run_name(source.runs.len() - 1);
    Some(Table { caption: format!("Means by {noun}, {of}"), titles, rows: rows.collect() })
}

/// Score against cost: a point a run, or a point a group if there is one run.
pub(super) fn figure(source: &PageSource<'_>, noun: &str) -> Option<Figure> {
    let headline = source.headline()?;
    let has = |name: &&str| source.runs.iter().all(|run| run.statistics.metric(name).is_some());
    let cost = COSTS.into_iter().find(has)?;
    let mut names = Vec::new();
    let mut values = Vec::new();
    if let [only] = &source.runs[..] {
        for (group, own) in &only.statistics.groups {
            if let (Some(x), Some(y)) = (own.get(cost), own.get(headline)) {
                names.push(group.clone());
                values.push((x.mean, y.mean));
            }
        }
    } else {
        for (at, run) in source.runs.iter().enumerate() {
            if let (Some(x), Some(y)) =
                (run.statistics.metric(cost), run.statistics.metric(headline))
            {
                names.push(source.run_name(at));
                values.push((x.mean, y.mean));
            }
        }
    }
    let is_compared = source.runs.len() > 1;
    let points: Vec<ScatterPoint<'_>> = names
        .iter()
        .zip(values)
        .take(LISTED)
        .enumerate()
        .map(|(at, (name, (x, y)))| ScatterPoint {
            name,
            x,
            y,
            is_baseline: is_compared && at == 0,
        })
        .collect();
    if points.len() < 2 {
        return None;
    }
    let what = if is_compared { "run" } else { noun };
    let caption = format!("{headline} against {cost}, a point a {what}.");
    let write = |name: &'static str| move |value: f64| Amounts::of_metric(name).value(value);
    let (write_x, amounts) = (write(cost), Amounts::of_metric(headline));
    let write_y = |value: f64| amounts.value(value);
    let svg = scatter(&points, (cost, &write_x), (headline, &write_y), &caption);
    Some(Figure { svg, caption: crate::terminal::visible(&caption) })
}
