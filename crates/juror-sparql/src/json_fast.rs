//! A fast parser for SPARQL results in JSON as servers write them.
//!
//! Steps store their outputs as JSON inside a JSON string, with quotes written `\"` and line breaks
//! `\n`. This parser reads such a string without unescaping it first ([`Escaped`]). Programs that
//! call Juror pass results unescaped ([`Plain`]). Cells without escapes of their own borrow from the
//! text.
//!
//! The parser supports the structure that servers produce and returns `None` for anything else; the
//! caller then uses `json.rs`. The invariant: whenever this parser returns a result, `json.rs` would
//! return the same.
//!
//! # The row reader
//!
//! Most time goes into rows, and most rows differ from an earlier one only in the values of their
//! cells: names, types, datatypes, punctuation and whitespace are the same bytes. So the first row
//! is parsed properly, and the text *around* its values is kept as the row's shape. A later row
//! whose text consists of the same pieces with other strings in between is then recognised by
//! comparing bytes, without looking at a single key.
//!
//! This is right because a value is scanned as a complete string, from after its opening quote to
//! before its closing one. Parsing the row properly would see the same tokens as in the known row
//! except for those strings, so it would find the same columns and datatypes. A row that fits no
//! known shape is parsed properly.

use std::borrow::Cow;
use std::marker::PhantomData;
use std::ops::Range;

use juror_json as json;

use crate::json::Rows;
use crate::{Cell, Datatype, SparqlResult, TableRoom};

/// Reads a result, or returns `None` if this parser cannot decide.
pub(super) fn parse<W: Escaping>(text: &str, room: TableRoom) -> Option<SparqlResult<'_>> {
    let mut cursor = ResultCursor::<W>::new(text);
    let result = cursor.result(room)?;
    cursor.skip_space();
    (cursor.at == text.len()).then_some(result)
}

/// Reads the names of the columns, if the head comes first, and nothing more.
pub(super) fn parse_names<W: Escaping>(text: &str) -> Option<Vec<String>> {
    let mut cursor = ResultCursor::<W>::new(text);
    cursor.take(b'{')?;
    (cursor.string()? == "head").then_some(())?;
    cursor.take(b':')?;
    Some(cursor.head()?.into_iter().map(Cow::into_owned).collect())
}

/// Whether any row contains an IRI, or `None` if this parser cannot decide.
pub(super) fn has_iri<W: Escaping>(text: &str, iri: &str) -> Option<bool> {
    let mut cursor = ResultCursor::<W>::new(text);
    let mut has_iri = None;
    cursor.fields(|cursor, key| match key.as_ref() {
        "head" => cursor.head().map(|_| ()),
        "results" if has_iri.is_none() => {
            has_iri = Some(cursor.rows_have_iri(iri)?);
            Some(())
        }
        _ => None,
    })?;
    cursor.skip_space();
    has_iri.filter(|_| cursor.at == text.len())
}

/// How the text of a result is escaped.
pub(super) trait Escaping {
    /// A quote.
    const QUOTE: &'static str;

    /// Finds the end of a string or its first escape, starting after the opening quote.
    fn find_end(bytes: &[u8]) -> Option<usize>;

    /// Returns the length of the leading whitespace.
    fn space(bytes: &[u8]) -> usize;

    /// Returns what is between the quotes of a string with escapes, with one level of escaping,
    /// and its length in the text.
    fn inside(text: &str) -> Option<(Cow<'_, str>, usize)>;
}

/// Plain JSON.
pub(super) struct Plain;

impl Escaping for Plain {
    const QUOTE: &'static str = "\"";

    fn find_end(bytes: &[u8]) -> Option<usize> {
        json::find_special(bytes)
    }

    fn space(bytes: &[u8]) -> usize {
        let is_space = |byte: &&u8| matches!(byte, b' ' | b'\n' | b'\t' | b'\r');
        bytes.iter().take_while(is_space).count()
    }

    fn inside(text: &str) -> Option<(Cow<'_, str>, usize)> {
        let bytes = text.as_bytes();
        let mut at = 0;
        loop {
            match bytes.get(at)? {
                b'"' => return Some((Cow::Borrowed(&text[..at]), at)),
                b'\\' => at += 2,
                _ => at += 1,
            }
        }
    }
}

/// JSON inside a JSON string.
pub(super) struct Escaped;

impl Escaping for Escaped {
    const QUOTE: &'static str = "\\\"";

    fn find_end(bytes: &[u8]) -> Option<usize> {
        json::find_backslash(bytes)
    }

    fn space(bytes: &[u8]) -> usize {
        let mut at = 0;
        loop {
            match bytes.get(at) {
                Some(b' ') => at += 1,
                Some(b'\\') if matches!(bytes.get(at + 1), Some(b'n' | b't' | b'r')) => at += 2,
                _ => return at,
            }
        }
    }

    fn inside(text: &str) -> Option<(Cow<'_, str>, usize)> {
        let bytes = text.as_bytes();
        let mut at = 0;
        loop {
            match (bytes.get(at)?, bytes.get(at + 1)?) {
                (b'\\', b'"') => return Some((json::unescape(&text[..at]), at)),
                // A backslash of the inner string; what it escapes may itself be escaped.
                (b'\\', b'\\') => at += if bytes.get(at + 2)? == &b'\\' { 4 } else { 3 },
                (b'\\', _) => at += 2,
                _ => at += 1,
            }
        }
    }
}

struct ResultCursor<'q, W> {
    text: &'q str,
    at: usize,
    escaping: PhantomData<W>,
}

/// The text around the value of a cell, and what it means.
struct CellShape<'q> {
    before: &'q str,
    after: &'q str,
    /// `None` if the head does not list the column.
    column: Option<usize>,
    datatype: Option<Datatype>,
}

/// The shapes of recent rows and cells.
#[derive(Default)]
struct KnownShapes<'q> {
    /// Shapes of whole rows; several, since rows may leave cells out. Text between two values
    /// belongs to `before` of the second, and the end of the row to `after` of the last.
    rows: Vec<Vec<CellShape<'q>>>,
    /// The index of the shape that matched last.
    last: usize,
    /// Grows with rows that match no shape and shrinks with rows that do.
    n_misses: usize,
    /// Shapes of single cells by their index in a row, for rows that match no shape as a whole.
    cells: Vec<CellShape<'q>>,
}

impl<'q> KnownShapes<'q> {
    const MOST: usize = 4;
    const MOST_MISSES: usize = 16;

    /// Whether comparing rows with known shapes pays. It does not if, say, a column has texts in
    /// many languages.
    fn rows_are_alike(&self) -> bool {
        self.n_misses <= KnownShapes::MOST_MISSES
    }

    fn add_row(&mut self, row: Vec<CellShape<'q>>) {
        self.n_misses += 2;
        if self.rows.len() < KnownShapes::MOST {
            self.last = self.rows.len();
            self.rows.push(row);
        } else {
            self.last = (self.last + 1) % KnownShapes::MOST;
            self.rows[self.last] = row;
        }
    }

    fn add_cell(&mut self, index: usize, cell: CellShape<'q>) {
        match self.cells.get_mut(index) {
            Some(known) => *known = cell,
            None => self.cells.push(cell),
        }
    }
}

/// A cell with its column.
struct RowCell<'q> {
    value: Option<Cow<'q, str>>,
    column: Option<usize>,
    datatype: Option<Datatype>,
    /// The range of the value in the text, between its quotes.
    written: Option<Range<usize>>,
}

/// A cell without its column.
struct ReadCell<'q> {
    value: Option<Cow<'q, str>>,
    is_iri: bool,
    datatype: Option<Datatype>,
    /// The range of the value in the text, between its quotes.
    written: Option<Range<usize>>,
}

fn literal(text: Cow<'_, str>, datatype: Option<Datatype>) -> Cell<'_> {
    match datatype {
        Some(datatype) => Cell::Typed(datatype, text),
        None => Cell::Text(text),
    }
}

impl<'q, W: Escaping> ResultCursor<'q, W> {
    fn new(text: &'q str) -> ResultCursor<'q, W> {
        ResultCursor { text, at: 0, escaping: PhantomData }
    }

    fn result(&mut self, room: TableRoom) -> Option<SparqlResult<'q>> {
        let mut truth = None;
        let mut head: Option<Vec<Cow<'q, str>>> = None;
        let mut rows: Option<Rows<'q>> = None;
        self.fields(|cursor, key| {
            match key.as_ref() {
                "head" if head.is_none() => head = Some(cursor.head()?),
                "boolean" if truth.is_none() => truth = Some(cursor.truth()?),
                "results" if rows.is_none() => {
                    rows = Some(cursor.results(Rows::new(head.as_deref(), room))?);
                }
                _ => return None,
            }
            Some(())
        })?;
        if let Some(truth) = truth {
            return Some(SparqlResult::Truth(truth));
        }
        let head = head?;
        let rows = rows.unwrap_or_else(|| Rows::new(Some(&head), room));
        Some(SparqlResult::Table(rows.into_solutions(head)?))
    }

    fn head(&mut self) -> Option<Vec<Cow<'q, str>>> {
        let mut names = Vec::new();
        let mut seen = false;
        self.fields(|cursor, key| {
            if key != "vars" {
                return cursor.skip_simple_value();
            }
            if std::mem::replace(&mut seen, true) {
                return None;
            }
            cursor.list(|cursor| {
                names.push(cursor.string()?);
                Some(())
            })
        })?;
        Some(names)
    }

    fn results(&mut self, mut rows: Rows<'q>) -> Option<Rows<'q>> {
        let mut shapes = KnownShapes::default();
        self.bindings(|cursor| {
            let start = cursor.at;
            cursor.row(&mut rows, &mut shapes)?;
            if rows.n_rows() == 1 {
                rows.reserve((cursor.text.len() - cursor.at) / (cursor.at - start));
            }
            Some(())
        })?;
        Some(rows)
    }

    fn rows_have_iri(&mut self, iri: &str) -> Option<bool> {
        // Few enough to be searched one by one.
        const FEW_COLUMNS: usize = 64;
        let (mut found, mut names) = (false, Vec::new());
        self.bindings(|cursor| {
            names.clear();
            cursor.fields(|cursor, name| {
                // If a column is repeated, the last value counts; `json.rs` handles that.
                (names.len() < FEW_COLUMNS && !names.contains(&name)).then_some(())?;
                names.push(name);
                let cell = cursor.cell()?;
                found |= cell.is_iri && cell.value.is_some_and(|value| value == iri);
                Some(())
            })
        })?;
        Some(found)
    }

    /// Calls `row` at the start of each row.
    fn bindings(&mut self, mut row: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        let mut seen = false;
        self.fields(|cursor, key| {
            if key != "bindings" {
                return cursor.skip_simple_value();
            }
            if std::mem::replace(&mut seen, true) {
                return None;
            }
            cursor.list(&mut row)
        })
    }

    /// Reads a row: by a known shape, the one that matched last first, or else properly.
    fn row(&mut self, rows: &mut Rows<'q>, shapes: &mut KnownShapes<'q>) -> Option<()> {
        self.skip_space();
        let start = self.at;
        let n_known = if shapes.rows_are_alike() { shapes.rows.len() } else { 0 };
        for index in (0..n_known).map(|index| (shapes.last + index) % n_known) {
            if self.row_like(&shapes.rows[index], rows).is_some() {
                shapes.last = index;
                shapes.n_misses = shapes.n_misses.saturating_sub(1);
                return Some(());
            }
            self.at = start;
            rows.drop_row();
        }
        self.any_row(rows, shapes)
    }

    /// Reads a row of a known shape. On failure the caller resets the position and drops the row.
    fn row_like(&mut self, shape: &[CellShape<'q>], rows: &mut Rows<'q>) -> Option<()> {
        for cell in shape {
            let value = self.value_in(cell)?;
            if let Some(column) = cell.column {
                rows.put(column, literal(value, cell.datatype));
            }
        }
        rows.end_row()
    }

    /// Reads the value of a cell of a known shape. On failure the caller resets the position.
    fn value_in(&mut self, shape: &CellShape<'q>) -> Option<Cow<'q, str>> {
        self.pass(shape.before)?;
        let value = self.inside()?;
        // Skip empty comparisons: a vector load with an empty mask is slow if its address is not
        // valid, as that of an empty string may be.
        if !shape.after.is_empty() {
            self.pass(shape.after)?;
        }
        Some(value)
    }

    /// Parses a row properly, and keeps its shape if all its cells have values.
    fn any_row(&mut self, rows: &mut Rows<'q>, shapes: &mut KnownShapes<'q>) -> Option<()> {
        let mut shape = shapes.rows_are_alike().then(Vec::new);
        let mut end = self.at;
        self.take(b'{')?;
        if self.next_is(b'}') {
            return rows.end_row();
        }
        for index in 0.. {
            if index > 0 && !self.next_is(b',') {
                break;
            }
            let RowCell { value, column, datatype, written } =
                self.row_cell(index, rows, shapes)?;
            shape = shape.zip(written).map(|(mut shape, written)| {
                let before = &self.text[end..written.start];
                end = written.end;
                shape.push(CellShape { before, after: "", column, datatype });
                shape
            });
            if let Some(column) = column {
                rows.put(column, value.map_or(Cell::Unbound, |value| literal(value, datatype)));
            }
        }
        self.take(b'}')?;
        if let Some(mut shape) = shape {
            shape.last_mut()?.after = &self.text[end..self.at];
            shapes.add_row(shape);
        }
        rows.end_row()
    }

    /// Reads a cell with its name: by the last shape of a cell at this index, or else properly.
    fn row_cell(
        &mut self,
        index: usize,
        rows: &mut Rows<'q>,
        shapes: &mut KnownShapes<'q>,
    ) -> Option<RowCell<'q>> {
        let start = self.at;
        if let Some(shape) = shapes.cells.get(index) {
            if let Some(value) = self.value_in(shape) {
                let written = start + shape.before.len()..self.at - shape.after.len();
                let &CellShape { column, datatype, .. } = shape;
                let (value, written) = (Some(value), Some(written));
                return Some(RowCell { value, column, datatype, written });
            }
            self.at = start;
        }
        let name = self.string()?;
        self.take(b':')?;
        let column = rows.column_of(name, index);
        let ReadCell { value, datatype, written, .. } = self.cell()?;
        if let Some(written) = &written {
            let before = &self.text[start..written.start];
            let after = &self.text[written.end..self.at];
            shapes.add_cell(index, CellShape { before, after, column, datatype });
        }
        Some(RowCell { value, column, datatype, written })
    }

    fn cell(&mut self) -> Option<ReadCell<'q>> {
        let (mut is_literal, mut is_iri) = (false, false);
        let (mut value, mut datatype, mut written) = (None, None, None);
        self.fields(|cursor, key| {
            cursor.skip_space();
            let start = cursor.at + W::QUOTE.len();
            let text = cursor.string()?;
            match key.as_ref() {
                "type" => {
                    is_literal = matches!(text.as_ref(), "literal" | "typed-literal");
                    is_iri = text == "uri";
                }
                "value" => {
                    written = Some(start..cursor.at - W::QUOTE.len());
                    value = Some(text);
                }
                "datatype" => datatype = Some(text),
                _ => {}
            }
            Some(())
        })?;
        let datatype = datatype.filter(|_| is_literal).and_then(|iri| Datatype::from_iri(&iri));
        Some(ReadCell { value, is_iri, datatype, written })
    }

    /// Reads an object, calling `field` at the value of each key.
    fn fields(
        &mut self,
        mut field: impl FnMut(&mut Self, Cow<'q, str>) -> Option<()>,
    ) -> Option<()> {
        self.take(b'{')?;
        if self.next_is(b'}') {
            return Some(());
        }
        loop {
            let key = self.string()?;
            self.take(b':')?;
            field(self, key)?;
            if !self.next_is(b',') {
                return self.take(b'}');
            }
        }
    }

    /// Reads a list, calling `item` at each item.
    fn list(&mut self, mut item: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.take(b'[')?;
        if self.next_is(b']') {
            return Some(());
        }
        loop {
            item(self)?;
            if !self.next_is(b',') {
                return self.take(b']');
            }
        }
    }

    /// Reads a string, borrowing if it has no escapes of its own.
    fn string(&mut self) -> Option<Cow<'q, str>> {
        self.skip_space();
        self.pass(W::QUOTE)?;
        let inside = self.inside()?;
        self.at += W::QUOTE.len();
        Some(inside)
    }

    /// Reads a string from after its opening quote to before its closing quote.
    #[inline]
    fn inside(&mut self) -> Option<Cow<'q, str>> {
        let start = self.at;
        let end = start + W::find_end(&self.text.as_bytes()[start..])?;
        if self.text.as_bytes()[end..].starts_with(W::QUOTE.as_bytes()) {
            self.at = end;
            return Some(Cow::Borrowed(&self.text[start..end]));
        }
        self.inside_with_escapes()
    }

    #[cold]
    fn inside_with_escapes(&mut self) -> Option<Cow<'q, str>> {
        let (inside, length) = W::inside(&self.text[self.at..])?;
        self.at += length;
        serde_json::from_str(&format!("\"{inside}\"")).ok().map(Cow::Owned)
    }

    fn truth(&mut self) -> Option<bool> {
        self.skip_space();
        if self.word("true") {
            return Some(true);
        }
        self.word("false").then_some(false)
    }

    /// Skips a string, a word or a list of strings, or fails at anything else.
    fn skip_simple_value(&mut self) -> Option<()> {
        self.skip_space();
        match self.text.as_bytes().get(self.at)? {
            b'"' | b'\\' => self.string().map(|_| ()),
            b'[' => self.list(|cursor| cursor.string().map(|_| ())),
            _ => (self.word("true") || self.word("false") || self.word("null")).then_some(()),
        }
    }

    fn word(&mut self, word: &str) -> bool {
        self.pass(word).is_some()
    }

    /// Skips `text`, or fails if something else comes next.
    fn pass(&mut self, text: &str) -> Option<()> {
        self.text.as_bytes()[self.at..].starts_with(text.as_bytes()).then_some(())?;
        self.at += text.len();
        Some(())
    }

    fn take(&mut self, byte: u8) -> Option<()> {
        self.next_is(byte).then_some(())
    }

    fn next_is(&mut self, byte: u8) -> bool {
        self.skip_space();
        let is_it = self.text.as_bytes().get(self.at) == Some(&byte);
        self.at += usize::from(is_it);
        is_it
    }

    fn skip_space(&mut self) {
        self.at += W::space(&self.text.as_bytes()[self.at..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    const ROOM: TableRoom = TableRoom { most_cells: 1 << 20 };

    fn parse<W: Escaping>(text: &str) -> Option<SparqlResult<'_>> {
        super::parse::<W>(text, ROOM)
    }

    fn inside(text: &str) -> String {
        let quoted = Value::from(text).to_string();
        quoted[1..quoted.len() - 1].to_owned()
    }

    /// Checks that both parsers agree if the fast one returns a result, and that the fast one
    /// returns the same for plain and escaped text.
    fn check(text: &str) -> bool {
        let quoted = inside(text);
        let (fast, in_string) = (parse::<Plain>(text), parse::<Escaped>(&quoted));
        assert_eq!(fast, in_string, "{text}");
        assert_eq!(parse_names::<Plain>(text), parse_names::<Escaped>(&quoted), "{text}");
        if let Some(fast) = &fast {
            assert_eq!(crate::json::parse(text, ROOM).as_ref(), Ok(fast), "{text}");
        }
        fast.is_some()
    }

    #[test]
    fn what_servers_write_is_read() {
        let table = json!({"head": {"link": [], "vars": ["a", "b"]},
            "results": {"distinct": false, "ordered": true, "bindings": [
                {"a": {"type": "uri", "value": "urn:x"},
                 "b": {"type": "literal", "xml:lang": "en", "value": "say \"hi\" \\ é\n\t\u{1F600}"}},
                {"b": {"type": "typed-literal", "datatype": "http://www.w3.org/2001/XMLSchema#int", "value": "5"}},
                {}]}});
        assert!(check(&table.to_string()));
        assert!(check(&format!("{table:#}\n")));
        assert!(check(r#"{"head": {}, "boolean": true}"#));
        assert!(check(
            r#"{"results": {"bindings": [{"x": {"value": "1"}}]}, "head": {"vars": ["x"]}}"#
        ));
    }

    #[test]
    fn iris_of_rows_are_found() {
        let check = |row: Value, wanted: Option<bool>| {
            let table = json!({"head": {"vars": ["a"]}, "results": {"bindings": [{}, row]}});
            for text in [table.to_string(), format!("{table:#}")] {
                assert_eq!(has_iri::<Plain>(&text, "urn:é"), wanted, "{text}");
                assert_eq!(has_iri::<Escaped>(&inside(&text), "urn:é"), wanted, "{text}");
                assert_eq!(has_iri::<Plain>(&text[1..], "urn:é"), None, "{text}");
            }
        };
        check(json!({"a": {"type": "uri", "value": "urn:é"}}), Some(true));
        check(json!({"b": {"value": "urn:é", "type": "uri"}, "a": {}}), Some(true));
        check(json!({"a": {"type": "literal", "value": "urn:é"}}), Some(false));
        check(json!({"a": {"type": "uri", "value": "urn:e"}}), Some(false));
        check(json!({"a": null}), None);
        let repeated = r#"{"results": {"bindings": [{"a": {"value": "x"}, "a": {"value": "y"}}]}}"#;
        assert_eq!(has_iri::<Plain>(repeated, "x"), None);
        assert_eq!(has_iri::<Plain>(r#"{"head": {}}"#, "x"), None);
    }

    #[test]
    fn rows_need_not_be_alike() {
        let cell = |value: &str| json!({"type": "literal", "value": value});
        let typed = json!({"datatype": "http://www.w3.org/2001/XMLSchema#int", "type": "literal",
            "value": "5"});
        let no_type = json!({"datatype": "http://www.w3.org/2001/XMLSchema#int", "type": "uri",
            "value": "5"});
        let cells = [cell("x"), cell("y \" z"), typed, no_type, json!({"type": "literal"})];
        let mut rows = vec![json!({})];
        for a in &cells {
            for b in &cells {
                rows.push(json!({"a": a, "b": b}));
                rows.push(json!({"b": a, "other": b, "c": b}));
                rows.push(json!({"c": a}));
            }
        }
        for vars in [json!(["a", "b", "c"]), json!(["b", "a"]), json!([])] {
            let table = json!({"head": {"vars": vars}, "results": {"bindings": rows}});
            assert!(check(&table.to_string()));
            assert!(check(&format!("{table:#}")));
        }
        let repeated = r#"{"a": {"value": "x", "value": "y"}, "a": {"value": "z"}}"#;
        let rows = [repeated; 3].join(", ");
        assert!(check(&format!(
            r#"{{"head": {{"vars": ["a"]}}, "results": {{"bindings": [{rows}]}}}}"#
        )));
    }

    #[test]
    fn anything_else_is_left_to_the_other_reader() {
        for text in [
            "",
            "ex:a ex:b ex:c .",
            "{}",
            r#"{"head": {"vars": []}, "results": null}"#,
            r#"{"head": {"vars": ["x"]}, "results": {"bindings": [{"x": null}]}}"#,
            r#"{"head": {"vars": ["x"]}, "results": {"bindings": [{"x": {"value": 5}}]}}"#,
            r#"{"head": {"vars": ["x"]}} trailing"#,
            r#"{"head": {"vars": ["x"]}, "more": {"a": 1}}"#,
            "{\"head\": {\"vars\": [\"a\nb\"]}}",
            r#"{"head": {"vars": ["x"], "vars": ["y"]}}"#,
            r#"{"head": {"vars": ["x"]}, "results": {"bindings": [], "bindings": null}}"#,
        ] {
            assert!(!check(text), "{text}");
        }
    }

    /// A cell in one of the forms that servers write.
    fn written(form: usize, value: &str) -> String {
        let value = Value::from(value);
        match form {
            0 => format!(r#"{{"type": "uri", "value": {value}}}"#),
            1 => format!(r#"{{"value": {value}, "type": "literal"}}"#),
            2 => format!(r#"{{"type": "literal", "xml:lang": "é", "value": {value}}}"#),
            3 => format!(
                r#"{{"datatype": "http://www.w3.org/2001/XMLSchema#int", "type": "literal", "value": {value}}}"#
            ),
            _ => r#"{"type": "literal"}"#.into(),
        }
    }

    proptest! {
        #[test]
        fn both_readers_agree_on_rows_of_all_shapes(
            rows in prop::collection::vec(
                prop::collection::vec(("[a-d]", 0..30_usize, "[ab\"\\\\\n]{0,3}"), 0..4),
                0..12,
            ),
            n_forms in 1..=5_usize,
            is_head_last: bool,
        ) {
            let cell = |(name, form, value): &(String, usize, String)| {
                format!(r#""{name}": {}"#, written(form % n_forms, value))
            };
            let row = |row: &Vec<_>| {
                format!("{{{}}}", row.iter().map(cell).collect::<Vec<_>>().join(", "))
            };
            let rows = rows.iter().map(row).collect::<Vec<_>>().join(", ");
            let results = format!(r#""results": {{"bindings": [{rows}]}}"#);
            let head = r#""head": {"vars": ["a", "b", "c"]}"#;
            let (one, two) = if is_head_last { (results.as_str(), head) } else { (head, results.as_str()) };
            let text = format!("{{{one}, {two}}}");
            prop_assert!(check(&text));
        }

        #[test]
        fn both_readers_agree(
            names in prop::collection::vec("[a-c\"\\\\é\n]{0,3}", 0..4),
            cells in prop::collection::vec("[ -~é\n\t\"\\\\]{0,6}", 0..12),
            pretty: bool,
            cut in 0..400_usize,
        ) {
            let rows: Vec<Value> = cells.chunks(names.len().max(1)).map(|row| {
                let cell = |(name, value): (&String, &String)| {
                    (name.clone(), json!({"type": "literal", "value": value}))
                };
                Value::Object(names.iter().zip(row).map(cell).collect())
            }).collect();
            let table = json!({"head": {"vars": names}, "results": {"bindings": rows}});
            let text = if pretty { format!("{table:#}") } else { table.to_string() };
            prop_assert!(check(&text));
            let cut = text.floor_char_boundary(cut.min(text.len()));
            check(&text[..cut]);
        }
    }
}
