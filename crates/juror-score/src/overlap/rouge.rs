//! ROUGE-L: the longest common subsequence of the words of two answers, as the package `rouge-score`
//! computes it without stemming.

use hashbrown::HashMap;
use rapidfuzz::distance::lcs_seq;

use crate::retrieval::f1;

/// The answers have more pairs of words than are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the reference answer has {reference} words and the actual answer {actual}: more pairs than `limits.word_pairs` allows ({most})"
)]
pub struct TooManyWords {
    reference: usize,
    actual: usize,
    most: usize,
}

/// Returns the F-measure of ROUGE-L: the harmonic mean of the shares that the longest common
/// subsequence has of the words of each answer, or 0 if an answer has no words. Words are runs of
/// a–z and 0–9 after lower-casing. Fails if there are more than `most` pairs of words.
///
/// ```
/// use juror_score::overlap::rouge_l;
/// let most = 1 << 30;
/// assert_eq!(rouge_l("police killed the gunman", "police kill the gunman", most), Ok(0.75));
/// assert_eq!(rouge_l("police killed the gunman", "the gunman kill police", most), Ok(0.5));
/// assert!(rouge_l("one two three", "one two", 5).is_err());
/// ```
pub fn rouge_l(reference: &str, actual: &str, most: usize) -> Result<f64, TooManyWords> {
    let (reference, actual) = (reference.to_lowercase(), actual.to_lowercase());
    let mut ids = HashMap::new();
    let mut ids_of = |text| -> Vec<u32> { words(text).map(|word| id_of(word, &mut ids)).collect() };
    let (reference, actual) = (ids_of(&*reference), ids_of(&*actual));
    let (n_reference, n_actual) = (reference.len(), actual.len());
    if n_reference.saturating_mul(n_actual) > most {
        return Err(TooManyWords { reference: n_reference, actual: n_actual, most });
    }
    if n_reference == 0 || n_actual == 0 {
        return Ok(0.0);
    }
    let common = lcs_seq::similarity(reference.iter().copied(), actual.iter().copied()) as f64;
    Ok(f1(common / n_reference as f64, common / n_actual as f64))
}

/// Returns a number that stands for a word.
fn id_of<'t>(word: &'t str, ids: &mut HashMap<&'t str, u32>) -> u32 {
    let next = u32::try_from(ids.len()).unwrap_or(u32::MAX);
    *ids.entry(word).or_insert(next)
}

/// Splits a text in lower case into its words.
fn words(lower: &str) -> impl Iterator<Item = &str> {
    lower.split(|c: char| !is_ascii_word(c)).filter(|word| !word.is_empty())
}

fn is_ascii_word(c: char) -> bool {
    matches!(c, 'a'..='z' | '0'..='9')
}

/// Whether ROUGE-L has words to compare in a reference answer: at least half of its letters and digits
/// are a–z and 0–9. It drops all others, so that little would decide the score of a text in another
/// script.
pub fn has_ascii_words(reference: &str) -> bool {
    let (mut n_ascii, mut n_others) = (0_usize, 0_usize);
    for c in reference.chars().flat_map(char::to_lowercase) {
        if is_ascii_word(c) {
            n_ascii += 1;
        } else if c.is_alphanumeric() {
            n_others += 1;
        }
    }
    n_ascii > 0 && n_ascii >= n_others
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_runs_of_ascii_letters_and_digits() {
        let words = |text: &str| words(&text.to_lowercase()).collect::<Vec<_>>().join(" ");
        assert_eq!(words("The U.S. has 1,234 cafés"), "the u s has 1 234 caf s");
        assert_eq!(words("212\u{212a} — Осло"), "212k", "the sign of Kelvin is a K");
        assert_eq!(words("…"), "");
    }

    #[test]
    fn texts_in_other_scripts_have_too_few_words() {
        for (text, has) in [
            ("Oslo", true),
            ("42", true),
            ("Größenwahn in Zürich", true),
            ("Столица — Осло", false),
            ("首都はオスロ", false),
            ("Столица Норвегии — Oslo", false),
            ("Oslo (Осло)", true),
            ("?!", false),
        ] {
            assert_eq!(has_ascii_words(text), has, "{text}");
        }
    }

    #[test]
    fn too_many_pairs_are_told_with_the_limit() {
        let told = rouge_l("a b c", "d e", 5).expect_err("six pairs").to_string();
        assert_eq!(
            told,
            "the reference answer has 3 words and the actual answer 2: more pairs than `limits.word_pairs` allows (5)"
        );
        assert_eq!(rouge_l("a b c", "d e", 6), Ok(0.0));
    }
}
