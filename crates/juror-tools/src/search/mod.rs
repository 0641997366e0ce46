//! Full-text search for APIs. `docs/search.md` explains the ranking.

mod fields;
mod index;
mod name_index;
#[cfg(test)]
mod tests;
mod words;

use index::Index;
use juror_toolbench::Tool;
use name_index::NameIndex;

/// Only this many bytes of a query are read, which bounds the number of terms and so the time.
const LONGEST_QUERY: usize = 4096;

/// The weight of each repetition of a word in a query; the first mention has 1.
const FURTHER_MENTION: f32 = 0.25;

/// A full-text index of the APIs of tools.
pub struct Search {
    index: Index,
    names: NameIndex,
    n_apis: usize,
}

/// An API that matches a query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Match {
    /// The API's number in the order of the tools.
    pub number: usize,
    /// How well it matches, above 0. Scores of different queries are not comparable.
    pub score: f32,
}

impl Search {
    /// Indexes tools.
    pub fn new(tools: &[Tool]) -> Search {
        Search {
            index: Index::new(tools),
            names: NameIndex::new(tools),
            n_apis: tools.iter().map(|tool| tool.apis.len()).sum(),
        }
    }

    /// Returns the best matches, best first. Ties are in the order of APIs.
    ///
    /// Any text is a valid query. APIs that share no word with it are not returned.
    pub fn find(&self, query: &str, most: usize) -> Vec<Match> {
        let query = &query[..query.floor_char_boundary(LONGEST_QUERY)];
        let mut scores = self.scores(query);
        self.lift_named(query, &mut scores);
        let found = best(&scores, most).into_iter();
        found.map(|number| Match { number, score: scores[number] }).collect()
    }

    fn scores(&self, query: &str) -> Vec<f32> {
        let mut scores = vec![0.0; self.n_apis];
        for (term, factor) in self.terms(query) {
            for posting in &self.index.postings[term as usize] {
                scores[posting.document as usize] += factor * posting.gain;
            }
        }
        scores
    }

    /// The terms of a query and their weights. They are sorted, so that rounding does not depend on
    /// the order of words.
    fn terms(&self, query: &str) -> Vec<(u32, f32)> {
        let mut terms = self.telling_terms(query);
        terms.sort_unstable();
        let mentions = terms.chunk_by(u32::eq).map(|same| (same[0], same.len() - 1));
        mentions.map(|(term, n_further)| (term, 1.0 + FURTHER_MENTION * n_further as f32)).collect()
    }

    /// The known terms of a query without stop words, unless it consists of stop words.
    fn telling_terms(&self, query: &str) -> Vec<u32> {
        let vocabulary = &self.index.vocabulary;
        let (mut telling, mut stop_words, mut tells) = (Vec::new(), Vec::new(), false);
        words::each_word(query, |word| {
            let term = vocabulary.get(word);
            if vocabulary.is_stop_word(word) {
                stop_words.extend(term);
            } else {
                tells = true;
                telling.extend(term);
            }
        });
        if tells { telling } else { stop_words }
    }

    /// Moves the APIs that the query names to the top.
    fn lift_named(&self, query: &str, scores: &mut [f32]) {
        let named = self.names.get(query);
        if named.is_empty() {
            return;
        }
        let above_all = scores.iter().copied().fold(0.0, f32::max) + 1.0;
        for document in named {
            scores[*document as usize] += above_all;
        }
    }
}

/// Returns the documents with the highest scores above 0.
fn best(scores: &[f32], most: usize) -> Vec<usize> {
    let mut documents: Vec<usize> = (0..scores.len()).filter(|at| scores[*at] > 0.0).collect();
    let by_score =
        |one: &usize, other: &usize| scores[*other].total_cmp(&scores[*one]).then(one.cmp(other));
    if most < documents.len() {
        documents.select_nth_unstable_by(most, by_score);
        documents.truncate(most);
    }
    documents.sort_unstable_by(by_score);
    documents
}
