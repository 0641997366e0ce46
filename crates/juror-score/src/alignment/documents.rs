//! Retrieved documents beside the expected ones.

use hashbrown::HashSet;
use serde::Serialize;

use crate::compare::{Document, DocumentId, View, k_of};
use crate::shown_output::{ShownLimits, shortened};

/// How retrieved documents stand to the expected ones.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DocumentAlignment {
    /// The retrieved documents by rank, then those that are expected and were not retrieved.
    pub rows: Vec<AlignedDocument>,
    /// How many of the retrieved documents count, if the arguments of the step say so.
    pub k: Option<i64>,
}

/// A document that was retrieved, or expected, or both.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AlignedDocument {
    /// Its id; empty if it has none.
    pub id: String,
    /// Whether it is expected.
    pub expected: bool,
    /// Its rank, counted from 1; `None` if it was not retrieved. A repeated document counts once.
    pub rank: Option<usize>,
}

impl DocumentAlignment {
    /// Aligns the documents of two steps, if both list documents.
    pub(crate) fn of(
        expected: &View<'_>,
        actual: &View<'_>,
        limits: &ShownLimits,
    ) -> Option<DocumentAlignment> {
        let (relevant, retrieved) = (expected.documents().ok()?, actual.documents().ok()?);
        let relevant_ids: HashSet<&DocumentId> = ids_of(relevant).collect();
        let mut seen: HashSet<&DocumentId> = HashSet::new();
        let distinct = retrieved.iter().filter(|document| match &document.id {
            Some(id) => seen.insert(id),
            // A document without an id equals no other.
            None => true,
        });
        let ranked = distinct.zip(1..).map(|(document, rank)| {
            let id = document.id.as_ref();
            let is_expected = id.is_some_and(|id| relevant_ids.contains(id));
            aligned(id, is_expected, Some(rank), limits)
        });
        let mut rows: Vec<AlignedDocument> = ranked.take(limits.documents).collect();
        let found: HashSet<&DocumentId> = ids_of(retrieved).collect();
        let mut seen = HashSet::new();
        let missing = ids_of(relevant).filter(|id| !found.contains(id) && seen.insert(*id));
        let missing = missing.map(|id| aligned(Some(id), true, None, limits));
        rows.extend(missing.take(limits.documents));
        Some(DocumentAlignment { rows, k: k_of(actual) })
    }
}

fn ids_of<'d, 't>(documents: &'d [Document<'t>]) -> impl Iterator<Item = &'d DocumentId<'t>> {
    documents.iter().filter_map(|document| document.id.as_ref())
}

fn aligned(
    id: Option<&DocumentId<'_>>,
    expected: bool,
    rank: Option<usize>,
    limits: &ShownLimits,
) -> AlignedDocument {
    let id = id.map(|id| shortened(&id.to_string(), limits.cell_characters)).unwrap_or_default();
    AlignedDocument { id, expected, rank }
}
