//! Metrics of retrieval: how well retrieved documents cover the relevant ones.

use std::collections::HashSet;
use std::hash::Hash;

/// Returns the share of the first `k` relevant items found among the first `k` retrieved ones.
///
/// A repeated item counts once, at its first position. If `k` is below 1, the share is 0.
///
/// ```
/// use juror_score::retrieval::recall_at_k;
/// assert_eq!(recall_at_k(&[1, 3, 5, 6], &[1, 4, 3, 5, 7], 5), 0.75);
/// ```
pub fn recall_at_k<T: Eq + Hash>(relevant: &[T], retrieved: &[T], k: i64) -> f64 {
    let Some(k) = usize::try_from(k).ok().filter(|k| *k > 0) else { return 0.0 };
    let relevant: HashSet<&T> = distinct(relevant).take(k).collect();
    if relevant.is_empty() {
        return 0.0;
    }
    let found = distinct(retrieved).take(k).filter(|item| relevant.contains(item)).count();
    found as f64 / relevant.len() as f64
}

/// Returns the mean over the relevant items of the precision at the rank of each.
///
/// ```
/// use juror_score::retrieval::average_precision;
/// let ap = average_precision(&[1, 3, 5, 6], &[1, 4, 3, 5, 7]);
/// assert!((ap - 0.6042).abs() < 1e-4);
/// ```
pub fn average_precision<T: Eq + Hash>(relevant: &[T], retrieved: &[T]) -> f64 {
    let (sum, _) = precision_at_hits(relevant, retrieved);
    mean(sum, distinct(relevant).count())
}

/// Returns the mean over the relevant items found of the precision at the rank of each.
///
/// ```
/// use juror_score::retrieval::average_precision_over_hits;
/// let ap = average_precision_over_hits(&[1, 3, 5, 6], &[1, 4, 3, 5, 7]);
/// assert!((ap - 0.8056).abs() < 1e-4);
/// ```
pub fn average_precision_over_hits<T: Eq + Hash>(relevant: &[T], retrieved: &[T]) -> f64 {
    let (sum, n_hits) = precision_at_hits(relevant, retrieved);
    mean(sum, n_hits)
}

fn precision_at_hits<T: Eq + Hash>(relevant: &[T], retrieved: &[T]) -> (f64, usize) {
    let relevant: HashSet<&T> = relevant.iter().collect();
    let mut seen = HashSet::new();
    let (mut sum, mut n_hits) = (0.0, 0_usize);
    for (index, item) in retrieved.iter().enumerate() {
        if relevant.contains(item) && seen.insert(item) {
            n_hits += 1;
            sum += n_hits as f64 / (index + 1) as f64;
        }
    }
    (sum, n_hits)
}

fn mean(sum: f64, n: usize) -> f64 {
    if n == 0 { 0.0 } else { sum / n as f64 }
}

fn distinct<T: Eq + Hash>(items: &[T]) -> impl Iterator<Item = &T> {
    let mut seen = HashSet::new();
    items.iter().filter(move |item| seen.insert(*item))
}

/// Returns the harmonic mean of two fractions, or 0 if both are 0.
pub fn f1(recall: f64, precision: f64) -> f64 {
    if recall + precision == 0.0 { 0.0 } else { 2.0 * recall * precision / (recall + precision) }
}

/// Returns the mean precision at the ranks judged useful, or 0 if none is.
pub fn precision_of_useful(useful: &[bool]) -> f64 {
    let (mut sum, mut n_useful) = (0.0, 0_u32);
    for (index, _) in useful.iter().enumerate().filter(|(_, useful)| **useful) {
        n_useful += 1;
        sum += f64::from(n_useful) / (index + 1) as f64;
    }
    mean(sum, n_useful as usize)
}

/// How well retrieved contexts agree with the reference contexts, by text distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContextScores {
    /// The share of reference contexts that some retrieved context resembles.
    pub recall: f64,
    /// How high the resembling contexts rank.
    pub precision: f64,
    /// Their harmonic mean.
    pub f1: f64,
}

/// The most pairs of characters for which a distance is computed.
const MAX_CHARACTER_PAIRS: usize = 1 << 34;

/// Why contexts could not be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the contexts are too long to compare: {a} and {b} characters")]
pub struct ContextsTooLong {
    a: usize,
    b: usize,
}

/// Compares contexts by their texts. Two texts resemble each other if their similarity, which is
/// one minus the edit distance divided by the longer length, is at least one half (more than one
/// half for recall).
pub fn compare_contexts(
    reference: &[&str],
    actual: &[&str],
) -> Result<ContextScores, ContextsTooLong> {
    let (recall, precision) = match (reference.is_empty(), actual.is_empty()) {
        (true, true) => (1.0, 1.0),
        (true, false) => (1.0, 0.0),
        (false, true) => (0.0, 0.0),
        (false, false) => resemblance(reference, actual)?,
    };
    Ok(ContextScores { recall, precision, f1: f1(recall, precision) })
}

fn resemblance(reference: &[&str], actual: &[&str]) -> Result<(f64, f64), ContextsTooLong> {
    let mut found = vec![false; reference.len()];
    let mut useful = vec![false; actual.len()];
    for (a, actual) in actual.iter().enumerate() {
        for (r, reference) in reference.iter().enumerate() {
            let (distance, longer) = distance_within_half(reference, actual)?;
            useful[a] |= distance.is_some_and(|distance| 2 * distance <= longer);
            found[r] |= distance.is_some_and(|distance| 2 * distance < longer || longer == 0);
        }
    }
    let n_found = found.iter().filter(|found| **found).count();
    Ok((n_found as f64 / reference.len() as f64, precision_of_useful(&useful)))
}

/// Returns the edit distance if it is at most half the longer length, and that length.
fn distance_within_half(a: &str, b: &str) -> Result<(Option<usize>, usize), ContextsTooLong> {
    let (n_a, n_b) = (a.chars().count(), b.chars().count());
    let longer = n_a.max(n_b);
    if a == b {
        return Ok((Some(0), longer));
    }
    if 2 * n_a.abs_diff(n_b) > longer {
        return Ok((None, longer));
    }
    if n_a.saturating_mul(n_b) > MAX_CHARACTER_PAIRS {
        return Err(ContextsTooLong { a: n_a, b: n_b });
    }
    let cutoff = rapidfuzz::distance::levenshtein::Args::default().score_cutoff(longer / 2);
    let distance =
        rapidfuzz::distance::levenshtein::distance_with_args(a.chars(), b.chars(), &cutoff);
    Ok((distance, longer))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_counts_once() {
        assert!(
            (average_precision(&["b", "d", "c"], &["f", "d", "b", "d", "b"]) - 0.3889).abs() < 1e-4
        );
        assert_eq!(recall_at_k(&["a", "a", "b"], &["a", "a", "b"], 2), 1.0);
    }

    #[test]
    fn k_below_one_finds_nothing() {
        assert_eq!(recall_at_k(&[1], &[1], 0), 0.0);
        assert_eq!(recall_at_k(&[1], &[1], -3), 0.0);
    }

    #[test]
    fn exactly_half_alike_is_useful_but_not_found() {
        let scores = compare_contexts(&["aaaa"], &["aabb"]).expect("short texts");
        assert_eq!((scores.recall, scores.precision, scores.f1), (0.0, 1.0, 0.0));
    }

    #[test]
    fn nothing_to_find_is_all_found() {
        let scores = |r: &[&str], a: &[&str]| {
            let scores = compare_contexts(r, a).expect("short texts");
            (scores.recall, scores.precision)
        };
        assert_eq!(scores(&[], &[]), (1.0, 1.0));
        assert_eq!(scores(&[], &["x"]), (1.0, 0.0));
        assert_eq!(scores(&["x"], &[]), (0.0, 0.0));
    }

    #[test]
    fn precision_rewards_early_ranks() {
        assert!((precision_of_useful(&[true, false, true]) - 0.8333).abs() < 1e-4);
        assert_eq!(precision_of_useful(&[true, true]), 1.0);
        assert_eq!(precision_of_useful(&[]), 0.0);
    }
}
