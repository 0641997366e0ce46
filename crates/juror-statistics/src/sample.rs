//! Numbers with a mean and a standard error, whatever their order.
//!
//! Sums run over sorted values and are compensated, so the same values give the same bits in any
//! order, and their negatives give the negated bits.

use std::borrow::Cow;

use crate::compensated_sum;

/// How many roundings a value may carry and still count as equal to another.
const ROUNDINGS: f64 = 4.0;

/// Finite numbers, at least one.
pub(crate) struct Sample<'a> {
    values: Cow<'a, [f64]>,
    mean: f64,
    /// Differences up to this size are no more than rounding.
    rounding: f64,
}

impl<'a> Sample<'a> {
    /// Returns `None` for no values, and if a value or the sum is not finite.
    pub(crate) fn new(values: &'a [f64]) -> Option<Sample<'a>> {
        Sample::with_rounding(Cow::Borrowed(values), rounding(&[values])?)
    }

    /// Takes `b - a`, pair by pair. Returns `None` also if one has more values than the other.
    pub(crate) fn differences(a: &[f64], b: &[f64]) -> Option<Sample<'static>> {
        let rounding = rounding(&[a, b]).filter(|_| a.len() == b.len())?;
        let values: Vec<f64> = a.iter().zip(b).map(|(a, b)| b - a).collect();
        Sample::with_rounding(Cow::Owned(values), rounding)
    }

    fn with_rounding(values: Cow<'a, [f64]>, rounding: f64) -> Option<Sample<'a>> {
        let mean = mean_of(&values);
        mean.is_finite().then_some(Sample { values, mean, rounding })
    }

    pub(crate) fn n(&self) -> usize {
        self.values.len()
    }

    pub(crate) fn values(&self) -> &[f64] {
        &self.values
    }

    /// How far rounding may have moved the sum of all values.
    pub(crate) fn rounding_of_sum(&self) -> f64 {
        self.rounding * self.n() as f64
    }

    /// Whether all values are equal but for rounding.
    pub(crate) fn is_constant(&self) -> bool {
        let (low, high) =
            self.values.iter().copied().fold((f64::INFINITY, f64::NEG_INFINITY), extent);
        high - low <= self.rounding
    }

    pub(crate) fn mean(&self) -> f64 {
        self.mean
    }

    /// Returns the variance with `n - 1`, or `None` for one value.
    pub(crate) fn variance(&self) -> Option<f64> {
        let degrees = self.n().checked_sub(1).filter(|degrees| *degrees > 0)?;
        if self.is_constant() {
            return Some(0.0);
        }
        let squares = self.deviations().map(|deviation| deviation * deviation);
        Some(ordered_sum(squares) / degrees as f64)
    }

    fn deviations(&self) -> impl Iterator<Item = f64> {
        self.values.iter().map(|value| value - self.mean)
    }

    /// Returns the standard error of the mean of independent values.
    pub(crate) fn standard_error(&self) -> Option<f64> {
        Some((self.variance()? / self.n() as f64).sqrt())
    }

    /// Returns the standard error of the mean of values that belong together in clusters (CR1), or
    /// `None` for one cluster.
    pub(crate) fn clustered_error(&self, clusters: &Clusters) -> Option<f64> {
        if self.is_constant() {
            return (clusters.n() > 1).then_some(0.0);
        }
        let deviations: Vec<f64> = self.deviations().collect();
        let sums = clusters.sums(&deviations, self.rounding);
        let squares = ordered_sum(sums.iter().map(|sum| sum * sum));
        cluster_error(squares, clusters.n(), self.n())
    }
}

/// Returns the standard error (CR1) of the mean of `n` values in clusters, from the squares of the sums
/// of each cluster's deviations from the mean, summed. Returns `None` for one cluster.
pub fn cluster_error(squares: f64, n_clusters: usize, n: usize) -> Option<f64> {
    let degrees = n_clusters.checked_sub(1).filter(|degrees| *degrees > 0)?;
    let correction = n_clusters as f64 / degrees as f64;
    Some((correction * squares).sqrt() / n as f64)
}

/// Returns the largest difference between equal values that rounding explains, or `None` if there is
/// no value, or one that is not finite.
fn rounding(parts: &[&[f64]]) -> Option<f64> {
    let is_fit = |part: &&[f64]| !part.is_empty() && part.iter().all(|value| value.is_finite());
    let sizes = parts.iter().copied().flatten().map(|value| value.abs());
    let largest = sizes.fold(0.0, f64::max);
    parts.iter().all(is_fit).then_some(ROUNDINGS * f64::EPSILON * largest)
}

/// Returns the mean: the value itself if there is only one, because the sum of many may be rounded.
fn mean_of(values: &[f64]) -> f64 {
    let is_one_value = values.iter().all(|value| *value == values[0]);
    if is_one_value { values[0] } else { ordered_sum(values.iter().copied()) / values.len() as f64 }
}

fn extent((low, high): (f64, f64), value: f64) -> (f64, f64) {
    (low.min(value), high.max(value))
}

/// Sums values in an order of their own: by size, and without those that cancel each other.
///
/// Equal sizes of both signs would leave a choice, which is why they are cancelled first.
pub fn ordered_sum(values: impl IntoIterator<Item = f64>) -> f64 {
    // The bits of a size, which sort as the size does, and last that of the sign.
    let mut keys: Vec<u64> =
        values.into_iter().map(|value| value.to_bits().rotate_left(1)).collect();
    keys.sort_unstable();
    // Mostly there is nothing to cancel: scores, amounts and squares are not negative.
    if keys.iter().all(|key| key & 1 == 0) {
        return compensated_sum(&keys.into_iter().map(value_of).collect::<Vec<f64>>());
    }
    let mut left = Vec::with_capacity(keys.len());
    left.extend(keys.chunk_by(|a, b| a >> 1 == b >> 1).flat_map(uncancelled));
    compensated_sum(&left)
}

/// Returns the value with this size and sign.
fn value_of(key: u64) -> f64 {
    f64::from_bits(key.rotate_right(1))
}

/// Returns what is left of values of one size.
fn uncancelled(same_size: &[u64]) -> impl Iterator<Item = f64> {
    let n_positive = same_size.partition_point(|key| key & 1 == 0);
    let n_negative = same_size.len() - n_positive;
    let value = if n_positive > n_negative { same_size[0] } else { same_size[same_size.len() - 1] };
    let n_left = n_positive.abs_diff(n_negative);
    std::iter::repeat_n(value_of(value), n_left)
}

/// Returns whether there is a cluster for each of `n` values, if there are clusters.
pub(crate) fn are_clusters_of(n: usize, clusters: Option<&[u32]>) -> bool {
    clusters.is_none_or(|ids| ids.len() == n)
}

/// Which values belong together: their positions, sorted by cluster.
pub(crate) struct Clusters {
    positions: Vec<usize>,
    /// Where each cluster ends in `positions`.
    ends: Vec<usize>,
}

impl Clusters {
    /// Takes the cluster of every value, by any number.
    pub(crate) fn new(ids: &[u32]) -> Clusters {
        let mut positions: Vec<usize> = (0..ids.len()).collect();
        positions.sort_by_key(|at| ids[*at]);
        let ends = positions.chunk_by(|a, b| ids[*a] == ids[*b]).scan(0, |end, cluster| {
            *end += cluster.len();
            Some(*end)
        });
        let ends = ends.collect();
        Clusters { positions, ends }
    }

    /// Takes every value as a cluster of its own.
    pub(crate) fn singles(n: usize) -> Clusters {
        Clusters { positions: (0..n).collect(), ends: (1..=n).collect() }
    }

    pub(crate) fn n(&self) -> usize {
        self.ends.len()
    }

    /// Returns the positions of each cluster's values.
    pub(crate) fn each(&self) -> impl Iterator<Item = &[usize]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| &self.positions[start..*end])
    }

    /// Returns the sum of each cluster, 0 if it is no more than rounding.
    pub(crate) fn sums(&self, values: &[f64], rounding: f64) -> Vec<f64> {
        let sum = |cluster: &[usize]| {
            let sum = match cluster {
                [alone] => values[*alone],
                _ => ordered_sum(cluster.iter().map(|at| values[*at])),
            };
            if sum.abs() <= rounding * cluster.len() as f64 { 0.0 } else { sum }
        };
        self.each().map(sum).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_depends_neither_on_order_nor_on_sign() {
        let values = [0.1, -0.3, 1e16, 0.7, 0.3, -1e16, 1.0, -0.1, 0.2];
        let sum = ordered_sum(values);
        assert_eq!(sum.to_bits(), ordered_sum(values.into_iter().rev()).to_bits());
        assert_eq!(sum, -ordered_sum(values.map(|value| -value)));
        assert!((sum - 1.9).abs() < 1e-15);
    }

    #[test]
    fn values_that_differ_by_rounding_are_constant() {
        let (a, b) = ([0.7, 0.8, 0.9], [0.8, 0.9, 1.0]);
        let differences = Sample::differences(&a, &b).expect("a sample");
        assert!(differences.is_constant(), "{:?}", differences.values());
        assert_eq!(differences.standard_error(), Some(0.0));
        assert!(!Sample::new(&[0.7, 0.7 + 1e-14]).expect("a sample").is_constant());
    }

    #[test]
    fn what_is_no_number_is_no_sample() {
        for values in [&[][..], &[1.0, f64::NAN], &[f64::INFINITY], &[1e308, 1.5e308]] {
            assert!(Sample::new(values).is_none(), "{values:?}");
        }
        assert!(Sample::differences(&[1.0], &[1.0, 2.0]).is_none());
        assert!(Sample::differences(&[-f64::MAX], &[f64::MAX]).is_none());
    }

    #[test]
    fn clusters_are_told_apart_by_id_alone() {
        let clusters = Clusters::new(&[7, 2, 7, u32::MAX, 2]);
        assert_eq!(clusters.n(), 3);
        assert_eq!(clusters.sums(&[1.0, 2.0, 3.0, 4.0, 5.0], 0.0), [7.0, 4.0, 4.0]);
        assert_eq!(Clusters::singles(2).sums(&[1.0, 2.0], 0.0), [1.0, 2.0]);
        assert_eq!(Clusters::new(&[]).n(), 0);
    }
}
