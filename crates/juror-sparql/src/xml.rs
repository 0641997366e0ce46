//! SPARQL results in XML.

use std::borrow::Cow;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use crate::{Cell, NotAResult, Solutions, SparqlResult, TableRoom};

pub(super) fn parse(text: &str, room: TableRoom) -> Result<SparqlResult<'_>, NotAResult> {
    read(text, Parser { room, ..Parser::default() })
}

/// Reads a result whose columns are taken from its rows.
pub(super) fn parse_headless(text: &str, room: TableRoom) -> Result<SparqlResult<'_>, NotAResult> {
    read(text, Parser { room, is_headless: true, ..Parser::default() })
}

fn read(text: &str, mut document: Parser) -> Result<SparqlResult<'_>, NotAResult> {
    let mut reader = Reader::from_str(text);
    loop {
        match reader.read_event() {
            Ok(Event::Eof) => break,
            Ok(event) => document.take(&event)?,
            Err(error) => return Err(wrong(format!("not well-formed XML: {error}"))),
        }
    }
    document.finish()
}

/// Reads the names that the head lists and stops before the rows.
pub(super) fn parse_names(text: &str) -> Option<Vec<String>> {
    let mut reader = Reader::from_str(text);
    let mut document = Parser { room: TableRoom { most_cells: usize::MAX }, ..Parser::default() };
    let is_behind = |element: &BytesStart| {
        matches!(element.local_name().as_ref(), "results" | "result" | "boolean")
    };
    loop {
        match reader.read_event().ok()? {
            Event::Eof => break,
            Event::Start(element) | Event::Empty(element) if is_behind(&element) => break,
            event => document.take(&event).ok()?,
        }
    }
    let names: Vec<String> = document.table.names.into_iter().map(Cow::into_owned).collect();
    (document.is_result && !names.is_empty()).then_some(names)
}

fn wrong(message: impl Into<String>) -> NotAResult {
    NotAResult::Other(message.into())
}

/// What has been read so far. Elements are recognised by their local names; nesting is checked only
/// as far as the meaning depends on it.
#[derive(Default)]
struct Parser {
    room: TableRoom,
    is_result: bool,
    /// Whether rows may have columns that are not listed.
    is_headless: bool,
    truth: Option<bool>,
    table: Solutions<'static>,
    /// The row being read.
    row: Option<Vec<Option<Cell<'static>>>>,
    column: Option<usize>,
    term: Option<Term>,
    text: String,
}

struct Term {
    is_literal: bool,
    datatype: Option<String>,
}

impl Parser {
    fn take(&mut self, event: &Event) -> Result<(), NotAResult> {
        match event {
            Event::Start(element) => self.start(element),
            Event::Empty(element) => {
                self.start(element)?;
                self.end(element.local_name().as_ref())
            }
            Event::End(element) => self.end(element.local_name().as_ref()),
            Event::Text(text) => {
                self.text.push_str(&text.xml10_content());
                Ok(())
            }
            Event::CData(text) => {
                self.text.push_str(&text.xml10_content());
                Ok(())
            }
            Event::GeneralRef(reference) => self.reference(reference),
            // Refusing document types rules out entity expansion.
            Event::DocType(_) => Err(wrong("a document type is not allowed in a SPARQL result")),
            _ => Ok(()),
        }
    }

    fn reference(&mut self, reference: &quick_xml::events::BytesRef) -> Result<(), NotAResult> {
        if let Ok(Some(character)) = reference.resolve_char_ref() {
            self.text.push(character);
            return Ok(());
        }
        let name = reference.xml10_content();
        let known = quick_xml::escape::resolve_predefined_entity(&name);
        self.text.push_str(known.ok_or_else(|| wrong(format!("unknown entity `{name}`")))?);
        Ok(())
    }

    fn start(&mut self, element: &BytesStart) -> Result<(), NotAResult> {
        self.text.clear();
        match element.local_name().as_ref() {
            "sparql" => self.is_result = true,
            "variable" => {
                let name =
                    attribute(element, "name").ok_or_else(|| wrong("variable without name"))?;
                self.add_column(name)?;
            }
            // A row allocates a cell for every column, so rows must not nest.
            "result" if self.row.is_some() => return Err(wrong("a `result` inside a `result`")),
            "result" => self.row = Some(vec![None; self.table.names.len()]),
            "binding" => {
                let name = attribute(element, "name").unwrap_or_default();
                if self.is_headless {
                    self.add_column(name.clone())?;
                    if let Some(row) = &mut self.row {
                        row.resize(self.table.names.len(), None);
                    }
                }
                self.column = self.table.names.iter().position(|known| *known == name);
            }
            "uri" | "bnode" => self.term = Some(Term { is_literal: false, datatype: None }),
            "literal" => {
                let datatype = attribute(element, "datatype");
                self.term = Some(Term { is_literal: true, datatype });
            }
            _ => {}
        }
        Ok(())
    }

    fn add_column(&mut self, name: String) -> Result<(), NotAResult> {
        if !self.table.names.contains(&Cow::Borrowed(name.as_str())) {
            self.table.names.push(Cow::Owned(name));
            self.table.columns.push(vec![Cell::Unbound; self.table.n_rows]);
        }
        self.room.check(self.table.names.len(), self.table.n_rows)
    }

    fn end(&mut self, name: &str) -> Result<(), NotAResult> {
        match name {
            "uri" | "bnode" | "literal" => {
                if let (Some(term), Some(column)) = (self.term.take(), self.column) {
                    let datatype = term.datatype.as_deref().filter(|_| term.is_literal);
                    let text = Cow::Owned(std::mem::take(&mut self.text));
                    if let Some(cell) = self.row.as_mut().and_then(|row| row.get_mut(column)) {
                        *cell = Some(Cell::literal(text, datatype));
                    }
                }
            }
            "binding" => self.column = None,
            "result" => {
                self.room.check(self.table.names.len(), self.table.n_rows + 1)?;
                let mut row = self.row.take().unwrap_or_default().into_iter();
                for column in &mut self.table.columns {
                    column.push(row.next().flatten().unwrap_or(Cell::Unbound));
                }
                self.table.n_rows += 1;
            }
            "boolean" => self.truth = Some(self.text.trim() == "true"),
            _ => {}
        }
        Ok(())
    }

    fn finish(self) -> Result<SparqlResult<'static>, NotAResult> {
        if !self.is_result {
            return Err(wrong("not a SPARQL result in XML: no `sparql` element"));
        }
        Ok(match self.truth {
            Some(truth) => SparqlResult::Truth(truth),
            None => SparqlResult::Table(self.table),
        })
    }
}

fn attribute(element: &BytesStart, name: &str) -> Option<String> {
    let attribute = element.try_get_attribute(name).ok()??;
    let value = attribute.normalized_value(quick_xml::XmlVersion::Implicit1_0).ok()?;
    Some(value.into_owned())
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

    #[test]
    fn terms_become_cells() {
        let xml = r#"<?xml version="1.0"?>
            <sparql xmlns="http://www.w3.org/2005/sparql-results#">
              <head><variable name="x"/><variable name="y"/></head>
              <results>
                <result><binding name="x"><uri>urn:a&amp;b</uri></binding>
                  <binding name="y"><literal datatype="http://www.w3.org/2001/XMLSchema#integer">5</literal></binding></result>
                <result><binding name="y"><literal xml:lang="en">caf&#233; <![CDATA[<3]]></literal></binding></result>
              </results>
            </sparql>"#;
        let Ok(SparqlResult::Table(table)) = parse(xml) else { panic!("a table") };
        assert_eq!(table.columns[0], [Cell::Text("urn:a&b".into()), Cell::Unbound]);
        assert_eq!(table.columns[1][0], Cell::Typed(Datatype::Integer, "5".into()));
        assert_eq!(table.columns[1][1], Cell::Text("café <3".into()));
    }

    #[test]
    fn an_ask_result_is_a_truth() {
        let xml = "<sparql><head/><boolean>true</boolean></sparql>";
        assert_eq!(parse(xml), Ok(SparqlResult::Truth(true)));
    }

    #[test]
    fn columns_are_of_one_length_however_the_document_is_mixed_up() {
        let xml = "<sparql><head><variable name='a'/></head><results><result><binding name='a'><uri>x</uri>\
            </binding></result><result/><variable name='b'/><variable name='a'/><result/></results></sparql>";
        let Ok(SparqlResult::Table(table)) = parse(xml) else { panic!("a table") };
        assert_eq!(table.names, ["a", "b"]);
        assert!(table.columns.iter().all(|column| column.len() == table.n_rows));
    }

    #[test]
    fn a_row_inside_a_row_is_refused() {
        let names: Vec<_> = (0..1000).map(|n| format!("<variable name='{n}'/>")).collect();
        let xml = format!(
            "<sparql><head>{}</head><results>{}",
            names.concat(),
            "<result>".repeat(100_000)
        );
        let error = parse(&xml).expect_err("refused");
        assert_eq!(error.to_string(), "a `result` inside a `result`");
    }

    #[test]
    fn rows_tell_the_columns_where_a_reference_lists_none() {
        let xml = "<sparql><results><result><binding name='a'><uri>x</uri></binding></result>\
            <result><binding name='b'><uri>y</uri></binding></result></results></sparql>";
        let Ok(SparqlResult::Table(table)) = parse_headless(xml) else { panic!("a table") };
        assert_eq!(table.names, ["a", "b"]);
        assert_eq!(table.columns[0], [Cell::Text("x".into()), Cell::Unbound]);
        assert_eq!(table.columns[1], [Cell::Unbound, Cell::Text("y".into())]);
        let Ok(SparqlResult::Table(table)) = parse(xml) else { panic!("a table") };
        assert!(table.names.is_empty());
    }

    #[test]
    fn entities_are_never_expanded() {
        assert!(parse("<!DOCTYPE x [<!ENTITY a 'b'>]><sparql>&a;</sparql>").is_err());
        assert!(parse("<sparql><head></sparql>").is_err());
        assert!(parse("just text").is_err());
    }
}
