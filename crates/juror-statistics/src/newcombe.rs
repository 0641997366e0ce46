//! Newcombe's interval of the difference between two proportions of the same questions.

use serde::Serialize;

use super::Interval;
use super::distributions::is_inner_share;
use super::proportion::wilson;

/// How often two runs got questions right, question by question.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PairedCounts {
    /// Both runs are right.
    pub both: u64,
    /// Only the first run is right.
    pub lost: u64,
    /// Only the second run is right.
    pub won: u64,
    /// Neither run is right.
    pub neither: u64,
}

/// The difference between two proportions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PairedProportions {
    /// The share of the second run less that of the first.
    pub delta: f64,
    /// Newcombe's score interval (his method 10), which stays between -1 and 1.
    pub interval: Interval,
}

/// Compares two runs whose questions are right or wrong, and independent of each other.
///
/// Returns `None` if there are no questions, and if `confidence` is not between 0 and 1.
///
/// ```
/// use juror_statistics::{CONFIDENCE, PairedCounts, newcombe};
///
/// let counts = PairedCounts { both: 20, lost: 2, won: 12, neither: 16 };
/// let found = newcombe(counts, CONFIDENCE).unwrap();
/// assert!((found.delta - 0.2).abs() < 1e-12);
/// assert!((found.interval.low - 0.056_156_425).abs() < 1e-9);
/// ```
pub fn newcombe(counts: PairedCounts, confidence: f64) -> Option<PairedProportions> {
    let PairedCounts { both, lost, won, neither } = counts;
    let [both, lost, won, neither] = [both, lost, won, neither].map(|count| count as f64);
    let n = both + lost + won + neither;
    if n == 0.0 || !is_inner_share(confidence) {
        return None;
    }
    let delta = (won - lost) / n;
    let phi = correlation([both, lost, won, neither]);
    let (second_below, second_above) = reach(both + won, n, confidence);
    let (first_below, first_above) = reach(both + lost, n, confidence);
    let low = (delta - distance(second_below, first_above, phi)).max(-1.0);
    let high = (delta + distance(second_above, first_below, phi)).min(1.0);
    Some(PairedProportions { delta, interval: Interval { low, high } })
}

/// Returns how far Wilson's interval reaches below a proportion, and above it.
fn reach(k: f64, n: f64, confidence: f64) -> (f64, f64) {
    let wilson = wilson(k, n, confidence);
    (k / n - wilson.low, wilson.high - k / n)
}

fn distance(one: f64, other: f64, phi: f64) -> f64 {
    (one * one - 2.0 * phi * one * other + other * other).max(0.0).sqrt()
}

/// Returns the correlation of both runs, corrected for continuity; 0 if a run does not vary.
fn correlation([both, lost, won, neither]: [f64; 4]) -> f64 {
    let margins = [both + won, both + lost, neither + won, neither + lost];
    let product = margins.iter().map(|margin| margin.sqrt()).product::<f64>();
    let covariance = both * neither - won * lost;
    let half = (both + lost + won + neither) / 2.0;
    let corrected = if covariance > 0.0 { (covariance - half).max(0.0) } else { covariance };
    if product > 0.0 { corrected / product } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CONFIDENCE;

    fn check(counts: [u64; 4], wanted: [f64; 3]) {
        let [both, lost, won, neither] = counts;
        let got =
            newcombe(PairedCounts { both, lost, won, neither }, CONFIDENCE).expect("a result");
        let got = [got.delta, got.interval.low, got.interval.high];
        let is_near = got.iter().zip(wanted).all(|(got, wanted)| (got - wanted).abs() < 1e-9);
        assert!(is_near, "{counts:?}: got {got:?}, wanted {wanted:?}");
    }

    #[test]
    fn intervals_are_as_published() {
        check([20, 2, 12, 16], [0.2, 0.056_156_425, 0.329_206_995]);
        check([36, 2, 12, 0], [0.2, 0.056_929_584, 0.340_427_603]);
    }

    #[test]
    fn swapping_the_runs_mirrors_the_interval() {
        check([20, 12, 2, 16], [-0.2, -0.329_206_995, -0.056_156_425]);
    }

    #[test]
    fn runs_that_are_always_right_still_have_a_width() {
        let always = PairedCounts { both: 10, ..PairedCounts::default() };
        let found = newcombe(always, CONFIDENCE).expect("a result");
        assert_eq!(found.delta, 0.0);
        assert!(found.interval.low < -0.2 && found.interval.high > 0.2, "{found:?}");
    }

    #[test]
    fn no_questions_have_no_difference() {
        assert_eq!(newcombe(PairedCounts::default(), CONFIDENCE), None);
        assert_eq!(newcombe(PairedCounts { both: 1, ..PairedCounts::default() }, 1.0), None);
    }
}
