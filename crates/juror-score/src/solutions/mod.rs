//! Results of SPARQL queries: reading them in four formats, and telling whether two agree.

mod column;
mod compare;
mod delimited;
mod difference;
mod json;
mod served;
mod verbatim;
mod xml;

use std::borrow::Cow;

use served::{Escaped, Plain};

use crate::media_type::MediaType;

pub use compare::{Comparison, Prepared, PreparedTable};
pub use difference::Difference;

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
    /// One list of cells a column, all of the same length.
    pub columns: Vec<Vec<Cell<'t>>>,
    /// How many rows there are; kept apart, since a table without columns can have rows.
    pub n_rows: usize,
}

/// A cell of a table.
///
/// IRIs, blank nodes, plain literals and literals of other types compare by their text, so they
/// are one variant; language tags are not compared.
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
    /// A literal with an optional datatype.
    pub fn literal(text: Cow<'t, str>, datatype: Option<&str>) -> Cell<'t> {
        match datatype.and_then(Datatype::from_iri) {
            Some(datatype) => Cell::Typed(datatype, text),
            None => Cell::Text(text),
        }
    }
}

/// More columns than this are not read: no query returns them, and comparing them would not end.
const MOST_COLUMNS: usize = 1024;

/// Whether a table of so many cells may come of a text of this length. Rows can leave most cells
/// out, so a small text could ask for any amount of memory.
fn fits(n_columns: usize, n_rows: usize, text_length: usize) -> bool {
    n_columns <= MOST_COLUMNS
        && n_columns.saturating_mul(n_rows) <= text_length.saturating_mul(16).max(1 << 22)
}

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

/// How the text of a result is written.
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
    /// Recognises a format by its media type; capital letters and parameters such as `charset` do
    /// not matter.
    pub fn from_media_type(media_type: &str) -> Option<ResultFormat> {
        MediaType::of(media_type).result_format()
    }
}

/// Why a text is not a SPARQL result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotAResult(String);

impl<'t> SparqlResult<'t> {
    /// Reads the text of a result.
    pub fn parse(text: &'t str, format: ResultFormat) -> Result<SparqlResult<'t>, NotAResult> {
        match format {
            ResultFormat::Json => json::parse(text),
            ResultFormat::Xml => xml::parse(text),
            ResultFormat::Csv => delimited::parse_csv(text),
            ResultFormat::Tsv => delimited::parse_tsv(text),
        }
    }

    /// Reads the text of an expected result. One in JSON or XML that does not list its columns has
    /// those of its rows; an actual result should say which it has.
    pub fn parse_reference(
        text: &'t str,
        format: ResultFormat,
    ) -> Result<SparqlResult<'t>, NotAResult> {
        let listed = SparqlResult::parse(text, format);
        if listed.as_ref().is_ok_and(SparqlResult::has_columns) {
            return listed;
        }
        match format {
            ResultFormat::Json => json::parse_headless(text),
            ResultFormat::Xml => xml::parse_headless(text),
            ResultFormat::Csv | ResultFormat::Tsv => listed,
        }
    }

    /// Whether it is a table with columns, or needs none.
    pub(crate) fn has_columns(&self) -> bool {
        match self {
            SparqlResult::Truth(_) => true,
            SparqlResult::Table(table) => !table.names.is_empty(),
        }
    }

    /// Reads a result in JSON as servers write them; `None` where [`SparqlResult::parse`] has to
    /// tell.
    pub fn parse_served(text: &'t str) -> Option<SparqlResult<'t>> {
        served::parse::<Plain>(text)
    }

    /// The same for a result that stands in a JSON string, from the inside of that string, which
    /// is not unescaped for it.
    pub fn parse_escaped(quoted: &'t str) -> Option<SparqlResult<'t>> {
        served::parse::<Escaped>(quoted)
    }

    /// The column names of a result as servers write them, where its head comes first.
    pub fn parse_served_names(text: &str) -> Option<Vec<String>> {
        served::parse_names::<Plain>(text)
    }

    /// The same for a result that stands in a JSON string.
    pub fn parse_escaped_names(quoted: &str) -> Option<Vec<String>> {
        served::parse_names::<Escaped>(quoted)
    }

    /// Whether a row of a result as servers write them has an IRI; `None` where it takes another
    /// reader to tell.
    pub(crate) fn served_has_iri(text: &str, iri: &str) -> Option<bool> {
        served::has_iri::<Plain>(text, iri)
    }

    /// The same for a result that stands in a JSON string.
    pub(crate) fn escaped_has_iri(quoted: &str, iri: &str) -> Option<bool> {
        served::has_iri::<Escaped>(quoted, iri)
    }

    /// The same result, borrowing from nothing.
    pub fn into_owned(self) -> SparqlResult<'static> {
        match self {
            SparqlResult::Truth(truth) => SparqlResult::Truth(truth),
            SparqlResult::Table(table) => SparqlResult::Table(table.into_owned()),
        }
    }

    /// The column names that are listed, reading no further than needed.
    pub fn parse_names(text: &str, format: ResultFormat) -> Option<Vec<String>> {
        match format {
            ResultFormat::Json => json::parse_names(text),
            _ => match SparqlResult::parse(text, format).ok()? {
                SparqlResult::Truth(_) => None,
                SparqlResult::Table(table)
                    if table.names.is_empty() && format == ResultFormat::Xml =>
                {
                    None
                }
                SparqlResult::Table(table) => {
                    Some(table.names.into_iter().map(Cow::into_owned).collect())
                }
            },
        }
    }
}
