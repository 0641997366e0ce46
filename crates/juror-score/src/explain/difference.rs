//! Describes how a step differs from the expected one.

use hashbrown::HashSet;
use juror_sparql::{Comparison, Difference, Prepared, SparqlResult};

use crate::compare::{Differing, DocumentId, View};
use crate::exact::shown;
use crate::output::Output;
use crate::question::ExpectedStep;

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

pub(super) fn sparql_difference(
    reference: &SparqlResult<'_>,
    found: &SparqlResult<'_>,
    step: &ExpectedStep<'_>,
) -> String {
    let (expected, actual) = match (reference, found) {
        (SparqlResult::Table(expected), SparqlResult::Table(actual)) => (expected, actual),
        (SparqlResult::Truth(expected), SparqlResult::Truth(actual)) => {
            return format!("expected {expected}, got {actual}");
        }
        (SparqlResult::Truth(_), _) => return "expected true or false, got a table".into(),
        (_, SparqlResult::Truth(_)) => return "expected a table, got true or false".into(),
    };
    if actual.n_rows == 0 {
        return format!("{} expected, none returned", rows(expected.n_rows));
    }
    let difference = Difference::between(expected, actual, &step.rules);
    if !difference.unpaired.is_empty() {
        return format!("no column holds the values of `{}`", difference.unpaired.join("`, `"));
    }
    if difference.order_differs {
        return "the rows are in another order".into();
    }
    let mut parts = Vec::new();
    if difference.n_missing > 0 {
        let first = difference.first_missing.as_deref().unwrap_or_default();
        parts.push(format!("{} missing ({})", rows(difference.n_missing), quote(first)));
    }
    if difference.n_extra > 0 {
        parts.push(format!("{} extra", rows(difference.n_extra)));
    }
    if parts.is_empty() {
        return match Prepared::new(reference, &step.rules).compare(found) {
            Comparison::Undecided => "the tables are too contrived to compare".into(),
            _ => "the columns do not belong together".into(),
        };
    }
    parts.join(", ")
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
        .map(|id| match id {
            DocumentId::Text(text) => text.to_string(),
            DocumentId::Number(number) => number.to_string(),
            DocumentId::Other(json) => json.clone(),
        })
        .collect();
    if missing.is_empty() {
        return "the relevant ids are not among the first k".into();
    }
    let ids = missing.join(", ");
    format!("{} of {} ids not retrieved: {}", missing.len(), relevant.len(), quote(&ids))
}

/// Describes how the named arguments differ.
pub(super) fn named_difference(expected: &View<'_>, actual: &View<'_>, names: &[&str]) -> String {
    let arg = |view: &View<'_>, name: &str| view.arg(name).map(|value| shown(value.get()));
    let of_both = |name: &&str| ((*name).to_owned(), arg(expected, name), arg(actual, name));
    let differing = names.iter().map(of_both).filter(|(_, wanted, got)| wanted != got);
    argument_difference(differing)
}

pub(super) fn argument_difference(differing: impl IntoIterator<Item = Differing>) -> String {
    let shown = |json: Option<String>| json.map_or("nothing".into(), |json| quote(&json));
    let parts = differing.into_iter().map(|(name, wanted, got)| {
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
