//! SPARQL results in JSON, read in one pass straight into columns.

use std::borrow::Cow;
use std::fmt;

use hashbrown::HashMap;
use juror_json::{MapOnly, ObjectKey, reason_and_place, small_value};
use serde::de::{
    DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use serde_json::value::RawValue;

use crate::room::CellLimit;
use crate::{Cell, MOST_COLUMNS, NotAResult, Solutions, SparqlResult, TableRoom};

pub(super) fn parse(text: &str, room: TableRoom) -> Result<SparqlResult<'_>, NotAResult> {
    parse_with(text, room, false)
}

/// Reads a result whose columns are taken from its rows if no head lists them.
pub(super) fn parse_headless(text: &str, room: TableRoom) -> Result<SparqlResult<'_>, NotAResult> {
    parse_with(text, room, true)
}

fn parse_with(
    text: &str,
    room: TableRoom,
    may_be_headless: bool,
) -> Result<SparqlResult<'_>, NotAResult> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let result = deserializer
        .deserialize_map(SparqlResultVisitor { room, may_be_headless })
        .and_then(|result| deserializer.end().map(|()| result))
        .map_err(|error| to_not_a_result(&error))?;
    Ok(result)
}

/// Errors pass through `serde_json` as messages; no other message starts with these.
const TOO_LARGE: &str = "the table is too large";
const TOO_WIDE: &str = "the table is too wide";

fn to_not_a_result(error: &serde_json::Error) -> NotAResult {
    let words = reason_and_place(error);
    if words.starts_with(TOO_LARGE) {
        return NotAResult::TooLarge;
    }
    if words.starts_with(TOO_WIDE) {
        return NotAResult::TooWide;
    }
    NotAResult::Other(format!("not a SPARQL result in JSON: {words}"))
}

/// Reads the names in `head.vars` and stops before the rows.
pub(super) fn parse_names(text: &str) -> Option<Vec<String>> {
    let mut names = None;
    let mut deserializer = serde_json::Deserializer::from_str(text);
    // The visitor stops with an error once it has the names, so the result does not matter.
    let _ = deserializer.deserialize_map(NamesVisitor(&mut names));
    names
}

struct NamesVisitor<'n>(&'n mut Option<Vec<String>>);

impl<'de> Visitor<'de> for NamesVisitor<'_> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a SPARQL result")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(ObjectKey(key)) = map.next_key()? {
            if key == "head" {
                let MapOnly(head): MapOnly<ResultHead> = map.next_value()?;
                let names = |vars: Vec<Cow<str>>| vars.into_iter().map(Cow::into_owned).collect();
                *self.0 = head.vars.map(names);
                return Err(A::Error::custom("names found"));
            }
            map.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}

#[derive(serde::Deserialize)]
struct ResultHead<'t> {
    #[serde(borrow, default)]
    vars: Option<Vec<Cow<'t, str>>>,
}

struct SparqlResultVisitor {
    room: TableRoom,
    /// Whether columns may be taken from the rows if the head does not list them.
    may_be_headless: bool,
}

/// The error for a table that exceeds its limit.
fn refused<E: serde::de::Error>(n_columns: usize) -> E {
    E::custom(if n_columns > MOST_COLUMNS { TOO_WIDE } else { TOO_LARGE })
}

impl<'de> Visitor<'de> for SparqlResultVisitor {
    type Value = SparqlResult<'de>;
    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a SPARQL result")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut truth = None;
        let mut head: Option<Vec<Cow<str>>> = None;
        let mut rows: Option<Rows> = None;
        while let Some(ObjectKey(key)) = map.next_key()? {
            match key.as_ref() {
                "boolean" => truth = Some(map.next_value()?),
                "head" => {
                    let vars = map.next_value::<MapOnly<ResultHead>>()?.0.vars;
                    head = if self.may_be_headless { vars } else { Some(vars.unwrap_or_default()) };
                }
                "results" => {
                    let new = Rows::new(head.as_deref(), self.room);
                    rows = Some(map.next_value_seed(ResultsObjectSeed(new))?);
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        if let Some(truth) = truth {
            return Ok(SparqlResult::Truth(truth));
        }
        let has_names = |rows: &&Rows| self.may_be_headless && rows.were_given;
        let of_rows = || rows.as_ref().filter(has_names).map(|rows| rows.names.clone());
        let names = head.or_else(of_rows).ok_or_else(|| A::Error::missing_field("head"))?;
        let rows = rows.unwrap_or_else(|| Rows::new(Some(&names), self.room));
        let n_columns = names.len();
        let table = rows.into_solutions(names).ok_or_else(|| refused(n_columns))?;
        Ok(SparqlResult::Table(table))
    }
}

/// The rows read so far, by column. If `results` comes before `head`, columns are added as they
/// occur.
pub(super) struct Rows<'t> {
    names: Vec<Cow<'t, str>>,
    names_known: bool,
    /// The positions of the names; filled if there are many.
    places: HashMap<Cow<'t, str>, usize>,
    columns: Vec<Vec<Cell<'t>>>,
    n_rows: usize,
    /// Whether there is a list of rows, even an empty one.
    were_given: bool,
    room: TableRoom,
}

impl<'t> Rows<'t> {
    const FEW_NAMES: usize = 32;

    pub(super) fn new(known: Option<&[Cow<'t, str>]>, room: TableRoom) -> Rows<'t> {
        let mut rows = Rows {
            room,
            columns: Vec::new(),
            names: Vec::new(),
            names_known: known.is_some(),
            places: HashMap::new(),
            n_rows: 0,
            were_given: false,
        };
        for name in known.unwrap_or_default().iter().take(MOST_COLUMNS + 1) {
            if rows.position(name).is_none() {
                rows.add_column(name.clone());
            }
        }
        rows
    }

    /// Reserves memory for `n_rows` more rows, within reason.
    pub(super) fn reserve(&mut self, n_rows: usize) {
        self.columns.iter_mut().for_each(|cells| cells.reserve(n_rows.min(256)));
    }

    /// Returns the column of a name, adding it if the head is not known yet. Tries `guess`, the
    /// column of the name in the previous row, first. Keeps at most one more name than a table may
    /// have, which is enough to refuse the table.
    pub(super) fn column_of(&mut self, name: Cow<'t, str>, guess: usize) -> Option<usize> {
        if self.names.get(guess).is_some_and(|known| *known == name) {
            return Some(guess);
        }
        if let Some(found) = self.position(&name) {
            return Some(found);
        }
        if self.names_known || self.names.len() > MOST_COLUMNS {
            return None;
        }
        self.add_column(name);
        Some(self.names.len() - 1)
    }

    /// Returns the position of a name.
    fn position(&self, name: &str) -> Option<usize> {
        if self.names.len() <= Rows::FEW_NAMES {
            return self.names.iter().position(|known| known == name);
        }
        self.places.get(name).copied()
    }

    fn add_column(&mut self, name: Cow<'t, str>) {
        self.names.push(name);
        self.columns.push(Vec::new());
        if self.names.len() > Rows::FEW_NAMES {
            let n_known = self.places.len();
            let new = self.names.iter().enumerate().skip(n_known);
            self.places.extend(new.map(|(at, name)| (name.clone(), at)));
        }
    }

    pub(super) fn put(&mut self, column: usize, cell: Cell<'t>) {
        let cells = &mut self.columns[column];
        if cells.len() != self.n_rows {
            // The column is new, or the key is repeated and the last value counts.
            cells.truncate(self.n_rows);
            cells.resize(self.n_rows, Cell::Unbound);
        }
        cells.push(cell);
    }

    /// Discards the cells of the current row.
    pub(super) fn drop_row(&mut self) {
        self.columns.iter_mut().for_each(|cells| cells.truncate(self.n_rows));
    }

    pub(super) fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Ends the row, leaving missing cells unbound. Returns `None` if the table is too large.
    pub(super) fn end_row(&mut self) -> Option<()> {
        self.n_rows += 1;
        if !self.room.holds(self.columns.len(), self.n_rows) {
            return None;
        }
        for cells in &mut self.columns {
            if cells.len() < self.n_rows {
                cells.resize(self.n_rows, Cell::Unbound);
            }
        }
        Some(())
    }

    /// Returns the table with the columns in the order of `vars`, or `None` if it has too many
    /// columns or repeated columns would copy too much text.
    pub(super) fn into_solutions(mut self, vars: Vec<Cow<'t, str>>) -> Option<Solutions<'t>> {
        if !self.room.holds(vars.len(), self.n_rows) {
            return None;
        }
        let mut may_repeat = self.room.most_cells * CellLimit::BYTES_A_CELL;
        let mut columns: Vec<Vec<Cell<'t>>> = Vec::with_capacity(vars.len());
        for (index, var) in vars.iter().enumerate() {
            let at = self.names.iter().position(|name| name == var);
            let first = vars[..index].iter().position(|earlier| earlier == var);
            columns.push(match (at, first) {
                // A name listed twice is the same column twice.
                (_, Some(first)) => {
                    may_repeat = may_repeat.checked_sub(text_length(&columns[first]))?;
                    columns[first].clone()
                }
                (Some(at), None) => std::mem::take(&mut self.columns[at]),
                (None, None) => vec![Cell::Unbound; self.n_rows],
            });
        }
        Some(Solutions { names: vars, columns, n_rows: self.n_rows })
    }
}

fn text_length(cells: &[Cell<'_>]) -> usize {
    let length = |cell: &Cell| match cell {
        Cell::Unbound => 0,
        Cell::Text(text) | Cell::Typed(_, text) => text.len(),
    };
    cells.iter().map(length).sum()
}

struct ResultsObjectSeed<'t>(Rows<'t>);

impl<'de> DeserializeSeed<'de> for ResultsObjectSeed<'de> {
    type Value = Rows<'de>;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Rows<'de>, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for ResultsObjectSeed<'de> {
    type Value = Rows<'de>;
    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an object with `bindings`")
    }
    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Rows<'de>, A::Error> {
        while let Some(ObjectKey(key)) = map.next_key()? {
            if key == "bindings" {
                map.next_value_seed(BindingsSeed(&mut self.0))?;
                self.0.were_given = true;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(self.0)
    }
}

struct BindingsSeed<'r, 't>(&'r mut Rows<'t>);

impl<'de> DeserializeSeed<'de> for BindingsSeed<'_, 'de> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for BindingsSeed<'_, 'de> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a list of rows")
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut rows: A) -> Result<(), A::Error> {
        while rows.next_element_seed(RowSeed(self.0))?.is_some() {}
        Ok(())
    }
}

struct RowSeed<'r, 't>(&'r mut Rows<'t>);

impl<'de> DeserializeSeed<'de> for RowSeed<'_, 'de> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for RowSeed<'_, 'de> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a row")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut guess = 0;
        while let Some(ObjectKey(name)) = map.next_key()? {
            match self.0.column_of(name, guess) {
                Some(column) => {
                    let cell = map.next_value_seed(CellSeed)?;
                    self.0.put(column, cell);
                    guess = column + 1;
                }
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        let n_columns = self.0.names.len();
        self.0.end_row().ok_or_else(|| refused(n_columns))
    }
}

struct CellSeed;

impl<'de> DeserializeSeed<'de> for CellSeed {
    type Value = Cell<'de>;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Cell<'de>, D::Error> {
        deserializer.deserialize_any(CellVisitor)
    }
}

struct CellVisitor;

impl<'de> Visitor<'de> for CellVisitor {
    type Value = Cell<'de>;
    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an RDF term")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Cell<'de>, A::Error> {
        let mut is_literal = false;
        let mut datatype: Option<Cow<'de, str>> = None;
        let mut value = None;
        while let Some(ObjectKey(key)) = map.next_key()? {
            match key.as_ref() {
                "type" => {
                    let ObjectKey(kind) = map.next_value()?;
                    is_literal = matches!(kind.as_ref(), "literal" | "typed-literal");
                }
                "value" => value = Some(map.next_value_seed(ValueSeed)?),
                "datatype" => {
                    datatype = map.next_value::<Option<ObjectKey>>()?.map(|ObjectKey(iri)| iri);
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(match value.flatten() {
            None => Cell::Unbound,
            Some(text) => Cell::literal(text, datatype.as_deref().filter(|_| is_literal)),
        })
    }
    fn visit_unit<E>(self) -> Result<Cell<'de>, E> {
        Ok(Cell::Unbound)
    }
    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Cell<'de>, E> {
        Ok(Cell::Text(Cow::Borrowed(text)))
    }
    fn visit_str<E>(self, text: &str) -> Result<Cell<'de>, E> {
        Ok(Cell::Text(Cow::Owned(text.to_owned())))
    }
    fn visit_bool<E>(self, value: bool) -> Result<Cell<'de>, E> {
        Ok(Cell::Text(Cow::Borrowed(if value { "true" } else { "false" })))
    }
    fn visit_i64<E>(self, value: i64) -> Result<Cell<'de>, E> {
        Ok(Cell::Text(Cow::Owned(value.to_string())))
    }
    fn visit_u64<E>(self, value: u64) -> Result<Cell<'de>, E> {
        Ok(Cell::Text(Cow::Owned(value.to_string())))
    }
    fn visit_f64<E>(self, value: f64) -> Result<Cell<'de>, E> {
        Ok(Cell::Text(Cow::Owned(value.to_string())))
    }
}

/// Reads a term's `value`: the text of a string, the JSON of anything else, `None` for `null`.
struct ValueSeed;

impl<'de> DeserializeSeed<'de> for ValueSeed {
    type Value = Option<Cow<'de, str>>;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        let raw: &'de RawValue = serde::Deserialize::deserialize(deserializer)?;
        Ok(match raw.get() {
            "null" => None,
            quoted if quoted.starts_with('"') => juror_json::text_of(raw),
            // A nested term, as in RDF-star. Parsing makes the order of its keys irrelevant.
            other => Some(match small_value(other) {
                Some(value) => Cow::Owned(value.to_string()),
                None => Cow::Borrowed(other),
            }),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Datatype;

    const ROOM: TableRoom = TableRoom { most_cells: 1 << 10 };

    fn parse(text: &str) -> Result<SparqlResult<'_>, NotAResult> {
        super::parse(text, ROOM)
    }

    fn parse_headless(text: &str) -> Result<SparqlResult<'_>, NotAResult> {
        super::parse_headless(text, ROOM)
    }

    fn table(text: &str) -> Solutions<'_> {
        match parse(text).expect("a result") {
            SparqlResult::Table(table) => table,
            SparqlResult::Truth(_) => panic!("not a table"),
        }
    }

    fn text(text: &str) -> Cell<'_> {
        Cell::Text(Cow::Borrowed(text))
    }

    #[test]
    fn cells_stand_in_their_columns_whatever_the_order_of_keys() {
        let table = table(
            r#"{"head": {"vars": ["a", "b"]}, "results": {"bindings": [
                {"b": {"type": "literal", "value": "2", "datatype": "http://www.w3.org/2001/XMLSchema#int"},
                 "a": {"type": "uri", "value": "u\u00e9"}, "z": {"type": "uri", "value": "ignored"}},
                {}, {"a": null}, {"a": {"type": "uri", "value": "x"}, "a": {"type": "uri", "value": "y"}}]}}"#,
        );
        assert_eq!(table.n_rows, 4);
        assert_eq!(table.columns[0], [text("ué"), Cell::Unbound, Cell::Unbound, text("y")]);
        assert_eq!(table.columns[1][0], Cell::Typed(Datatype::Integer, Cow::Borrowed("2")));
        assert_eq!(table.columns[1][3], Cell::Unbound);
    }

    #[test]
    fn rows_tell_the_columns_where_a_reference_lists_none() {
        let rows = r#""results": {"bindings": [{"b": {"value": "1"}}, {"a": {"value": "2"}}]}"#;
        for written in [format!("{{{rows}}}"), format!(r#"{{{rows}, "head": {{"link": []}}}}"#)] {
            let Ok(SparqlResult::Table(table)) = parse_headless(&written) else {
                panic!("a table")
            };
            assert_eq!(table.names, ["b", "a"]);
            assert_eq!(table.columns[0], [text("1"), Cell::Unbound]);
            assert_eq!(table.columns[1], [Cell::Unbound, text("2")]);
        }
        let listed = format!(r#"{{"head": {{"vars": ["a"]}}, {rows}}}"#);
        assert_eq!(parse_headless(&listed), parse(&listed));
        for written in [r#"{"results": {}}"#, r#"{"head": {}}"#, "{}"] {
            assert!(parse_headless(written).is_err(), "{written}");
        }
        assert!(parse(&format!("{{{rows}}}")).is_err());
    }

    #[test]
    fn rows_may_come_before_the_head() {
        let table = table(
            r#"{"results": {"bindings": [{"b": {"value": "1"}}, {"a": {"value": "2"}}]},
                "head": {"vars": ["a", "b", "c"]}}"#,
        );
        assert_eq!(table.columns[0], [Cell::Unbound, text("2")]);
        assert_eq!(table.columns[1], [text("1"), Cell::Unbound]);
        assert_eq!(table.columns[2], [Cell::Unbound, Cell::Unbound]);
    }

    #[test]
    fn what_is_not_a_result_is_told_apart() {
        for text in ["", "[]", "5", "{}", r#"{"head": {"vars": []}, "results": null}"#, "ex:a ."] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert_eq!(parse(r#"{"head": {}, "boolean": true}"#), Ok(SparqlResult::Truth(true)));
        assert_eq!(table(r#"{"head": {"vars": ["x"]}}"#).n_rows, 0);
    }

    #[test]
    fn names_are_found_without_reading_the_rows() {
        let cut_off = r#"{"head": {"vars": ["a", "b"]}, "results": {"bindi"#;
        assert_eq!(parse_names(cut_off), Some(vec!["a".into(), "b".into()]));
    }
}
