//! The static sections of a page, as data for its template.
//!
//! All texts from data are made visible here; the template escapes them.

mod cost;
mod groups;
mod judge;
mod method;
mod metrics;
mod verdict;

use juror_compare::Kind;

use super::index::Index;
use super::page::PageSource;
use crate::comparison::group_noun;
use crate::terminal::visible;
use method::MetricMethod;
use verdict::{Badge, Card, RunAbout};

/// Everything that shows without scripts.
pub(crate) struct Sections {
    /// What was judged, in a line.
    pub(crate) lead: String,
    /// What was judged, and how, by run.
    pub(crate) runs: Vec<RunAbout>,
    /// The verdict of the gates, if there are any.
    pub(crate) badge: Option<Badge>,
    /// The main metrics.
    pub(crate) cards: Vec<Card>,
    /// What is missing, and what to keep in mind.
    pub(crate) cautions: Vec<String>,
    /// Where to look first.
    pub(crate) links: Vec<Link>,
    /// How the gates came out.
    pub(crate) gates: Option<Table>,
    /// Differences of metrics, in comparisons.
    pub(crate) forests: Vec<Figure>,
    /// All metrics.
    pub(crate) metrics: Vec<Table>,
    /// Notes below them.
    pub(crate) metric_notes: Vec<String>,
    /// What groups of questions are called, with a capital.
    pub(crate) groups_title: &'static str,
    /// The main metric by group.
    pub(crate) group_figure: Option<Figure>,
    /// The same in numbers.
    pub(crate) groups: Option<Table>,
    /// How far judges agree with themselves and with people.
    pub(crate) judge: Vec<Table>,
    /// The same in words.
    pub(crate) judge_notes: Vec<String>,
    /// What answers and verdicts took.
    pub(crate) costs: Vec<Table>,
    /// Score against cost.
    pub(crate) cost_figure: Option<Figure>,
    /// The formula of every metric.
    pub(crate) methods: Vec<MetricMethod>,
    /// How intervals and tests are made.
    pub(crate) rules: Vec<String>,
}

/// A chart with its caption.
pub(crate) struct Figure {
    /// The chart, as SVG that was escaped where it was made.
    pub(crate) svg: String,
    /// What it shows.
    pub(crate) caption: String,
}

/// A link into the table of questions.
pub(crate) struct Link {
    pub(crate) href: String,
    pub(crate) text: String,
}

/// A table of text.
#[derive(Default)]
pub(crate) struct Table {
    pub(crate) caption: String,
    pub(crate) titles: Vec<Cell>,
    pub(crate) rows: Vec<Vec<Cell>>,
}

/// A cell of a table.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cell {
    pub(crate) text: String,
    /// Whether it is aligned to the right.
    pub(crate) is_number: bool,
    /// Where it leads, if anywhere.
    pub(crate) href: Option<String>,
    /// A small chart instead of a text.
    pub(crate) svg: Option<String>,
    /// The class of a badge, if it is one.
    pub(crate) badge: Option<&'static str>,
}

impl Cell {
    pub(crate) fn text(text: &str) -> Cell {
        Cell { text: visible(text), ..Cell::default() }
    }

    pub(crate) fn number(text: &str) -> Cell {
        Cell { is_number: true, ..Cell::text(text) }
    }

    /// Whether it is the name of a metric, which no table breaks.
    pub(crate) fn is_metric(&self) -> bool {
        juror_score::metric(&self.text).is_some()
    }

    pub(crate) fn link(text: &str, href: String) -> Cell {
        Cell { href: Some(href), ..Cell::text(text) }
    }

    pub(crate) fn chart(svg: String) -> Cell {
        Cell { svg: Some(svg), ..Cell::default() }
    }
}

impl Table {
    /// Makes a table of rows of text; the first row has the titles, and the first `n_left` columns
    /// are aligned to the left.
    pub(crate) fn of_texts(caption: &str, rows: &[Vec<String>], n_left: usize) -> Option<Table> {
        let (titles, rows) = rows.split_first()?;
        let cells = |row: &Vec<String>| -> Vec<Cell> {
            let cell = |(at, text): (usize, &String)| {
                if at < n_left { Cell::text(text) } else { Cell::number(text) }
            };
            row.iter().enumerate().map(cell).collect()
        };
        Some(Table {
            caption: visible(caption),
            titles: cells(titles),
            rows: rows.iter().map(cells).collect(),
        })
    }
}

impl Sections {
    pub(crate) fn of(source: &PageSource<'_>, index: &Index<'_>) -> Sections {
        let noun = group_noun(source.kind());
        let (group_figure, groups) = groups::by_group(source, noun);
        let (metrics, metric_notes) = metrics::metrics(source);
        let (judge, judge_notes) = judge::judge(source, index);
        Sections {
            lead: verdict::lead(source),
            runs: verdict::runs(source),
            badge: verdict::badge(source),
            cards: verdict::cards(source),
            cautions: verdict::cautions(source),
            links: verdict::links(index),
            gates: verdict::gates(source),
            forests: metrics::forests(source),
            metrics,
            metric_notes,
            groups_title: match source.kind() {
                Kind::Eval => "Templates",
                Kind::Bench => "Sets",
            },
            group_figure,
            groups,
            judge,
            judge_notes,
            costs: cost::tables(source, noun),
            cost_figure: cost::figure(source, noun),
            methods: method::methods(source),
            rules: method::rules(source),
        }
    }
}

/// The address of a view of the table of questions.
pub(crate) fn view_address(parts: &[(&str, &str)]) -> String {
    let part = |(key, value): &(&str, &str)| format!("{key}={}", encoded(value));
    format!("#/?{}", parts.iter().map(part).collect::<Vec<_>>().join("&"))
}

/// Percent-encodes everything but letters, digits and `-_.~`.
fn encoded(text: &str) -> String {
    let byte = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
            char::from(byte).to_string()
        }
        byte => format!("%{byte:02X}"),
    };
    text.bytes().map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_hold_any_name() {
        assert_eq!(
            view_address(&[("show", "broken"), ("group", "a&b=é \"<")]),
            "#/?show=broken&group=a%26b%3D%C3%A9%20%22%3C"
        );
    }
}
