//! Splits texts into words, and maps words to terms.

use frostem::{Algorithm, Stemmer};
use hashbrown::{HashMap, HashSet};

/// Longer runs of characters are not words, but keys or encoded files.
const LONGEST: usize = 64;

/// Calls `each` with the words of a text, in lower case.
///
/// A word is a run of letters and digits. The parts of a camel-case word are words as well, next to
/// the whole: `YouTube` gives `you`, `tube` and `youtube`. Each Chinese character is a part.
pub(super) fn each_word(text: &str, mut each: impl FnMut(&str)) {
    let mut word = String::new();
    let mut hand_on = |part: &str| {
        word.clear();
        // Nearly all words are ASCII, for which this is several times faster.
        if part.is_ascii() {
            word.push_str(part);
            word.make_ascii_lowercase();
        } else {
            word.extend(part.chars().flat_map(char::to_lowercase));
        }
        each(&word);
    };
    for run in text.split(|c: char| !c.is_alphanumeric()) {
        if run.is_empty() || run.len() > 4 * LONGEST || run.chars().count() > LONGEST {
            continue;
        }
        let mut rest = run;
        while let Some(end) = first_part(rest) {
            hand_on(&rest[..end]);
            rest = &rest[end..];
        }
        if rest.len() < run.len() {
            hand_on(rest);
        }
        hand_on(run);
    }
}

/// Returns where the first part of a camel-case word ends, or `None` if it has only one part.
fn first_part(run: &str) -> Option<usize> {
    let mut chars = run.char_indices();
    let (_, mut before) = chars.next()?;
    for (at, c) in chars {
        if is_boundary(before, c, &run[at + c.len_utf8()..]) {
            return Some(at);
        }
        before = c;
    }
    None
}

/// Whether a part begins at `c`.
fn is_boundary(before: char, c: char, after: &str) -> bool {
    let begins_word = || after != "s" && after.starts_with(char::is_lowercase);
    is_chinese(before)
        || is_chinese(c)
        || c.is_uppercase() && (before.is_lowercase() || before.is_uppercase() && begins_word())
}

fn is_chinese(c: char) -> bool {
    ('\u{4e00}'..='\u{9fff}').contains(&c)
}

/// Maps stems to terms, which are numbers.
pub(super) struct Vocabulary {
    stemmer: Stemmer,
    terms: HashMap<String, u32>,
    stop_words: HashSet<&'static str>,
}

impl Vocabulary {
    fn new() -> Vocabulary {
        Vocabulary {
            stemmer: Stemmer::new(Algorithm::English),
            terms: HashMap::new(),
            stop_words: include_str!("stop_words.txt").split_whitespace().collect(),
        }
    }

    pub(super) fn n_terms(&self) -> usize {
        self.terms.len()
    }

    /// Returns the term of a word, or `None` if no indexed text has it.
    pub(super) fn get(&self, word: &str) -> Option<u32> {
        self.terms.get(&*self.stemmer.stem(word)).copied()
    }

    /// Returns the term of a word, adding it if it is new.
    fn add(&mut self, word: &str) -> u32 {
        let next = u32::try_from(self.terms.len()).expect("fewer terms than that");
        *self.terms.entry_ref(&*self.stemmer.stem(word)).or_insert(next)
    }

    /// Whether a word carries no meaning in a query.
    pub(super) fn is_stop_word(&self, word: &str) -> bool {
        self.stop_words.contains(word)
    }
}

/// Adds words to a vocabulary. It remembers the term of each word, because texts repeat their words
/// and stemming is slower than a look-up.
pub(super) struct VocabularyBuilder {
    pub(super) vocabulary: Vocabulary,
    words: HashMap<String, u32>,
}

impl VocabularyBuilder {
    pub(super) fn new() -> VocabularyBuilder {
        VocabularyBuilder { vocabulary: Vocabulary::new(), words: HashMap::new() }
    }

    pub(super) fn add(&mut self, word: &str) -> u32 {
        *self.words.entry_ref(word).or_insert_with(|| self.vocabulary.add(word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_split_into_words() {
        let check = |text: &str, wanted: &str| {
            let mut words = Vec::new();
            each_word(text, |word| words.push(word.to_owned()));
            assert_eq!(words.join(" "), wanted, "{text}");
        };
        check("", "");
        check(" -- ?! 🦀 ", "");
        check("Get 5-day forecast", "get 5 day forecast");
        check("getUserInfo", "get user info getuserinfo");
        check("user_info.v2", "user info v2");
        check("parseHTTPReply", "parse http reply parsehttpreply");
        check("URLs of IDs", "urls of ids");
        check("YouTube", "you tube youtube");
        check("Straße ÉTAT", "straße état");
        check("天气api", "天 气 api 天气api");
        check(&format!("a {} b", "x".repeat(65)), "a b");
    }

    #[test]
    fn words_with_one_stem_are_one_term() {
        let mut builder = VocabularyBuilder::new();
        let city = builder.add("city");
        assert_eq!(builder.add("cities"), city);
        let vocabulary = builder.vocabulary;
        assert_eq!(vocabulary.get("cities"), Some(city));
        assert_eq!(vocabulary.get("town"), None);
        assert_eq!(vocabulary.n_terms(), 1);
    }
}
