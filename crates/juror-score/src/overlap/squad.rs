//! Exact match and token F1, as the script of the `SQuAD` data set defines them.

use hashbrown::HashMap;
use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

use crate::retrieval::f1;

/// Whether two answers are the same after normalisation: in lower case, without ASCII punctuation,
/// without the words "a", "an" and "the", and with single spaces.
///
/// ```
/// use juror_score::overlap::exact_match;
/// assert!(exact_match("The Eiffel Tower", "eiffel tower!"));
/// ```
pub fn exact_match(reference: &str, actual: &str) -> bool {
    normalize(reference) == normalize(actual)
}

/// Returns the harmonic mean of recall and precision of the words that normalised answers have in
/// common. A word counts as often as both have it. If an answer has no words left, the score is 1 if
/// neither has any, else 0.
///
/// ```
/// use juror_score::overlap::token_f1;
/// assert_eq!(token_f1("The Eiffel Tower", "the tower of Paris"), 0.4);
/// ```
pub fn token_f1(reference: &str, actual: &str) -> f64 {
    let (reference, actual) = (normalize(reference), normalize(actual));
    if reference.is_empty() || actual.is_empty() {
        return f64::from(u8::from(reference == actual));
    }
    let mut left: HashMap<&str, usize> = HashMap::new();
    let mut n_reference = 0_usize;
    for token in reference.split(' ') {
        *left.entry(token).or_default() += 1;
        n_reference += 1;
    }
    let (mut n_actual, mut n_same) = (0_usize, 0_usize);
    for token in actual.split(' ') {
        n_actual += 1;
        if let Some(n_left) = left.get_mut(token).filter(|n_left| **n_left > 0) {
            *n_left -= 1;
            n_same += 1;
        }
    }
    f1(n_same as f64 / n_reference as f64, n_same as f64 / n_actual as f64)
}

/// Normalises an answer. The words that remain are separated by single spaces.
fn normalize(text: &str) -> String {
    let mut lower = text.to_lowercase();
    lower.retain(|c| !c.is_ascii_punctuation());
    let without_articles = without_articles(&lower);
    let mut normal = String::with_capacity(without_articles.len());
    for token in without_articles.split(is_space).filter(|token| !token.is_empty()) {
        if !normal.is_empty() {
            normal.push(' ');
        }
        normal.push_str(token);
    }
    normal
}

/// Replaces articles by spaces.
fn without_articles(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_word = is_word_character(first);
        let end = rest.find(|c| is_word_character(c) != is_word).unwrap_or(rest.len());
        let (run, after) = rest.split_at(end);
        kept.push_str(if matches!(run, "a" | "an" | "the") { " " } else { run });
        rest = after;
    }
    kept
}

/// Whether a character is part of a word to Python: a letter or a number, but no mark, so that an
/// accent or a vowel sign that is a character of its own ends a word.
fn is_word_character(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric();
    }
    matches!(
        c.general_category_group(),
        GeneralCategoryGroup::Letter | GeneralCategoryGroup::Number
    )
}

/// Whether Python splits a text here.
fn is_space(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\x1c'..='\x1f')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_normalised_as_squad_does() {
        for (text, normal) in [
            ("The  quick,\tbrown fox!", "quick brown fox"),
            ("An apple a day", "apple day"),
            ("Theatre and antics", "theatre and antics"),
            ("U.S.A.", "usa"),
            ("1,234.50", "123450"),
            ("a-b the_end", "ab theend"),
            ("«Café» — the “best”", "«café» — “best”"),
            ("the\u{301}", "\u{301}"),
            ("\u{926}\u{940}an", "\u{926}\u{940}"),
            ("x\u{1f}y\u{a0}z\u{3000}the", "x y z"),
            ("ΣΑΣ", "σας"),
            ("The A an", ""),
            ("...", ""),
        ] {
            assert_eq!(normalize(text), normal, "{text:?}");
        }
    }

    #[test]
    fn an_answer_without_words_only_equals_another_one() {
        for (reference, actual, score) in [
            ("the", "a", 1.0),
            ("the", "Oslo", 0.0),
            ("Oslo", "!", 0.0),
            ("", "", 1.0),
            ("Oslo", "Oslo", 1.0),
            ("Oslo", "Bergen", 0.0),
        ] {
            assert_eq!(token_f1(reference, actual), score, "{reference:?} {actual:?}");
            assert_eq!(exact_match(reference, actual), score == 1.0, "{reference:?} {actual:?}");
        }
    }

    #[test]
    fn a_word_counts_as_often_as_both_answers_have_it() {
        assert!((token_f1("no no no", "no no yes yes") - 4.0 / 7.0).abs() < 1e-15);
        assert_eq!(token_f1("no", "no no no"), 0.5);
    }
}
