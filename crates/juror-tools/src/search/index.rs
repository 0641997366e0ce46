//! The inverted index: BM25 over weighted fields.
//!
//! A word counts by its field's weight, and less in a field that is longer than usual. The counts
//! of a term in one API are summed over fields and then saturate, so that the tenth mention adds
//! little. None of this depends on the query, so it is computed once.

use juror_toolbench::Tool;

use super::fields::{self, Field, N_FIELDS, WEIGHTS};
use super::words::{Vocabulary, VocabularyBuilder, each_word};

/// How slowly mentions saturate: a term with this count gets half of the maximum.
const SATURATION: f32 = 16.0;

/// How much a field's length matters: 0 is not at all, 1 is in full.
const LENGTH: f32 = 0.9;

/// An API that has a term, and what the term adds to its score.
pub(super) struct Posting {
    pub(super) document: u32,
    pub(super) gain: f32,
}

pub(super) struct Index {
    pub(super) vocabulary: Vocabulary,
    /// By term, then in the order of APIs.
    pub(super) postings: Vec<Vec<Posting>>,
}

impl Index {
    pub(super) fn new(tools: &[Tool]) -> Index {
        let mut texts =
            Corpus { builder: VocabularyBuilder::new(), tokens: vec![], documents: vec![] };
        for tool in tools {
            texts.add(tool);
        }
        let mut postings = texts.postings();
        for postings in &mut postings {
            weigh(postings, texts.documents.len());
        }
        Index { vocabulary: texts.builder.vocabulary, postings }
    }
}

#[derive(Clone, Copy)]
struct Token {
    term: u32,
    field: Field,
}

/// The tokens of an API: where they end, and how many are in each field.
struct ApiTokens {
    end: usize,
    lengths: [f32; N_FIELDS],
}

struct Corpus {
    builder: VocabularyBuilder,
    /// The tokens of all APIs, one after the other.
    tokens: Vec<Token>,
    documents: Vec<ApiTokens>,
}

impl Corpus {
    fn add(&mut self, tool: &Tool) {
        let mut shared = Vec::new();
        let builder = &mut self.builder;
        fields::of_tool(tool, |field, text| tokenize(builder, field, text, &mut shared));
        for api in &tool.apis {
            let start = self.tokens.len();
            self.tokens.extend_from_slice(&shared);
            let tokens = &mut self.tokens;
            fields::of_api(api, |field, text| tokenize(builder, field, text, tokens));
            let mut lengths = [0.0; N_FIELDS];
            for token in &self.tokens[start..] {
                lengths[token.field as usize] += 1.0;
            }
            self.documents.push(ApiTokens { end: self.tokens.len(), lengths });
        }
    }

    /// Sums up the count of each term in each API, before saturation.
    fn postings(&self) -> Vec<Vec<Posting>> {
        let n_terms = self.builder.vocabulary.n_terms();
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

fn tokenize(builder: &mut VocabularyBuilder, field: Field, text: &str, tokens: &mut Vec<Token>) {
    each_word(text, |word| tokens.push(Token { term: builder.add(word), field }));
}

/// What a word counts in each field of an API. The values of empty fields are not finite, and never
/// used.
fn counts(lengths: &[f32; N_FIELDS], means: &[f32; N_FIELDS]) -> [f32; N_FIELDS] {
    std::array::from_fn(|field| {
        WEIGHTS[field] / (1.0 - LENGTH + LENGTH * lengths[field] / means[field])
    })
}

/// Applies saturation, and multiplies by the term's rarity.
fn weigh(postings: &mut [Posting], n_documents: usize) {
    let (n_with, n_documents) = (postings.len() as f32, n_documents as f32);
    let rarity = ((n_documents - n_with + 0.5) / (n_with + 0.5)).ln_1p();
    for posting in postings {
        posting.gain = rarity * posting.gain / (posting.gain + SATURATION);
    }
}
