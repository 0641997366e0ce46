//! Steps that retrieve documents.

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;

use juror_json::{self as json, ExactNumber, Object, small_value};
use serde::de::{Deserialize, Deserializer, Error as _, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::View;
use crate::limits::{Excess, Limits};
use crate::retrieval::recall_at_k;

/// A retrieved document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document<'t> {
    /// The id. A document without one keeps its rank but is never relevant.
    pub id: Option<DocumentId<'t>>,
    /// The text.
    pub text: Option<Cow<'t, str>>,
}

/// A document's id. Numbers equal numbers and texts equal texts: `1` equals `1.0`, but not `"1"`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum DocumentId<'t> {
    /// A text.
    Text(Cow<'t, str>),
    /// A number.
    Number(ExactNumber),
    /// Anything else, by its JSON.
    Other(String),
}

impl<'t> DocumentId<'t> {
    /// Reads an id from its JSON.
    pub fn from_json(value: &'t RawValue) -> DocumentId<'t> {
        if let Some(text) = json::text_of(value) {
            return DocumentId::Text(text);
        }
        if json::kind_of(value) == "a number" {
            return DocumentId::Number(ExactNumber::of(value.get()));
        }
        let other = small_value(value.get());
        DocumentId::Other(other.map_or_else(|| value.get().to_owned(), |other| other.to_string()))
    }
}

impl fmt::Display for DocumentId<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DocumentId::Text(text) => f.write_str(text),
            DocumentId::Number(number) => write!(f, "{number}"),
            DocumentId::Other(json) => f.write_str(json),
        }
    }
}

impl Document<'_> {
    /// Copies everything that is borrowed.
    pub fn into_owned(self) -> Document<'static> {
        let id = self.id.map(|id| match id {
            DocumentId::Text(text) => DocumentId::Text(Cow::Owned(text.into_owned())),
            DocumentId::Number(number) => DocumentId::Number(number),
            DocumentId::Other(json) => DocumentId::Other(json),
        });
        Document { id, text: self.text.map(|text| Cow::Owned(text.into_owned())) }
    }
}

/// Why a text is not a list of documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotDocuments {
    /// It lists more than the limit allows.
    TooMany,
    /// It is something else.
    Other,
}

impl NotDocuments {
    /// Describes what is wrong with an output.
    pub(crate) fn describe(self, output: &str, limits: &Limits) -> String {
        match self {
            NotDocuments::TooMany => format!("{output} is {}", Excess::Documents.describe(limits)),
            NotDocuments::Other => format!("{output} is not a list of documents"),
        }
    }
}

/// Reads a list of at most `most` documents. A short text may list very many, and each takes more
/// memory than its text.
pub(super) fn parse_documents(text: &str, most: usize) -> Result<Vec<Document<'_>>, NotDocuments> {
    let is_beyond = Cell::new(false);
    let entries = DocumentsSeed { most, is_beyond: &is_beyond };
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let read = deserializer.deserialize_seq(entries);
    let why = |_| if is_beyond.get() { NotDocuments::TooMany } else { NotDocuments::Other };
    let documents = read.map_err(why)?;
    deserializer.end().map_err(why)?;
    Ok(documents)
}

struct DocumentsSeed<'e> {
    most: usize,
    /// Set if there are more, to distinguish that from other errors.
    is_beyond: &'e Cell<bool>,
}

impl<'de> Visitor<'de> for DocumentsSeed<'_> {
    type Value = Vec<Document<'de>>;
    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a list of documents")
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let mut documents = Vec::new();
        while let Some(DocumentEntry(document)) = entries.next_element()? {
            if documents.len() == self.most {
                self.is_beyond.set(true);
                return Err(A::Error::custom("there are too many documents"));
            }
            documents.push(document);
        }
        Ok(documents)
    }
}

struct DocumentEntry<'t>(Document<'t>);

impl<'de: 't, 't> Deserialize<'de> for DocumentEntry<'t> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let fields = Object::deserialize(deserializer)?;
        let id = fields.get_set("id").map(DocumentId::from_json);
        let text = fields.get_set("text").and_then(json::text_of);
        Ok(DocumentEntry(Document { id, text }))
    }
}

/// Returns the recall of the relevant ids. The actual step's `args.k` says how many count.
pub(super) fn recall(expected: &View<'_>, actual: &View<'_>) -> f64 {
    let (Ok(relevant), Ok(retrieved)) = (expected.documents(), actual.documents()) else {
        return f64::from(u8::from(super::value::same_output(expected, actual)));
    };
    let k = k_of(actual).unwrap_or(i64::try_from(retrieved.len()).unwrap_or(i64::MAX));
    let relevant: Vec<_> = relevant.iter().filter_map(|document| document.id.as_ref()).collect();
    // A document without an id still takes a rank, and equals no other.
    let retrieved: Vec<_> = retrieved
        .iter()
        .enumerate()
        .map(|(rank, document)| document.id.as_ref().ok_or(rank))
        .collect();
    let relevant: Vec<_> = relevant.into_iter().map(Ok).collect();
    recall_at_k(&relevant, &retrieved, k)
}

/// Returns how many of the documents of a step count, if its arguments say so.
pub(crate) fn k_of(actual: &View<'_>) -> Option<i64> {
    actual.arg("k").and_then(|k| whole_number(&serde_json::from_str(k.get()).ok()?))
}

#[expect(clippy::cast_possible_truncation, reason = "a k beyond i64 is no different from i64::MAX")]
fn whole_number(value: &serde_json::Value) -> Option<i64> {
    match value {
        serde_json::Value::Number(number) => {
            number.as_i64().or_else(|| number.as_f64().map(|number| number as i64))
        }
        serde_json::Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(json: &str) -> DocumentId<'_> {
        DocumentId::from_json(serde_json::from_str(json).expect("JSON"))
    }

    #[test]
    fn ids_equal_by_type_and_value() {
        assert_eq!(id("1"), id("1.0"));
        assert_ne!(id("1"), id("\"1\""));
        assert_ne!(id("1"), id("true"));
        assert_ne!(id("1234567890123456789"), id("1234567890123456790"));
        assert_ne!(id("123456789012345678901"), id("123456789012345678902"));
        assert_eq!(id("123456789012345678901"), id("123456789012345678901.0"));
        assert_eq!(id(r#""\u00e9""#), id("\"é\""));
    }

    #[test]
    fn a_document_may_lack_its_parts() {
        let documents = parse_documents(r#"[{"text": "t"}, {"id": 5}]"#, 2).expect("documents");
        assert_eq!((documents[0].id.clone(), documents[1].text.clone()), (None, None));
        let other = parse_documents(r#"["id"]"#, 2);
        assert_eq!(other, Err(NotDocuments::Other));
    }

    #[test]
    fn a_short_text_has_no_end_of_documents() {
        let list = |document: &str| format!("[{}]", vec![document; 120_000].join(","));
        let read = |text: &str, limits: &Limits| {
            parse_documents(text, limits.documents_of(text.len())).map(|all| all.len())
        };
        let (short, limits) = (list("{}"), Limits { documents: 75_000, ..Limits::DEFAULT });
        assert_eq!(read(&short, &Limits::DEFAULT), Err(NotDocuments::TooMany));
        assert_eq!(read(&short, &limits), Ok(120_000));
        assert_eq!(read(&list(r#"{"id":1}"#), &Limits::DEFAULT), Ok(120_000));
    }
}
