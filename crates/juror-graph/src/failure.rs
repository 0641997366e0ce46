//! Why a query has no answer.

use std::time::Duration;

/// Why a query has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QueryFailure {
    /// The query gives triples, which are no result to compare.
    #[error("{0} gives triples, not a table or a truth")]
    GivesTriples(&'static str),
    /// The query took too long.
    #[error("no answer within {} s", .0.as_secs_f64())]
    TimedOut(Duration),
    /// It takes too long to decide in which order its patterns are joined, which no time limit ends.
    #[error("the query joins too many patterns, or has too many OPTIONAL inside of each other")]
    TooManyJoins,
    /// The result has too many cells.
    #[error("the result has more than {0} cells")]
    TooLarge(usize),
    /// The query cannot be evaluated.
    #[error("{0}")]
    Evaluation(String),
    /// The result has something in it that is no term of RDF.
    #[error("the result has a value that RDF does not allow: {0}")]
    BadTerm(String),
    /// The endpoint failed.
    #[error(transparent)]
    Endpoint(#[from] EndpointFailure),
}

impl QueryFailure {
    /// Whether something outside is at fault, so that the same query may have an answer later.
    pub fn is_outside(&self) -> bool {
        match self {
            QueryFailure::Endpoint(failure) => !matches!(failure, EndpointFailure::BadQuery(_)),
            _ => false,
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            QueryFailure::TimedOut(_) => Some("allow more time with --graph-timeout"),
            QueryFailure::TooManyJoins => Some("about a hundred patterns can be joined at a time"),
            QueryFailure::Endpoint(failure) => failure.hint(),
            _ => None,
        }
    }
}

/// What went wrong with an endpoint.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EndpointFailure {
    /// It does not answer in time.
    #[error("the endpoint did not answer within {} s", .0.as_secs_f64())]
    TimedOut(Duration),
    /// It cannot be reached, or cuts the reply off.
    #[error("the endpoint cannot be reached: {0}")]
    Unreachable(String),
    /// Its reply ends too early.
    #[error("the endpoint's reply is cut off: {0}")]
    CutOff(String),
    /// It wants to know who asks.
    #[error("the endpoint asks for a password or key (HTTP {0})")]
    Denied(u16),
    /// It refuses the query.
    #[error("the endpoint refuses the query: {0}")]
    BadQuery(String),
    /// It is at another address.
    #[error("the endpoint redirects to `{target}` (HTTP {status})")]
    Redirect {
        /// The status of HTTP.
        status: u16,
        /// The other address.
        target: String,
    },
    /// It has a problem of its own.
    #[error("the endpoint failed (HTTP {status}){complaint}")]
    Status {
        /// The status of HTTP.
        status: u16,
        /// What it says, after a colon.
        complaint: String,
    },
    /// Its reply is longer than allowed.
    #[error("the endpoint's reply has more than {0} bytes")]
    TooLong(usize),
    /// It sends something that is no result.
    #[error("the endpoint sends {0}, not SPARQL results")]
    OtherMediaType(String),
    /// It says that it sends a result, and does not.
    #[error("the endpoint's reply is no SPARQL result: {0}")]
    Garbled(String),
    /// It failed too often to be asked again.
    #[error("not asked: the endpoint failed {0} times in a row")]
    GivenUp(usize),
}

impl EndpointFailure {
    /// What to do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            EndpointFailure::TimedOut(_) => Some("allow more time with --graph-timeout"),
            EndpointFailure::Redirect { .. } => Some(
                "queries are not sent on: name that address if it is an endpoint; it may ask who you are",
            ),
            EndpointFailure::Denied(_) => {
                Some("say who asks with --graph-header 'Authorization: Bearer env:NAME'")
            }
            EndpointFailure::OtherMediaType(_)
            | EndpointFailure::Status { status: 404 | 405, .. } => {
                Some("is this the address of the endpoint itself? Many end in /sparql or /query")
            }
            _ => None,
        }
    }
}
