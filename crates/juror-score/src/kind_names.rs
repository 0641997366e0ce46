//! Kinds of steps with comparison rules of their own, and other names for them.

/// A kind of step with a comparison rule of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepKind {
    /// `sparql_query`
    SparqlQuery,
    /// `retrieval`
    Retrieval,
    /// `retrieve_time_series`
    RetrieveTimeSeries,
    /// `retrieve_data_points`
    RetrieveDataPoints,
    /// `iri_discovery`
    IriDiscovery,
    /// `autocomplete_search`
    AutocompleteSearch,
}

impl StepKind {
    /// The usual name of such steps.
    pub fn name(self) -> &'static str {
        match self {
            StepKind::SparqlQuery => "sparql_query",
            StepKind::Retrieval => "retrieval",
            StepKind::RetrieveTimeSeries => "retrieve_time_series",
            StepKind::RetrieveDataPoints => "retrieve_data_points",
            StepKind::IriDiscovery => "iri_discovery",
            StepKind::AutocompleteSearch => "autocomplete_search",
        }
    }
}

/// Other names of kinds of steps. A dataset may call its retrieval `search_documents`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KindNames(Vec<(String, StepKind)>);

impl KindNames {
    /// No other names.
    pub const NONE: KindNames = KindNames(Vec::new());

    /// Creates a set of names with their kinds.
    pub fn new(names: impl IntoIterator<Item = (String, StepKind)>) -> KindNames {
        KindNames(names.into_iter().collect())
    }

    /// Returns the usual name of the kind that a name stands for, or the name itself.
    ///
    /// ```
    /// use juror_score::{KindNames, StepKind};
    /// let names = KindNames::new([("search_documents".to_owned(), StepKind::Retrieval)]);
    /// assert_eq!(names.meant_by("search_documents"), "retrieval");
    /// assert_eq!(names.meant_by("weigh"), "weigh");
    /// ```
    #[inline]
    pub fn meant_by<'n>(&self, name: &'n str) -> &'n str {
        self.0.iter().find(|(known, _)| known == name).map_or(name, |(_, kind)| kind.name())
    }

    /// Iterates over the names with their kinds.
    pub fn iter(&self) -> impl Iterator<Item = (&str, StepKind)> {
        self.0.iter().map(|(name, kind)| (name.as_str(), *kind))
    }

    /// Whether any name stands for a kind.
    pub(crate) fn has(&self, kind: StepKind) -> bool {
        self.0.iter().any(|(_, known)| *known == kind)
    }

    /// Whether steps of this name are retrievals.
    #[inline]
    pub fn is_retrieval(&self, name: &str) -> bool {
        self.meant_by(name) == StepKind::Retrieval.name()
    }
}
