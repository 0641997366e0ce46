//! Compares recorded results with those that a graph gives now.

use std::time::Duration;

use juror_graph::{Answer, Query, Table};
use juror_sparql::{
    AlignedRow, AlignmentRoom, Cell, Comparison, Prepared, ResultFormat, Rules, Solutions,
    SparqlResult, TableAlignment,
};
use serde::Serialize;

use crate::asking::Asked;
use crate::steps::QueryStep;

/// How many rows of each kind are shown.
const FEW: usize = 3;

/// The longest row that is shown, in characters.
const LONGEST_ROW: usize = 100;

/// How many cells are compared to find changed rows.
const COMPARISONS: usize = 1_000_000;

/// How a recorded result stands to the graph.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "standing", rename_all = "snake_case")]
pub enum Standing {
    /// The graph gives the same.
    Same,
    /// The graph gives something else.
    Changed(Change),
    /// The graph gives no rows any more.
    Empty {
        /// How many were recorded.
        recorded_rows: usize,
    },
    /// There is no recorded result to compare with.
    NotRecorded,
    /// What is recorded is no result.
    Unreadable {
        /// What is wrong with it.
        why: String,
    },
    /// The query has no answer.
    Fails {
        /// Why.
        why: String,
        /// What to do about it.
        hint: Option<String>,
        /// Whether something outside is at fault.
        outside: bool,
    },
}

/// How a result has changed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Change {
    /// In words.
    pub why: String,
    /// How many recorded rows the graph does not give any more.
    pub n_missing: usize,
    /// How many rows it gives that are not recorded.
    pub n_extra: usize,
    /// The first rows that are missing.
    pub missing: Vec<String>,
    /// The first rows that are extra.
    pub extra: Vec<String>,
}

/// What was found about one step.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Checked {
    /// How its result stands.
    #[serde(flatten)]
    pub standing: Standing,
    /// The required columns that the query does not give.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing_columns: Vec<String>,
    /// How long the query took, if it was answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// Whether that is longer than the user wants.
    #[serde(skip_serializing_if = "is_false")]
    pub slow: bool,
    /// Whether the query takes some of its rows without an order, so that its result may change though the
    /// graph does not.
    #[serde(skip_serializing_if = "is_false")]
    pub unstable: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_false(truth: &bool) -> bool {
    !truth
}

impl Checked {
    /// Whether the reference is as it should be, however slow.
    pub fn holds(&self) -> bool {
        self.standing == Standing::Same && self.missing_columns.is_empty()
    }

    /// Whether the result is another than the recorded one.
    pub fn has_moved(&self) -> bool {
        matches!(self.standing, Standing::Changed(_) | Standing::Empty { .. })
    }

    /// Returns in words how the result has moved.
    pub fn moved_in_words(&self) -> Option<String> {
        match &self.standing {
            Standing::Changed(change) => Some(change.why.clone()),
            Standing::Empty { recorded_rows } => {
                Some(format!("{} recorded, none now", rows(*recorded_rows)))
            }
            _ => None,
        }
    }
}

/// Compares the recorded result of a step with what came of its query.
pub fn check(step: &QueryStep<'_>, asked: &Asked, slow: Option<Duration>) -> Checked {
    let (query, answer, time) = match asked {
        Asked::Answered { query, answer, time, .. } => (query, answer, *time),
        other => {
            let (why, hint) = other.problem().unwrap_or_default();
            let standing = Standing::Fails { why, hint, outside: other.is_outside() };
            let (missing_columns, seconds) = (Vec::new(), None);
            return Checked { standing, missing_columns, seconds, slow: false, unstable: false };
        }
    };
    let standing = compare(step, answer);
    let unstable = standing != Standing::Same && query.cuts_without_order();
    Checked {
        standing,
        missing_columns: missing_columns(step, query),
        seconds: Some(time.as_secs_f64()),
        slow: slow.is_some_and(|most| time > most),
        unstable,
    }
}

/// Returns the required columns that a query does not give.
fn missing_columns(step: &QueryStep<'_>, query: &Query) -> Vec<String> {
    let required = step.step.rules.required_columns.iter().flatten();
    let Some(given) = query.columns() else { return Vec::new() };
    required
        .filter(|name| !given.iter().any(|given| given == *name))
        .map(ToString::to_string)
        .collect()
}

fn compare(step: &QueryStep<'_>, answer: &Answer) -> Standing {
    let Some(recorded) = step.recorded() else { return Standing::NotRecorded };
    let format = step.format();
    let rules = &step.step.rules;
    if is_same(&recorded, format, answer, rules) {
        return Standing::Same;
    }
    let recorded = match SparqlResult::parse_reference(&recorded, format) {
        Ok(recorded) => recorded,
        Err(why) => return Standing::Unreadable { why: why.to_string() },
    };
    match (&recorded, answer) {
        (SparqlResult::Table(table), answer) if answer.is_empty() => {
            Standing::Empty { recorded_rows: table.n_rows }
        }
        (SparqlResult::Table(table), Answer::Table(fresh)) => {
            Standing::Changed(change_of(table, &recorded, fresh, answer, rules))
        }
        (SparqlResult::Truth(recorded), Answer::Truth(fresh)) => {
            Standing::Changed(Change::of(format!("{recorded} recorded, {fresh} now")))
        }
        (SparqlResult::Truth(_), _) => {
            Standing::Changed(Change::of("true or false recorded, a table now".into()))
        }
        (SparqlResult::Table(_), _) => {
            Standing::Changed(Change::of("a table recorded, true or false now".into()))
        }
    }
}

/// Whether two results are the same. What the format of the recorded one cannot tell apart is no
/// difference, since CSV has no types, and neither are the labels of blank nodes, which mean nothing outside
/// of a result.
fn is_same(recorded: &str, format: ResultFormat, answer: &Answer, rules: &Rules<'_>) -> bool {
    let is_same =
        |recorded: &str, answer: &Answer, format_now: ResultFormat, format: ResultFormat| {
            let text = answer.write(format_now);
            let fresh = SparqlResult::parse(&text, format_now);
            match (SparqlResult::parse_reference(recorded, format), fresh) {
                (Ok(recorded), Ok(fresh)) => {
                    Prepared::new(&recorded, rules).compare(&fresh) == Comparison::Same
                }
                _ => false,
            }
        };
    if [ResultFormat::Json, format].iter().any(|now| is_same(recorded, answer, *now, format)) {
        return true;
    }
    let Some(answer) = answer.without_blank_labels() else { return false };
    let recorded = Answer::parse(recorded, format).and_then(|answer| answer.without_blank_labels());
    recorded.is_some_and(|recorded| {
        is_same(
            &recorded.write(ResultFormat::Json),
            &answer,
            ResultFormat::Json,
            ResultFormat::Json,
        )
    })
}

impl Change {
    fn of(why: String) -> Change {
        Change { why, ..Change::default() }
    }
}

fn change_of(
    table: &Solutions<'_>,
    recorded: &SparqlResult<'_>,
    fresh: &Table,
    answer: &Answer,
    rules: &Rules<'_>,
) -> Change {
    let text = answer.write(ResultFormat::Json);
    let Ok(actual) = SparqlResult::parse(&text, ResultFormat::Json) else {
        return Change::of("the result cannot be compared".into());
    };
    let mut room = AlignmentRoom { rows: usize::MAX, comparisons: COMPARISONS };
    let prepared = Prepared::new(recorded, rules);
    let (Some(aligned), SparqlResult::Table(actual)) =
        (prepared.align_different(&actual, &mut room), &actual)
    else {
        return Change::of("the result is another".into());
    };
    let required: Vec<(Option<usize>, Option<usize>)> =
        aligned.columns.iter().filter(|pair| pair.0.is_some()).copied().collect();
    let is_missing = |row: &&AlignedRow| row.expected.is_some() && !row.is_same();
    let is_extra = |row: &&AlignedRow| row.actual.is_some() && !row.is_same();
    let missing = aligned.rows.iter().filter(is_missing).filter_map(|row| row.expected);
    let missing =
        missing.take(FEW).map(|row| shown(table, required.iter().map(|pair| pair.0), row));
    let extra = aligned.rows.iter().filter(is_extra).filter_map(|row| row.actual);
    let extra = extra.take(FEW).map(|row| shown(actual, required.iter().map(|pair| pair.1), row));
    let (missing, extra): (Vec<String>, Vec<String>) = (missing.collect(), extra.collect());
    let n_missing = aligned.n_changed + aligned.n_missing;
    let n_extra = aligned.n_changed + aligned.n_extra;
    let why = in_words(&aligned, (n_missing, &missing), (n_extra, &extra), fresh);
    Change { why, n_missing, n_extra, missing, extra }
}

fn in_words(
    aligned: &TableAlignment,
    (n_missing, missing): (usize, &[String]),
    (n_extra, extra): (usize, &[String]),
    fresh: &Table,
) -> String {
    let mut parts = Vec::new();
    for (n, what, shown) in [(n_missing, "missing", missing), (n_extra, "extra", extra)] {
        if n > 0 {
            let more = if n > shown.len() { ", …" } else { "" };
            let shown: Vec<String> = shown.iter().map(|row| format!("`{row}`")).collect();
            parts.push(format!("{} {what} ({}{more})", rows(n), shown.join(", ")));
        }
    }
    match parts.is_empty() {
        false => parts.join(", "),
        true if aligned.order_differs => "the rows are in another order".into(),
        true => format!("{} now, with other columns", rows(fresh.rows().len())),
    }
}

/// Returns a row as text.
fn shown(
    table: &Solutions<'_>,
    columns: impl Iterator<Item = Option<usize>>,
    row: usize,
) -> String {
    let cell = |at: usize| match &table.columns[at][row] {
        Cell::Unbound => "(unbound)",
        Cell::Text(text) | Cell::Typed(_, text) => text,
    };
    let cells: Vec<&str> = columns.flatten().map(cell).collect();
    let flat = cells.join(", ").split_whitespace().collect::<Vec<_>>().join(" ");
    match flat.char_indices().nth(LONGEST_ROW) {
        Some((end, _)) => format!("{}…", &flat[..end]),
        None => flat,
    }
}

pub(crate) fn rows(n: usize) -> String {
    if n == 1 { "1 row".into() } else { format!("{n} rows") }
}
