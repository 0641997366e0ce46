//! Asks knowledge graphs.
//!
//! A [`Graph`] is a set of RDF files, read into memory ([`Triples`]), or a server that speaks the
//! SPARQL protocol ([`Endpoint`]). Both answer a [`Query`] with an [`Answer`], a table or a truth, within
//! [`QueryLimits`]. A [`GraphVersion`] says whether a graph is still the one that gave an answer.
//!
//! A query is parsed before it goes anywhere: updates and `SERVICE`, which would call other servers, are
//! refused, whichever graph is asked. What a failure tells apart is whose fault it is: the query's, the
//! graph's, or that of something outside ([`QueryFailure`]).
//!
//! ```
//! use juror_graph::{Graph, LoadOptions, Query, QueryLimits, QueryOptions, Triples};
//! use juror_sparql::ResultFormat;
//!
//! let turtle = r#"@prefix : <http://example.org/> . :oslo :in :norway . :rome :in :italy ."#;
//! let triples = Triples::parse("cities.ttl", turtle.as_bytes(), &LoadOptions::default())?;
//! let graph = Graph::Triples(triples);
//! let query = "SELECT ?city { ?city <http://example.org/in> <http://example.org/italy> }";
//! let query = Query::parse(query, &QueryOptions::default())?;
//! let answer = graph.ask(&query, &QueryLimits::default())?;
//! assert_eq!(answer.write(ResultFormat::Csv), "city\nhttp://example.org/rome\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Evaluating queries is Oxigraph's work, by its crates `spareval` and `spargebra`. The index is ours: a
//! graph that is only read needs no transactions, so that sorted lists of numbers do, at 36 bytes a triple.
//!
//! You will not find what references are, printing, or a disk store here.

mod answer;
mod endpoint;
mod failure;
mod load;
mod loose;
mod query;
mod query_pattern;
mod room;
mod terms;
mod triples;
mod version;

pub use answer::{Answer, Table};
pub use endpoint::{Endpoint, EndpointOptions};
pub use failure::{EndpointFailure, QueryFailure};
pub use load::{LoadError, LoadOptions, Loading};
pub use loose::is_allowed;
pub use oxrdf::{Literal, NamedNode, Term};
pub use query::{Query, QueryForm, QueryOptions, Refusal};
pub use query_pattern::{NotFilled, QueryPattern, is_name};
pub use room::with_room;
pub use triples::{Extent, Triples};
pub use version::GraphVersion;

use std::time::Duration;

/// What one query may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueryLimits {
    /// How long it may run.
    pub timeout: Duration,
    /// The most cells of a table.
    pub cells: usize,
    /// The longest reply of an endpoint, in bytes.
    pub bytes: usize,
}

impl Default for QueryLimits {
    fn default() -> QueryLimits {
        QueryLimits { timeout: Duration::from_secs(30), cells: 5_000_000, bytes: 256 << 20 }
    }
}

/// A knowledge graph.
#[derive(Debug)]
pub enum Graph {
    /// Triples in memory.
    Triples(Triples),
    /// A server.
    Endpoint(Endpoint),
}

impl Graph {
    /// Asks a query. May be called by several threads at once.
    pub fn ask(&self, query: &Query, limits: &QueryLimits) -> Result<Answer, QueryFailure> {
        if let QueryForm::Construct | QueryForm::Describe = query.form() {
            return Err(QueryFailure::GivesTriples(query.form().name()));
        }
        match self {
            Graph::Triples(triples) => triples.ask(query, limits),
            Graph::Endpoint(endpoint) => endpoint.ask(query, limits),
        }
    }

    /// Names the graph, without what is secret in its address, and says how large it is, if that is known.
    pub fn describe(&self) -> String {
        match self {
            Graph::Triples(triples) => triples.describe(),
            Graph::Endpoint(endpoint) => endpoint.describe(),
        }
    }
}
