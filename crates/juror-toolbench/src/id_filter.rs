//! Selects queries of a set by id.

use indexmap::IndexSet;
use juror_document::{Document, Look, Path, Problems};

use super::query::{Query, id_text};

/// Which queries to take.
#[derive(Clone, Debug, Default)]
pub struct IdFilter {
    /// `None` takes all.
    ids: Option<IndexSet<String>>,
}

impl IdFilter {
    /// Reads a list of ids, or an object whose keys are ids. Reports anything else, and then takes
    /// all.
    pub fn read(document: &Document) -> (IdFilter, Problems) {
        let mut look = Look::new(document);
        let Some(value) = look.value() else { return (IdFilter::default(), look.problems()) };
        let ids = if value.get().starts_with('{') {
            let fields = look.object(value, &Path::default(), "an object of ids");
            fields.map(|fields| fields.iter().map(|(key, _)| key.into_owned()).collect())
        } else {
            let values = look.list(value, &Path::default(), "a list or an object of ids");
            values.map(|values| values.into_iter().map(id_text).collect())
        };
        (IdFilter { ids }, look.problems())
    }

    /// The number of ids listed; 0 if it takes all.
    pub fn len(&self) -> usize {
        self.ids.as_ref().map_or(0, IndexSet::len)
    }

    /// Returns whether it takes no query, which is rarely intended.
    pub fn is_empty(&self) -> bool {
        self.ids.as_ref().is_some_and(IndexSet::is_empty)
    }

    /// Returns the listed ids in order; empty if it takes all.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.ids.iter().flatten().map(String::as_str)
    }

    /// Returns whether it takes a query. A query without an id is taken only if all are.
    pub fn takes(&self, query: &Query) -> bool {
        let Some(ids) = &self.ids else { return true };
        query.id_text().is_some_and(|id| ids.contains(&id))
    }

    /// Returns the first `most` queries that it takes, in file order.
    pub fn select<'a>(&self, queries: &'a [Query], most: Option<usize>) -> Vec<&'a Query> {
        let taken = queries.iter().filter(|query| self.takes(query));
        taken.take(most.unwrap_or(usize::MAX)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use juror_document::Format;

    fn filter(json: &str) -> (IdFilter, Problems) {
        let document = Document::new("ids.json", json.into(), Format::Json).expect("UTF-8");
        IdFilter::read(&document)
    }

    #[test]
    fn what_is_no_filter_is_told_and_takes_all() {
        let (none, problems) = filter("5");
        assert!(none.ids.is_none());
        assert!(problems.to_string().contains("expected a list or an object of ids"), "{problems}");
        assert!(filter("[5").1.to_string().contains("not valid JSON"));
        assert!(filter("[]").0.is_empty() && filter("{}").0.is_empty());
    }
}
