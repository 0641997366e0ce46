//! The prediction-powered mean: a judge on everything, corrected by people on some.

use serde::Serialize;

use super::Interval;
use super::distributions::{is_inner_share, normal_half_width};
use super::sample::Sample;

/// A mean of what people would say.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PredictionPowered {
    /// The judge's mean over everything, plus what people add to the judge on the labelled part.
    pub mean: f64,
    /// Its standard error; `None` if either part has one value.
    pub se: Option<f64>,
    /// Its normal interval.
    pub interval: Option<Interval>,
    /// What people add to the judge, in the mean.
    pub correction: f64,
    /// The standard error of people's mean alone, to see what the judge adds.
    pub se_labels_alone: Option<f64>,
}

/// Returns the mean that people would give: `judge_all` has the judge's scores of everything,
/// `judge_labelled` and `human_labelled` both scores of what people judged, in the same order. What
/// people judged has to be a random share.
///
/// Returns `None` if a list is empty, if the last two have different lengths, for scores that are not
/// finite, and if `confidence` is not between 0 and 1.
///
/// ```
/// use juror_statistics::{CONFIDENCE, prediction_powered};
///
/// let judge = [0.9, 0.7, 0.8, 0.6, 1.0, 0.8];
/// let found = prediction_powered(&judge, &judge[..3], &[0.8, 0.6, 0.7], CONFIDENCE).unwrap();
/// assert!((found.mean - 0.7).abs() < 1e-12, "people are stricter by 0.1");
/// ```
pub fn prediction_powered(
    judge_all: &[f64],
    judge_labelled: &[f64],
    human_labelled: &[f64],
    confidence: f64,
) -> Option<PredictionPowered> {
    let everything = Sample::new(judge_all).filter(|_| is_inner_share(confidence))?;
    let residuals = Sample::differences(judge_labelled, human_labelled)?;
    let mean = everything.mean() + residuals.mean();
    let se = everything.standard_error().zip(residuals.standard_error()).map(|(a, b)| a.hypot(b));
    let half_width = se.map(|se| se * normal_half_width(confidence));
    let is_finite = mean.is_finite() && se.is_none_or(f64::is_finite);
    is_finite.then_some(PredictionPowered {
        mean,
        se,
        interval: half_width.and_then(|half_width| Interval::around(mean, half_width)),
        correction: residuals.mean(),
        se_labels_alone: Sample::new(human_labelled).and_then(|labels| labels.standard_error()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CONFIDENCE;

    /// 1000 verdicts, 720 of them passes; 100 labels: 8 times the judge was too kind, 3 times too
    /// strict.
    #[test]
    fn few_labels_and_many_verdicts_beat_labels_alone() {
        let judge_all: Vec<f64> = (0..1000).map(|at| f64::from(at < 720)).collect();
        let judge_labelled: Vec<f64> = (0..100).map(|at| f64::from(at < 72)).collect();
        let person = |at: i32| f64::from((8..72).contains(&at) || (72..75).contains(&at));
        let human_labelled: Vec<f64> = (0..100).map(person).collect();
        let found = prediction_powered(&judge_all, &judge_labelled, &human_labelled, CONFIDENCE);
        let found = found.expect("a mean");
        assert!((found.mean - 0.67).abs() < 1e-12 && (found.correction + 0.05).abs() < 1e-12);
        assert!((found.se.expect("an error") - 0.035_883_984_652_474_46).abs() < 1e-9);
        let alone = found.se_labels_alone.expect("an error");
        assert!((alone - 0.047_258_156_262_526_08).abs() < 1e-9, "{alone}");
        assert!(found.interval.expect("an interval").low > 0.59);
    }

    #[test]
    fn one_label_has_a_mean_and_no_error() {
        let found = prediction_powered(&[0.5, 0.7], &[0.5], &[0.6], CONFIDENCE).expect("a mean");
        assert!((found.mean - 0.7).abs() < 1e-12);
        assert_eq!((found.se, found.interval, found.se_labels_alone), (None, None, None));
    }

    #[test]
    fn what_cannot_be_paired_is_none() {
        assert_eq!(prediction_powered(&[], &[1.0], &[1.0], CONFIDENCE), None);
        assert_eq!(prediction_powered(&[1.0], &[], &[], CONFIDENCE), None);
        assert_eq!(prediction_powered(&[1.0], &[1.0], &[1.0, 0.0], CONFIDENCE), None);
        assert_eq!(prediction_powered(&[f64::NAN], &[1.0], &[1.0], CONFIDENCE), None);
        assert_eq!(prediction_powered(&[1.0], &[1.0], &[1.0], 2.0), None);
    }
}
