//! Data sets kept as tables: a header, and a row for each conversation.

use serde_json::{Map, Value};

/// Columns by which such a table is recognized.
const COLUMNS: [&str; 4] = ["user_input", "actual_output", "actualOutput", "tools_called"];

/// Whether a text is a table of a known data set.
pub(crate) fn is_known(text: &str) -> bool {
    let header = text.trim_start_matches('\u{feff}').lines().next().unwrap_or_default();
    header.split(',').any(|column| COLUMNS.contains(&column.trim().trim_matches('"')))
}

/// Returns the rows as objects. Empty cells are left out; a row that is broken is left out.
pub(crate) fn rows(text: &str) -> Vec<Value> {
    let text = text.trim_start_matches('\u{feff}');
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(text.as_bytes());
    let Ok(header) = reader.headers().cloned() else { return Vec::new() };
    let row = |record: csv::StringRecord| {
        let cells = header.iter().zip(record.iter()).filter(|(_, cell)| !cell.is_empty());
        Value::Object(
            cells
                .map(|(key, cell)| (key.to_owned(), Value::String(cell.to_owned())))
                .collect::<Map<_, _>>(),
        )
    };
    reader.records().flatten().map(row).collect()
}
