//! Where it is weak: the main metric by template or set.

use juror_compare::MetricStatistics;
use juror_score::{Better, metric};

use super::metrics::range_of;
use super::{Cell, Figure, Table, view_address};
use crate::amount::{Amounts, NONE};
use crate::comparison::count;
use crate::html::chart::{DumbbellRow, dumbbells};
use crate::html::page::PageSource;

/// How many groups are drawn, and how many are listed.
const DRAWN: usize = 40;
const LISTED: usize = 1000;

/// One group, with its mean in each run.
struct Group<'g> {
    name: &'g str,
    own: Vec<Option<&'g MetricStatistics>>,
}

impl Group<'_> {
    fn means(&self) -> Vec<Option<f64>> {
        self.own.iter().map(|own| own.map(|own| own.mean)).collect()
    }

    /// What the group is sorted by: how good it is, or the least that it gained in any run.
    fn goodness(&self, is_higher_better: bool) -> f64 {
        let means = self.means();
        let sign = if is_higher_better { 1.0 } else { -1.0 };
        let value = match &means[..] {
            [only] => only.unwrap_or(f64::NEG_INFINITY),
            [first, others @ ..] => {
                let gains =
                    others.iter().filter_map(|other| Some(sign * (*other)? - sign * (*first)?));
                return gains.min_by(f64::total_cmp).unwrap_or(f64::INFINITY);
            }
            [] => 0.0,
        };
        if value.is_finite() { sign * value } else { value }
    }
}

/// The chart and the table; neither if there is one group or no main metric.
pub(super) fn by_group(source: &PageSource<'_>, noun: &str) -> (Option<Figure>, Option<Table>) {
    let Some(headline) = source.headline() else { return (None, None) };
    let is_higher_better = metric(headline).is_none_or(|info| info.better == Better::Higher);
    let mut groups = groups(source, headline);
    if groups.len() < 2 {
        return (None, None);
    }
    groups.sort_by(|one, other| {
        one.goodness(is_higher_better).total_cmp(&other.goodness(is_higher_better))
    });
    let figure = figure(source, headline, noun, &groups, is_higher_better);
    (Some(figure), Some(table(source, headline, noun, &groups)))
}

fn groups<'g>(source: &'g PageSource<'_>, headline: &str) -> Vec<Group<'g>> {
    let mut names: indexmap::IndexSet<&str> = indexmap::IndexSet::new();
    for run in &source.runs {
        names.extend(run.statistics.groups.keys().map(String::as_str));
    }
    let own = |name: &str| {
        let of_run = |run: &crate::html::page::PageRun<'g>| {
            run.statistics.groups.get(name).and_then(|group| group.get(headline))
        };
        source.runs.iter().map(of_run).collect()
    };
    names.into_iter().map(|name| Group { name, own: own(name) }).collect()
}

fn figure(
    source: &PageSource<'_>,
    headline: &str,
    noun: &str,
    groups: &[Group<'_>],
    is_higher_better: bool,
) -> Figure {
    let is_single = source.runs.len() == 1;
    let row = |group: &Group<'_>| DumbbellRow {
        name: "",
        means: group.means(),
        interval: group
            .own
            .first()
            .copied()
            .flatten()
            .and_then(|own| own.interval)
            .filter(|_| is_single),
        is_higher_better,
    };
    let rows: Vec<DumbbellRow<'_>> = groups
        .iter()
        .take(DRAWN)
        .map(|group| DumbbellRow { name: group.name, ..row(group) })
        .collect();
    let order = if is_single { "the weakest first" } else { "the largest loss first" };
    let has_lines = rows.iter().any(|row| row.interval.is_some());
    let runs = match (is_single, has_lines) {
        (true, true) => "; a line is the interval of the mean".to_owned(),
        (true, false) => String::new(),
        (false, _) => format!("; a square is {}, dots are the others", source.run_name(0)),
    };
    let cut = if groups.len() > DRAWN {
        format!("; the first {DRAWN} of {}", count(groups.len()))
    } else {
        String::new()
    };
    let caption = format!("{headline} by {noun}, {order}{runs}{cut}.");
    let amounts = Amounts::of_metric(headline);
    let svg = dumbbells(&rows, range_of(headline), &caption, |value| amounts.value(value));
    Figure { svg, caption: crate::terminal::visible(&caption) }
}

fn table(source: &PageSource<'_>, headline: &str, noun: &str, groups: &[Group<'_>]) -> Table {
    let amounts = Amounts::of_metric(headline);
    let mut titles = vec![Cell::text(noun)];
    for at in 0..source.runs.len() {
        titles.push(Cell::number(&if source.runs.len() > 1 {
            source.run_name(at)
        } else {
            headline.to_owned()
        }));
    }
    titles.push(Cell::number("n"));
    let row = |group: &Group<'_>| {
        let mut cells = vec![Cell::link(group.name, view_address(&[("group", group.name)]))];
        for own in &group.own {
            let text = own.map_or(NONE.into(), |own| match own.interval {
                Some(interval) if source.runs.len() == 1 => {
                    format!("{} ({})", amounts.value(own.mean), amounts.range(interval))
                }
                _ => amounts.value(own.mean),
            });
            cells.push(Cell::number(&text));
        }
        let n = group.own.iter().flatten().map(|own| own.n).max().unwrap_or(0);
        cells.push(Cell::number(&count(n)));
        cells
    };
    let caption = format!("{headline} by {noun}");
    Table {
        caption: crate::terminal::visible(&caption),
        titles,
        rows: groups.iter().take(LISTED).map(row).collect(),
    }
}
