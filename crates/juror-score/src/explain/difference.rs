//! Describes how a step differs from the expected one.

use hashbrown::HashSet;
use juror_sparql::{
    AlignmentRoom, Cell, Comparison, Prepared, Solutions, SparqlResult, TableAlignment,
};

use crate::compare::{Differing, View};
use crate::output::Output;
use juror_document::shown;

/// The longest piece of an output that is quoted, in characters.
pub(super) const QUOTE: usize = 60;

/// Describes how outputs differ that are compared as texts or as JSON.
pub(super) fn output_difference(expected: &View<'_>, actual: &View<'_>) -> String {
    let (wanted, got) = (expected.text().unwrap_or_default(), actual.text().unwrap_or_default());
    if quote(wanted) != quote(got) {
        return format!("expected {}, got {}", quote(wanted), quote(got));
    }
    // The quotes would look the same, so describe the difference in another way.
    match (expected.json_kind(), actual.json_kind()) {
        (wanted_kind, got_kind) if wanted_kind != got_kind => format!(
            "expected the {wanted_kind} {}, got the {got_kind} {}",
            expected.quoted_json(),
            actual.quoted_json()
        ),
        _ if wanted.split_whitespace().eq(got.split_whitespace()) => {
            "the outputs differ in white space alone".into()
        }
        _ => {
            let at = wanted.chars().zip(got.chars()).take_while(|(a, b)| a == b).count();
            let rest = |text: &str| {
                let start = text.char_indices().nth(at).map_or(text.len(), |(start, _)| start);
                quote(&text[start..])
            };
            let (wanted, got) = (rest(wanted), rest(got));
            format!("from character {} on: expected {wanted}, got {got}", at + 1)
        }
    }
}

impl View<'_> {
    /// Names the JSON type of the output.
    fn json_kind(&self) -> &'static str {
        let other = self.output().and_then(Output::other_json);
        match other.and_then(|json| json.bytes().next()) {
            None => "text",
            Some(b'{') => "object",
            Some(b'[') => "list",
            Some(b't' | b'f') => "truth value",
            Some(_) => "number",
        }
    }

    /// Quotes the output as JSON.
    fn quoted_json(&self) -> String {
        let text = self.text().unwrap_or_default();
        if self.json_kind() == "text" { quote(&format!("\"{text}\"")) } else { quote(text) }
    }
}

/// Describes how results differ that are known to, and how their tables are aligned.
pub(super) fn sparql_difference(
    (reference, prepared): (&SparqlResult<'_>, &Prepared<'_>),
    found: &SparqlResult<'_>,
    room: &mut AlignmentRoom,
) -> (String, Option<TableAlignment>) {
    let table = prepared.align_different(found, room);
    let why = match (reference, found, &table) {
        (SparqlResult::Table(expected), SparqlResult::Table(actual), Some(_))
            if actual.n_rows == 0 =>
        {
            format!("{} expected, none returned", rows(expected.n_rows))
        }
        (SparqlResult::Table(expected), _, Some(table)) => table_difference(expected, table)
            .unwrap_or_else(|| match prepared.compare(found) {
                Comparison::Undecided => "the tables are too contrived to compare".into(),
                _ => "the columns do not belong together".into(),
            }),
        (SparqlResult::Truth(expected), SparqlResult::Truth(actual), _) => {
            format!("expected {expected}, got {actual}")
        }
        (SparqlResult::Truth(_), ..) => "expected true or false, got a table".into(),
        (SparqlResult::Table(_), ..) => "expected a table, got true or false".into(),
    };
    (why, table)
}

/// Describes how two tables differ, if it is by their values or by their order.
fn table_difference(expected: &Solutions<'_>, table: &TableAlignment) -> Option<String> {
    if !table.unpaired.is_empty() {
        let names: Vec<&str> = table.unpaired.iter().map(|at| &*expected.names[*at]).collect();
        return Some(format!("no column holds the values of `{}`", names.join("`, `")));
    }
    let (n_missing, n_extra) = (table.n_changed + table.n_missing, table.n_changed + table.n_extra);
    if n_missing == 0 && n_extra == 0 {
        return table.order_differs.then(|| "the rows are in another order".into());
    }
    let mut parts = Vec::new();
    if let Some(first) = table.first_missing {
        let required = table.columns.iter().filter(|pair| pair.1.is_some());
        let columns = required.filter_map(|pair| pair.0);
        let cells = columns.map(|at| text_of(&expected.columns[at][first]));
        let cells = cells.collect::<Vec<_>>().join(", ");
        parts.push(format!("{} missing ({})", rows(n_missing), quote(&cells)));
    }
    if n_extra > 0 {
        parts.push(format!("{} extra", rows(n_extra)));
    }
    Some(parts.join(", "))
}

fn text_of<'c>(cell: &'c Cell<'_>) -> &'c str {
    match cell {
        Cell::Unbound => "(unbound)",
        Cell::Text(text) | Cell::Typed(_, text) => text,
    }
}

fn rows(n: usize) -> String {
    if n == 1 { "1 row".into() } else { format!("{n} rows") }
}

pub(super) fn retrieval_difference(expected: &View<'_>, actual: &View<'_>) -> String {
    let relevant = match expected.documents() {
        Ok(relevant) => relevant,
        Err(why) => return why.describe("the reference output", expected.limits()),
    };
    let retrieved = match actual.documents() {
        Ok(retrieved) => retrieved,
        Err(why) => return why.describe("the output", actual.limits()),
    };
    let found: HashSet<_> = retrieved.iter().filter_map(|document| document.id.as_ref()).collect();
    let missing: Vec<String> = relevant
        .iter()
        .filter_map(|document| document.id.as_ref())
        .filter(|id| !found.contains(id))
        .map(ToString::to_string)
        .collect();
    if missing.is_empty() {
        return "the relevant ids are not among the first k".into();
    }
    let ids = missing.join(", ");
    format!("{} of {} ids not retrieved: {}", missing.len(), relevant.len(), quote(&ids))
}

/// Returns those of the named arguments that are written differently.
pub(super) fn named_differing(
    expected: &View<'_>,
    actual: &View<'_>,
    names: &[&str],
) -> Vec<Differing> {
    let arg = |view: &View<'_>, name: &str| view.arg(name).map(|value| shown(value.get()));
    let of_both = |name: &&str| ((*name).to_owned(), arg(expected, name), arg(actual, name));
    names.iter().map(of_both).filter(|(_, wanted, got)| wanted != got).collect()
}

/// Describes how arguments differ.
pub(super) fn argument_difference(differing: &[Differing]) -> String {
    let shown =
        |json: &Option<String>| json.as_ref().map_or_else(|| "nothing".into(), |json| quote(json));
    let parts = differing.iter().map(|(name, wanted, got)| {
        format!("{name}: expected {}, got {}", shown(wanted), shown(got))
    });
    let text = parts.collect::<Vec<_>>().join("; ");
    if text.is_empty() { "the arguments differ".into() } else { text }
}

/// Quotes a text on one line, cut if it is too long.
pub(super) fn quote(text: &str) -> String {
    // A character has at most four bytes, so no more of a long text needs to be visited.
    let mut flat = String::new();
    for word in text.split_whitespace() {
        if flat.len() > 4 * QUOTE {
            break;
        }
        if !flat.is_empty() {
            flat.push(' ');
        }
        flat.push_str(&word[..word.floor_char_boundary(8 * QUOTE)]);
    }
    match flat.char_indices().nth(QUOTE) {
        Some((end, _)) => format!("`{}…`", &flat[..end]),
        None => format!("`{flat}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quote_is_short_and_on_one_line() {
        assert_eq!(quote(&"é".repeat(9 * QUOTE)), format!("`{}…`", "é".repeat(QUOTE)));
        assert_eq!(quote(&format!("{} a", "é".repeat(QUOTE))), format!("`{}…`", "é".repeat(QUOTE)));
        assert_eq!(quote(" a \n b "), "`a b`");
    }
}
