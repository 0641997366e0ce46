//! The mean that people would give, from a judge's scores and what people say about some of them.

use juror_score::statistics::{
    Interval, JudgedCounts, Refused, corrected_rate, prediction_powered,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Calibration, LabelPair, Side, is_binary};
use crate::estimate::{Caution, Estimate, Method, has_width};
use crate::numbers::share_with_interval;

/// A judge's scores of a run.
#[derive(Clone, Copy, Debug)]
pub struct JudgedScores<'s> {
    /// The scores.
    pub values: &'s [f64],
    /// The cluster that each belongs to: its template or query.
    pub clusters: &'s [u32],
}

/// How a mean was corrected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CorrectionMethod {
    /// By sensitivity and specificity, for scores of 0 and 1 (Rogan and Gladen).
    RoganGladen,
    /// By the mean difference between people and judge (prediction-powered).
    PredictionPowered,
}

/// The mean that people would give, beside the judge's own.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CorrectedMean {
    /// How it was corrected.
    pub method: CorrectionMethod,
    /// The corrected mean, from 0 to 1.
    pub mean: f64,
    /// The same as computed: chance may carry it below 0 or above 1.
    pub unclipped: f64,
    /// Its standard error, from the judge's scores and from the labels.
    pub se: Option<f64>,
    /// The interval around `unclipped`.
    #[schemars(with = "Option<[f64; 2]>")]
    pub interval: Option<Interval>,
    /// Why there is no interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caution: Option<Caution>,
    /// The judge's own mean.
    pub raw: f64,
    /// Its interval.
    #[schemars(with = "Option<[f64; 2]>")]
    pub raw_interval: Option<Interval>,
}

impl CorrectedMean {
    /// The corrected mean with its interval. Beyond 0 or 1 it shows what was computed, too, since the
    /// interval is around that.
    pub fn shown(&self) -> String {
        let CorrectedMean { mean, unclipped, interval, .. } = *self;
        if unclipped == mean {
            return share_with_interval(mean, interval);
        }
        let half = interval.map(|interval| format!(" ±{:.2}", interval.half_width()));
        format!("{mean:.3}, unclipped {unclipped:.3}{}", half.unwrap_or_default())
    }
}

/// Why a mean is not corrected.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Uncorrected {
    /// People labelled nothing that was drawn at random.
    #[error("no label is from the random share; only such labels show how often the judge errs")]
    NoLabels,
    /// The judge judged nothing.
    #[error("there is no score to correct")]
    NoScores,
    /// The method refuses.
    #[error(transparent)]
    Refused(#[from] Refused),
}

impl Calibration {
    /// Corrects the mean of a judge's scores.
    ///
    /// Scores of 0 and 1 are corrected by how often the judge passes good answers and fails bad ones
    /// (Rogan and Gladen), all others by how far people differ from it (prediction-powered). The
    /// interval holds the uncertainty of both, the scores and the labels. If scores belong to
    /// clusters, theirs is the clustered one, and the interval is as careful as that of the mean
    /// itself.
    pub fn correct(
        &self,
        scores: JudgedScores<'_>,
        confidence: f64,
    ) -> Result<CorrectedMean, Uncorrected> {
        let JudgedScores { values, clusters } = scores;
        let estimate = Estimate::of(values, clusters, confidence).ok_or(Uncorrected::NoScores)?;
        if self.pairs.is_empty() {
            return Err(Uncorrected::NoLabels);
        }
        let judged = self.pairs.iter().map(|pair| pair.judge);
        let corrected = if values.iter().copied().chain(judged).all(is_binary) {
            Independent::by_rates(&self.pairs, values, confidence)?
        } else {
            Independent::by_differences(&self.pairs, values, &estimate, confidence)?
        };
        Ok(corrected.among_clusters(&estimate))
    }
}

/// A correction as if all scores were independent.
struct Independent {
    method: CorrectionMethod,
    mean: f64,
    se: Option<f64>,
    half_width: Option<f64>,
    /// The variance of the judge's mean that `se` contains.
    judge_variance: f64,
    /// How much larger an error of the judge's mean becomes by the correction.
    gain: f64,
}

impl Independent {
    fn by_rates(
        pairs: &[LabelPair],
        values: &[f64],
        confidence: f64,
    ) -> Result<Independent, Refused> {
        let counts = judged_counts(pairs, values);
        let found = corrected_rate(&counts, confidence)?;
        let passed = counts.judge_passes as f64 / counts.n as f64;
        Ok(Independent {
            method: CorrectionMethod::RoganGladen,
            mean: found.raw,
            se: Some(found.se),
            half_width: Some(found.interval.half_width()),
            judge_variance: passed * (1.0 - passed) / counts.n as f64,
            gain: 1.0 / (found.sensitivity + found.specificity - 1.0),
        })
    }

    fn by_differences(
        pairs: &[LabelPair],
        values: &[f64],
        estimate: &Estimate,
        confidence: f64,
    ) -> Result<Independent, Uncorrected> {
        let judge: Vec<f64> = pairs.iter().map(|pair| pair.judge).collect();
        let people: Vec<f64> = pairs.iter().map(|pair| pair.people).collect();
        let found = prediction_powered(values, &judge, &people, confidence);
        let found = found.ok_or(Uncorrected::NoScores)?;
        Ok(Independent {
            method: CorrectionMethod::PredictionPowered,
            mean: found.mean,
            se: found.se,
            half_width: found.interval.map(Interval::half_width),
            judge_variance: estimate.mean.se_independent.unwrap_or(0.0).powi(2),
            gain: 1.0,
        })
    }

    /// Puts the clustered error of the judge's mean in place of the independent one.
    fn among_clusters(self, estimate: &Estimate) -> CorrectedMean {
        let error = match (estimate.method, estimate.caution) {
            (_, Some(Caution::OneCluster)) => None,
            (Some(Method::ClusteredT), _) => self.clustered_error(estimate),
            _ => self.se.zip(self.half_width),
        };
        let around =
            |half_width| Interval { low: self.mean - half_width, high: self.mean + half_width };
        let interval = error.map(|(_, half_width)| around(half_width)).filter(has_width);
        let why = || match (self.se, estimate.caution) {
            (_, Some(Caution::OneCluster)) => Caution::OneCluster,
            (None, _) => Caution::OneValue,
            _ => Caution::NoSpread,
        };
        CorrectedMean {
            method: self.method,
            mean: self.mean.clamp(0.0, 1.0),
            unclipped: self.mean,
            se: error.map(|(se, _)| se).filter(|_| interval.is_some()),
            interval,
            caution: interval.is_none().then(why),
            raw: estimate.mean.mean,
            raw_interval: estimate.interval,
        }
    }

    /// The standard error and half of the interval, by t with as many degrees of freedom as the
    /// judge's own mean has.
    fn clustered_error(&self, estimate: &Estimate) -> Option<(f64, f64)> {
        let judge = estimate.mean.se.filter(|se| *se > 0.0)?;
        let t = estimate.interval?.half_width() / judge;
        let more = (judge * judge - self.judge_variance) * self.gain * self.gain;
        let se = (self.se? * self.se? + more).max(0.0).sqrt();
        Some((se, se * t))
    }
}

/// Counts what a judge said, and where people said the same. Answers of which people are unsure are in
/// neither class.
pub(super) fn judged_counts(pairs: &[LabelPair], values: &[f64]) -> JudgedCounts {
    let n_people = |side| pairs.iter().filter(|pair| Side::of(pair.people) == side).count();
    let n_both = |side| {
        let is_both =
            |pair: &&LabelPair| Side::of(pair.people) == side && Side::of(pair.judge) == side;
        pairs.iter().filter(is_both).count() as u64
    };
    JudgedCounts {
        judge_passes: values.iter().filter(|value| Side::of(**value) == Side::Pass).count() as u64,
        n: values.len() as u64,
        human_passes: n_people(Side::Pass) as u64,
        judge_agrees_on_passes: n_both(Side::Pass),
        human_fails: n_people(Side::Fail) as u64,
        judge_agrees_on_fails: n_both(Side::Fail),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use juror_score::statistics::CONFIDENCE;

    fn calibration(pairs: &[(f64, f64, usize)]) -> Calibration {
        let pair = |(judge, people, n): &(f64, f64, usize)| {
            vec![LabelPair { judge: *judge, people: *people }; *n]
        };
        Calibration {
            format: Calibration::FORMAT.into(),
            metric: "m".into(),
            judge: None,
            made: String::new(),
            run: String::new(),
            pairs: pairs.iter().flat_map(pair).collect(),
        }
    }

    /// 140 passes of 200, one answer a template, or all of two templates.
    fn scores(clusters: impl Fn(u32) -> u32) -> (Vec<f64>, Vec<u32>) {
        (0..200).map(|at| (f64::from(u8::from(at < 140)), clusters(at))).unzip()
    }

    fn correct(own: &Calibration, scores: &(Vec<f64>, Vec<u32>)) -> CorrectedMean {
        let scores = JudgedScores { values: &scores.0, clusters: &scores.1 };
        own.correct(scores, CONFIDENCE).expect("a correction")
    }

    const PUBLISHED: [(f64, f64, usize); 4] =
        [(1.0, 1.0, 45), (0.0, 1.0, 5), (0.0, 0.0, 40), (1.0, 0.0, 10)];

    #[test]
    fn a_rate_is_corrected_as_published() {
        let found = correct(&calibration(&PUBLISHED), &scores(|at| at));
        assert_eq!(found.method, CorrectionMethod::RoganGladen);
        assert!((found.mean - 0.714_285_714).abs() < 1e-9);
        assert!((found.se.expect("an error") - 0.067_455_077).abs() < 1e-9);
        let interval = found.interval.expect("an interval");
        assert!((interval.low - 0.582_076).abs() < 1e-6, "{interval:?}");
        assert_eq!(found.raw, 0.7);
    }

    #[test]
    fn people_who_are_unsure_change_no_rate() {
        let unsure = [&PUBLISHED[..], &[(1.0, 0.5, 7)]].concat();
        let alone = correct(&calibration(&PUBLISHED), &scores(|at| at));
        assert_eq!(correct(&calibration(&unsure), &scores(|at| at)), alone);
    }

    #[test]
    fn templates_make_the_interval_as_careful_as_that_of_the_mean() {
        let own = calibration(&PUBLISHED);
        let independent = correct(&own, &scores(|at| at));
        let clustered = correct(&own, &scores(|at| at % 40 / 4));
        assert_eq!(clustered.unclipped, independent.unclipped);
        let of_templates = correct(&own, &scores(|at| at / 10));
        let raw = of_templates.raw_interval.expect("an interval").half_width();
        let half = of_templates.interval.expect("an interval").half_width();
        assert!(half > raw && half > independent.interval.expect("one").half_width());
        let one = correct(&own, &scores(|_| 0));
        assert_eq!((one.interval, one.caution), (None, Some(Caution::OneCluster)));
        assert_eq!(one.unclipped, independent.unclipped);
    }

    #[test]
    fn a_graded_mean_moves_by_what_people_add() {
        let own = calibration(&[(0.8, 0.6, 10), (0.6, 0.6, 10)]);
        let values = vec![0.9, 0.7, 0.8, 0.6, 1.0, 0.8];
        let found = correct(&own, &(values, (0..6).collect()));
        assert_eq!(found.method, CorrectionMethod::PredictionPowered);
        assert!((found.raw - 0.8).abs() < 1e-12 && (found.mean - 0.7).abs() < 1e-12);
        let people: Vec<f64> = vec![0.6; 20];
        let judge: Vec<f64> = own.pairs.iter().map(|pair| pair.judge).collect();
        let values = [0.9, 0.7, 0.8, 0.6, 1.0, 0.8];
        let published = prediction_powered(&values, &judge, &people, CONFIDENCE).expect("a mean");
        assert_eq!(found.se, published.se);
    }

    #[test]
    fn a_mean_beyond_1_is_moved_to_1() {
        let own = calibration(&[(0.5, 1.0, 5), (0.6, 1.0, 5)]);
        let found = correct(&own, &(vec![0.9, 0.8, 0.7], vec![0, 1, 2]));
        assert!(found.mean == 1.0 && found.unclipped > 1.2, "{found:?}");
    }

    #[test]
    fn what_cannot_be_corrected_says_why() {
        let some = scores(|at| at);
        let why = |own: &Calibration, (values, clusters): &(Vec<f64>, Vec<u32>)| {
            own.correct(JudgedScores { values, clusters }, CONFIDENCE).expect_err("a refusal")
        };
        assert_eq!(why(&calibration(&[]), &some), Uncorrected::NoLabels);
        assert_eq!(why(&calibration(&PUBLISHED), &(vec![], vec![])), Uncorrected::NoScores);
        let blind = calibration(&[(1.0, 1.0, 5), (0.0, 1.0, 5), (0.0, 0.0, 5), (1.0, 0.0, 5)]);
        assert!(matches!(why(&blind, &some), Uncorrected::Refused(Refused::Blind(_))));
        let only_good = calibration(&[(1.0, 1.0, 5)]);
        assert_eq!(why(&only_good, &some), Uncorrected::Refused(Refused::NoHumanFails));
    }

    #[test]
    fn one_label_and_equal_scores_have_no_interval() {
        let one = correct(&calibration(&[(0.5, 0.7, 1)]), &(vec![0.5, 0.9], vec![0, 1]));
        assert_eq!((one.interval, one.caution), (None, Some(Caution::OneValue)));
        let equal = correct(&calibration(&[(0.5, 0.7, 3)]), &(vec![0.5, 0.5], vec![0, 1]));
        assert_eq!(
            (equal.interval, equal.se, equal.caution),
            (None, None, Some(Caution::NoSpread))
        );
    }
}
