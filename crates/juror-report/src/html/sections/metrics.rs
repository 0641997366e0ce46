//! Every metric: means with distributions, or how each changed.

use juror_compare::{
    CandidateComparison, ChangeLimit, Condition, Kind, Margin, MetricComparison, MetricStatistics,
    WithoutMean,
};
use juror_score::statistics::Interval;
use juror_score::{Better, ScoreTable, Unit, metric};

use super::{Cell, Figure, Table};
use crate::amount::{Amounts, NONE, percent};
use crate::comparison::{CandidateRows, ComparisonView, count, is_of_judging};
use crate::html::chart::{ForestRow, Outcome, forest, histogram};
use crate::html::page::{PageRun, PageSource};
use crate::trials::Trials;

/// The tables of metrics, and notes about them.
pub(super) fn metrics(source: &PageSource<'_>) -> (Vec<Table>, Vec<String>) {
    match source.comparison {
        Some(comparison) => {
            let view = ComparisonView { all_metrics: true, ..ComparisonView::default() };
            let tables = CandidateRows::all(comparison, &view).into_iter().filter_map(|rows| {
                let caption = rows.title().unwrap_or_else(|| "How each metric changed".into());
                Table::of_texts(&caption, &rows.metrics(), 1)
            });
            (tables.chain(trials(source)).collect(), Vec::new())
        }
        None => {
            let tables = source.runs.iter().map(of_run).chain(trials(source)).collect();
            let note = "Coverage is the share of the answers to which a metric applies that have a \
                        verdict.";
            (tables, vec![note.into()])
        }
    }
}

/// How often questions with several answers are solved, by run.
fn trials(source: &PageSource<'_>) -> impl Iterator<Item = Table> {
    source.runs.iter().enumerate().filter_map(|(at, run)| {
        let trials = Trials::of(run.statistics)?;
        let name = if source.runs.len() > 1 {
            format!("{}: ", source.run_name(at))
        } else {
            String::new()
        };
        let told: Vec<String> =
            std::iter::once(trials.sentence(trials.metric)).chain(trials.notes()).collect();
        let caption = format!("{name}{}", told.join("; "));
        Table::of_texts(&caption, &trials.table(), 0)
    })
}

fn of_run(run: &PageRun<'_>) -> Table {
    let titles = ["metric", "mean", "interval", "median", "n", "coverage"];
    let mut cells: Vec<Cell> = vec![Cell::text(titles[0])];
    cells.extend(titles[1..].iter().map(|title| Cell::number(title)));
    cells.push(Cell::text("distribution"));
    let rows = run.statistics.micro.iter().map(|(name, own)| row(name, own, run.scores));
    let kind = run.statistics.kind;
    let without = run.statistics.without_mean.iter();
    let rows = without.map(|(name, own)| row_without(name, *own, kind)).chain(rows);
    Table { caption: "Means over all answers".into(), titles: cells, rows: rows.collect() }
}

fn row(name: &str, own: &MetricStatistics, scores: &ScoreTable) -> Vec<Cell> {
    let amounts = Amounts::of_metric(name);
    let interval = own.interval.map_or(NONE.into(), |interval| amounts.range(interval));
    let values: Vec<f64> = scores
        .column(name)
        .map_or(Vec::new(), |column| column.values().iter().map(|value| value.value).collect());
    let range = range_of(name);
    let label = format!("distribution of {name} over {} values", count(values.len()));
    vec![
        Cell::text(name),
        Cell::number(&amounts.value(own.mean)),
        Cell::number(&interval),
        Cell::number(&amounts.value(own.median)),
        Cell::number(&count(own.n_scored)),
        Cell::number(&percent(own.coverage)),
        Cell::chart(histogram(&values, range, &label)),
    ]
}

/// The row of a metric that has no mean: how many answers have a number, and why that is all.
fn row_without(name: &str, own: WithoutMean, kind: Kind) -> Vec<Cell> {
    let mut cells = vec![Cell::text(name)];
    cells.extend([NONE; 3].map(Cell::number));
    cells.extend([count(own.n_scored), percent(own.coverage())].map(|text| Cell::number(&text)));
    cells.push(Cell::text(own.reason(kind)));
    cells
}

/// The range of a metric, if it has one.
pub(super) fn range_of(name: &str) -> Option<(f64, f64)> {
    (metric(name)?.unit == Unit::Fraction).then_some((0.0, 1.0))
}

/// How each metric changed, drawn: fractions by themselves, amounts in percent.
pub(super) fn forests(source: &PageSource<'_>) -> Vec<Figure> {
    let Some(comparison) = source.comparison else { return Vec::new() };
    let mut figures = Vec::new();
    for (at, candidate) in comparison.candidates.iter().enumerate() {
        let name = source.run_name(at + 1);
        for is_relative in [false, true] {
            figures.extend(forest_of(source, candidate, is_relative, &name));
        }
    }
    figures
}

fn forest_of(
    source: &PageSource<'_>,
    candidate: &CandidateComparison,
    is_relative: bool,
    run: &str,
) -> Option<Figure> {
    let shown = candidate.metrics.iter().filter(|(name, own)| {
        let is_unchanged = own.delta == 0.0 && own.interval.is_none();
        !is_of_judging(name)
            && !is_unchanged
            && own.is_relative == is_relative
            && (!is_relative || own.a != 0.0)
    });
    let rows: Vec<ForestRow<'_>> = shown.map(|(name, own)| forest_row(source, name, own)).collect();
    if rows.is_empty() {
        return None;
    }
    let (what, write): (_, fn(f64) -> String) = if is_relative {
        ("changes in percent", |value| format!("{} %", signed(value, 0)))
    } else {
        ("differences", |value| signed(value, 2))
    };
    let has_band = rows.iter().any(|row| row.margin.is_some());
    let band = if has_band { "; a shaded band is what a gate allows" } else { "" };
    let caption = format!("{run}: {what} from the baseline with intervals{band}.");
    let svg = forest(&rows, &caption, |value| if value == 0.0 { "0".into() } else { write(value) });
    Some(Figure { svg, caption })
}

/// A mark of a scale, with as many decimals as tell it from its neighbours.
fn signed(value: f64, least: usize) -> String {
    let is_exact = |decimals: &usize| {
        let power = 10_f64.powi(i32::try_from(*decimals).unwrap_or_default());
        (value * power - (value * power).round()).abs() < 1e-6
    };
    let decimals = (least..6).find(is_exact).unwrap_or(6);
    format!("{value:+.decimals$}")
}

fn forest_row<'r>(source: &PageSource<'_>, name: &'r str, own: &MetricComparison) -> ForestRow<'r> {
    let factor = if own.is_relative { 100.0 / own.a.abs() } else { 1.0 };
    let scaled =
        |interval: Interval| Interval { low: interval.low * factor, high: interval.high * factor };
    let interval = own.interval.map(scaled);
    ForestRow {
        name,
        delta: own.delta * factor,
        interval,
        margin: margin(source, name, own).map(|margin| margin * factor),
        outcome: outcome(interval, own.better),
    }
}

/// A change is for the better or worse if its whole interval is.
fn outcome(interval: Option<Interval>, better: Option<Better>) -> Outcome {
    let (Some(Interval { low, high }), Some(better)) = (interval, better) else {
        return Outcome::Open;
    };
    match (low > 0.0, high < 0.0, better) {
        (true, _, Better::Higher) | (_, true, Better::Lower) => Outcome::Better,
        (true, _, Better::Lower) | (_, true, Better::Higher) => Outcome::Worse,
        _ => Outcome::Open,
    }
}

/// The change that a gate on the metric allows.
fn margin(source: &PageSource<'_>, name: &str, own: &MetricComparison) -> Option<f64> {
    source.gates.gates.iter().find_map(|gate| match &gate.condition {
        Condition::Change { metric, limit } if metric == name => Some(match limit {
            ChangeLimit::MaxDrop(margin) => -absolute(*margin, own),
            ChangeLimit::MaxRise(margin) => absolute(*margin, own),
        }),
        _ => None,
    })
}

fn absolute(margin: Margin, own: &MetricComparison) -> f64 {
    match margin {
        Margin::Absolute(margin) => margin,
        Margin::Percent(percent) => percent / 100.0 * own.a.abs(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_counts_only_if_its_whole_interval_does() {
        let is = |low, high, better| outcome(Some(Interval { low, high }), Some(better));
        assert!(is(0.1, 0.2, Better::Higher) == Outcome::Better);
        assert!(is(0.1, 0.2, Better::Lower) == Outcome::Worse);
        assert!(is(-0.2, -0.1, Better::Lower) == Outcome::Better);
        assert!(is(-0.1, 0.2, Better::Higher) == Outcome::Open);
        assert!(outcome(None, Some(Better::Higher)) == Outcome::Open);
    }

    #[test]
    fn neighbouring_marks_differ() {
        assert_eq!([0.2, 5.0, -0.05].map(|value| signed(value, 0)), ["+0.2", "+5", "-0.05"]);
        assert_eq!([0.2, 0.005].map(|value| signed(value, 2)), ["+0.20", "+0.005"]);
    }
}
