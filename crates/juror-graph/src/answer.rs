//! Answers to queries.

use std::sync::Arc;

use juror_sparql::ResultFormat;
use oxrdf::{BlankNode, Term, Variable};
use sparesults::{
    QueryResultsFormat, QueryResultsParser, QueryResultsSerializer, SliceQueryResultsParserOutput,
};

use crate::QueryLimits;
use crate::failure::QueryFailure;
use crate::loose;

/// The answer to a query.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// Of an ASK query.
    Truth(bool),
    /// Of a SELECT query.
    Table(Table),
}

/// The rows of a SELECT query.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    variables: Arc<[Variable]>,
    rows: Vec<Vec<Option<Term>>>,
}

impl Table {
    pub(crate) fn new(variables: &[Variable]) -> Table {
        Table { variables: variables.into(), rows: Vec::new() }
    }

    pub(crate) fn push(
        &mut self,
        row: &[Option<Term>],
        limits: &QueryLimits,
    ) -> Result<(), QueryFailure> {
        self.rows.push(row.to_vec());
        // A table without columns still has rows.
        let n_cells = self.rows.len().saturating_mul(self.variables.len().max(1));
        if n_cells > limits.cells { Err(QueryFailure::TooLarge(limits.cells)) } else { Ok(()) }
    }

    /// The names of the columns, without `?`.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.variables.iter().map(Variable::as_str)
    }

    /// The rows, with a cell for each column.
    pub fn rows(&self) -> &[Vec<Option<Term>>] {
        &self.rows
    }
}

impl Answer {
    /// Whether this is a table without rows.
    pub fn is_empty(&self) -> bool {
        matches!(self, Answer::Table(table) if table.rows.is_empty())
    }

    /// Writes the answer in a format, with line ends of one character. CSV and TSV have no form for
    /// truths, and get the word.
    pub fn write(&self, format: ResultFormat) -> String {
        let serializer = QueryResultsSerializer::from_format(format_of(format));
        let bytes = match self {
            Answer::Truth(truth) => serializer.serialize_boolean_to_writer(Vec::new(), *truth),
            Answer::Table(table) => {
                let variables = table.variables.to_vec();
                serializer.serialize_solutions_to_writer(Vec::new(), variables).and_then(
                    |mut out| {
                        for row in &table.rows {
                            let cells = table.variables.iter().zip(row);
                            out.serialize(
                                cells.filter_map(|(name, cell)| Some((name, cell.as_ref()?))),
                            )?;
                        }
                        out.finish()
                    },
                )
            }
        };
        // Memory takes all that is written, and terms are texts.
        let text = String::from_utf8(bytes.unwrap_or_default()).unwrap_or_default();
        if format == ResultFormat::Csv { text.replace("\r\n", "\n") } else { text }
    }

    /// Reads a recorded answer; `None` if it is none, or in CSV, which does not tell texts from IRIs.
    pub fn parse(text: &str, format: ResultFormat) -> Option<Answer> {
        let limits = QueryLimits { cells: usize::MAX, ..QueryLimits::default() };
        Answer::read(text.as_bytes(), format_of(format), &limits).ok()?.ok()
    }

    /// Returns the answer with one label for all blank nodes; `None` if it has none.
    pub fn without_blank_labels(&self) -> Option<Answer> {
        let Answer::Table(table) = self else { return None };
        let mut table = table.clone();
        let mut has_any = false;
        for term in table.rows.iter_mut().flatten().flatten() {
            if term.is_blank_node() {
                *term = BlankNode::new_unchecked("b").into();
                has_any = true;
            }
        }
        has_any.then_some(Answer::Table(table))
    }

    /// Reads an answer. CSV is not read: it does not tell texts from IRIs.
    pub(crate) fn read(
        text: &[u8],
        format: QueryResultsFormat,
        limits: &QueryLimits,
    ) -> Result<Result<Answer, QueryFailure>, String> {
        let read = Answer::read_strictly(text, format, limits);
        match read {
            Err(why) if format == QueryResultsFormat::Json => {
                loose::read_json(text, limits).ok_or(why)
            }
            read => read,
        }
    }

    fn read_strictly(
        text: &[u8],
        format: QueryResultsFormat,
        limits: &QueryLimits,
    ) -> Result<Result<Answer, QueryFailure>, String> {
        let read = QueryResultsParser::from_format(format).for_slice(text);
        let solutions = match read.map_err(|error| error.to_string())? {
            SliceQueryResultsParserOutput::Boolean(truth) => return Ok(Ok(Answer::Truth(truth))),
            SliceQueryResultsParserOutput::Solutions(solutions) => solutions,
        };
        let mut table = Table::new(solutions.variables());
        for solution in solutions {
            let solution = solution.map_err(|error| error.to_string())?;
            if let Err(failure) = table.push(solution.values(), limits) {
                return Ok(Err(failure));
            }
        }
        Ok(Ok(Answer::Table(table)))
    }
}

fn format_of(format: ResultFormat) -> QueryResultsFormat {
    match format {
        ResultFormat::Json => QueryResultsFormat::Json,
        ResultFormat::Xml => QueryResultsFormat::Xml,
        ResultFormat::Csv => QueryResultsFormat::Csv,
        ResultFormat::Tsv => QueryResultsFormat::Tsv,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let text = r#"{"head":{"vars":["a","b"]},"results":{"bindings":[{"a":{"type":"literal","value":"x\ty"}},{"a":{"type":"uri","value":"x:y"},"b":{"type":"literal","value":"7","datatype":"http://www.w3.org/2001/XMLSchema#integer"}},{"b":{"type":"literal","value":"ja","xml:lang":"de"}}]}}"#;
        let limits = QueryLimits::default();
        let read = |text: &str, format| {
            Answer::read(text.as_bytes(), format, &limits).expect("a result").expect("small")
        };
        let answer = read(text, QueryResultsFormat::Json);
        assert_eq!(answer.write(ResultFormat::Json), text);
        for (format, same) in [
            (ResultFormat::Xml, QueryResultsFormat::Xml),
            (ResultFormat::Tsv, QueryResultsFormat::Tsv),
        ] {
            assert_eq!(read(&answer.write(format), same), answer, "{format:?}");
        }
        assert_eq!(answer.write(ResultFormat::Csv), "a,b\nx\ty,\nx:y,7\n,ja\n");
    }

    #[test]
    fn terms_that_rdf_does_not_allow_are_kept_as_they_are() {
        let text = r#"{"head":{"vars":["a","b"]},"results":{"bindings":[{"a":{"type":"uri","value":"http://x/a b"}},{"b":{"type":"literal","value":"5","datatype":"http://x/> } #"}},{"a":{"type":"uri","value":"x:y"},"b":{"type":"literal","value":"ja","xml:lang":"d e"}}]}}"#;
        let answer = Answer::parse(text, ResultFormat::Json).expect("a result");
        assert_eq!(answer.write(ResultFormat::Json), text);
        let Answer::Table(table) = &answer else { panic!("a table") };
        let allowed = table.rows().iter().flatten().flatten().map(loose::is_allowed);
        assert_eq!(allowed.collect::<Vec<_>>(), [false, false, true, false]);
        assert_eq!(Answer::parse(&text.replace("uri", "weird"), ResultFormat::Json), None);
    }

    #[test]
    fn a_table_has_no_more_cells_than_it_may() {
        let limits = QueryLimits { cells: 3, ..QueryLimits::default() };
        let tsv = "?a\t?b\n1\t2\n3\t4\n";
        let read = Answer::read(tsv.as_bytes(), QueryResultsFormat::Tsv, &limits);
        assert_eq!(read, Ok(Err(QueryFailure::TooLarge(3))));
    }
}
