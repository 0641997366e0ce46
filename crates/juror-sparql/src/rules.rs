//! How results are compared.

use std::borrow::Cow;

/// How two SPARQL results are compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules<'a> {
    /// The columns that the actual result must have; all columns of the reference if `None`.
    pub required_columns: Option<Vec<Cow<'a, str>>>,
    /// Whether the order of rows matters.
    pub ordered: bool,
    /// Whether repeated rows count once.
    pub ignore_duplicates: bool,
}

impl Default for Rules<'_> {
    fn default() -> Self {
        Rules { required_columns: None, ordered: false, ignore_duplicates: true }
    }
}
