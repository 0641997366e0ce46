//! Writes a fresh result in the style of the recorded one: rows that are still there keep their text and
//! their place, so that a diff shows what has changed and nothing else.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use hashbrown::HashMap;
use juror_graph::{Answer, Table, Term};
use juror_json::Object;
use juror_sparql::ResultFormat;
use serde::Deserialize;
use serde_json::value::RawValue;

/// Returns the text of an answer, like the recorded text if there is one.
pub(crate) fn fresh_text(
    recorded: Option<&str>,
    answer: &Answer,
    format: ResultFormat,
    ordered: bool,
    lines: bool,
) -> String {
    match (format, recorded) {
        (ResultFormat::Json, Some(recorded)) => {
            like(recorded, answer, ordered).unwrap_or_else(|| new_json(answer, lines))
        }
        (ResultFormat::Json, None) => new_json(answer, lines),
        (ResultFormat::Csv | ResultFormat::Tsv, Some(recorded)) => {
            by_lines(recorded, &answer.write(format), ordered)
        }
        _ => answer.write(format).trim_end().to_owned(),
    }
}

/// How objects of JSON are laid out: what stands after the bracket, around colons and commas, and before the
/// end.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ObjectStyle {
    open: String,
    colon: String,
    comma: String,
    close: String,
}

impl ObjectStyle {
    /// `{"a": 1, "b": 2}`
    fn spaced() -> ObjectStyle {
        let text = |text: &str| text.to_owned();
        ObjectStyle { open: text(""), colon: text(": "), comma: text(", "), close: text("") }
    }

    /// Takes the style from an object that has entries.
    fn of(object: &str) -> Option<ObjectStyle> {
        let fields: Object<'_> = serde_json::from_str(object).ok()?;
        let at = |part: &RawValue| part.get().as_ptr() as usize - object.as_ptr() as usize;
        let end = |part: &RawValue| at(part) + part.get().len();
        let entries: Vec<_> = fields.iter_raw().collect();
        let ((first_key, first_value), (_, last_value)) = (entries.first()?, entries.last()?);
        let colon = &object[end(first_key)..at(first_value)];
        let between = entries.get(1).map(|(key, _)| &object[end(first_value)..at(key)]);
        let usual = if colon.ends_with(' ') { ", " } else { "," };
        Some(ObjectStyle {
            open: object[1..at(first_key)].to_owned(),
            colon: colon.to_owned(),
            comma: between.unwrap_or(usual).to_owned(),
            close: object[end(last_value)..object.len() - 1].to_owned(),
        })
    }

    fn write<'e>(&self, entries: impl Iterator<Item = (&'e str, String)>) -> String {
        let entries = entries.map(|(key, value)| format!("{}{}{value}", quoted(key), self.colon));
        let entries: Vec<String> = entries.collect();
        format!("{{{}{}{}}}", self.open, entries.join(&self.comma), self.close)
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The styles of rows and of their cells.
struct RowStyle {
    row: ObjectStyle,
    cell: ObjectStyle,
}

impl RowStyle {
    fn of(row: &str) -> Option<RowStyle> {
        let fields: Object<'_> = serde_json::from_str(row).ok()?;
        let (_, first) = fields.iter_raw().next()?;
        Some(RowStyle { row: ObjectStyle::of(row)?, cell: ObjectStyle::of(first.get())? })
    }

    fn write(&self, columns: &[&str], row: &[Option<Term>]) -> String {
        let cells = columns.iter().zip(row);
        let cells = cells.filter_map(|(name, cell)| {
            let cell = cell_of(cell.as_ref()?);
            let entries = cell.iter().map(|(key, value)| (*key, quoted(value)));
            Some((*name, self.cell.write(entries)))
        });
        self.row.write(cells)
    }
}

/// The entries of a cell in JSON.
fn cell_of(term: &Term) -> Vec<(&'static str, &str)> {
    match term {
        Term::NamedNode(node) => vec![("type", "uri"), ("value", node.as_str())],
        Term::BlankNode(node) => vec![("type", "bnode"), ("value", node.as_str())],
        Term::Literal(literal) => {
            let mut entries = vec![("type", "literal"), ("value", literal.value())];
            match literal.language() {
                Some(tag) => entries.push(("xml:lang", tag)),
                None if literal.datatype().as_str() != STRING => {
                    entries.push(("datatype", literal.datatype().as_str()));
                }
                None => {}
            }
            entries
        }
    }
}

const STRING: &str = "http://www.w3.org/2001/XMLSchema#string";

/// A row for comparison: what each column holds.
type RowKey = BTreeMap<String, [String; 4]>;

#[derive(Deserialize)]
struct WrittenCell {
    r#type: String,
    value: String,
    #[serde(default, rename = "xml:lang")]
    tag: String,
    #[serde(default)]
    datatype: String,
}

fn key_of_written(row: &str) -> Option<RowKey> {
    let cells: BTreeMap<String, WrittenCell> = serde_json::from_str(row).ok()?;
    let cell = |(name, cell): (String, WrittenCell)| {
        let kind = cell.r#type.replace("typed-", "");
        let datatype = if cell.datatype == STRING { String::new() } else { cell.datatype };
        (name, [kind, cell.value, cell.tag.to_ascii_lowercase(), datatype])
    };
    Some(cells.into_iter().map(cell).collect())
}

fn key_of_row(columns: &[&str], row: &[Option<Term>]) -> RowKey {
    let cells = columns.iter().zip(row).filter_map(|(name, cell)| Some((name, cell.as_ref()?)));
    let cell = |(name, cell): (&&str, &Term)| {
        let entries = cell_of(cell);
        let get =
            |key: &str| entries.iter().find(|(known, _)| *known == key).map_or("", |own| own.1);
        let tag = get("xml:lang").to_ascii_lowercase();
        let parts = [get("type").into(), get("value").into(), tag, get("datatype").into()];
        ((*name).to_owned(), parts)
    };
    cells.map(cell).collect()
}

#[derive(Deserialize)]
struct WrittenResult<'r> {
    #[serde(borrow)]
    head: Option<WrittenHead<'r>>,
    #[serde(borrow)]
    results: Option<WrittenRows<'r>>,
    #[serde(borrow)]
    boolean: Option<&'r RawValue>,
}

#[derive(Deserialize)]
struct WrittenHead<'r> {
    #[serde(borrow, default)]
    vars: Vec<std::borrow::Cow<'r, str>>,
}

#[derive(Deserialize)]
struct WrittenRows<'r> {
    #[serde(borrow)]
    bindings: &'r RawValue,
}

/// Writes an answer like a recorded result; `None` if that is not possible.
fn like(recorded: &str, answer: &Answer, ordered: bool) -> Option<String> {
    let written: WrittenResult<'_> = serde_json::from_str(recorded).ok()?;
    let start_of = |part: &str| part.as_ptr() as usize - recorded.as_ptr() as usize;
    let with = |old: &RawValue, new: &str| {
        let start = start_of(old.get());
        let end = start + old.get().len();
        format!("{}{new}{}", &recorded[..start], &recorded[end..])
    };
    let table = match answer {
        Answer::Truth(truth) => return Some(with(written.boolean?, &truth.to_string())),
        Answer::Table(table) => table,
    };
    let columns: Vec<&str> = table.columns().collect();
    if written.head?.vars != columns {
        return None;
    }
    let list = written.results?.bindings;
    let rows: Vec<&RawValue> = serde_json::from_str(list.get()).ok()?;
    Some(with(list, &rows_like(list.get(), &rows, table, ordered)?))
}

/// Writes the list of rows like a recorded one.
fn rows_like(written: &str, rows: &[&RawValue], table: &Table, ordered: bool) -> Option<String> {
    let columns: Vec<&str> = table.columns().collect();
    let (first, last) = (rows.first()?.get(), rows.last()?.get());
    let start = |part: &str| part.as_ptr() as usize - written.as_ptr() as usize;
    let (open, close) =
        (&written[1..start(first)], &written[start(last) + last.len()..written.len() - 1]);
    let comma = match rows.get(1) {
        Some(second) => written[start(first) + first.len()..start(second.get())].to_owned(),
        None if open.contains('\n') => format!(",{open}"),
        None => ", ".to_owned(),
    };
    let style = rows.iter().find_map(|row| RowStyle::of(row.get()))?;
    // The recorded rows that are still there, by what they hold.
    let mut known: HashMap<RowKey, Vec<usize>> = HashMap::new();
    for (at, row) in rows.iter().enumerate().rev() {
        known.entry(key_of_written(row.get())?).or_default().push(at);
    }
    let mut kept: Vec<(Option<usize>, String)> = Vec::new();
    for row in table.rows() {
        let at = known.get_mut(&key_of_row(&columns, row)).and_then(Vec::pop);
        let text = at.map_or_else(|| style.write(&columns, row), |at| rows[at].get().to_owned());
        kept.push((at, text));
    }
    if !ordered {
        // New rows come last, in the order of the answer.
        kept.sort_by_key(|(at, _)| at.unwrap_or(usize::MAX));
    }
    let kept: Vec<String> = kept.into_iter().map(|(_, text)| text).collect();
    Some(if kept.is_empty() {
        "[]".into()
    } else {
        format!("[{open}{}{close}]", kept.join(&comma))
    })
}

/// Writes an answer in JSON, a row on a line or all on one.
fn new_json(answer: &Answer, lines: bool) -> String {
    let table = match answer {
        Answer::Truth(truth) => return format!("{{\"head\": {{}}, \"boolean\": {truth}}}"),
        Answer::Table(table) => table,
    };
    let columns: Vec<&str> = table.columns().collect();
    let style = RowStyle { row: ObjectStyle::spaced(), cell: ObjectStyle::spaced() };
    let names: Vec<String> = columns.iter().map(|name| quoted(name)).collect();
    let (after_head, before_row, between) =
        if lines { (",\n ", "\n  ", ",\n  ") } else { (", ", "", ", ") };
    let mut text = format!("{{\"head\": {{\"vars\": [{}]}}{after_head}", names.join(", "));
    let rows: Vec<String> = table.rows().iter().map(|row| style.write(&columns, row)).collect();
    let before_row = if rows.is_empty() { "" } else { before_row };
    // A string takes all that is written.
    let _ = write!(text, "\"results\": {{\"bindings\": [{before_row}{}]}}}}", rows.join(between));
    text
}

/// Puts the lines of CSV or TSV in the order of the recorded ones, as far as they are still there.
fn by_lines(recorded: &str, fresh: &str, ordered: bool) -> String {
    let fresh = fresh.trim_end_matches('\n');
    let (mut old, mut new) = (recorded.lines(), fresh.lines());
    let same_head = old.next() == new.next();
    // A line in quotes may be a part of a row.
    let is_plain = !fresh.contains('"') && !recorded.contains('"');
    let end = if recorded.ends_with('\n') { "\n" } else { "" };
    if ordered || !same_head || !is_plain {
        return format!("{fresh}{end}");
    }
    let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
    old.enumerate().for_each(|(at, line)| places.entry(line).or_default().insert(0, at));
    let mut lines: Vec<(usize, &str)> = new
        .map(|line| (places.get_mut(line).and_then(Vec::pop).unwrap_or(usize::MAX), line))
        .collect();
    lines.sort_by_key(|(at, _)| *at);
    let head = fresh.lines().next().unwrap_or_default();
    let lines: Vec<&str> =
        std::iter::once(head).chain(lines.into_iter().map(|own| own.1)).collect();
    format!("{}{end}", lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(tsv: &str) -> Answer {
        Answer::parse(tsv, ResultFormat::Tsv).expect("TSV")
    }

    #[test]
    fn rows_that_are_still_there_keep_their_text_and_place() {
        let recorded = "{\"head\": {\"vars\": [\"a\", \"b\"]},\n \"results\": {\"bindings\": [\n   {\"a\": {\"type\": \"uri\", \"value\": \"x:1\"},\n    \"b\": {\"value\": \"one\", \"type\": \"literal\"}},\n   {\"a\": {\"type\": \"uri\", \"value\": \"x:2\"},\n    \"b\": {\"type\": \"literal\", \"value\": \"two\"}}]}}";
        let now = answer("?a\t?b\n<x:3>\t\"three\"\n<x:1>\t\"one\"\n");
        let text = fresh_text(Some(recorded), &now, ResultFormat::Json, false, true);
        let wanted = "{\"head\": {\"vars\": [\"a\", \"b\"]},\n \"results\": {\"bindings\": [\n   {\"a\": {\"type\": \"uri\", \"value\": \"x:1\"},\n    \"b\": {\"value\": \"one\", \"type\": \"literal\"}},\n   {\"a\": {\"type\": \"uri\", \"value\": \"x:3\"},\n    \"b\": {\"type\": \"literal\", \"value\": \"three\"}}]}}";
        assert_eq!(text, wanted);
        let ordered = fresh_text(Some(recorded), &now, ResultFormat::Json, true, true);
        assert!(ordered.find("x:3") < ordered.find("x:1"), "{ordered}");
        let none = fresh_text(Some(recorded), &answer("?a\t?b\n"), ResultFormat::Json, false, true);
        assert!(none.ends_with("\"results\": {\"bindings\": []}}"), "{none}");
    }

    #[test]
    fn an_indented_result_stays_indented() {
        let now = answer("?a\n\"x\"@de\n5\n");
        let recorded = "{\n  \"head\": {\n    \"vars\": [\"a\"]\n  },\n  \"results\": {\n    \"bindings\": [\n      {\n        \"a\": {\n          \"type\": \"literal\",\n          \"value\": \"y\"\n        }\n      }\n    ]\n  }\n}";
        let text = fresh_text(Some(recorded), &now, ResultFormat::Json, false, true);
        let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(value["results"]["bindings"][0]["a"]["xml:lang"], "de");
        assert_eq!(
            text.lines().filter(|line| *line == "      {" || *line == "      },").count(),
            3,
            "{text}"
        );
    }

    #[test]
    fn without_a_recorded_result_there_is_a_row_on_a_line_or_one_line() {
        let now = answer("?a\n<x:1>\n<x:2>\n");
        let lines = fresh_text(None, &now, ResultFormat::Json, false, true);
        assert_eq!(lines.lines().count(), 4, "{lines}");
        let line = fresh_text(None, &now, ResultFormat::Json, false, false);
        let parsed = |text: &str| serde_json::from_str::<serde_json::Value>(text).expect("JSON");
        assert_eq!((line.lines().count(), parsed(&line)), (1, parsed(&lines)));
        let truth = fresh_text(None, &Answer::Truth(true), ResultFormat::Json, false, true);
        assert_eq!(truth, "{\"head\": {}, \"boolean\": true}");
        let other = fresh_text(
            Some("{\"head\":{},\"boolean\":false}"),
            &Answer::Truth(true),
            ResultFormat::Json,
            false,
            true,
        );
        assert_eq!(other, "{\"head\":{},\"boolean\":true}");
    }

    #[test]
    fn lines_of_csv_keep_their_order() {
        let now = answer("?a\n\"3\"\n\"2\"\n\"1\"\n");
        assert_eq!(
            fresh_text(Some("a\n1\n0\n2\n"), &now, ResultFormat::Csv, false, true),
            "a\n1\n2\n3\n"
        );
        assert_eq!(fresh_text(Some("a\n1\n2"), &now, ResultFormat::Csv, true, true), "a\n3\n2\n1");
    }
}
