//! SPARQL results as comma- and tab-separated values.

use std::borrow::Cow;

use super::{Cell, NotAResult, Solutions, SparqlResult};

const XSD: &str = "http://www.w3.org/2001/XMLSchema#";

/// CSV holds plain values only; an empty field is an unbound cell.
pub(super) fn parse_csv(text: &str) -> Result<SparqlResult<'_>, NotAResult> {
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(text.as_bytes());
    let headers = reader.headers().map_err(|error| not_csv(&error))?.clone();
    let names: Vec<String> = headers.iter().map(str::to_owned).collect();
    let mut table = empty_table(names.into_iter().map(Cow::Owned));
    for record in reader.records() {
        let record = record.map_err(|error| not_csv(&error))?;
        let cells = record.iter().map(|field| match field {
            "" => Cell::Unbound,
            field => Cell::Text(Cow::Owned(field.to_owned())),
        });
        push_row(&mut table, cells);
    }
    Ok(SparqlResult::Table(table))
}

fn not_csv(error: &csv::Error) -> NotAResult {
    NotAResult(format!("not a SPARQL result in CSV: {error}"))
}

/// TSV holds RDF terms as Turtle writes them; an empty field is an unbound cell.
pub(super) fn parse_tsv(text: &str) -> Result<SparqlResult<'_>, NotAResult> {
    let mut lines = text.lines();
    let head = lines.next().ok_or_else(|| NotAResult("an empty text is not a result".into()))?;
    let names = head.split('\t').map(|name| name.strip_prefix(['?', '$']).unwrap_or(name));
    let mut table = empty_table(names.filter(|name| !name.is_empty()).map(Cow::Borrowed));
    for line in lines {
        push_row(&mut table, line.split('\t').map(term));
    }
    Ok(SparqlResult::Table(table))
}

fn empty_table<'t>(names: impl Iterator<Item = Cow<'t, str>>) -> Solutions<'t> {
    let names: Vec<_> = names.collect();
    Solutions { columns: names.iter().map(|_| Vec::new()).collect(), names, n_rows: 0 }
}

fn push_row<'t>(table: &mut Solutions<'t>, mut cells: impl Iterator<Item = Cell<'t>>) {
    for column in &mut table.columns {
        column.push(cells.next().unwrap_or(Cell::Unbound));
    }
    table.n_rows += 1;
}

/// A term in Turtle's syntax; what is none compares by its text.
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

/// `"text"`, `"text"@lang` or `"text"^^<datatype>`.
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
    use crate::solutions::Datatype;

    fn table(result: Result<SparqlResult<'_>, NotAResult>) -> Solutions<'_> {
        match result {
            Ok(SparqlResult::Table(table)) => table,
            other => panic!("not a table: {other:?}"),
        }
    }

    #[test]
    fn csv_fields_are_plain_and_empty_ones_unbound() {
        let table = table(parse_csv("x,y\r\nurn:a,\"a, \"\"b\"\"\"\r\n,5\r\n"));
        assert_eq!(table.names, ["x", "y"]);
        assert_eq!(table.columns[0], [Cell::Text("urn:a".into()), Cell::Unbound]);
        assert_eq!(table.columns[1], [Cell::Text("a, \"b\"".into()), Cell::Text("5".into())]);
    }

    #[test]
    fn tsv_fields_are_terms() {
        let text = "?x\t?y\n<urn:a>\t\"say \\\"hi\\\"\"@en\n_:b1\t5\n\t\"2.5\"^^<http://www.w3.org/2001/XMLSchema#decimal>\n";
        let table = table(parse_tsv(text));
        assert_eq!(table.names, ["x", "y"]);
        assert_eq!(table.columns[0][..2], [Cell::Text("urn:a".into()), Cell::Text("b1".into())]);
        assert_eq!(table.columns[0][2], Cell::Unbound);
        assert_eq!(table.columns[1][0], Cell::Text("say \"hi\"".into()));
        assert_eq!(table.columns[1][1], Cell::Typed(Datatype::Integer, "5".into()));
        assert_eq!(table.columns[1][2], Cell::Typed(Datatype::Decimal, "2.5".into()));
    }
}
