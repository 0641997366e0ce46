//! Outputs of steps as they are shown: as the scorer reads them, and no longer than is useful.

use std::collections::BTreeSet;

use juror_sparql::{AlignmentRoom, Cell, Solutions, SparqlResult};
use serde::Serialize;

use crate::alignment::ArgumentDifference;
use crate::compare::{Document, View};
use crate::kind_names::StepKind;
use crate::profile::Profile;
use crate::question::ExpectedStep;
use crate::trajectory::Step;

/// How much is shown of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShownLimits {
    /// The first rows of a table, and the rows that an alignment names.
    pub rows: usize,
    /// The documents of a list.
    pub documents: usize,
    /// The characters of a text, such as that of a document.
    pub characters: usize,
    /// The characters of a cell.
    pub cell_characters: usize,
}

impl ShownLimits {
    /// What a page can show without becoming slow.
    pub const DEFAULT: ShownLimits =
        ShownLimits { rows: 100, documents: 100, characters: 10_000, cell_characters: 500 };

    /// Returns the room for aligning the tables of an answer.
    pub(crate) fn room(&self) -> AlignmentRoom {
        AlignmentRoom { rows: self.rows, comparisons: 1 << 21 }
    }

    /// Shortens the values of arguments.
    pub(crate) fn shorten_args(&self, args: Vec<ArgumentDifference>) -> Vec<ArgumentDifference> {
        let short = |json: Option<String>| json.map(|json| shortened(&json, self.characters));
        args.into_iter().map(|(name, wanted, got)| (name, short(wanted), short(got))).collect()
    }
}

impl Default for ShownLimits {
    fn default() -> ShownLimits {
        ShownLimits::DEFAULT
    }
}

/// What a step returned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum ShownOutput {
    /// A text, or JSON that is nothing else.
    Text {
        /// Its beginning.
        text: String,
        /// The number of characters that were left out.
        more: usize,
    },
    /// The result of a SELECT query.
    Table {
        /// The names of the columns.
        columns: Vec<String>,
        /// The rows that are shown, in order; `None` is an unbound cell.
        rows: Vec<Vec<Option<String>>>,
        /// The number of rows of the whole table.
        n_rows: usize,
    },
    /// Retrieved documents.
    Documents {
        /// The first of them.
        documents: Vec<ShownDocument>,
        /// The number of all.
        n: usize,
    },
}

/// A retrieved document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ShownDocument {
    /// Its id; empty if it has none.
    pub id: String,
    /// The beginning of its text.
    pub text: Option<String>,
}

/// The rows of a table that are shown: the first ones, and some others.
#[derive(Clone, Debug, Default)]
pub(crate) struct ShownRows {
    n_first: usize,
    /// The positions of the others, sorted.
    others: Vec<usize>,
}

impl ShownRows {
    pub(crate) fn new(named: BTreeSet<usize>, limits: &ShownLimits) -> ShownRows {
        let others = named.into_iter().filter(|row| *row >= limits.rows).collect();
        ShownRows { n_first: limits.rows, others }
    }

    /// Returns the position of a row among those that are shown.
    pub(crate) fn position_of(&self, row: usize) -> Option<usize> {
        if row < self.n_first {
            return Some(row);
        }
        Some(self.n_first + self.others.binary_search(&row).ok()?)
    }

    /// Returns the positions in a table of so many rows.
    fn positions(&self, n_rows: usize) -> impl Iterator<Item = usize> + Clone {
        let others = self.others.iter().copied().filter(move |row| *row < n_rows);
        (0..self.n_first.min(n_rows)).chain(others)
    }
}

impl ShownOutput {
    /// Shows the output of an expected step, if it has one.
    pub fn of_expected(
        step: &ExpectedStep<'_>,
        profile: &Profile,
        limits: &ShownLimits,
    ) -> Option<ShownOutput> {
        let rows = ShownRows::new(BTreeSet::new(), limits);
        ShownOutput::of_view(&View::of_expected(step).under(profile), limits, &rows)
    }

    /// Shows what an actual step returned, if it did.
    pub fn of_actual(
        step: &Step<'_>,
        profile: &Profile,
        limits: &ShownLimits,
    ) -> Option<ShownOutput> {
        let rows = ShownRows::new(BTreeSet::new(), limits);
        ShownOutput::of_view(&View::of_actual(step).under(profile), limits, &rows)
    }

    /// Shows the output of a step as it was compared.
    pub(crate) fn of_view(
        view: &View<'_>,
        limits: &ShownLimits,
        rows: &ShownRows,
    ) -> Option<ShownOutput> {
        match view.shown_result() {
            Some(SparqlResult::Table(table)) => return Some(shown_table(table, limits, rows)),
            Some(SparqlResult::Truth(truth)) => {
                return Some(ShownOutput::Text { text: truth.to_string(), more: 0 });
            }
            None => {}
        }
        if view.name == StepKind::Retrieval.name()
            && let Ok(documents) = view.documents()
        {
            return Some(shown_documents(documents, limits));
        }
        let text = view.text()?;
        let shown = beginning(text, limits.characters);
        let more = text[shown.len()..].chars().count();
        Some(ShownOutput::Text { text: shown.to_owned(), more })
    }
}

fn shown_table(table: &Solutions<'_>, limits: &ShownLimits, rows: &ShownRows) -> ShownOutput {
    let cell = |cell: &Cell<'_>| match cell {
        Cell::Unbound => None,
        Cell::Text(text) | Cell::Typed(_, text) => Some(shortened(text, limits.cell_characters)),
    };
    let row = |at: usize| table.columns.iter().map(|column| cell(&column[at])).collect();
    ShownOutput::Table {
        columns: table.names.iter().map(|name| shortened(name, limits.cell_characters)).collect(),
        rows: rows.positions(table.n_rows).map(row).collect(),
        n_rows: table.n_rows,
    }
}

fn shown_documents(documents: &[Document<'_>], limits: &ShownLimits) -> ShownOutput {
    let id = |document: &Document<'_>| {
        document.id.as_ref().map(|id| shortened(&id.to_string(), limits.cell_characters))
    };
    let text = |text: &str| shortened(text, limits.characters);
    let shown = documents.iter().take(limits.documents).map(|document| ShownDocument {
        id: id(document).unwrap_or_default(),
        text: document.text.as_deref().map(text),
    });
    ShownOutput::Documents { documents: shown.collect(), n: documents.len() }
}

/// Returns a text with an ellipsis after so many characters, if it is longer.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    let shown = beginning(text, most);
    if shown.len() == text.len() { shown.to_owned() } else { format!("{shown}…") }
}

fn beginning(text: &str, most: usize) -> &str {
    let end = text.char_indices().nth(most).map_or(text.len(), |(end, _)| end);
    &text[..end]
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::StepBuilder;

    const SHORT: ShownLimits =
        ShownLimits { rows: 1, documents: 1, characters: 3, cell_characters: 2 };

    fn shown(step: &StepBuilder) -> Value {
        let trajectory = crate::TrajectoryBuilder::new().step(step.clone());
        let trajectory = trajectory.build();
        let step = &trajectory.steps.as_ref().expect("steps")[0];
        let output = ShownOutput::of_actual(step, &Profile::V6, &SHORT);
        serde_json::to_value(output).expect("JSON")
    }

    #[test]
    fn outputs_are_shown_as_they_are_read() {
        let step = |name: &str, output: &str| StepBuilder::new(name).output(output);
        let truth = r#"{"head": {}, "boolean": true}"#;
        let documents = r#"[{"id": 7, "text": "word"}, {"id": "b"}]"#;
        for (step, expected) in [
            (
                step("any", "a,b\nlong,\n1,2\n").media_type("text/csv"),
                json!({"columns": ["a", "b"], "rows": [["lo…", null]], "n_rows": 2}),
            ),
            (step("sparql_query", truth), json!({"text": "true", "more": 0})),
            (
                step("retrieval", documents),
                json!({"documents": [{"id": "7", "text": "wor…"}], "n": 2}),
            ),
            (step("any", documents), json!({"text": "[{\"", "more": 37})),
            (step("sparql_query", "éèêë"), json!({"text": "éèê", "more": 1})),
            (StepBuilder::new("any"), Value::Null),
        ] {
            assert_eq!(shown(&step), expected, "{step:?}");
        }
    }

    #[test]
    fn an_unbound_cell_is_not_an_empty_text() {
        let output = r#"{"head": {"vars": ["a", "b"]}, "results": {"bindings": [
            {"a": {"type": "literal", "value": ""}}]}}"#;
        let table = shown(&StepBuilder::new("sparql_query").output(output));
        assert_eq!(table["rows"], json!([["", null]]));
    }

    #[test]
    fn named_rows_are_shown_after_the_first() {
        let rows = ShownRows::new([1, 5, 3, 9].into(), &ShownLimits { rows: 2, ..SHORT });
        assert_eq!(rows.positions(9).collect::<Vec<_>>(), [0, 1, 3, 5]);
        let positions = [0, 1, 2, 3, 5].map(|row| rows.position_of(row));
        assert_eq!(positions, [Some(0), Some(1), None, Some(2), Some(3)]);
    }
}
