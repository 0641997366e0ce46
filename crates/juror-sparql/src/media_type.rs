//! Media types of outputs, as far as they choose how outputs are read and compared.

use crate::ResultFormat;

/// What a media type says of an output.
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
    /// Recognises a media type by its type and subtype, in capital letters or not; parameters such
    /// as `charset` are passed over.
    ///
    /// ```
    /// use juror_sparql::MediaType;
    /// assert_eq!(MediaType::of("Application/JSON; charset=utf-8"), MediaType::Json);
    /// assert_eq!(MediaType::of("application/json-seq"), MediaType::Other);
    /// ```
    pub fn of(written: &str) -> MediaType {
        let name = || written.split_once(';').map_or(written, |(name, _parameters)| name).trim();
        // Nearly all are written as they are known, and steps are many.
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
