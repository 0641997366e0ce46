//! Results of SPARQL queries: reading four formats, and deciding whether two results agree.
//!
//! [`SparqlResult::parse`] reads the result of a SELECT or ASK query from JSON, XML, CSV or TSV into
//! a boolean or a table of [`Solutions`], stored by column and borrowing from the text.
//!
//! Two tables agree if the required columns of one can be mapped injectively into the columns of the
//! other so that the rows are equal as sets, as multisets or as sequences ([`Rules`]). Names of
//! columns do not matter. Trying all mappings would take factorial time, so [`Prepared`] turns values
//! into integers, rules out columns with different values, and searches what is left within a
//! budget. It prepares a reference once for any number of comparisons. [`TableAlignment`] shows
//! people how the columns and rows of two tables are paired.
//!
//! ```
//! use juror_sparql::{Comparison, Prepared, ResultFormat, Rules, SparqlResult};
//!
//! let reference = "city,land\nOslo,Norway\nRome,Italy\n";
//! let reference = SparqlResult::parse(reference, ResultFormat::Csv)?;
//! // Different names, a different order of columns and rows, a different format.
//! let actual = "?of\t?capital\n\"Italy\"\t\"Rome\"\n\"Norway\"\t\"Oslo\"\n";
//! let actual = SparqlResult::parse(actual, ResultFormat::Tsv)?;
//! let prepared = Prepared::new(&reference, &Rules::default());
//! assert_eq!(prepared.compare(&actual), Comparison::Same);
//! # Ok::<(), juror_sparql::NotAResult>(())
//! ```
//!
//! A table cannot grow far beyond the size of its text ([`CellLimit`]), so that a small text cannot
//! fill the memory.
//!
//! You will not find queries, HTTP clients or a triple store here.

mod alignment;
mod candidates;
mod column;
mod compare;
mod delimited;
mod json;
mod json_fast;
mod media_type;
mod room;
mod rules;
mod verbatim;
mod xml;

use std::borrow::Cow;

use json_fast::{Escaped, Plain};

pub use alignment::{AlignedRow, AlignmentRoom, TableAlignment};
pub use compare::{Comparison, Prepared, PreparedTable};
pub use media_type::MediaType;
pub use room::CellLimit;
use room::TableRoom;
pub use rules::Rules;

/// The result of a SELECT or ASK query.
#[derive(Clone, Debug, PartialEq)]
pub enum SparqlResult<'t> {
    /// The answer to an ASK query.
    Truth(bool),
    /// The rows of a SELECT query.
    Table(Solutions<'t>),
}

/// A table of solutions, kept by columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Solutions<'t> {
    /// The names of the columns.
    pub names: Vec<Cow<'t, str>>,
    /// One list of cells per column, all of the same length.
    pub columns: Vec<Vec<Cell<'t>>>,
    /// The number of rows; stored because a table without columns can have rows.
    pub n_rows: usize,
}

/// A cell of a table.
///
/// IRIs, blank nodes, plain literals and literals of other types all compare by their text, so they
/// share one variant. Language tags are not compared.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell<'t> {
    /// No value.
    Unbound,
    /// A value that compares by its text.
    Text(Cow<'t, str>),
    /// A literal that compares by its value.
    Typed(Datatype, Cow<'t, str>),
}

/// The types whose literals compare by value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Datatype {
    /// `xsd:integer` and the types derived from it.
    Integer,
    /// `xsd:decimal`.
    Decimal,
    /// `xsd:float`, `xsd:double`.
    Double,
    /// `xsd:boolean`.
    Boolean,
}

impl Datatype {
    /// Recognises a datatype by its IRI.
    pub fn from_iri(iri: &str) -> Option<Datatype> {
        match iri.strip_prefix("http://www.w3.org/2001/XMLSchema#")? {
            "integer" | "int" | "long" | "short" | "byte" | "nonNegativeInteger"
            | "positiveInteger" | "nonPositiveInteger" | "negativeInteger" | "unsignedLong"
            | "unsignedInt" | "unsignedShort" | "unsignedByte" => Some(Datatype::Integer),
            "decimal" => Some(Datatype::Decimal),
            "float" | "double" => Some(Datatype::Double),
            "boolean" => Some(Datatype::Boolean),
            _ => None,
        }
    }
}

impl<'t> Cell<'t> {
    /// Creates a literal with an optional datatype.
    pub fn literal(text: Cow<'t, str>, datatype: Option<&str>) -> Cell<'t> {
        match datatype.and_then(Datatype::from_iri) {
            Some(datatype) => Cell::Typed(datatype, text),
            None => Cell::Text(text),
        }
    }
}

/// The most columns a table may have. No real query returns more, and comparing more would take too
/// long.
pub const MOST_COLUMNS: usize = 1024;

impl Solutions<'_> {
    fn into_owned(self) -> Solutions<'static> {
        let own = |text: Cow<str>| Cow::Owned(text.into_owned());
        let cell = |cell: Cell| match cell {
            Cell::Unbound => Cell::Unbound,
            Cell::Text(text) => Cell::Text(own(text)),
            Cell::Typed(datatype, text) => Cell::Typed(datatype, own(text)),
        };
        Solutions {
            names: self.names.into_iter().map(own).collect(),
            columns: self
                .columns
                .into_iter()
                .map(|cells| cells.into_iter().map(cell).collect())
                .collect(),
            n_rows: self.n_rows,
        }
    }
}

/// The format of a result's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultFormat {
    /// `application/sparql-results+json`
    Json,
    /// `application/sparql-results+xml`
    Xml,
    /// `text/csv`
    Csv,
    /// `text/tab-separated-values`
    Tsv,
}

impl ResultFormat {
    /// Recognises a format by its media type, ignoring case and parameters such as `charset`.
    pub fn from_media_type(media_type: &str) -> Option<ResultFormat> {
        MediaType::of(media_type).result_format()
    }
}

/// Why a text is not a SPARQL result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAResult {
    /// It is a table with more cells than its limit allows.
    #[error("the table is too large for its text")]
    TooLarge,
    /// It is a table with more than [`MOST_COLUMNS`] columns.
    #[error("the table has more than {MOST_COLUMNS} columns")]
    TooWide,
    /// It is something else.
    #[error("{0}")]
    Other(String),
}

impl NotAResult {
    /// The error for an empty text.
    pub fn nothing() -> NotAResult {
        NotAResult::Other("an empty text is not a result".into())
    }

    /// Whether the text is a table that exceeds a limit.
    pub fn is_too_large(&self) -> bool {
        matches!(self, NotAResult::TooLarge | NotAResult::TooWide)
    }
}

impl<'t> SparqlResult<'t> {
    /// Reads the text of a result.
    pub fn parse(text: &'t str, format: ResultFormat) -> Result<SparqlResult<'t>, NotAResult> {
        SparqlResult::parse_within(text, format, CellLimit::DEFAULT)
    }

    /// Reads the text of a result within a limit.
    pub fn parse_within(
        text: &'t str,
        format: ResultFormat,
        limit: CellLimit,
    ) -> Result<SparqlResult<'t>, NotAResult> {
        let room = TableRoom::of(text, limit);
        match format {
            ResultFormat::Json => json::parse(text, room),
            ResultFormat::Xml => xml::parse(text, room),
            ResultFormat::Csv => delimited::parse_csv(text, room),
            ResultFormat::Tsv => delimited::parse_tsv(text, room),
        }
    }

    /// Reads the text of an expected result. If one in JSON or XML does not list its columns, they
    /// are taken from its rows. Actual results have to list them.
    pub fn parse_reference(
        text: &'t str,
        format: ResultFormat,
    ) -> Result<SparqlResult<'t>, NotAResult> {
        SparqlResult::parse_reference_within(text, format, CellLimit::DEFAULT)
    }

    /// Like [`parse_reference`](Self::parse_reference), within a limit.
    pub fn parse_reference_within(
        text: &'t str,
        format: ResultFormat,
        limit: CellLimit,
    ) -> Result<SparqlResult<'t>, NotAResult> {
        let listed = SparqlResult::parse_within(text, format, limit);
        if listed.as_ref().is_ok_and(SparqlResult::has_columns) {
            return listed;
        }
        let room = TableRoom::of(text, limit);
        match format {
            ResultFormat::Json => json::parse_headless(text, room),
            ResultFormat::Xml => xml::parse_headless(text, room),
            ResultFormat::Csv | ResultFormat::Tsv => listed,
        }
    }

    /// Whether this is a boolean, or a table with columns.
    pub fn has_columns(&self) -> bool {
        match self {
            SparqlResult::Truth(_) => true,
            SparqlResult::Table(table) => !table.names.is_empty(),
        }
    }

    /// Reads JSON as servers write it. Returns `None` if the fast parser cannot decide; the caller
    /// then uses [`SparqlResult::parse`].
    pub fn parse_served(text: &'t str, limit: CellLimit) -> Option<SparqlResult<'t>> {
        json_fast::parse::<Plain>(text, TableRoom::of(text, limit))
    }

    /// Like [`parse_served`](Self::parse_served) for a result inside a JSON string, given what is
    /// between the quotes. Does not unescape it first.
    pub fn parse_escaped(quoted: &'t str, limit: CellLimit) -> Option<SparqlResult<'t>> {
        json_fast::parse::<Escaped>(quoted, TableRoom::of_escaped(quoted, limit))
    }

    /// Reads the column names of JSON as servers write it, if its head comes first.
    pub fn parse_served_names(text: &str) -> Option<Vec<String>> {
        json_fast::parse_names::<Plain>(text)
    }

    /// Like [`parse_served_names`](Self::parse_served_names) for a result inside a JSON string.
    pub fn parse_escaped_names(quoted: &str) -> Option<Vec<String>> {
        json_fast::parse_names::<Escaped>(quoted)
    }

    /// Whether any row of JSON as servers write it contains an IRI, or `None` if the fast parser
    /// cannot decide.
    pub fn served_has_iri(text: &str, iri: &str) -> Option<bool> {
        json_fast::has_iri::<Plain>(text, iri)
    }

    /// Like [`served_has_iri`](Self::served_has_iri) for a result inside a JSON string.
    pub fn escaped_has_iri(quoted: &str, iri: &str) -> Option<bool> {
        json_fast::has_iri::<Escaped>(quoted, iri)
    }

    /// Whether a text in CSV or TSV lists columns and has no rows. Does not read further.
    pub fn is_header_alone(text: &str, format: ResultFormat) -> bool {
        match format {
            ResultFormat::Csv => delimited::is_header_of_csv(text),
            ResultFormat::Tsv => delimited::is_header_of_tsv(text),
            ResultFormat::Json | ResultFormat::Xml => false,
        }
    }

    /// Copies everything that is borrowed.
    pub fn into_owned(self) -> SparqlResult<'static> {
        match self {
            SparqlResult::Truth(truth) => SparqlResult::Truth(truth),
            SparqlResult::Table(table) => SparqlResult::Table(table.into_owned()),
        }
    }

    /// Reads the listed column names and nothing more, since the table may be too large to read.
    pub fn parse_names(text: &str, format: ResultFormat) -> Option<Vec<String>> {
        match format {
            ResultFormat::Json => json::parse_names(text),
            ResultFormat::Xml => xml::parse_names(text),
            ResultFormat::Csv => delimited::parse_names_of_csv(text),
            ResultFormat::Tsv => delimited::parse_names_of_tsv(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_too_large(text: &str, format: ResultFormat) -> bool {
        SparqlResult::parse(text, format).is_err_and(|why| why.is_too_large())
    }

    #[test]
    fn a_small_text_makes_no_large_table() {
        let wide = |separator: &str| {
            let names: Vec<String> = (0..1000).map(|name| format!("x{name}")).collect();
            names.join(separator)
        };
        let rows = 100_000;
        let tsv = format!("?{}\n{}", wide("\t?"), "\n".repeat(rows));
        let csv = format!("{}\n{}", wide(","), "1\n".repeat(rows));
        let json = format!(
            "{{\"head\":{{\"vars\":[\"{}\"]}},\"results\":{{\"bindings\":[{{}}{}]}}}}",
            wide("\",\""),
            ",{}".repeat(rows)
        );
        let head = format!("<sparql><variable name='{}'/>", wide("'/><variable name='"));
        let xml = format!("{head}{}</sparql>", "<result/>".repeat(rows));
        for (text, format) in [
            (&tsv, ResultFormat::Tsv),
            (&csv, ResultFormat::Csv),
            (&json, ResultFormat::Json),
            (&xml, ResultFormat::Xml),
        ] {
            assert!(is_too_large(text, format), "{format:?}");
            assert_eq!(SparqlResult::parse_served(text, CellLimit::DEFAULT), None);
            let limits = CellLimit(1000 * (rows + 1));
            let most = TableRoom::of(text, limits);
            assert!(most.holds(1000, rows + 1) && !most.holds(1025, 1));
        }
    }

    #[test]
    fn the_columns_of_a_table_are_known_however_large_it_is() {
        let rows = 1_000_000;
        let tsv = format!("?a\t$b\n{}", "\n".repeat(rows));
        let csv = format!("a,b\n{}", "1\n".repeat(rows));
        let head = "<sparql><head><variable name='a'/><variable name='b'/></head>";
        let xml = format!("{head}<results>{}", "<result/>".repeat(10));
        for (text, format) in
            [(&tsv, ResultFormat::Tsv), (&csv, ResultFormat::Csv), (&xml, ResultFormat::Xml)]
        {
            let limits = CellLimit(9);
            let read = SparqlResult::parse_within(text, format, limits);
            assert!(format == ResultFormat::Xml || read.is_err_and(|why| why.is_too_large()));
            let names = SparqlResult::parse_names(text, format);
            assert_eq!(names, Some(vec!["a".to_owned(), "b".to_owned()]), "{format:?}");
        }
        for text in ["<html/>", "<sparql><head/><boolean>true</boolean></sparql>", "", "<sparql"] {
            assert_eq!(SparqlResult::parse_names(text, ResultFormat::Xml), None, "{text}");
        }
    }

    #[test]
    fn a_table_has_the_same_room_however_its_text_is_escaped() {
        let limits = CellLimit(0);
        for n_columns in 1..=16 {
            let names: Vec<String> = (0..n_columns).map(|name| format!("\"{name}\"")).collect();
            let rows = vec![r#"{"0":{"value":"1"}}"#; 1000].join(",");
            let head = format!(r#"{{"head":{{"vars":[{}]}}"#, names.join(","));
            let text = format!(r#"{head},"results":{{"bindings":[{rows}]}}}}"#);
            let read = SparqlResult::parse_within(&text, ResultFormat::Json, limits);
            let quoted = serde_json::to_string(&text).expect("JSON");
            let coded = quoted.replace("\\\"", "\\u0022");
            for quoted in [quoted, coded] {
                let inside = &quoted[1..quoted.len() - 1];
                let escaped = SparqlResult::parse_escaped(inside, limits);
                assert!(read.is_ok() || escaped.is_none(), "{n_columns}");
            }
        }
    }

    #[test]
    fn no_text_can_say_that_it_is_too_large() {
        let text = r#"{"head": "the table is too large for its text"}"#;
        assert!(!is_too_large(text, ResultFormat::Json));
    }

    #[test]
    fn a_long_text_may_have_many_cells() {
        let n_rows = CellLimit::DEFAULT.0;
        let csv = format!("a,b\n{}", "12345,12345\n".repeat(n_rows));
        let read = SparqlResult::parse(&csv, ResultFormat::Csv);
        assert!(matches!(read, Ok(SparqlResult::Table(table)) if table.n_rows == n_rows));
    }

    #[test]
    fn a_table_has_cells_for_its_text_and_those_of_the_limit() {
        // It has 15 cells, and the length of its text allows for 8.
        let csv = "a,b,c\n1,2,3\n,,\n,,\n,,\n------------";
        assert_eq!(csv.len(), 33);
        for (limit, n_rows) in [(4, None), (7, Some(5)), (100, Some(5))] {
            let read = SparqlResult::parse_within(csv, ResultFormat::Csv, CellLimit(limit));
            let table = read.ok().map(|read| match read {
                SparqlResult::Table(table) => table.n_rows,
                SparqlResult::Truth(_) => 0,
            });
            assert_eq!(table, n_rows, "{limit}");
        }
    }

    #[test]
    fn a_limit_can_be_lifted() {
        let limits = |table_cells| CellLimit(table_cells);
        for (text, format) in
            [("a,b\n1\n2\n3\n", ResultFormat::Csv), ("?a\t?b\n1\n2\n3\n", ResultFormat::Tsv)]
        {
            let read = |cells| SparqlResult::parse_within(text, format, limits(cells));
            // There are six cells, and the length of the text allows for some.
            let of_text = text.len() / CellLimit::BYTES_A_CELL;
            assert!(read(6 - of_text).is_ok(), "{text}");
            assert_eq!(read(5 - of_text), Err(NotAResult::TooLarge), "{text}");
        }
    }

    #[test]
    fn columns_that_are_listed_again_and_again_do_not_repeat_a_long_text() {
        let text = |length: usize| {
            let (names, text) = (["\"a\""; 1024].join(","), "x".repeat(length));
            format!(
                r#"{{"head": {{"vars": [{names}]}},
                   "results": {{"bindings": [{{"a": {{"value": "{text}"}}}}]}}}}"#
            )
        };
        assert!(SparqlResult::parse(&text(1000), ResultFormat::Json).is_ok());
        assert!(is_too_large(&text(1 << 20), ResultFormat::Json));
        assert_eq!(SparqlResult::parse_served(&text(1 << 20), CellLimit::DEFAULT), None);
    }

    #[test]
    fn no_table_has_more_columns_than_any_query() {
        let csv = ",".repeat(1 << 20);
        let too_wide = Err(NotAResult::TooWide);
        assert_eq!(SparqlResult::parse(&csv, ResultFormat::Csv), too_wide);
        let tsv = "x\t".repeat(1 << 20);
        assert_eq!(SparqlResult::parse(&tsv, ResultFormat::Tsv), too_wide);
        let names = vec!["\"a\""; MOST_COLUMNS + 1].join(",");
        for rows in ["", "{}"] {
            let json = format!(
                r#"{{"head": {{"vars": [{names}]}}, "results": {{"bindings": [{rows}]}}}}"#
            );
            assert_eq!(SparqlResult::parse(&json, ResultFormat::Json), too_wide);
        }
        let variables: Vec<String> =
            (0..1025).map(|n| format!("<variable name='x{n}'/>")).collect();
        let xml = format!("<sparql><head>{}</head><results/></sparql>", variables.concat());
        assert_eq!(SparqlResult::parse(&xml, ResultFormat::Xml), too_wide);
        let rows = format!("a,b\n{}\n1,2\n", ",".repeat(1 << 20));
        let read = SparqlResult::parse(&rows, ResultFormat::Csv);
        assert!(matches!(read, Ok(SparqlResult::Table(table)) if table.n_rows == 2));
    }
}
