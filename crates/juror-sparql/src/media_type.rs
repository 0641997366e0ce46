//! Media types that decide how outputs are read and compared.

use crate::ResultFormat;

/// The kind of output that a media type stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MediaType {
    /// A SPARQL result.
    Result(ResultFormat),
    /// Any JSON.
    Json,
    /// Anything else.
    Other,
}

const KNOWN: [(&str, MediaType); 5] = [
    ("application/sparql-results+json", MediaType::Result(ResultFormat::Json)),
    ("application/json", MediaType::Json),
    ("application/sparql-results+xml", MediaType::Result(ResultFormat::Xml)),
    ("text/csv", MediaType::Result(ResultFormat::Csv)),
    ("text/tab-separated-values", MediaType::Result(ResultFormat::Tsv)),
];

impl MediaType {
    /// Recognises a media type by its type and subtype, ignoring case and parameters such as
    /// `charset`.
    ///
    /// ```
    /// use juror_sparql::MediaType;
    /// assert_eq!(MediaType::of("Application/JSON; charset=utf-8"), MediaType::Json);
    /// assert_eq!(MediaType::of("application/json-seq"), MediaType::Other);
    /// ```
    pub fn of(written: &str) -> MediaType {
        let name = || written.split_once(';').map_or(written, |(name, _parameters)| name).trim();
        // Called for every step, and nearly all are written exactly like this.
        let exactly = KNOWN.iter().find(|(known, _)| *known == written);
        let known =
            exactly.or_else(|| KNOWN.iter().find(|(known, _)| known.eq_ignore_ascii_case(name())));
        known.map_or(MediaType::Other, |(_, media_type)| *media_type)
    }

    /// The format of a SPARQL result.
    pub fn result_format(self) -> Option<ResultFormat> {
        match self {
            MediaType::Result(format) => Some(format),
            MediaType::Json | MediaType::Other => None,
        }
    }
}
