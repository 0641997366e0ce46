//! Describes for people how an actual table differs from the expected one.

use std::borrow::Cow;

use hashbrown::HashMap;

use crate::column::ReferenceColumn;
use crate::rules::Rules;
use crate::{Cell, Solutions};

/// If more cells would have to be looked up, columns are paired by name only.
const MOST_LOOKUPS: usize = 10_000_000;

/// The differences between two tables under the likeliest pairing of columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Difference {
    /// Required columns whose values are in no actual column.
    pub unpaired: Vec<String>,
    /// The number of expected rows that the actual table lacks.
    pub n_missing: usize,
    /// The number of actual rows that are not expected.
    pub n_extra: usize,
    /// The cells of the first missing row.
    pub first_missing: Option<String>,
    /// Whether only the order of rows differs.
    pub order_differs: bool,
}

impl Difference {
    /// Compares tables that do not agree.
    pub fn between(
        reference: &Solutions<'_>,
        actual: &Solutions<'_>,
        rules: &Rules<'_>,
    ) -> Difference {
        let required: Vec<Cow<str>> = match &rules.required_columns {
            Some(names) => names.clone(),
            None => reference.names.clone(),
        };
        let mut difference = Difference::default();
        let n_lookups = required.len().saturating_mul(actual.columns.len() * actual.n_rows);
        let by_name = n_lookups > MOST_LOOKUPS;
        let mut pairs = Vec::new();
        let mut used = Vec::new();
        for name in &required {
            let Some(at) = reference.names.iter().position(|known| known == name) else { continue };
            let column = ReferenceColumn::new(&reference.columns[at]);
            match likeliest(&column, name, actual, |at| {
                !used.contains(&at) && (!by_name || actual.names[at] == *name)
            }) {
                Some((partner, values)) => {
                    used.push(partner);
                    pairs.push((at, column, values));
                }
                None => difference.unpaired.push(name.to_string()),
            }
        }
        if difference.unpaired.is_empty() {
            difference.count_rows(reference, &pairs, rules);
        }
        difference
    }

    fn count_rows(
        &mut self,
        reference: &Solutions<'_>,
        pairs: &[(usize, ReferenceColumn<'_>, Vec<Option<u32>>)],
        rules: &Rules<'_>,
    ) {
        let n_actual = pairs.first().map_or(0, |(_, _, values)| values.len());
        let expected_row = |row: usize| -> Vec<Option<u32>> {
            pairs.iter().map(|(_, column, _)| Some(column.values[row])).collect()
        };
        let actual_row = |row: usize| -> Vec<Option<u32>> {
            pairs.iter().map(|(_, _, values)| values[row]).collect()
        };
        let by_set = rules.ignore_duplicates && !rules.ordered;
        let mut left: HashMap<Vec<Option<u32>>, (usize, usize)> = HashMap::new();
        for row in 0..reference.n_rows {
            let entry = left.entry(expected_row(row)).or_insert((0, row));
            entry.0 = if by_set { 1 } else { entry.0 + 1 };
        }
        let mut seen = hashbrown::HashSet::new();
        for row in (0..n_actual).map(actual_row) {
            if by_set && !seen.insert(row.clone()) {
                continue;
            }
            match left.get_mut(&row) {
                Some((count, _)) if *count > 0 => *count -= 1,
                _ => self.n_extra += 1,
            }
        }
        let missing = left.values().filter(|(count, _)| *count > 0);
        self.n_missing = missing.clone().map(|(count, _)| count).sum();
        self.first_missing = missing.map(|(_, row)| *row).min().map(|row| {
            let cells = pairs.iter().map(|(at, _, _)| text_of(&reference.columns[*at][row]));
            cells.collect::<Vec<_>>().join(", ")
        });
        self.order_differs = self.n_missing == 0 && self.n_extra == 0 && rules.ordered;
    }
}

/// Finds the actual column that shares the most values with a reference column, preferring one of
/// the same name, and translates its cells into ids of the reference column.
fn likeliest(
    column: &ReferenceColumn<'_>,
    name: &str,
    actual: &Solutions<'_>,
    is_free: impl Fn(usize) -> bool,
) -> Option<(usize, Vec<Option<u32>>)> {
    let mut best: Option<(usize, usize, Vec<Option<u32>>)> = None;
    for (at, cells) in actual.columns.iter().enumerate().filter(|(at, _)| is_free(*at)) {
        let values: Vec<Option<u32>> = cells.iter().map(|cell| column.find(cell)).collect();
        let n_shared = values.iter().flatten().count();
        let weight = 2 * n_shared + usize::from(actual.names[at] == name);
        if n_shared > 0 && best.as_ref().is_none_or(|(known, _, _)| weight > *known) {
            best = Some((weight, at, values));
        }
    }
    best.map(|(_, at, values)| (at, values))
}

fn text_of<'c>(cell: &'c Cell<'_>) -> &'c str {
    match cell {
        Cell::Unbound => "(unbound)",
        Cell::Text(text) | Cell::Typed(_, text) => text,
    }
}
