//! A mean with its interval, for independent values and for values in clusters.

use serde::Serialize;

use super::Interval;
use super::distributions::{is_inner_share, t_half_width};
use super::sample::{Clusters, Sample, are_clusters_of};

/// A mean, and how far it can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MeanEstimate {
    /// The number of values.
    pub n: usize,
    /// Their mean.
    pub mean: f64,
    /// The standard error if all values were independent; `None` for one value.
    pub se_independent: Option<f64>,
    /// The standard error: clustered (CR1) if there are clusters, else that of independent values.
    pub se: Option<f64>,
    /// The number of clusters, if there are any.
    pub n_clusters: Option<usize>,
    /// The design effect: how many times larger clusters make the variance.
    pub deff: Option<f64>,
    /// The number of independent values that would tell as much: `n / deff`.
    pub n_eff: Option<f64>,
    /// The degrees of freedom of the interval: clusters, or values, less one.
    pub df: Option<usize>,
    /// The t-interval; `None` for one value or one cluster.
    pub interval: Option<Interval>,
    /// Whether the values do not vary, or clusters do not: an interval of width 0 says nothing.
    pub is_degenerate: bool,
}

/// Returns the mean of values with its standard error and t-interval.
///
/// `clusters` has the cluster of every value, by any number: values of one template, document or
/// conversation are not independent. The standard error is then the clustered one (CR1), and t has
/// as many degrees of freedom as there are clusters, less one; without clusters, as there are
/// values, less one.
///
/// Returns `None` if there are no values, if a value or the result is not finite, if `clusters` does
/// not have an entry for every value, and if `confidence` is not between 0 and 1.
///
/// ```
/// use juror_statistics::{CONFIDENCE, mean};
///
/// let values: Vec<f64> = (0..10).map(f64::from).collect();
/// let estimate = mean(&values, None, CONFIDENCE).unwrap();
/// let interval = estimate.interval.unwrap();
/// assert!((interval.low - 2.334_149_410).abs() < 1e-9);
/// assert!((interval.high - 6.665_850_590).abs() < 1e-9);
/// ```
pub fn mean(values: &[f64], clusters: Option<&[u32]>, confidence: f64) -> Option<MeanEstimate> {
    let sample = Sample::new(values).filter(|_| are_clusters_of(values.len(), clusters))?;
    estimate(&sample, clusters.map(Clusters::new).as_ref(), confidence)
}

pub(crate) fn estimate(
    sample: &Sample<'_>,
    clusters: Option<&Clusters>,
    confidence: f64,
) -> Option<MeanEstimate> {
    let in_clusters = |clusters: &Clusters| InClusters {
        n_clusters: clusters.n(),
        se: sample.clustered_error(clusters),
    };
    let errors = MeanErrors {
        n: sample.n(),
        mean: sample.mean(),
        independent: sample.standard_error(),
        in_clusters: clusters.map(in_clusters),
    };
    errors.estimate(confidence)
}

/// A mean with its standard errors, however they were computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanErrors {
    /// The number of values.
    pub n: usize,
    /// Their mean.
    pub mean: f64,
    /// The standard error if all values were independent; `None` for one value.
    pub independent: Option<f64>,
    /// The clusters, if there are any.
    pub in_clusters: Option<InClusters>,
}

/// The clusters that values belong to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InClusters {
    /// How many there are.
    pub n_clusters: usize,
    /// The clustered standard error (CR1); `None` for one cluster.
    pub se: Option<f64>,
}

impl MeanErrors {
    /// Returns the estimate that [`mean`] would return for the values, and `None` where it would.
    pub fn estimate(self, confidence: f64) -> Option<MeanEstimate> {
        let MeanErrors { n, mean, independent, in_clusters } = self;
        let se = in_clusters.map_or(independent, |clusters| clusters.se);
        let is_finite = [independent, se, Some(mean)].into_iter().flatten().all(f64::is_finite);
        if !is_finite || !is_inner_share(confidence) {
            return None;
        }
        let n_clusters = in_clusters.map(|clusters| clusters.n_clusters);
        let df = n_clusters.unwrap_or(n).checked_sub(1)?;
        let half_width = se.map(|se| se * t_half_width(confidence, df as f64));
        let deff = in_clusters.and_then(|_| design_effect(se?, independent?));
        Some(MeanEstimate {
            n,
            mean,
            se_independent: independent,
            se,
            n_clusters,
            deff,
            n_eff: deff.filter(|deff| *deff > 0.0).map(|deff| n as f64 / deff),
            df: se.map(|_| df),
            interval: half_width.and_then(|half_width| Interval::around(mean, half_width)),
            is_degenerate: se == Some(0.0) || independent == Some(0.0),
        })
    }
}

fn design_effect(clustered: f64, independent: f64) -> Option<f64> {
    let ratio = clustered / independent;
    (independent > 0.0).then_some(ratio * ratio)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CONFIDENCE;

    fn near(got: Option<f64>, wanted: f64) {
        let got = got.expect("a number");
        assert!((got - wanted).abs() < 1e-9, "got {got}, wanted {wanted}");
    }

    #[test]
    fn clusters_can_also_shrink_the_error() {
        let values: Vec<f64> = (0..20).map(f64::from).collect();
        let clusters: Vec<u32> = (0..20).map(|at| at % 4).collect();
        let estimate = mean(&values, Some(&clusters), CONFIDENCE).expect("an estimate");
        near(estimate.se, 0.645_497_224);
        near(estimate.se_independent, 1.322_875_656);
        assert_eq!((estimate.n_clusters, estimate.df), (Some(4), Some(3)));
    }

    #[test]
    fn three_templates_of_four_questions_are_not_twelve_questions() {
        let values = [1.0, 1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0];
        let clusters = [1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3];
        let estimate = mean(&values, Some(&clusters), CONFIDENCE).expect("an estimate");
        near(estimate.se_independent, 0.142_133_811);
        near(estimate.se, 0.220_479_276);
    }

    /// Four templates: 8 of 10 right, 0 of 10, 9 of 9, 0 of 10.
    #[test]
    fn the_example_of_the_documentation_supports_little_beyond_its_templates() {
        let templates = [(8, 10), (0, 10), (9, 9), (0, 10)];
        let (mut values, mut clusters) = (Vec::new(), Vec::new());
        for (id, (n_right, n)) in (0..).zip(templates) {
            values.extend((0..n).map(|at| f64::from(at < n_right)));
            clusters.extend((0..n).map(|_| id));
        }
        let estimate = mean(&values, Some(&clusters), CONFIDENCE).expect("an estimate");
        near(Some(estimate.mean), 17.0 / 39.0);
        near(estimate.se_independent, 0.080_441_358);
        near(estimate.se, 0.259_863_129);
        assert!((estimate.deff.expect("a number") - 10.44).abs() < 0.005);
        assert!((estimate.n_eff.expect("a number") - 3.74).abs() < 0.005);
        let interval = estimate.interval.expect("an interval");
        assert!((interval.low + 0.3911).abs() < 5e-5 && (interval.high - 1.2629).abs() < 5e-5);
        assert_eq!(interval.clipped(0.0, 1.0), Interval { low: 0.0, high: 1.0 });
    }

    #[test]
    fn one_value_and_one_cluster_have_no_interval() {
        let one = mean(&[0.3], None, CONFIDENCE).expect("an estimate");
        assert_eq!((one.mean, one.se, one.interval, one.df), (0.3, None, None, None));
        let together = mean(&[0.3, 0.4], Some(&[5, 5]), CONFIDENCE).expect("an estimate");
        assert_eq!((together.se, together.interval, together.deff), (None, None, None));
        assert_eq!(together.n_clusters, Some(1));
        assert!(together.se_independent.is_some());
    }

    #[test]
    fn values_that_do_not_vary_are_degenerate() {
        let equal = mean(&[0.1; 39], None, CONFIDENCE).expect("an estimate");
        assert!(equal.is_degenerate);
        assert_eq!((equal.mean, equal.se), (0.1, Some(0.0)));
        assert_eq!(equal.interval, Some(Interval { low: 0.1, high: 0.1 }));
        let equal_clusters = [0.2, 0.4, 0.6, 0.6, 0.2, 0.4];
        let alike = mean(&equal_clusters, Some(&[1, 1, 1, 2, 2, 2]), CONFIDENCE);
        let alike = alike.expect("an estimate");
        assert!(alike.is_degenerate);
        assert_eq!((alike.se, alike.deff, alike.n_eff), (Some(0.0), Some(0.0), None));
        assert!(!mean(&[0.0, 1.0], None, CONFIDENCE).expect("an estimate").is_degenerate);
    }

    #[test]
    fn what_cannot_be_estimated_is_none() {
        assert_eq!(mean(&[], None, CONFIDENCE), None);
        assert_eq!(mean(&[], Some(&[]), CONFIDENCE), None);
        assert_eq!(mean(&[1.0, f64::NAN], None, CONFIDENCE), None);
        assert_eq!(mean(&[1.0, 2.0], Some(&[1]), CONFIDENCE), None);
        assert_eq!(mean(&[1e200, -1e200], None, CONFIDENCE), None);
        for confidence in [0.0, 1.0, -0.5, 95.0, f64::NAN] {
            assert_eq!(mean(&[1.0, 2.0], None, confidence), None, "{confidence}");
        }
    }
}
