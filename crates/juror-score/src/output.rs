//! The output of a step.

use std::borrow::Cow;

use juror_json as json;
use juror_sparql::{CellLimit, SparqlResult};
use serde_json::value::RawValue;

/// The output of a step. Files have it as JSON; a program that has the text itself need not write it
/// as JSON first.
#[derive(Clone, Copy, Debug)]
pub enum Output<'a> {
    /// As JSON: usually a string, with quotes and escapes, but any value will do.
    Json(&'a RawValue),
    /// A plain text.
    Text(&'a str),
}

impl<'a> Output<'a> {
    /// Whether the output is a text, rather than other JSON.
    pub(crate) fn is_text(self) -> bool {
        match self {
            Output::Json(value) => json::inside_of(value).is_some(),
            Output::Text(_) => true,
        }
    }

    /// Whether the output is an empty text.
    pub(crate) fn is_empty_text(self) -> bool {
        match self {
            Output::Json(value) => value.get() == "\"\"",
            Output::Text(text) => text.is_empty(),
        }
    }

    /// Returns the length of the output as written.
    pub(crate) fn written_length(self) -> usize {
        match self {
            Output::Json(value) => value.get().len(),
            Output::Text(text) => text.len(),
        }
    }

    /// Returns the text, or the JSON if the output is not a text.
    pub(crate) fn text(self) -> Cow<'a, str> {
        match self {
            Output::Json(value) => json::text_or_json(value),
            Output::Text(text) => Cow::Borrowed(text),
        }
    }

    /// Returns the JSON if the output is not a text.
    pub(crate) fn other_json(self) -> Option<&'a str> {
        match self {
            Output::Json(value) if json::inside_of(value).is_none() => Some(value.get()),
            _ => None,
        }
    }

    /// Whether the text contains `piece`.
    pub(crate) fn contains(self, piece: &str) -> bool {
        match self {
            Output::Json(value) => json::contains_text(value, piece),
            Output::Text(text) => memchr::memmem::find(text.as_bytes(), piece.as_bytes()).is_some(),
        }
    }

    /// Whether two outputs are written identically. If not, they may still be equal.
    pub(crate) fn is_written_like(self, other: Output<'_>) -> bool {
        match (self, other) {
            (Output::Json(value), Output::Json(other)) => value.get() == other.get(),
            (Output::Text(text), Output::Text(other)) => text == other,
            _ => false,
        }
    }

    /// Whether two outputs are the same text, however it is escaped.
    pub(crate) fn is_same_text(self, other: Output<'_>) -> bool {
        if let (Output::Json(value), Output::Json(other)) = (self, other)
            && let (Some(inside), Some(other)) = (json::inside_of(value), json::inside_of(other))
        {
            return json::same_text(inside, other);
        }
        self.is_text() && other.is_text() && self.text() == other.text()
    }

    /// Reads a SPARQL result in JSON as servers write it. Returns `None` if the fast parser cannot
    /// decide.
    pub(crate) fn served_result(self, limit: CellLimit) -> Option<SparqlResult<'a>> {
        match self {
            Output::Json(value) => SparqlResult::parse_escaped(json::inside_of(value)?, limit),
            Output::Text(text) => SparqlResult::parse_served(text, limit),
        }
    }

    /// Whether any row of such a result contains an IRI, or `None` if the fast parser cannot decide.
    pub(crate) fn served_has_iri(self, iri: &str) -> Option<bool> {
        match self {
            Output::Json(value) => SparqlResult::escaped_has_iri(json::inside_of(value)?, iri),
            Output::Text(text) => SparqlResult::served_has_iri(text, iri),
        }
    }

    /// Returns the names of the columns of such a result, if its head comes first.
    pub(crate) fn served_names(self) -> Option<Vec<String>> {
        match self {
            Output::Json(value) => SparqlResult::parse_escaped_names(json::inside_of(value)?),
            Output::Text(text) => SparqlResult::parse_served_names(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_text_is_the_same_as_json_and_as_it_is(
            one in "[a-c\"\\\\é\n]{0,6}",
            two in "[a-c\"\\\\é\n]{0,6}",
        ) {
            let quoted = |text: &str| serde_json::value::to_raw_value(text).expect("a text");
            let (written_one, written_two) = (quoted(&one), quoted(&two));
            for first in [Output::Json(&written_one), Output::Text(&one)] {
                prop_assert!(first.is_text());
                prop_assert_eq!(first.text(), one.as_str());
                prop_assert_eq!(first.is_empty_text(), one.is_empty());
                prop_assert_eq!(first.other_json(), None);
                prop_assert_eq!(first.contains(&two), one.contains(&two));
                for second in [Output::Json(&written_two), Output::Text(&two)] {
                    prop_assert_eq!(first.is_same_text(second), one == two);
                    prop_assert!(one == two || !first.is_written_like(second));
                }
            }
        }
    }
}
