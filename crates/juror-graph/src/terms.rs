//! The terms of a graph, each stored once and known by a number.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};
use oxrdf::vocab::xsd;
use oxrdf::{BlankNode, Literal, NamedNode, Term, TermRef};

/// The number of a term.
pub(crate) type TermId = u32;

/// The most terms that have a number each.
pub(crate) const MOST_TERMS: usize = u32::MAX as usize;

/// All terms, one after another in one piece of memory: a byte for the kind, then the text.
#[derive(Debug, Default)]
pub(crate) struct Terms {
    bytes: Vec<u8>,
    /// Where each term ends.
    ends: Vec<usize>,
    known: HashTable<TermId>,
    hasher: DefaultHashBuilder,
    /// The term that is looked for, as it would be stored.
    wanted: Vec<u8>,
}

const IRI: u8 = b'i';
const BLANK: u8 = b'b';
const PLAIN: u8 = b's';
/// Followed by the length of the language tag, the tag, and the text.
const TAGGED: u8 = b'l';
/// Followed by the number of the datatype in four bytes, and the text.
const TYPED: u8 = b't';

/// The longest language tag that is stored as one; RFC 5646 needs no more than 35 bytes.
const LONGEST_TAG: usize = u8::MAX as usize;

impl Terms {
    /// Returns how many terms there are.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns the memory that terms take, about.
    pub(crate) fn n_bytes(&self) -> usize {
        self.bytes.capacity()
            + self.ends.capacity() * size_of::<usize>()
            + self.known.capacity() * 5
    }

    /// Returns the number of a term, which is new if the term is.
    pub(crate) fn add(&mut self, term: TermRef<'_>) -> TermId {
        let datatype = datatype_of(term).map(|datatype| self.add(TermRef::NamedNode(datatype)));
        let mut wanted = std::mem::take(&mut self.wanted);
        encode(term, datatype, &mut wanted);
        let id = self.add_encoded(&wanted);
        self.wanted = wanted;
        id
    }

    fn add_encoded(&mut self, wanted: &[u8]) -> TermId {
        let hash = self.hasher.hash_one(wanted);
        if let Some(id) = self.lookup(hash, wanted) {
            return id;
        }
        self.bytes.extend_from_slice(wanted);
        // Loading stops before there are more terms than numbers.
        let id = TermId::try_from(self.ends.len()).unwrap_or(TermId::MAX);
        self.ends.push(self.bytes.len());
        let (bytes, ends, hasher) = (&self.bytes, &self.ends, &self.hasher);
        self.known.insert_unique(hash, id, |id| hasher.hash_one(encoded(bytes, ends, *id)));
        id
    }

    /// Returns the number of a term, if it is known.
    pub(crate) fn find(&self, term: TermRef<'_>) -> Option<TermId> {
        let datatype = match datatype_of(term) {
            None => None,
            Some(datatype) => Some(self.find(TermRef::NamedNode(datatype))?),
        };
        let mut wanted = Vec::new();
        encode(term, datatype, &mut wanted);
        self.lookup(self.hasher.hash_one(wanted.as_slice()), &wanted)
    }

    fn lookup(&self, hash: u64, wanted: &[u8]) -> Option<TermId> {
        let is_wanted = |id: &TermId| encoded(&self.bytes, &self.ends, *id) == wanted;
        self.known.find(hash, is_wanted).copied()
    }

    /// Returns the term of a number.
    pub(crate) fn term(&self, id: TermId) -> Term {
        let (kind, rest) = match encoded(&self.bytes, &self.ends, id) {
            [kind, rest @ ..] => (*kind, rest),
            [] => (PLAIN, [].as_slice()),
        };
        match kind {
            IRI => NamedNode::new_unchecked(text(rest)).into(),
            BLANK => BlankNode::new_unchecked(text(rest)).into(),
            TAGGED => {
                let (tag, value) = rest[1..].split_at(usize::from(rest[0]));
                Literal::new_language_tagged_literal_unchecked(text(value), text(tag)).into()
            }
            TYPED => {
                let (datatype, value) = rest.split_at(size_of::<TermId>());
                let datatype = TermId::from_le_bytes(datatype.try_into().unwrap_or_default());
                let datatype = &encoded(&self.bytes, &self.ends, datatype)[1..];
                let datatype = NamedNode::new_unchecked(text(datatype));
                Literal::new_typed_literal(text(value), datatype).into()
            }
            _ => Literal::new_simple_literal(text(rest)).into(),
        }
    }
}

fn datatype_of(term: TermRef<'_>) -> Option<oxrdf::NamedNodeRef<'_>> {
    match term {
        TermRef::Literal(literal) if literal.language().is_none() => {
            Some(literal.datatype()).filter(|datatype| *datatype != xsd::STRING)
        }
        _ => None,
    }
}

fn encode(term: TermRef<'_>, datatype: Option<TermId>, out: &mut Vec<u8>) {
    out.clear();
    let literal = match term {
        TermRef::NamedNode(node) => return put(out, &[IRI], node.as_str()),
        TermRef::BlankNode(node) => return put(out, &[BLANK], node.as_str()),
        TermRef::Literal(literal) => literal,
    };
    let value = literal.value();
    match (literal.language(), datatype) {
        (Some(tag), _) => {
            let tag = &tag[..tag.floor_char_boundary(LONGEST_TAG)];
            let length = u8::try_from(tag.len()).unwrap_or(u8::MAX);
            put(out, &[TAGGED, length], tag);
            out.extend_from_slice(value.as_bytes());
        }
        (None, Some(datatype)) => {
            out.push(TYPED);
            put(out, &datatype.to_le_bytes(), value);
        }
        (None, None) => put(out, &[PLAIN], value),
    }
}

fn put(out: &mut Vec<u8>, head: &[u8], value: &str) {
    out.extend_from_slice(head);
    out.extend_from_slice(value.as_bytes());
}

fn encoded<'t>(bytes: &'t [u8], ends: &[usize], id: TermId) -> &'t [u8] {
    let id = id as usize;
    let start = if id == 0 { 0 } else { ends[id - 1] };
    &bytes[start..ends[id]]
}

/// Only whole texts were stored.
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_term() -> impl Strategy<Value = Term> {
        let word = "[a-cé\"\n]{0,4}";
        prop_oneof![
            "[a-c]{1,3}".prop_map(|name| NamedNode::new_unchecked(format!("x:{name}")).into()),
            "[a-c]{1,3}".prop_map(|name| BlankNode::new_unchecked(name).into()),
            word.prop_map(|text| Literal::new_simple_literal(text).into()),
            (word, "[a-c]{1,3}").prop_map(|(text, tag)| {
                Literal::new_language_tagged_literal_unchecked(text, tag).into()
            }),
            (word, "[a-c]{1,3}").prop_map(|(text, name)| {
                let datatype = NamedNode::new_unchecked(format!("x:{name}"));
                Literal::new_typed_literal(text, datatype).into()
            }),
        ]
    }

    proptest! {
        #[test]
        fn a_term_has_one_number_and_comes_back_as_it_was(all in prop::collection::vec(any_term(), 1..40)) {
            let mut terms = Terms::default();
            let ids: Vec<TermId> = all.iter().map(|term| terms.add(term.as_ref())).collect();
            for (term, id) in all.iter().zip(&ids) {
                prop_assert_eq!(&terms.term(*id), term);
                prop_assert_eq!(terms.find(term.as_ref()), Some(*id));
            }
            for (one, first) in all.iter().zip(&ids) {
                for (other, second) in all.iter().zip(&ids) {
                    prop_assert_eq!(one == other, first == second);
                }
            }
            let unknown = Literal::new_typed_literal("x", NamedNode::new_unchecked("x:unknown"));
            prop_assert_eq!(terms.find(TermRef::Literal(unknown.as_ref())), None);
        }
    }
}
