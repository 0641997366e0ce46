//! Which APIs have a term, and what it counts there: BM25 over weighted fields.
//!
//! A word counts by its field's weight, less in fields longer than usual. What a term's words count
//! in one API is added up over fields and then saturates, so that the tenth mention adds little.
//! All this is known before any query is, and is computed once.

use juror_toolbench::Tool;

use super::fields::{self, Field, N_FIELDS, WEIGHTS};
use super::words::{Growing, Vocabulary, each_word};

/// How slowly mentions saturate: one that counts as much as this is worth half of what can be had.
const SATURATION: f32 = 16.0;

/// How far a field's length counts: 0 is not at all, 1 is in full.
const LENGTH: f32 = 0.9;

/// That an API has a term.
pub(super) struct Posting {
    pub(super) document: u32,
    pub(super) gain: f32,
}

pub(super) struct Index {
    pub(super) vocabulary: Vocabulary,
    /// By term; inside, by API.
    pub(super) postings: Vec<Vec<Posting>>,
}

impl Index {
    pub(super) fn new(tools: &[Tool]) -> Index {
        let mut texts = Texts { growing: Growing::new(), tokens: vec![], documents: vec![] };
        for tool in tools {
            texts.add(tool);
        }
        let mut postings = texts.postings();
        for postings in &mut postings {
            weigh(postings, texts.documents.len());
        }
        Index { vocabulary: texts.growing.vocabulary, postings }
    }
}

#[derive(Clone, Copy)]
struct Token {
    term: u32,
    field: Field,
}

/// An API as tokens: where they end, and how many are in each field.
struct Document {
    end: usize,
    lengths: [f32; N_FIELDS],
}

struct Texts {
    growing: Growing,
    /// Of all documents, one after the other.
    tokens: Vec<Token>,
    documents: Vec<Document>,
}

impl Texts {
    fn add(&mut self, tool: &Tool) {
        let mut shared = Vec::new();
        let growing = &mut self.growing;
        fields::of_tool(tool, |field, text| tokenize(growing, field, text, &mut shared));
        for api in &tool.apis {
            let start = self.tokens.len();
            self.tokens.extend_from_slice(&shared);
            let tokens = &mut self.tokens;
            fields::of_api(api, |field, text| tokenize(growing, field, text, tokens));
            let mut lengths = [0.0; N_FIELDS];
            for token in &self.tokens[start..] {
                lengths[token.field as usize] += 1.0;
            }
            self.documents.push(Document { end: self.tokens.len(), lengths });
        }
    }

    /// What the words of each term count in each API, before it saturates.
    fn postings(&self) -> Vec<Vec<Posting>> {
        let n_terms = self.growing.vocabulary.n_terms();
        let mut postings: Vec<Vec<Posting>> = (0..n_terms).map(|_| Vec::new()).collect();
        let means = self.mean_lengths();
        let mut start = 0;
        for (document, number) in self.documents.iter().zip(0..) {
            let counts = counts(&document.lengths, &means);
            for token in &self.tokens[start..document.end] {
                let gain = counts[token.field as usize];
                match postings[token.term as usize].last_mut() {
                    Some(last) if last.document == number => last.gain += gain,
                    _ => postings[token.term as usize].push(Posting { document: number, gain }),
                }
            }
            start = document.end;
        }
        postings
    }

    fn mean_lengths(&self) -> [f32; N_FIELDS] {
        let n_documents = self.documents.len() as f32;
        std::array::from_fn(|field| {
            self.documents.iter().map(|document| document.lengths[field]).sum::<f32>() / n_documents
        })
    }
}

fn tokenize(growing: &mut Growing, field: Field, text: &str, tokens: &mut Vec<Token>) {
    each_word(text, |word| tokens.push(Token { term: growing.add(word), field }));
}

/// What a word counts in each field of a document. Fields without words are not asked for.
fn counts(lengths: &[f32; N_FIELDS], means: &[f32; N_FIELDS]) -> [f32; N_FIELDS] {
    std::array::from_fn(|field| {
        WEIGHTS[field] / (1.0 - LENGTH + LENGTH * lengths[field] / means[field])
    })
}

/// Lets counts saturate, and multiplies them by how rare the term is.
fn weigh(postings: &mut [Posting], n_documents: usize) {
    let (n_with, n_documents) = (postings.len() as f32, n_documents as f32);
    let rarity = ((n_documents - n_with + 0.5) / (n_with + 0.5)).ln_1p();
    for posting in postings {
        posting.gain = rarity * posting.gain / (posting.gain + SATURATION);
    }
}
