//! SPARQL results as comma- and tab-separated values.

use std::borrow::Cow;

use csv_core::ReadFieldResult;

use crate::{Cell, MOST_COLUMNS, NotAResult, Solutions, SparqlResult, TableRoom};

const XSD: &str = "http://www.w3.org/2001/XMLSchema#";

/// Reads CSV, which has plain values only. An empty field is an unbound cell.
pub(super) fn parse_csv(text: &str, room: TableRoom) -> Result<SparqlResult<'_>, NotAResult> {
    let mut fields = CsvFields::new(text);
    let mut table = empty_table(names_in(&mut fields)?.into_iter().map(Cow::Owned));
    let mut column = 0;
    while let Some((field, is_last)) = fields.next() {
        // Ignore fields beyond the last column.
        if let Some(cells) = table.columns.get_mut(column) {
            cells.push(match field {
                "" => Cell::Unbound,
                field => Cell::Text(Cow::Owned(field.to_owned())),
            });
        }
        column += 1;
        if is_last {
            column = 0;
            end_row(&mut table, room)?;
        }
    }
    Ok(SparqlResult::Table(without_slack(table)))
}

/// Reads the names in the first record; none if the text is empty.
fn names_in(fields: &mut CsvFields<'_>) -> Result<Vec<String>, NotAResult> {
    let mut names = Vec::new();
    while let Some((name, is_last)) = fields.next() {
        if names.len() == MOST_COLUMNS {
            return Err(NotAResult::TooWide);
        }
        names.push(name.to_owned());
        if is_last {
            break;
        }
    }
    Ok(names)
}

/// Reads the names of the columns of CSV and stops before the rows.
pub(super) fn parse_names_of_csv(text: &str) -> Option<Vec<String>> {
    names_in(&mut CsvFields::new(text)).ok()
}

/// Reads the names of the columns of TSV and stops before the rows.
pub(super) fn parse_names_of_tsv(text: &str) -> Option<Vec<String>> {
    let names = names_of_tsv(text.lines().next()?).ok()?;
    Some(names.into_iter().map(str::to_owned).collect())
}

/// Whether CSV has columns and no rows.
pub(super) fn is_header_of_csv(text: &str) -> bool {
    let mut fields = CsvFields::new(text);
    loop {
        match fields.next() {
            Some((_, true)) => return fields.next().is_none(),
            Some((_, false)) => {}
            None => return false,
        }
    }
}

/// Whether TSV has columns and no rows.
pub(super) fn is_header_of_tsv(text: &str) -> bool {
    let mut lines = text.lines();
    let is_name = |name: &str| !name.strip_prefix(['?', '$']).unwrap_or(name).is_empty();
    lines.next().is_some_and(|head| head.split('\t').any(is_name)) && lines.next().is_none()
}

/// The fields of CSV, read one by one: a record may have any number of fields beyond those of the
/// table, and they should not fill the memory.
struct CsvFields<'t> {
    reader: csv_core::Reader,
    rest: &'t [u8],
    field: Vec<u8>,
}

impl<'t> CsvFields<'t> {
    fn new(text: &'t str) -> CsvFields<'t> {
        let field = vec![0; 256];
        CsvFields { reader: csv_core::Reader::new(), rest: text.as_bytes(), field }
    }

    /// Returns the next field and whether it ends its record.
    fn next(&mut self) -> Option<(&str, bool)> {
        let mut length = 0;
        loop {
            let (result, n_read, n_written) =
                self.reader.read_field(self.rest, &mut self.field[length..]);
            self.rest = &self.rest[n_read..];
            length += n_written;
            match result {
                // Called again without input, the reader finishes the last field.
                ReadFieldResult::InputEmpty => {}
                ReadFieldResult::OutputFull => self.field.resize(2 * self.field.len(), 0),
                ReadFieldResult::Field { record_end } => {
                    // Valid UTF-8, because the text was split at ASCII characters.
                    let field = str::from_utf8(&self.field[..length]).unwrap_or_default();
                    return Some((field, record_end));
                }
                ReadFieldResult::End => return None,
            }
        }
    }
}

/// Reads TSV, which has RDF terms in Turtle's syntax. An empty field is an unbound cell.
pub(super) fn parse_tsv(text: &str, room: TableRoom) -> Result<SparqlResult<'_>, NotAResult> {
    let mut lines = text.lines();
    let head = lines.next().ok_or_else(NotAResult::nothing)?;
    let mut table = empty_table(names_of_tsv(head)?.into_iter().map(Cow::Borrowed));
    for line in lines {
        for (column, field) in table.columns.iter_mut().zip(line.split('\t')) {
            column.push(term(field));
        }
        end_row(&mut table, room)?;
    }
    Ok(SparqlResult::Table(without_slack(table)))
}

fn names_of_tsv(head: &str) -> Result<Vec<&str>, NotAResult> {
    let names = head.split('\t').map(|name| name.strip_prefix(['?', '$']).unwrap_or(name));
    let names = names.filter(|name| !name.is_empty()).take(MOST_COLUMNS + 1);
    let names: Vec<&str> = names.collect();
    if names.len() > MOST_COLUMNS { Err(NotAResult::TooWide) } else { Ok(names) }
}

fn empty_table<'t>(names: impl Iterator<Item = Cow<'t, str>>) -> Solutions<'t> {
    let names: Vec<_> = names.collect();
    Solutions { columns: names.iter().map(|_| Vec::new()).collect(), names, n_rows: 0 }
}

/// Gives back what columns reserved beyond their rows. They grow by doubling, so a thousand of them
/// can hold twice as much as the table.
fn without_slack(mut table: Solutions<'_>) -> Solutions<'_> {
    table.columns.iter_mut().for_each(Vec::shrink_to_fit);
    table
}

/// Ends a row, leaving missing cells unbound.
fn end_row(table: &mut Solutions<'_>, room: TableRoom) -> Result<(), NotAResult> {
    table.n_rows += 1;
    room.check(table.columns.len(), table.n_rows)?;
    for column in table.columns.iter_mut().filter(|column| column.len() < table.n_rows) {
        column.push(Cell::Unbound);
    }
    Ok(())
}

/// Reads a term in Turtle's syntax. Anything else compares by its text.
fn term(field: &str) -> Cell<'_> {
    let field = field.trim();
    if field.is_empty() {
        return Cell::Unbound;
    }
    if let Some(iri) = field.strip_prefix('<').and_then(|rest| rest.strip_suffix('>')) {
        return Cell::Text(Cow::Borrowed(iri));
    }
    if let Some(label) = field.strip_prefix("_:") {
        return Cell::Text(Cow::Borrowed(label));
    }
    if let Some(cell) = quoted(field) {
        return cell;
    }
    let datatype = match field {
        "true" | "false" => "boolean",
        number if number.parse::<i128>().is_ok() => "integer",
        number if !number.contains(['e', 'E']) && is_number(number) => "decimal",
        number if is_number(number) => "double",
        _ => return Cell::Text(Cow::Borrowed(field)),
    };
    Cell::literal(Cow::Borrowed(field), Some(&format!("{XSD}{datatype}")))
}

fn is_number(text: &str) -> bool {
    text.bytes().next_back().is_some_and(|byte| byte.is_ascii_digit())
        && text.parse::<f64>().is_ok()
}

/// Reads `"text"`, `"text"@lang` or `"text"^^<datatype>`.
fn quoted(field: &str) -> Option<Cell<'_>> {
    let quote = field.chars().next().filter(|first| matches!(first, '"' | '\''))?;
    let end = field.rfind(quote).filter(|end| *end > 0)?;
    let datatype = field[end + 1..].strip_prefix("^^<").and_then(|rest| rest.strip_suffix('>'));
    Some(Cell::literal(unescape(&field[1..end]), datatype))
}

fn unescape(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            plain.push(character);
            continue;
        }
        match characters.next() {
            Some('n') => plain.push('\n'),
            Some('t') => plain.push('\t'),
            Some('r') => plain.push('\r'),
            Some('b') => plain.push('\u{8}'),
            Some('f') => plain.push('\u{c}'),
            Some('u') => plain.extend(code_point(&mut characters, 4)),
            Some('U') => plain.extend(code_point(&mut characters, 8)),
            Some(other) => plain.push(other),
            None => {}
        }
    }
    Cow::Owned(plain)
}

fn code_point(characters: &mut std::str::Chars, digits: usize) -> Option<char> {
    let hex: String = characters.by_ref().take(digits).collect();
    char::from_u32(u32::from_str_radix(&hex, 16).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Datatype;

    const ROOM: TableRoom = TableRoom { most_cells: 100 };

    fn table(result: Result<SparqlResult<'_>, NotAResult>) -> Solutions<'_> {
        match result {
            Ok(SparqlResult::Table(table)) => table,
            other => panic!("not a table: {other:?}"),
        }
    }

    #[test]
    fn csv_fields_are_plain_and_empty_ones_unbound() {
        let table = table(parse_csv("x,y\r\nurn:a,\"a, \"\"b\"\"\"\r\n,5\r\n", ROOM));
        assert_eq!(table.names, ["x", "y"]);
        assert_eq!(table.columns[0], [Cell::Text("urn:a".into()), Cell::Unbound]);
        assert_eq!(table.columns[1], [Cell::Text("a, \"b\"".into()), Cell::Text("5".into())]);
    }

    #[test]
    fn tsv_fields_are_terms() {
        let text = "?x\t?y\n<urn:a>\t\"say \\\"hi\\\"\"@en\n_:b1\t5\n\t\"2.5\"^^<http://www.w3.org/2001/XMLSchema#decimal>\n";
        let table = table(parse_tsv(text, ROOM));
        assert_eq!(table.names, ["x", "y"]);
        assert_eq!(table.columns[0][..2], [Cell::Text("urn:a".into()), Cell::Text("b1".into())]);
        assert_eq!(table.columns[0][2], Cell::Unbound);
        assert_eq!(table.columns[1][0], Cell::Text("say \"hi\"".into()));
        assert_eq!(table.columns[1][1], Cell::Typed(Datatype::Integer, "5".into()));
        assert_eq!(table.columns[1][2], Cell::Typed(Datatype::Decimal, "2.5".into()));
    }
}
