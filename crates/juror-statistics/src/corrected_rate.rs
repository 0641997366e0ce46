//! A pass rate corrected for the judge's errors, which a labelled sample tells (Rogan and Gladen).

use serde::Serialize;

use super::Interval;
use super::distributions::{is_inner_share, normal_half_width};

/// What a judge said, and how it did where people have judged too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JudgedCounts {
    /// The number of answers that the judge passed.
    pub judge_passes: u64,
    /// The number of answers that it judged.
    pub n: u64,
    /// The number of labelled answers that people passed.
    pub human_passes: u64,
    /// How many of those the judge passed, too.
    pub judge_agrees_on_passes: u64,
    /// The number of labelled answers that people failed.
    pub human_fails: u64,
    /// How many of those the judge failed, too.
    pub judge_agrees_on_fails: u64,
}

/// A pass rate without the judge's errors.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CorrectedRate {
    /// The corrected rate, which chance may carry below 0 or above 1.
    pub raw: f64,
    /// The same, moved to 0 or 1 if it is beyond.
    pub rate: f64,
    /// The standard error of the raw rate, from the answers and from both labelled samples.
    pub se: f64,
    /// The normal interval of the raw rate.
    pub interval: Interval,
    /// How often the judge passes what people pass.
    pub sensitivity: f64,
    /// How often the judge fails what people fail.
    pub specificity: f64,
}

/// Why a rate cannot be corrected.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// The confidence is not between 0 and 1.
    #[error("expected a confidence between 0 and 1, found `{0}`")]
    Confidence(f64),
    /// A part is larger than the whole.
    #[error("{part} of {whole} answers is impossible")]
    Impossible {
        /// The larger count.
        part: u64,
        /// The smaller count.
        whole: u64,
    },
    /// The judge judged nothing.
    #[error("the judge judged no answer")]
    NoAnswers,
    /// People passed no labelled answer.
    #[error(
        "people passed no labelled answer, so nothing tells how often the judge passes a good one"
    )]
    NoHumanPasses,
    /// People failed no labelled answer.
    #[error(
        "people failed no labelled answer, so nothing tells how often the judge fails a bad one"
    )]
    NoHumanFails,
    /// The judge is hardly better than a coin, or worse.
    #[error(
        "the judge hardly tells good answers from bad: sensitivity + specificity - 1 is {0:.3}, at most 0.1"
    )]
    Blind(f64),
}

/// Returns the pass rate that people would give, from a judge's verdicts and its errors on labelled
/// answers. The labelled answers have to be a random share of those judged.
///
/// Refuses if the judge hardly tells good from bad, that is, if sensitivity + specificity - 1 is at
/// most 0.1: the correction would divide by next to nothing.
///
/// ```
/// use juror_statistics::{CONFIDENCE, JudgedCounts, corrected_rate};
///
/// let counts = JudgedCounts {
///     judge_passes: 140,
///     n: 200,
///     human_passes: 50,
///     judge_agrees_on_passes: 45,
///     human_fails: 50,
///     judge_agrees_on_fails: 40,
/// };
/// let corrected = corrected_rate(&counts, CONFIDENCE)?;
/// assert!((corrected.rate - 0.714_285_714).abs() < 1e-9);
/// # Ok::<(), juror_statistics::Refused>(())
/// ```
pub fn corrected_rate(counts: &JudgedCounts, confidence: f64) -> Result<CorrectedRate, Refused> {
    counts.check()?;
    if !is_inner_share(confidence) {
        return Err(Refused::Confidence(confidence));
    }
    let share = |part: u64, whole: u64| part as f64 / whole as f64;
    let passed = share(counts.judge_passes, counts.n);
    let sensitivity = share(counts.judge_agrees_on_passes, counts.human_passes);
    let specificity = share(counts.judge_agrees_on_fails, counts.human_fails);
    let informedness = sensitivity + specificity - 1.0;
    if counts.is_blind() {
        return Err(Refused::Blind(informedness));
    }
    let raw = (passed + specificity - 1.0) / informedness;
    let variance = variance_of_share(passed, counts.n)
        + raw * raw * variance_of_share(sensitivity, counts.human_passes)
        + (1.0 - raw) * (1.0 - raw) * variance_of_share(specificity, counts.human_fails);
    let se = variance.sqrt() / informedness;
    let half_width = se * normal_half_width(confidence);
    let interval = Interval { low: raw - half_width, high: raw + half_width };
    Ok(CorrectedRate { raw, rate: raw.clamp(0.0, 1.0), se, interval, sensitivity, specificity })
}

fn variance_of_share(share: f64, n: u64) -> f64 {
    share * (1.0 - share) / n as f64
}

impl JudgedCounts {
    fn check(&self) -> Result<(), Refused> {
        let parts = [
            (self.judge_passes, self.n),
            (self.judge_agrees_on_passes, self.human_passes),
            (self.judge_agrees_on_fails, self.human_fails),
        ];
        if let Some((part, whole)) = parts.into_iter().find(|(part, whole)| part > whole) {
            return Err(Refused::Impossible { part, whole });
        }
        match self {
            JudgedCounts { n: 0, .. } => Err(Refused::NoAnswers),
            JudgedCounts { human_passes: 0, .. } => Err(Refused::NoHumanPasses),
            JudgedCounts { human_fails: 0, .. } => Err(Refused::NoHumanFails),
            _ => Ok(()),
        }
    }

    /// Whether sensitivity + specificity - 1 is at most 0.1, that is, whether both shares of errors
    /// sum to 0.9. In whole numbers, because 0.6 + 0.5 - 1 is more than 0.1 once it is rounded.
    fn is_blind(&self) -> bool {
        let product = |a: u64, b: u64| u128::from(a) * u128::from(b);
        let missed_passes =
            product(self.human_passes - self.judge_agrees_on_passes, self.human_fails);
        let missed_fails =
            product(self.human_fails - self.judge_agrees_on_fails, self.human_passes);
        let whole = product(self.human_passes, self.human_fails);
        missed_passes.saturating_add(missed_fails).saturating_mul(10) >= whole.saturating_mul(9)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CONFIDENCE;

    fn counts(judged: [u64; 2], passes: [u64; 2], fails: [u64; 2]) -> JudgedCounts {
        JudgedCounts {
            judge_passes: judged[0],
            n: judged[1],
            judge_agrees_on_passes: passes[0],
            human_passes: passes[1],
            judge_agrees_on_fails: fails[0],
            human_fails: fails[1],
        }
    }

    #[test]
    fn the_correction_is_as_published() {
        let counts = counts([140, 200], [45, 50], [40, 50]);
        let found = corrected_rate(&counts, CONFIDENCE).expect("a rate");
        assert!((found.raw - 0.714_285_714).abs() < 1e-9);
        assert!((found.se - 0.067_455_077).abs() < 1e-9);
        assert!((found.interval.low - 0.582_076).abs() < 1e-6);
        assert!((found.interval.high - 0.846_495).abs() < 1e-6);
    }

    #[test]
    fn a_rate_beyond_one_is_moved_to_one_and_its_interval_stays() {
        let found =
            corrected_rate(&counts([50, 50], [9, 10], [9, 10]), CONFIDENCE).expect("a rate");
        assert_eq!(found.rate, 1.0);
        assert!((found.raw - 1.125).abs() < 1e-12 && found.interval.high > found.raw);
    }

    #[test]
    fn a_judge_that_hardly_sees_is_refused() {
        let limit = corrected_rate(&counts([1, 2], [6, 10], [5, 10]), CONFIDENCE);
        assert!(matches!(limit, Err(Refused::Blind(_))), "{limit:?}");
        let worse = corrected_rate(&counts([1, 2], [1, 10], [2, 10]), CONFIDENCE);
        assert!(matches!(worse, Err(Refused::Blind(_))), "{worse:?}");
        let words = worse.expect_err("a refusal").to_string();
        assert!(words.contains("sensitivity + specificity - 1 is -0.700"), "{words}");
        assert!(corrected_rate(&counts([1, 2], [61, 100], [5, 10]), CONFIDENCE).is_ok());
    }

    #[test]
    fn counts_that_say_nothing_are_refused() {
        let refusal = |counts| corrected_rate(&counts, CONFIDENCE).expect_err("a refusal");
        let impossible = Refused::Impossible { part: 3, whole: 2 };
        assert_eq!(refusal(counts([3, 2], [1, 1], [1, 1])), impossible);
        assert_eq!(refusal(counts([1, 2], [3, 2], [1, 1])), impossible);
        assert_eq!(refusal(counts([0, 0], [1, 1], [1, 1])), Refused::NoAnswers);
        assert_eq!(refusal(counts([1, 2], [0, 0], [1, 1])), Refused::NoHumanPasses);
        assert_eq!(refusal(counts([1, 2], [1, 1], [0, 0])), Refused::NoHumanFails);
        let all = counts([u64::MAX; 2], [u64::MAX; 2], [u64::MAX; 2]);
        assert!(corrected_rate(&all, CONFIDENCE).is_ok());
        assert_eq!(corrected_rate(&all, 95.0), Err(Refused::Confidence(95.0)));
    }
}
