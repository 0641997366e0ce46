//! How many questions it takes to find a difference, and what difference so many find.

use super::distributions::{is_inner_share, normal_above};

/// One question gives no standard error.
const FEWEST_QUESTIONS: f64 = 2.0;

/// What a comparison of two runs will look like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Design {
    /// The variance of the true difference between the runs, from question to question.
    pub variance_of_differences: f64,
    /// The variance of repeated answers, or verdicts, of one run to one question.
    pub variance_within: f64,
    /// How often each run answers each question.
    pub repeats: u32,
    /// The design effect of clusters; 1 for independent questions.
    pub deff: f64,
    /// How likely the difference is to be found.
    pub power: f64,
    /// How likely a difference is found where there is none.
    pub significance: f64,
}

impl Design {
    /// Creates a design of independent questions that are answered once, with a power of 80 % and a
    /// significance of 5 %.
    pub fn new(variance_of_differences: f64) -> Design {
        Design {
            variance_of_differences,
            variance_within: 0.0,
            repeats: 1,
            deff: 1.0,
            power: 0.8,
            significance: 0.05,
        }
    }

    /// Returns the square of what a standard error is multiplied with, or `None` if the design makes
    /// no sense.
    fn factor(&self) -> Option<f64> {
        let variances = [self.variance_of_differences, self.variance_within];
        let is_sound = variances.iter().all(|variance| variance.is_finite() && *variance >= 0.0)
            && self.repeats > 0
            && self.deff.is_finite()
            && self.deff > 0.0
            && is_inner_share(self.power)
            && is_inner_share(self.significance);
        let sum = normal_above(self.significance / 2.0) + normal_above(1.0 - self.power);
        (is_sound && sum > 0.0).then_some(self.deff * sum * sum)
    }

    /// The variance of the difference on one question: both runs add their own noise.
    fn variance(&self) -> f64 {
        self.variance_of_differences + 2.0 * self.variance_within / f64::from(self.repeats)
    }
}

/// Returns the number of questions that it takes to find a difference, at least 2.
///
/// Returns `None` if the design makes no sense (a negative variance, no repeats, a power outside 0 to
/// 1), if the difference is 0 or not finite, and for more than 2^53 questions.
///
/// ```
/// use juror_statistics::{Design, questions_needed};
///
/// // Three points, with scores that differ as scores between 0 and 1 usually do.
/// assert_eq!(questions_needed(0.03, &Design::new(1.0 / 9.0)), Some(969));
/// ```
pub fn questions_needed(delta: f64, design: &Design) -> Option<u64> {
    let questions = design.factor()? * design.variance() / (delta * delta);
    let whole = questions.ceil().max(FEWEST_QUESTIONS);
    let is_countable = questions.is_finite() && delta.is_finite() && whole <= 2_f64.powi(53);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked above")]
    is_countable.then_some(whole as u64)
}

/// Returns the least difference that so many questions find (the minimum detectable effect).
///
/// Returns `None` for no questions, and for a design that makes no sense.
///
/// ```
/// use juror_statistics::{Design, least_detectable};
///
/// let once = Design { variance_within: 1.0 / 6.0, ..Design::new(1.0 / 9.0) };
/// assert!((least_detectable(198, &once).unwrap() - 0.132_733).abs() < 1e-6);
/// ```
pub fn least_detectable(questions: u64, design: &Design) -> Option<f64> {
    let square = design.factor()? * design.variance() / questions as f64;
    (questions > 0 && square.is_finite()).then(|| square.sqrt())
}

/// Returns how often each run has to answer each of so many questions to find a difference.
///
/// Returns `None` if no number of repeats is enough: more repeats do not make up for few questions.
///
/// ```
/// use juror_statistics::{Design, repeats_needed};
///
/// let design = Design { variance_within: 1.0 / 6.0, ..Design::new(1.0 / 9.0) };
/// assert_eq!(repeats_needed(0.03, 1260, &design), Some(10));
/// assert_eq!(repeats_needed(0.03, 900, &design), None);
/// ```
pub fn repeats_needed(delta: f64, questions: u64, design: &Design) -> Option<u32> {
    let bearable = delta * delta * questions as f64 / design.factor()?;
    let left = bearable - design.variance_of_differences;
    let repeats = (2.0 * design.variance_within / left).ceil().max(1.0);
    let is_possible = left > 0.0 && repeats <= f64::from(u32::MAX);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked above")]
    is_possible.then_some(repeats as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noisy(repeats: u32) -> Design {
        Design { variance_within: 1.0 / 6.0, repeats, ..Design::new(1.0 / 9.0) }
    }

    #[test]
    fn numbers_of_questions_are_as_published() {
        assert_eq!(questions_needed(0.03, &Design::new(1.0 / 9.0)), Some(969));
        assert_eq!(questions_needed(0.03, &noisy(1)), Some(3876));
        assert_eq!(questions_needed(0.03, &noisy(10)), Some(1260));
        assert_eq!(questions_needed(-0.03, &noisy(10)), Some(1260));
    }

    #[test]
    fn least_differences_are_as_published() {
        for (repeats, wanted) in [(1, 0.132_733), (10, 0.075_670)] {
            let got = least_detectable(198, &noisy(repeats)).expect("a difference");
            assert!((got - wanted).abs() < 1e-6, "{got}");
        }
    }

    #[test]
    fn clusters_take_more_questions() {
        let design = Design { deff: 2.96, ..Design::new(1.0 / 9.0) };
        assert_eq!(questions_needed(0.05, &design), Some(1033));
    }

    #[test]
    fn as_many_questions_as_needed_find_the_difference() {
        for (delta, design) in [(0.01, noisy(1)), (0.05, noisy(3)), (0.2, Design::new(0.2))] {
            let questions = questions_needed(delta, &design).expect("a number");
            assert!(least_detectable(questions, &design).expect("a difference") <= delta);
            assert!(least_detectable(questions - 1, &design).expect("a difference") > delta);
        }
    }

    #[test]
    fn as_many_repeats_as_needed_find_the_difference() {
        let repeats = repeats_needed(0.05, 500, &noisy(1)).expect("a number");
        assert!(least_detectable(500, &noisy(repeats)).expect("a difference") <= 0.05);
        assert!(least_detectable(500, &noisy(repeats - 1)).expect("a difference") > 0.05);
        assert_eq!(repeats_needed(0.05, 500, &Design::new(0.1)), Some(1), "nothing to repeat");
    }

    #[test]
    fn designs_that_make_no_sense_have_no_plan() {
        let sound = Design::new(0.1);
        let unsound = [
            Design { variance_of_differences: -0.1, ..sound },
            Design { variance_within: f64::NAN, ..sound },
            Design { repeats: 0, ..sound },
            Design { deff: 0.0, ..sound },
            Design { power: 1.0, ..sound },
            Design { significance: 0.0, ..sound },
            Design { power: 0.01, ..sound },
        ];
        for design in unsound {
            assert_eq!(questions_needed(0.1, &design), None, "{design:?}");
            assert_eq!(least_detectable(10, &design), None, "{design:?}");
            assert_eq!(repeats_needed(0.1, 10, &design), None, "{design:?}");
        }
        for delta in [0.0, f64::NAN, f64::INFINITY, 1e-300] {
            assert_eq!(questions_needed(delta, &sound), None, "{delta}");
        }
        assert_eq!(least_detectable(0, &sound), None);
        assert_eq!(questions_needed(0.1, &Design::new(0.0)), Some(2));
    }
}
